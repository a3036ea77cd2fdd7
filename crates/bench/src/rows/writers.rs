//! Many writers inside one process.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use understory_engine::{Engine, Options};
use understory_model::Caller;
use understory_tools::{Context, registry};

use crate::Outcome;
use crate::bench::Bench;
use crate::inside::caller;
use crate::measure::median;
use crate::plans::Plans;
use crate::raw::Raw;
use crate::stores;
use crate::table::Line;

const WRITERS: usize = 64;

pub fn measure(bench: &Bench) -> Outcome<Vec<Line>> {
    let store = bench.file("writers.db");
    let caller = caller();
    let engine = Engine::open(&store, Options::default()).map_err(|f| f.message)?;
    plan(&engine, &caller, Plans::new(1).flat(WRITERS))?;
    engine.close();
    let copy = bench.file("writers-raw.db");
    stores::copy(&store, &copy)?;
    let engine = Arc::new(Engine::open(&store, Options::default()).map_err(|f| f.message)?);
    let mut raw = Raw::open(&copy, WRITERS as i64, true)?;
    let (mut many, mut one, mut limit) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..=bench.pace(16, 1).rounds {
        let rates = [
            written(&engine, &caller, WRITERS)?,
            written(&engine, &caller, 1)?,
            raw_rate(&mut raw)?,
        ];
        if round > 0 {
            many.push(rates[0]);
            one.push(rates[1]);
            limit.push(rates[2]);
        }
    }
    let (many, one, limit) = (median(many), median(one), median(limit));
    Ok(vec![
        Line::rates("64 writers in one process, to one", many, one).at_least(8.0),
        Line::rates("64 writers, to raw batches of 64", many, limit).at_least(0.5),
    ])
}

fn plan(engine: &Engine, caller: &Caller, nodes: serde_json::Value) -> Outcome {
    let context = Context {
        engine,
        caller,
        request_id: "req_bench",
    };
    registry::call_named(&context, "graph_plan", nodes).map_err(|fault| fault.message)?;
    Ok(())
}

/// Writes a second, by so many threads.
fn written(engine: &Arc<Engine>, caller: &Caller, threads: usize) -> Outcome<f64> {
    let (over, count) = (AtomicBool::new(false), AtomicU64::new(0));
    let begun = Instant::now();
    std::thread::scope(|scope| -> Outcome {
        let work = |seed: usize| {
            let mut plans = Plans::new(seed as u64);
            while !over.load(Ordering::Relaxed) {
                plan(engine, caller, plans.one())?;
                count.fetch_add(1, Ordering::Relaxed);
            }
            Outcome::Ok(())
        };
        let working: Vec<_> = (0..threads)
            .map(|seed| scope.spawn(move || work(seed)))
            .collect();
        std::thread::sleep(Duration::from_millis(700));
        over.store(true, Ordering::Relaxed);
        for thread in working {
            thread.join().map_err(|_| "a writer broke off")??;
        }
        Ok(())
    })?;
    Ok(count.load(Ordering::Relaxed) as f64 / begun.elapsed().as_secs_f64())
}

fn raw_rate(raw: &mut Raw) -> Outcome<f64> {
    let (mut took, mut batches) = (Duration::ZERO, 0);
    while took < Duration::from_millis(500) {
        took += raw.write()?;
        batches += 1;
    }
    Ok((batches * WRITERS) as f64 / took.as_secs_f64())
}
