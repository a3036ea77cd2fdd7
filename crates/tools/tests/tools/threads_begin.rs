//! With the essentials alone: a conversation begun by a message, gone on with by waiting, and ended by
//! acknowledging; and what every method takes.

use crate::common::chars;
use crate::threads_common::*;
use serde_json::{Value, json};
use understory_engine::Options;
use understory_model::{Code, Role};
use understory_testkit::{Backend, World, on_both};

fn look(world: &World, agent: &str, more: Value) -> Value {
    by(
        world,
        agent,
        "wait_for_messages",
        with(json!({"timeout_s": 0}), more),
    )
}

#[on_both]
fn a_message_to_somebody_begins_a_thread(world: World) {
    let args =
        json!({"to": ["bob", "cyd"], "body": "\n The oven API is in 4f2a91c.\nPlease look."});
    let answer = world.ok("post_message", args);
    assert_eq!(
        (
            &answer["thread_id"],
            &answer["seq"],
            &answer["thread_status"]
        ),
        (&json!("th_001"), &json!(1), &json!("active"))
    );
    let made = get(&world, "th_001");
    assert_eq!(
        (&made["title"], &made["participants"], &made["type"]),
        (
            &json!("The oven API is in 4f2a91c."),
            &json!(["bob", "cyd"]),
            &json!("conversation")
        )
    );
    let told = look(&world, "bob", json!({}));
    assert_eq!(told["messages"][0]["message_id"], answer["message_id"]);
    by(
        &world,
        "bob",
        "post_message",
        json!({"thread_id": "th_001", "body": "Seen"}),
    );
    assert_eq!(
        look(&world, "bob", json!({"ack": told["next"]}))["timed_out"],
        true,
        "ended by acknowledging"
    );
    assert_eq!(unread(&world, "bob"), (0, 0));
    let titled = world.ok(
        "post_message",
        json!({"to": ["bob"], "title": "Lunch", "body": "Noon?"}),
    );
    assert_eq!(get(&world, &text(&titled["thread_id"]))["title"], "Lunch");
    world.assert_sound();
}

#[on_both]
fn a_retry_begins_no_second_thread(world: World) {
    let args = json!({"to": ["bob"], "body": "once", "idempotency_key": "k"});
    let first = world.ok("post_message", args.clone());
    assert_eq!(world.ok("post_message", args), first);
    for other in [
        json!({"to": ["cyd"], "body": "once"}),
        json!({"to": ["bob"], "title": "T", "body": "once"}),
    ] {
        refuse(
            &world,
            "post_message",
            with(other, json!({"idempotency_key": "k"})),
            Code::IdempotencyConflict,
        );
    }
}

#[on_both]
fn where_a_message_goes_is_said_once(world: World) {
    let id = thread(&world, &["bob"]);
    for (more, field) in [
        (json!({}), "thread_id"),
        (json!({"thread_id": id, "to": ["bob"]}), "to"),
        (json!({"thread_id": id, "title": "T"}), "title"),
        (json!({"to": ["o'neil"]}), "to[0]"),
        (json!({"to": ["bob"], "title": " "}), "title"),
    ] {
        refuse_field(
            &world,
            "post_message",
            with(json!({"body": "b"}), more),
            field,
        );
    }
    refuse(
        &world,
        "post_message",
        json!({"to": ["bob"], "body": "b", "in_reply_to": "msg_1"}),
        Code::NotFound,
    );
    assert_eq!(
        world.ok("list_threads", json!({}))["threads"]
            .as_array()
            .unwrap()
            .len(),
        1,
        "a refusal makes no thread"
    );
}

#[on_both]
fn what_was_told_comes_to_every_new_session_until_it_is_acknowledged(world: World) {
    let (a, b) = (thread(&world, &["bob"]), thread(&world, &["bob"]));
    say(&world, "ada", &a, "1");
    say(&world, "ada", &b, "2");
    let first = look(&world, "bob", json!({}));
    assert!(text(&first["hint"]).contains("`ack`"), "{first}");
    assert_eq!(
        look_anew(&world, "bob", "after a crash", json!({})),
        first,
        "nothing is lost by who dies before it acknowledges"
    );
    say(&world, "ada", &a, "3");
    let second = look(&world, "bob", json!({"ack": first["next"]}));
    assert_eq!(
        each(&second["messages"], "body"),
        ["3"],
        "exactly what was told is read"
    );
    let head = world.head();
    look(&world, "bob", json!({"ack": first["next"]}));
    assert_eq!(
        world.head(),
        head,
        "a retry goes not back and writes nothing"
    );
    assert_eq!(
        look(&world, "bob", json!({"ack": second["next"]}))["timed_out"],
        true
    );
    assert_eq!(
        look(&world, "bob", json!({"since": {&a: 0}}))["messages"]
            .as_array()
            .unwrap()
            .len(),
        2,
        "since marks nothing and shows all"
    );
    world.assert_sound();
}

