//! `graph_context`: a node and its neighbourhood.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::common::*;
use serde_json::{Value, json};
use understory_engine::{Engine, Options};
use understory_model::Code;
use understory_testkit::{World, on_both};

fn family() -> Value {
    json!([
        {"ref": "a", "summary": "A"},
        {"ref": "b", "summary": "B", "parent_ref": "a"},
        {"ref": "c", "summary": "C", "parent_ref": "b"},
        {"ref": "d", "summary": "D", "parent_ref": "c"},
        {"ref": "b2", "summary": "B2", "parent_ref": "a"},
    ])
}

#[on_both]
fn ancestors_come_root_first_with_their_state(world: World) {
    let of = plan(&world, family());
    resolve(&world, &[&of["b"]]);
    let context = world.ok("graph_context", json!({"node_id": of["c"]}));
    assert_eq!(
        context["ancestors"],
        json!([
            {"id": "PLAN-001", "summary": "default", "resolved": false},
            {"id": of["a"], "summary": "A", "resolved": false},
            {"id": of["b"], "summary": "B", "resolved": true},
        ])
    );
    assert_eq!(context["node"]["parent"], json!(of["b"]));
}

#[on_both]
fn children_nest_to_the_depth_and_are_counted_beyond(world: World) {
    let of = plan(&world, family());
    world.ok(
        "graph_update",
        json!({"updates": [{"node_id": of["b"], "state": {"phase": 1}}]}),
    );
    let tree = |depth: Value| {
        world.ok("graph_context", json!({"node_id": of["a"], "depth": depth}))["children"].clone()
    };
    let two = json!({"id": of["a"], "summary": "A", "resolved": false, "children": [
        {"id": of["b"], "summary": "B", "resolved": false, "state": {"phase": 1}, "children": [
            {"id": of["c"], "summary": "C", "resolved": false, "child_count": 1},
        ]},
        {"id": of["b2"], "summary": "B2", "resolved": false},
    ]});
    assert_eq!(tree(json!(2)), two);
    assert_eq!(tree(json!(null)), two, "two levels are the default");
    assert_eq!(
        tree(json!(0)),
        json!({"id": of["a"], "summary": "A", "resolved": false, "child_count": 2})
    );
    assert_eq!(tree(json!(-1)), tree(json!(0)));
    assert_eq!(tree(json!(3)), tree(json!(1_000_000)));
    assert!(tree(json!(3)).to_string().contains("\"D\""));
}

#[on_both]
fn dependencies_are_nodes_without_their_place_and_say_whether_they_are_satisfied(world: World) {
    let of = plan(
        &world,
        json!([
            {"ref": "x", "summary": "X", "depends_on": ["done", "open"]},
            {"ref": "done", "summary": "Done"}, {"ref": "open", "summary": "Open"},
            {"ref": "waits", "summary": "Waits", "depends_on": ["x"]},
        ]),
    );
    resolve(&world, &[&of["done"]]);
    let context = world.ok("graph_context", json!({"node_id": of["x"]}));
    let deps = context["depends_on"].as_array().unwrap();
    assert_eq!(deps.len(), 2);
    let mut whole = node(&world, &of["done"]);
    whole.as_object_mut().unwrap().retain(|field, _| {
        !matches!(
            field.as_str(),
            "parent" | "created_at" | "updated_at" | "created_by"
        )
    });
    assert_eq!(
        (&deps[0]["node"], &deps[0]["satisfied"]),
        (&whole, &json!(true))
    );
    assert_eq!(
        (&deps[1]["node"]["id"], &deps[1]["satisfied"]),
        (&json!(of["open"]), &json!(false))
    );
    assert_eq!(context["depended_by"][0]["node"]["id"], json!(of["waits"]));
    assert_eq!(context["depended_by"][0]["satisfied"], false);
    resolve(&world, &[&of["x"]]);
    let context = world.ok("graph_context", json!({"node_id": of["x"]}));
    assert_eq!(
        context["depended_by"][0]["satisfied"], true,
        "this node is what it waits for"
    );
}

#[on_both]
fn other_relations_are_no_dependencies(world: World) {
    let ids = world.plan(&["A", "B"]);
    world.ok(
        "graph_connect",
        json!({"edges": [{"from": ids[0], "to": ids[1], "type": "relates_to"}]}),
    );
    let context = world.ok("graph_context", json!({"node_id": ids[0]}));
    assert_eq!(
        (&context["depends_on"], &context["depended_by"]),
        (&json!([]), &json!([]))
    );
}

#[on_both]
fn many_other_edges_do_not_hide_the_dependencies(world: World) {
    let nodes: Value = (0..1_004)
        .map(|at| json!({"ref": at.to_string(), "summary": "S"}))
        .collect();
    let of = plan(&world, nodes);
    let hub = &of["0"];
    let mut edges: Vec<Value> = (1..1_002)
        .map(|at| json!({"from": hub, "to": of[&at.to_string()], "type": "a_kind"}))
        .collect();
    edges.push(json!({"from": hub, "to": of["1002"], "type": "depends_on"}));
    edges.push(json!({"from": of["1003"], "to": hub, "type": "depends_on"}));
    world.ok("graph_connect", json!({"edges": edges}));
    let context = world.ok("graph_context", json!({"node_id": hub}));
    assert_eq!(context["depends_on"][0]["node"]["id"], json!(of["1002"]));
    assert_eq!(context["depended_by"][0]["node"]["id"], json!(of["1003"]));
}

