//! A retry with its key is answered as the first time, and done once.

use crate::common::*;
use serde_json::{Value, json};
use understory_model::Code;
use understory_testkit::{World, on_both};

/// One call of each tool that writes, with a key; each works after those before it.
fn writes() -> Vec<(&'static str, Value)> {
    vec![
        (
            "graph_open",
            json!({"project": "default", "goal": "G", "idempotency_key": "k"}),
        ),
        (
            "graph_plan",
            json!({"nodes": [{"ref": "a", "summary": "A"}, {"ref": "b", "summary": "B"}], "idempotency_key": "k"}),
        ),
        ("graph_next", json!({"claim": true, "idempotency_key": "k"})),
        (
            "graph_connect",
            json!({"edges": [{"from": "TASK-002", "to": "TASK-001", "type": "depends_on"}], "idempotency_key": "k"}),
        ),
        (
            "graph_update",
            json!({"updates": [{"node_id": "TASK-001", "resolved": true}], "idempotency_key": "k"}),
        ),
        (
            "graph_restructure",
            json!({"operations": [{"op": "drop", "node_id": "TASK-002", "reason": "r"}], "idempotency_key": "k"}),
        ),
    ]
}

#[on_both]
fn every_write_is_done_once_and_answered_twice_the_same(world: World) {
    let first: Vec<Value> = writes()
        .into_iter()
        .map(|(tool, args)| world.ok(tool, args))
        .collect();
    let head = world.head();
    for ((tool, args), first) in writes().into_iter().zip(&first) {
        assert_eq!(world.ok(tool, args), *first, "{tool}");
    }
    assert_eq!(world.head(), head);
    let again = world.another();
    for ((tool, args), first) in writes().into_iter().zip(&first) {
        assert_eq!(
            World::call_on(&again, &world.caller, tool, args).unwrap(),
            *first,
            "{tool} after a restart"
        );
    }
}

#[on_both]
fn other_arguments_are_a_conflict(world: World) {
    for (tool, args) in writes() {
        world.ok(tool, args);
    }
    let other = [
        (
            "graph_open",
            json!({"project": "default", "goal": "Another", "idempotency_key": "k"}),
        ),
        (
            "graph_plan",
            json!({"nodes": [{"ref": "a", "summary": "Other"}], "idempotency_key": "k"}),
        ),
        (
            "graph_next",
            json!({"claim": true, "count": 2, "idempotency_key": "k"}),
        ),
        (
            "graph_connect",
            json!({"edges": [{"from": "TASK-002", "to": "TASK-001", "type": "x"}], "idempotency_key": "k"}),
        ),
        (
            "graph_update",
            json!({"updates": [{"node_id": "TASK-001", "resolved": false}], "idempotency_key": "k"}),
        ),
        (
            "graph_restructure",
            json!({"operations": [{"op": "drop", "node_id": "TASK-001", "reason": "r"}], "idempotency_key": "k"}),
        ),
    ];
    for (tool, args) in other {
        assert_eq!(
            world.refused(tool, args).code,
            Code::IdempotencyConflict,
            "{tool}"
        );
    }
}

#[on_both]
fn a_key_belongs_to_one_agent_and_one_workspace(world: World) {
    let args = json!({"nodes": [{"ref": "a", "summary": "A"}], "idempotency_key": "k"});
    world.ok("graph_plan", args.clone());
    let bob = world
        .call_as(&World::caller("bob"), "graph_plan", args.clone())
        .unwrap();
    assert_eq!(bob["created"][0]["id"], "TASK-002");
    let mut elsewhere = World::caller("ada");
    elsewhere.workspace = "elsewhere".into();
    assert_eq!(
        world.call_as(&elsewhere, "graph_plan", args).unwrap()["created"][0]["id"],
        "TASK-001"
    );
    assert_eq!(tally(&world), [3, 0, 0, 2]);
}

#[on_both]
fn the_order_of_keys_in_the_arguments_says_nothing(world: World) {
    let one: Value =
        serde_json::from_str(r#"{"nodes":[{"ref":"a","summary":"A"}],"idempotency_key":"k"}"#)
            .unwrap();
    let two: Value =
        serde_json::from_str(r#"{"idempotency_key":"k","nodes":[{"summary":"A","ref":"a"}]}"#)
            .unwrap();
    assert_eq!(world.ok("graph_plan", one), world.ok("graph_plan", two));
}

#[on_both]
fn a_refused_call_leaves_its_key_free(world: World) {
    let bad = json!({"nodes": [{"ref": "a", "summary": "A", "parent_ref": "TASK-999"}], "idempotency_key": "k"});
    assert_eq!(world.refused("graph_plan", bad).code, Code::NotFound);
    world.ok(
        "graph_plan",
        json!({"nodes": [{"ref": "a", "summary": "A"}], "idempotency_key": "k"}),
    );
}

#[on_both]
fn a_key_is_forgotten_after_a_day(world: World) {
    let args = json!({"nodes": [{"ref": "a", "summary": "A"}], "idempotency_key": "k"});
    world.ok("graph_plan", args.clone());
    world.clock.turn(24 * 3_600 - 10);
    assert_eq!(
        world.ok("graph_plan", args.clone())["created"][0]["id"],
        "TASK-001"
    );
    world.clock.turn(20);
    assert_eq!(world.ok("graph_plan", args)["created"][0]["id"], "TASK-002");
}

#[on_both]
fn bad_keys_are_refused(world: World) {
    for key in [
        json!(""),
        json!("a\0"),
        json!("k".repeat(257)),
        json!(5),
        json!({}),
    ] {
        let fault = world.refused(
            "graph_plan",
            json!({"nodes": [{"ref": "a", "summary": "A"}], "idempotency_key": key}),
        );
        assert_eq!(fault.code, Code::Validation, "{key}");
    }
    for key in NASTY {
        world.ok(
            "graph_plan",
            json!({"nodes": [{"ref": "a", "summary": key}], "idempotency_key": key}),
        );
    }
    assert_eq!(tally(&world)[0], NASTY.len() as i64 + 1);
}

#[on_both]
fn two_retries_at_once_are_one_call(world: World) {
    world.plan(&["before"]);
    let other = world.another();
    let args = json!({"nodes": [{"ref": "a", "summary": "A"}], "idempotency_key": "k"});
    let answers: Vec<Value> = std::thread::scope(|scope| {
        let hands: Vec<_> = [&*world.engine, &other, &*world.engine, &other]
            .into_iter()
            .map(|engine| {
                let (args, caller) = (args.clone(), world.caller.clone());
                scope.spawn(move || World::call_on(engine, &caller, "graph_plan", args).unwrap())
            })
            .collect();
        hands.into_iter().map(|hand| hand.join().unwrap()).collect()
    });
    assert!(answers.iter().all(|answer| *answer == answers[0]));
    assert_eq!(tally(&world)[0], 3);
}
