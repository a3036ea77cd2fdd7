//! Search by meaning over many tasks of a line each, and over as many lines of artifacts, against the
//! least that any scan has to do: one dot product a vector, over as many vectors that lie in memory.

use std::fmt::Write;
use std::hint::black_box;
use std::time::Instant;

use serde_json::json;
use understory_meaning::{BYTES, dot, embed};

use crate::Outcome;
use crate::bench::Bench;
use crate::inside::Inside;
use crate::measure::in_turns;
use crate::server::Server;
use crate::stores;
use crate::table::Line;

const QUESTION: &str = "why does reading the configuration take so long";
/// Artifacts that the lines are in.
const ARTIFACTS: usize = 10;

pub fn measure(bench: &Bench) -> Outcome<Vec<Line>> {
    let count = bench.size(100_000);
    let vectors = some_vectors(count)?;
    let mut lines = Vec::new();
    for (what, store) in [
        ("tasks", stores::with_nodes(bench, count)?),
        ("lines of artifacts", with_lines(bench, count)?),
    ] {
        let asked = json!({ "query": QUESTION, "limit": 20 });
        // The first search of a process reads every vector, here from the system's memory, not from
        // the disk: another process was there before.
        Server::begin(bench.ours(&store))?.time("search", &asked)?;
        let mut server = Server::begin(bench.ours(&store))?;
        let first = server.time("search", &asked)?;
        let to = embed(QUESTION).ok_or("no vector")?;
        let samples = in_turns(
            bench.pace(40, 10),
            &mut [&mut || server.time("search", &asked), &mut || {
                let begun = Instant::now();
                let best = vectors.iter().map(|vector| dot(&to.0, vector)).max();
                black_box(best);
                Ok(begun.elapsed())
            }],
        )?;
        let scan = samples[1].p50();
        let title = format!("search, p50, by words and meaning over {count} {what}, to a raw scan");
        lines.push(Line::times(title, samples[0].p50(), scan));
        let title = format!("… the first in a process, over {count} {what}");
        lines.push(Line::times(title, first.as_secs_f64(), scan));
    }
    Ok(lines)
}

/// A store of artifacts that have so many lines together.
fn with_lines(bench: &Bench, count: usize) -> Outcome<String> {
    let make = |store: &str| -> Outcome {
        let inside = Inside::open(store)?;
        for artifact in 0..ARTIFACTS {
            let mut text = String::new();
            for at in 0..count / ARTIFACTS {
                let (one, other) = (WORDS[at % 8], WORDS[(at / 8 + artifact) % 8]);
                writeln!(text, "{artifact}.{at}: the {one} waits for the {other}.")?;
            }
            let made = json!({ "label": format!("part_{artifact}"), "content": text });
            inside.call("garden_artifact_create", made)?;
        }
        inside.close();
        Ok(())
    };
    stores::kept(
        bench,
        &format!("lines-{count}"),
        include_str!("meaning.rs"),
        make,
    )
}

const WORDS: [&str; 8] = [
    "parser", "cache", "login", "invoice", "queue", "index", "token", "branch",
];

/// Vectors of texts that differ.
fn some_vectors(count: usize) -> Outcome<Vec<[i8; BYTES]>> {
    let vector = |at: usize| {
        let text = format!("{} {} {at}", WORDS[at % 8], WORDS[at / 8 % 8]);
        embed(&text)
            .map(|vector| vector.0)
            .ok_or("no vector".into())
    };
    (0..count).map(vector).collect()
}
