//! `get_project_overview`: all that a chat needs to begin, within its budget.

use crate::common::NASTY;
use crate::records_reads::*;
use serde_json::{Value, json};
use understory_model::Code;
use understory_testkit::{World, on_both};

#[track_caller]
fn overview(world: &World) -> Value {
    world.ok("get_project_overview", json!({"max_chars": 100_000}))
}

#[on_both]
fn before_the_first_write_it_is_what_it_would_be(world: World) {
    let nothing = json!({
        "project": {"id": "default", "name": "default", "description": "", "tick": 0},
        "open_sessions": [], "root_records": [], "open_records": [], "later_records": [], "recent_activity": [],
    });
    let contains = |answer: Value| {
        for (name, value) in nothing.as_object().unwrap() {
            assert_eq!(answer[name], *value, "{name}");
        }
    };
    contains(overview(&world));
    contains(world.ok("get_project_overview", json!({"project_id": "default"})));
    assert_eq!(
        world
            .refused("get_project_overview", json!({"project_id": "other"}))
            .code,
        Code::NotFound
    );
    assert_eq!(
        world.ok("list_projects", json!({}))["projects"],
        json!([]),
        "no read writes"
    );
    world.plan(&["a node"]);
    let after = overview(&world);
    assert_eq!(
        (
            &after["project"]["tick"],
            &after["root_records"],
            &after["recent_activity"]
        ),
        (&json!(0), &json!([]), &json!([])),
        "a graph is no reasoning"
    );
}

#[on_both]
fn it_shows_the_project_its_roots_and_what_is_open_or_deferred(mut world: World) {
    world.ok(
        "create_project",
        json!({"id": "shop", "name": "Web shop", "description": "Sell tea"}),
    );
    root(&world, "elsewhere");
    world.caller.project = "shop".into();
    let a = make(&world, json!({"title": "a", "project_id": "shop"}));
    let b = child(&world, &a, "b");
    let c = child(&world, &a, "c");
    let d = make(&world, json!({"title": "d", "project_id": "shop"}));
    let e = make(
        &world,
        json!({"title": "e", "state": "LATER", "project_id": "shop"}),
    );
    to(&world, &c, "LATER");
    to(&world, &b, "RESOLVED");
    to(&world, &d, "DISCARDED");
    let answer = overview(&world);
    assert_eq!(
        answer["project"],
        json!({"id": "shop", "name": "Web shop", "description": "Sell tea", "tick": 8})
    );
    assert_eq!(ids(&answer["root_records"]), [a.clone(), d, e.clone()]);
    assert_eq!(ids(&answer["open_records"]), [a.as_str()]);
    assert_eq!(
        ids(&answer["later_records"]),
        [c, e],
        "the last changed first"
    );
    assert_eq!(
        answer["root_records"][0],
        world.ok("get_record_ref", json!({ "id": a }))
    );
    assert_eq!(answer["later_records"][0]["parent_id"], json!(a));
    assert!(answer.get("truncated").is_none());
    world.caller.project = "default".into();
    assert_eq!(
        each(&overview(&world)["root_records"], "title"),
        ["elsewhere"]
    );
    assert_eq!(
        world.ok(
            "get_project_overview",
            json!({"project_id": "shop", "max_chars": 100_000})
        ),
        answer
    );
    assert_eq!(
        world
            .refused("get_project_overview", json!({"project_id": "shops"}))
            .code,
        Code::NotFound
    );
}

#[on_both]
fn open_records_come_last_changed_first(world: World) {
    let made: Vec<String> = ["a", "b", "c"]
        .iter()
        .map(|title| root(&world, title))
        .collect();
    update(&world, &made[0], json!({"body": "again"}));
    assert_eq!(
        ids(&overview(&world)["open_records"]),
        [made[0].clone(), made[2].clone(), made[1].clone()]
    );
    assert_eq!(ids(&overview(&world)["root_records"]), made);
}

#[on_both]
fn open_sessions_tell_what_they_hold_and_how_far_behind_they_are(world: World) {
    let a = root(&world, "a");
    let b = root(&world, "b");
    activate(&world, "bob", &a);
    make_by(&world, "eve", json!({"title": "c"}));
    for at in 0..3 {
        update(&world, &b, json!({"body": format!("x{at}")}));
    }
    let answer = overview(&world);
    let shown = |name: &str| {
        list(&answer["open_sessions"])
            .iter()
            .find(|one| one["id"] == name)
            .cloned()
            .unwrap_or_default()
    };
    for (name, held, synced, gap) in [
        ("sess_ada", json!([a, b]), 2, 1),
        ("sess_bob", json!([a]), 2, 4),
        ("sess_eve", json!(["R003"]), 3, 3),
    ] {
        let one = shown(name);
        assert_eq!(
            (
                &one["active_records"],
                &one["last_sync_tick"],
                &one["tick_gap"]
            ),
            (&held, &json!(synced), &json!(gap)),
            "{name}: {one}"
        );
        assert_eq!(
            (&one["agent"], &one["alive"]),
            (&json!(name.trim_start_matches("sess_")), &json!(false))
        );
    }
    assert_eq!(
        answer["open_sessions"][0]["id"], "sess_ada",
        "the last active first"
    );
    by(&world, "ada", "sync_session", json!({}));
    by(&world, "bob", "close_session", json!({}));
    let answer = overview(&world);
    assert_eq!(
        ids(&answer["open_sessions"]),
        ["sess_ada", "sess_eve"],
        "a closed one is not listed"
    );
    assert_eq!(
        (
            &answer["open_sessions"][0]["last_sync_tick"],
            &answer["open_sessions"][0]["tick_gap"]
        ),
        (&json!(6), &json!(0))
    );
    assert_eq!(
        answer["project"]["tick"], 6,
        "neither syncing nor closing is a write"
    );
    activate(&world, "bob", &b);
    assert_eq!(
        overview(&world)["open_sessions"][0]["active_records"],
        json!([b]),
        "resumed fresh"
    );
}

