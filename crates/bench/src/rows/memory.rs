//! What the process holds, and how large the program is.

use serde_json::json;

use crate::Outcome;
use crate::bench::Bench;
use crate::plans::Plans;
use crate::server::{Memory, Server};
use crate::stores;
use crate::table::{Line, megabytes};

pub fn measure(bench: &Bench) -> Outcome<Vec<Line>> {
    let large = bench.size(1_000_000);
    let mut lines = Vec::new();
    for (what, count, most) in [("at rest", 100, 25.0), ("in use", large, 60.0)] {
        let mut server = Server::begin(bench.ours(&stores::with_nodes(bench, count)?))?;
        server.ask("tools/list", &json!({}))?;
        server.call("graph_open", &json!({}))?;
        if count == large {
            use_it(&mut server, count)?;
        }
        let Memory {
            resident,
            peak,
            own,
        } = server.memory()?;
        let [resident, peak, own] = [resident, peak, own].map(megabytes);
        let held = format!("{resident:.1} MB (peak {peak:.1}, own {own:.1})");
        let what = format!("resident memory {what}, {count} nodes");
        lines.push(
            Line::new(what, held, String::new(), resident)
                .at_most(most)
                .in_unit(" MB"),
        );
    }
    Ok(lines)
}

/// A day of an agent, in short; every kind of call leaves its caches behind.
fn use_it(server: &mut Server, count: usize) -> Outcome {
    let mut plans = Plans::new(7);
    server.call("graph_onboard", &json!({}))?;
    for turn in 0..200 {
        let node = format!("TASK-{:03}", turn * (count / 200) + 2);
        server.call("graph_context", &json!({ "node_id": node }))?;
        server.call("graph_next", &json!({}))?;
        if turn % 10 == 0 {
            let filter =
                json!({ "text": format!("case {turn}"), "properties": { "area": "area-7" } });
            server.call("graph_query", &json!({ "filter": filter, "limit": 100 }))?;
            server.call("graph_plan", &plans.one())?;
        }
    }
    Ok(())
}

pub fn size(bench: &Bench) -> Outcome<Vec<Line>> {
    let size = megabytes(std::fs::metadata(&bench.binary)?.len());
    let line = Line::new(
        "release binary, stripped",
        format!("{size:.1} MB"),
        String::new(),
        size,
    );
    Ok(vec![line.at_most(25.0).in_unit(" MB")])
}
