//! `create_record`: where a record may go, what it may hold, and what its making does to the session
//! that made it.

use crate::common;
use crate::common::NASTY;
use crate::records_common::*;
use serde_json::{Value, json};
use understory_model::{Caller, Code};
use understory_testkit::{World, on_both};

const MIB: usize = 1 << 20;

/// The ids that a search finds.
#[track_caller]
fn found(world: &World, query: &str) -> Vec<String> {
    common::ids(&world.ok("search_records", json!({ "query": query }))["results"])
}

#[on_both]
fn a_root_is_made_with_all_its_fields_and_nothing_else(world: World) {
    let answer = world.ok("create_record", fresh(Value::Null, "Tokens"));
    let made = &answer["record"];
    assert_eq!(
        answer,
        json!({"auto_activated": true, "record": {
            "id": "R001", "type": "question", "title": "Tokens", "summary": "About Tokens.", "body": "All of Tokens.",
            "state": "OPEN", "parent_id": null, "created": made["created"], "modified": made["created"],
        }})
    );
    assert_eq!(record(&world, "R001"), *made);
    assert_eq!(
        reference(&world, "R001"),
        json!({
            "id": "R001", "type": "question", "title": "Tokens", "summary": "About Tokens.", "state": "OPEN",
            "parent_id": null, "children_count": 0, "open_children_count": 0,
        })
    );
    assert_eq!(told(&world), ["session_started", "record_created"]);
    assert_eq!(
        (tick(&world), holders(&world, "R001")),
        (1, vec!["sess_ada".to_string()])
    );
}

#[on_both]
fn every_optional_field_is_kept(world: World) {
    let (a, b) = (root(&world, "A"), root(&world, "B"));
    let metadata = json!({"n": 1.0, "deep": {"list": [null, "\0", {"x": 1e300}]}, "": false});
    let args = with(
        fresh(a.clone().into(), "C"),
        json!({"state": "LATER", "related": [b, a, b], "metadata": metadata}),
    );
    let made = world.ok("create_record", args)["record"].clone();
    assert_eq!(
        (&made["state"], &made["related"], &made["parent_id"]),
        (&json!("LATER"), &json!([b, a]), &json!(a)),
        "each related once, in order"
    );
    assert_eq!(made["metadata"].to_string(), metadata.to_string());
    assert_eq!(record(&world, "R003"), made);
    world.ok(
        "create_record",
        with(
            fresh(Value::Null, "D"),
            json!({"related": [], "metadata": {}, "state": "DISCARDED"}),
        ),
    );
    let made = record(&world, "R004");
    assert!(
        made.get("related").is_none() && made["metadata"] == json!({}),
        "{made}"
    );
    assert_eq!(reference(&world, &a)["children_count"], 1);
    assert_eq!(reference(&world, &a)["open_children_count"], 0);
    world.assert_sound();
}

#[on_both]
fn handles_count_on_and_a_refused_call_takes_none(world: World) {
    assert_eq!([root(&world, "A"), root(&world, "B")], ["R001", "R002"]);
    refuse(
        &world,
        "create_record",
        fresh(json!("R009"), "C"),
        Code::RecordNotFound,
    );
    world.ok("create_project", json!({"id": "p", "name": "P"}));
    assert_eq!(
        created(&world.ok(
            "create_record",
            with(fresh(Value::Null, "C"), json!({"project_id": "p"}))
        )),
        "R003",
        "one count for the workspace"
    );
    let bob = by(&world, "bob", "create_record", fresh(Value::Null, "D"));
    assert_eq!(created(&bob), "R004");
    let elsewhere = Caller {
        workspace: "elsewhere".into(),
        ..World::caller("ada")
    };
    assert_eq!(
        created(
            &world
                .call_as(&elsewhere, "create_record", fresh(Value::Null, "E"))
                .unwrap()
        ),
        "R001"
    );
}

#[on_both]
fn a_parent_must_be_active_in_this_very_session(world: World) {
    let a = root(&world, "A");
    let fault = refused_by(&world, "bob", "create_record", fresh(a.clone().into(), "B"));
    assert_eq!(fault.code, Code::ParentNotActivated);
    assert_eq!(
        fault.details.unwrap(),
        json!({"parent_id": a, "session_id": "sess_bob"})
    );
    assert!(fault.hint.unwrap().contains("activate"));
    assert_eq!(
        session(&world, "sess_bob"),
        Value::Null,
        "a refused call starts no session"
    );
    by(&world, "bob", "activate", json!({"id": a}));
    let b = created(&by(
        &world,
        "bob",
        "create_record",
        fresh(a.clone().into(), "B"),
    ));
    let fault = refuse(
        &world,
        "create_record",
        fresh(b.clone().into(), "C"),
        Code::ParentNotActivated,
    );
    assert!(
        fault.message.contains(&b) && fault.message.contains("sess_ada"),
        "{fault}"
    );
    assert_eq!(reference(&world, &a)["children_count"], 1);
    by(
        &world,
        "bob",
        "create_record",
        fresh(b.into(), "what it made is active at once"),
    );
}

