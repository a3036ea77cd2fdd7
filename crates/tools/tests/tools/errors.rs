//! Refusals: who may do what, what is unknown, and one envelope for all of it.

use crate::common::*;
use serde_json::{Value, json};
use understory_model::{Code, Role};
use understory_testkit::{World, on_both};
use understory_tools::registry::tools;

/// Arrays in arrays, so deep.
fn nested(levels: usize) -> Value {
    (0..levels).fold(json!(1), |inner, _| json!([inner]))
}

#[on_both]
fn an_auditor_reads_and_never_writes(mut world: World) {
    world.plan(&["A", "B"]);
    let bob = world.caller.clone();
    world.caller.role = Role::Auditor;
    for (tool, args) in [
        (
            "graph_plan",
            json!({"nodes": [{"ref": "x", "summary": "X"}]}),
        ),
        (
            "graph_update",
            json!({"updates": [{"node_id": "TASK-001", "resolved": true}]}),
        ),
        (
            "graph_connect",
            json!({"edges": [{"from": "TASK-001", "to": "TASK-002", "type": "x"}]}),
        ),
        (
            "graph_restructure",
            json!({"operations": [{"op": "drop", "node_id": "TASK-001", "reason": "r"}]}),
        ),
        ("graph_next", json!({"claim": true})),
        ("graph_open", json!({"project": "new"})),
        ("graph_plan", json!({"not even": "valid"})),
    ] {
        let fault = world.refused(tool, args);
        assert_eq!(fault.code, Code::Forbidden, "{tool}");
        assert!(fault.hint.is_some());
    }
    for (tool, args) in [
        ("graph_open", json!({})),
        ("graph_open", json!({"project": "default"})),
        ("graph_next", json!({})),
        ("graph_query", json!({})),
        ("graph_context", json!({"node_id": "TASK-001"})),
        ("graph_history", json!({"node_id": "TASK-001"})),
        ("graph_onboard", json!({})),
    ] {
        world.ok(tool, args);
    }
    for role in [Role::Operator, Role::Orchestrator, Role::Worker] {
        world.caller = bob.clone();
        world.caller.role = role;
        world.plan(&["C"]);
    }
}

#[on_both]
fn an_unknown_tool_is_told_with_the_nearest(world: World) {
    for (wrong, right) in [
        ("graph_pln", "graph_plan"),
        ("graph_quary", "graph_query"),
        ("GRAPH_NEXT", "graph_next"),
        ("graph-open", "graph_open"),
    ] {
        let fault = world.refused(wrong, json!({}));
        assert_eq!(fault.code, Code::NotFound);
        assert_eq!(fault.details.unwrap()["nearest"][0], right);
        assert!(fault.hint.unwrap().contains(right));
    }
    for name in ["", "zzzzzzzzzz", "\0", &"x".repeat(100_000)] {
        let fault = world.refused(name, json!({}));
        assert_eq!(fault.code, Code::NotFound);
        assert!(fault.message.chars().count() < 200);
    }
}

#[on_both]
fn every_refusal_is_one_envelope(world: World) {
    world.plan(&["A"]);
    for (tool, args) in [
        ("graph_context", json!({"node_id": "TASK-999"})),
        (
            "graph_update",
            json!({"updates": [{"node_id": "TASK-001", "expected_rev": 9}]}),
        ),
        ("graph_plan", json!({"nodes": []})),
        ("graph_query", json!({"cursor": "x"})),
        ("nope", json!({})),
        ("graph_query", json!([])),
    ] {
        let fault = world.refused(tool, args);
        let envelope = fault.envelope("req_1");
        let error = envelope["error"].as_object().unwrap();
        assert_eq!(envelope.as_object().unwrap().len(), 1);
        assert_eq!(error["code"], fault.code.wire());
        assert_eq!(error["request_id"], "req_1");
        assert!(!error["message"].as_str().unwrap().is_empty());
        assert!(error.keys().all(|key| {
            ["code", "message", "details", "recovery_hint", "request_id"].contains(&key.as_str())
        }));
        assert!(
            (400..500).contains(&fault.code.status()),
            "a refusal is the caller's"
        );
        let hint = error
            .get("recovery_hint")
            .map(Value::to_string)
            .unwrap_or_default()
            .to_lowercase();
        assert!(
            !["delete", "drop", "rm ", "force", "reset"]
                .iter()
                .any(|word| hint.contains(word)),
            "{hint}"
        );
    }
}

#[on_both]
fn arguments_must_be_an_object(world: World) {
    for args in [json!([]), json!("x"), json!(5), json!(true)] {
        for tool in tools() {
            let fault = world.refused(tool.name, args.clone());
            assert_eq!(
                (fault.code, &fault.details.unwrap()["field"]),
                (Code::Validation, &json!("arguments")),
                "{}",
                tool.name
            );
        }
    }
    world.ok("graph_open", Value::Null);
}

#[on_both]
fn arguments_too_large_or_too_deep_are_refused(world: World) {
    let id = world.plan(&["A"]).remove(0);
    let huge = json!({"updates": [{"node_id": id, "state": "x".repeat(17 << 20)}]});
    assert_eq!(world.refused("graph_update", huge).code, Code::TooLarge);
    for levels in [65, 200, 1_000] {
        let deep = json!({"updates": [{"node_id": id, "state": nested(levels)}]});
        assert_eq!(
            world.refused("graph_update", deep).code,
            Code::Validation,
            "{levels}"
        );
    }
    let state = nested(60);
    world.ok(
        "graph_update",
        json!({"updates": [{"node_id": id, "state": state, "properties": {"deep": state}}]}),
    );
    let claimed = json!({"claim": true, "idempotency_key": "k"});
    assert_eq!(
        world.ok("graph_next", claimed.clone()),
        world.ok("graph_next", claimed)
    );
    assert_eq!(node(&world, &id)["state"], state);
    assert_eq!(found(&world, json!({"properties": {"deep": state}})), [id]);
    world.assert_sound();
}

#[on_both]
fn no_refusal_shows_the_store(world: World) {
    world.plan(&["A"]);
    for text in NASTY {
        for (tool, args) in [
            ("graph_context", json!({"node_id": text})),
            ("graph_history", json!({"node_id": text})),
            ("graph_query", json!({"filter": {"ancestor": text}})),
            ("graph_query", json!({"cursor": text})),
            ("graph_next", json!({"scope": text, "claim": true})),
            ("graph_update", json!({"updates": [{"node_id": text}]})),
            (
                "graph_restructure",
                json!({"operations": [{"op": "move", "node_id": text, "new_parent": text}]}),
            ),
        ] {
            let fault = world.refused(tool, args);
            assert!(
                matches!(fault.code, Code::NotFound | Code::Validation),
                "{tool}: {fault}"
            );
            let said = format!("{fault:?}").to_lowercase();
            assert!(
                !["select ", "core_", "sqlite", "postgres"]
                    .iter()
                    .any(|word| said.contains(word) && !text.to_lowercase().contains(word)),
                "{said}"
            );
        }
    }
    world.assert_sound();
}
