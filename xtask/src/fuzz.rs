//! `cargo xtask fuzz`: builds the fuzzer with optimisation and all checks, and runs it.
//!
//! What the targets are and what must hold of each is the business of `crates/fuzz`.

use std::process::ExitCode;

use crate::postgres::{Promise, Server};
use crate::process::{Outcome, cargo, exit_code, shown};

/// Runs the fuzzer beside a PostgreSQL server, passing `arguments` on.
pub fn fuzz(arguments: &[String]) -> Outcome<ExitCode> {
    let mut command = cargo(&[
        "run",
        "--quiet",
        "--profile",
        "fuzz",
        "-p",
        "understory-fuzz",
        "--",
    ]);
    // An input that forgot to name its store must not find the developer's own.
    command.args(arguments).env_remove("UNDERSTORY_STORE");
    println!("$ {}", shown(&command));
    let given = std::env::var("UNDERSTORY_TEST_POSTGRES").is_ok_and(|url| !url.is_empty());
    let asked = arguments.iter().find(|word| !word.starts_with("--"));
    let needed =
        asked.is_none_or(|target| target.ends_with("-postgres") || target.parse::<u64>().is_ok());
    let status = if given || !needed {
        command
            .status()
            .map_err(|error| format!("{}: {error}", shown(&command)))?
    } else {
        Server::start(Promise::Visible)?.run(&mut command)?
    };
    Ok(exit_code(status))
}