#[on_both]
fn a_session_that_missed_more_than_twenty_writes_is_stale(world: World) {
    let a = root(&world, "a");
    activate(&world, "bob", &a);
    let status = |world: &World| {
        let answer = overview(world);
        let found = list(&answer["open_sessions"])
            .iter()
            .find(|one| one["id"] == "sess_bob")
            .cloned()
            .unwrap();
        (number(&found["tick_gap"]), text(&found["status"]))
    };
    for at in 0..20 {
        update(&world, &a, json!({"body": format!("x{at}")}));
    }
    assert_eq!(status(&world), (20, "active".into()));
    by(&world, "ada", "save_session", json!({}));
    assert_eq!(status(&world), (21, "stale".into()));
    by(&world, "bob", "sync_session", json!({}));
    assert_eq!(status(&world), (0, "active".into()));
}

#[on_both]
fn recent_activity_is_the_head_of_the_activity_log(world: World) {
    let a = root(&world, "a");
    for at in 0..20 {
        update(&world, &a, json!({"body": at.to_string()}));
    }
    by(
        &world,
        "ada",
        "save_session",
        json!({"summary": "Got here"}),
    );
    let recent = list(&overview(&world)["recent_activity"]).clone();
    let log = world.ok("get_recent_activity", json!({"limit": recent.len()}));
    assert_eq!(json!(recent), log["activity"]);
    assert!(recent.len() >= 10);
    assert_eq!(
        (
            &recent[0]["type"],
            recent[0]["summary"].as_str().unwrap().contains("Got here")
        ),
        (&json!("session_saved"), true)
    );
}

#[on_both]
fn a_session_with_many_records_says_that_not_all_are_shown(world: World) {
    for _ in 0..60 {
        root(&world, "t");
    }
    let answer = overview(&world);
    let shown = list(&answer["open_sessions"][0]["active_records"]).len();
    assert!(
        shown == 60 || answer["truncated"] == true,
        "{shown} of 60, and no word of it"
    );
}

#[on_both]
fn thousands_of_records_stay_within_the_budget(world: World) {
    let count = if world.backend.is_sqlite() {
        3_000
    } else {
        1_200
    };
    let long = "A summary of some length, as they are. ".repeat(4);
    crowd(
        &world,
        "ada",
        count,
        |at| json!({"title": format!("Record {at}"), "summary": long, "state": if at % 3 == 0 { "LATER" } else { "OPEN" }}),
    );
    for agent in 0..30 {
        activate(&world, &format!("agent{agent}"), "R001");
    }
    let answer = overview(&world);
    assert!(chars(&answer) <= 100_000, "{}", chars(&answer));
    assert_eq!(
        (&answer["truncated"], &answer["project"]["tick"]),
        (&json!(true), &json!(count))
    );
    for part in [
        "open_sessions",
        "root_records",
        "open_records",
        "later_records",
        "recent_activity",
    ] {
        assert!(list(&answer[part]).len() >= 10, "{part} is not crowded out");
    }
    assert_eq!(
        answer["totals"],
        json!({"records": count, "root_records": count, "open_records": count - count / 3, "later_records": count / 3, "open_sessions": 31})
    );
    for max in SIZES.into_iter().chain([50_000, 90_000]) {
        let answer = world.ok("get_project_overview", json!({"max_chars": max}));
        assert!(
            chars(&answer) <= max || (max < 20 && answer == json!({"truncated": true})),
            "{max}: {}",
            chars(&answer)
        );
        assert_eq!(answer["truncated"], true, "{max}");
    }
}

#[on_both]
fn without_a_budget_it_is_about_2000_tokens_and_tells_what_it_left_out(world: World) {
    crowd(
        &world,
        "ada",
        300,
        |at| json!({"title": format!("Record {at}"), "summary": "A summary of some length, as they are."}),
    );
    let answer = world.ok("get_project_overview", json!({}));
    assert!(chars(&answer) <= 8_000, "{}", chars(&answer));
    assert_eq!(
        (&answer["truncated"], &answer["totals"]["open_records"]),
        (&json!(true), &json!(300))
    );
    for part in ["root_records", "open_records", "recent_activity"] {
        assert!(list(&answer[part]).len() >= 5, "{part}: {answer}");
    }
    let more = world.ok("get_project_overview", json!({"max_chars": 50_000}));
    assert!(list(&more["open_records"]).len() > 2 * list(&answer["open_records"]).len());
}

#[on_both]
fn an_overview_keeps_within_its_budget(world: World) {
    for text in NASTY {
        make(&world, json!({"title": text, "summary": text}));
    }
    assert_within(
        &world,
        "get_project_overview",
        &json!({}),
        json!({"truncated": true}),
    );
    let fresh = json!({"project_id": "default", "max_chars": 1});
    assert_eq!(
        world.ok("get_project_overview", fresh),
        json!({"truncated": true})
    );
}

#[on_both]
fn an_overview_before_the_first_write_keeps_within_its_budget_too(world: World) {
    assert_within(
        &world,
        "get_project_overview",
        &json!({}),
        json!({"truncated": true}),
    );
    assert_eq!(
        world
            .refused("get_project_overview", json!({"project": "default"}))
            .details
            .unwrap()["field"],
        "project"
    );
}
