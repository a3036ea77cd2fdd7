//! `update_record`: the next version of a record, and what happens when two sessions write it.

use crate::common;
use crate::common::NASTY;
use crate::records_common::*;
use serde_json::{Value, json};
use understory_model::Code;
use understory_testkit::{World, on_both};

const MIB: usize = 1 << 20;

#[track_caller]
fn update(world: &World, id: &str, change: Value) -> Value {
    world.ok("update_record", with(json!({ "id": id }), change))
}

#[track_caller]
fn update_by(world: &World, agent: &str, id: &str, change: Value) -> Value {
    by(
        world,
        agent,
        "update_record",
        with(json!({ "id": id }), change),
    )
}

/// A record of ada's that bob has active too.
#[track_caller]
fn shared(world: &World) -> String {
    let id = root(world, "Shared");
    by(world, "bob", "activate", json!({ "id": id }));
    id
}

#[on_both]
fn every_field_changes_alone(world: World) {
    let (a, b) = (root(&world, "A"), root(&world, "B"));
    let mut before = record(&world, &a);
    for change in [
        json!({"title": "T"}),
        json!({"summary": ""}),
        json!({"body": ""}),
        json!({"related": [b]}),
        json!({"metadata": {"k": [1]}}),
        json!({"title": "T2", "body": "B2"}),
    ] {
        let (ticks, head) = (tick(&world), world.head());
        let answer = update(&world, &a, change.clone());
        let mut expected = with(before.clone(), change);
        assert!(answer["record"]["modified"].as_str() > before["modified"].as_str());
        expected["modified"] = answer["record"]["modified"].clone();
        assert_eq!(answer, json!({ "record": expected }));
        assert_eq!(record(&world, &a), expected);
        assert_eq!(
            (tick(&world), world.head()),
            (ticks + 1, head + 1),
            "one tick, one item"
        );
        before = expected;
    }
    let answer = update(&world, &a, json!({"related": [], "metadata": {}}));
    assert!(answer["record"].get("related").is_none() && answer["record"]["metadata"] == json!({}));
    assert_eq!(reference(&world, &a)["title"], "T2");
    assert_eq!(
        activity(&world, json!({"types": ["record_updated"]})).len(),
        7
    );
    world.assert_sound();
}

#[on_both]
fn it_must_be_active_in_this_very_session(world: World) {
    let a = root(&world, "A");
    let fault = refused_by(
        &world,
        "bob",
        "update_record",
        json!({"id": a, "title": "B"}),
    );
    assert_eq!(fault.code, Code::NotActivated);
    assert_eq!(
        fault.details.unwrap(),
        json!({"id": a, "session_id": "sess_bob"})
    );
    assert!(fault.hint.unwrap().contains("activate"));
    assert_eq!(
        refused_by(
            &world,
            "bob",
            "update_record",
            json!({"id": a, "title": "B", "force": true})
        )
        .code,
        Code::NotActivated,
        "force is no activation"
    );
    by(&world, "bob", "activate", json!({"id": a}));
    update_by(&world, "bob", &a, json!({"title": "B"}));
    by(&world, "bob", "close_session", json!({}));
    assert_eq!(
        refused_by(
            &world,
            "bob",
            "update_record",
            json!({"id": a, "title": "C"})
        )
        .code,
        Code::NotActivated
    );
    assert_eq!(record(&world, &a)["title"], "B");
}

#[on_both]
fn being_shown_beside_another_is_not_being_active(world: World) {
    let a = root(&world, "A");
    let b = child(&world, &a, "B");
    by(&world, "bob", "activate", json!({"id": b}));
    assert_eq!(
        refused_by(
            &world,
            "bob",
            "update_record",
            json!({"id": a, "title": "T"})
        )
        .code,
        Code::NotActivated,
        "the parent"
    );
    by(&world, "eve", "activate", json!({"id": a}));
    assert_eq!(
        refused_by(
            &world,
            "eve",
            "update_record",
            json!({"id": b, "title": "T"})
        )
        .code,
        Code::NotActivated,
        "a child"
    );
}

