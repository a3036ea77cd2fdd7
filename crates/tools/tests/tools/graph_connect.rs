//! `graph_connect`: edges, each applied or rejected on its own.

use crate::common::*;
use serde_json::{Value, json};
use understory_model::Code;
use understory_testkit::{World, on_both};

#[track_caller]
fn connect(world: &World, edges: Value) -> Value {
    world.ok("graph_connect", json!({ "edges": edges }))
}

fn edge(from: &str, to: &str, kind: &str) -> Value {
    json!({"from": from, "to": to, "type": kind})
}

fn removed(from: &str, to: &str, kind: &str) -> Value {
    json!({"from": from, "to": to, "type": kind, "remove": true})
}

#[on_both]
fn a_dependency_blocks_at_once(world: World) {
    let ids = world.plan(&["A", "B"]);
    assert_eq!(
        connect(&world, json!([edge(&ids[0], &ids[1], "depends_on")])),
        json!({"applied": 1})
    );
    assert_eq!(found(&world, json!({"is_blocked": true})), [ids[0].clone()]);
    assert_eq!(next_ids(&world, json!({"count": 9})), [ids[1].clone()]);
    assert_counted(&world);
}

#[on_both]
fn a_dependency_on_what_is_resolved_does_not_block(world: World) {
    let ids = world.plan(&["A", "B"]);
    resolve(&world, &[&ids[1]]);
    connect(&world, json!([edge(&ids[0], &ids[1], "depends_on")]));
    assert_eq!(
        found(&world, json!({"is_blocked": true})),
        Vec::<String>::new()
    );
    set_resolved(&world, &[&ids[1]], false);
    assert_eq!(found(&world, json!({"is_blocked": true})), [ids[0].clone()]);
}

#[on_both]
fn other_edges_block_nothing_and_may_close_circles(world: World) {
    let ids = world.plan(&["A", "B"]);
    let answer = connect(
        &world,
        json!([
            edge(&ids[0], &ids[1], "relates_to"),
            edge(&ids[1], &ids[0], "relates_to"),
            edge(&ids[0], &ids[0], "relates_to"),
            edge(&ids[0], &ids[1], "my own: ünïcode' --"),
        ]),
    );
    assert_eq!(answer, json!({"applied": 4}));
    assert_eq!(tally(&world), [3, 0, 0, 2]);
}

#[on_both]
fn removing_the_last_open_dependency_unblocks(world: World) {
    let of = plan(
        &world,
        json!([{"ref": "a", "summary": "A", "depends_on": ["b", "c"]}, {"ref": "b", "summary": "B"}, {"ref": "c", "summary": "C"}]),
    );
    assert_eq!(
        newly(&connect(
            &world,
            json!([removed(&of["a"], &of["b"], "depends_on")])
        )),
        Vec::<String>::new()
    );
    let answer = connect(&world, json!([removed(&of["a"], &of["c"], "depends_on")]));
    assert_eq!(
        answer,
        json!({"applied": 1, "newly_actionable": [{"id": of["a"], "summary": "A"}]})
    );
    assert_counted(&world);
}

#[on_both]
fn removing_and_adding_again_in_one_call_changes_nothing(world: World) {
    let of = plan(
        &world,
        json!([{"ref": "a", "summary": "A", "depends_on": ["b"]}, {"ref": "b", "summary": "B"}]),
    );
    let answer = connect(
        &world,
        json!([
            removed(&of["a"], &of["b"], "depends_on"),
            edge(&of["a"], &of["b"], "depends_on")
        ]),
    );
    assert_eq!(answer, json!({"applied": 2}));
    assert_counted(&world);
    world.assert_sound();
}

#[on_both]
fn what_cannot_be_applied_is_rejected_and_the_rest_applied(world: World) {
    let ids = world.plan(&["A", "B", "C"]);
    let (a, b, c) = (&*ids[0], &*ids[1], &*ids[2]);
    let answer = connect(
        &world,
        json!([
            edge(a, b, "depends_on"),
            edge(a, b, "depends_on"),
            edge(a, "TASK-999", "depends_on"),
            removed(a, c, "depends_on"),
            removed(a, b, "relates_to"),
            edge(b, c, "depends_on"),
            edge(c, a, "depends_on"),
            edge(c, c, "depends_on"),
            edge("project:default", a, "depends_on"),
        ]),
    );
    let reason =
        |from: &str, to: &str, reason: &str| json!({"from": from, "to": to, "reason": reason});
    assert_eq!(answer["applied"], 2);
    assert_eq!(
        answer["rejected"],
        json!([
            reason(a, b, "duplicate_edge"),
            reason(a, "TASK-999", "node_not_found"),
            reason(a, c, "edge_not_found"),
            reason(a, b, "edge_not_found"),
            {"from": c, "to": a, "reason": "cycle_detected", "cycle": [c, a, b, c]},
            {"from": c, "to": c, "reason": "cycle_detected", "cycle": [c, c]},
            reason("project:default", a, "node_not_found"),
        ])
    );
    assert_counted(&world);
}

