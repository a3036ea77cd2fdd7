//! `activate`: what is loaded by the rules of loading, who is warned of what, and what a session that
//! looks again is told of the change.

use crate::common::{NASTY, chars, ids};
use crate::records_common::*;
use serde_json::{Value, json};
use understory_model::{Caller, Code};
use understory_testkit::{World, on_both};

#[track_caller]
fn go(world: &World, id: &str, state: &str) {
    let args = match state {
        "RESOLVED" => json!({"id": id, "to_state": state, "resolved_by": answer_to(world, id)}),
        _ => json!({"id": id, "to_state": state, "reason": "r"}),
    };
    world.ok("transition", args);
}

#[track_caller]
fn update(world: &World, id: &str, change: Value) -> Value {
    world.ok("update_record", with(json!({ "id": id }), change))
}

/// A tree with something of every kind; its top, the record in the middle, and what is below that.
fn tree(world: &World) -> (String, String, [String; 4]) {
    let top = root(world, "Top");
    let middle = child(world, &top, "Middle");
    let below = ["open", "later", "resolved", "discarded"].map(|name| child(world, &middle, name));
    for (id, state) in below.iter().zip(["", "LATER", "RESOLVED", "DISCARDED"]) {
        if !state.is_empty() {
            go(world, id, state);
        }
        let under = child(world, id, "A grandchild");
        child(world, &under, "Too deep to be shown");
    }
    (top, middle, below)
}

#[on_both]
fn a_record_comes_with_what_the_rules_of_loading_say(world: World) {
    let (top, middle, below) = tree(&world);
    child(&world, &top, "A sibling, not shown");
    world.ok("close_session", json!({}));
    let answer = activate(&world, &middle);
    let context = &answer["context"];
    assert_eq!(
        (&answer["session_id"], &answer["already_loaded"]),
        (&json!("sess_ada"), &json!(false))
    );
    assert_eq!(
        (&context["target"], &context["parent"]),
        (&record(&world, &middle), &record(&world, &top)),
        "both whole"
    );
    assert_eq!(
        context["children"]["open"],
        json!([record(&world, &below[0])]),
        "whole"
    );
    let other: Vec<Value> = below[1..].iter().map(|id| reference(&world, id)).collect();
    assert_eq!(
        context["children"]["other"],
        json!(other),
        "only references"
    );
    let grand = context["grandchildren"].as_array().unwrap();
    assert_eq!(grand.len(), 4, "of every child, open or not");
    for one in grand {
        assert_eq!(
            (one, &one["title"], &one["children_count"]),
            (
                &reference(&world, one["id"].as_str().unwrap()),
                &json!("A grandchild"),
                &json!(1)
            )
        );
    }
    for absent in ["conflict", "changed", "truncated"] {
        assert!(answer.get(absent).is_none(), "{absent}");
    }
    assert!(context.get("warnings").is_none() && context.get("truncated").is_none());
    world.assert_sound();
}

#[on_both]
fn a_lonely_record_has_empty_lists(world: World) {
    let id = root(&world, "A");
    let context = activate(&world, &id)["context"].clone();
    assert_eq!(
        context,
        json!({"target": record(&world, &id), "parent": null, "children": {"open": [], "other": []}, "grandchildren": []})
    );
}

#[on_both]
fn it_starts_a_session_holds_the_record_and_is_logged(world: World) {
    let id = root(&world, "A");
    let (known, ticks) = (told(&world).len(), tick(&world));
    let answer = by(
        &world,
        "bob",
        "activate",
        json!({"id": id, "override": true}),
    );
    assert_eq!(answer["session_id"], "sess_bob");
    assert_eq!(
        told_since(&world, known),
        [
            "session_started",
            "activation",
            "conflict_detected",
            "conflict_resolved"
        ]
    );
    let one = activity(&world, json!({"types": ["activation"]})).remove(0);
    assert_eq!(
        (&one["record_id"], &one["session_id"]),
        (&json!(id), &json!("sess_bob"))
    );
    assert_eq!(
        (
            tick(&world),
            session(&world, "sess_bob")["active_records"].clone()
        ),
        (ticks, json!([id])),
        "no tick"
    );
    assert_eq!(holders(&world, &id), ["sess_ada", "sess_bob"]);
}

