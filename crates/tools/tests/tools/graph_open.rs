//! `graph_open`: the contract of listing, opening and making projects.

use crate::common::*;
use serde_json::json;
use understory_model::{Code, Role};
use understory_testkit::{World, on_both};

#[on_both]
fn nothing_is_listed_before_the_first_write(world: World) {
    assert_eq!(world.ok("graph_open", json!({})), json!({"projects": []}));
    world.ok("graph_query", json!({}));
    world.ok("graph_next", json!({}));
    world.ok("graph_next", json!({"claim": true}));
    world.ok("graph_onboard", json!({}));
    assert_eq!(
        world.ok("graph_open", json!({})),
        json!({"projects": []}),
        "no read writes"
    );
    assert_eq!(world.head(), 0);
}

#[on_both]
fn reads_do_not_make_the_default_project_beside_another(world: World) {
    world.ok("graph_open", json!({"project": "other"}));
    let head = world.head();
    for tool in ["graph_query", "graph_next", "graph_onboard"] {
        world.ok(tool, json!({}));
        world.ok(tool, json!({"project": "default"}));
    }
    world.ok("graph_next", json!({"claim": true}));
    assert_eq!(world.head(), head);
    let listed = world.ok("graph_open", json!({}));
    assert_eq!(ids(&listed["projects"]), ["other"]);
}

#[on_both]
fn a_new_project_has_a_root_with_its_goal(world: World) {
    let opened = world.ok(
        "graph_open",
        json!({"project": "shop", "goal": "Ship the shop"}),
    );
    let root = &opened["root"];
    assert_eq!((&root["id"], &root["rev"]), (&json!("PLAN-001"), &json!(1)));
    assert_eq!(root["summary"], "Ship the shop");
    assert_eq!(root["created_by"], "ada");
    assert_eq!(root["created_at"], root["updated_at"]);
    assert!(root.get("parent").is_none() && root.get("state").is_none());
    for (field, empty) in [
        ("properties", json!({})),
        ("context_links", json!([])),
        ("evidence", json!([])),
    ] {
        assert_eq!(root[field], empty);
    }
    assert_eq!(
        opened["summary"],
        json!({"total": 1, "resolved": 0, "unresolved": 1, "blocked": 0, "actionable": 1})
    );
}

#[on_both]
fn a_project_without_a_goal_is_named_by_itself(world: World) {
    assert_eq!(
        world.ok("graph_open", json!({"project": "shop"}))["root"]["summary"],
        "shop"
    );
}

#[on_both]
fn the_goal_is_used_on_creation_only(world: World) {
    world.ok("graph_open", json!({"project": "shop", "goal": "First"}));
    let head = world.head();
    let again = world.ok("graph_open", json!({"project": "shop", "goal": "Second"}));
    assert_eq!(again["root"]["summary"], "First");
    assert!(
        again["goal_ignored"]
            .as_str()
            .unwrap()
            .contains("graph_update of PLAN-001")
    );
    assert_eq!(world.head(), head, "opening what exists writes nothing");
    assert!(
        world
            .ok("graph_open", json!({"project": "shop", "goal": "First"}))
            .get("goal_ignored")
            .is_none()
    );
    assert!(
        world
            .ok("graph_open", json!({"project": "shop"}))
            .get("goal_ignored")
            .is_none()
    );
}

#[on_both]
fn a_goal_is_kept_however_the_project_came_to_be(world: World) {
    world.ok(
        "create_record",
        json!({"parent_id": null, "type": "note", "title": "T", "summary": "S", "body": "B"}),
    );
    let opened = world.ok(
        "graph_open",
        json!({"project": "default", "goal": "Ship the web shop"}),
    );
    assert_eq!(
        (&opened["root"]["summary"], &opened["root"]["rev"]),
        (&json!("Ship the web shop"), &json!(1))
    );
    world.ok(
        "create_project",
        json!({"id": "shop", "name": "Web shop", "description": "We sell"}),
    );
    assert_eq!(
        world.ok("graph_open", json!({"project": "shop", "goal": "Sell tea"}))["root"]["summary"],
        "Sell tea"
    );
    world.ok("graph_open", json!({"project": "late"}));
    world.ok(
        "graph_plan",
        json!({"project": "late", "nodes": [{"ref": "x", "summary": "X"}]}),
    );
    let late = world.ok(
        "graph_open",
        json!({"project": "late", "goal": "A goal at last"}),
    );
    assert_eq!(
        (&late["root"]["summary"], &late["root"]["rev"]),
        (&json!("A goal at last"), &json!(2))
    );
    assert!(late.get("goal_ignored").is_none());
    assert!(
        world
            .ok("graph_open", json!({"project": "late", "goal": "Another"}))
            .get("goal_ignored")
            .is_some()
    );
    world.assert_sound();
}

#[on_both]
fn a_goal_without_a_project_is_for_the_callers_own(world: World) {
    let opened = world.ok("graph_open", json!({"goal": "Ship it"}));
    assert_eq!(opened["root"]["summary"], "Ship it");
    assert_eq!(
        ids(&world.ok("graph_open", json!({}))["projects"]),
        ["default"]
    );
}

