//! The pages: what each takes to make in a large workspace to a small one, and how large they are.
//!
//! A page is made in the process, without HTTP, so that what is measured is the page.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use understory_engine::kernel::clock::{Clock as _, System};
use understory_model::Role;
use understory_page::{Care, Found, Login, Query, Visit};
use understory_tools::Context;

use crate::Outcome;
use crate::bench::{Bench, WORKSPACE};
use crate::inside::Inside;
use crate::measure::in_turns;
use crate::stores;
use crate::table::{Line, megabytes};

/// Items of the large workspace and of the small one.
const LARGE: usize = 100_000;
const SMALL: usize = 100;
/// Of ten items, what each is.
const KINDS: usize = 10;
/// What the stylesheet and the script may have each, in bytes.
const FILE: f64 = 40_000.0;
/// A page in the large workspace takes at most so much longer.
const FLAT: f64 = 2.0;

const PAGES: [&str; 16] = [
    "now",
    "timeline",
    "work",
    "work?view=board",
    "work?view=list",
    "work/TASK-001",
    "records",
    "records/R001",
    "reasoning",
    "conversations",
    "threads",
    "threads/th_001",
    "artifacts",
    "artifacts/doc_000001",
    "search?q=harbour",
    "agents/agent-1",
];

pub fn measure(bench: &Bench) -> Outcome<Vec<Line>> {
    let size = bench.size(LARGE);
    let large = Inside::open(&store(bench, size)?)?;
    let small = Inside::open(&store(bench, SMALL)?)?;
    let mut lines = Vec::new();
    for page in PAGES {
        let samples = in_turns(
            bench.pace(10, 4),
            &mut [&mut || Ok(made(&large, page)?.0), &mut || {
                Ok(made(&small, page)?.0)
            }],
        )?;
        let [many, few] = samples.as_slice() else {
            return Err("sides".into());
        };
        let what = format!("page {page}, p50, at {size} items to {SMALL}");
        lines.push(Line::times(what, many.p50(), few.p50()).at_most(FLAT));
        let (many, few) = (made(&large, page)?.1, made(&small, page)?.1);
        lines.push(bytes("… its bytes".to_owned(), many, few));
    }
    let (style, script) = understory_page::largest();
    for (what, size) in [("stylesheets", style), ("scripts", script)] {
        let line = Line::new(
            format!("{what} of the largest page, unminified"),
            kilobytes(size),
            kilobytes(FILE as usize),
            size as f64 / FILE,
        );
        lines.push(line.at_most(1.0));
    }
    Ok(lines)
}

fn kilobytes(bytes: usize) -> String {
    format!("{:.1} KB", megabytes(bytes as u64) * 1e3)
}

fn bytes(what: String, many: usize, few: usize) -> Line {
    Line::new(
        what,
        kilobytes(many),
        kilobytes(few),
        many as f64 / few as f64,
    )
}

/// Makes a page: how long it took, and its bytes.
fn made(inside: &Inside, page: &str) -> Outcome<(Duration, usize)> {
    let (path, query) = page.split_once('?').unwrap_or((page, ""));
    let path: Vec<&str> = path.split('/').collect();
    let mut caller = crate::inside::caller();
    caller.agent = "ann".to_owned();
    caller.role = Role::Operator;
    let context = Context {
        engine: inside.engine(),
        caller: &caller,
        request_id: "req_bench",
    };
    let login = Login {
        workspace: WORKSPACE,
        csrf: "csrf",
        care: &Care::default(),
    };
    let begun = Instant::now();
    let visit = Visit::new(context, login, System.now(), Query::parse(query));
    let found = understory_page::page(&visit, &path).map_err(|fault| fault.message)?;
    let took = begun.elapsed();
    match found {
        Found::Page(page) if !page.missing => Ok((took, page.html.len())),
        _ => Err(format!("there is no page {page}").into()),
    }
}

/// A workspace in which of ten items six are tasks, and the others records, messages, notes and documents.
fn store(bench: &Bench, items: usize) -> Outcome<String> {
    let name = format!("pages-{items}");
    stores::kept(bench, &name, include_str!("pages.rs"), |path| {
        let inside = Inside::open(path)?;
        let root = json!({"title": "How do we sell?", "summary": "", "body": "", "type": "question", "state": "OPEN"});
        inside.call("create_record", root)?;
        let first = json!({"title": "The harbour", "participants": ["bench", "ann"]});
        inside.call("create_thread", first)?;
        inside.each(items / KINDS, |inside, at| {
            for call in calls(at) {
                inside.call(call.0, call.1)?;
            }
            Ok(())
        })?;
        inside.close();
        Ok(())
    })
}

fn calls(at: usize) -> Vec<(&'static str, Value)> {
    let place = ["harbour", "market", "library", "orchard"][at % 4];
    let nodes: Vec<Value> = (0..6)
        .map(|part| {
            let mut node =
                json!({"ref": format!("n{part}"), "summary": format!("Write part {part} of the {place} guide {at}")});
            if part > 0 {
                node["depends_on"] = json!([format!("n{}", part - 1)]);
            }
            node
        })
        .collect();
    let said = format!("Looked at the {place} {at}: nothing unusual.");
    let mut calls = vec![
        ("graph_plan", json!({"nodes": nodes})),
        (
            "create_record",
            json!({"title": format!("Question {at} of the {place}"), "summary": "", "body": said, "type": "question",
                "state": "OPEN", "parent_id": "R001"}),
        ),
        ("garden_add", json!({"type": "Note", "description": said})),
    ];
    if at.is_multiple_of(20) {
        calls.push((
            "create_thread",
            json!({"title": format!("The {place} {at}"), "participants": ["bench", "ann"]}),
        ));
        let text = format!("# The {place}\n\nIt is open.\nIt is number {at}.\n");
        let label = format!("doc_{:06}", at + 1);
        calls.push((
            "garden_artifact_create",
            json!({"label": label, "content": text}),
        ));
    } else {
        calls.push(("post_message", json!({"thread_id": "th_001", "body": said})));
    }
    calls
}