#[on_both]
fn looking_again_says_that_it_was_loaded(world: World) {
    let id = root(&world, "A");
    assert_eq!(
        activate(&world, &id)["already_loaded"],
        true,
        "what it made is loaded"
    );
    assert_eq!(
        by(&world, "bob", "activate", json!({"id": id}))["already_loaded"],
        false
    );
    let again = by(&world, "bob", "activate", json!({"id": id}));
    assert_eq!(again["already_loaded"], true);
    assert!(again.get("changed").is_none(), "nothing changed");
    let other = world.another();
    assert_eq!(
        World::call_on(&other, &World::caller("bob"), "activate", json!({"id": id})).unwrap()["already_loaded"],
        true,
        "after a restart too"
    );
    by(&world, "bob", "close_session", json!({}));
    assert_eq!(
        by(&world, "bob", "activate", json!({"id": id}))["already_loaded"],
        false,
        "starts fresh"
    );
    assert_eq!(
        session(&world, "sess_bob")["active_records"],
        json!([id]),
        "once, however often"
    );
}

#[on_both]
fn a_record_in_another_session_is_flagged_and_still_loaded(world: World) {
    let id = root(&world, "A");
    let known = told(&world).len();
    let answer = by(&world, "bob", "activate", json!({"id": id}));
    assert_eq!(answer["context"]["target"], record(&world, &id));
    assert_eq!(answer["conflict"]["session_id"], "sess_ada");
    assert!(answer["conflict"]["last_activity"].is_string());
    let message = answer["conflict"]["message"].as_str().unwrap();
    assert!(
        message.contains("sess_ada") && message.contains("override"),
        "{message}"
    );
    assert_eq!(warned(&answer), ["conflict"]);
    assert_eq!(
        told_since(&world, known),
        ["session_started", "activation", "conflict_detected"]
    );
    let one = activity(&world, json!({"types": ["conflict_detected"]})).remove(0);
    assert_eq!(
        (
            &one["record_id"],
            &one["session_id"],
            &one["details"]["sessions"]
        ),
        (&json!(id), &json!("sess_bob"), &json!(["sess_ada"]))
    );
    by(
        &world,
        "bob",
        "update_record",
        json!({"id": id, "title": "warned, not prevented"}),
    );
    let answer = by(&world, "eve", "activate", json!({"id": id}));
    assert_eq!(
        answer["conflict"]["session_id"], "sess_bob",
        "the one that was active last"
    );
    assert_eq!(
        answer["context"]["warnings"][0]["details"]["sessions"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
    world.assert_sound();
}

#[on_both]
fn an_override_goes_on_without_the_flag_and_is_logged(world: World) {
    let id = root(&world, "A");
    by(&world, "bob", "activate", json!({"id": id}));
    let known = told(&world).len();
    let answer = by(
        &world,
        "bob",
        "activate",
        json!({"id": id, "override": true}),
    );
    assert!(answer.get("conflict").is_none(), "{answer}");
    assert_eq!(
        told_since(&world, known),
        ["activation", "conflict_detected", "conflict_resolved"]
    );
    assert_eq!(
        warned(&answer),
        Vec::<String>::new(),
        "nothing is asked that was answered"
    );
    let known = told(&world).len();
    let again = by(
        &world,
        "bob",
        "activate",
        json!({"id": id, "override": false}),
    );
    assert_eq!(
        (again.get("conflict"), warned(&again)),
        (None, vec![]),
        "an override is remembered"
    );
    assert_eq!(told_since(&world, known), ["activation"]);
    by(
        &world,
        "eve",
        "activate",
        json!({"id": id, "override": true}),
    );
    assert_eq!(
        by(&world, "bob", "activate", json!({"id": id}))["conflict"]["agent"],
        "eve",
        "of those who were there"
    );
    by(&world, "bob", "close_session", json!({}));
    assert!(
        by(&world, "bob", "activate", json!({"id": id}))
            .get("conflict")
            .is_some(),
        "a fresh session decides anew"
    );
    let alone = root(&world, "B");
    let known = told(&world).len();
    world.ok("activate", json!({"id": alone, "override": true}));
    assert_eq!(
        told_since(&world, known),
        ["activation"],
        "where nobody else is there is nothing to override"
    );
}

#[on_both]
fn only_open_sessions_that_hold_this_very_record_conflict(world: World) {
    let id = root(&world, "A");
    let below = child(&world, &id, "B");
    activate(&world, &below);
    assert!(
        by(&world, "bob", "activate", json!({"id": below}))
            .get("conflict")
            .is_some()
    );
    world.ok("close_session", json!({}));
    assert!(
        by(&world, "bob", "activate", json!({"id": below}))
            .get("conflict")
            .is_none(),
        "ada closed"
    );
    assert!(
        activate(&world, &id).get("conflict").is_none(),
        "bob only saw it as a parent"
    );
    assert!(
        activate(&world, &id).get("conflict").is_none(),
        "never with itself"
    );
    let two = world.another();
    assert!(
        World::call_on(&two, &world.caller, "activate", json!({"id": id}))
            .unwrap()
            .get("conflict")
            .is_none(),
        "nor through another engine"
    );
}

#[on_both]
fn what_another_changed_is_shown_as_a_diff_on_the_next_look(world: World) {
    let id = root(&world, "A");
    by(&world, "bob", "activate", json!({"id": id}));
    update(
        &world,
        &id,
        json!({"body": "line one\nline two", "title": "New"}),
    );
    update(&world, &id, json!({"body": "line one\nline 2"}));
    go(&world, &id, "LATER");
    let answer = by(&world, "bob", "activate", json!({"id": id}));
    assert_eq!(answer["already_loaded"], true);
    let changed = &answer["changed"];
    assert_eq!(
        (&changed["from_version"], &changed["to_version"]),
        (&json!(1), &json!(4))
    );
    assert_eq!(
        (&changed["diff"]["title"], &changed["diff"]["state"]),
        (
            &json!({"old": "A", "new": "New"}),
            &json!({"old": "OPEN", "new": "LATER"})
        )
    );
    let body = changed["diff"]["body"].as_str().unwrap();
    assert!(
        body.contains("-All of A.")
            && body.contains("+line one")
            && body.contains("+line 2")
            && !body.contains("line two"),
        "{body}"
    );
    assert!(
        changed["diff"].get("summary").is_none(),
        "only what differs"
    );
    assert_eq!(
        answer["context"]["target"],
        record(&world, &id),
        "with the newest content"
    );
    assert!(
        by(&world, "bob", "activate", json!({"id": id}))
            .get("changed")
            .is_none(),
        "told once"
    );
    world.assert_sound();
}

#[on_both]
fn its_own_changes_and_those_it_synced_are_no_news(world: World) {
    let id = root(&world, "A");
    update(&world, &id, json!({"title": "B"}));
    assert!(activate(&world, &id).get("changed").is_none());
    by(&world, "bob", "activate", json!({"id": id}));
    update(&world, &id, json!({"title": "C"}));
    by(&world, "bob", "sync_session", json!({}));
    assert!(
        by(&world, "bob", "activate", json!({"id": id}))
            .get("changed")
            .is_none(),
        "synced"
    );
    update(&world, &id, json!({"title": "D"}));
    let other = created(&by(
        &world,
        "bob",
        "create_record",
        fresh(Value::Null, "Elsewhere"),
    ));
    by(&world, "bob", "activate", json!({"id": other}));
    assert!(
        by(&world, "bob", "activate", json!({"id": id}))
            .get("changed")
            .is_some(),
        "writing elsewhere is not seeing"
    );
    update(&world, &id, json!({"title": "E"}));
    by(&world, "bob", "close_session", json!({}));
    assert!(
        by(&world, "bob", "activate", json!({"id": id}))
            .get("changed")
            .is_none(),
        "a fresh session saw nothing before"
    );
}

#[on_both]
fn a_discarded_parent_is_warned_of(world: World) {
    let top = root(&world, "Top");
    let id = child(&world, &top, "A");
    for (state, expected) in [
        ("DISCARDED", vec!["orphan"]),
        ("OPEN", vec![]),
        ("LATER", vec![]),
        ("OPEN", vec![]),
        ("RESOLVED", vec![]),
    ] {
        go(&world, &top, state);
        let answer = activate(&world, &id);
        assert_eq!(warned(&answer), expected, "{state}");
        if state == "DISCARDED" {
            assert_eq!(
                answer["context"]["warnings"][0]["details"],
                json!({"parent_id": top})
            );
        }
    }
    assert_eq!(warned(&activate(&world, &top)), Vec::<String>::new());
}

#[on_both]
fn beyond_twenty_missed_ticks_the_session_is_warned_of(world: World) {
    let (id, other) = (root(&world, "A"), root(&world, "B"));
    by(
        &world,
        "bob",
        "activate",
        json!({"id": id, "override": true}),
    );
    world.ok("close_session", json!({}));
    activate(&world, &other);
    for at in 0..20 {
        update(&world, &other, json!({"title": format!("T{at}")}));
    }
    assert_eq!(
        warned(&by(&world, "bob", "activate", json!({"id": id}))),
        Vec::<String>::new(),
        "20 are close"
    );
    update(&world, &other, json!({"title": "T"}));
    let answer = by(&world, "bob", "activate", json!({"id": id}));
    assert_eq!(warned(&answer), ["stale"], "21 are many");
    assert_eq!(answer["context"]["warnings"][0]["details"]["tick_gap"], 21);
    assert_eq!(
        warned(&by(&world, "bob", "activate", json!({"id": id}))),
        ["stale"],
        "looking at one record is no sync"
    );
    by(&world, "bob", "sync_session", json!({}));
    assert_eq!(
        warned(&by(&world, "bob", "activate", json!({"id": id}))),
        Vec::<String>::new()
    );
    let strict = stale_after(&world, 0);
    update(&world, &other, json!({"title": "The last"}));
    let answer = World::call_on(
        &strict,
        &World::caller("bob"),
        "activate",
        json!({"id": id}),
    )
    .unwrap();
    assert_eq!(warned(&answer), ["stale"], "as configured");
}

#[on_both]
fn all_warnings_come_together(world: World) {
    let top = root(&world, "Top");
    let id = child(&world, &top, "A");
    activate(&world, &id);
    by(&world, "bob", "activate", json!({"id": id}));
    go(&world, &top, "DISCARDED");
    for at in 0..20 {
        update(&world, &top, json!({"title": format!("T{at}")}));
    }
    let mut types = warned(&by(&world, "bob", "activate", json!({"id": id})));
    types.sort();
    assert_eq!(types, ["conflict", "orphan", "stale"]);
    assert_eq!(
        warned(&by(
            &world,
            "bob",
            "activate",
            json!({"id": id, "override": true})
        ))
        .len(),
        2,
        "what was answered is not asked again; the rest is still true"
    );
}

#[on_both]
fn a_record_of_another_project_is_activated_there(world: World) {
    world.ok("create_project", json!({"id": "p", "name": "P"}));
    let there = created(&world.ok(
        "create_record",
        with(fresh(Value::Null, "A"), json!({"project_id": "p"})),
    ));
    let answer = by(&world, "bob", "activate", json!({"id": there}));
    assert_eq!(answer["context"]["target"]["id"], there);
    let overview = world.ok("get_project_overview", json!({"project_id": "p"}));
    assert_eq!(
        overview["open_sessions"].as_array().unwrap().len(),
        2,
        "the session works in that project"
    );
    assert_eq!(
        session(&world, "sess_bob"),
        Value::Null,
        "and not in the default one"
    );
    by(
        &world,
        "bob",
        "update_record",
        json!({"id": there, "title": "T"}),
    );
    assert_eq!((tick_of(&world, "p"), tick(&world)), (2, 0));
    let elsewhere = Caller {
        workspace: "elsewhere".into(),
        ..World::caller("bob")
    };
    assert_eq!(
        world
            .call_as(&elsewhere, "activate", json!({"id": there}))
            .unwrap_err()
            .code,
        Code::RecordNotFound
    );
    world.assert_sound();
}

#[on_both]
fn no_answer_is_longer_than_its_budget(world: World) {
    let (_, middle, _) = tree(&world);
    for at in 0..10 {
        let id = child(&world, &middle, &format!("Child {at}"));
        update(&world, &id, json!({"body": "漢\n\u{1}".repeat(200)}));
    }
    by(&world, "bob", "activate", json!({"id": middle}));
    update(&world, &middle, json!({"body": "changed ".repeat(300)}));
    let whole = by(
        &world,
        "bob",
        "activate",
        json!({"id": middle, "max_chars": ALL}),
    );
    assert!(whole.get("truncated").is_none() && whole.get("changed").is_some());
    let mut kept = usize::MAX;
    for budget in [
        chars(&whole) - 4_000,
        12_000,
        9_000,
        7_000,
        5_000,
        3_000,
        1_500,
        800,
        300,
        100,
        60,
        18,
        5,
        0,
    ] {
        update(&world, &middle, json!({"title": "Middle", "force": true}));
        let cut = by(
            &world,
            "bob",
            "activate",
            json!({"id": middle, "max_chars": budget}),
        );
        assert!(chars(&cut) <= budget.max(18), "{budget}: {}", chars(&cut));
        assert_eq!(cut["truncated"], true, "{budget}: what was dropped is told");
        assert!(
            cut.get("changed").is_none_or(Value::is_object),
            "{budget}: {}",
            cut["changed"]
        );
        let open = cut["context"]["children"]["open"]
            .as_array()
            .map_or(0, Vec::len);
        assert!(open <= kept, "{budget}");
        kept = open;
        if open < 11 {
            assert!(
                cut["context"]["grandchildren"]
                    .as_array()
                    .is_none_or(Vec::is_empty),
                "the farthest goes first"
            );
        }
    }
    assert_eq!(
        by(
            &world,
            "bob",
            "activate",
            json!({"id": middle, "max_chars": -5})
        ),
        json!({"truncated": true})
    );
    assert_eq!(
        world.ok("activate", json!({"id": middle, "max_chars": 0})),
        json!({"truncated": true}),
        "and it is active all the same"
    );
    update(&world, &middle, json!({"title": "T"}));
}

#[on_both]
fn a_small_budget_leaves_fields_out_and_invents_none(world: World) {
    let id = root(&world, "A");
    update(&world, &id, json!({"body": "x".repeat(5_000)}));
    let cut = by(
        &world,
        "bob",
        "activate",
        json!({"id": id, "override": true, "max_chars": 2_000}),
    );
    assert!(
        cut.get("changed").is_none(),
        "nothing changed, so nothing is said of it: {cut}"
    );
    assert_eq!(
        (
            &cut["context"]["target"]["body_chars"],
            &cut["context"]["parent"]
        ),
        (&json!(5_000), &Value::Null)
    );
    assert!(cut["context"]["target"].get("body").is_none() && cut["truncated"] == true);
}

#[on_both]
fn without_a_budget_a_hundred_thousand_characters_are_enough(world: World) {
    let id = root(&world, "A");
    update(&world, &id, json!({"body": "x".repeat(1 << 20)}));
    let cut = activate(&world, &id);
    assert!(chars(&cut) <= 100_000 && cut["truncated"] == true);
    let whole = world.ok("activate", json!({"id": id, "max_chars": ALL}));
    assert_eq!(
        whole["context"]["target"]["body"].as_str().unwrap().len(),
        1 << 20
    );
}

#[on_both]
fn many_children_are_cut_and_it_is_told(world: World) {
    let top = root(&world, "Top");
    for at in 0..210 {
        child(&world, &top, &at.to_string());
    }
    let answer = world.ok("activate", json!({"id": top, "max_chars": ALL}));
    let open = ids(&answer["context"]["children"]["open"]);
    assert!(
        open.len() == 210 || answer["truncated"] == true,
        "{}",
        open.len()
    );
    assert!(open.len() >= 200 && open.is_sorted());
}

#[on_both]
fn missing_records_and_wrong_arguments_are_named(world: World) {
    assert_eq!(
        world.refused("activate", json!({"id": "R001"})).code,
        Code::RecordNotFound
    );
    assert_eq!(world.head(), 0);
    root(&world, "A");
    for near in ["R002", "r001", "R01"] {
        let fault = refuse(
            &world,
            "activate",
            json!({"id": near}),
            Code::RecordNotFound,
        );
        assert_eq!(
            (fault.code.status(), &fault.details.unwrap()["nearest"]),
            (404, &json!(["R001"])),
            "{near}"
        );
    }
    world.plan(&["A node"]);
    for missing in NASTY
        .iter()
        .chain(&["", "TASK-001", "PLAN-001", "project:default"])
    {
        refuse(
            &world,
            "activate",
            json!({"id": missing, "session_id": "chat-7"}),
            Code::RecordNotFound,
        );
    }
    assert_eq!(
        session(&world, "chat-7"),
        Value::Null,
        "a refused call starts no session"
    );
    for (field, wrong) in [
        ("id", json!(1)),
        ("override", json!("yes")),
        ("session_id", json!("")),
        ("session_id", json!(1)),
        ("max_chars", json!("9")),
        ("max_chars", json!(1.5)),
        ("force", json!(true)),
        ("project_id", json!("p")),
    ] {
        refuse_field(
            &world,
            "activate",
            with(json!({"id": "R001"}), json!({ field: wrong })),
            field,
        );
    }
    refuse(&world, "activate", json!({}), Code::Validation);
}

#[on_both]
fn the_same_key_activates_once(mut world: World) {
    let id = root(&world, "A");
    let args = json!({"id": id, "idempotency_key": "k"});
    let first = by(&world, "bob", "activate", args.clone());
    let head = world.head();
    assert_eq!(
        by(&world, "bob", "activate", args),
        first,
        "already_loaded is answered as it was"
    );
    assert_eq!(world.head(), head);
    assert_eq!(
        refused_by(
            &world,
            "bob",
            "activate",
            json!({"id": id, "override": true, "idempotency_key": "k"})
        )
        .code,
        Code::IdempotencyConflict
    );
    world.caller = auditor();
    refuse(&world, "activate", json!({"id": id}), Code::Forbidden);
}
