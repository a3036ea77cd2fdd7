//! One-line writes of a workspace beside the large batches of another one, in one process.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use understory_engine::{Engine, Options};
use understory_model::Caller;
use understory_tools::{Context, registry};

use super::postgres::Database;
use crate::Outcome;
use crate::bench::Bench;
use crate::inside::caller;
use crate::measure::Samples;
use crate::table::Line;

/// Loops that plan, the nodes of each call, and what each node depends on.
const LOOPS: usize = 4;
const NODES: usize = 1_500;
const DEPENDS: usize = 6;

pub fn measure(bench: &Bench) -> Outcome<Vec<Line>> {
    measure_on(bench, &bench.file("neighbours.db"), "")
}

/// The same on PostgreSQL.
pub fn measure_postgres(bench: &Bench) -> Outcome<Vec<Line>> {
    let Some(server) = &bench.postgres else {
        return Ok(Vec::new());
    };
    let store = Database::new(server, "neighbours", None)?;
    measure_on(bench, &store.url(), "PostgreSQL: ")
}

fn measure_on(bench: &Bench, store: &str, place: &str) -> Outcome<Vec<Line>> {
    let engine = Arc::new(Engine::open(store, Options::default()).map_err(|f| f.message)?);
    let (busy, calm) = (caller(), another());
    let rounds = bench.pace(100, 1).rounds;
    let quiet = notes(&engine, &calm, rounds)?;
    let over = AtomicBool::new(false);
    let beside = std::thread::scope(|scope| -> Outcome<Samples> {
        let plan = || -> Outcome {
            while !over.load(Ordering::Relaxed) {
                call(&engine, &busy, "graph_plan", batch())?;
            }
            Ok(())
        };
        let loops: Vec<_> = (0..LOOPS).map(|_| scope.spawn(plan)).collect();
        // The first batches of all loops are on their way.
        std::thread::sleep(Duration::from_secs(1));
        let beside = notes(&engine, &calm, rounds);
        over.store(true, Ordering::Relaxed);
        for one in loops {
            one.join().map_err(|_| "a loop broke off")??;
        }
        beside
    })?;
    engine.close();
    let what =
        format!("{place}one-line write beside 4 batch loops of another workspace, p50 to quiet");
    let longest = format!("… {place}the longest wait, to the longest when quiet");
    Ok(vec![
        Line::times(what, beside.p50(), quiet.p50()).at_most(3.0),
        Line::times(longest, beside.within(1.0), quiet.within(1.0)),
    ])
}

fn another() -> Caller {
    Caller {
        workspace: "calm".into(),
        ..caller()
    }
}

/// One-line writes, one after another.
fn notes(engine: &Engine, caller: &Caller, count: usize) -> Outcome<Samples> {
    let mut samples = Samples::default();
    for at in 0..count {
        let note = json!({"type": "Note", "description": format!("line {at}")});
        let begun = Instant::now();
        call(engine, caller, "garden_add", note)?;
        samples.push(begun.elapsed());
    }
    Ok(samples)
}

fn batch() -> Value {
    let node = |at: usize| {
        let first = at.saturating_sub(DEPENDS);
        let depends_on: Vec<String> = (first..at).map(|before| format!("n{before}")).collect();
        json!({"ref": format!("n{at}"), "summary": format!("Step {at}"), "depends_on": depends_on})
    };
    json!({"nodes": (0..NODES).map(node).collect::<Vec<_>>()})
}

fn call(engine: &Engine, caller: &Caller, tool: &str, args: Value) -> Outcome {
    let context = Context {
        engine,
        caller,
        request_id: "req_bench",
    };
    registry::call_named(&context, tool, args).map_err(|fault| fault.message)?;
    Ok(())
}
