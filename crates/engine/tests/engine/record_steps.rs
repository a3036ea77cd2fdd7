//! Random calls of the records surface, valid ones and others.

use serde_json::{Value, json};

use crate::common::Dice;

const STATES: [&str; 5] = ["OPEN", "LATER", "RESOLVED", "DISCARDED", "open"];

/// One call; `records` are the ids known so far.
pub fn step(dice: &mut Dice, records: &[String], text: String) -> (&'static str, Value) {
    let record = dice.pick(records).clone();
    match dice.below(12) {
        0..=2 => ("create_record", create(dice, record, text)),
        3 | 4 => (
            "activate",
            json!({"id": record, "override": dice.one_in(2), "max_chars": room(dice)}),
        ),
        5..=7 => ("update_record", update(dice, record, records, text)),
        8 => ("transition", transition(dice, record, records, text)),
        9 => {
            let limit = dice.one_in(2).then(|| 1 + dice.below(4));
            (
                "sync_session",
                json!({"limit": limit, "max_chars": room(dice)}),
            )
        }
        10 => ("save_session", json!({"summary": text})),
        _ if dice.one_in(2) => ("close_session", json!({})),
        _ => ("create_project", json!({"name": text})),
    }
}

/// No budget, or one that often has no room for everything.
fn room(dice: &mut Dice) -> Option<usize> {
    dice.one_in(3).then(|| 200 + 50 * dice.below(40))
}

fn create(dice: &mut Dice, parent: String, text: String) -> Value {
    let mut record = json!({
        "parent_id": if dice.one_in(3) { Value::Null } else { json!(parent) },
        "type": dice.pick(&["question", "note", ""]),
        "title": text.clone(),
        "summary": format!("about {text}"),
        "body": format!("{text}\n{text}\n"),
    });
    if dice.one_in(3) {
        record["related"] = json!([parent]);
    }
    if dice.one_in(4) {
        record["state"] = json!(dice.pick(&STATES));
    }
    if dice.one_in(4) {
        record["reason"] = json!(text);
        record["metadata"] = json!({ "key": [text] });
    }
    record
}

fn update(dice: &mut Dice, id: String, records: &[String], text: String) -> Value {
    match dice.below(8) {
        5 => json!({"id": id, "parent_id": dice.pick(records)}),
        6 => json!({"id": id, "parent_id": null, "type": dice.pick(&["note", "question"])}),
        7 => json!({"id": id, "body": format!("{text}\n").repeat(300)}),
        0 => json!({"id": id, "title": text}),
        1 => json!({"id": id, "related": [id]}),
        2 => json!({"id": id, "related": []}),
        3 => json!({"id": id, "body": text, "force": true}),
        _ => json!({"id": id, "body": text, "metadata": {"n": dice.below(9)}}),
    }
}

fn transition(dice: &mut Dice, id: String, records: &[String], text: String) -> Value {
    let to = *dice.pick(&STATES);
    let mut wanted = json!({"id": id, "to_state": to});
    if to == "RESOLVED" {
        wanted["resolved_by"] = json!(dice.pick(records));
    } else if !dice.one_in(5) {
        wanted["reason"] = json!(text);
    }
    wanted
}
