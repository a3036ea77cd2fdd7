//! What the tests of graph documents share: short ways to write, branch, merge and look.

use serde_json::{Value, json};
use understory_model::Fault;
use understory_testkit::World;

/// The document that these tests write to.
pub const DOC: &str = "graph";

/// Arguments, and more of them.
pub fn with(mut args: Value, more: Value) -> Value {
    let (Some(map), Some(more)) = (args.as_object_mut(), more.as_object()) else {
        panic!("arguments are objects");
    };
    map.extend(more.clone());
    args
}

fn in_workspace(args: Value) -> Value {
    with(args, json!({"workspace": "garden-shed"}))
}

/// Calls `branchmind_<tool>`, which must succeed.
#[track_caller]
pub fn ok(world: &World, tool: &str, args: Value) -> Value {
    world.ok(&format!("branchmind_{tool}"), in_workspace(args))
}

/// Calls `branchmind_<tool>`, which must be refused and leave no trace.
#[track_caller]
pub fn refused(world: &World, tool: &str, args: Value) -> Fault {
    world.refused(&format!("branchmind_{tool}"), in_workspace(args))
}

/// The field that a refusal names.
pub fn field(fault: &Fault) -> String {
    let details = fault.details.clone().unwrap_or_default();
    details["field"].as_str().unwrap_or_default().to_string()
}

pub fn put(id: &str, title: &str) -> Value {
    json!({"op": "node_upsert", "id": id, "type": "question", "title": title})
}

pub fn link(from: &str, rel: &str, to: &str) -> Value {
    json!({"op": "edge_upsert", "from": from, "rel": rel, "to": to})
}

pub fn drop_node(id: &str) -> Value {
    json!({"op": "node_delete", "id": id})
}

pub fn unlink(from: &str, rel: &str, to: &str) -> Value {
    json!({"op": "edge_delete", "from": from, "rel": rel, "to": to})
}

/// A branch's document.
pub fn on(branch: &str) -> Value {
    json!({"branch": branch, "doc": DOC})
}

#[track_caller]
pub fn apply(world: &World, branch: &str, ops: impl Into<Value>) -> Value {
    let ops: Value = ops.into();
    ok(
        world,
        "graph_apply",
        with(on(branch), json!({ "ops": ops })),
    )
}

#[track_caller]
pub fn not_applied(world: &World, branch: &str, ops: impl Into<Value>) -> Fault {
    let ops: Value = ops.into();
    refused(
        world,
        "graph_apply",
        with(on(branch), json!({ "ops": ops })),
    )
}

#[track_caller]
pub fn fork(world: &World, name: &str, from: &str) {
    ok(world, "branch_create", json!({"name": name, "from": from}));
}

#[track_caller]
pub fn query(world: &World, branch: &str, more: Value) -> Value {
    ok(world, "graph_query", with(on(branch), more))
}

#[track_caller]
pub fn rows(answer: &Value, list: &str) -> Vec<Value> {
    let rows = answer[list].as_array();
    rows.unwrap_or_else(|| panic!("no {list}: {answer}"))
        .clone()
}

/// One field of each row.
#[track_caller]
pub fn each(answer: &Value, list: &str, field: &str) -> Vec<String> {
    let text = |row: &Value| match row[field].as_str() {
        Some(text) => text.to_string(),
        None => panic!("no {field}: {row}"),
    };
    rows(answer, list).iter().map(text).collect()
}

/// The ids of the nodes that a query finds.
#[track_caller]
pub fn found(world: &World, branch: &str, more: Value) -> Vec<String> {
    each(&query(world, branch, more), "nodes", "id")
}

/// Edges as `from rel to`, sorted.
#[track_caller]
pub fn edges(world: &World, branch: &str, more: Value) -> Vec<String> {
    let mut edges: Vec<String> = rows(&query(world, branch, more), "edges")
        .iter()
        .map(edge_name)
        .collect();
    edges.sort();
    edges
}

pub fn edge_name(edge: &Value) -> String {
    let text = |name: &str| edge[name].as_str().expect("an end").to_string();
    format!("{} {} {}", text("from"), text("rel"), text("to"))
}

