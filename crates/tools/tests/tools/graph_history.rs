//! `graph_history`: who changed a node, how, and why.

use crate::common::*;
use serde_json::{Value, json};
use understory_model::Code;
use understory_testkit::{World, on_both};

#[track_caller]
fn events(world: &World, id: &str) -> Vec<Value> {
    let answer = world.ok("graph_history", json!({"node_id": id, "limit": 200}));
    answer["events"].as_array().unwrap().clone()
}

/// The change of one field in an event.
fn change<'e>(event: &'e Value, field: &str) -> &'e Value {
    let all = event["changes"].as_array().unwrap();
    all.iter()
        .find(|one| one["field"] == field)
        .unwrap_or_else(|| panic!("no {field} in {event}"))
}

#[on_both]
fn every_action_has_its_name_and_the_newest_comes_first(world: World) {
    let of = plan(
        &world,
        json!([{"ref": "x", "summary": "X"}, {"ref": "p", "summary": "P"}, {"ref": "s", "summary": "S"}, {"ref": "q", "summary": "Q"}]),
    );
    let x = &*of["x"];
    world.ok("graph_next", json!({"claim": true}));
    world.ok(
        "graph_update",
        json!({"updates": [{"node_id": x, "summary": "Y", "reason": "clearer"}]}),
    );
    resolve(&world, &[x]);
    set_resolved(&world, &[x], false);
    depend(&world, x, &of["p"]);
    restructure(
        &world,
        json!([{"op": "move", "node_id": x, "new_parent": of["q"]}]),
    );
    restructure(
        &world,
        json!([{"op": "merge", "source": of["s"], "target": x}]),
    );
    restructure(
        &world,
        json!([{"op": "drop", "node_id": x, "reason": "not needed"}]),
    );
    let events = events(&world, x);
    let actions: Vec<&str> = events
        .iter()
        .map(|event| event["action"].as_str().unwrap())
        .collect();
    assert_eq!(
        actions,
        [
            "dropped", "merged", "moved", "updated", "reopened", "resolved", "updated", "claimed",
            "created"
        ]
    );
    assert!(events.iter().all(|event| event["agent"] == "ada"));
    assert!(
        events
            .windows(2)
            .all(|pair| pair[0]["timestamp"].as_str() >= pair[1]["timestamp"].as_str())
    );
    assert_eq!(events[0]["reason"], "not needed");
    assert_eq!(
        *change(&events[0], "resolved"),
        json!({"field": "resolved", "before": false, "after": true})
    );
    assert_eq!(
        *change(&events[2], "parent"),
        json!({"field": "parent", "before": "PLAN-001", "after": of["q"]})
    );
    assert_eq!(
        *change(&events[3], "depends_on"),
        json!({"field": "depends_on", "before": null, "after": of["p"]})
    );
    assert_eq!(
        (&events[6]["reason"], change(&events[6], "summary")),
        (
            &json!("clearer"),
            &json!({"field": "summary", "before": "X", "after": "Y"})
        )
    );
    assert_eq!(change(&events[7], "properties._claimed_by")["after"], "ada");
    assert_eq!(change(&events[8], "summary")["after"], "X");
}

#[on_both]
fn it_says_who_did_what(world: World) {
    let id = world.plan(&["X"]).remove(0);
    world
        .call_as(
            &World::caller("bob"),
            "graph_update",
            json!({"updates": [{"node_id": id, "properties": {"k": {"a": 1}}}]}),
        )
        .unwrap();
    world.ok(
        "graph_update",
        json!({"updates": [{"node_id": id, "properties": {"k": null}}]}),
    );
    let events = events(&world, &id);
    assert_eq!(
        (&events[1]["agent"], &events[0]["agent"]),
        (&json!("bob"), &json!("ada"))
    );
    assert_eq!(
        *change(&events[0], "properties.k"),
        json!({"field": "properties.k", "before": {"a": 1}, "after": null})
    );
}

#[on_both]
fn a_merged_node_still_tells_its_own(world: World) {
    let ids = world.plan(&["A", "B"]);
    restructure(
        &world,
        json!([{"op": "merge", "source": ids[0], "target": ids[1]}]),
    );
    let events = events(&world, &ids[0]);
    assert_eq!(
        (&events[0]["action"], &events[0]["merged_into"]),
        (&json!("merged"), &json!(ids[1]))
    );
    assert_eq!(events.last().unwrap()["action"], "created");
}

