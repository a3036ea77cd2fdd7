//! `cargo xtask test`: the whole test suite on both databases, from nothing.
//!
//! SQLite is inside the product; PostgreSQL is started here unless the caller names one. Which
//! tests exist, and on what they run, is the tests' own business.

use crate::clients;
use crate::postgres::{Promise, Server};
use crate::process::{Outcome, cargo, exists, root, run, shown, succeeded};
use crate::steps::Steps;
use crate::tidy;

/// Runs the tests, passing `arguments` on to the runner.
pub fn test(steps: &mut Steps, arguments: &[String]) -> Outcome {
    let mut server = match std::env::var("UNDERSTORY_TEST_POSTGRES") {
        Ok(url) if !url.is_empty() => {
            println!("PostgreSQL of the caller, from UNDERSTORY_TEST_POSTGRES");
            None
        }
        _ => Some(steps.step("start PostgreSQL", || Server::start(Promise::Visible))?),
    };
    let clients = steps.step("official clients", clients::install)?;
    steps.step("tmux", clients::tmux)?;
    let mut cargo_on_both = |words: &[&str], more: &[String]| {
        let mut command = cargo(words);
        // A test that forgot to name its store must not find the developer's own.
        command
            .args(more)
            .env_remove("UNDERSTORY_STORE")
            .env("UNDERSTORY_TEST_CLIENTS", &clients);
        match &mut server {
            Some(server) => {
                println!("$ {}", shown(&command));
                let status = server.run(&mut command)?;
                succeeded(&command, status)
            }
            None => run(&mut command),
        }
    };

    let runner: &[&str] = if exists(&mut cargo(&["nextest"])) {
        &["nextest", "run"]
    } else {
        println!("cargo-nextest is not installed: `cargo test` is slower and less clear");
        &["test"]
    };
    let mut words = runner.to_vec();
    if !arguments
        .iter()
        .any(|word| word.starts_with("-p") || word.starts_with("--package"))
    {
        words.push("--workspace");
    }
    steps.step("build and run the tests", || {
        cargo_on_both(&words, arguments)
    })?;

    // With arguments only a part of the tests is wanted, and `cargo test` has run these already.
    // Where no example exists, building the means to run one takes time and tests nothing.
    let all_by_nextest = arguments.is_empty() && runner[0] == "nextest";
    if all_by_nextest
        && tidy::files(&root(), "rs")?
            .values()
            .any(|text| has_doc_test(text))
    {
        let words = ["test", "--workspace", "--doc"];
        steps.step("examples in the documentation", || {
            cargo_on_both(&words, &[])
        })?;
    }
    Ok(())
}

/// Whether a documentation comment opens a block that rustdoc would compile.
fn has_doc_test(source: &str) -> bool {
    let mut inside = false;
    source.lines().map(str::trim_start).any(|line| {
        let comment = line
            .strip_prefix("///")
            .or_else(|| line.strip_prefix("//!"));
        let Some(fence) = comment.and_then(|text| text.trim_start().strip_prefix("```")) else {
            return false;
        };
        inside = !inside;
        let runs = ["", "rust", "no_run", "should_panic", "compile_fail"];
        inside && fence.split(',').all(|word| runs.contains(&word.trim()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_blocks_that_rustdoc_compiles_count() {
        assert!(has_doc_test("/// ```\n/// assert!(true);\n/// ```\n"));
        assert!(has_doc_test("    //! ```rust,no_run\n"));
        assert!(
            !has_doc_test("/// ```text\n/// a drawing\n/// ```\n"),
            "the end of a block"
        );
        assert!(!has_doc_test("// ```\n"), "not documentation");
    }
}