#[on_both]
fn a_stale_update_changes_nothing_and_shows_both(world: World) {
    let id = shared(&world);
    update(&world, &id, json!({"body": "version A"}));
    let (current, ticks, known) = (record(&world, &id), tick(&world), told(&world).len());
    let answer = update_by(
        &world,
        "bob",
        &id,
        json!({"body": "version B", "title": "Bob's"}),
    );
    assert_eq!(
        (&answer["record"], &answer["conflict"]["other_version"]),
        (&current, &current)
    );
    let message = answer["conflict"]["message"].as_str().unwrap();
    assert!(
        message.contains("sess_ada") && message.contains("force"),
        "{message}"
    );
    assert_eq!((record(&world, &id), tick(&world)), (current, ticks));
    assert_eq!(told_since(&world, known), ["conflict_detected"]);
    let logged = activity(&world, json!({"types": ["conflict_detected"]})).remove(0);
    assert_eq!(
        (&logged["record_id"], &logged["session_id"]),
        (&json!(id), &json!("sess_bob"))
    );
    let history = world.ok("get_record_history", json!({"id": id}));
    assert!(
        history.to_string().contains("version B"),
        "what was proposed is not lost: {history}"
    );
    world.assert_sound();
}

#[on_both]
fn asking_again_does_not_wear_the_conflict_out(world: World) {
    let id = shared(&world);
    update(&world, &id, json!({"body": "A"}));
    for at in 1..=3 {
        assert!(
            update_by(&world, "bob", &id, json!({"body": "B"}))
                .get("conflict")
                .is_some()
        );
        assert_eq!(
            activity(&world, json!({"types": ["conflict_detected"]})).len(),
            at + 1,
            "with the one of bob's activation"
        );
    }
    assert_eq!(
        (record(&world, &id)["body"].clone(), tick(&world)),
        (json!("A"), 2)
    );
}

#[on_both]
fn force_writes_over_a_newer_version_and_says_so(world: World) {
    let id = shared(&world);
    update(&world, &id, json!({"body": "version A", "title": "Ada's"}));
    let known = told(&world).len();
    let answer = update_by(&world, "bob", &id, json!({"body": "merged", "force": true}));
    assert!(answer.get("conflict").is_none(), "{answer}");
    assert_eq!(
        (&answer["record"]["body"], &answer["record"]["title"]),
        (&json!("merged"), &json!("Ada's")),
        "what was not named stays"
    );
    assert_eq!(
        told_since(&world, known),
        ["record_updated", "conflict_resolved"]
    );
    assert_eq!(tick(&world), 3);
    update_by(&world, "bob", &id, json!({"body": "and on"}));
    assert!(
        update(&world, &id, json!({"body": "late"}))
            .get("conflict")
            .is_some(),
        "now ada is behind"
    );
    world.assert_sound();
}

#[on_both]
fn force_over_nothing_newer_resolves_nothing(world: World) {
    let id = root(&world, "A");
    update(&world, &id, json!({"title": "B", "force": true}));
    assert_eq!(
        told(&world),
        ["session_started", "record_created", "record_updated"]
    );
}

#[on_both]
fn two_updates_in_a_row_by_one_session_never_conflict(world: World) {
    let id = shared(&world);
    for at in 0..5 {
        assert!(
            update_by(&world, "bob", &id, json!({"body": format!("{at}")}))
                .get("conflict")
                .is_none()
        );
    }
    let other = world.another();
    for engine in [&other, &*world.engine, &other] {
        let answer = World::call_on(
            engine,
            &World::caller("bob"),
            "update_record",
            json!({"id": id, "title": "T"}),
        )
        .unwrap();
        assert!(
            answer.get("conflict").is_none(),
            "one session through two engines is one session"
        );
    }
    assert!(
        update(&world, &id, json!({"title": "A"}))
            .get("conflict")
            .is_some()
    );
}

