//! What the commands about branches share: calls in the desk's workspace, lists that are read to
//! their end, and the fields of a graph's nodes and edges laid beside each other.

use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use understory_engine::reasoning::branch::{self, Asked, Branches};
use understory_engine::reasoning::docs::{self, BranchState};
use understory_model::Fault;
use understory_model::answer::Answer;

use super::Desk;
use super::text::Text;

/// The branch that is there from the start.
pub use understory_engine::reasoning::place::MAIN;

/// Branches that are looked at; nobody draws more.
const LOOKED_AT: i64 = 10_000;
/// A page of a list.
const PAGE: usize = 200;
/// Whoever asks at a terminal wants it whole, however long it is.
pub const ROOM: usize = 16 << 20;

/// Calls a tool that names its workspace.
pub fn ask(desk: &Desk, tool: &str, mut args: Value) -> Result<Value, Fault> {
    args["workspace"] = desk.caller.workspace.clone().into();
    desk.call(tool, args).map_err(for_a_shell)
}

/// As [`ask`], with the type of the tool's answer, which must not be shortened.
pub fn ask_as<T: DeserializeOwned>(desk: &Desk, tool: &str, args: Value) -> Result<T, Fault> {
    Answer::Json(ask(desk, tool, args)?).typed()
}

/// What hints call a tool, and the command that does the same.
const COMMANDS: [(&str, &str); 4] = [
    ("branchmind_branch_list", "`understory branches`"),
    ("branchmind_branch_create", "`understory branch`"),
    ("branchmind_checkout", "`understory checkout`"),
    ("graph_query lists", "`understory search` finds"),
];

/// A fault whose hint names commands instead of tools.
fn for_a_shell(mut fault: Fault) -> Fault {
    if let Some(hint) = &mut fault.hint {
        for (tool, command) in COMMANDS {
            *hint = hint.replace(tool, command);
        }
    }
    fault
}

/// All branches, and which is checked out.
pub fn all(desk: &Desk) -> Result<Branches, Fault> {
    let workspace = &desk.caller.workspace;
    let asked = Asked {
        cursor: None,
        limit: LOOKED_AT,
    };
    desk.engine
        .view(&desk.caller, |view| branch::list(view, workspace, &asked))
}

/// One branch with its documents.
pub fn state(desk: &Desk, name: &str) -> Result<BranchState, Fault> {
    desk.engine
        .view(&desk.caller, |view| docs::shown(view.tx, view.ws, name))
        .map_err(for_a_shell)
}

/// The branch that another was made from.
pub fn base(all: &Branches, name: &str) -> Option<String> {
    let found = all.branches.iter().find(|branch| branch.name == name)?;
    found.base_branch.clone()
}

/// A list that comes in pages.
pub struct Rows {
    /// The document that it was read from.
    pub doc: Value,
    pub rows: Vec<Value>,
    /// Whether there are more than were asked for.
    pub more: bool,
}

/// Up to `most` rows of a tool's list.
pub fn rows(desk: &Desk, tool: &str, args: &Value, list: &str, most: usize) -> Result<Rows, Fault> {
    let mut found = Rows {
        doc: Value::Null,
        rows: Vec::new(),
        more: true,
    };
    let mut cursor = Value::Null;
    while found.more && found.rows.len() < most {
        let mut args = args.clone();
        args["limit"] = PAGE.min(most - found.rows.len()).into();
        args["max_chars"] = ROOM.into();
        args["cursor"] = cursor;
        let mut answer = ask(desk, tool, args)?;
        found.doc = answer["doc"].take();
        found.more = answer["pagination"]["has_more"] == true;
        cursor = answer["pagination"]["next_cursor"].take();
        if let Value::Array(rows) = answer[list].take() {
            found.rows.extend(rows);
        }
        // A page without a next one is the last, whatever it says.
        if cursor.is_null() {
            break;
        }
    }
    Ok(found)
}

/// Whether there is nothing: never made, or deleted.
pub fn is_gone(value: &Value) -> bool {
    value.is_null() || value["deleted"] == true
}

