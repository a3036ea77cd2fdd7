//! A message posted again with its key is one message and one answer.

use std::time::Duration;

use crate::threads_common::*;
use serde_json::{Value, json};
use understory_engine::{Engine, Options};
use understory_model::{Caller, Code};
use understory_testkit::{World, on_both};

fn keyed(thread: &str, body: &str, key: &str) -> Value {
    json!({"thread_id": thread, "body": body, "idempotency_key": key})
}

/// Posts many times at once, on engines in turn.
fn race(engines: &[&Engine], agent: &str, args: &[Value]) -> Vec<Result<Value, Code>> {
    let start = std::sync::Barrier::new(args.len());
    std::thread::scope(|scope| {
        let hands: Vec<_> = args
            .iter()
            .enumerate()
            .map(|(at, args)| {
                let (engine, start) = (engines[at % engines.len()], &start);
                scope.spawn(move || {
                    start.wait();
                    let answer =
                        World::call_on(engine, &World::caller(agent), "post_message", args.clone());
                    answer.map_err(|fault| fault.code)
                })
            })
            .collect();
        hands
            .into_iter()
            .map(|hand| hand.join().expect("no panic"))
            .collect()
    })
}

#[on_both]
fn retries_that_race_are_one_message_and_one_answer(world: World) {
    let id = thread(&world, &["bob"]);
    let (second, third) = (world.another(), world.another());
    let engines = [&*world.engine, &second, &third];
    for round in 0..5 {
        let args = vec![keyed(&id, "once", &format!("k{round}")); 9];
        let answers = race(&engines, "bob", &args);
        let first = answers[0].clone().expect("posted");
        assert!(
            answers.iter().all(|answer| *answer == Ok(first.clone())),
            "{answers:?}"
        );
        assert_eq!(first["seq"], round + 1);
    }
    assert_eq!(messages(&world, &id).len(), 5);
    world.assert_sound();
}

#[on_both]
fn of_other_messages_that_race_with_one_key_one_wins(world: World) {
    let id = thread(&world, &["bob"]);
    let second = world.another();
    for round in 0..5 {
        let args: Vec<Value> = (0..6)
            .map(|at| keyed(&id, &format!("{at}"), &format!("k{round}")))
            .collect();
        let answers = race(&[&*world.engine, &second], "bob", &args);
        let won: Vec<usize> = (0..6).filter(|at| answers[*at].is_ok()).collect();
        assert_eq!(won.len(), 1, "{answers:?}");
        assert!(answers.iter().all(|answer| {
            answer
                .as_ref()
                .err()
                .is_none_or(|code| *code == Code::IdempotencyConflict)
        }));
        assert_eq!(
            messages(&world, &id)[round]["body"],
            format!("{}", won[0]),
            "the one that was told so"
        );
    }
    assert_eq!(messages(&world, &id).len(), 5);
}

#[on_both]
fn other_content_is_a_conflict_whatever_differs(world: World) {
    let id = thread(&world, &["bob"]);
    let said = text(&say(&world, "bob", &id, "x")["message_id"]);
    let base = json!({"thread_id": id, "kind": "event", "body": "b", "idempotency_key": "k", "in_reply_to": said,
        "metadata": {"event_type": "note", "n": 1, "deep": {"list": [1, 2]}}});
    world.ok("post_message", base.clone());
    let other = [
        json!({"body": "B"}),
        json!({"body": "b "}),
        json!({"kind": "chat"}),
        json!({"in_reply_to": null}),
        json!({"metadata": {"event_type": "note"}}),
        json!({"metadata": {"event_type": "note", "n": 2, "deep": {"list": [1, 2]}}}),
        json!({"metadata": {"event_type": "note", "n": "1", "deep": {"list": [1, 2]}}}),
        json!({"metadata": {"event_type": "note", "n": 1, "deep": {"list": [2, 1]}}}),
        json!({"metadata": {"event_type": "note", "n": 1.5, "deep": {"list": [1, 2]}}}),
        json!({"metadata": {"event_type": "note", "n": 1, "deep": {"list": [1, 2]}, "more": null}}),
    ];
    for more in other {
        let fault = refuse(
            &world,
            "post_message",
            with(base.clone(), more),
            Code::IdempotencyConflict,
        );
        assert!(fault.hint.is_some());
    }
    assert_eq!(messages(&world, &id).len(), 2);
}

