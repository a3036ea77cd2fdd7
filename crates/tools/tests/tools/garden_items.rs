//! The timeline: what can be added to it, and how it is read.

use crate::garden_common::*;
use serde_json::{Value, json};
use understory_model::fragment::fragment_id;
use understory_model::{Code, Role};
use understory_testkit::{World, on_both};

fn types(answer: &Value) -> Vec<&str> {
    list(answer, "items")
        .iter()
        .map(|item| item["_type"].as_str().unwrap())
        .collect()
}

#[on_both]
fn items_of_every_type_are_added(world: World) {
    let text = "Use PostgreSQL instead. SQLite has one writer.";
    let message = add(
        &world,
        json!({"type": "Message", "description": text, "sender": "user"}),
    );
    let parts = list(&message, "fragments");
    assert_eq!(parts.len(), 2, "{message}");
    let whole: Vec<&str> = parts
        .iter()
        .map(|f| f["content"].as_str().unwrap())
        .collect();
    assert_eq!(whole.join(" "), text);
    assert_eq!(
        parts[1]["span"],
        json!([24, 46]),
        "each says where it stands in the description"
    );
    for part in parts {
        assert_eq!(part["id"], fragment_id(part["content"].as_str().unwrap()));
    }
    let own = add(
        &world,
        json!({"type": "DeployFinished", "service": "billing", "took": 3.5}),
    );
    assert_eq!(own["took"], 3.5);
    let call = add(
        &world,
        json!({"type": "ToolCall", "tool": "reader", "operation": "look"}),
    );
    assert_eq!(
        (&call["caller"], &call["params"]),
        (&json!("agent"), &json!({}))
    );
    let note = note(&world, "n");
    for field in [
        "uuid",
        "_type",
        "realized_at",
        "canonical_at",
        "actor",
        "log",
    ] {
        assert!(note[field].is_string(), "{field}: {note}");
    }
    assert!(note["uuid"].as_str().unwrap().starts_with("item_"));
    let all = world.ok("garden_timeline", json!({}));
    assert_eq!(
        types(&all)[..4],
        ["Note", "ToolCall", "DeployFinished", "Message"]
    );
    assert_eq!(all["items"][0], note);
    assert_eq!(
        world.ok("garden_get", json!({"id": note["uuid"]}))["item"],
        note
    );
    world.assert_sound();
}

#[on_both]
fn a_caller_may_cut_a_message_itself(world: World) {
    let parts = json!(["first", {"content": "second"}]);
    let said = add(
        &world,
        json!({"type": "Message", "description": "other words", "fragments": parts}),
    );
    assert_eq!(said["description"], "other words");
    assert_eq!(said["fragments"][1]["id"], fragment_id("second"));
    let said = add(&world, json!({"type": "Message", "fragments": ["a ", "b"]}));
    assert_eq!(said["description"], "a b");
    for bad in [
        json!([]),
        json!([1]),
        json!([{"id": "^zzz", "content": "a"}]),
        json!("a"),
        json!([""]),
    ] {
        let fault = world.refused(
            "garden_add",
            json!({"type": "Message", "description": "x", "fragments": bad}),
        );
        assert_eq!(fault.code, Code::Validation);
        assert!(fault.message.starts_with("fragments"), "{fault}");
    }
    let one = format!("{}#{}", said["uuid"].as_str().unwrap(), fragment_id("b"));
    assert_eq!(
        world.ok("garden_get", json!({"id": one}))["fragment"]["content"],
        "b"
    );
    let both = format!(
        "{}#{}:{}",
        said["uuid"].as_str().unwrap(),
        fragment_id("a"),
        fragment_id("b")
    );
    assert_eq!(
        world.ok("garden_get", json!({"id": both}))["fragment"]["content"],
        "a b"
    );
    let back = format!(
        "{}#{}:{}",
        said["uuid"].as_str().unwrap(),
        fragment_id("b"),
        fragment_id("a")
    );
    assert_eq!(
        world.refused("garden_get", json!({"id": back})).code,
        Code::NotFound
    );
}