#[on_both]
fn pages_neither_skip_nor_repeat(world: World) {
    let id = world.plan(&["X"]).remove(0);
    for at in 0..24 {
        world.ok(
            "graph_update",
            json!({"updates": [{"node_id": id, "state": at}]}),
        );
    }
    let whole = events(&world, &id);
    assert_eq!(whole.len(), 25);
    assert_eq!(
        world.ok("graph_history", json!({"node_id": id}))["events"]
            .as_array()
            .unwrap()
            .len(),
        20
    );
    for limit in 1..=7 {
        let (mut seen, mut args) = (Vec::new(), json!({"node_id": id, "limit": limit}));
        loop {
            let page = world.ok("graph_history", args.clone());
            seen.extend(page["events"].as_array().unwrap().clone());
            if page["next_cursor"].is_null() {
                break;
            }
            args["cursor"] = page["next_cursor"].clone();
            // What happens meanwhile is newer than where the reader is.
            world.ok(
                "graph_update",
                json!({"updates": [{"node_id": "PLAN-001", "state": limit}]}),
            );
        }
        assert_eq!(seen, whole, "{limit}");
    }
}

#[on_both]
fn a_budget_cuts_and_the_cursor_goes_on_there(world: World) {
    let id = world.plan(&["X"]).remove(0);
    for at in 0..12 {
        world.ok(
            "graph_update",
            json!({"updates": [{"node_id": id, "state": "x".repeat(at * 13)}]}),
        );
    }
    let whole = events(&world, &id);
    for max in [700, 900, 1_500] {
        let (mut seen, mut args) = (
            Vec::new(),
            json!({"node_id": id, "limit": 200, "max_chars": max}),
        );
        loop {
            let page = world.ok("graph_history", args.clone());
            assert!(chars(&page) <= max, "{max}: {page}");
            seen.extend(page["events"].as_array().unwrap().clone());
            if page["next_cursor"].is_null() {
                break;
            }
            assert_eq!(page["truncated"], true);
            args["cursor"] = page["next_cursor"].clone();
        }
        assert_eq!(seen, whole);
    }
    assert_eq!(
        world.ok("graph_history", json!({"node_id": id, "max_chars": 0})),
        json!({"events": [], "truncated": true})
    );
}

#[on_both]
fn an_event_too_long_for_the_budget_does_not_hide_the_others(world: World) {
    let id = world.plan(&["X"]).remove(0);
    world.ok(
        "graph_update",
        json!({"updates": [{"node_id": id, "state": "x".repeat(200_000)}]}),
    );
    resolve(&world, &[&id]);
    let (mut seen, mut args) = (Vec::new(), json!({"node_id": id}));
    loop {
        let page = world.ok("graph_history", args.clone());
        assert!(chars(&page) <= 100_000);
        seen.extend(
            page["events"]
                .as_array()
                .unwrap()
                .iter()
                .map(|event| event["action"].clone()),
        );
        if page["next_cursor"].is_null() {
            break;
        }
        args["cursor"] = page["next_cursor"].clone();
    }
    assert_eq!(
        seen,
        [json!("resolved"), json!("updated"), json!("created")]
    );
}

#[on_both]
fn bad_cursors_and_ids_are_refused(world: World) {
    let id = world.plan(&["X", "Y"]).remove(0);
    resolve(&world, &[&id]);
    let good = world.ok("graph_history", json!({"node_id": id, "limit": 1}))["next_cursor"]
        .as_str()
        .unwrap()
        .to_string();
    let query = world.ok("graph_query", json!({"limit": 1, "sort": "created"}))["next_cursor"]
        .as_str()
        .unwrap()
        .to_string();
    let mut damaged = good.clone();
    damaged.replace_range(3..4, if &good[3..4] == "A" { "B" } else { "A" });
    for cursor in [
        "",
        "x",
        "\0",
        "ÄÖ",
        &query,
        &damaged,
        &good[..good.len() - 1],
        &format!("{good}A"),
        &"A".repeat(5_000),
    ] {
        let fault = world.refused("graph_history", json!({"node_id": id, "cursor": cursor}));
        assert_eq!(
            (fault.code, &fault.details.unwrap()["field"]),
            (Code::Validation, &json!("cursor")),
            "{cursor}"
        );
    }
    for id in ["TASK-999", "", "project:default"] {
        assert_eq!(
            world.refused("graph_history", json!({"node_id": id})).code,
            Code::NotFound
        );
    }
}
