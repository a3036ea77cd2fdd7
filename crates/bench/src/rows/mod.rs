//! The rows of the table: one file each, in the order in which they are printed.

mod batch;
mod garden;
mod hook;
mod instructions;
mod meaning;
mod memory;
mod neighbours;
mod next;
mod pages;
mod postgres;
mod processes;
mod query;
mod read;
mod reasoning;
mod records;
mod start;
#[cfg(unix)]
mod terminal;
mod threads;
mod waiting;
#[cfg(unix)]
mod waiting_hook;
#[cfg(unix)]
mod wake;
mod write;
mod writers;

use crate::Outcome;
use crate::bench::Bench;
use crate::table::Line;

/// A row: its name for `--only`, and how it is measured.
pub struct Row {
    pub name: &'static str,
    pub measure: fn(&Bench) -> Outcome<Vec<Line>>,
}

pub const ROWS: &[Row] = &[
    Row {
        name: "write",
        measure: write::measure,
    },
    Row {
        name: "batch",
        measure: batch::measure,
    },
    Row {
        name: "read",
        measure: read::measure,
    },
    Row {
        name: "next",
        measure: next::measure,
    },
    Row {
        name: "query",
        measure: query::measure,
    },
    Row {
        name: "records",
        measure: records::measure,
    },
    Row {
        name: "reasoning",
        measure: reasoning::measure,
    },
    Row {
        name: "threads",
        measure: threads::measure,
    },
    Row {
        name: "waiting",
        measure: waiting::measure,
    },
    Row {
        name: "garden",
        measure: garden::measure,
    },
    Row {
        name: "meaning",
        measure: meaning::measure,
    },
    Row {
        name: "writers",
        measure: writers::measure,
    },
    Row {
        name: "neighbours",
        measure: neighbours::measure,
    },
    Row {
        name: "processes",
        measure: processes::measure,
    },
    Row {
        name: "start",
        measure: start::measure,
    },
    #[cfg(unix)]
    Row {
        name: "terminal",
        measure: terminal::measure,
    },
    Row {
        name: "hook",
        measure: hook::measure,
    },
    #[cfg(unix)]
    Row {
        name: "waiting-hook",
        measure: waiting_hook::measure,
    },
    #[cfg(unix)]
    Row {
        name: "wake",
        measure: wake::measure,
    },
    Row {
        name: "pages",
        measure: pages::measure,
    },
    Row {
        name: "instructions",
        measure: instructions::measure,
    },
    Row {
        name: "memory",
        measure: memory::measure,
    },
    Row {
        name: "size",
        measure: memory::size,
    },
    Row {
        name: "pg-write",
        measure: postgres::write,
    },
    Row {
        name: "pg-neighbours",
        measure: neighbours::measure_postgres,
    },
    Row {
        name: "pg-batch",
        measure: postgres::batch,
    },
    Row {
        name: "pg-read",
        measure: postgres::read,
    },
    Row {
        name: "pg-next",
        measure: postgres::next,
    },
];