#[on_both]
fn wrong_items_are_refused_by_name(world: World) {
    note(&world, "there is something");
    let cases = [
        (json!({"type": "note", "description": "x"}), "type"),
        (json!({"type": "Two Words"}), "type"),
        (json!({"type": ""}), "type"),
        (json!({"type": "EntityDelta"}), "type"),
        (json!({"type": "ArtifactDelta"}), "type"),
        (json!({"type": "Undone"}), "type"),
        (json!({"type": "Note"}), "description"),
        (json!({"type": "Note", "description": 1}), "description"),
        (
            json!({"type": "Note", "description": "x", "colour": "red"}),
            "colour",
        ),
        (json!({"type": "Message", "sender": "user"}), "description"),
        (json!({"type": "ToolCall", "tool": "t"}), "operation"),
        (
            json!({"type": "ToolCall", "tool": "t", "operation": "o", "result": {"status": "ok"}}),
            "result.status",
        ),
        (
            json!({"type": "SystemEvent", "event_type": "forged"}),
            "type",
        ),
        (
            json!({"type": "Note", "description": "x", "canonical_at": "yesterday"}),
            "canonical_at",
        ),
        (json!({"type": "Own", "_hidden": 1}), "_hidden"),
        (json!({"type": "Own", "uuid": "x"}), "uuid"),
        (
            json!({"type": "Note", "description": "nul \u{0}"}),
            "description",
        ),
    ];
    for (args, field) in cases {
        let fault = world.refused("garden_add", args.clone());
        assert_eq!(fault.code, Code::Validation, "{args}: {fault}");
        assert!(fault.message.starts_with(field), "{args}: {fault}");
    }
    for name in [
        "triggered_by",
        "superceded_by",
        "derived_from",
        "continues_from",
        "contained_by",
    ] {
        for kind in ["Note", "Own"] {
            let fault = world.refused(
                "garden_add",
                json!({"type": kind, "description": "x", name: "y"}),
            );
            assert!(fault.message.contains("reserved"), "{fault}");
        }
    }
    assert_eq!(
        world
            .refused(
                "garden_add",
                json!({"type": "Note", "description": "x", "log": "uuid_x"})
            )
            .code,
        Code::NotFound
    );
    assert_eq!(
        world
            .refused(
                "garden_add",
                json!({"type": "Note", "description": "x", "project": "nosuch"})
            )
            .code,
        Code::NotFound
    );
}

