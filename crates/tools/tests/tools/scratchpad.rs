//! The scratchpad: shared while a task or a conversation is open, forgotten with it.

use crate::threads_common::*;
use serde_json::{Value, json};
use understory_model::{Code, Role, limits};
use understory_testkit::{World, on_both};

#[track_caller]
fn pad(world: &World, more: Value) -> Value {
    world.ok("scratchpad", with(json!({"task": "TASK-001"}), more))
}

fn resolve(world: &World, resolved: bool) {
    let update = json!({"node_id": "TASK-001", "resolved": resolved});
    world.ok("graph_update", json!({"updates": [update]}));
}

/// What the table holds, whatever a read would show.
fn stored(world: &World) -> i64 {
    world
        .backend
        .raw()
        .number("SELECT COUNT(*) FROM live_scratch WHERE content <> ''")
}

/// Whether a word stands anywhere in the files of a SQLite store.
fn in_files(world: &World, word: &str) -> bool {
    let folder = world.backend.file();
    let folder = folder.parent().unwrap();
    std::fs::read_dir(folder).unwrap().any(|entry| {
        let bytes = std::fs::read(entry.unwrap().path()).unwrap_or_default();
        bytes
            .windows(word.len())
            .any(|window| window == word.as_bytes())
    })
}

#[on_both]
fn what_is_forgotten_is_in_no_file(world: World) {
    world.plan(&["one"]);
    pad(&world, json!({"write": "the word is zanzibarquux"}));
    pad(&world, json!({"write": "the word was quuxzanzibar"}));
    resolve(&world, true);
    assert_eq!(stored(&world), 0);
    if world.backend.is_sqlite() {
        for word in ["zanzibarquux", "quuxzanzibar"] {
            assert!(!in_files(&world, word), "{word}");
        }
    }
}

#[on_both]
fn a_text_is_shared_and_is_no_item(world: World) {
    world.plan(&["one", "two"]);
    let head = world.head();
    assert_eq!(
        pad(&world, json!({})),
        json!({"task": "TASK-001", "text": "", "rev": 0})
    );
    let first = pad(&world, json!({"write": "Tried A.\n"}));
    assert_eq!(
        (&first["rev"], &first["text"]),
        (&json!(1), &json!("Tried A.\n"))
    );
    let more = by(
        &world,
        "bob",
        "scratchpad",
        json!({"task": "TASK-001", "write": "日本語 🌱", "append": true}),
    );
    assert_eq!(more["text"], "Tried A.\n日本語 🌱");
    assert_eq!(
        (&more["rev"], &more["updated_by"]),
        (&json!(2), &json!("bob"))
    );
    pad(&world, json!({"write": "next", "append": true}));
    assert_eq!(pad(&world, json!({}))["text"], "Tried A.\n日本語 🌱\nnext");
    assert_eq!(
        world.ok("scratchpad", json!({"task": "TASK-002"}))["text"],
        ""
    );
    assert_eq!(world.head(), head, "it is live, not of record");
    let other = world.another();
    assert_eq!(
        on(&other, "cyd", "scratchpad", json!({"task": "TASK-001"}))["rev"],
        3
    );
    world.assert_sound();
}

#[on_both]
fn nobody_loses_a_text_without_a_word(world: World) {
    world.plan(&["one"]);
    pad(&world, json!({"write": "ada's"}));
    let over = by(
        &world,
        "bob",
        "scratchpad",
        json!({"task": "TASK-001", "write": "bob's"}),
    );
    assert_eq!(
        over["replaced"],
        json!({"text": "ada's", "rev": 1, "updated_by": "ada"})
    );
    let stale = json!({"task": "TASK-001", "write": "mine again", "expected_rev": 1});
    let fault = refuse(&world, "scratchpad", stale, Code::Conflict);
    let current = fault.details.unwrap()["current"].clone();
    assert_eq!(
        (&current["text"], &current["rev"]),
        (&json!("bob's"), &json!(2))
    );
    let now = pad(&world, json!({"write": "both", "expected_rev": 2}));
    assert_eq!((&now["rev"], now.get("replaced")), (&json!(3), None));
    assert_eq!(
        pad(&world, json!({"write": "mine"})).get("replaced"),
        None,
        "one's own is no loss"
    );
    assert_eq!(pad(&world, json!({"write": ""}))["rev"], 5);
}