/// A node as a branch shows it, deleted or not.
#[track_caller]
pub fn node(world: &World, branch: &str, id: &str) -> Value {
    let all = query(world, branch, json!({"ids": [id], "include_deleted": true}));
    all["nodes"][0].clone()
}

/// The title of a node; `None` where there is none or it was deleted.
#[track_caller]
pub fn title(world: &World, branch: &str, id: &str) -> Option<String> {
    let all = query(world, branch, json!({ "ids": [id] }));
    all["nodes"][0]["title"].as_str().map(str::to_string)
}

/// The cursors of a list walked to its end, page by page: all rows.
#[track_caller]
pub fn pages(world: &World, tool: &str, list: &str, args: &Value, limit: usize) -> Vec<Value> {
    let (mut all, mut cursor) = (Vec::new(), Value::Null);
    loop {
        let more = json!({"limit": limit, "cursor": cursor});
        let answer = ok(world, tool, with(args.clone(), more));
        let (found, page) = (rows(&answer, list), &answer["pagination"]);
        assert!(found.len() <= limit);
        assert_eq!(page["count"], found.len());
        let full = found.len() == limit;
        all.extend(found);
        if page["has_more"] == false {
            return all;
        }
        assert!(full, "only the last page is short");
        cursor = page["next_cursor"].clone();
    }
}

pub fn sides(from: &str, into: &str) -> Value {
    json!({"from": from, "into": into, "doc": DOC})
}

/// Merges, and foresees it before: `[merged, skipped, conflicts]`.
#[track_caller]
pub fn merge(world: &World, from: &str, into: &str) -> [u64; 3] {
    counts(&merged(world, from, into))
}

/// Merges, and foresees it before: the answer.
#[track_caller]
pub fn merged(world: &World, from: &str, into: &str) -> Value {
    let head = world.head();
    let dry = with(sides(from, into), json!({"dry_run": true}));
    let foreseen = ok(world, "graph_merge", dry);
    assert_eq!(world.head(), head, "a dry run wrote");
    let answer = ok(world, "graph_merge", sides(from, into));
    assert_eq!(foreseen, answer, "a dry run tells the same");
    answer
}

#[track_caller]
pub fn counts(answer: &Value) -> [u64; 3] {
    let ids = answer["conflict_ids"].as_array().map_or(0, Vec::len);
    assert_eq!(answer["conflicts_created"], ids);
    ["merged", "skipped", "conflicts_created"].map(|name| answer[name].as_u64().expect("a count"))
}

/// Fails unless merging writes nothing.
#[track_caller]
pub fn nothing_to_merge(world: &World, from: &str, into: &str) {
    let head = world.head();
    let [merged, _, conflicts] = merge(world, from, into);
    assert_eq!((merged, conflicts), (0, 0));
    assert_eq!(world.head(), head, "a merge of nothing wrote");
}

/// Makes one conflict about a node and answers its id.
#[track_caller]
pub fn conflict(world: &World, from: &str, into: &str) -> String {
    let answer = merged(world, from, into);
    assert_eq!(answer["conflicts_created"], 1, "{answer}");
    answer["conflict_ids"][0]
        .as_str()
        .expect("an id")
        .to_string()
}

#[track_caller]
pub fn resolve(world: &World, id: &str, how: &str) -> Value {
    ok(
        world,
        "graph_conflict_resolve",
        json!({"conflict_id": id, "resolution": how}),
    )
}

#[track_caller]
pub fn shown(world: &World, id: &str) -> Value {
    ok(world, "graph_conflict_show", json!({"conflict_id": id}))["conflict"].clone()
}

/// The ids of a branch's conflicts with a status, newest first.
#[track_caller]
pub fn conflicts(world: &World, into: &str, status: &str) -> Vec<String> {
    let args = json!({"into": into, "doc": DOC, "status": status});
    each(
        &ok(world, "graph_conflicts", args),
        "conflicts",
        "conflict_id",
    )
}
