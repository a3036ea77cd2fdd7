//! `cargo xtask`: what the project does to itself, written in its own language.
//!
//! It starts programs and reads the files of this repository. It links no crate of the product and
//! none from outside, so it builds in seconds and runs even when the product does not compile.

// A program for people at a terminal: its standard output is its face.
#![allow(clippy::print_stdout)]

mod ci;
mod clients;
mod fuzz;
mod generated;
mod postgres;
mod process;
mod steps;
mod test;
mod tidy;

use std::process::{Command, ExitCode};

use process::Outcome;
use steps::Steps;

const USAGE: &str = "\
usage: cargo xtask <command>

  test [nextest arguments]   every test, on SQLite and on a temporary PostgreSQL server
  postgres -- <command>      any command beside such a server; its url is in UNDERSTORY_STORE
                             and UNDERSTORY_TEST_POSTGRES, and psql finds it by itself
  fuzz [target] [--minutes N | --inputs N] [--seed S]
                             inputs that nobody would write, for as long as wanted; a failing
                             one is made small and kept in crates/fuzz/corpus
  tidy                       the house rules that no compiler knows
  generate                   writes the files that are generated from the code
  ci                         everything a change has to pass, in one go

`test` and `fuzz` use the server named in UNDERSTORY_TEST_POSTGRES, if there is one.";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let Some((command, rest)) = words.split_first() else {
        println!("{USAGE}");
        return ExitCode::from(2);
    };
    let outcome = match command.as_str() {
        "test" => timed(|steps| test::test(steps, rest)),
        "postgres" => beside_postgres(rest),
        "fuzz" => fuzz::fuzz(rest),
        "tidy" => tidy::tidy().map(|()| ExitCode::SUCCESS),
        "generate" => generated::write().map(|()| ExitCode::SUCCESS),
        "ci" => timed(ci::ci),
        "help" | "-h" | "--help" => {
            println!("{USAGE}");
            Ok(ExitCode::SUCCESS)
        }
        other => Err(format!("there is no command `{other}`\n\n{USAGE}")),
    };
    outcome.unwrap_or_else(|failure| {
        eprintln!("xtask: {failure}");
        ExitCode::FAILURE
    })
}

/// Runs `work` and shows where the time went, also when it failed.
fn timed(work: impl FnOnce(&mut Steps) -> Outcome) -> Outcome<ExitCode> {
    let mut steps = Steps::default();
    let outcome = work(&mut steps);
    println!("\n{steps}");
    outcome.map(|()| ExitCode::SUCCESS)
}

/// Runs one command beside a temporary server and ends as that command ended.
fn beside_postgres(words: &[String]) -> Outcome<ExitCode> {
    let words = match words.split_first() {
        Some((dashes, command)) if dashes == "--" => command,
        _ => words,
    };
    let Some((program, arguments)) = words.split_first() else {
        return Err(format!("`postgres` needs a command to run\n\n{USAGE}"));
    };
    let mut server = postgres::Server::start(postgres::Promise::Durable)?;
    let mut command = Command::new(program);
    command
        .args(arguments)
        .env("UNDERSTORY_STORE", server.url())
        .envs(server.variables());
    let status = server.run(&mut command)?;
    Ok(process::exit_code(status))
}
