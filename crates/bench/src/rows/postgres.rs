//! The same on PostgreSQL, where `UNDERSTORY_TEST_POSTGRES` names a server.

use postgres::{Client, NoTls};
use serde_json::json;

use super::read::{leaf, numbers};
use crate::Outcome;
use crate::bench::Bench;
use crate::measure::in_turns;
use crate::plans::Plans;
use crate::raw_postgres::Raw;
use crate::server::Server;
use crate::stores::fill;
use crate::table::{Line, tell, time};

/// A database of its own on the server, gone afterwards.
pub(super) struct Database {
    server: String,
    name: String,
}

impl Database {
    /// Empty, or a copy of one that nobody is connected to.
    pub(super) fn new(server: &str, name: &str, copied: Option<&Database>) -> Outcome<Database> {
        let name = format!("understory_bench_{}_{name}", std::process::id());
        let template = copied.map_or(String::new(), |of| format!(" TEMPLATE {}", of.name));
        let mut client = Client::connect(server, NoTls)?;
        client.batch_execute(&format!("CREATE DATABASE {name}{template}"))?;
        Ok(Database {
            server: server.to_string(),
            name,
        })
    }

    pub(super) fn url(&self) -> String {
        let bare = self.server.split('?').next().unwrap_or_default();
        let before = bare.rsplit_once('/').map_or(bare, |(before, _)| before);
        format!("{before}/{}", self.name)
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        if let Ok(mut client) = Client::connect(&self.server, NoTls) {
            let _ = client.batch_execute(&format!("DROP DATABASE {} WITH (FORCE)", self.name));
        }
    }
}

pub fn write(bench: &Bench) -> Outcome<Vec<Line>> {
    let Some(server) = &bench.postgres else {
        return Ok(Vec::new());
    };
    let store = Database::new(server, "write", None)?;
    let mut ours = Server::begin(bench.ours(&store.url()))?;
    let mut floor = Server::begin(bench.floor(&store.url(), true))?;
    let (mut a, mut b) = (Plans::new(1), Plans::new(1));
    let samples = in_turns(
        bench.pace(30, 20),
        &mut [&mut || ours.time("graph_plan", &a.one()), &mut || {
            floor.time("insert", &b.one())
        }],
    )?;
    let [ours, floor] = samples.as_slice() else {
        return Err("sides".into());
    };
    let what = "PostgreSQL: one write, p50, to the floor's transaction";
    Ok(vec![
        Line::times(what, ours.p50(), floor.p50()),
        Line::times("PostgreSQL: one write, p99", ours.p99(), floor.p99()),
    ])
}

pub fn batch(bench: &Bench) -> Outcome<Vec<Line>> {
    const COUNT: usize = 500;
    let Some(server) = &bench.postgres else {
        return Ok(Vec::new());
    };
    let store = Database::new(server, "batch", None)?;
    let mut plans = Plans::new(2);
    let mut first = Server::begin(bench.ours(&store.url()))?;
    first.call("graph_plan", &plans.many(COUNT))?;
    first.call("graph_plan", &plans.many(COUNT))?;
    first.leave()?;
    let copy = copied(server, &store)?;
    let mut ours = Server::begin(bench.ours(&store.url()))?;
    let mut raw = Raw::open(&copy.url(), COUNT as i64)?;
    let samples = in_turns(
        bench.pace(16, 1),
        &mut [
            &mut || ours.time("graph_plan", &plans.many(COUNT)),
            &mut || raw.write(),
        ],
    )?;
    let [ours, raw] = samples.as_slice() else {
        return Err("sides".into());
    };
    let what = "PostgreSQL: 500 nodes, p50, to a raw transaction";
    Ok(vec![Line::times(what, ours.p50(), raw.p50())])
}

/// A server's end may take a moment to be noticed there.
fn copied(server: &str, store: &Database) -> Outcome<Database> {
    for _ in 0..50 {
        if let Ok(copy) = Database::new(server, "copy", Some(store)) {
            return Ok(copy);
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    Database::new(server, "copy", Some(store))
}

pub fn read(bench: &Bench) -> Outcome<Vec<Line>> {
    let Some(server) = &bench.postgres else {
        return Ok(Vec::new());
    };
    let store = Database::new(server, "read", None)?;
    let mut ours = Server::begin(bench.ours(&store.url()))?;
    let mut floor = Server::begin(bench.floor(&store.url(), true))?;
    fill(&mut ours, 1_000)?;
    let mut plans = Plans::new(1);
    for _ in 0..1_000 {
        floor.call("insert", &plans.one())?;
    }
    let (mut a, mut b) = (numbers(), numbers());
    let samples = in_turns(
        bench.pace(30, 20),
        &mut [&mut || ours.time("graph_context", &leaf(a())), &mut || {
            floor.time("read", &json!({ "id": b() + 1 }))
        }],
    )?;
    let [ours, floor] = samples.as_slice() else {
        return Err("sides".into());
    };
    let what = "PostgreSQL: point read, p50, to the floor's read";
    Ok(vec![Line::times(what, ours.p50(), floor.p50())])
}

pub fn next(bench: &Bench) -> Outcome<Vec<Line>> {
    let Some(server) = &bench.postgres else {
        return Ok(Vec::new());
    };
    let large = bench.size(100_000);
    let (big, small) = (
        Database::new(server, "big", None)?,
        Database::new(server, "small", None)?,
    );
    let mut many = Server::begin(bench.ours(&big.url()))?;
    let took = fill(&mut many, large)?;
    tell(format!(
        "made {large} nodes on PostgreSQL in {}",
        time(took.as_secs_f64())
    ));
    let mut few = Server::begin(bench.ours(&small.url()))?;
    fill(&mut few, 100)?;
    let samples = in_turns(
        bench.pace(30, 20),
        &mut [&mut || many.time("graph_next", &json!({})), &mut || {
            few.time("graph_next", &json!({}))
        }],
    )?;
    let what = format!("PostgreSQL: graph_next, p50, at {large} nodes to 100");
    Ok(vec![
        Line::times(what, samples[0].p50(), samples[1].p50()).at_most(1.5),
    ])
}