#[on_both]
fn writes_to_other_records_are_no_conflict(world: World) {
    let id = shared(&world);
    let below = child(&world, &id, "Below");
    let beside = root(&world, "Beside");
    for other in [&below, &beside] {
        update(&world, other, json!({"title": "T", "related": [id]}));
    }
    world.ok("save_session", json!({}));
    assert!(
        update_by(&world, "bob", &id, json!({"title": "Mine"}))
            .get("conflict")
            .is_none()
    );
}

#[on_both]
fn a_change_of_state_is_a_newer_version_too(world: World) {
    let id = shared(&world);
    world.ok(
        "transition",
        json!({"id": id, "to_state": "LATER", "reason": "r"}),
    );
    let answer = update_by(&world, "bob", &id, json!({"body": "B"}));
    assert_eq!(answer["conflict"]["other_version"]["state"], "LATER");
}

#[on_both]
fn seeing_the_newer_version_settles_the_conflict(world: World) {
    let id = shared(&world);
    for see in [("activate", json!({"id": id})), ("sync_session", json!({}))] {
        update(&world, &id, json!({"body": "A", "force": true}));
        assert!(
            update_by(&world, "bob", &id, json!({"body": "B"}))
                .get("conflict")
                .is_some()
        );
        by(&world, "bob", see.0, see.1);
        assert!(
            update_by(&world, "bob", &id, json!({"body": "B"}))
                .get("conflict")
                .is_none(),
            "{}",
            see.0
        );
    }
    by(
        &world,
        "bob",
        "get_record_diff",
        json!({"id": id, "from": "2099-01-01T00:00:00Z"}),
    );
    update(&world, &id, json!({"body": "A", "force": true}));
    by(&world, "bob", "get_record_ref", json!({"id": id}));
    by(&world, "bob", "save_session", json!({}));
    assert!(
        update_by(&world, "bob", &id, json!({"body": "B"}))
            .get("conflict")
            .is_some(),
        "browsing and saving show nothing of it"
    );
    world.assert_sound();
}

#[on_both]
fn a_write_elsewhere_does_not_hide_a_conflict(world: World) {
    let (id, other) = (
        shared(&world),
        created(&by(
            &world,
            "bob",
            "create_record",
            fresh(Value::Null, "Bob's own"),
        )),
    );
    update(&world, &id, json!({"body": "A"}));
    update_by(&world, "bob", &other, json!({"body": "B"}));
    by(&world, "bob", "activate", json!({"id": other}));
    assert!(
        update_by(&world, "bob", &id, json!({"body": "B"}))
            .get("conflict")
            .is_some()
    );
}

#[on_both]
fn related_goes_one_way_each(world: World) {
    let (a, b, c) = (root(&world, "A"), root(&world, "B"), root(&world, "C"));
    let related = |id: &str| record(&world, id)["related"].clone();
    update(&world, &a, json!({"related": [b, c, b]}));
    update(&world, &b, json!({"related": [a]}));
    assert_eq!(
        [related(&a), related(&b), related(&c)],
        [json!([b, c]), json!([a]), Value::Null]
    );
    update(&world, &a, json!({"related": [c]}));
    assert_eq!(
        [related(&a), related(&b)],
        [json!([c]), json!([a])],
        "replaced, and the way back stays"
    );
    update(&world, &a, json!({"title": "T"}));
    assert_eq!(related(&a), json!([c]));
    let fault = refuse(
        &world,
        "update_record",
        json!({"id": a, "related": [b, "R009"]}),
        Code::RecordNotFound,
    );
    assert!(
        fault.message.contains("R009") && fault.details.is_some(),
        "{fault}"
    );
    refuse(
        &world,
        "update_record",
        json!({"id": a, "related": ["PLAN-001"]}),
        Code::RecordNotFound,
    );
    assert_eq!(related(&a), json!([c]));
    world.ok("create_project", json!({"id": "p", "name": "P"}));
    let d = created(&world.ok(
        "create_record",
        with(fresh(Value::Null, "D"), json!({"project_id": "p"})),
    ));
    update(&world, &a, json!({"related": [d, b]}));
    assert_eq!(related(&a), json!([d, b]), "of another project too");
    world.assert_sound();
}