#[on_both]
fn a_merged_node_is_not_found(world: World) {
    let ids = world.plan(&["A", "B", "C"]);
    restructure(
        &world,
        json!([{"op": "merge", "source": ids[0], "target": ids[1]}]),
    );
    let answer = connect(&world, json!([edge(&ids[2], &ids[0], "depends_on")]));
    assert_eq!(answer["rejected"][0]["reason"], "node_not_found");
}

#[on_both]
fn a_circle_is_found_however_long_with_its_path(world: World) {
    let nodes: Value = (0..60).map(|at| json!({"ref": format!("{at:02}"), "summary": "S", "depends_on": if at == 0 { vec![] } else { vec![format!("{:02}", at - 1)] }})).collect();
    let of = plan(&world, nodes);
    let answer = connect(&world, json!([edge(&of["00"], &of["59"], "depends_on")]));
    let cycle: Vec<&str> = answer["rejected"][0]["cycle"]
        .as_array()
        .unwrap()
        .iter()
        .map(|id| id.as_str().unwrap())
        .collect();
    let mut expected = vec![of["00"].as_str()];
    expected.extend(of.values().rev().map(String::as_str));
    assert_eq!(cycle, expected);
    assert_eq!(
        connect(&world, json!([edge(&of["59"], &of["00"], "depends_on")]))["applied"],
        1,
        "a shortcut is no circle"
    );
}

#[on_both]
fn a_circle_across_a_removed_edge_is_none(world: World) {
    let ids = world.plan(&["A", "B"]);
    connect(&world, json!([edge(&ids[0], &ids[1], "depends_on")]));
    let answer = connect(
        &world,
        json!([
            removed(&ids[0], &ids[1], "depends_on"),
            edge(&ids[1], &ids[0], "depends_on")
        ]),
    );
    assert_eq!(answer["applied"], 2);
    assert_counted(&world);
}

#[on_both]
fn an_edge_raises_the_rev_of_its_source_only(world: World) {
    let ids = world.plan(&["A", "B"]);
    connect(&world, json!([edge(&ids[0], &ids[1], "relates_to")]));
    assert_eq!((rev(&world, &ids[0]), rev(&world, &ids[1])), (2, 1));
    connect(&world, json!([removed(&ids[0], &ids[1], "relates_to")]));
    assert_eq!(rev(&world, &ids[0]), 3);
    connect(&world, json!([removed(&ids[0], &ids[1], "relates_to")]));
    assert_eq!(rev(&world, &ids[0]), 3, "what was rejected changed nothing");
}

#[on_both]
fn all_rejected_writes_nothing(world: World) {
    let ids = world.plan(&["A"]);
    let head = world.head();
    assert_eq!(
        connect(&world, json!([edge(&ids[0], &ids[0], "depends_on")]))["applied"],
        0
    );
    assert_eq!(world.head(), head);
}

#[on_both]
fn parents_are_not_managed_here(world: World) {
    let ids = world.plan(&["A", "B"]);
    let fault = world.refused(
        "graph_connect",
        json!({"edges": [edge(&ids[0], &ids[1], "relates_to"), edge(&ids[0], &ids[1], "parent")]}),
    );
    assert_eq!(fault.code, Code::Validation);
    assert!(fault.hint.unwrap().contains("graph_restructure"));
}

#[on_both]
fn what_is_no_edge_is_refused(world: World) {
    let ids = world.plan(&["A", "B"]);
    let (a, b) = (&*ids[0], &*ids[1]);
    for edges in [
        json!([]),
        json!([{"from": a, "to": b}]),
        json!([edge(a, b, "")]),
        json!([edge(a, b, "a\0")]),
        json!([edge(a, b, &"x".repeat(257))]),
        json!(vec![edge(a, b, "x"); 5_001]),
        json!({"from": a}),
    ] {
        assert_eq!(
            world
                .refused("graph_connect", json!({ "edges": edges }))
                .code,
            Code::Validation
        );
    }
    assert_eq!(
        connect(&world, json!([edge(a, b, &"é".repeat(256))]))["applied"],
        1
    );
}
