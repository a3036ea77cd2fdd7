//! `cargo xtask ci`: everything a change has to pass, the quickest answers first.
//!
//! One build profile throughout, so that the steps share what they compile. It stops at the first
//! failure, whose output is then the last thing in view.

use std::process::Command;

use crate::process::{Outcome, cargo, exists, root, run};
use crate::steps::Steps;
use crate::{generated, test, tidy};

/// The cargo-deny that is built when none is installed.
const DENY: &str = "0.20.2";

pub fn ci(steps: &mut Steps) -> Outcome {
    steps.step("format", || run(&mut cargo(&["fmt", "--all", "--check"])))?;
    steps.step("tidy", tidy::tidy)?;
    steps.step("clippy", || {
        run(&mut cargo(&[
            "clippy",
            "--workspace",
            "--all-targets",
            "--",
            "-D",
            "warnings",
        ]))
    })?;
    steps.step("documentation", || {
        let arguments = [
            "doc",
            "--workspace",
            "--no-deps",
            "--document-private-items",
        ];
        run(cargo(&arguments).env("RUSTDOCFLAGS", "-D warnings"))
    })?;
    steps.step("generated files", generated::generated)?;
    steps.step("licences, bans, sources", dependencies)?;
    test::test(steps, &[])
}

/// Checks what we depend on against `deny.toml`.
///
/// Known vulnerabilities are not part of it: their list is fetched from the network, changes
/// without any change of ours, and would make yesterday's green commit red.
fn dependencies() -> Outcome {
    run(deny()?
        .args(["check", "licenses", "bans", "sources"])
        .current_dir(root()))?;
    println!("not checked here: known vulnerabilities (`cargo deny check advisories`)");
    Ok(())
}

/// cargo-deny: the one that is installed, or one of our own.
fn deny() -> Outcome<Command> {
    if exists(&mut cargo(&["deny"])) {
        return Ok(cargo(&["deny"]));
    }
    let tools = root().join("target").join("tools");
    let deny = tools.join("bin").join("cargo-deny");
    if !exists(&mut Command::new(&deny)) {
        // Unoptimised: less than half the work to build, and it runs only once.
        println!("cargo-deny is not installed; building it into target/tools");
        run(
            cargo(&["install", "--quiet", "--locked", "--debug", "cargo-deny"])
                .args(["--version", DENY, "--root"])
                .arg(&tools),
        )?;
    }
    Ok(Command::new(deny))
}