#[on_both]
fn after_closing_the_parent_is_active_no_more(world: World) {
    let a = root(&world, "A");
    world.ok("close_session", json!({}));
    refuse(
        &world,
        "create_record",
        fresh(a.clone().into(), "B"),
        Code::ParentNotActivated,
    );
    root(&world, "A root needs nothing");
    refuse(
        &world,
        "create_record",
        fresh(a.clone().into(), "B"),
        Code::ParentNotActivated,
    );
    activate(&world, &a);
    child(&world, &a, "B");
    world.assert_sound();
}

#[on_both]
fn a_missing_parent_or_relation_names_what_is_near(world: World) {
    let fault = refuse(
        &world,
        "create_record",
        fresh(json!("R001"), "A"),
        Code::RecordNotFound,
    );
    assert!(fault.message.contains("R001"), "{fault}");
    assert_eq!(world.head(), 0, "not even the project");
    root(&world, "A");
    world.plan(&["A node, not a record"]);
    for wrong in ["R002", "r001", "R01", "R0001", "001"] {
        for args in [
            fresh(wrong.into(), "B"),
            with(fresh(Value::Null, "B"), json!({"related": ["R001", wrong]})),
        ] {
            let fault = refuse(&world, "create_record", args, Code::RecordNotFound);
            assert_eq!(
                fault.details.unwrap_or_default()["nearest"],
                json!(["R001"]),
                "{wrong}"
            );
            assert!(fault.hint.unwrap().contains("R001"));
        }
    }
    for wrong in [
        "",
        "TASK-001",
        "PLAN-001",
        "project:default",
        "session:1:sess_ada",
        "' OR 1=1 --",
        "R001 ",
        &"R".repeat(100_000),
    ] {
        refuse(
            &world,
            "create_record",
            fresh(wrong.into(), "B"),
            Code::RecordNotFound,
        );
        refuse(
            &world,
            "create_record",
            with(fresh(Value::Null, "B"), json!({"related": [wrong]})),
            Code::RecordNotFound,
        );
    }
}

#[on_both]
fn sixty_four_levels_are_the_deepest(world: World) {
    let mut at = root(&world, "Level 1");
    for level in 2..=64 {
        at = child(&world, &at, &format!("Level {level}"));
    }
    let fault = refuse(
        &world,
        "create_record",
        fresh(at.clone().into(), "Level 65"),
        Code::DepthExceeded,
    );
    assert_eq!(
        (fault.code.status(), &fault.details.unwrap()["limit"]),
        (400, &json!(64))
    );
    assert!(
        fault.message.contains("64") && fault.hint.is_some(),
        "{}",
        fault.message
    );
    assert_eq!((at.as_str(), tick(&world)), ("R064", 64));
    child(&world, "R063", "A sibling at level 64 has room");
    assert_eq!(
        activate(&world, "R001")["context"]["grandchildren"][0]["id"],
        "R003"
    );
    world.assert_sound();
}

#[on_both]
fn a_body_of_one_mebibyte_is_the_largest(world: World) {
    let sized = |body: String| with(fresh(Value::Null, "Large"), json!({ "body": body }));
    for body in [
        "x".repeat(MIB),
        "é".repeat(MIB / 2),
        "\u{1}\n".repeat(MIB / 2),
        (0..MIB / 8).map(|n| format!("{n:07} ")).collect(),
    ] {
        let made = world.ok("create_record", sized(body.clone()));
        let kept = record(&world, &created(&made));
        assert!(
            made["record"]["body"] == *body && kept["body"] == *body,
            "kept whole"
        );
    }
    for body in ["x".repeat(MIB + 1), format!("x{}", "é".repeat(MIB / 2))] {
        let fault = refuse(&world, "create_record", sized(body), Code::TooLarge);
        assert_eq!(
            fault.details.unwrap(),
            json!({"field": "body", "bytes": MIB + 1, "limit": MIB})
        );
        assert!(
            fault.message.contains("1048576") && fault.message.contains("body"),
            "{}",
            fault.message
        );
    }
    assert_eq!(
        found(&world, "0000007"),
        ["R004"],
        "a large body is found by its words"
    );
    let prose = format!(
        "{}the needle at its very end",
        "haystack straw and more of it, ".repeat(30_000)
    );
    let needle = created(&world.ok("create_record", sized(prose)));
    assert_eq!(found(&world, "needle"), [needle.as_str()]);
    world.assert_sound();
}

