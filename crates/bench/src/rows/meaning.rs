//! Search by meaning over many lines, against the least that any scan has to do: one dot product a
//! vector, over as many vectors that lie in memory.

use std::hint::black_box;
use std::time::Instant;

use serde_json::json;
use understory_meaning::{BYTES, dot, embed};

use crate::Outcome;
use crate::bench::Bench;
use crate::measure::in_turns;
use crate::server::Server;
use crate::stores;
use crate::table::Line;

pub fn measure(bench: &Bench) -> Outcome<Vec<Line>> {
    let count = bench.size(100_000);
    let mut server = Server::begin(bench.ours(&stores::with_nodes(bench, count)?))?;
    let asked = json!({ "query": "why does reading the configuration take so long", "limit": 20 });
    // The first search of a process reads every vector.
    let cold = server.time("search", &asked)?;
    let vectors = some_vectors(count)?;
    let to = embed("why does reading the configuration take so long").ok_or("no vector")?;
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
    let what = format!("search, p50, by words and meaning over {count} lines, to a raw scan");
    let first = format!("search, the first in a process over {count} lines, to a raw scan");
    Ok(vec![
        Line::times(what, samples[0].p50(), scan),
        Line::times(first, cold.as_secs_f64(), scan),
    ])
}

/// Vectors of texts that differ.
fn some_vectors(count: usize) -> Outcome<Vec<[i8; BYTES]>> {
    let words = [
        "parser", "cache", "login", "invoice", "queue", "index", "token", "branch",
    ];
    let vector = |at: usize| {
        let text = format!("{} {} {at}", words[at % 8], words[at / 8 % 8]);
        embed(&text)
            .map(|vector| vector.0)
            .ok_or("no vector".into())
    };
    (0..count).map(vector).collect()
}
