//! `cargo xtask fuzz`: one target or all of them, for as long as wanted.

// A program for people at a terminal: its standard output is its face.
#![allow(clippy::print_stdout)]

use std::process::ExitCode;
use std::time::Duration;

use understory_fuzz::corpus;
use understory_fuzz::run::{Enough, run};
use understory_fuzz::targets::{KINDS, Kind};

const USAGE: &str = "\
usage: cargo xtask fuzz [TARGET] [--minutes N | --inputs N] [--seed S]

Without a target all run, one after another; without a number, as many inputs as in the tests.
An input that fails is made small and kept in crates/fuzz/corpus, where the tests run it again.

targets:";

struct Wanted {
    target: Option<String>,
    enough: Option<Enough>,
    seed: u64,
}

fn main() -> ExitCode {
    let wanted = match wanted(std::env::args().skip(1)) {
        Ok(wanted) => wanted,
        Err(problem) => {
            println!("{problem}\n\n{USAGE}");
            for kind in &KINDS {
                println!("  {:17} {}", kind.name, kind.about);
            }
            return ExitCode::from(2);
        }
    };
    let asked = |kind: &&Kind| match &wanted.target {
        Some(name) => kind.name == name,
        None => !kind.postgres || std::env::var_os("UNDERSTORY_TEST_POSTGRES").is_some(),
    };
    let mut failed = false;
    for kind in KINDS.iter().filter(asked) {
        let enough = wanted.enough.unwrap_or(Enough::Inputs(kind.inputs));
        match run(kind, wanted.seed, enough) {
            Ok(report) => println!("{report}"),
            Err(failure) => {
                failed = true;
                println!("{failure}");
                match corpus::keep(kind.corpus, &failure.input) {
                    Ok(path) => println!("kept as {}", path.display()),
                    Err(error) => println!("not kept: {error}"),
                }
            }
        }
    }
    if failed {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    }
}

fn wanted(mut words: impl Iterator<Item = String>) -> Result<Wanted, String> {
    let mut wanted = Wanted {
        target: None,
        enough: None,
        seed: 1,
    };
    while let Some(word) = words.next() {
        let mut number = || -> Result<u64, String> {
            let digits = words.next().ok_or(format!("{word} needs a number"))?;
            let digits = digits.replace('_', "");
            digits
                .parse()
                .map_err(|_| format!("{digits} is not a number"))
        };
        match word.as_str() {
            "--minutes" => wanted.enough = Some(Enough::Time(Duration::from_secs(number()? * 60))),
            "--inputs" => wanted.enough = Some(Enough::Inputs(number()?)),
            "--seed" => wanted.seed = number()?,
            name if KINDS.iter().any(|kind| kind.name == name) => wanted.target = Some(word),
            other => return Err(format!("{other} is not a target or an option")),
        }
    }
    Ok(wanted)
}
