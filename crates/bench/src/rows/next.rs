//! What is next, in a small plan and in a huge one.

use serde_json::json;

use crate::Outcome;
use crate::bench::Bench;
use crate::measure::in_turns;
use crate::server::Server;
use crate::stores;
use crate::table::{Line, time};

pub fn measure(bench: &Bench) -> Outcome<Vec<Line>> {
    let large = bench.size(1_000_000);
    let store = stores::with_nodes(bench, large)?;
    let mut many = Server::begin(bench.ours(&store))?;
    let mut few = Server::begin(bench.ours(&stores::with_nodes(bench, 100)?))?;
    let samples = in_turns(
        bench.pace(60, 50),
        &mut [&mut || many.time("graph_next", &json!({})), &mut || {
            few.time("graph_next", &json!({}))
        }],
    )?;
    let [many, few] = samples.as_slice() else {
        return Err("sides".into());
    };
    let what = format!("graph_next, p50, at {large} nodes to 100");
    let mut lines = vec![Line::times(what, many.p50(), few.p50()).at_most(1.5)];
    if let Some(took) = stores::took(&store) {
        let each = took / large as f64;
        let what = format!("… {large} nodes were made in {}, each in", time(took));
        lines.push(Line::new(what, time(each), String::new(), f64::NAN));
    }
    Ok(lines)
}
