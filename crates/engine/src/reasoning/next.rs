//! `branchmind_think_next`: the one best next step, from the graph alone.
//!
//! Open ends are looked for in a fixed order, and among equals the oldest comes first, so the same
//! graph always gives the same step.

use std::collections::{BTreeMap, HashSet};

use serde_json::{Value, json};
use understory_model::Ws;
use understory_model::budget::{Budget, fit_whole};
use understory_model::error::Result;
use understory_storage::vertices::Vertex;
use understory_storage::{Tx, conflicts};

use super::conflict::Sides;
use super::place::Place;
use super::think::{cards, kind};
use super::vertex::{EDGE, Graph, state};
use crate::core::Thing;

/// Open conflicts that are looked at for one whose sides differ.
const LOOKED_AT: i64 = 50;

/// What a card is, and which types of card it is linked with.
struct Open {
    id: String,
    title: String,
    kind: String,
    linked: HashSet<String>,
}

pub fn next(tx: &mut Tx<'_>, ws: Ws, place: Place, budget: &Budget) -> Result<Value> {
    let into = (place.branch.as_str(), place.doc.as_str());
    let conflict = contested(tx, ws, into)?;
    let graph = Graph::open(tx, ws, place.clone())?;
    let open = open_cards(tx, &graph)?;
    let step = match conflict {
        Some(conflict) => json!({
            "action": "resolve_conflict",
            "conflict_id": conflict.entity.handle,
            "tool": "branchmind_graph_conflict_resolve",
            "reason": "Two branches disagree: nothing built on it is sure until one is chosen.",
        }),
        None => step(&open),
    };
    let answer = json!({
        "branch": place.branch,
        "graph_doc": place.doc,
        "next": step,
        "open": counts(&open),
        "truncated": false,
    });
    Ok(fit_whole(answer, budget))
}

/// The open conflict that has waited longest, of those whose sides still differ.
fn contested(tx: &mut Tx<'_>, ws: Ws, into: (&str, &str)) -> Result<Option<Thing>> {
    for entity in conflicts::oldest_open(tx, ws, into, LOOKED_AT)? {
        let conflict = Thing::open(entity)?;
        if !Sides::of(tx, ws, &conflict)?.agree() {
            return Ok(Some(conflict));
        }
    }
    Ok(None)
}

fn counts(open: &[Open]) -> Value {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for card in open {
        *counts.entry(&card.kind).or_default() += 1;
    }
    json!(counts)
}

/// Open cards, oldest first.
fn open_cards(tx: &mut Tx<'_>, graph: &Graph) -> Result<Vec<Open>> {
    let mut all: Vec<Vertex> = cards(tx, graph)?;
    all.reverse();
    let text = |vertex: &Vertex, field: &str| {
        let state = state(vertex);
        state
            .get(field)
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_string()
    };
    let kinds: BTreeMap<String, String> = all
        .iter()
        .map(|card| (text(card, "id"), kind(card)))
        .collect();
    let mut linked: BTreeMap<String, HashSet<String>> = BTreeMap::new();
    for edge in graph.all(tx, EDGE)? {
        let (from, to) = (text(&edge, "from"), text(&edge, "to"));
        for (end, other) in [(&from, &to), (&to, &from)] {
            if let Some(kind) = kinds.get(other) {
                linked.entry(end.clone()).or_default().insert(kind.clone());
            }
        }
    }
    Ok(all
        .iter()
        // A node that was never given a status is as open as a card is from the start.
        .filter(|card| matches!(text(card, "status").as_str(), "" | "open"))
        .map(|card| {
            let id = text(card, "id");
            Open {
                title: text(card, "title"),
                kind: kind(card),
                linked: linked.get(&id).cloned().unwrap_or_default(),
                id,
            }
        })
        .collect())
}

fn step(open: &[Open]) -> Value {
    let first = |kind: &str, without: &[&str]| {
        open.iter().find(|card| {
            card.kind == kind && !without.iter().any(|other| card.linked.contains(*other))
        })
    };
    if let Some(test) = first("test", &["evidence", "update"]) {
        return said(
            "run_test",
            test,
            "evidence",
            "It says how to find out, and nobody has looked yet.",
        );
    }
    if let Some(idea) = first("hypothesis", &["test", "evidence", "decision", "update"]) {
        return said(
            "design_test",
            idea,
            "test",
            "It may be true or not, and nothing would tell.",
        );
    }
    if let Some(question) = first(
        "question",
        &["hypothesis", "evidence", "decision", "test", "update"],
    ) {
        return said(
            "answer_question",
            question,
            "hypothesis",
            "It is open, and nothing answers it.",
        );
    }
    if let Some(idea) = first("hypothesis", &["decision", "update"]) {
        return said(
            "decide",
            idea,
            "decision",
            "It was tested; say what follows.",
        );
    }
    if let Some(frame) = first("frame", &["question", "hypothesis", "decision"]) {
        return said(
            "ask",
            frame,
            "question",
            "The problem is framed, and nothing was asked about it.",
        );
    }
    first_step()
}

/// What to do where no end is open.
pub fn first_step() -> Value {
    json!({
        "action": "frame",
        "card_type": "frame",
        "tool": "branchmind_think_card",
        "reason": "No end is open: say what the next problem is.",
    })
}

fn said(action: &str, card: &Open, answer_with: &str, reason: &str) -> Value {
    json!({
        "action": action,
        "card_id": card.id,
        "title": card.title,
        "card_type": answer_with,
        "tool": "branchmind_think_card",
        "reason": reason,
    })
}
