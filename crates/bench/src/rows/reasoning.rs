//! Reasoning: long lines of branches, large graphs, merges, cards.

use std::time::Duration;

use serde_json::{Value, json};

use super::records::copied;
use crate::Outcome;
use crate::bench::{Bench, WORKSPACE};
use crate::measure::{Samples, in_turns};
use crate::plans::Plans;
use crate::server::Server;
use crate::table::Line;
use crate::thoughts;

pub fn measure(bench: &Bench) -> Outcome<Vec<Line>> {
    let mut lines = vec![show(bench)?];
    lines.extend(query(bench)?);
    lines.extend(merge(bench)?);
    lines.push(card(bench)?);
    Ok(lines)
}

/// As many entries are shown of both.
fn show(bench: &Bench) -> Outcome<Line> {
    let store = thoughts::deep(bench)?;
    let mut tip = Server::begin(bench.ours(&store))?;
    let mut first = Server::begin(bench.ours(&store))?;
    let asked = |depth: usize| json!({ "workspace": WORKSPACE, "branch": format!("deep-{depth}"), "doc": "notes" });
    let (deep, shallow) = (asked(thoughts::DEEP), asked(1));
    let tool = "branchmind_show";
    let samples = in_turns(
        bench.pace(24, 20),
        &mut [&mut || tip.time(tool, &deep), &mut || {
            first.time(tool, &shallow)
        }],
    )?;
    let what = "branchmind_show, p50, a branch of depth 1,000 to one of depth 1";
    Ok(Line::times(what, samples[0].p50(), samples[1].p50()).at_most(1.5))
}

fn query(bench: &Bench) -> Outcome<Vec<Line>> {
    let large = bench.size(100_000);
    let mut many = Server::begin(bench.ours(&thoughts::map(bench, large)?))?;
    let mut few = Server::begin(bench.ours(&thoughts::map(bench, 1_000)?))?;
    let mut lines = Vec::new();
    let branches = [
        ("c", "changes of many nodes"),
        ("hot", "changes of ten nodes"),
    ];
    for (branch, what) in branches {
        let asked = json!({ "workspace": WORKSPACE, "branch": branch, "doc": "map" });
        let tool = "branchmind_graph_query";
        let samples = in_turns(
            bench.pace(24, 10),
            &mut [&mut || many.time(tool, &asked), &mut || {
                few.time(tool, &asked)
            }],
        )?;
        let what =
            format!("branchmind_graph_query, p50, {large} nodes to 1,000, the branch has {what}");
        lines.push(Line::times(what, samples[0].p50(), samples[1].p50()).at_most(1.5));
    }
    Ok(lines)
}

/// Nodes that are changed in one call, as many as a page of a merge has.
const PAGE: usize = 200;

fn merge(bench: &Bench) -> Outcome<Vec<Line>> {
    let keys = bench.size(thoughts::CHANGED);
    let store = thoughts::changed(bench, keys)?;
    let (mut first, mut last) = (Samples::default(), Samples::default());
    let (mut pages, mut applied) = (Samples::default(), Samples::default());
    let mut plans = Plans::new(5);
    for round in 0..if bench.quick { 1 } else { 3 } {
        let mut server = copied(bench, &store, &format!("merge-{round}.db"))?;
        let mut plain = copied(bench, &store, &format!("apply-{round}.db"))?;
        let mut cursor = Value::Null;
        let mut took: Vec<Duration> = Vec::new();
        loop {
            let mut asked =
                json!({ "workspace": WORKSPACE, "from": "changed", "into": "main", "doc": "map" });
            if !cursor.is_null() {
                asked["cursor"] = cursor;
            }
            // What the page would be is asked before, for where the next begins.
            let mut look = asked.clone();
            look["dry_run"] = true.into();
            cursor =
                server.call("branchmind_graph_merge", &look)?["pagination"]["next_cursor"].clone();
            took.push(server.time("branchmind_graph_merge", &asked)?);
            let at = took.len() * PAGE;
            let ops: Vec<Value> = (0..PAGE)
                .map(|n| thoughts::node(&mut plans, at - n))
                .collect();
            let batch =
                json!({ "workspace": WORKSPACE, "branch": "changed", "doc": "map", "ops": ops });
            applied.push(plain.time("branchmind_graph_apply", &batch)?);
            if cursor.is_null() {
                break;
            }
        }
        let some = (took.len() / 4).clamp(1, 8);
        // The first page of all opens the files.
        took.iter()
            .skip(1)
            .take(some)
            .for_each(|took| first.push(*took));
        took.iter()
            .rev()
            .take(some)
            .for_each(|took| last.push(*took));
        took.iter().for_each(|took| pages.push(*took));
    }
    Ok(vec![
        Line::times(
            format!(
                "branchmind_graph_merge of {keys} keys, p50, its last pages of 200 to its first"
            ),
            last.p50(),
            first.p50(),
        )
        .at_most(1.5),
        Line::times(
            "… a page of 200, p50, to a graph_apply of 200",
            pages.p50(),
            applied.p50(),
        )
        .at_most(3.0),
    ])
}

fn card(bench: &Bench) -> Outcome<Line> {
    let mut cards = Server::begin(bench.ours(&bench.file("cards.db")))?;
    let mut notes = Server::begin(bench.ours(&bench.file("notes.db")))?;
    let (mut a, mut b) = (Plans::new(1), Plans::new(1));
    let said = |plans: &mut Plans| plans.one()["nodes"][0]["summary"].clone();
    let mut number = 0;
    let samples = in_turns(
        bench.pace(40, 50),
        &mut [
            &mut || {
                number += 1;
                let card = json!({ "id": format!("h{number}"), "type": "hypothesis", "title": "A thought", "text": said(&mut a) });
                let kept = json!({ "workspace": WORKSPACE, "branch": "main", "trace_doc": "trace", "graph_doc": "map", "card": card });
                cards.time("branchmind_think_card", &kept)
            },
            &mut || {
                let note = json!({ "workspace": WORKSPACE, "branch": "main", "doc": "notes", "title": "A thought", "content": said(&mut b) });
                notes.time("branchmind_notes_commit", &note)
            },
        ],
    )?;
    let what = "branchmind_think_card, p50, to a branchmind_notes_commit";
    Ok(Line::times(what, samples[0].p50(), samples[1].p50()).at_most(2.0))
}
