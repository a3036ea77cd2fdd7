//! Every target, each with its share of a test run.

mod budget;
mod calls;
mod canon;
mod cards;
mod checkpoints;
mod cursors;
mod fragments;
mod git;
mod hooks;
mod http;
mod imports;
mod lines;
mod ops;
mod refs;
mod settings;
mod stage;
mod text;
mod tokens;

use crate::target::{On, Target};

/// A target as it is listed and started.
pub struct Kind {
    pub name: &'static str,
    pub about: &'static str,
    /// The folder of its corpus; one for both databases.
    pub corpus: &'static str,
    pub make: fn() -> Box<dyn Target>,
    /// Inputs to begin with that are made rather than kept.
    pub examples: fn() -> Vec<Vec<u8>>,
    /// Inputs of a test run: some ten seconds of a debug build.
    pub inputs: u64,
    /// Tries to make a failing input smaller; few where each takes a fresh store.
    pub smaller: usize,
    /// Whether it needs a PostgreSQL server.
    pub postgres: bool,
}

const NONE: fn() -> Vec<Vec<u8>> = Vec::new;

const PURE: Kind = Kind {
    name: "",
    about: "",
    corpus: "",
    make: || Box::new(canon::Canon),
    examples: NONE,
    inputs: 0,
    smaller: usize::MAX,
    postgres: false,
};

/// All targets.
pub const KINDS: [Kind; 19] = [
    Kind {
        name: "lines",
        about: "JSON-RPC lines on stdio: read as the SDK reads them, one reply for each request",
        corpus: "lines",
        make: || Box::new(lines::Lines::new()),
        inputs: 40_000,
        smaller: 60,
        ..PURE
    },
    Kind {
        name: "calls",
        about: "calls made from every tool's schema, on SQLite: no internal error, no trace of a \
                refusal, a log that proves",
        corpus: "calls",
        make: || Box::new(calls::Calls::new(On::Sqlite)),
        inputs: 15_000,
        smaller: 60,
        ..PURE
    },
    Kind {
        name: "calls-postgres",
        about: "the same on PostgreSQL",
        corpus: "calls",
        make: || Box::new(calls::Calls::new(On::Postgres)),
        inputs: 4_000,
        smaller: 30,
        postgres: true,
        ..PURE
    },
    Kind {
        name: "cursors",
        about: "cursors that were changed or made up, for every tool that has pages, on SQLite",
        corpus: "cursors",
        make: || Box::new(cursors::Cursors::new(On::Sqlite)),
        inputs: 20_000,
        smaller: 40,
        ..PURE
    },
    Kind {
        name: "cursors-postgres",
        about: "the same on PostgreSQL",
        corpus: "cursors",
        make: || Box::new(cursors::Cursors::new(On::Postgres)),
        inputs: 3_000,
        smaller: 20,
        postgres: true,
        ..PURE
    },
    Kind {
        name: "tokens",
        about: "tokens, key sets and key files: only what was issued is accepted",
        corpus: "tokens",
        make: || Box::new(tokens::Tokens::new()),
        inputs: 15_000,
        smaller: 100,
        ..PURE
    },
    Kind {
        name: "checkpoints",
        about: "checkpoint files and public keys: only what was signed proves anything",
        corpus: "checkpoints",
        make: || Box::new(checkpoints::Checkpoints::new()),
        inputs: 40_000,
        smaller: 200,
        ..PURE
    },
    Kind {
        name: "ops",
        about: "operations on lines, differences and merges",
        corpus: "ops",
        make: || Box::new(ops::Ops),
        inputs: 15_000,
        ..PURE
    },
    Kind {
        name: "cards",
        about: "thinking cards as text: what is accepted means the same when written out",
        corpus: "cards",
        make: || Box::new(cards::Cards),
        inputs: 100_000,
        ..PURE
    },
    Kind {
        name: "refs",
        about: "references in texts: where they stand, and that they read the same alone",
        corpus: "refs",
        make: || Box::new(refs::Refs),
        inputs: 40_000,
        ..PURE
    },
    Kind {
        name: "fragments",
        about: "how texts are cut: nothing lost, in order, bounded",
        corpus: "fragments",
        make: || Box::new(fragments::Fragments),
        inputs: 8_000,
        ..PURE
    },
    Kind {
        name: "canon",
        about: "canonical JSON, hashes and differences of values",
        corpus: "canon",
        make: || Box::new(canon::Canon),
        inputs: 100_000,
        ..PURE
    },
    Kind {
        name: "budget",
        about: "answers fitted into a budget never exceed it",
        corpus: "budget",
        make: || Box::new(budget::Budgets),
        inputs: 12_000,
        ..PURE
    },
    Kind {
        name: "git",
        about: "git directories: configuration, .git files; no secret of an address is kept",
        corpus: "git",
        make: || Box::new(git::Git::new()),
        inputs: 15_000,
        smaller: 200,
        ..PURE
    },
    Kind {
        name: "hooks",
        about: "what clients write to hooks: one client's event, or nothing",
        corpus: "hooks",
        make: || Box::new(hooks::Hooks),
        ..PURE
    },
    Kind {
        name: "settings",
        about: "settings files: read, or refused by file and line",
        corpus: "settings",
        make: || Box::new(settings::SettingsFile::new()),
        inputs: 8_000,
        smaller: 200,
        ..PURE
    },
    Kind {
        name: "text",
        about: "what is printed: no control characters, no more than asked for",
        corpus: "text",
        make: || Box::new(text::Texts),
        inputs: 80_000,
        ..PURE
    },
    Kind {
        name: "http",
        about: "raw bytes at a server on loopback: never 500, and it serves on",
        corpus: "http",
        make: || Box::new(http::Http::new()),
        inputs: 2_000,
        smaller: 40,
        ..PURE
    },
    Kind {
        name: "imports",
        about: "files that were damaged: stores and key files",
        corpus: "imports",
        make: || Box::new(imports::Imports::new()),
        inputs: 120,
        smaller: 40,
        ..PURE
    },
];

/// A target by its name.
pub fn find(name: &str) -> Option<&'static Kind> {
    static ALL: [Kind; 19] = KINDS;
    ALL.iter().find(|kind| kind.name == name)
}
