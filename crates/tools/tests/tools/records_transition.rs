//! `transition`: which state leads to which, what it asks for, and what it does to others.

use crate::common::NASTY;
use crate::records_common::*;
use serde_json::{Value, json};
use understory_model::{Code, Fault};
use understory_testkit::{World, on_both};

const STATES: [&str; 4] = ["OPEN", "LATER", "RESOLVED", "DISCARDED"];

/// The moves of the contract.
const ALLOWED: [(&str, &str); 7] = [
    ("OPEN", "LATER"),
    ("OPEN", "RESOLVED"),
    ("OPEN", "DISCARDED"),
    ("LATER", "OPEN"),
    ("LATER", "DISCARDED"),
    ("RESOLVED", "OPEN"),
    ("DISCARDED", "OPEN"),
];

/// A move with what its state asks for.
fn to(id: &str, state: &str, by: &str) -> Value {
    match state {
        "OPEN" => json!({"id": id, "to_state": state}),
        "RESOLVED" => json!({"id": id, "to_state": state, "resolved_by": by}),
        _ => json!({"id": id, "to_state": state, "reason": "for now"}),
    }
}

#[track_caller]
fn go(world: &World, id: &str, state: &str, by: &str) -> Value {
    world.ok("transition", to(id, state, by))
}

#[track_caller]
fn refuse_move(world: &World, args: Value, field: &str) -> Fault {
    refuse_field(world, "transition", args, field)
}

/// A move that meets another session's: it changes nothing, and one item says that it was tried.
#[track_caller]
fn contested(world: &World, agent: &str, args: Value) -> Fault {
    let (head, ticks) = (world.head(), tick(world));
    let fault = world
        .call_as(&World::caller(agent), "transition", args)
        .expect_err("a conflict");
    assert_eq!((world.head(), tick(world)), (head + 1, ticks), "{fault}");
    fault
}

#[on_both]
fn every_move_is_allowed_or_refused_as_the_contract_says(world: World) {
    let by = root(&world, "The answer");
    for from in STATES {
        for next in STATES {
            let id = root(&world, "Moves");
            if from != "OPEN" {
                go(&world, &id, from, &by);
            }
            if ALLOWED.contains(&(from, next)) {
                let (ticks, head) = (tick(&world), world.head());
                let answer = go(&world, &id, next, &by);
                assert_eq!(
                    (&answer["record"]["state"], &answer["record"]),
                    (&json!(next), &record(&world, &id)),
                    "{from} to {next}"
                );
                assert_eq!((tick(&world), world.head()), (ticks + 1, head + 1));
            } else {
                let fault = refuse(
                    &world,
                    "transition",
                    to(&id, next, &by),
                    Code::InvalidTransition,
                );
                let details = fault.details.unwrap();
                assert_eq!(
                    (&details["from"], &details["to"]),
                    (&json!(from), &json!(next))
                );
                for allowed in details["allowed"].as_array().unwrap() {
                    assert!(
                        ALLOWED.contains(&(from, allowed.as_str().unwrap())),
                        "{from}: {allowed}"
                    );
                    assert!(
                        fault
                            .hint
                            .as_ref()
                            .unwrap()
                            .contains(allowed.as_str().unwrap())
                    );
                }
                assert_eq!(record(&world, &id)["state"], from);
            }
        }
    }
    world.assert_sound();
}

#[on_both]
fn a_state_asks_for_its_reason_or_its_answer(world: World) {
    let id = root(&world, "A");
    for state in ["LATER", "DISCARDED"] {
        for reason in [Value::Null, json!(""), json!("  \n")] {
            refuse_move(
                &world,
                json!({"id": id, "to_state": state, "reason": reason}),
                "reason",
            );
        }
        refuse_move(&world, json!({"id": id, "to_state": state}), "reason");
        refuse_move(
            &world,
            json!({"id": id, "to_state": state, "reason": "r", "resolved_by": id}),
            "resolved_by",
        );
    }
    refuse_move(
        &world,
        json!({"id": id, "to_state": "RESOLVED"}),
        "resolved_by",
    );
    refuse_move(
        &world,
        json!({"id": id, "to_state": "RESOLVED", "resolved_by": "", "reason": "r"}),
        "resolved_by",
    );
    refuse_move(
        &world,
        json!({"id": id, "to_state": "LATER", "reason": "x".repeat(100_001)}),
        "reason",
    );
    refuse_move(
        &world,
        json!({"id": id, "to_state": "LATER", "reason": "a\0"}),
        "reason",
    );
    assert_eq!(record(&world, &id)["state"], "OPEN");
    world.ok(
        "transition",
        json!({"id": id, "to_state": "LATER", "reason": "x".repeat(100_000)}),
    );
    world.ok(
        "transition",
        json!({"id": id, "to_state": "OPEN", "reason": "a reason to reopen is welcome"}),
    );
}

