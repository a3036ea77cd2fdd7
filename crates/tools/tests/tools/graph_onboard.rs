//! `graph_onboard`: somebody new knows where things stand after one short answer.

use crate::common::*;
use serde_json::{Value, json};
use understory_testkit::{World, on_both};

#[on_both]
fn before_the_first_plan_it_says_how_to_begin(world: World) {
    let answer = world.ok("graph_onboard", json!({}));
    assert_eq!(
        (&answer["project"], &answer["you"]),
        (&json!("default"), &json!("ada"))
    );
    assert_eq!(
        answer["summary"],
        json!({"total": 0, "resolved": 0, "unresolved": 0, "blocked": 0, "actionable": 0})
    );
    assert!(answer["hint"].as_str().unwrap().contains("graph_plan"));
    assert_eq!(world.head(), 0);
}

#[on_both]
fn it_tells_goal_counts_what_was_done_by_whom_what_goes_on_and_what_is_next(world: World) {
    world.ok(
        "graph_open",
        json!({"project": "default", "goal": "Ship it"}),
    );
    let ids = world.plan(&["First", "Second", "Third", "Fourth"]);
    let bob = World::caller("bob");
    world
        .call_as(
            &bob,
            "graph_update",
            json!({"updates": [{"node_id": ids[0], "resolved": true}]}),
        )
        .unwrap();
    resolve(&world, &[&ids[1]]);
    world
        .call_as(&bob, "graph_next", json!({"claim": true}))
        .unwrap();
    let answer = world.ok("graph_onboard", json!({}));
    assert_eq!(
        (&answer["goal"], &answer["root"]),
        (&json!("Ship it"), &json!("PLAN-001"))
    );
    assert_eq!(answer["summary"], counts(&world));
    let brief = |at: usize, key: &str| answer[key][at]["id"].clone();
    assert_eq!(
        (brief(0, "recent"), brief(1, "recent")),
        (json!(ids[1]), json!(ids[0])),
        "the newest first"
    );
    assert_eq!(
        (&answer["recent"][0]["by"], &answer["recent"][1]["by"]),
        (&json!("ada"), &json!("bob"))
    );
    let since = node(&world, &ids[2])["properties"]["_claimed_at"].clone();
    assert_eq!(
        answer["in_progress"],
        json!([{"id": ids[2], "summary": "Third", "by": "bob", "session": "sess_bob", "since": since}])
    );
    assert_eq!(answer["next"], json!([{"id": ids[3], "summary": "Fourth"}]));
    assert!(answer["hint"].as_str().unwrap().contains("graph_next"));
}

#[on_both]
fn a_stale_claim_is_not_in_progress_but_next(world: World) {
    let ids = world.plan(&["A"]);
    world
        .call_as(&World::caller("bob"), "graph_next", json!({"claim": true}))
        .unwrap();
    world.clock.turn(3_700);
    let answer = world.ok("graph_onboard", json!({}));
    assert_eq!(
        (&answer["in_progress"], &answer["next"][0]["id"]),
        (&json!([]), &json!(ids[0]))
    );
}

#[on_both]
fn the_hint_follows_the_state(world: World) {
    let of = plan(&world, json!([{"ref": "a", "summary": "A"}]));
    resolve(&world, &[&of["a"], "PLAN-001"]);
    assert!(
        world.ok("graph_onboard", json!({}))["hint"]
            .as_str()
            .unwrap()
            .contains("done")
    );
}

#[on_both]
fn what_was_dropped_is_told_apart_from_what_was_done(world: World) {
    let ids = world.plan(&["Done", "Given up", "Left"]);
    resolve(&world, &[&ids[0]]);
    restructure(
        &world,
        json!([{"op": "drop", "node_id": ids[1], "reason": "not now"}]),
    );
    let recent = world.ok("graph_onboard", json!({}))["recent"].clone();
    assert_eq!(
        (&recent[0]["id"], &recent[0]["dropped"]),
        (&json!(ids[1]), &json!(true))
    );
    assert!(recent[1].get("dropped").is_none());
    assert_eq!(node(&world, &ids[1])["dropped"], true);
    let tree =
        world.ok("graph_context", json!({"node_id": "PLAN-001"}))["children"]["children"].clone();
    assert_eq!(
        (tree[0].get("dropped"), &tree[1]["dropped"]),
        (None, &json!(true))
    );
    set_resolved(&world, &[&ids[1]], false);
    resolve(&world, &[&ids[1]]);
    assert!(
        node(&world, &ids[1]).get("dropped").is_none(),
        "done after all"
    );
}