#[on_both]
fn of_many_writers_at_once_each_number_goes_to_one(world: World) {
    world.plan(&["one"]);
    let engine = world.another();
    let won: Vec<bool> = std::thread::scope(|scope| {
        let calls: Vec<_> = (0..8)
            .map(|n| {
                let engine = &engine;
                scope.spawn(move || {
                    let args =
                        json!({"task": "TASK-001", "write": format!("by {n}"), "expected_rev": 0});
                    match World::call_on(
                        engine,
                        &World::caller(&format!("a{n}")),
                        "scratchpad",
                        args,
                    ) {
                        Ok(_) => true,
                        Err(fault) => {
                            assert_eq!(fault.code, Code::Conflict);
                            false
                        }
                    }
                })
            })
            .collect();
        calls
            .into_iter()
            .map(|call| call.join().expect("no panic"))
            .collect()
    });
    assert_eq!(won.iter().filter(|won| **won).count(), 1);
    std::thread::scope(|scope| {
        for n in 0..8 {
            let engine = &engine;
            scope.spawn(move || {
                on(
                    engine,
                    &format!("a{n}"),
                    "scratchpad",
                    json!({"task": "TASK-001", "write": format!("line {n}"), "append": true}),
                )
            });
        }
    });
    let all = pad(&world, json!({}));
    assert_eq!(
        (all["text"].as_str().unwrap().lines().count(), &all["rev"]),
        (9, &json!(9))
    );
}

#[on_both]
fn what_is_kept_becomes_a_note_with_its_cause(world: World) {
    world.plan(&["one"]);
    let answer = pad(
        &world,
        json!({"write": "A is slow.\nB is fast.\nLunch.", "keep": ["A is slow.", "B is fast."]}),
    );
    let note = answer["kept"].clone();
    assert_eq!(
        (&note["_type"], &note["description"]),
        (&json!("Note"), &json!("A is slow.\nB is fast."))
    );
    assert!(text(&note["title"]).contains("TASK-001"));
    let cause = world.ok("garden_get", json!({"id": note["caused_by"]}));
    assert_eq!(cause["item"]["handle"], "TASK-001", "{cause}");
    assert_eq!(
        pad(&world, json!({"keep": "Lunch."}))["kept"]["description"],
        "Lunch."
    );
    assert_eq!(
        pad(&world, json!({"keep": true}))["kept"]["description"],
        "A is slow.\nB is fast.\nLunch."
    );
    assert_eq!(pad(&world, json!({}))["rev"], 1, "to keep changes no text");
    let task = |more: Value| with(json!({"task": "TASK-001"}), more);
    refuse_field(
        &world,
        "scratchpad",
        task(json!({"keep": ["Lunch.", "Dinner."]})),
        "keep[1]",
    );
    refuse_field(
        &world,
        "scratchpad",
        task(json!({"write": "x", "keep": ["Lunch."]})),
        "keep[0]",
    );
    assert_eq!(
        pad(&world, json!({}))["rev"],
        1,
        "a refused call changes no text either"
    );
    refuse_field(&world, "scratchpad", task(json!({"keep": []})), "keep");
    refuse_field(&world, "scratchpad", task(json!({"keep": 5})), "keep");
    world.plan(&["two"]);
    refuse_field(
        &world,
        "scratchpad",
        json!({"task": "TASK-002", "keep": true}),
        "keep",
    );
    world.assert_sound();
}

#[on_both]
fn it_is_forgotten_when_the_task_is_resolved_and_stays_so(world: World) {
    world.plan(&["one", "two"]);
    pad(&world, json!({"write": "secret thoughts"}));
    world.ok("scratchpad", json!({"task": "TASK-002", "write": "stays"}));
    resolve(&world, true);
    assert_eq!(
        stored(&world),
        1,
        "gone from the table, not only from sight"
    );
    let gone = pad(&world, json!({}));
    assert_eq!((&gone["text"], &gone["closed"]), (&json!(""), &json!(true)));
    for more in [json!({"write": "late"}), json!({"keep": true})] {
        refuse(
            &world,
            "scratchpad",
            with(json!({"task": "TASK-001"}), more),
            Code::Conflict,
        );
    }
    resolve(&world, false);
    assert_eq!(pad(&world, json!({}))["text"], "");
    let fault = refuse(
        &world,
        "scratchpad",
        json!({"task": "TASK-001", "write": "x", "expected_rev": 1}),
        Code::Conflict,
    );
    assert_eq!(fault.details.unwrap()["current"]["text"], "");
    assert_eq!(
        pad(&world, json!({"write": "anew"}))["rev"],
        3,
        "no number comes twice"
    );
    assert_eq!(
        world.ok("scratchpad", json!({"task": "TASK-002"}))["text"],
        "stays"
    );
    // Dropped and merged nodes are over too.
    let drop = json!({"op": "drop", "node_id": "TASK-001", "reason": "r"});
    world.ok("graph_restructure", json!({"operations": [drop]}));
    assert_eq!(stored(&world), 1);
    world.assert_sound();
}

