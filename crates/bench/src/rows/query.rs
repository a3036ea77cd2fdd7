//! A page of nodes by a text and a property, in a small plan and in a large one.

use serde_json::{Value, json};

use crate::Outcome;
use crate::bench::Bench;
use crate::measure::in_turns;
use crate::server::Server;
use crate::stores;
use crate::table::Line;

pub fn measure(bench: &Bench) -> Outcome<Vec<Line>> {
    let large = bench.size(100_000);
    let mut many = Server::begin(bench.ours(&stores::with_nodes(bench, large)?))?;
    let mut few = Server::begin(bench.ours(&stores::with_nodes(bench, 1_000)?))?;
    let mut lines = Vec::new();
    // As many nodes fit in both, and then as large a share of both: a hundred times as many.
    let asked = [
        (
            "a word that 20 have",
            json!({ "text": "zephyr", "properties": { "area": "area-7" } }),
        ),
        (
            "a word that 1 in 20 has",
            json!({ "text": "parser", "properties": { "area": "area-7" } }),
        ),
    ];
    for (what, filter) in asked {
        let page = json!({ "filter": filter });
        let (total, small) = (total(&mut many, &page)?, total(&mut few, &page)?);
        let samples = in_turns(
            bench.pace(40, 20),
            &mut [&mut || many.time("graph_query", &page), &mut || {
                few.time("graph_query", &page)
            }],
        )?;
        let what = format!("graph_query, p50, {what}: {total} of {large} to {small} of 1,000");
        lines.push(Line::times(what, samples[0].p50(), samples[1].p50()).at_most(5.0));
    }
    Ok(lines)
}

fn total(server: &mut Server, arguments: &Value) -> Outcome<i64> {
    let found = server.call("graph_query", arguments)?;
    found["total"].as_i64().ok_or_else(|| "no total".into())
}
