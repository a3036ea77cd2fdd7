//! The files of this repository that are written by the product itself.
//!
//! They are committed, so that a reader finds them and a change of them shows in review; `ci` fails
//! when one is not what the code says today.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::postgres::{Promise, Server};
use crate::process::{Outcome, cargo, output, root, run, succeeded};

/// Each file, and the arguments with which `understory` prints it.
const GENERATED: &[(&str, &[&str])] = &[
    ("docs/settings.md", &["status", "--markdown"]),
    ("docs/tools/garden.md", &["tools", "--markdown", "garden"]),
    ("docs/tools/graph.md", &["tools", "--markdown", "graph"]),
    (
        "docs/tools/reasoning.md",
        &["tools", "--markdown", "reasoning"],
    ),
    ("docs/tools/records.md", &["tools", "--markdown", "records"]),
    ("docs/tools/system.md", &["tools", "--markdown", "system"]),
    ("docs/tools/threads.md", &["tools", "--markdown", "threads"]),
];

/// Fails if a generated file is not fresh.
pub fn generated() -> Outcome {
    for (file, arguments) in GENERATED {
        let fresh = printed(arguments)?;
        let kept = fs::read_to_string(root().join(file)).map_err(|e| format!("{file}: {e}"))?;
        if kept != fresh {
            return Err(format!(
                "{file} is not what the code says: run `cargo xtask generate`"
            ));
        }
    }
    Ok(())
}

/// Writes every generated file.
pub fn write() -> Outcome {
    for (file, arguments) in GENERATED {
        fs::write(root().join(file), printed(arguments)?).map_err(|e| format!("{file}: {e}"))?;
        println!("wrote {file}");
    }
    statements()
}

/// Writes the statements that storage assembles, which its tests compare.
fn statements() -> Outcome {
    let mut server = Server::start(Promise::Visible)?;
    let mut tests = cargo(&["test", "--package", "understory-storage"]);
    tests.args(["--test", "statements", "--quiet"]);
    let status = server.run(tests.env("UNDERSTORY_WRITE_STATEMENTS", "1"))?;
    succeeded(&tests, status)?;
    println!("wrote crates/storage/tests/statements/sql");
    Ok(())
}

fn printed(arguments: &[&str]) -> Outcome<String> {
    // With the whole workspace selected, the build is the one that the tests use too.
    run(&mut cargo(&[
        "build",
        "--quiet",
        "--workspace",
        "--bin",
        "understory",
    ]))?;
    output(Command::new(understory()?).args(arguments))
}

/// The product's binary, which cargo builds beside this one.
fn understory() -> Outcome<PathBuf> {
    let this = std::env::current_exe().map_err(|e| format!("where am I? {e}"))?;
    Ok(this.with_file_name("understory"))
}
