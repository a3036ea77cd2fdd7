//! Random calls of the reasoning surface, valid ones and others.

use serde_json::{Value, json};

use crate::common::Dice;

const BRANCHES: [&str; 6] = ["main", "a", "b", "task/TASK-001", "nowhere", "c"];
const IDS: [&str; 5] = ["n1", "n2", "n3", "task:TASK-001", "n|4"];

/// One call in a workspace.
pub fn step(dice: &mut Dice, workspace: &str, text: String) -> (&'static str, Value) {
    let (from, to) = (*dice.pick(&BRANCHES), *dice.pick(&BRANCHES));
    let (tool, mut args) = match dice.below(12) {
        0 | 1 => (
            "branchmind_branch_create",
            json!({"name": to, "from": from}),
        ),
        2 => (
            "branchmind_notes_commit",
            json!({"branch": from, "doc": "notes", "content": text}),
        ),
        3..=5 => (
            "branchmind_graph_apply",
            json!({"branch": from, "doc": "graph", "ops": ops(dice, &text)}),
        ),
        6 => (
            "branchmind_think_card",
            json!({"target": "TASK-001", "card": {
            "id": dice.pick(&IDS), "type": dice.pick(&["question", "test", "guess"]), "title": text}}),
        ),
        7 => (
            "branchmind_merge",
            json!({"from": from, "into": to, "limit": 1 + dice.below(3)}),
        ),
        8 | 9 => (
            "branchmind_graph_merge",
            json!({"from": from, "into": to, "limit": 1 + dice.below(3)}),
        ),
        10 => ("branchmind_checkout", json!({"ref": from})),
        _ => ("branchmind_init", json!({})),
    };
    args["workspace"] = workspace.into();
    (tool, args)
}

fn ops(dice: &mut Dice, text: &str) -> Vec<Value> {
    (0..1 + dice.below(3))
        .map(|_| {
            let (id, other) = (*dice.pick(&IDS), *dice.pick(&IDS));
            match dice.below(6) {
                0 => json!({"op": "node_delete", "id": id}),
                1 => json!({"op": "edge_delete", "from": id, "rel": "about", "to": other}),
                2 => json!({"op": "edge_upsert", "from": id, "rel": "about", "to": other}),
                _ => json!({"op": "node_upsert", "id": id, "type": "idea", "title": text, "tags": ["B", "a"]}),
            }
        })
        .collect()
}
