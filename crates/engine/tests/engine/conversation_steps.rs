//! Random calls about conversations and scratchpads, valid ones and others.

use serde_json::{Value, json};

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
    match dice.below(18) {
        0..=5 => ("garden_add", add(dice, &log, &item, text)),
        6 | 7 => ("garden_fork", fork(dice, &log)),
        8 | 9 => ("garden_collapse", json!({"log": log, "summary": text})),
        10 | 11 => ("garden_reopen", json!({"log": log})),
        12 => ("garden_frame", json!({"log": log})),
        13 => ("garden_frame", json!({"head": item})),
        14 => ("garden_undo", json!({"item": item})),
        15 => ("garden_relate", relate(dice, &log, &item)),
        _ => ("scratchpad", scratch(dice, known, &log, text)),
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