#[on_both]
fn a_claim_where_nothing_is_planned_writes_nothing_and_says_why(world: World) {
    world.ok(
        "create_record",
        json!({"parent_id": null, "type": "note", "title": "T", "summary": "S", "body": "B"}),
    );
    let head = world.head();
    for _ in 0..2 {
        let answer = world.ok("graph_next", json!({"claim": true}));
        assert_eq!(
            (&answer["nodes"], &answer["reason"]["code"]),
            (&json!([]), &json!("nothing_planned"))
        );
    }
    assert_eq!(world.head(), head);
    world.ok("graph_open", json!({"goal": "Ship it"}));
    let answer = world.ok("graph_next", json!({"claim": true}));
    assert_eq!(
        (&answer["nodes"], &answer["reason"]["code"]),
        (&json!([]), &json!("nothing_planned")),
        "a root alone is no work"
    );
    let id = world.plan(&["A"]).remove(0);
    resolve(&world, &[&id]);
    assert_eq!(
        next_ids(&world, json!({"claim": true})),
        ["PLAN-001"],
        "once all below it is done, it is"
    );
}

#[on_both]
fn every_project_is_listed_with_its_counts(world: World) {
    world.ok("graph_open", json!({"project": "a", "goal": "Goal A"}));
    world.ok("graph_open", json!({"project": "b"}));
    let one = world.ok(
        "graph_plan",
        json!({"project": "a", "nodes": [{"ref": "x", "summary": "X"}]}),
    );
    let id = one["created"][0]["id"].as_str().unwrap();
    let before = world.ok("graph_open", json!({}))["projects"][0]["updated_at"].clone();
    resolve(&world, &[id]);
    let listed = world.ok("graph_open", json!({}))["projects"].clone();
    assert_eq!(ids(&listed), ["a", "b"]);
    assert_eq!(listed[0]["summary"], "Goal A");
    assert_eq!(
        (
            &listed[0]["total"],
            &listed[0]["resolved"],
            &listed[0]["unresolved"]
        ),
        (&json!(2), &json!(1), &json!(1))
    );
    assert!(
        listed[0]["updated_at"].as_str() > before.as_str(),
        "a change moves it"
    );
    assert_eq!(listed[0].as_object().unwrap().len(), 6);
}

#[on_both]
fn roots_are_numbered_across_projects(world: World) {
    for (name, root) in [("a", "PLAN-001"), ("b", "PLAN-002"), ("c", "PLAN-003")] {
        assert_eq!(
            world.ok("graph_open", json!({"project": name}))["root"]["id"],
            root
        );
    }
}

#[on_both]
fn an_explicit_project_beats_the_callers(world: World) {
    world.ok("graph_open", json!({"project": "other"}));
    world.ok(
        "graph_plan",
        json!({"project": "other", "nodes": [{"ref": "x", "summary": "There"}]}),
    );
    world.plan(&["Here"]);
    let total = |args| world.ok("graph_query", args)["total"].clone();
    assert_eq!(
        total(json!({"project": "other", "filter": {"text": "there"}})),
        1
    );
    assert_eq!(total(json!({"filter": {"text": "there"}})), 0);
    let mut elsewhere = World::caller("ada");
    elsewhere.project = "other".into();
    let seen = world
        .call_as(
            &elsewhere,
            "graph_query",
            json!({"filter": {"text": "there"}}),
        )
        .unwrap();
    assert_eq!(seen["total"], 1);
    let seen = world
        .call_as(
            &elsewhere,
            "graph_query",
            json!({"project": "default", "filter": {"text": "there"}}),
        )
        .unwrap();
    assert_eq!(seen["total"], 0);
}

#[on_both]
fn an_unknown_project_is_told_with_the_nearest(world: World) {
    world.ok("graph_open", json!({"project": "web-shop"}));
    for (tool, args) in [
        ("graph_query", json!({"project": "web-shpo"})),
        ("graph_next", json!({"project": "web-shpo"})),
        ("graph_next", json!({"project": "web-shpo", "claim": true})),
        ("graph_onboard", json!({"project": "web-shpo"})),
        (
            "graph_plan",
            json!({"project": "web-shpo", "nodes": [{"ref": "x", "summary": "X"}]}),
        ),
    ] {
        let fault = world.refused(tool, args);
        assert_eq!(fault.code, Code::NotFound, "{tool}");
        assert_eq!(
            fault.details.unwrap()["nearest"],
            json!(["web-shop"]),
            "{tool}"
        );
        assert!(
            fault.hint.unwrap().contains("graph_open"),
            "{tool} says how to make it"
        );
    }
}

#[on_both]
fn an_unknown_project_is_told_before_the_first_write(world: World) {
    for tool in ["graph_query", "graph_next", "graph_onboard"] {
        assert_eq!(
            world.refused(tool, json!({"project": "nope"})).code,
            Code::NotFound
        );
    }
    let nodes = json!([{"ref": "x", "summary": "X"}]);
    assert_eq!(
        world
            .refused("graph_plan", json!({"project": "nope", "nodes": nodes}))
            .code,
        Code::NotFound
    );
}