#[on_both]
fn resolved_by_must_exist(world: World) {
    let id = root(&world, "A");
    for missing in ["R002", "r001", "R01"] {
        let fault = refuse(
            &world,
            "transition",
            to(&id, "RESOLVED", missing),
            Code::RecordNotFound,
        );
        assert_eq!(fault.details.unwrap()["nearest"], json!([id]), "{missing}");
    }
    world.plan(&["A node"]);
    for missing in ["TASK-001", "project:default", "nowhere"] {
        refuse(
            &world,
            "transition",
            to(&id, "RESOLVED", missing),
            Code::RecordNotFound,
        );
    }
    assert!(record(&world, &id).get("resolved_by").is_none());
}

#[on_both]
fn reopening_clears_what_resolved_it_and_the_next_answer_replaces_it(world: World) {
    let (id, one, two) = (root(&world, "Q"), root(&world, "One"), root(&world, "Two"));
    for by in [&one, &two, &two, &one] {
        let answer = go(&world, &id, "RESOLVED", by);
        assert_eq!(
            (
                &answer["record"]["resolved_by"],
                &record(&world, &id)["resolved_by"]
            ),
            (&json!(by), &json!(by))
        );
        refuse(
            &world,
            "transition",
            to(&id, "RESOLVED", &two),
            Code::InvalidTransition,
        );
        assert!(
            go(&world, &id, "OPEN", "")["record"]
                .get("resolved_by")
                .is_none()
        );
        assert!(record(&world, &id).get("resolved_by").is_none());
    }
    go(&world, &id, "RESOLVED", &one);
    go(&world, &two, "RESOLVED", &one);
    assert_eq!(
        [
            &record(&world, &id)["resolved_by"],
            &record(&world, &two)["resolved_by"]
        ],
        [&one, &one],
        "one answer settles many"
    );
    world.ok("update_record", json!({"id": id, "title": "T"}));
    assert_eq!(
        record(&world, &id)["resolved_by"],
        one,
        "an update keeps it"
    );
    world.assert_sound();
}

#[on_both]
fn an_answer_is_another_record_of_the_project_that_still_counts(world: World) {
    let (id, gone) = (root(&world, "Q"), root(&world, "Gone"));
    world.ok("create_project", json!({"id": "p", "name": "P"}));
    let there = created(&world.ok(
        "create_record",
        with(fresh(Value::Null, "A"), json!({"project_id": "p"})),
    ));
    go(&world, &gone, "DISCARDED", "");
    for (wrong, why) in [
        (&id, "itself"),
        (&there, "another project"),
        (&gone, "discarded"),
    ] {
        let fault = refuse_move(&world, to(&id, "RESOLVED", wrong), "resolved_by");
        assert!(
            fault.message.contains(wrong.as_str()) && fault.message.contains(why),
            "{fault}"
        );
    }
    go(&world, &gone, "OPEN", "");
    assert_eq!(
        go(&world, &id, "RESOLVED", &gone)["record"]["resolved_by"],
        gone
    );
    world.assert_sound();
}

#[on_both]
fn it_must_be_active_in_this_very_session(world: World) {
    let id = root(&world, "A");
    let fault = refused_by(&world, "bob", "transition", to(&id, "LATER", ""));
    assert_eq!(
        (fault.code, fault.details.unwrap()),
        (
            Code::NotActivated,
            json!({"id": id, "session_id": "sess_bob"})
        )
    );
    world.ok("close_session", json!({}));
    refuse(
        &world,
        "transition",
        to(&id, "LATER", ""),
        Code::NotActivated,
    );
    by(&world, "bob", "activate", json!({"id": id}));
    by(&world, "bob", "transition", to(&id, "LATER", ""));
    refuse(
        &world,
        "transition",
        with(to(&id, "OPEN", ""), json!({"session_id": "chat-7"})),
        Code::NotActivated,
    );
    refuse(
        &world,
        "transition",
        with(to(&id, "OPEN", ""), json!({"session_id": "sess_bob"})),
        Code::ClaimMismatch,
    );
    world.ok("activate", json!({"id": id, "session_id": "chat-7"}));
    world.ok(
        "transition",
        with(to(&id, "OPEN", ""), json!({"session_id": "chat-7"})),
    );
    assert_eq!(
        activity(&world, json!({"types": ["state_transition"]}))[0]["session_id"],
        "chat-7"
    );
}