#[on_both]
fn equal_values_are_the_same_however_they_are_written(world: World) {
    let id = thread(&world, &["bob"]);
    let args = |metadata: &str, more: &str| -> Value {
        let text =
            format!(r#"{{"thread_id":"{id}","body":"b","idempotency_key":"k"{more}{metadata}}}"#);
        serde_json::from_str(&text).expect("JSON")
    };
    let first = world.ok(
        "post_message",
        args(
            r#","metadata":{"a":1,"b":{"c":[2.0,{"x":1,"y":-3}]},"z":1.5e3}"#,
            "",
        ),
    );
    let same = [
        (
            r#","metadata":{"b":{"c":[2,{"y":-3.0,"x":1.0}]},"z":1500,"a":1.0}"#,
            "",
        ),
        (
            r#","metadata":{"a":1e0,"b":{"c":[2.0,{"x":1,"y":-3}]},"z":1500.0}"#,
            r#","kind":"chat""#,
        ),
        (
            r#","metadata":{"a":1,"b":{"c":[2.0,{"x":1,"y":-3}]},"z":1.5e3}"#,
            r#","schema_version":1,"in_reply_to":null"#,
        ),
        (
            r#","metadata":{"a":1,"b":{"c":[2.0,{"x":1,"y":-3}]},"z":1.5e3}"#,
            r#","sender_agent_id":"ada","sender_session_id":"sess_ada""#,
        ),
    ];
    for (metadata, more) in same {
        assert_eq!(
            world.ok("post_message", args(metadata, more)),
            first,
            "{metadata} {more}"
        );
    }
    let bare = world.ok("post_message", keyed(&id, "x", "bare"));
    for none in [json!({}), json!(null)] {
        assert_eq!(
            world.ok(
                "post_message",
                with(keyed(&id, "x", "bare"), json!({"metadata": none}))
            ),
            bare
        );
    }
    assert_eq!(messages(&world, &id).len(), 2);
}

#[on_both]
fn a_retry_from_another_session_is_the_same_message(world: World) {
    let id = thread(&world, &["bob"]);
    let first = world.ok("post_message", keyed(&id, "x", "k"));
    let later = Caller {
        session: "sess_later".into(),
        ..world.caller.clone()
    };
    let args = with(
        keyed(&id, "x", "k"),
        json!({"sender_session_id": "sess_later"}),
    );
    assert_eq!(as_one(&world, &later, "post_message", args), first);
    assert_eq!(messages(&world, &id)[0]["sender_session_id"], "sess_ada");
}

#[on_both]
fn a_retry_is_answered_after_the_thread_was_closed(world: World) {
    let id = thread(&world, &["bob"]);
    let first = by(&world, "bob", "post_message", keyed(&id, "x", "k"));
    world.ok(
        "update_thread_status",
        json!({"thread_id": id, "status": "closed"}),
    );
    assert_eq!(
        by(&world, "bob", "post_message", keyed(&id, "x", "k")),
        first,
        "as the first time, its status too"
    );
    let bob = World::caller("bob");
    refused(
        &world,
        &bob,
        "post_message",
        keyed(&id, "y", "k"),
        Code::IdempotencyConflict,
    );
    refused(
        &world,
        &bob,
        "post_message",
        keyed(&id, "x", "new"),
        Code::Conflict,
    );
    refused(
        &world,
        &bob,
        "post_message",
        json!({"thread_id": id, "body": "x"}),
        Code::Conflict,
    );
}

#[on_both]
fn a_key_counts_in_one_thread_of_one_sender(world: World) {
    let (a, b) = (thread(&world, &["bob"]), thread(&world, &["bob"]));
    let mut told = Vec::new();
    for (agent, thread) in [("ada", &a), ("ada", &b), ("bob", &a), ("bob", &b)] {
        told.push(text(
            &by(
                &world,
                agent,
                "post_message",
                keyed(thread, &format!("{agent} {thread}"), "k"),
            )["message_id"],
        ));
    }
    told.sort();
    told.dedup();
    assert_eq!(told.len(), 4);
    // Nor is it the key of another tool.
    world.ok(
        "ack_read",
        json!({"thread_id": a, "last_read_seq": 1, "idempotency_key": "k"}),
    );
    let away = Caller {
        workspace: "elsewhere".into(),
        ..world.caller.clone()
    };
    let own = as_one(&world, &away, "create_thread", json!({"title": "t"}));
    assert_eq!(
        as_one(
            &world,
            &away,
            "post_message",
            keyed(own["thread_id"].as_str().unwrap(), "z", "k")
        )["seq"],
        1
    );
}

#[on_both]
fn without_a_key_the_same_words_are_said_twice(world: World) {
    let id = thread(&world, &["bob"]);
    assert_eq!(
        (
            &say(&world, "bob", &id, "x")["seq"],
            &say(&world, "bob", &id, "x")["seq"]
        ),
        (&json!(1), &json!(2))
    );
}

#[on_both]
fn a_refused_message_leaves_its_key_free(world: World) {
    let id = thread(&world, &["bob"]);
    refuse(
        &world,
        "post_message",
        with(keyed(&id, "x", "k"), json!({"in_reply_to": "msg_999"})),
        Code::NotFound,
    );
    refused(
        &world,
        &World::caller("eve"),
        "post_message",
        keyed(&id, "x", "k"),
        Code::Forbidden,
    );
    assert_eq!(world.ok("post_message", keyed(&id, "y", "k"))["seq"], 1);
}

#[on_both]
fn a_key_is_forgotten_when_its_window_is_over(world: World) {
    let id = thread(&world, &["bob"]);
    let first = world.ok("post_message", keyed(&id, "x", "k"));
    world.clock.turn(24 * 3_600 - 10);
    assert_eq!(world.ok("post_message", keyed(&id, "x", "k")), first);
    world.clock.turn(20);
    assert_eq!(world.ok("post_message", keyed(&id, "other", "k"))["seq"], 2);
    let options = Options {
        keep_answers: Duration::from_secs(60),
        ..world.options()
    };
    let short = Engine::open(&world.backend.store(), options).unwrap();
    on(&short, "ada", "post_message", keyed(&id, "s", "short"));
    world.clock.turn(50);
    assert_eq!(
        on(&short, "ada", "post_message", keyed(&id, "s", "short"))["seq"],
        3
    );
    world.clock.turn(20);
    assert_eq!(
        on(&short, "ada", "post_message", keyed(&id, "s", "short"))["seq"],
        4
    );
}

#[on_both]
fn a_retry_outlives_the_engine_and_a_rebuild(world: World) {
    let id = thread(&world, &["bob"]);
    let first = world.ok("post_message", keyed(&id, "x", "k"));
    world.engine.rebuild(|_, _| {}).unwrap();
    let fresh = world.another();
    world.engine.close();
    assert_eq!(
        on(&fresh, "ada", "post_message", keyed(&id, "x", "k")),
        first
    );
    assert_eq!(
        on(&fresh, "ada", "post_message", keyed(&id, "x", "k2"))["seq"],
        2
    );
}

#[on_both]
fn other_writes_of_threads_take_a_key_too(world: World) {
    let made = world.ok(
        "create_thread",
        json!({"title": "t", "participants": ["bob"], "idempotency_key": "k"}),
    );
    assert_eq!(
        world.ok(
            "create_thread",
            json!({"title": "t", "participants": ["bob"], "idempotency_key": "k"})
        ),
        made
    );
    refuse(
        &world,
        "create_thread",
        json!({"title": "u", "participants": ["bob"], "idempotency_key": "k"}),
        Code::IdempotencyConflict,
    );
    let id = text(&made["thread_id"]);
    say(&world, "bob", &id, "x");
    say(&world, "ada", &id, "y");
    by(
        &world,
        "bob",
        "heartbeat_session",
        json!({"resumable": true, "status": "idle"}),
    );
    let writes = [
        (
            "ack_read",
            json!({"thread_id": id, "last_read_seq": 1, "idempotency_key": "k"}),
        ),
        (
            "update_thread_status",
            json!({"thread_id": id, "status": "blocked", "idempotency_key": "k"}),
        ),
        (
            "trigger_participant",
            json!({"thread_id": id, "target_agent_id": "bob", "idempotency_key": "k"}),
        ),
    ];
    for (tool, args) in writes {
        let first = world.ok(tool, args.clone());
        let head = world.head();
        assert_eq!(world.ok(tool, args.clone()), first, "{tool}");
        assert_eq!(world.head(), head, "{tool}");
        refuse(
            &world,
            tool,
            with(args, json!({"thread_id": "th_999"})),
            Code::IdempotencyConflict,
        );
    }
}
