//! Changes of a thread: of its status with the reason, and of who takes part. Whoever reads or waits
//! is told, and no message number is taken.

use crate::threads_common::*;
use serde_json::{Value, json};
use understory_model::{Code, Role, limits};
use understory_testkit::{World, on_both};

fn block(world: &World, agent: &str, thread: &str) -> Value {
    let why = json!({"ticket": "OPS-7", "until": [1, 2]});
    let args = json!({"thread_id": thread, "status": "blocked", "reason": "no schema yet", "metadata": why});
    by(world, agent, "update_thread_status", args)
}

fn look(world: &World, agent: &str, more: Value) -> Value {
    by(
        world,
        agent,
        "wait_for_messages",
        with(json!({"timeout_s": 0}), more),
    )
}

#[on_both]
fn a_change_of_status_is_told_with_its_reason_wherever_a_thread_is_read(world: World) {
    let id = thread(&world, &["bob"]);
    say(&world, "ada", &id, "one");
    let done = block(&world, "bob", &id);
    let expected = json!({"change": 1, "after_seq": 1, "from": "active", "status": "blocked", "reason": "no schema yet",
        "metadata": {"ticket": "OPS-7", "until": [1, 2]}, "by": "bob", "at": done["updated_at"]});
    assert_eq!(get(&world, &id)["changes"], json!([expected]));
    assert_eq!(
        world.ok("summarize_thread", json!({"thread_id": id}))["changes"],
        json!([expected])
    );
    assert_eq!(
        world.ok("read_messages", json!({"thread_id": id}))["changes"],
        json!([expected])
    );
    assert_eq!(
        look(&world, "ada", json!({}))["changes"],
        json!([with(expected.clone(), json!({"thread_id": id}))])
    );
    let history = world.ok("garden_timeline", json!({"entity": id}));
    assert!(history.to_string().contains("OPS-7"), "{history}");
    assert_eq!(
        say(&world, "ada", &id, "two")["seq"],
        2,
        "it takes no number"
    );
    world.engine.rebuild(|_, _| {}).unwrap();
    assert_eq!(get(&world, &id)["changes"], json!([expected]));
    world.assert_sound();
}

#[on_both]
fn pages_tell_each_change_once_and_in_its_place(world: World) {
    let id = thread(&world, &["bob"]);
    let to = |status: &str| {
        drop(world.ok(
            "update_thread_status",
            json!({"thread_id": id, "status": status}),
        ))
    };
    to("blocked");
    say(&world, "ada", &id, "1");
    say(&world, "ada", &id, "2");
    to("active");
    to("resolved");
    say(&world, "ada", &id, "3");
    to("active");
    let page = |since: i64, limit: i64| {
        world.ok(
            "read_messages",
            json!({"thread_id": id, "since_seq": since, "limit": limit}),
        )
    };
    let told = |page: &Value| {
        page.get("changes")
            .map(|all| each(all, "change"))
            .unwrap_or_default()
    };
    assert_eq!(told(&page(0, 1)), [1]);
    assert!(told(&page(1, 1)).is_empty());
    assert_eq!(told(&page(2, 1)), [2, 3, 4]);
    assert_eq!(told(&page(0, 50)), [1, 2, 3, 4]);
    assert_eq!(told(&page(3, 50)), [4], "what came after what was read");
}

#[on_both]
fn a_change_of_status_wakes_who_waits(world: World) {
    let id = thread(&world, &["bob"]);
    let told = waiting(
        &world,
        &world.engine,
        &World::caller("bob"),
        json!({}),
        || drop(block(&world, "ada", &id)),
    );
    assert_eq!(
        (
            &told["messages"],
            &told["changes"][0]["status"],
            &told["timed_out"]
        ),
        (&json!([]), &json!("blocked"), &json!(false))
    );
    assert_eq!(told["next"], json!({&id: 0, format!("{id}/status"): 1}));
    let told = waiting(
        &world,
        &world.another(),
        &World::caller("bob"),
        json!({"ack": told["next"]}),
        || drop(say(&world, "ada", &id, "x")),
    );
    assert_eq!(
        (each(&told["messages"], "body"), told.get("changes")),
        (vec![json!("x")], None),
        "told once, acknowledged"
    );
    assert_eq!(
        look(&world, "ada", json!({}))["timed_out"],
        true,
        "nobody is told of its own"
    );
}