#[on_both]
fn a_conversation_has_one_until_it_is_collapsed(world: World) {
    world.ok("garden_add", json!({"type": "Note", "description": "one"}));
    let log = text(&world.ok("garden_fork", json!({}))["log"]["uuid"]);
    let pad = |more: Value| with(json!({"log": log}), more);
    let answer = world.ok(
        "scratchpad",
        pad(json!({"write": "a thought", "keep": true})),
    );
    assert_eq!(
        (&answer["log"], &answer["kept"]["log"]),
        (&json!(log), &json!(log))
    );
    world.ok("garden_collapse", json!({"log": log, "summary": "s"}));
    assert_eq!(stored(&world), 0);
    assert_eq!(world.ok("scratchpad", pad(json!({})))["closed"], true);
    refuse(
        &world,
        "scratchpad",
        pad(json!({"write": "late"})),
        Code::Conflict,
    );
    world.assert_sound();
}

#[on_both]
fn bad_arguments_are_named(world: World) {
    refuse(
        &world,
        "scratchpad",
        json!({"task": "TASK-001"}),
        Code::NotFound,
    );
    world.plan(&["one"]);
    refuse_field(&world, "scratchpad", json!({}), "task");
    refuse_field(
        &world,
        "scratchpad",
        json!({"task": "TASK-001", "log": "x"}),
        "log",
    );
    refuse_field(
        &world,
        "scratchpad",
        json!({"task": "TASK-001", "append": true}),
        "append",
    );
    refuse_field(
        &world,
        "scratchpad",
        json!({"task": "TASK-001", "expected_rev": 0}),
        "expected_rev",
    );
    refuse_field(
        &world,
        "scratchpad",
        json!({"task": "TASK-001", "write": "a\0b"}),
        "write",
    );
    refuse(
        &world,
        "scratchpad",
        json!({"task": "TASK-777"}),
        Code::NotFound,
    );
    refuse(
        &world,
        "scratchpad",
        json!({"task": "TASK-777", "write": "x"}),
        Code::NotFound,
    );
    refuse_field(
        &world,
        "scratchpad",
        json!({"log": "TASK-001", "write": "x"}),
        "log",
    );
    let long = "é".repeat(limits::SCRATCH_CHARS);
    refuse_field(
        &world,
        "scratchpad",
        json!({"task": "TASK-001", "write": format!("{long}x")}),
        "write",
    );
    pad(&world, json!({"write": long}));
    refuse_field(
        &world,
        "scratchpad",
        json!({"task": "TASK-001", "write": "x", "append": true}),
        "write",
    );
    for most in [0, 30, 200, 5_000] {
        let cut = pad(&world, json!({"max_chars": most}));
        assert!(cut.to_string().chars().count() <= most.max(18), "{most}");
        assert_eq!(cut["truncated"], true);
    }
    let auditor = caller("aud", Role::Auditor);
    as_one(
        &world,
        &auditor,
        "scratchpad",
        json!({"task": "TASK-001", "max_chars": 200}),
    );
    refused(
        &world,
        &auditor,
        "scratchpad",
        json!({"task": "TASK-001", "write": "x"}),
        Code::Forbidden,
    );
}

#[on_both]
fn a_retry_appends_once(world: World) {
    world.plan(&["one"]);
    let args = json!({"write": "line", "append": true, "idempotency_key": "k"});
    let first = pad(&world, args.clone());
    assert_eq!(pad(&world, args), first);
    assert_eq!(pad(&world, json!({}))["text"], "line");
}
