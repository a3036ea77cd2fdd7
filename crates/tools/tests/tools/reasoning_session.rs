//! A whole session of reasoning: a hypothesis explored on a branch, refuted, a second one merged
//! back with a conflict resolved.

use serde_json::{Value, json};
use understory_testkit::{World, on_both};

const WS: &str = "garden-shed";

fn call(world: &World, tool: &str, mut args: Value) -> Value {
    args["workspace"] = WS.into();
    world.ok(tool, args)
}

#[on_both]
fn a_session_of_reasoning(world: World) {
    world.plan(&["Find why logins fail"]);
    call(&world, "branchmind_init", json!({}));
    let node = |id: &str, title: &str, status: &str| {
        json!({"op": "node_upsert", "id": id,
        "type": "hypothesis", "title": title, "status": status})
    };
    call(
        &world,
        "branchmind_think_card",
        json!({"target": "TASK-001",
        "card": {"id": "q1", "type": "question", "title": "Why do logins fail?"}}),
    );
    call(
        &world,
        "branchmind_think_card",
        json!({"target": "TASK-001",
        "card": "id: h1\ntype: hypothesis\ntitle: The clock drifts\nweight: 3", "supports": ["q1"]}),
    );
    let again = call(
        &world,
        "branchmind_think_card",
        json!({"target": "TASK-001",
        "card": "{\"id\": \"h1\", \"type\": \"hypothesis\", \"title\": \"The clock drifts\", \"weight\": \"3\"}",
        "supports": ["q1"]}),
    );
    assert_eq!(again["inserted"], false);
    call(
        &world,
        "branchmind_think_next",
        json!({"target": "TASK-001"}),
    );
    let made = call(
        &world,
        "branchmind_branch_create",
        json!({"name": "what-if", "from": "task/TASK-001"}),
    );
    assert_eq!(made["branch"]["base_branch"], "task/TASK-001");
    let doc = "TASK-001-graph";
    call(
        &world,
        "branchmind_graph_apply",
        json!({"branch": "what-if", "doc": doc,
        "ops": [node("h1", "The clock drifts", "refuted"), node("h2", "The key rotated", "open"),
                {"op": "edge_upsert", "from": "h2", "rel": "supports", "to": "q1"}]}),
    );
    call(
        &world,
        "branchmind_graph_apply",
        json!({"target": "TASK-001",
        "ops": [node("h1", "The clock drifts by hours", "open")]}),
    );
    let here = call(
        &world,
        "branchmind_graph_query",
        json!({"branch": "what-if", "doc": doc}),
    );
    assert_eq!(here["nodes"][0]["id"], "h2");
    assert_eq!(here["nodes"].as_array().unwrap().len(), 4);
    assert_eq!(here["edges"].as_array().unwrap().len(), 2);
    call(
        &world,
        "branchmind_graph_diff",
        json!({"from": "task/TASK-001", "to": "what-if"}),
    );
    call(
        &world,
        "branchmind_notes_commit",
        json!({"branch": "what-if", "doc": "notes", "content": "It was the key."}),
    );
    let merged = call(
        &world,
        "branchmind_graph_merge",
        json!({"from": "what-if", "into": "task/TASK-001"}),
    );
    assert_eq!(
        (&merged["merged"], &merged["conflicts_created"]),
        (&json!(2), &json!(1))
    );
    let twice = call(
        &world,
        "branchmind_graph_merge",
        json!({"from": "what-if", "into": "task/TASK-001"}),
    );
    assert_eq!(
        (
            &twice["merged"],
            &twice["conflicts_created"],
            &twice["skipped"]
        ),
        (&json!(0), &json!(0), &json!(3))
    );
    let id = merged["conflict_ids"][0].clone();
    call(
        &world,
        "branchmind_graph_conflict_show",
        json!({"conflict_id": id}),
    );
    let next = call(
        &world,
        "branchmind_think_next",
        json!({"target": "TASK-001"}),
    );
    assert_eq!(next["next"]["action"], "resolve_conflict");
    call(
        &world,
        "branchmind_graph_conflict_resolve",
        json!({"conflict_id": id, "resolution": "use_from"}),
    );
    let query = call(
        &world,
        "branchmind_graph_query",
        json!({"target": "TASK-001", "ids": ["h1"]}),
    );
    assert_eq!(query["nodes"][0]["status"], "refuted");
    let notes = call(
        &world,
        "branchmind_merge",
        json!({"from": "what-if", "into": "task/TASK-001"}),
    );
    assert_eq!(notes["merged"], 1);
    let back = call(
        &world,
        "branchmind_merge",
        json!({"from": "task/TASK-001", "into": "what-if"}),
    );
    assert_eq!(back["merged"], 0);
    call(
        &world,
        "branchmind_show",
        json!({"target": "TASK-001", "doc_kind": "trace"}),
    );
    call(
        &world,
        "branchmind_log",
        json!({"target": "TASK-001", "doc_kind": "trace"}),
    );
    call(&world, "branchmind_export", json!({"target": "TASK-001"}));
    call(
        &world,
        "branchmind_think_context",
        json!({"target": "TASK-001"}),
    );
    call(&world, "tasks_radar", json!({"task": "TASK-001"}));
    call(&world, "tasks_delta", json!({"since": 0}));
    call(&world, "branchmind_branch_list", json!({}));
    call(
        &world,
        "branchmind_graph_validate",
        json!({"target": "TASK-001"}),
    );
    world.assert_sound();
}