#[on_both]
fn a_body_of_one_mebibyte_is_the_largest(world: World) {
    let id = root(&world, "A");
    let most = "ü".repeat(MIB / 2);
    assert!(update(&world, &id, json!({"body": most}))["record"]["body"] == *most);
    let fault = refuse(
        &world,
        "update_record",
        json!({"id": id, "body": format!("{most}x")}),
        Code::TooLarge,
    );
    assert_eq!(fault.details.unwrap()["limit"], MIB);
    assert!(fault.message.contains("1048576"), "{}", fault.message);
    refuse(
        &world,
        "update_record",
        json!({"id": id, "metadata": {"k": "x".repeat(64 << 10)}}),
        Code::TooLarge,
    );
    by(&world, "bob", "activate", json!({"id": id}));
    update(&world, &id, json!({"body": "y".repeat(MIB)}));
    let answer = update_by(&world, "bob", &id, json!({"body": "z".repeat(MIB)}));
    assert_eq!(
        answer["conflict"]["other_version"]["body"]
            .as_str()
            .map(str::len),
        Some(MIB)
    );
    world.assert_sound();
}

#[on_both]
fn any_text_comes_back_as_it_was(world: World) {
    let id = root(&world, "A");
    for text in NASTY {
        let made = update(
            &world,
            &id,
            json!({"title": text, "summary": text, "body": text, "metadata": { *text: text }}),
        )["record"]
            .clone();
        assert_eq!(
            [&made["title"], &made["summary"], &made["body"]],
            [text, text, text]
        );
        assert_eq!(
            (record(&world, &id), &reference(&world, &id)["summary"]),
            (made, &json!(text))
        );
    }
    world.assert_sound();
}

#[on_both]
fn wrong_arguments_are_named(world: World) {
    let id = root(&world, "A");
    let fault = refuse(&world, "update_record", json!({"id": id}), Code::Validation);
    assert_eq!(
        fault.details.unwrap()["allowed"],
        json!([
            "title",
            "summary",
            "body",
            "related",
            "metadata",
            "type",
            "parent_id"
        ])
    );
    refuse(
        &world,
        "update_record",
        json!({"id": id, "force": true}),
        Code::Validation,
    );
    refuse(
        &world,
        "update_record",
        json!({"id": id, "title": null}),
        Code::Validation,
    );
    refuse(
        &world,
        "update_record",
        json!({"title": "T"}),
        Code::Validation,
    );
    for (field, wrong) in [
        ("title", json!("")),
        ("title", json!(" ")),
        ("title", json!("a\0")),
        ("title", json!("x".repeat(2_001))),
        ("summary", json!("x".repeat(2_001))),
        ("title", json!(5)),
        ("body", json!({})),
        ("metadata", json!([])),
        ("force", json!("yes")),
        ("state", json!("LATER")),
        ("type", json!("")),
        ("type", json!("a\nb")),
        ("parent_id", json!(7)),
        ("parent_id", json!("R001")),
        ("session_id", json!("")),
        ("related", json!("R001")),
        ("related", json!(vec!["R001"; 10_001])),
    ] {
        refuse_field(
            &world,
            "update_record",
            with(json!({"id": id, "summary": "S"}), json!({ field: wrong })),
            field,
        );
    }
    for missing in ["R002", "r001"] {
        let fault = refuse(
            &world,
            "update_record",
            json!({"id": missing, "title": "T"}),
            Code::RecordNotFound,
        );
        assert_eq!(fault.details.unwrap()["nearest"], json!([id]), "{missing}");
    }
    for missing in ["", "TASK-001", "project:default"] {
        refuse(
            &world,
            "update_record",
            json!({"id": missing, "title": "T"}),
            Code::RecordNotFound,
        );
    }
    assert_eq!(record(&world, &id)["title"], "A");
}