#[on_both]
fn another_sessions_change_of_state_is_a_conflict(world: World) {
    let (id, answer) = (root(&world, "A"), root(&world, "B"));
    by(&world, "bob", "activate", json!({"id": id}));
    go(&world, &id, "LATER", "");
    let fault = contested(&world, "bob", to(&id, "DISCARDED", ""));
    assert_eq!((fault.code, fault.code.status()), (Code::Conflict, 409));
    assert_eq!(fault.details.unwrap()["current"], record(&world, &id));
    assert!(fault.message.contains("sess_ada") && fault.hint.unwrap().contains("sync_session"));
    go(&world, &id, "OPEN", "");
    assert_eq!(
        contested(&world, "bob", to(&id, "RESOLVED", &answer)).code,
        Code::Conflict,
        "there and back is a change"
    );
    by(&world, "bob", "sync_session", json!({}));
    by(&world, "bob", "transition", to(&id, "RESOLVED", &answer));
    assert_eq!(
        contested(&world, "ada", to(&id, "OPEN", "")).code,
        Code::Conflict
    );
    activate(&world, &id);
    go(&world, &id, "OPEN", "");
    world.assert_sound();
}

#[on_both]
fn a_refused_change_of_state_is_in_the_log(world: World) {
    let id = root(&world, "A");
    by(
        &world,
        "bob",
        "activate",
        json!({"id": id, "override": true}),
    );
    go(&world, &id, "LATER", "");
    let (known, ticks) = (told(&world).len(), tick(&world));
    let args = with(to(&id, "DISCARDED", ""), json!({"idempotency_key": "k"}));
    let first = world
        .call_as(&World::caller("bob"), "transition", args.clone())
        .unwrap_err();
    assert_eq!(first.code, Code::Conflict);
    assert_eq!(
        (told_since(&world, known), tick(&world)),
        (vec!["conflict_detected".to_string()], ticks)
    );
    assert_eq!(
        world
            .call_as(&World::caller("bob"), "transition", args)
            .unwrap_err(),
        first,
        "a retry is answered alike, and logs nothing"
    );
    assert_eq!(told_since(&world, known).len(), 1);
    let history = world.ok("get_record_history", json!({"id": id}));
    let entry = &history["history"][0];
    assert_eq!(
        (&entry["change_type"], &entry["session_id"]),
        (&json!("conflict_detected"), &json!("sess_bob"))
    );
    assert!(
        entry["summary"].as_str().unwrap().contains("DISCARDED"),
        "{entry}"
    );
    world.assert_sound();
}

#[on_both]
fn the_reason_stays_with_the_state(world: World) {
    let (id, top) = (root(&world, "A"), root(&world, "Top"));
    let below = child(&world, &top, "Below");
    for state in ["LATER", "DISCARDED"] {
        let why = format!("why it is {state}");
        for id in [&id, &below] {
            world.ok(
                "transition",
                json!({"id": id, "to_state": state, "reason": why}),
            );
        }
        assert_eq!(
            (
                &record(&world, &id)["reason"],
                &reference(&world, &id)["reason"]
            ),
            (&json!(why), &json!(why))
        );
        let context = activate(&world, &top)["context"].clone();
        assert_eq!(context["children"]["other"][0]["reason"], why);
        world.ok(
            "update_record",
            json!({"id": id, "title": format!("T {state}")}),
        );
        assert_eq!(
            activate(&world, &id)["context"]["target"]["reason"],
            why,
            "an update keeps it"
        );
        for id in [&id, &below] {
            world.ok("transition", json!({"id": id, "to_state": "OPEN"}));
        }
        assert!(
            record(&world, &id).get("reason").is_none()
                && reference(&world, &id).get("reason").is_none(),
            "it was the old state's"
        );
    }
    world.ok(
        "transition",
        json!({"id": id, "to_state": "LATER", "reason": "long ".repeat(1_000)}),
    );
    assert!(
        reference(&world, &id)["reason"]
            .as_str()
            .unwrap()
            .chars()
            .count()
            <= 200
    );
    world.assert_sound();
}

