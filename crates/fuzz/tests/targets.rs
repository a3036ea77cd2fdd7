//! Every target for a while: first its corpus, then as many inputs as its share of a test run.

use understory_fuzz::run::{Enough, run};
use understory_fuzz::targets::find;

fn fuzz(name: &str) {
    let kind = find(name).unwrap_or_else(|| panic!("no target {name}"));
    match run(kind, 1, Enough::Inputs(kind.inputs)) {
        Ok(report) => eprintln!("{report}"),
        Err(failure) => panic!("{failure}"),
    }
}

macro_rules! targets {
    ($($test:ident: $name:literal),* $(,)?) => {
        $(#[test] fn $test() { fuzz($name) })*

        #[test]
        fn every_target_has_a_test() {
            let tested = [$($name),*];
            for kind in &understory_fuzz::targets::KINDS {
                assert!(tested.contains(&kind.name), "{} has no test", kind.name);
            }
        }
    };
}

targets! {
    lines: "lines",
    calls_sqlite: "calls",
    calls_postgres: "calls-postgres",
    cursors_sqlite: "cursors",
    cursors_postgres: "cursors-postgres",
    tokens: "tokens",
    checkpoints: "checkpoints",
    ops: "ops",
    cards: "cards",
    refs: "refs",
    fragments: "fragments",
    canon: "canon",
    budget: "budget",
    git: "git",
    hooks: "hooks",
    settings: "settings",
    text: "text",
    http: "http",
    imports: "imports",
}