#[on_both]
fn other_fields_have_their_limits_too(world: World) {
    let a = fresh(Value::Null, "A");
    for (field, most) in [("title", 2_000), ("summary", 2_000), ("type", 256)] {
        world.ok(
            "create_record",
            with(a.clone(), json!({ field: "é".repeat(most) })),
        );
        let fault = refuse_field(
            &world,
            "create_record",
            with(a.clone(), json!({ field: "é".repeat(most + 1) })),
            field,
        );
        assert!(fault.message.contains(&most.to_string()), "{fault}");
    }
    let metadata = |bytes: usize| json!({"metadata": {"k": "x".repeat(bytes - 8)}});
    world.ok("create_record", with(a.clone(), metadata(64 << 10)));
    let fault = refuse(
        &world,
        "create_record",
        with(a.clone(), metadata((64 << 10) + 1)),
        Code::TooLarge,
    );
    assert_eq!(fault.details.unwrap()["field"], "metadata");
    refuse_field(
        &world,
        "create_record",
        with(a.clone(), json!({"related": vec!["R001"; 10_001]})),
        "related",
    );
    let made = world.ok(
        "create_record",
        with(a, json!({"related": vec!["R001"; 10_000]})),
    );
    assert_eq!(made["record"]["related"], json!(["R001"]));
}

#[on_both]
fn empty_is_taken_where_it_says_something(world: World) {
    world.ok(
        "create_record",
        json!({"parent_id": null, "type": "t", "title": "T", "summary": "", "body": ""}),
    );
    assert_eq!(
        (
            &record(&world, "R001")["summary"],
            &record(&world, "R001")["body"]
        ),
        (&json!(""), &json!(""))
    );
    for field in ["title", "type"] {
        for empty in ["", " ", "\t\n", "\u{a0}"] {
            refuse_field(
                &world,
                "create_record",
                with(fresh(Value::Null, "A"), json!({ field: empty })),
                field,
            );
        }
    }
    for field in ["title", "summary", "type"] {
        refuse_field(
            &world,
            "create_record",
            with(fresh(Value::Null, "A"), json!({ field: "a\0b" })),
            field,
        );
    }
    refuse_field(
        &world,
        "create_record",
        with(fresh(Value::Null, "A"), json!({"type": "a\nb"})),
        "type",
    );
}

#[on_both]
fn any_text_comes_back_as_it_was(world: World) {
    for text in NASTY {
        let kind: String = text.chars().filter(|c| !c.is_control()).collect();
        let args = json!({"parent_id": null, "type": kind, "title": text, "summary": text, "body": text, "metadata": { *text: text }});
        let made = world.ok("create_record", args)["record"].clone();
        for field in ["title", "summary", "body"] {
            assert_eq!(made[field], *text);
        }
        assert_eq!(
            (&made["type"], &made["metadata"]),
            (&json!(kind), &json!({ *text: text }))
        );
        let id = made["id"].as_str().unwrap();
        assert_eq!(record(&world, id), made);
        assert_eq!(
            (
                &reference(&world, id)["title"],
                &reference(&world, id)["type"]
            ),
            (&json!(text), &json!(kind))
        );
        assert_eq!(activate(&world, id)["context"]["target"], made);
    }
    world.ok(
        "create_record",
        with(fresh(Value::Null, "NUL"), json!({"body": "a\0b"})),
    );
    assert_eq!(
        world.ok("search_records", json!({"query": "NUL"}))["results"][0]["title"],
        "NUL"
    );
    world.assert_sound();
}

