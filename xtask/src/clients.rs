//! The official MCP clients that the tests speak with, installed beside the build.
//!
//! Two languages, each in its newest release and in the one for the protocol revision before. They
//! are test parts: nothing of the product needs them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::process::{Outcome, exists, root, run};

/// Where each Python client lives, and what is installed there.
const PYTHON: [(&str, &str); 2] = [
    ("python-modern", "mcp==2.3.0"),
    ("python-before", "mcp==1.30.0"),
];
const NODE: [&str; 2] = [
    "@modelcontextprotocol/client@2.4.0",
    "@modelcontextprotocol/sdk@1.32.2",
];

/// The folder with the clients, installed when it is not there as wanted.
pub fn install() -> Outcome<PathBuf> {
    let folder = root().join("target").join("clients");
    let wanted = format!("{PYTHON:?} {NODE:?}");
    let mark = folder.join("installed");
    if fs::read_to_string(&mark).is_ok_and(|there| there == wanted) {
        return Ok(folder);
    }
    fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    for (name, package) in PYTHON {
        python(&folder.join(name), package)?;
    }
    node(&folder.join("node"))?;
    fs::write(&mark, wanted).map_err(|e| format!("{}: {e}", mark.display()))?;
    Ok(folder)
}

fn python(place: &Path, package: &str) -> Outcome {
    let _ = fs::remove_dir_all(place);
    if run(Command::new("python3").args(["-m", "venv"]).arg(place)).is_err() {
        debian(&["python3", "python3-venv"])?;
        run(Command::new("python3").args(["-m", "venv"]).arg(place))?;
    }
    run(Command::new(place.join("bin").join("pip")).args(["install", "--quiet", package]))
}

fn node(place: &Path) -> Outcome {
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
    run(Command::new("npm").args(options).arg(place).args(NODE))
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