#[on_both]
fn warnings_count_like_people(world: World) {
    let top = root(&world, "Top");
    child(&world, &top, "One");
    let said = |answer: &Value| {
        answer["cascade_warning"]["message"]
            .as_str()
            .unwrap()
            .to_string()
    };
    assert!(said(&go(&world, &top, "LATER", "")).contains("1 open child record;"));
    go(&world, &top, "OPEN", "");
    child(&world, &top, "Two");
    assert!(said(&go(&world, &top, "LATER", "")).contains("2 open child records;"));
    assert!(
        world.ok("close_session", json!({}))["unsaved_warning"]
            .as_str()
            .unwrap()
            .starts_with("3 records changed")
    );
}

#[on_both]
fn another_sessions_change_of_text_is_none(world: World) {
    let id = root(&world, "A");
    by(&world, "bob", "activate", json!({"id": id}));
    world.ok("update_record", json!({"id": id, "body": "newer"}));
    let answer = by(&world, "bob", "transition", to(&id, "LATER", ""));
    assert_eq!(
        (&answer["record"]["body"], &answer["record"]["state"]),
        (&json!("newer"), &json!("LATER")),
        "nothing is lost"
    );
}

#[on_both]
fn moves_of_one_session_in_a_row_never_conflict(world: World) {
    let id = root(&world, "A");
    by(&world, "bob", "activate", json!({"id": id}));
    let other = world.another();
    for (at, state) in ["LATER", "OPEN", "DISCARDED", "OPEN"]
        .into_iter()
        .enumerate()
    {
        let engine = [&*world.engine, &other][at % 2];
        World::call_on(
            engine,
            &World::caller("bob"),
            "transition",
            to(&id, state, ""),
        )
        .unwrap();
    }
    assert_eq!(
        contested(&world, "ada", to(&id, "LATER", "")).code,
        Code::Conflict
    );
}

#[on_both]
fn open_children_are_warned_of_and_left_alone(world: World) {
    let top = root(&world, "Top");
    assert!(
        go(&world, &top, "LATER", "")
            .get("cascade_warning")
            .is_none(),
        "no children, no warning"
    );
    go(&world, &top, "OPEN", "");
    let (one, two, three) = (
        child(&world, &top, "One"),
        child(&world, &top, "Two"),
        child(&world, &top, "Three"),
    );
    let deep = child(&world, &one, "Deep");
    go(&world, &two, "LATER", "");
    for state in ["LATER", "DISCARDED"] {
        let answer = go(&world, &top, state, "");
        let warning = &answer["cascade_warning"];
        assert_eq!(
            warning["open_children"],
            json!([reference(&world, &one), reference(&world, &three)]),
            "{state}: not grandchildren, not what is not open"
        );
        assert!(
            warning["message"].as_str().unwrap().contains('2'),
            "{warning}"
        );
        assert!(
            go(&world, &top, "OPEN", "")
                .get("cascade_warning")
                .is_none(),
            "reopening affects no child"
        );
    }
    assert!(
        go(&world, &top, "RESOLVED", &one)
            .get("cascade_warning")
            .is_some()
    );
    for (id, state) in [
        (&one, "OPEN"),
        (&two, "LATER"),
        (&three, "OPEN"),
        (&deep, "OPEN"),
    ] {
        assert_eq!(record(&world, id)["state"], state, "nothing cascades");
    }
    go(&world, &one, "DISCARDED", "");
    go(&world, &three, "RESOLVED", &two);
    go(&world, &top, "OPEN", "");
    assert!(
        go(&world, &top, "DISCARDED", "")
            .get("cascade_warning")
            .is_none()
    );
    world.assert_sound();
}