#[on_both]
fn wrong_arguments_are_named(world: World) {
    let good = fresh(Value::Null, "A");
    for field in ["type", "title", "summary", "body"] {
        let mut args = good.clone();
        args.as_object_mut().unwrap().remove(field);
        let fault = refuse(&world, "create_record", args, Code::Validation);
        assert!(fault.message.contains(field), "{fault}");
    }
    for (field, wrong) in [
        ("parent_id", json!(1)),
        ("parent_id", json!(["R001"])),
        ("type", json!(null)),
        ("title", json!(5)),
        ("summary", json!({})),
        ("body", json!(["a"])),
        ("state", json!(true)),
        ("metadata", json!([])),
        ("metadata", json!("x")),
        ("related", json!("R001")),
        ("session_id", json!(7)),
        ("project_id", json!({})),
        ("colour", json!("red")),
        ("id", json!("R007")),
        ("created", json!("now")),
    ] {
        refuse_field(
            &world,
            "create_record",
            with(good.clone(), json!({ field: wrong })),
            field,
        );
    }
    refuse_field(
        &world,
        "create_record",
        with(good.clone(), json!({"related": ["R001", 5]})),
        "related[1]",
    );
    for wrong in ["open", "DONE", "", "OPEN ", "\0"] {
        let fault = refuse_field(
            &world,
            "create_record",
            with(good.clone(), json!({"state": wrong})),
            "state",
        );
        assert_eq!(
            fault.details.unwrap()["allowed"],
            json!(["OPEN", "LATER", "RESOLVED", "DISCARDED"]),
            "{wrong}"
        );
    }
    for state in ["OPEN", "LATER", "DISCARDED"] {
        refuse_field(
            &world,
            "create_record",
            with(good.clone(), json!({"state": state, "resolved_by": "R001"})),
            "resolved_by",
        );
    }
    refuse_field(
        &world,
        "create_record",
        with(good, json!({"reason": "a\0"})),
        "reason",
    );
    assert_eq!(world.head(), 0);
}

#[on_both]
fn a_root_needs_no_parent_id_and_takes_a_null(world: World) {
    let schema = understory_tools::registry::find("create_record")
        .unwrap()
        .input_schema();
    let mut args = fresh(Value::Null, "A");
    args.as_object_mut().unwrap().retain(|field, _| {
        schema["required"]
            .as_array()
            .unwrap()
            .contains(&json!(field))
    });
    let bare = world.ok("create_record", args.clone());
    assert_eq!(
        bare["record"]["parent_id"],
        Value::Null,
        "what the schema requires is enough"
    );
    for field in schema["properties"].as_object().unwrap().keys() {
        if args.get(field).is_none() {
            args[field] = Value::Null;
        }
    }
    assert_eq!(
        world.ok("create_record", args)["record"]["parent_id"],
        Value::Null,
        "and null for all the rest is served"
    );
    assert_eq!(
        schema["properties"]["parent_id"]["type"],
        json!(["string", "null"])
    );
}

#[on_both]
fn any_state_may_be_the_first(world: World) {
    let question = root(&world, "Q");
    for state in ["OPEN", "LATER", "RESOLVED", "DISCARDED"] {
        let made = world.ok(
            "create_record",
            with(
                fresh(Value::Null, state),
                json!({"state": state, "reason": "so it is"}),
            ),
        )["record"]
            .clone();
        assert_eq!(
            (&made["state"], &made["reason"]),
            (&json!(state), &json!("so it is")),
            "a conclusion is settled in one call"
        );
        assert_eq!(record(&world, made["id"].as_str().unwrap()), made);
    }
    let made = world.ok(
        "create_record",
        with(
            fresh(Value::Null, "C"),
            json!({"state": "RESOLVED", "resolved_by": question}),
        ),
    )["record"]
        .clone();
    assert_eq!(made["resolved_by"], question);
    for wrong in ["R009", "R005"] {
        let fault = world.refused(
            "create_record",
            with(
                fresh(Value::Null, "C"),
                json!({"state": "RESOLVED", "resolved_by": wrong}),
            ),
        );
        assert!(fault.message.contains(wrong), "{fault}");
    }
    assert_eq!(
        world.ok("transition", json!({"id": made["id"], "to_state": "OPEN"}))["record"]
            .get("resolved_by"),
        None
    );
    world.assert_sound();
}