/// What a node or an edge says, field by field; nothing where it is gone.
pub fn fields(value: &Value) -> Vec<(String, String)> {
    let mut fields = Vec::new();
    if is_gone(value) {
        return fields;
    }
    for name in ["type", "title", "status", "text", "tags"] {
        if let Some(value) = value.get(name) {
            fields.push((name.to_owned(), plain(value)));
        }
    }
    let meta = value["meta"].as_object().into_iter().flatten();
    fields.extend(meta.map(|(name, value)| (format!("meta.{name}"), plain(value))));
    fields
}

/// Every field that differs between values, with what each of them has there.
pub fn differing(values: &[&Value]) -> Vec<(String, Vec<Option<String>>)> {
    let sides: Vec<Vec<(String, String)>> = values.iter().map(|value| fields(value)).collect();
    let mut names: Vec<&String> = Vec::new();
    for (name, _) in sides.iter().flatten() {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let of = |side: &Vec<(String, String)>, name: &String| {
        let found = side.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.clone())
    };
    let rows = names.into_iter().map(|name| {
        let row = sides.iter().map(|side| of(side, name)).collect::<Vec<_>>();
        (name.clone(), row)
    });
    rows.filter(|(_, row)| row.iter().any(|side| *side != row[0]))
        .collect()
}

/// A value without the signs that only programs need.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(list) => list.iter().map(plain).collect::<Vec<_>>().join(", "),
        value => value.to_string(),
    }
}

/// `h1` for a node, `h2 supports q1` for an edge.
pub fn key(key: &Value) -> String {
    match key.as_str() {
        Some(id) => id.to_owned(),
        None => ["from", "rel", "to"]
            .map(|part| plain(&key[part]))
            .join(" "),
    }
}

/// `conflict-… node h1, what-if into main`
pub fn conflict_line(conflict: &Value, into: &str) -> Text {
    let text = |name: &str| conflict[name].as_str().unwrap_or_default();
    Text::new()
        .name(text("conflict_id"))
        .plain(format!("  {} ", text("kind")))
        .bold(key(&conflict["key"]))
        .dim(format!("  {} into {into}", text("from")))
}

/// The sides of a conflict, a block for each field in which they differ.
pub fn sides(conflict: &Value) -> Vec<(String, Vec<(String, Text)>)> {
    let sides = [&conflict["base"], &conflict["ours"], &conflict["theirs"]];
    let text = |name: &str| conflict[name].as_str().unwrap_or_default();
    let names = [
        "base".to_owned(),
        format!("into {}", text("into")),
        format!("from {}", text("from")),
    ];
    let block = |values: Vec<Text>| names.clone().into_iter().zip(values).collect();
    let mut blocks = Vec::new();
    if sides.iter().any(|side| is_gone(side)) {
        let there = sides.map(|side| match (is_gone(side), side.is_null()) {
            (false, _) => Text::from("there"),
            (_, true) => Text::new().dim("not there"),
            _ => Text::new().dim("deleted"),
        });
        blocks.push((text("kind").to_owned(), block(there.into())));
    }
    for (name, values) in differing(&sides) {
        let values = values.into_iter().map(|value| match value {
            Some(value) => Text::from(value),
            None => Text::new().dim("–"),
        });
        blocks.push((name, block(values.collect())));
    }
    blocks
}

/// A conflict with all its sides.
pub fn conflict(desk: &Desk, id: &str) -> Result<Value, Fault> {
    let args = json!({ "conflict_id": id, "max_chars": ROOM });
    Ok(ask(desk, "branchmind_graph_conflict_show", args)?["conflict"].take())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_differs_is_laid_beside_each_other() {
        let old = json!({"type": "hypothesis", "title": "t", "status": "open", "meta": {"w": 1}});
        let new = json!({"type": "hypothesis", "title": "t", "tags": ["a", "b"], "meta": {"w": 2}});
        let some = |text: &str| Some(text.to_owned());
        let rows = differing(&[&old, &new]);
        let expected = [
            ("status".to_owned(), vec![some("open"), None]),
            ("meta.w".to_owned(), vec![some("1"), some("2")]),
            ("tags".to_owned(), vec![None, some("a, b")]),
        ];
        assert_eq!(rows, expected);
        let gone = json!({"title": "t", "deleted": true});
        assert!(fields(&gone).is_empty() && differing(&[&gone, &Value::Null]).is_empty());
    }
}
