//! What the tests of artifacts share: short ways to make, commit and read, and fragment ids made
//! anew.

use serde_json::{Value, json};
use understory_model::fragment::fragment_id;
use understory_model::{Code, Fault};
use understory_testkit::World;

pub use understory_model::fragment::fragment_id as id;

/// Arguments, and more of them.
pub fn with(mut args: Value, more: Value) -> Value {
    let (Some(into), Some(more)) = (args.as_object_mut(), more.as_object()) else {
        panic!("arguments are objects");
    };
    into.extend(more.clone());
    args
}

#[track_caller]
pub fn text(value: &Value) -> String {
    let text = value.as_str();
    text.unwrap_or_else(|| panic!("no text: {value}"))
        .to_string()
}

/// An artifact with a first text; the hash of its first commit.
#[track_caller]
pub fn make(world: &World, label: &str, content: &str) -> String {
    let made = world.ok(
        "garden_artifact_create",
        json!({"label": label, "content": content}),
    );
    text(&made["artifact"]["head"])
}

/// A whole new text; the hash of its commit.
#[track_caller]
pub fn commit(world: &World, label: &str, based_on: &str, content: &str) -> String {
    commit_with(world, label, based_on, json!({ "content": content }))
}

/// Operations, with texts that give their own ids; the hash of the commit.
#[track_caller]
pub fn change(world: &World, label: &str, based_on: &str, ops: &str, texts: &[&str]) -> String {
    let texts: serde_json::Map<String, Value> = texts
        .iter()
        .map(|text| (fragment_id(text), json!(text)))
        .collect();
    commit_with(world, label, based_on, json!({"ops": ops, "texts": texts}))
}

#[track_caller]
pub fn commit_with(world: &World, label: &str, based_on: &str, more: Value) -> String {
    let args = with(json!({"artifact": label, "based_on": based_on}), more);
    text(&world.ok("garden_artifact_commit", args)["commit"])
}

/// A commit beside the head.
#[track_caller]
pub fn fork(world: &World, label: &str, based_on: &str, content: &str) -> String {
    let more = json!({"content": content, "fork": true});
    commit_with(world, label, based_on, more)
}

/// A version as it is shown.
#[track_caller]
pub fn show(world: &World, label: &str, commit: Option<&str>) -> Value {
    world.ok(
        "garden_artifact_show",
        json!({"artifact": label, "commit": commit, "max_chars": 100_000_000}),
    )
}

/// The text of a version, byte for byte.
#[track_caller]
pub fn content(world: &World, label: &str, commit: Option<&str>) -> String {
    let shown = show(world, label, commit);
    let lines = shown["lines"].as_array().expect("lines");
    let lines: Vec<&str> = lines
        .iter()
        .map(|line| line["content"].as_str().expect("a line"))
        .collect();
    assert_eq!(shown["total"], lines.len());
    let end = match shown["newline"] == true {
        true => "\n",
        false => "",
    };
    lines.join("\n") + end
}

/// The commits that the lines of a version came from.
#[track_caller]
pub fn blame(world: &World, label: &str, commit: Option<&str>) -> Vec<String> {
    let shown = show(world, label, commit);
    let lines = shown["lines"].as_array().expect("lines").iter();
    lines.map(|line| text(&line["commit"])).collect()
}

/// A refusal with this code that left no item.
#[track_caller]
pub fn refuse(world: &World, tool: &str, args: Value, code: Code) -> Fault {
    let shown: String = args.to_string().chars().take(200).collect();
    let fault = world.refused(tool, args);
    assert_eq!(fault.code, code, "{tool} {shown}: {fault}");
    fault
}

/// A refusal of an argument; says which.
#[track_caller]
pub fn refuse_field(world: &World, tool: &str, args: Value, field: &str) -> Fault {
    let fault = refuse(world, tool, args, Code::Validation);
    assert_eq!(detail(&fault, "field"), field, "{}", fault.message);
    fault
}

pub fn detail(fault: &Fault, name: &str) -> Value {
    fault.details.clone().unwrap_or_default()[name].clone()
}

/// A message of the garden; its item and the ids of its parts.
#[track_caller]
pub fn message(world: &World, parts: &[&str]) -> (String, Vec<String>) {
    let said = world.ok("garden_add", json!({"type": "Message", "fragments": parts}));
    let ids = said["item"]["fragments"].as_array().expect("fragments");
    let ids = ids.iter().map(|part| text(&part["id"])).collect();
    (text(&said["item"]["uuid"]), ids)
}