#[on_both]
fn a_change_comes_to_every_new_session_until_it_is_acknowledged(world: World) {
    let id = thread(&world, &["bob"]);
    block(&world, "ada", &id);
    let first = look(&world, "bob", json!({}));
    assert_eq!(look_anew(&world, "bob", "another", json!({})), first);
    // One that comes between the answer and its acknowledgement is not lost.
    world.ok(
        "update_thread_status",
        json!({"thread_id": id, "status": "active"}),
    );
    let second = look(&world, "bob", json!({"ack": first["next"]}));
    assert_eq!(each(&second["changes"], "status"), ["active"]);
    assert_eq!(
        look(&world, "bob", json!({"ack": second["next"]}))["timed_out"],
        true
    );
    assert_eq!(
        look(&world, "bob", json!({"since": first["next"]}))["changes"][0]["change"],
        2,
        "and can be asked for again"
    );
    block(&world, "ada", &id);
    ack(&world, "bob", &id, 0);
    assert_eq!(
        look(&world, "bob", json!({}))["timed_out"],
        true,
        "ack_read counts for all changes so far"
    );
    world.engine.rebuild(|_, _| {}).unwrap();
    assert_eq!(look(&world, "bob", json!({}))["timed_out"], true);
    world.assert_sound();
}

#[on_both]
fn participants_are_added_and_told_so(world: World) {
    let id = thread(&world, &["bob"]);
    say(&world, "ada", &id, "before");
    refused(
        &world,
        &World::caller("cyd"),
        "read_messages",
        json!({"thread_id": id}),
        Code::Forbidden,
    );
    refused(
        &world,
        &World::caller("cyd"),
        "update_thread_status",
        json!({"thread_id": id, "add_participants": ["cyd"]}),
        Code::Forbidden,
    );
    by(&world, "cyd", "heartbeat_session", json!({}));
    let answer = by(
        &world,
        "bob",
        "update_thread_status",
        json!({"thread_id": id, "add_participants": ["cyd", "bob", "cyd"], "reason": "knows it"}),
    );
    assert_eq!(
        (
            &answer["participants"],
            &answer["status"],
            answer.get("unknown_participants")
        ),
        (&json!(["bob", "cyd"]), &json!("active"), None)
    );
    let told = look(&world, "cyd", json!({}));
    assert_eq!(
        (
            each(&told["messages"], "body"),
            &told["changes"][0]["added_participants"]
        ),
        (vec![json!("before")], &json!(["cyd"]))
    );
    assert_eq!(unread(&world, "cyd"), (1, 1));
    say(&world, "cyd", &id, "here");
    let head = world.head();
    world.ok(
        "update_thread_status",
        json!({"thread_id": id, "add_participants": ["cyd"]}),
    );
    assert_eq!(world.head(), head, "who takes part already is not added");
    let both = world.ok(
        "update_thread_status",
        json!({"thread_id": id, "status": "resolved", "add_participants": ["dan"]}),
    );
    assert_eq!(
        (
            &both["status"],
            &get(&world, &id)["changes"][1]["added_participants"]
        ),
        (&json!("resolved"), &json!(["dan"]))
    );
    world.engine.rebuild(|_, _| {}).unwrap();
    assert_eq!(unread(&world, "dan"), (1, 2));
    world.assert_sound();
}

#[on_both]
fn one_who_read_along_and_is_added_keeps_its_place(world: World) {
    let id = thread(&world, &["bob"]);
    say(&world, "ada", &id, "one");
    let olga = caller("olga", Role::Operator);
    as_one(
        &world,
        &olga,
        "post_message",
        json!({"thread_id": id, "body": "hm"}),
    );
    as_one(
        &world,
        &olga,
        "ack_read",
        json!({"thread_id": id, "last_read_seq": 1}),
    );
    world.ok(
        "update_thread_status",
        json!({"thread_id": id, "add_participants": ["olga"]}),
    );
    assert_eq!(
        unread(&world, "olga"),
        (0, 0),
        "its own word is no news to it"
    );
    assert!(by(&world, "olga", "get_thread", json!({"thread_id": id}))["unread"] == 0);
}

#[on_both]
fn wrong_changes_are_refused(world: World) {
    let id = thread(&world, &["bob"]);
    for (more, field) in [
        (json!({}), "status"),
        (json!({"add_participants": ["a b"]}), "add_participants[0]"),
        (json!({"status": "done"}), "status"),
        (
            json!({"add_participants": (0..limits::PARTICIPANTS).map(|n| format!("a{n}")).collect::<Vec<_>>()}),
            "add_participants",
        ),
    ] {
        refuse_field(
            &world,
            "update_thread_status",
            with(json!({"thread_id": id}), more),
            field,
        );
    }
}

#[on_both]
fn metadata_too_long_for_an_answer_says_how_long_it_is(world: World) {
    let id = thread(&world, &["bob"]);
    let args = json!({"thread_id": id, "status": "blocked", "metadata": {"m": "x".repeat(9_000)}});
    world.ok("update_thread_status", args);
    let told = get(&world, &id)["changes"][0].clone();
    assert_eq!(
        (told.get("metadata"), &told["metadata_chars"]),
        (None, &json!(9_008))
    );
}
