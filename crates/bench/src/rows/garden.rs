//! The timeline and the artifacts: what happened, why, and what a document was at any commit.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use serde_json::{Value, json};

use crate::Outcome;
use crate::bench::Bench;
use crate::inside::Inside;
use crate::measure::{Samples, in_turns};
use crate::plans::Plans;
use crate::server::Server;
use crate::stores;
use crate::table::Line;

/// Steps of the chain that is traced.
const DEPTH: usize = 1_000;
/// References in one text.
const REFERENCES: usize = 100;
/// Commits of the artifact whose middle is opened.
const COMMITS: usize = 10_000;
/// Lines of an artifact.
const LINES: usize = 10_000;

pub fn measure(bench: &Bench) -> Outcome<Vec<Line>> {
    let mut lines = append(bench)?;
    lines.extend(timeline(bench)?);
    lines.extend(trace(bench)?);
    lines.extend(references(bench)?);
    lines.extend(opening(bench)?);
    lines.extend(committing(bench)?);
    Ok(lines)
}

fn note(at: usize) -> Value {
    json!({ "type": "Note", "description": format!("Looked at shard {at}: nothing unusual there.") })
}

/// One item, durable, to the floor's insert.
fn append(bench: &Bench) -> Outcome<Vec<Line>> {
    let mut ours = Server::begin(bench.ours(&bench.file("garden.db")))?;
    let mut floor = Server::begin(bench.floor(&bench.file("garden-floor.db"), false))?;
    let mut plans = Plans::new(1);
    let mut at = 0;
    let samples = in_turns(
        bench.pace(60, 50),
        &mut [
            &mut || {
                at += 1;
                ours.time("garden_add", &note(at))
            },
            &mut || floor.time("insert", &plans.one()),
        ],
    )?;
    let (ours, floor) = two(&samples)?;
    Ok(vec![
        Line::times(
            "an item appended, p50, to the floor's insert",
            ours.p50(),
            floor.p50(),
        ),
        Line::times("… p99", ours.p99(), floor.p99()),
    ])
}

fn two(samples: &[Samples]) -> Outcome<(&Samples, &Samples)> {
    match samples {
        [one, other] => Ok((one, other)),
        _ => Err("sides".into()),
    }
}

/// A page of a long timeline, to the same page of a short one.
fn timeline(bench: &Bench) -> Outcome<Vec<Line>> {
    let large = bench.size(1_000_000);
    let mut many = Server::begin(bench.ours(&stores::with_nodes(bench, large)?))?;
    let mut few = Server::begin(bench.ours(&stores::with_nodes(bench, 100)?))?;
    let mut lines = Vec::new();
    for (what, asked) in [
        ("newest", json!({ "limit": 20 })),
        ("by actor", json!({ "limit": 20, "actor": "nobody" })),
        ("by a rare type", json!({ "limit": 20, "types": ["Note"] })),
        (
            "by the canonical clock",
            json!({ "limit": 20, "clock": "canonical" }),
        ),
    ] {
        let samples = in_turns(
            bench.pace(40, 20),
            &mut [&mut || many.time("garden_timeline", &asked), &mut || {
                few.time("garden_timeline", &asked)
            }],
        )?;
        let (many, few) = two(&samples)?;
        let what = format!("timeline page {what}, p50, at {large} items to 100");
        lines.push(Line::times(what, many.p50(), few.p50()).at_most(1.5));
    }
    Ok(lines)
}

