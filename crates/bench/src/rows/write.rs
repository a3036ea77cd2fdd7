//! One durable write over stdio.

use serde_json::json;

use crate::Outcome;
use crate::bench::Bench;
use crate::measure::in_turns;
use crate::plans::Plans;
use crate::raw::Raw;
use crate::server::Server;
use crate::stores;
use crate::table::Line;

pub fn measure(bench: &Bench) -> Outcome<Vec<Line>> {
    let (store, copy) = (bench.file("write.db"), bench.file("write-raw.db"));
    let mut first = Server::begin(bench.ours(&store))?;
    first.call("graph_plan", &Plans::new(9).one())?;
    first.call("graph_plan", &Plans::new(8).one())?;
    first.leave()?;
    stores::copy(&store, &copy)?;
    let mut raw = Raw::open(&copy, 1, true)?;
    let mut ours = Server::begin(bench.ours(&store))?;
    let mut floor = Server::begin(bench.floor(&bench.file("write-floor.db"), false))?;
    let mut handing = Server::begin(bench.floor(&bench.file("write-handing.db"), true))?;
    let mut echo = Server::begin(bench.floor(&bench.file("write-echo.db"), false))?;
    let (mut a, mut b, mut c) = (Plans::new(1), Plans::new(1), Plans::new(1));
    let said = json!({ "text": "echo" });
    let samples = in_turns(
        bench.pace(80, 50),
        &mut [
            &mut || ours.time("graph_plan", &a.one()),
            &mut || floor.time("insert", &b.one()),
            &mut || handing.time("insert", &c.one()),
            &mut || echo.time("echo", &said),
            &mut || raw.write(),
        ],
    )?;
    let [ours, floor, handing, echo, raw] = samples.as_slice() else {
        return Err("sides".into());
    };
    Ok(vec![
        Line::times(
            "one write, p50, to the floor's insert",
            ours.p50(),
            floor.p50(),
        )
        .at_most(1.5),
        Line::times("one write, p99", ours.p99(), floor.p99()).at_most(2.0),
        Line::times(
            "… p50, to a floor that hands over to a thread",
            ours.p50(),
            handing.p50(),
        ),
        Line::times(
            "… p99, to a floor that hands over to a thread",
            ours.p99(),
            handing.p99(),
        ),
        Line::times(
            "… p50, to the same rows by a raw transaction",
            ours.p50(),
            raw.p50(),
        ),
        Line::times("… p50, to an echo", ours.p50(), echo.p50()),
    ])
}