#[on_both]
fn bad_names_are_refused(world: World) {
    let long = "x".repeat(129);
    for name in ["", " ", " x", "x ", "a\nb", "a\0b", "\u{1b}[0m", &long] {
        assert_eq!(
            world.refused("graph_open", json!({"project": name})).code,
            Code::Validation,
            "{name:?}"
        );
    }
    for goal in ["", "\0", &"g".repeat(2_001)] {
        assert_eq!(
            world
                .refused("graph_open", json!({"project": "x", "goal": goal}))
                .code,
            Code::Validation
        );
    }
}

#[on_both]
fn strange_names_are_kept_as_they_are(world: World) {
    let mut made = Vec::new();
    for name in NASTY
        .iter()
        .filter(|name| !name.chars().any(char::is_control))
    {
        world.ok("graph_open", json!({"project": name, "goal": name}));
        made.push(name.to_string());
        assert_eq!(
            world.ok("graph_query", json!({"project": name}))["total"],
            1
        );
    }
    let longest = "å".repeat(128);
    world.ok("graph_open", json!({"project": longest}));
    made.push(longest);
    assert_eq!(ids(&world.ok("graph_open", json!({}))["projects"]), made);
}

#[on_both]
fn names_differ_by_case(world: World) {
    world.ok("graph_open", json!({"project": "Shop"}));
    world.ok("graph_open", json!({"project": "shop"}));
    assert_eq!(
        ids(&world.ok("graph_open", json!({}))["projects"]),
        ["Shop", "shop"]
    );
}

#[on_both]
fn an_auditor_opens_what_exists_and_makes_nothing(mut world: World) {
    world.ok("graph_open", json!({"project": "shop"}));
    world.caller.role = Role::Auditor;
    world.ok("graph_open", json!({"project": "shop"}));
    world.ok(
        "graph_open",
        json!({"project": "shop", "idempotency_key": "k"}),
    );
    assert_eq!(
        world.refused("graph_open", json!({"project": "new"})).code,
        Code::Forbidden
    );
}

#[on_both]
fn budgets_bound_the_answer(world: World) {
    for at in 0..20 {
        world.ok(
            "graph_open",
            json!({"project": format!("p{at}"), "goal": "g".repeat(500)}),
        );
    }
    for max in [0, 30, 60, 100, 1_000, 5_000] {
        for args in [
            json!({"max_chars": max}),
            json!({"project": "p3", "max_chars": max}),
        ] {
            let answer = world.ok("graph_open", args);
            let least = chars(&json!({"projects": [], "truncated": true}));
            assert!(chars(&answer) <= least.max(max), "{max}: {answer}");
            if chars(&answer) < 600 {
                assert_eq!(answer["truncated"], true);
            }
        }
    }
    assert!(world.ok("graph_open", json!({})).get("truncated").is_none());
}

#[on_both]
fn the_counts_follow_every_kind_of_change(world: World) {
    let of = plan(
        &world,
        json!([
            {"ref": "a", "summary": "A"},
            {"ref": "a1", "summary": "A1", "parent_ref": "a"},
            {"ref": "a2", "summary": "A2", "parent_ref": "a", "depends_on": ["a1"]},
            {"ref": "b", "summary": "B", "depends_on": ["a"]},
            {"ref": "c", "summary": "C", "depends_on": ["b", "a1"]},
            {"ref": "d", "summary": "D"},
        ]),
    );
    let id = |name: &str| of[name].as_str();
    assert_eq!(tally(&world), [7, 0, 3, 2]);
    assert_counted(&world);
    let edge = |from: &str, to: &str, kind: &str, remove: bool| {
        world.ok(
            "graph_connect",
            json!({"edges": [{"from": id(from), "to": id(to), "type": kind, "remove": remove}]}),
        );
        assert_counted(&world);
    };
    let set = |name: &str, resolved: bool| {
        set_resolved(&world, &[id(name)], resolved);
        assert_counted(&world);
    };
    set("a1", true);
    edge("d", "c", "depends_on", false);
    edge("d", "a1", "relates_to", false);
    set("a1", false);
    set("a1", true);
    set("a1", true);
    set("a2", true);
    set("a", true);
    edge("c", "b", "depends_on", true);
    set("a2", false);
    restructure(
        &world,
        json!([{"op": "move", "node_id": id("a2"), "new_parent": id("d")}]),
    );
    assert_counted(&world);
    restructure(
        &world,
        json!([{"op": "merge", "source": id("d"), "target": id("b")}]),
    );
    assert_counted(&world);
    child(&world, id("a"), "below what is resolved");
    assert_counted(&world);
    world.ok("graph_next", json!({"claim": true}));
    assert_counted(&world);
    restructure(
        &world,
        json!([{"op": "drop", "node_id": "PLAN-001", "reason": "over"}]),
    );
    assert_counted(&world);
    let [total, resolved, ..] = tally(&world);
    assert_eq!(total, resolved);
    world.assert_sound();
}