/// A chain of causes, to one recursive query over the same rows.
fn trace(bench: &Bench) -> Outcome<Vec<Line>> {
    let store = bench.file("trace.db");
    let inside = Inside::open(&store)?;
    let mut last = String::new();
    for at in 0..DEPTH {
        let mut added = note(at);
        if !last.is_empty() {
            added["caused_by"] = json!(last);
        }
        let answer = inside.call("garden_add", added)?;
        last = answer["item"]["uuid"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
    }
    let seq = inside.call("garden_get", json!({ "id": last }))?["item"]["seq"].as_i64();
    inside.close();
    let raw = Connection::open(&store)?;
    let mut chain = || -> Outcome<Duration> {
        let begun = Instant::now();
        let mut query = raw.prepare_cached(
            "WITH RECURSIVE chain (seq, cause) AS (\
             SELECT seq, cause FROM soil_item WHERE ws = 1 AND seq = ?1 UNION ALL \
             SELECT i.seq, i.cause FROM chain c JOIN soil_item i ON i.ws = 1 AND i.seq = c.cause) \
             SELECT i.content FROM chain c JOIN soil_item i ON i.ws = 1 AND i.seq = c.seq",
        )?;
        let texts: Vec<String> = query
            .query_map([seq], |row| row.get(0))?
            .collect::<Result<_, _>>()?;
        assert_eq!(texts.len(), DEPTH);
        Ok(begun.elapsed())
    };
    let mut ours = Server::begin(bench.ours(&store))?;
    let asked = json!({ "item": last, "direction": "causes", "max_chars": 1_000_000 });
    let samples = in_turns(
        bench.pace(20, 5),
        &mut [&mut || ours.time("garden_trace", &asked), &mut chain],
    )?;
    let (ours, raw) = two(&samples)?;
    let what = format!("trace of depth {DEPTH}, p50, to one raw recursive query");
    Ok(vec![Line::times(what, ours.p50(), raw.p50())])
}

/// A text full of references, to as many raw reads.
fn references(bench: &Bench) -> Outcome<Vec<Line>> {
    let store = bench.file("references.db");
    let inside = Inside::open(&store)?;
    let (mut text, mut seqs) = (String::new(), Vec::new());
    for at in 0..REFERENCES {
        let answer = inside.call("garden_add", note(at))?;
        let item = &answer["item"];
        write!(text, "see @{} ", item["uuid"].as_str().unwrap_or_default())?;
        seqs.push(item["seq"].as_i64());
    }
    inside.close();
    let raw = Connection::open(&store)?;
    let mut reads = || -> Outcome<Duration> {
        let begun = Instant::now();
        for seq in &seqs {
            raw.prepare_cached("SELECT content FROM soil_item WHERE ws = 1 AND seq = ?1")?
                .query_row([seq], |row| row.get::<_, String>(0))?;
        }
        Ok(begun.elapsed())
    };
    let mut ours = Server::begin(bench.ours(&store))?;
    let asked = json!({ "content": text });
    let samples = in_turns(
        bench.pace(20, 10),
        &mut [&mut || ours.time("garden_refs", &asked), &mut reads],
    )?;
    let (ours, raw) = two(&samples)?;
    let what = format!("{REFERENCES} references resolved, p50, to as many raw reads");
    Ok(vec![Line::times(what, ours.p50(), raw.p50())])
}

fn text(lines: usize) -> String {
    let mut text = String::new();
    for at in 0..lines {
        let _ = writeln!(
            text,
            "Line {at} says what was decided about part {}.",
            at % 97
        );
    }
    text
}

/// An artifact with many commits, each of one line: its newest version, and the one in the middle.
fn opening(bench: &Bench) -> Outcome<Vec<Line>> {
    let commits = bench.size(COMMITS);
    let (name, make) = (format!("artifact-{commits}"), |store: &str| -> Outcome {
        let inside = Inside::open(store)?;
        let made = json!({ "label": "long", "content": text(500) });
        let answer = inside.call("garden_artifact_create", made)?;
        let mut head = answer["artifact"]["head"].clone();
        for at in 0..commits {
            let line = 1 + at % 500;
            let words = format!("Commit {at} changed this line.");
            let id = understory_model::fragment::fragment_id(&words);
            let ops = format!("+{line}:{id} -{line}");
            let answer = inside.call(
                "garden_artifact_commit",
                json!({ "artifact": "long", "based_on": head, "ops": ops, "texts": { id: words } }),
            )?;
            head = answer["commit"].clone();
        }
        inside.close();
        Ok(())
    });
    let store = stores::kept(bench, &name, include_str!("garden.rs"), make)?;
    let mut ours = Server::begin(bench.ours(&store))?;
    let mut cold = Server::begin(bench.ours(&store))?;
    let log = ours.call(
        "garden_artifact_log",
        &json!({ "artifact": "long", "limit": 1 }),
    )?;
    let head = log["deltas"][0]["commit"].clone();
    let middle = middle(&mut ours, commits)?;
    let show = |commit: &Value| json!({ "artifact": "long", "commit": commit, "end": 20 });
    let (newest, middle) = (show(&head), show(&middle));
    let samples = in_turns(
        bench.pace(30, 5),
        &mut [
            &mut || ours.time("garden_artifact_show", &middle),
            &mut || cold.time("garden_artifact_show", &newest),
        ],
    )?;
    let (middle, newest) = two(&samples)?;
    let what = format!(
        "version {} of {commits} opened, p50, to the newest",
        commits / 2
    );
    Ok(vec![
        Line::times(what, middle.p50(), newest.p50()).at_most(3.0),
    ])
}

/// The commit in the middle of the log.
fn middle(ours: &mut Server, commits: usize) -> Outcome<Value> {
    let (mut cursor, mut left) = (Value::Null, commits / 2);
    loop {
        let asked = json!({ "artifact": "long", "limit": 200, "cursor": cursor });
        let page = ours.call("garden_artifact_log", &asked)?;
        let deltas = page["deltas"].as_array().cloned().unwrap_or_default();
        if let Some(delta) = deltas.get(left) {
            return Ok(delta["commit"].clone());
        }
        if deltas.is_empty() {
            return Err("the log is shorter".into());
        }
        left -= deltas.len();
        cursor = page["pagination"]["next_cursor"].clone();
    }
}

/// A change of one line of a long artifact, to an item appended.
fn committing(bench: &Bench) -> Outcome<Vec<Line>> {
    let store = bench.file("commit.db");
    let mut ours = Server::begin(bench.ours(&store))?;
    let made = json!({ "label": "wide", "content": text(LINES) });
    let answer = ours.call("garden_artifact_create", &made)?;
    let mut head = answer["artifact"]["head"].clone();
    let mut other = Server::begin(bench.ours(&bench.file("commit-notes.db")))?;
    let mut at = 0;
    let samples = in_turns(
        bench.pace(20, 10),
        &mut [
            &mut || {
                at += 1;
                let words = format!("Commit {at} changed this line.");
                let id = understory_model::fragment::fragment_id(&words);
                let line = 1 + at * 37 % LINES;
                let ops = format!("+{line}:{id} -{line}");
                let commit = json!({ "artifact": "wide", "based_on": head, "ops": ops,
                    "texts": { id: words } });
                let begun = Instant::now();
                let answer = ours.call("garden_artifact_commit", &commit)?;
                let took = begun.elapsed();
                head = answer["commit"].clone();
                Ok(took)
            },
            &mut || other.time("garden_add", &note(1)),
        ],
    )?;
    let (commit, item) = two(&samples)?;
    let what = format!("a line of {LINES} committed, p50, to an item appended");
    Ok(vec![Line::times(what, commit.p50(), item.p50())])
}