#[on_both]
fn the_hint_says_why_nothing_is_next(world: World) {
    let hint = |world: &World| {
        world.ok("graph_onboard", json!({}))["hint"]
            .as_str()
            .unwrap()
            .to_string()
    };
    world.ok(
        "create_record",
        json!({"parent_id": null, "type": "note", "title": "T", "summary": "S", "body": "B"}),
    );
    assert!(
        hint(&world).starts_with("Nothing is planned"),
        "records alone are no plan: {}",
        hint(&world)
    );
    world.ok("graph_open", json!({"project": "default", "goal": "Ship"}));
    assert!(
        hint(&world).starts_with("Nothing is planned"),
        "a goal alone is no plan: {}",
        hint(&world)
    );
    let id = world.plan(&["A"]).remove(0);
    assert!(hint(&world).contains("add_evidence"), "{}", hint(&world));
    world
        .call_as(&World::caller("bob"), "graph_next", json!({"claim": true}))
        .unwrap();
    assert!(hint(&world).contains("is claimed"), "{}", hint(&world));
    resolve(&world, &[&id, "PLAN-001"]);
    assert!(hint(&world).contains("is done"), "{}", hint(&world));
}

#[on_both]
fn a_goal_is_whole_while_there_is_room(world: World) {
    let goal = "Ship the web shop with tea, and ".repeat(20);
    world.ok("graph_open", json!({"project": "default", "goal": goal}));
    world.plan(&["A"]);
    let answer = world.ok("graph_onboard", json!({}));
    assert_eq!(answer["goal"], json!(goal));
    assert!(answer.get("truncated").is_none() && tokens(&answer) <= 600);
}

#[on_both]
fn a_big_project_takes_at_most_600_tokens(world: World) {
    world.ok(
        "graph_open",
        json!({"project": "default", "goal": "goal ".repeat(400)}),
    );
    let text = format!(
        "{} ",
        "A rather long summary of what is to be done, with \"quotes\" and 漢字\n".repeat(25)
    );
    let nodes: Value = (0..400).map(|at| json!({"ref": at.to_string(), "summary": format!("{at} {text}"), "properties": {"k": "v".repeat(100)}})).collect();
    let of = plan(&world, nodes);
    for at in 0..40 {
        resolve(&world, &[&of[&at.to_string()]]);
    }
    for at in 0..12 {
        world
            .call_as(
                &World::caller(&format!("agent-with-a-long-name-{at}")),
                "graph_next",
                json!({"claim": true}),
            )
            .unwrap();
    }
    let answer = world.ok("graph_onboard", json!({}));
    assert!(tokens(&answer) <= 600, "{}", tokens(&answer));
    for list in ["recent", "in_progress", "next"] {
        assert!(
            !answer[list].as_array().unwrap().is_empty(),
            "{list} is worth a line"
        );
    }
    assert!(answer["goal"].as_str().unwrap().starts_with("goal goal"));
    for max in [-1, 0, 50, 200, 500, 1_000, 100_000] {
        let answer = world.ok("graph_onboard", json!({"max_chars": max}));
        let bound = usize::try_from(max)
            .unwrap_or(0)
            .max(chars(&json!({"truncated": true})));
        assert!(chars(&answer) <= bound.min(2_400), "{max}: {answer}");
        assert!(max > 1_000 || answer["truncated"] == true);
    }
}

#[on_both]
fn the_worst_texts_fit_too(world: World) {
    let worst = "\u{1}".repeat(2_000);
    world.ok("graph_open", json!({"project": "default", "goal": worst}));
    let ids = world.plan(&[&format!("a{worst}")[..1_999]; 20]);
    resolve(&world, &[&ids[0], &ids[1], &ids[2]]);
    world.ok("graph_next", json!({"claim": true, "count": 4}));
    let answer = world.ok("graph_onboard", json!({}));
    assert!(tokens(&answer) <= 600);
    assert_eq!(answer["summary"], counts(&world));
}