#[on_both]
fn what_changes_nothing_leaves_no_trace(world: World) {
    let (a, b) = (root(&world, "A"), root(&world, "B"));
    let related = update(
        &world,
        &a,
        json!({"related": [b], "metadata": {"k": 1}, "type": "note"}),
    )["record"]
        .clone();
    let (head, ticks) = (world.head(), tick(&world));
    for same in [
        json!({"title": "A"}),
        json!({"related": [b]}),
        json!({"metadata": {"k": 1}}),
        json!({"type": "note"}),
        json!({"parent_id": null}),
        json!({"body": "All of A.", "force": true}),
    ] {
        assert_eq!(
            update(&world, &a, same.clone()),
            json!({"record": related, "unchanged": true}),
            "{same}"
        );
    }
    assert_eq!((world.head(), tick(&world)), (head, ticks));
    by(&world, "bob", "activate", json!({"id": a}));
    update(&world, &a, json!({"title": "C"}));
    assert!(
        update_by(&world, "bob", &a, json!({"title": "C"}))
            .get("conflict")
            .is_some(),
        "unseen is unseen, also where it is the same"
    );
}

#[on_both]
fn a_type_can_change(world: World) {
    let id = root(&world, "A");
    assert_eq!(
        update(&world, &id, json!({"type": "conclusion"}))["record"]["type"],
        "conclusion"
    );
    assert_eq!(
        (
            &record(&world, &id)["type"],
            &reference(&world, &id)["type"]
        ),
        (&json!("conclusion"), &json!("conclusion"))
    );
    assert_eq!(
        world.ok("list_records", json!({"types": ["conclusion"]}))["total"],
        1
    );
    assert_eq!(
        world.ok("list_records", json!({"types": ["question"]}))["total"],
        0
    );
    world.assert_sound();
}

#[on_both]
fn a_record_moves_with_all_that_is_below_it(world: World) {
    let (a, b) = (root(&world, "A"), root(&world, "B"));
    let c = child(&world, &a, "C");
    let d = child(&world, &c, "D");
    child(&world, &d, "E");
    let list = |args: Value| common::ids(&world.ok("list_records", args)["records"]);
    let answer = update(&world, &c, json!({"parent_id": b}));
    assert_eq!(
        (
            &answer["record"]["parent_id"],
            &record(&world, &c)["parent_id"]
        ),
        (&json!(b), &json!(b))
    );
    assert_eq!(list(json!({})), ["R001", "R002", "R003", "R004", "R005"]);
    assert_eq!(
        list(json!({"parent_id": b, "depth": 9})),
        ["R003", "R004", "R005"]
    );
    assert_eq!(
        (list(json!({"parent_id": a})), list(json!({"parent_id": c}))),
        (vec![], vec![d.clone()])
    );
    let counts = |id: &str| {
        let row = reference(&world, id);
        (
            row["children_count"].clone(),
            row["open_children_count"].clone(),
        )
    };
    assert_eq!(
        (counts(&a), counts(&b)),
        ((json!(0), json!(0)), (json!(1), json!(1)))
    );
    update(&world, &c, json!({"parent_id": null, "title": "C again"}));
    assert_eq!(
        (list(json!({"parent_id": null})), counts(&b)),
        (vec![a.clone(), b.clone(), c.clone()], (json!(0), json!(0)))
    );
    assert_eq!(
        world.ok("get_project_overview", json!({}))["totals"]["root_records"],
        3
    );
    update(&world, &a, json!({"parent_id": d}));
    assert_eq!(
        list(json!({"parent_id": c, "depth": 9})),
        ["R004", "R001", "R005"]
    );
    for (id, parent) in [(&c, &c), (&c, &d), (&c, &a), (&d, &a)] {
        let fault = refuse_field(
            &world,
            "update_record",
            json!({"id": id, "parent_id": parent}),
            "parent_id",
        );
        assert!(fault.message.contains(parent.as_str()), "{fault}");
    }
    by(&world, "bob", "activate", json!({"id": c}));
    assert_eq!(
        refused_by(
            &world,
            "bob",
            "update_record",
            json!({"id": c, "parent_id": b})
        )
        .code,
        Code::ParentNotActivated
    );
    world.ok("create_project", json!({"id": "p", "name": "P"}));
    let there = created(&world.ok(
        "create_record",
        with(fresh(Value::Null, "T"), json!({"project_id": "p"})),
    ));
    refuse_field(
        &world,
        "update_record",
        json!({"id": b, "parent_id": there}),
        "parent_id",
    );
    refuse(
        &world,
        "update_record",
        json!({"id": b, "parent_id": "R099"}),
        Code::RecordNotFound,
    );
    let told = activity(&world, json!({"types": ["record_updated"], "record_id": a})).remove(0);
    assert!(
        told["summary"].as_str().unwrap().contains("parent_id"),
        "{told}"
    );
    world.assert_sound();
}