#[on_both]
fn a_wrong_acknowledgement_changes_nothing(world: World) {
    let id = thread(&world, &["bob"]);
    say(&world, "ada", &id, "1");
    let bob = World::caller("bob");
    for wrong in [
        json!({&id: 2}),
        json!({&id: -1}),
        json!({format!("{id}/status"): 1}),
        json!({&id: 1, format!("{id}/status"): 9}),
    ] {
        let fault = refused(
            &world,
            &bob,
            "wait_for_messages",
            json!({"ack": wrong, "timeout_s": 0}),
            Code::Validation,
        );
        assert_eq!(fault.details.unwrap()["field"], "ack");
    }
    refused(
        &world,
        &bob,
        "wait_for_messages",
        json!({"ack": {"th_099": 1}, "timeout_s": 0}),
        Code::NotFound,
    );
    refused(
        &world,
        &World::caller("eve"),
        "wait_for_messages",
        json!({"ack": {&id: 1}, "timeout_s": 0}),
        Code::Forbidden,
    );
    refused(
        &world,
        &bob,
        "wait_for_messages",
        json!({"ack": {&id: 1}, "thread_ids": ["th_099"], "timeout_s": 0}),
        Code::NotFound,
    );
    refused(
        &world,
        &bob,
        "wait_for_messages",
        json!({"ack": {&id: 1, "th_099": 1}, "timeout_s": 0}),
        Code::NotFound,
    );
    refused(
        &world,
        &caller("aud", Role::Auditor),
        "wait_for_messages",
        json!({"ack": {&id: 1}, "timeout_s": 0}),
        Code::Forbidden,
    );
    as_one(
        &world,
        &caller("aud", Role::Auditor),
        "wait_for_messages",
        json!({"timeout_s": 0}),
    );
    assert_eq!(unread(&world, "bob"), (1, 1));
}

#[on_both]
fn a_name_that_was_never_seen_is_told_with_those_it_may_mean(world: World) {
    by(&world, "reviewer", "heartbeat_session", json!({}));
    world.ok("create_thread", json!({"title": "t"}));
    let made = world.ok(
        "create_thread",
        json!({"title": "t", "participants": ["reviewr", "reviewer", "ada", "zz9", "zz9"]}),
    );
    assert_eq!(
        made["unknown_participants"],
        json!([{"agent_id": "reviewr", "nearest": ["reviewer"]}, {"agent_id": "zz9"}])
    );
    let id = text(&made["thread_id"]);
    let posted = world.ok("post_message", json!({"to": ["Ada"], "body": "b"}));
    assert_eq!(
        posted["unknown_participants"],
        json!([{"agent_id": "Ada", "nearest": ["ada"]}]),
        "names differ in case"
    );
    let added = world.ok(
        "update_thread_status",
        json!({"thread_id": id, "add_participants": ["adda"]}),
    );
    assert_eq!(added["unknown_participants"][0]["nearest"], json!(["ada"]));
    assert_eq!(
        world
            .ok(
                "create_thread",
                json!({"title": "t", "participants": ["reviewer"]})
            )
            .get("unknown_participants"),
        None
    );
    for wrong in ["日本 x", "", " bob", "a/b", &"n".repeat(65)] {
        refuse_field(
            &world,
            "create_thread",
            json!({"title": "t", "participants": ["ok", wrong]}),
            "participants[1]",
        );
    }
}

#[on_both]
fn every_method_takes_the_schema_version(world: World) {
    let id = thread(&world, &["bob"]);
    say(&world, "bob", &id, "x");
    let calls = [
        ("create_thread", json!({"title": "t"})),
        ("get_thread", json!({"thread_id": id})),
        ("list_threads", json!({})),
        ("post_message", json!({"thread_id": id, "body": "b"})),
        ("read_messages", json!({"thread_id": id})),
        ("ack_read", json!({"thread_id": id, "last_read_seq": 1})),
        (
            "update_thread_status",
            json!({"thread_id": id, "status": "blocked"}),
        ),
        ("summarize_thread", json!({"thread_id": id})),
        ("heartbeat_session", json!({})),
        (
            "trigger_participant",
            json!({"thread_id": id, "target_agent_id": "ada"}),
        ),
        ("wait_for_messages", json!({"timeout_s": 0})),
    ];
    for (tool, args) in calls {
        for wrong in [json!(2), json!(0), json!("1")] {
            refuse_field(
                &world,
                tool,
                with(args.clone(), json!({"schema_version": wrong})),
                "schema_version",
            );
        }
        world.ok(tool, with(args.clone(), json!({"schema_version": 1})));
        world.ok(tool, with(args, json!({"schema_version": null})));
    }
}