#[on_both]
fn the_timeline_is_filtered_and_paged(world: World) {
    let first = note(&world, "one");
    world.clock.turn(60);
    add(&world, json!({"type": "Message", "description": "two"}));
    by(
        &world,
        "bob",
        "garden_add",
        json!({"type": "Note", "description": "three"}),
    );
    world.clock.turn(60);
    let last = note(&world, "four");
    let found = |args: Value| texts(&world.ok("garden_timeline", args));
    assert_eq!(
        found(json!({"types": ["Note", "Message"]})),
        ["four", "three", "two", "one"]
    );
    assert_eq!(found(json!({"types": ["Message"]})), ["two"]);
    assert_eq!(found(json!({"types": ["Note"], "actor": "bob"})), ["three"]);
    assert_eq!(found(json!({"actor": "bob"})), ["three"]);
    assert_eq!(
        found(json!({"types": ["Note"], "since": last["realized_at"]})),
        ["four"]
    );
    assert_eq!(
        found(json!({"types": ["Note"], "until": first["realized_at"]})),
        ["one"]
    );
    assert_eq!(
        found(json!({"log": first["log"]})),
        ["four", "three", "two", "one"]
    );
    assert_eq!(found(json!({"types": ["NoSuch"]})), [] as [&str; 0]);
    let mut seen = Vec::new();
    let mut cursor = Value::Null;
    loop {
        let page = world.ok(
            "garden_timeline",
            json!({"types": ["Note", "Message"], "limit": 1, "cursor": cursor}),
        );
        seen.extend(texts(&page));
        cursor = page["pagination"]["next_cursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    assert_eq!(seen, ["four", "three", "two", "one"]);
    let fault = world.refused("garden_timeline", json!({"clock": "lunar"}));
    assert!(fault.message.starts_with("clock"));
    assert_eq!(
        world
            .refused("garden_timeline", json!({"cursor": "x"}))
            .code,
        Code::Validation
    );
}

#[on_both]
fn the_canonical_clock_orders_by_when_it_happened(world: World) {
    note(&world, "now 1");
    let at = "2020-01-01T00:00:00Z";
    add(
        &world,
        json!({"type": "Note", "description": "long ago", "canonical_at": at}),
    );
    note(&world, "now 2");
    add(
        &world,
        json!({"type": "Note", "description": "will be", "canonical_at": "2099-01-01T00:00:00+02:00"}),
    );
    note(&world, "now 3");
    let want = ["will be", "now 3", "now 2", "now 1", "long ago"];
    for limit in [1, 2, 3, 50] {
        let (mut seen, mut cursor) = (Vec::new(), Value::Null);
        loop {
            let page = world.ok(
                "garden_timeline",
                json!({"types": ["Note"], "clock": "canonical", "limit": limit, "cursor": cursor}),
            );
            seen.extend(texts(&page));
            cursor = page["pagination"]["next_cursor"].clone();
            if cursor.is_null() {
                break;
            }
        }
        assert_eq!(seen, want, "{limit}");
    }
    let before = world.ok(
        "garden_timeline",
        json!({"clock": "canonical", "until": "2020-06-01T00:00:00Z"}),
    );
    assert_eq!(texts(&before), ["long ago"]);
    let after = world.ok(
        "garden_timeline",
        json!({"clock": "canonical", "since": "2090-01-01T00:00:00Z"}),
    );
    assert_eq!(texts(&after), ["will be"]);
    assert_eq!(
        after["items"][0]["canonical_at"],
        "2098-12-31T22:00:00.000000Z"
    );
}

#[on_both]
fn what_other_surfaces_do_is_on_the_timeline(world: World) {
    world.plan(&["Write the parser"]);
    world.ok("create_record", json!({"parent_id": null, "type": "question", "title": "Which store?", "summary": "", "body": "b"}));
    let ws = "garden-shed";
    world.ok(
        "branchmind_notes_commit",
        json!({"workspace": ws, "branch": "main", "doc": "notes", "content": "think"}),
    );
    world.ok(
        "create_thread",
        json!({"title": "Review", "participants": ["bob"]}),
    );
    world.ok(
        "post_message",
        json!({"thread_id": "th_001", "body": "Please look."}),
    );
    let all = world.ok("garden_timeline", json!({"limit": 200}));
    let handles: Vec<&str> = list(&all, "items")
        .iter()
        .filter_map(|item| item["handle"].as_str())
        .collect();
    for handle in ["TASK-001", "R001", "th_001"] {
        assert!(handles.contains(&handle), "{handle}: {handles:?}");
    }
    assert!(types(&all).contains(&"NoteEntry"));
    let message = world.ok(
        "garden_get",
        json!({"id": "msg_".to_string() + &all["items"][0]["seq"].to_string()}),
    );
    assert_eq!(message["item"]["description"], "Please look.");
    assert_eq!(
        message["item"]["fragments"][0]["id"],
        fragment_id("Please look.")
    );
    let of_task = world.ok("garden_timeline", json!({"entity": "TASK-001"}));
    assert_eq!(of_task["items"][0]["entity_type"], "node");
    world.assert_sound();
}

#[on_both]
fn a_thread_is_read_by_those_who_take_part(world: World) {
    world.ok(
        "create_thread",
        json!({"title": "Private", "participants": ["bob"]}),
    );
    let posted = world.ok(
        "post_message",
        json!({"thread_id": "th_001", "body": "between us"}),
    );
    let id = posted["message_id"].as_str().unwrap();
    let eve = caller("eve", Role::Worker);
    let reads = [
        ("garden_get", json!({"id": id})),
        ("garden_timeline", json!({})),
        ("garden_trace", json!({"item": id})),
        ("why", json!({"id": id})),
        ("garden_refs", json!({"content": fragment_id("between us")})),
        ("garden_relations", json!({"of": id})),
    ];
    for (tool, args) in reads {
        match world.call_as(&eve, tool, args.clone()) {
            Ok(answer) => assert!(!answer.to_string().contains("between"), "{tool}: {answer}"),
            Err(fault) => assert_eq!(fault.code, Code::NotFound, "{tool}"),
        }
        let answer = by(&world, "bob", tool, args);
        if tool != "garden_relations" {
            assert!(
                answer.to_string().contains("between us"),
                "{tool}: {answer}"
            );
        }
    }
    by(
        &world,
        "bob",
        "heartbeat_session",
        json!({"resumable": true, "runtime": "codex_cli"}),
    );
    let wake = json!({"thread_id": "th_001", "target_agent_id": "bob", "trigger_prompt": "psst"});
    world.ok("trigger_participant", wake);
    for (tool, args) in [
        ("garden_get", json!({"id": "th_001"})),
        ("garden_entity_history", json!({"uuid": "th_001", "at": 1})),
        ("garden_get", json!({"id": "wake_001"})),
    ] {
        let fault = world.call_as(&eve, tool, args.clone()).unwrap_err();
        assert_eq!(fault.code, Code::NotFound, "{tool}");
        by(&world, "bob", tool, args);
    }
    add(
        &world,
        json!({"type": "Note", "description": "as said in @th_001"}),
    );
    for (tool, args) in [
        ("garden_timeline", json!({"limit": 200})),
        ("garden_timeline", json!({"entity": "th_001"})),
        ("garden_refs", json!({"content": "@th_001"})),
        ("garden_relations", json!({"of": "th_001"})),
        ("why", json!({"id": "th_001"})),
        ("garden_changes", json!({})),
    ] {
        let seen = match world.call_as(&eve, tool, args.clone()) {
            Ok(answer) => answer.to_string(),
            Err(fault) => format!("{fault:?}"),
        };
        assert!(
            !seen.contains("Private") && !seen.contains("psst"),
            "{tool}: {seen}"
        );
    }
    let auditor = caller("ivy", Role::Auditor);
    let seen = world
        .call_as(&auditor, "garden_get", json!({"id": id}))
        .unwrap();
    assert_eq!(seen["item"]["description"], "between us");
}

#[on_both]
fn answers_keep_their_budget(world: World) {
    for at in 0..20 {
        note(&world, &format!("note {at} {}", "long ".repeat(50)));
    }
    for max_chars in [0, 100, 500, 2_000, 10_000] {
        let answer = world.ok("garden_timeline", json!({"max_chars": max_chars}));
        let size = answer.to_string().chars().count();
        assert!(size <= max_chars.max(80), "{max_chars}: {size}");
        assert_eq!(answer["truncated"], true);
    }
}

#[on_both]
fn one_thing_keeps_its_budget_too(world: World) {
    let item = note(&world, &"long ".repeat(5_000));
    for max_chars in [30, 500, 10_000] {
        let got = world.ok(
            "garden_get",
            json!({"id": item["uuid"], "max_chars": max_chars}),
        );
        assert!(got.to_string().chars().count() <= max_chars, "{max_chars}");
        assert_eq!(got["truncated"], true);
    }
    let got = world.ok("garden_get", json!({"id": item["uuid"], "max_chars": 500}));
    assert_eq!(got["item"]["uuid"], item["uuid"]);
}

#[on_both]
fn a_retry_adds_nothing(world: World) {
    let args = json!({"type": "Note", "description": "once", "idempotency_key": "k"});
    let first = world.ok("garden_add", args.clone());
    assert_eq!(world.ok("garden_add", args), first);
    let other = json!({"type": "Note", "description": "twice", "idempotency_key": "k"});
    assert_eq!(
        world.refused("garden_add", other).code,
        Code::IdempotencyConflict
    );
}

#[on_both]
fn nothing_yet_is_answered_without_writing(world: World) {
    assert_eq!(
        texts(&world.ok("garden_timeline", json!({}))),
        [] as [&str; 0]
    );
    assert_eq!(
        world.refused("garden_get", json!({"id": "R001"})).code,
        Code::NotFound
    );
    let refs = world.ok("garden_refs", json!({"content": "see ^a7f"}));
    assert_eq!(refs["refs"][0]["resolved"], false);
    assert_eq!(world.head(), 0);
}

#[on_both]
fn dates_without_a_time_and_the_end_of_the_calendar_are_times(world: World) {
    for (given, kept) in [
        ("2026-02-17", "2026-02-17T00:00:00"),
        ("9999-12-31", "9999-12-30T"),
        ("0001-01-01", "0001-01-01T00:00:00"),
    ] {
        let note = add(
            &world,
            json!({"type": "Note", "description": given, "canonical_at": given}),
        );
        assert!(
            note["canonical_at"].as_str().unwrap().starts_with(kept),
            "{note}"
        );
    }
    let day = |until: &str| {
        let found = world.ok(
            "garden_timeline",
            json!({"clock": "canonical", "since": "2026-02-17", "until": until, "types": ["Note"]}),
        );
        found["items"].as_array().unwrap().len()
    };
    assert_eq!(
        (day("2026-02-17"), day("2026-02-16")),
        (1, 0),
        "a date is all of its day"
    );
    let fault = world.refused("garden_timeline", json!({"since": "17.2.2026"}));
    assert!(fault.message.contains("must be a time"), "{fault}");
    world.assert_sound();
}