#[on_both]
fn what_does_not_exist_is_told_with_the_nearest(world: World) {
    assert_eq!(
        world
            .refused("graph_context", json!({"node_id": "TASK-001"}))
            .code,
        Code::NotFound
    );
    let ids = world.plan(&["A", "B"]);
    let fault = world.refused("graph_context", json!({"node_id": "TASK-0001"}));
    assert_eq!(fault.code, Code::NotFound);
    assert_eq!(fault.details.unwrap()["nearest"][0], json!(ids[0]));
    for id in ["", "project:default", "' OR 1=1 --", "TASK-%"] {
        let fault = world.refused("graph_context", json!({"node_id": id}));
        assert_eq!(fault.code, Code::NotFound, "{id:?}");
        assert!(!fault.to_string().contains("statement"), "{fault}");
    }
    let fault = world.refused("graph_context", json!({"node_id": "project:defalt"}));
    assert!(fault.details.is_none(), "a project is no node: {fault:?}");
}

#[on_both]
fn a_wide_node_is_cut_and_says_so(world: World) {
    let nodes: Value = (0..1_200)
        .map(|at| json!({"ref": at.to_string(), "summary": "S"}))
        .collect();
    plan(&world, nodes);
    let context = world.ok(
        "graph_context",
        json!({"node_id": "PLAN-001", "max_chars": 10_000_000}),
    );
    assert_eq!(context["truncated"], true);
    assert_eq!(context["children"]["child_count"], 1_200);
    assert_eq!(
        context["children"]["children"].as_array().unwrap().len(),
        1_000
    );
}

#[on_both]
fn the_store_is_asked_no_more_often_for_many_children(world: World) {
    let mut nodes: Vec<Value> = (1..8).map(|at| json!({"ref": format!("d{at}"), "summary": "deep", "parent_ref": format!("d{}", at - 1)})).collect();
    nodes.insert(0, json!({"ref": "d0", "summary": "top"}));
    nodes.extend((0..60).map(|at| json!({"ref": at.to_string(), "parent_ref": "d7", "summary": "child", "depends_on": if at > 0 { vec!["0"] } else { vec![] }})));
    let of = plan(&world, nodes.into());
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let probe = move |_: &str| {
        count.fetch_add(1, Ordering::Relaxed);
        false
    };
    let options = Options {
        probe: Some(Arc::new(probe)),
        ..world.options()
    };
    let engine = Engine::open(&world.backend.store(), options).expect("opened");
    let ask = |node: &str| {
        // The first time a connection also learns which workspace it serves.
        let call = || {
            World::call_on(
                &engine,
                &world.caller,
                "graph_context",
                json!({"node_id": of[node]}),
            )
            .expect("a context")
        };
        call();
        let before = asked.load(Ordering::Relaxed);
        call();
        asked.load(Ordering::Relaxed) - before
    };
    // Begin, the node, what is above it (eight and the root, one by one where that is no round
    // trip), its children's number, its dependencies.
    let above = if engine.is_embedded() { 9 } else { 1 };
    assert_eq!((ask("0"), ask("59")), (4 + above, 4 + above));
    // And its children, and how many those have.
    let above = if engine.is_embedded() { 8 } else { 1 };
    assert_eq!(ask("d7"), 6 + above);
}

#[on_both]
fn budgets_bound_the_answer(world: World) {
    let mut nodes = vec![
        json!({"ref": "x", "summary": "x".repeat(300), "depends_on": (0..20).map(|at| at.to_string()).collect::<Vec<_>>()}),
    ];
    nodes.extend((0..20).map(|at| json!({"ref": at.to_string(), "summary": "ÿ".repeat(100)})));
    nodes.extend(
        (0..20).map(|at| json!({"ref": format!("k{at}"), "parent_ref": "x", "summary": "child"})),
    );
    let of = plan(&world, nodes.into());
    let whole = world.ok("graph_context", json!({"node_id": of["x"]}));
    assert!(whole.get("truncated").is_none());
    let mut last = 0;
    for max in (0..chars(&whole)).step_by(401).chain([chars(&whole)]) {
        let answer = world.ok(
            "graph_context",
            json!({"node_id": of["x"], "max_chars": max}),
        );
        assert!(
            chars(&answer) <= max.max(chars(&json!({"truncated": true}))),
            "{max}"
        );
        if answer == whole {
            last = max;
        } else {
            assert_eq!(answer["truncated"], true, "{max}");
        }
    }
    assert_eq!(
        last,
        chars(&whole),
        "a budget that is just enough is enough"
    );
}

#[on_both]
fn edges_of_every_type_can_be_read(world: World) {
    let ids = world.plan(&["A", "B", "C"]);
    assert!(
        world
            .ok("graph_context", json!({"node_id": ids[0]}))
            .get("edges")
            .is_none()
    );
    let edge = |from: usize, to: usize, kind: &str| json!({"from": ids[from], "to": ids[to], "type": kind});
    world.ok("graph_connect", json!({"edges": [edge(0, 1, "relates_to"), edge(2, 0, "a first"), edge(0, 2, "depends_on"), edge(1, 0, "zz"), edge(0, 0, "self")]}));
    resolve(&world, &[&ids[1]]);
    let context = world.ok("graph_context", json!({"node_id": ids[0]}));
    let shown = |kind: &str, direction: &str, at: usize, summary: &str, resolved: bool| json!({"type": kind, "direction": direction, "node": {"id": ids[at], "summary": summary, "resolved": resolved}});
    assert_eq!(
        context["edges"],
        json!([
            shown("a first", "in", 2, "C", false),
            shown("relates_to", "out", 1, "B", true),
            shown("self", "out", 0, "A", false),
            shown("self", "in", 0, "A", false),
            shown("zz", "in", 1, "B", true),
        ])
    );
    assert_eq!(
        context["depends_on"].as_array().unwrap().len(),
        1,
        "which is not told twice"
    );
}