#[on_both]
fn a_move_keeps_to_the_deepest_level(world: World) {
    let mut at = root(&world, "Level 1");
    for level in 2..=62 {
        at = child(&world, &at, &format!("Level {level}"));
    }
    let top = root(&world, "Top");
    let below = child(&world, &top, "Below");
    child(&world, &below, "Deep");
    let fault = refuse(
        &world,
        "update_record",
        json!({"id": top, "parent_id": at}),
        Code::DepthExceeded,
    );
    assert_eq!(fault.details.unwrap()["limit"], 64);
    update(&world, &below, json!({"parent_id": at}));
    world.assert_sound();
}

#[on_both]
fn the_session_that_is_named_updates(world: World) {
    let id = root(&world, "A");
    refuse(
        &world,
        "update_record",
        json!({"id": id, "title": "B", "session_id": "chat-7"}),
        Code::NotActivated,
    );
    world.ok("activate", json!({"id": id, "session_id": "chat-7"}));
    update(&world, &id, json!({"title": "B", "session_id": "chat-7"}));
    assert!(
        update(&world, &id, json!({"title": "C"}))
            .get("conflict")
            .is_some(),
        "another session, though the same agent"
    );
    let fault = refused_by(
        &world,
        "bob",
        "update_record",
        json!({"id": id, "title": "D", "session_id": "chat-7"}),
    );
    assert_eq!(fault.code, Code::ClaimMismatch, "it is ada's session");
}

#[on_both]
fn the_same_key_updates_once(mut world: World) {
    let id = shared(&world);
    let args = json!({"id": id, "title": "B", "idempotency_key": "k"});
    let first = world.ok("update_record", args.clone());
    let head = world.head();
    assert_eq!(world.ok("update_record", args.clone()), first);
    assert_eq!((world.head(), tick(&world)), (head, 2));
    refuse(
        &world,
        "update_record",
        json!({"id": id, "title": "C", "idempotency_key": "k"}),
        Code::IdempotencyConflict,
    );
    let first = by(&world, "bob", "update_record", args.clone());
    assert!(
        first.get("conflict").is_some(),
        "a key belongs to one agent"
    );
    let head = world.head();
    by(&world, "bob", "sync_session", json!({}));
    assert_eq!(
        by(&world, "bob", "update_record", args),
        first,
        "a conflict is an answer, and is kept"
    );
    assert_eq!(world.head(), head + 1, "only the sync");
    world.caller = auditor();
    refuse(
        &world,
        "update_record",
        json!({"id": id, "title": "C"}),
        Code::Forbidden,
    );
}

#[on_both]
fn of_many_at_once_one_wins_and_the_others_are_told(world: World) {
    let id = root(&world, "A");
    let agents: Vec<String> = (0..4).map(|at| format!("agent{at}")).collect();
    for agent in &agents {
        by(&world, agent, "activate", json!({"id": id}));
    }
    let other = world.another();
    let conflicts: usize = std::thread::scope(|scope| {
        let hands: Vec<_> = agents
            .iter()
            .zip([&*world.engine, &other, &*world.engine, &other])
            .map(|(agent, engine)| {
                let (caller, args) = (World::caller(agent), json!({"id": id, "body": agent}));
                scope.spawn(move || {
                    World::call_on(engine, &caller, "update_record", args)
                        .unwrap()
                        .get("conflict")
                        .is_some()
                })
            })
            .collect();
        hands
            .into_iter()
            .map(|hand| usize::from(hand.join().unwrap()))
            .sum()
    });
    assert_eq!((conflicts, tick(&world)), (3, 2));
    world.assert_sound();
}
