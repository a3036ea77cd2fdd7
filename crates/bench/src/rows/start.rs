//! From nothing to the first list of tools.

use std::time::Duration;

use crate::Outcome;
use crate::bench::Bench;
use crate::measure::in_turns;
use crate::server::Server;
use crate::stores;
use crate::table::Line;

pub fn measure(bench: &Bench) -> Outcome<Vec<Line>> {
    let store = stores::with_nodes(bench, 1_000)?;
    let file = bench.file("start-floor.db");
    let cold = |command| -> Outcome<Duration> {
        let (took, server) = Server::cold(command)?;
        server.leave()?;
        Ok(took)
    };
    let samples = in_turns(
        bench.pace(80, 1),
        &mut [&mut || cold(bench.ours(&store)), &mut || {
            cold(bench.floor(&file, false))
        }],
    )?;
    let [ours, floor] = samples.as_slice() else {
        return Err("sides".into());
    };
    Ok(vec![
        Line::times("cold start to tools/list, p50", ours.p50(), floor.p50()).at_most(3.0),
        Line::times("… p99", ours.p99(), floor.p99()),
    ])
}
