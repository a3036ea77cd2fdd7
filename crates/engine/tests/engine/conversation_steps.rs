//! Random calls about conversations, scratchpads, the reader and what is believed, valid ones and
//! others.

use serde_json::{Value, json};
use understory_model::page::{Cursor, Key};

use crate::common::Dice;

/// Names known so far; some of them fit.
pub struct Known<'k> {
    pub logs: &'k [String],
    pub items: &'k [String],
    pub nodes: &'k [String],
}

/// One call.
pub fn step(dice: &mut Dice, known: &Known<'_>, text: String) -> (&'static str, Value) {
    let log = dice.pick(known.logs).clone();
    let item = dice.pick(known.items).clone();
    match dice.below(31) {
        26..=30 => believe(dice, &item, text),
        0..=5 => ("garden_add", add(dice, &log, &item, text)),
        6 | 7 => ("garden_fork", fork(dice, &log)),
        8 | 9 => ("garden_collapse", json!({"log": log, "summary": text})),
        10 | 11 => ("garden_reopen", json!({"log": log})),
        12 => ("garden_frame", json!({"log": log})),
        13 => ("garden_frame", json!({"head": item})),
        14 => ("garden_undo", json!({"item": item})),
        15 => ("garden_relate", relate(dice, &log, &item)),
        16..=19 => read(dice, text),
        20..=22 => {
            let proposal = format!("prop_{:03}", 1 + dice.below(6));
            let accept = !dice.one_in(4);
            (
                "reader_decide",
                json!({"proposal": proposal, "accept": accept, "note": text}),
            )
        }
        _ => ("scratchpad", scratch(dice, known, &log, text)),
    }
}

/// An entity, a relation, or what becomes of them.
fn believe(dice: &mut Dice, item: &str, text: String) -> (&'static str, Value) {
    match dice.below(6) {
        0 | 1 => (
            "garden_entity_create",
            json!({"type": "thing", "data": {"text": text, "n": 1.5}, "caused_by": item}),
        ),
        2 => (
            "garden_relate",
            json!({"kind": dice.pick(&["derived_from", "triggers"]), "source": "R001", "target": item,
                "remove": dice.one_in(3)}),
        ),
        3 => ("garden_fossilize", json!({"threshold": 0.99})),
        4 => {
            let seq = dice.below(200) as i64;
            let cursor = Cursor::new("garden.changes", vec![Key::Int(seq)]).encode();
            ("garden_changes_ack", json!({"cursor": cursor}))
        }
        _ => (
            "garden_entity_supersede",
            json!({"uuid": item, "by": "R001"}),
        ),
    }
}

/// A look at an artifact, or a proposal for it.
fn read(dice: &mut Dice, text: String) -> (&'static str, Value) {
    let label = *dice.pick(&["goals_doc", "plan", "目標"]);
    let start = 1 + dice.below(4);
    let end = start + dice.below(3);
    match dice.below(6) {
        0 => ("reader_search", json!({"artifact": label, "query": text})),
        1 => (
            "reader_scroll",
            json!({"artifact": label, "start": start, "end": end}),
        ),
        2 => ("reader_scroll", json!({"artifact": label, "down": start})),
        _ => (
            "reader_propose",
            json!({"artifact": label, "start": start, "end": end, "content": text, "reasoning": text}),
        ),
    }
}

fn add(dice: &mut Dice, log: &str, item: &str, text: String) -> Value {
    let kind = *dice.pick(&["Note", "Message", "OwnKind"]);
    let words = format!("{text}, but @{item} said so. [see]({log})");
    let mut new = json!({"type": kind, "description": words});
    if dice.one_in(3) {
        new["log"] = json!(log);
    }
    if dice.one_in(3) {
        new["caused_by"] = json!(item);
    }
    new
}

fn fork(dice: &mut Dice, log: &str) -> Value {
    let mut fork = json!({});
    if dice.one_in(2) {
        fork["parent"] = json!(log);
    }
    if dice.one_in(3) {
        fork["participant"] = json!(dice.pick(&["ada", "bob", "Зоя"]));
    }
    fork
}

fn relate(dice: &mut Dice, log: &str, item: &str) -> Value {
    let kind = *dice.pick(&["mentions", "continues", "contains"]);
    json!({"kind": kind, "source": log, "target": item, "remove": dice.one_in(4)})
}

fn scratch(dice: &mut Dice, known: &Known<'_>, log: &str, text: String) -> Value {
    let mut pad = json!({"write": text, "append": dice.one_in(2)});
    if dice.one_in(2) {
        pad["task"] = json!(dice.pick(known.nodes));
    } else {
        pad["log"] = json!(log);
    }
    if dice.one_in(2) {
        pad["keep"] = json!(true);
    }
    pad
}