#[on_both]
fn the_caller_chooses_how_much_comes_back(world: World) {
    let whole = world.ok("create_record", fresh(Value::Null, "A"));
    assert_eq!(
        whole["record"]["body"], "All of A.",
        "the whole record, unless it is not wanted"
    );
    let made = world.ok(
        "create_record",
        with(fresh(Value::Null, "B"), json!({"echo": false})),
    );
    assert_eq!(
        made,
        json!({"auto_activated": true, "record": {"id": "R002", "title": "B", "state": "OPEN", "parent_id": null, "modified": made["record"]["modified"]}})
    );
    let updated = world.ok(
        "update_record",
        json!({"id": "R002", "body": "x".repeat(1_000), "echo": false}),
    );
    let moved = world.ok(
        "transition",
        json!({"id": "R002", "to_state": "LATER", "reason": "r", "echo": false}),
    );
    for answer in [&updated, &moved] {
        assert!(
            answer["record"].get("body").is_none() && answer["record"]["id"] == "R002",
            "{answer}"
        );
    }
    by(&world, "bob", "activate", json!({"id": "R001"}));
    world.ok("update_record", json!({"id": "R001", "body": "newer"}));
    let conflict = by(
        &world,
        "bob",
        "update_record",
        json!({"id": "R001", "body": "mine", "echo": false}),
    );
    assert_eq!(
        (
            conflict["record"].get("body"),
            &conflict["conflict"]["other_version"]["body"]
        ),
        (None, &json!("newer")),
        "the other version is always whole"
    );
}

#[on_both]
fn the_session_that_is_named_makes_the_record(world: World) {
    let answer = world.ok(
        "create_record",
        with(fresh(Value::Null, "A"), json!({"session_id": "chat-7"})),
    );
    let a = created(&answer);
    assert_eq!(holders(&world, &a), ["chat-7"]);
    refuse(
        &world,
        "create_record",
        fresh(a.clone().into(), "B"),
        Code::ParentNotActivated,
    );
    world.ok(
        "create_record",
        with(fresh(a.into(), "B"), json!({"session_id": "chat-7"})),
    );
    assert_eq!(
        activity(&world, json!({"types": ["record_created"]}))[0]["session_id"],
        "chat-7"
    );
    assert_eq!(session(&world, "sess_ada"), Value::Null);
    for (at, name) in NASTY
        .iter()
        .enumerate()
        .filter(|(_, name)| !name.chars().any(char::is_control))
    {
        let made = created(&world.ok(
            "create_record",
            with(fresh(Value::Null, "N"), json!({"session_id": name})),
        ));
        assert_eq!(holders(&world, &made), [*name], "{at}");
    }
    for name in ["", " ", "a\0", "a\nb", "\u{1b}[1m", &"s".repeat(257)] {
        refuse_field(
            &world,
            "create_record",
            with(fresh(Value::Null, "N"), json!({"session_id": name})),
            "session_id",
        );
    }
    world.ok(
        "create_record",
        with(
            fresh(Value::Null, "N"),
            json!({"session_id": "s".repeat(256)}),
        ),
    );
    world.assert_sound();
}

#[on_both]
fn the_same_key_makes_one_record(mut world: World) {
    let args = with(fresh(Value::Null, "A"), json!({"idempotency_key": "k"}));
    let first = world.ok("create_record", args.clone());
    let head = world.head();
    assert_eq!(world.ok("create_record", args.clone()), first);
    assert_eq!(
        World::call_on(&world.another(), &world.caller, "create_record", args).unwrap(),
        first
    );
    assert_eq!((world.head(), tick(&world)), (head, 1));
    refuse(
        &world,
        "create_record",
        with(fresh(Value::Null, "B"), json!({"idempotency_key": "k"})),
        Code::IdempotencyConflict,
    );
    let bad = with(fresh(json!("R099"), "B"), json!({"idempotency_key": "k2"}));
    refuse(&world, "create_record", bad, Code::RecordNotFound);
    world.ok(
        "create_record",
        with(fresh(Value::Null, "B"), json!({"idempotency_key": "k2"})),
    );
    world.caller = auditor();
    refuse(
        &world,
        "create_record",
        fresh(Value::Null, "C"),
        Code::Forbidden,
    );
}

#[on_both]
fn writers_at_once_get_each_a_handle_and_a_tick(world: World) {
    root(&world, "First");
    let other = world.another();
    std::thread::scope(|scope| {
        for (at, engine) in [&*world.engine, &other, &*world.engine, &other]
            .into_iter()
            .enumerate()
        {
            scope.spawn(move || {
                let caller = World::caller(&format!("agent{at}"));
                for _ in 0..5 {
                    World::call_on(engine, &caller, "create_record", fresh(Value::Null, "N"))
                        .unwrap();
                }
            });
        }
    });
    assert_eq!(tick(&world), 21);
    let mut ticks: Vec<i64> = activity(&world, json!({"types": ["record_created"]}))
        .iter()
        .map(|one| one["details"]["tick"].as_i64().unwrap())
        .collect();
    ticks.sort();
    assert_eq!(ticks, (1..=21).collect::<Vec<i64>>());
    assert_eq!(reference(&world, "R021")["id"], "R021");
    world.assert_sound();
}
