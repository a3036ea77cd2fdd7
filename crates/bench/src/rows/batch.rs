//! Five hundred nodes in one call.

use crate::Outcome;
use crate::bench::Bench;
use crate::measure::in_turns;
use crate::plans::Plans;
use crate::raw::Raw;
use crate::server::Server;
use crate::stores;
use crate::table::Line;

const COUNT: usize = 500;

pub fn measure(bench: &Bench) -> Outcome<Vec<Line>> {
    let store = bench.file("batch.db");
    let mut plans = Plans::new(2);
    // The raw writers start from the same store, right after the same batch.
    let mut first = Server::begin(bench.ours(&store))?;
    first.call("graph_plan", &plans.many(COUNT))?;
    first.call("graph_plan", &plans.many(COUNT))?;
    first.leave()?;
    let (with, without) = (bench.file("batch-raw.db"), bench.file("batch-bare.db"));
    stores::copy(&store, &with)?;
    stores::copy(&store, &without)?;
    let mut ours = Server::begin(bench.ours(&store))?;
    let mut raw = Raw::open(&with, COUNT as i64, true)?;
    let mut bare = Raw::open(&without, COUNT as i64, false)?;
    let samples = in_turns(
        bench.pace(40, 1),
        &mut [
            &mut || ours.time("graph_plan", &plans.many(COUNT)),
            &mut || raw.write(),
            &mut || bare.write(),
        ],
    )?;
    let [ours, raw, bare] = samples.as_slice() else {
        return Err("sides".into());
    };
    Ok(vec![
        Line::times(
            "500 nodes, p50, to a raw transaction",
            ours.p50(),
            raw.p50(),
        )
        .at_most(4.0),
        Line::times("… to one without the text indexes", ours.p50(), bare.p50()),
    ])
}