#[on_both]
fn a_key_is_shown_to_its_sender_and_a_cursor_to_all(world: World) {
    let id = thread(&world, &["bob"]);
    let said = world.ok(
        "post_message",
        json!({"thread_id": id, "body": "b", "idempotency_key": "secret-1"}),
    );
    let read = |agent: &str| {
        by(&world, agent, "read_messages", json!({"thread_id": id}))["messages"][0]["idempotency_key"].clone()
    };
    assert_eq!((read("ada"), read("bob")), (json!("secret-1"), Value::Null));
    let done = ack(&world, "bob", &id, 1);
    let readers = get(&world, &id)["readers"].clone();
    assert_eq!(
        (
            &readers[1]["last_acked_message_id"],
            &readers[1]["updated_at"]
        ),
        (&said["message_id"], &done["updated_at"])
    );
    assert_eq!(
        readers[0].get("last_acked_message_id"),
        None,
        "ada acknowledged nothing"
    );
}

#[on_both]
fn fifty_short_messages_repeat_nothing_that_is_the_same_in_all(world: World) {
    let id = thread(&world, &["bob"]);
    (0..50).for_each(|at| drop(say(&world, "ada", &id, &format!("short message {at}"))));
    let brief = world.ok("read_messages", json!({"thread_id": id}));
    let full = world.ok("read_messages", json!({"thread_id": id, "full": true}));
    assert_eq!(
        (&brief["thread_id"], &brief["schema_version"]),
        (&json!(id), &json!(1))
    );
    let message = brief["messages"][0].as_object().unwrap();
    let fields: Vec<&str> = message.keys().map(String::as_str).collect();
    for once in ["thread_id", "schema_version", "sender_session_id"] {
        assert!(!fields.contains(&once), "{fields:?}");
        assert!(full["messages"][0].get(once).is_some(), "{once}");
    }
    for kept in [
        "message_id",
        "seq",
        "kind",
        "body",
        "sender_agent_id",
        "created_at",
    ] {
        assert!(fields.contains(&kept), "{fields:?}");
    }
    assert!(
        chars(&brief) * 10 < chars(&full) * 8,
        "{} {}",
        chars(&brief),
        chars(&full)
    );
}

#[on_both]
fn before_the_first_write_the_same_rules_hold(world: World) {
    let nothing = json!({"threads": [], "unread": {"threads": 0, "messages": 0}});
    assert_eq!(world.ok("list_threads", json!({})), nothing);
    refuse(
        &world,
        "list_threads",
        json!({"all": true}),
        Code::InsufficientAuthority,
    );
    refuse(
        &world,
        "list_threads",
        json!({"cursor": "x"}),
        Code::Validation,
    );
    for tool in ["get_thread", "read_messages", "summarize_thread"] {
        refuse(&world, tool, json!({"thread_id": "th_001"}), Code::NotFound);
    }
    refuse(
        &world,
        "wait_for_messages",
        json!({"thread_ids": ["th_001"], "timeout_s": 0}),
        Code::NotFound,
    );
    let waited = world.ok("wait_for_messages", json!({"timeout_s": 0}));
    assert_eq!(
        waited,
        json!({"messages": [], "next": {}, "has_more": false, "timed_out": true})
    );
    assert_eq!(world.head(), 0);
}

#[on_both]
fn a_worker_has_no_authority_over_the_threads_of_others(world: World) {
    thread(&world, &["bob"]);
    refuse(
        &world,
        "list_threads",
        json!({"all": true}),
        Code::InsufficientAuthority,
    );
    for role in [Role::Operator, Role::Orchestrator, Role::Auditor] {
        as_one(
            &world,
            &caller("x", role),
            "list_threads",
            json!({"all": true}),
        );
    }
}

fn quota(backend: Backend) {
    let clock = std::sync::Arc::new(understory_testkit::TestClock::default());
    let options = Options {
        clock: clock.clone(),
        messages_per_minute: Some(3),
        ..Options::default()
    };
    let world = World::with(backend, clock, options);
    let (a, b) = (thread(&world, &["bob"]), thread(&world, &["bob"]));
    for id in [&a, &b, &a] {
        say(&world, "ada", id, "x");
        world.clock.turn(10);
    }
    let fault = refuse(
        &world,
        "post_message",
        json!({"thread_id": b, "body": "x"}),
        Code::RateLimited,
    );
    let wait = fault.details.unwrap()["retry_after_s"].as_i64().unwrap();
    assert!((25..=30).contains(&wait), "{wait}");
    say(&world, "bob", &b, "another's quota");
    let other = World::call_on(
        &world.another(),
        &world.caller,
        "post_message",
        json!({"thread_id": b, "body": "x"}),
    );
    assert!(other.is_ok(), "another process may allow more");
    world.clock.turn(70);
    say(&world, "ada", &b, "later");
    world.assert_sound();
}

#[test]
fn a_quota_of_messages_holds_on_sqlite() {
    quota(Backend::sqlite());
}

#[test]
fn a_quota_of_messages_holds_on_postgres() {
    quota(Backend::postgres());
}
