//! Records: what is read and found, in small projects and in large ones.

use serde_json::{Value, json};

use crate::Outcome;
use crate::bench::Bench;
use crate::measure::{Samples, in_turns};
use crate::server::Server;
use crate::table::Line;
use crate::{stores, thoughts};

pub fn measure(bench: &Bench) -> Outcome<Vec<Line>> {
    let mut lines = activate(bench)?;
    lines.extend(overview(bench)?);
    lines.extend(among(bench)?);
    lines.extend(search(bench)?);
    lines.extend(sync(bench)?);
    Ok(lines)
}

/// A server on a copy of a store, because what is called writes.
pub fn copied(bench: &Bench, store: &str, name: &str) -> Outcome<Server> {
    let copy = bench.file(name);
    stores::copy(store, &copy)?;
    Server::begin(bench.ours(&copy))
}

/// The characters of an answer.
pub fn size(server: &mut Server, tool: &str, arguments: &Value) -> Outcome<usize> {
    Ok(server.call(tool, arguments)?.to_string().len())
}

fn two(samples: &[Samples]) -> Outcome<(f64, f64)> {
    let [one, other] = samples else {
        return Err("sides".into());
    };
    Ok((one.p50(), other.p50()))
}

fn activate(bench: &Bench) -> Outcome<Vec<Line>> {
    let store = thoughts::families(bench)?;
    let mut lines = Vec::new();
    for (what, chars) in [("whole", 1_000_000), ("cut to 100,000 characters", 100_000)] {
        let mut many = copied(bench, &store, &format!("many-{chars}.db"))?;
        let mut few = copied(bench, &store, &format!("few-{chars}.db"))?;
        let asked = |id: &str| json!({ "id": id, "max_chars": chars });
        let (large, small) = (asked("R001"), asked("R002"));
        let sizes = (
            size(&mut many, "activate", &large)? as f64,
            size(&mut few, "activate", &small)? as f64,
        );
        let samples = in_turns(
            bench.pace(16, 20),
            &mut [&mut || many.time("activate", &large), &mut || {
                few.time("activate", &small)
            }],
        )?;
        let (many, few) = two(&samples)?;
        let answers = sizes.0 / sizes.1;
        let what = format!(
            "activate, p50, 550 below to 55, {what}: answers of {:.0} to {:.0} KB",
            sizes.0 / 1e3,
            sizes.1 / 1e3
        );
        let rounded = (answers * 10.0).round() / 10.0;
        lines.push(Line::times(what, many, few).at_most(rounded));
    }
    Ok(lines)
}

fn overview(bench: &Bench) -> Outcome<Vec<Line>> {
    let large = bench.size(10_000);
    let mut many = Server::begin(bench.ours(&thoughts::records(bench, large)?))?;
    let mut few = Server::begin(bench.ours(&thoughts::records(bench, 1_000)?))?;
    let (tool, none) = ("get_project_overview", json!({}));
    let sizes = (size(&mut many, tool, &none)?, size(&mut few, tool, &none)?);
    let samples = in_turns(
        bench.pace(16, 10),
        &mut [&mut || many.time(tool, &none), &mut || {
            few.time(tool, &none)
        }],
    )?;
    let (many, few) = two(&samples)?;
    let what = format!(
        "get_project_overview, p50, of {large} records to 1,000: answers of {} to {} KB",
        sizes.0 / 1_000,
        sizes.1 / 1_000
    );
    Ok(vec![Line::times(what, many, few).at_most(1.5)])
}

/// The same family, and the same list, among few others and among many.
fn among(bench: &Bench) -> Outcome<Vec<Line>> {
    let large = bench.size(100_000);
    let mut many = copied(bench, &thoughts::records(bench, large)?, "among-many.db")?;
    let mut few = copied(bench, &thoughts::records(bench, 1_000)?, "among-few.db")?;
    // The first after those with the rare word is one with children.
    let asked = [
        (
            "activate",
            "a record with 9 children",
            json!({ "id": "R021" }),
        ),
        (
            "list_records",
            "the 9 below one",
            json!({ "parent_id": "R021" }),
        ),
    ];
    let mut lines = Vec::new();
    for (tool, what, asked) in asked {
        let samples = in_turns(
            bench.pace(16, 10),
            &mut [&mut || many.time(tool, &asked), &mut || {
                few.time(tool, &asked)
            }],
        )?;
        let (many, few) = two(&samples)?;
        let what = format!("{tool}, p50, {what}, among {large} to 1,000");
        lines.push(Line::times(what, many, few).at_most(1.5));
    }
    Ok(lines)
}

fn search(bench: &Bench) -> Outcome<Vec<Line>> {
    let mut few = Server::begin(bench.ours(&thoughts::records(bench, 1_000)?))?;
    let mut lines = Vec::new();
    let words = [
        ("a word that 20 have", "zephyr"),
        ("a word that 1 in 20 has", "parser"),
    ];
    let asked = words.map(|(_, word)| json!({ "query": word }));
    for large in [10_000, 100_000].map(|full| bench.size(full)) {
        if large <= 1_000 {
            continue;
        }
        let mut many = Server::begin(bench.ours(&thoughts::records(bench, large)?))?;
        for ((what, _), asked) in words.iter().zip(&asked) {
            let totals = (total(&mut many, asked)?, total(&mut few, asked)?);
            let samples = in_turns(
                bench.pace(24, 20),
                &mut [&mut || many.time("search_records", asked), &mut || {
                    few.time("search_records", asked)
                }],
            )?;
            let (many, few) = two(&samples)?;
            let what = format!(
                "search_records, p50, {what}: {} of {large} to {} of 1,000",
                totals.0, totals.1
            );
            lines.push(Line::times(what, many, few).at_most(5.0));
        }
    }
    Ok(lines)
}

fn total(server: &mut Server, asked: &Value) -> Outcome<i64> {
    let found = server.call("search_records", asked)?;
    found["total"].as_i64().ok_or_else(|| "no total".into())
}

/// Each session can be late only once, so each call is of another.
fn sync(bench: &Bench) -> Outcome<Vec<Line>> {
    let many = bench.size(thoughts::MISSED_MANY);
    let mut server = copied(bench, &thoughts::missed(bench)?, "missed.db")?;
    let (mut early, mut late) = (Samples::default(), Samples::default());
    let mut sizes = (0, 0);
    for at in 0..thoughts::LATE {
        let asked = |kind: &str| json!({ "session_id": format!("{kind}-{at}") });
        if at == 0 {
            sizes = (
                size(&mut server, "sync_session", &asked("many"))?,
                size(&mut server, "sync_session", &asked("few"))?,
            );
            continue;
        }
        early.push(server.time("sync_session", &asked("many"))?);
        late.push(server.time("sync_session", &asked("few"))?);
    }
    let what = format!(
        "sync_session, p50, {many} missed writes to {}: answers of {} to {} KB",
        thoughts::MISSED_FEW,
        sizes.0 / 1_000,
        sizes.1 / 1_000
    );
    let grown = sizes.0 as f64 / sizes.1 as f64;
    let most = (grown * 10.0).round() / 10.0;
    Ok(vec![
        Line::times(what, early.p50(), late.p50()).at_most(most),
    ])
}
