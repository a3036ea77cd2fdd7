//! One node, read.

use serde_json::{Value, json};

use crate::Outcome;
use crate::bench::Bench;
use crate::measure::in_turns;
use crate::plans::Plans;
use crate::server::Server;
use crate::stores;
use crate::table::Line;

/// Nodes, and the floor's rows, to read from.
pub const COUNT: usize = 1_000;

/// Numbers from 0 to `COUNT`, all over.
pub fn numbers() -> impl FnMut() -> usize {
    let mut at = 0;
    move || {
        at = (at + 617) % COUNT;
        at
    }
}

/// Arguments for a node that is not the first of its group: no tree hangs below it.
pub fn leaf(number: usize) -> Value {
    let number = if number.is_multiple_of(100) {
        number + 1
    } else {
        number
    };
    json!({ "node_id": format!("TASK-{:03}", number + 1) })
}

pub fn measure(bench: &Bench) -> Outcome<Vec<Line>> {
    let mut ours = Server::begin(bench.ours(&stores::with_nodes(bench, COUNT)?))?;
    let mut floor = Server::begin(bench.floor(&bench.file("read-floor.db"), false))?;
    let mut plans = Plans::new(1);
    for _ in 0..COUNT {
        floor.call("insert", &plans.one())?;
    }
    let (mut a, mut b) = (numbers(), numbers());
    let samples = in_turns(
        bench.pace(80, 50),
        &mut [&mut || ours.time("graph_context", &leaf(a())), &mut || {
            floor.time("read", &json!({ "id": b() + 1 }))
        }],
    )?;
    let [ours, floor] = samples.as_slice() else {
        return Err("sides".into());
    };
    Ok(vec![
        Line::times(
            "point read, p50, to the floor's read",
            ours.p50(),
            floor.p50(),
        )
        .at_most(1.5),
        Line::times("point read, p99", ours.p99(), floor.p99()),
    ])
}