#[on_both]
fn the_parent_counts_its_open_children(world: World) {
    let top = root(&world, "Top");
    let ids: Vec<String> = (0..3)
        .map(|at| child(&world, &top, &at.to_string()))
        .collect();
    let open = || {
        reference(&world, &top)["open_children_count"]
            .as_i64()
            .unwrap()
    };
    assert_eq!(open(), 3);
    for (id, state, left) in [
        (0, "LATER", 2),
        (0, "DISCARDED", 2),
        (0, "OPEN", 3),
        (1, "RESOLVED", 2),
        (2, "DISCARDED", 1),
        (1, "OPEN", 2),
        (2, "OPEN", 3),
    ] {
        go(&world, &ids[id], state, &ids[0]);
        assert_eq!(
            (open(), &reference(&world, &top)["children_count"]),
            (left, &json!(3)),
            "{id} {state}"
        );
    }
    world.assert_sound();
}

#[on_both]
fn the_log_says_from_where_to_where_and_why(world: World) {
    let (id, answer) = (root(&world, "A"), root(&world, "B"));
    for reason in NASTY {
        world.ok(
            "transition",
            json!({"id": id, "to_state": "LATER", "reason": reason}),
        );
        let told = activity(&world, json!({"types": ["state_transition"]})).remove(0);
        assert_eq!(
            (
                &told["record_id"],
                &told["details"]["reason"],
                &told["session_id"]
            ),
            (&json!(id), &json!(reason), &json!("sess_ada"))
        );
        let summary = told["summary"].as_str().unwrap();
        assert!(
            summary.contains("OPEN") && summary.contains("LATER"),
            "{summary}"
        );
        go(&world, &id, "OPEN", "");
    }
    let before = record(&world, &id)["modified"].clone();
    world.ok(
        "transition",
        json!({"id": id, "to_state": "RESOLVED", "resolved_by": answer, "reason": "it says so"}),
    );
    let told = activity(&world, json!({"types": ["state_transition"]})).remove(0);
    assert!(
        told["summary"].as_str().unwrap().contains(&answer)
            && told["details"]["reason"] == "it says so",
        "{told}"
    );
    assert!(record(&world, &id)["modified"].as_str() > before.as_str());
    world.assert_sound();
}

#[on_both]
fn wrong_arguments_are_named(world: World) {
    let id = root(&world, "A");
    for wrong in ["open", "", "CLOSED", "LATER ", "\0"] {
        let fault = refuse_move(
            &world,
            json!({"id": id, "to_state": wrong, "reason": "r"}),
            "to_state",
        );
        assert_eq!(fault.details.unwrap()["allowed"], json!(STATES), "{wrong}");
    }
    for (field, wrong) in [
        ("to_state", json!(1)),
        ("to_state", json!(null)),
        ("reason", json!({})),
        ("resolved_by", json!(["R001"])),
        ("state", json!("LATER")),
        ("force", json!(true)),
        ("session_id", json!(" ")),
        ("id", json!(1)),
    ] {
        refuse_move(
            &world,
            with(to(&id, "LATER", ""), json!({ field: wrong })),
            field,
        );
    }
    for missing in ["id", "to_state"] {
        let mut args = to(&id, "OPEN", "");
        args.as_object_mut().unwrap().remove(missing);
        assert!(
            refuse(&world, "transition", args, Code::Validation)
                .message
                .contains(missing)
        );
    }
    let fault = refuse(
        &world,
        "transition",
        to("R002", "LATER", ""),
        Code::RecordNotFound,
    );
    assert_eq!(fault.details.unwrap()["nearest"], json!([id]));
    refuse(
        &world,
        "transition",
        to("\0", "LATER", ""),
        Code::Validation,
    );
}

#[on_both]
fn the_same_key_moves_once(mut world: World) {
    let id = root(&world, "A");
    let args = with(to(&id, "LATER", ""), json!({"idempotency_key": "k"}));
    let first = world.ok("transition", args.clone());
    let head = world.head();
    assert_eq!(
        world.ok("transition", args.clone()),
        first,
        "not an INVALID_TRANSITION"
    );
    assert_eq!((world.head(), tick(&world)), (head, 2));
    go(&world, &id, "OPEN", "");
    assert_eq!(world.ok("transition", args), first);
    assert_eq!(record(&world, &id)["state"], "OPEN", "a retry does nothing");
    refuse(
        &world,
        "transition",
        with(to(&id, "DISCARDED", ""), json!({"idempotency_key": "k"})),
        Code::IdempotencyConflict,
    );
    world.caller = auditor();
    refuse(&world, "transition", to(&id, "LATER", ""), Code::Forbidden);
}
