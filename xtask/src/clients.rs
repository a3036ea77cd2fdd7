//! The official MCP clients that the tests speak with, and the programs that judge what we serve,
//! installed beside the build.
//!
//! Clients come in two languages, each in its newest release and in the one for the protocol
//! revision before. Claude Code, Codex and opencode are there too, as they are installed by those who
//! work with them. All of them are test parts: nothing of the product needs them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::process::{Outcome, exists, output, root, run};

/// Folders for Python, and the package in each.
const PYTHON: [(&str, &str); 3] = [
    ("python-modern", "mcp==2.3.0"),
    ("python-before", "mcp==1.30.0"),
    ("schemathesis", "schemathesis==4.32.5"),
];
/// Folders for Node, and the packages in each. The suite and the inspector need a newer Node than
/// Debian has, so they bring their own; the clients run on Debian's, as many do.
const NODE: [(&str, &[&str]); 5] = [
    (
        "node",
        &[
            "@modelcontextprotocol/client@2.4.0",
            "@modelcontextprotocol/sdk@1.32.2",
        ],
    ),
    (
        "suite",
        &[
            "node@24.21.0",
            "@modelcontextprotocol/conformance@0.2.0-alpha.12",
            "@modelcontextprotocol/inspector@2.12.0",
        ],
    ),
    (
        "agents",
        &["@anthropic-ai/claude-code@2.1.325", "@openai/codex@0.166.0"],
    ),
    ("opencode", &["opencode-ai@1.18.33"]),
    ("browser", &["playwright-core@1.64.1", "axe-core@4.14.1"]),
];
/// What the agents run in, a terminal and a network of their own, and the browser that looks at the
/// pages: the programs, how they tell their version, and Debian's packages.
const SYSTEM: [(&str, &str, &str); 3] = [
    ("tmux", "-V", "tmux"),
    ("ip", "-V", "iproute2"),
    ("chromium", "--version", "chromium"),
];

/// The folder with all of them; those that are not there as wanted are installed.
pub fn install() -> Outcome<PathBuf> {
    let folder = root().join("target").join("clients");
    fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    for (name, package) in PYTHON {
        unless_there(&folder.join(name), package, |place| python(place, package))?;
    }
    for (name, packages) in NODE {
        let wanted = packages.join(" ");
        unless_there(&folder.join(name), &wanted, |place| node(place, packages))?;
    }
    let missing: Vec<&str> = SYSTEM
        .iter()
        .filter(|(program, version, _)| output(Command::new(program).arg(version)).is_err())
        .map(|(_, _, package)| *package)
        .collect();
    if !missing.is_empty() {
        debian(&missing)?;
    }
    Ok(folder)
}

/// Installs into a folder, unless its mark says that this is there.
fn unless_there(place: &Path, wanted: &str, install: impl FnOnce(&Path) -> Outcome) -> Outcome {
    let mark = place.join("installed");
    if fs::read_to_string(&mark).is_ok_and(|there| there == wanted) {
        return Ok(());
    }
    let _ = fs::remove_dir_all(place);
    install(place)?;
    fs::write(&mark, wanted).map_err(|e| format!("{}: {e}", mark.display()))
}

fn python(place: &Path, package: &str) -> Outcome {
    if run(Command::new("python3").args(["-m", "venv"]).arg(place)).is_err() {
        debian(&["python3", "python3-venv"])?;
        run(Command::new("python3").args(["-m", "venv"]).arg(place))?;
    }
    run(Command::new(place.join("bin").join("pip")).args(["install", "--quiet", package]))
}

fn node(place: &Path, packages: &[&str]) -> Outcome {
    if !exists(&mut Command::new("npm")) || !exists(&mut Command::new("node")) {
        debian(&["nodejs", "npm"])?;
    }
    fs::create_dir_all(place).map_err(|e| format!("{}: {e}", place.display()))?;
    let options = [
        "install",
        "--no-save",
        "--no-audit",
        "--no-fund",
        "--silent",
        "--prefix",
    ];
    run(Command::new("npm").args(options).arg(place).args(packages))
}

/// The terminal in which the tests of ours run.
pub fn tmux() -> Outcome {
    if exists(Command::new("tmux").arg("-V")) {
        Ok(())
    } else {
        debian(&["tmux"])
    }
}

/// Installs packages of Debian's, which takes a Debian and its root.
fn debian(packages: &[&str]) -> Outcome {
    run(Command::new("apt-get").args(["-qq", "update"]))
        .and_then(|()| {
            let mut install = Command::new("apt-get");
            install
                .args(["-qq", "install", "-y", "--no-install-recommends"])
                .args(packages);
            run(&mut install)
        })
        .map_err(|why| format!("install {} for the tests ({why})", packages.join(" and ")))
}
