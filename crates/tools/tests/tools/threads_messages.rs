//! Messages: what is posted is read back as it was, in order, page by page, within limits.

use crate::common::{NASTY, chars};
use crate::threads_common::*;
use serde_json::{Value, json};
use understory_model::{Code, Role, limits};
use understory_testkit::{World, on_both};

fn new_thread(more: Value) -> Value {
    with(json!({"title": "T"}), more)
}

fn post(thread: &str, more: Value) -> Value {
    with(json!({"thread_id": thread, "body": "b"}), more)
}

/// Reads to the end as bob; each page keeps to its budget and begins after the last one.
#[track_caller]
fn page_through(world: &World, thread: &str, limit: usize, max_chars: usize) -> Vec<Value> {
    let (mut all, mut since) = (Vec::new(), 0);
    loop {
        let args = json!({"thread_id": thread, "since_seq": since, "limit": limit, "max_chars": max_chars, "full": true});
        let page = by(world, "bob", "read_messages", args);
        assert!(chars(&page) <= max_chars, "{} > {max_chars}", chars(&page));
        let got = page["messages"].as_array().unwrap();
        assert!(got.len() <= limit);
        all.extend(got.iter().cloned());
        let next = page["next_seq"].as_i64().unwrap();
        assert_eq!(
            next,
            since + got.len() as i64,
            "next_seq is that of the last message"
        );
        if page["has_more"] == false {
            return all;
        }
        assert!(next > since, "a page with more after it goes on: {page}");
        since = next;
    }
}

#[on_both]
fn a_thread_is_as_it_was_made(world: World) {
    let made = world.ok("create_thread", json!({"workspace_id": "garden-shed", "title": "Profile mapper review loop",
        "type": "workflow", "participants": ["executioner", "reviewer", "executioner"], "created_by": "ada"}));
    let id = text(&made["thread_id"]);
    assert!(id.starts_with("th_"));
    assert_eq!(
        made,
        json!({"thread_id": id, "status": "active", "created_at": made["created_at"],
        "unknown_participants": [{"agent_id": "executioner"}, {"agent_id": "reviewer"}]})
    );
    let got = by(&world, "reviewer", "get_thread", json!({"thread_id": id}));
    for (field, value) in [
        ("workspace_id", json!("garden-shed")),
        ("title", json!("Profile mapper review loop")),
        ("type", json!("workflow")),
        ("status", json!("active")),
        ("participants", json!(["executioner", "reviewer"])),
        ("created_by", json!("ada")),
        ("created_at", made["created_at"].clone()),
        ("updated_at", made["created_at"].clone()),
        ("last_seq", json!(0)),
        ("open_findings", json!(0)),
        ("unread", json!(0)),
        ("last_read_seq", json!(0)),
    ] {
        assert_eq!(got[field], value, "{field}");
    }
    assert_eq!(
        each(&got["readers"], "agent_id"),
        ["ada", "executioner", "reviewer"],
        "the creator takes part"
    );
    assert_ne!(thread(&world, &[]), id);
    let bare = world.ok("create_thread", json!({"title": "Alone"}));
    assert_eq!(
        world.ok("get_thread", json!({"thread_id": bare["thread_id"]}))["type"],
        "conversation"
    );
    world.assert_sound();
}

#[on_both]
fn numbers_begin_at_one_and_have_no_gap_in_each_thread(world: World) {
    let (a, b) = (thread(&world, &["bob"]), thread(&world, &["bob"]));
    world.ok(
        "update_thread_status",
        json!({"thread_id": a, "status": "blocked"}),
    );
    world.ok(
        "update_thread_status",
        json!({"thread_id": a, "status": "active"}),
    );
    let mut told = Vec::new();
    for at in 0..12 {
        let (agent, to) = (["ada", "bob"][at % 2], [&a, &b][at % 3 / 2]);
        let answer = say(&world, agent, to, &format!("{at}"));
        assert_eq!(answer["thread_status"], "active");
        told.push((
            to.clone(),
            answer["seq"].as_i64().unwrap(),
            text(&answer["message_id"]),
        ));
    }
    for id in [&a, &b] {
        let told: Vec<(i64, &str)> = told
            .iter()
            .filter(|(to, ..)| to == id)
            .map(|(_, n, name)| (*n, name.as_str()))
            .collect();
        let read = messages(&world, id);
        let read: Vec<(i64, &str)> = read
            .iter()
            .map(|m| {
                (
                    m["seq"].as_i64().unwrap(),
                    m["message_id"].as_str().unwrap(),
                )
            })
            .collect();
        assert_eq!(read, told);
        assert!(read.iter().zip(1..).all(|(one, n)| one.0 == n), "{read:?}");
        assert_eq!(get(&world, id)["last_seq"], read.len());
    }
    world.assert_sound();
}

#[on_both]
fn a_message_comes_back_as_it_was_with_who_wrote_it(world: World) {
    let id = thread(&world, &["bob"]);
    let first = say(&world, "bob", &id, "hello");
    let metadata = json!({"event_type": "finding_reported", "line": 42, "n": 1.0, "deep": {"z": [null, "\0", 1e300], "a": true}});
    let second = world.ok(
        "post_message",
        json!({"thread_id": id, "schema_version": 1, "sender_agent_id": "ada",
        "sender_session_id": "sess_ada", "kind": "event", "body": "found", "metadata": metadata,
        "in_reply_to": first["message_id"], "idempotency_key": "k"}),
    );
    assert_eq!(
        messages(&world, &id),
        [
            json!({"message_id": first["message_id"], "thread_id": id, "seq": 1, "schema_version": 1, "kind": "chat", "body": "hello",
            "sender_agent_id": "bob", "sender_session_id": "sess_bob", "created_at": first["created_at"]}),
            json!({"message_id": second["message_id"], "thread_id": id, "seq": 2, "schema_version": 1, "kind": "event", "body": "found",
            "metadata": metadata, "in_reply_to": first["message_id"], "sender_agent_id": "ada", "sender_session_id": "sess_ada",
            "created_at": second["created_at"]}),
        ]
    );
    world.assert_sound();
}

#[on_both]
fn any_text_is_kept_as_it_is(world: World) {
    for nasty in NASTY {
        let made = world.ok(
            "create_thread",
            json!({"title": nasty, "participants": ["bob-1", "o.neil"]}),
        );
        let id = text(&made["thread_id"]);
        let metadata = json!({"event_type": nasty, nasty.to_string(): nasty, "finding_id": nasty});
        by(
            &world,
            "bob-1",
            "post_message",
            json!({"thread_id": id, "body": nasty, "kind": "event", "metadata": metadata}),
        );
        let said = &messages(&world, &id)[0];
        assert_eq!(
            (&said["body"], &said["metadata"], &said["sender_agent_id"]),
            (&json!(nasty), &metadata, &json!("bob-1"))
        );
        assert_eq!(get(&world, &id)["title"], *nasty);
        assert_eq!(
            by(
                &world,
                "o.neil",
                "wait_for_messages",
                json!({"timeout_s": 0, "thread_ids": [id]})
            )["messages"][0]["body"],
            *nasty
        );
    }
    world.assert_sound();
}

#[on_both]
fn what_is_as_long_as_allowed_is_kept_and_what_is_longer_refused(world: World) {
    let wide = |count: usize| "𝒳".repeat(count);
    world.ok(
        "create_thread",
        new_thread(json!({"title": wide(limits::LINE_CHARS)})),
    );
    let names = |count: usize| {
        (0..count)
            .map(|at| format!("agent{at}"))
            .collect::<Vec<_>>()
    };
    world.ok(
        "create_thread",
        new_thread(json!({"participants": names(limits::PARTICIPANTS)})),
    );
    world.ok(
        "create_thread",
        new_thread(json!({"participants": ["n".repeat(64)]})),
    );
    let too_much = [
        (json!({"title": wide(limits::LINE_CHARS + 1)}), "title"),
        (json!({"title": ""}), "title"),
        (json!({"title": " \n\t"}), "title"),
        (json!({"title": "a\0b"}), "title"),
        (json!({"type": "chat"}), "type"),
        (json!({"type": ""}), "type"),
        (
            json!({"participants": names(limits::PARTICIPANTS + 1)}),
            "participants",
        ),
        (
            json!({"participants": ["ok", "n".repeat(65)]}),
            "participants[1]",
        ),
        (json!({"participants": [""]}), "participants[0]"),
        (json!({"participants": [" bob"]}), "participants[0]"),
        (json!({"participants": ["b\0b"]}), "participants[0]"),
        (json!({"participants": ["b\nb"]}), "participants[0]"),
    ];
    for (more, field) in too_much {
        refuse_field(&world, "create_thread", new_thread(more), field);
    }
    let id = thread(&world, &["bob"]);
    let full = limits::MESSAGE_BYTES;
    for body in ["x".repeat(full), wide(full / 4), "\"\u{1}".repeat(full / 2)] {
        let said = say(&world, "ada", &id, &body);
        assert!(
            messages(&world, &id)[said["seq"].as_u64().unwrap() as usize - 1]["body"] == *body,
            "kept whole"
        );
    }
    let metadata = |bytes: usize| json!({"m": "x".repeat(bytes - r#"{"m":""}"#.len())});
    world.ok(
        "post_message",
        post(&id, json!({"metadata": metadata(limits::METADATA_BYTES)})),
    );
    let event = |name: String| json!({"kind": "event", "metadata": {"event_type": name}});
    world.ok("post_message", post(&id, event(wide(limits::NAME_CHARS))));
    let too_much = [
        (json!({"body": "x".repeat(full + 1)}), "body"),
        (json!({"body": wide(full / 4 + 1)}), "body"),
        (json!({"body": ""}), "body"),
        (json!({"body": " \n "}), "body"),
        (json!({"body": "a\0b"}), "body"),
        (
            json!({"metadata": metadata(limits::METADATA_BYTES + 1)}),
            "metadata",
        ),
        (event(wide(limits::NAME_CHARS + 1)), "metadata.event_type"),
        (event(String::new()), "metadata.event_type"),
        (event("a\0".into()), "metadata.event_type"),
        (json!({"kind": "event"}), "metadata.event_type"),
        (
            json!({"kind": "event", "metadata": {"event_type": 5}}),
            "metadata.event_type",
        ),
        (json!({"kind": "note"}), "kind"),
        (json!({"kind": "CHAT"}), "kind"),
        (json!({"kind": "system"}), "kind"),
        (json!({"schema_version": 0}), "schema_version"),
        (json!({"schema_version": 2}), "schema_version"),
        (
            json!({"idempotency_key": "k".repeat(257)}),
            "idempotency_key",
        ),
        (json!({"idempotency_key": ""}), "idempotency_key"),
    ];
    let before = messages(&world, &id).len();
    for (more, field) in too_much {
        refuse_field(&world, "post_message", post(&id, more), field);
    }
    assert_eq!(messages(&world, &id).len(), before);
    assert_eq!(
        say(&world, "bob", &id, "next")["seq"],
        before + 1,
        "a refusal spends no number"
    );
    world.assert_sound();
}

#[on_both]
fn what_is_of_the_wrong_type_is_refused_by_its_name(world: World) {
    let id = thread(&world, &["bob"]);
    let calls = [
        ("create_thread", json!({"title": 5}), "title"),
        ("create_thread", json!({}), "title"),
        (
            "create_thread",
            json!({"title": "t", "participants": "bob"}),
            "participants",
        ),
        (
            "create_thread",
            json!({"title": "t", "participants": ["bob", null]}),
            "participants[1]",
        ),
        (
            "create_thread",
            json!({"title": "t", "colour": "red"}),
            "colour",
        ),
        ("get_thread", json!({}), "thread_id"),
        ("get_thread", json!({"thread_id": 1}), "thread_id"),
        ("list_threads", json!({"unread": "yes"}), "unread"),
        ("list_threads", json!({"status": "open"}), "status"),
        ("list_threads", json!({"cursor": "x"}), "cursor"),
        ("list_threads", json!({"limit": "all"}), "limit"),
        ("post_message", json!({"thread_id": id}), "body"),
        ("post_message", post(&id, json!({"body": null})), "body"),
        (
            "post_message",
            post(&id, json!({"metadata": []})),
            "metadata",
        ),
        (
            "post_message",
            post(&id, json!({"in_reply_to": 1})),
            "in_reply_to",
        ),
        (
            "post_message",
            post(&id, json!({"schema_version": "1"})),
            "schema_version",
        ),
        (
            "read_messages",
            json!({"thread_id": id, "since_seq": -1}),
            "since_seq",
        ),
        (
            "read_messages",
            json!({"thread_id": id, "since_seq": 1.5}),
            "since_seq",
        ),
        (
            "read_messages",
            json!({"thread_id": id, "since_seq": "1"}),
            "since_seq",
        ),
        ("ack_read", json!({"thread_id": id}), "last_read_seq"),
        (
            "ack_read",
            json!({"thread_id": id, "last_read_seq": null}),
            "last_read_seq",
        ),
        ("update_thread_status", json!({"thread_id": id}), "status"),
        (
            "update_thread_status",
            json!({"thread_id": id, "status": "done"}),
            "status",
        ),
        (
            "update_thread_status",
            json!({"thread_id": id, "status": "blocked", "reason": "r".repeat(2_001)}),
            "reason",
        ),
        (
            "update_thread_status",
            json!({"thread_id": id, "status": "blocked", "metadata": {"m": "x".repeat(70_000)}}),
            "metadata",
        ),
        (
            "summarize_thread",
            json!({"thread_id": id, "max_messages": "all"}),
            "max_messages",
        ),
        (
            "heartbeat_session",
            json!({"resumable": "yes"}),
            "resumable",
        ),
        ("heartbeat_session", json!({"status": "busy"}), "status"),
        (
            "heartbeat_session",
            json!({"management_mode": "both"}),
            "management_mode",
        ),
        ("heartbeat_session", json!({"runtime": ""}), "runtime"),
        (
            "trigger_participant",
            json!({"thread_id": id}),
            "target_agent_id",
        ),
        (
            "trigger_participant",
            json!({"thread_id": id, "target_agent_id": "bob", "trigger_prompt": ""}),
            "trigger_prompt",
        ),
        (
            "trigger_participant",
            json!({"thread_id": id, "target_agent_id": "bob", "trigger_prompt": "a\0"}),
            "trigger_prompt",
        ),
        ("wait_for_messages", json!({"timeout_s": -1}), "timeout_s"),
        ("wait_for_messages", json!({"timeout_s": "1"}), "timeout_s"),
        (
            "wait_for_messages",
            json!({"timeout_s": 0, "since": "1", "thread_ids": [id]}),
            "since",
        ),
        (
            "wait_for_messages",
            json!({"timeout_s": 0, "since": 1}),
            "since",
        ),
        (
            "wait_for_messages",
            json!({"timeout_s": 0, "since": -1, "thread_ids": [id]}),
            "since",
        ),
        (
            "wait_for_messages",
            json!({"timeout_s": 0, "since": {&id: -1}}),
            "since",
        ),
        (
            "wait_for_messages",
            json!({"timeout_s": 0, "thread_ids": vec![&id; 201]}),
            "thread_ids",
        ),
    ];
    for (tool, args, field) in calls {
        refuse_field(&world, tool, args, field);
    }
}

#[on_both]
fn pages_have_no_gap_and_no_overlap(world: World) {
    let id = thread(&world, &["bob"]);
    for at in 0..60 {
        let body = format!("{at} {}", ["é", "𝒳\"\\", "x\n"][at % 3].repeat(at * 7 % 90));
        say(&world, ["ada", "bob"][at % 2], &id, &body);
    }
    let all = messages(&world, &id);
    for (limit, max_chars) in [
        (7, 100_000),
        (1, 100_000),
        (200, 950),
        (5, 750),
        (60, 100_000),
        (59, 100_000),
    ] {
        assert_eq!(
            page_through(&world, &id, limit, max_chars),
            all,
            "{limit} {max_chars}"
        );
    }
}

#[on_both]
fn a_message_larger_than_the_budget_hides_none_after_it(world: World) {
    let id = thread(&world, &["bob"]);
    for body in ["short", &"𝒳".repeat(5_000), "after"] {
        world.ok(
            "post_message",
            json!({"thread_id": id, "body": body, "metadata": {"m": body}}),
        );
    }
    let read = page_through(&world, &id, 50, 400);
    assert_eq!(each(&json!(read), "seq"), [1, 2, 3]);
    assert_eq!(
        (
            &read[1]["body_chars"],
            read[1].get("body"),
            read[1].get("metadata")
        ),
        (&json!(5_000), None, None),
        "{}",
        read[1]
    );
    assert_eq!(read[2]["body"], "after");
    let args = json!({"thread_id": id, "since_seq": 1, "max_chars": 400});
    assert_eq!(by(&world, "bob", "read_messages", args)["truncated"], true);
}

#[on_both]
fn a_budget_too_small_for_anything_gets_the_empty_envelope(world: World) {
    let id = thread(&world, &["bob"]);
    say(&world, "ada", &id, "hello");
    for max_chars in [-1, 0, 20, 100] {
        let read = by(
            &world,
            "bob",
            "read_messages",
            json!({"thread_id": id, "max_chars": max_chars}),
        );
        assert_eq!(
            (&read["messages"], &read["truncated"]),
            (&json!([]), &json!(true))
        );
        let waited = by(
            &world,
            "bob",
            "wait_for_messages",
            json!({"timeout_s": 0, "max_chars": max_chars}),
        );
        assert_eq!(
            (&waited["messages"], &waited["truncated"]),
            (&json!([]), &json!(true))
        );
        let listed = by(
            &world,
            "bob",
            "list_threads",
            json!({"max_chars": max_chars}),
        );
        assert_eq!(
            (&listed["threads"], &listed["truncated"]),
            (&json!([]), &json!(true))
        );
        assert_eq!(
            by(
                &world,
                "bob",
                "get_thread",
                json!({"thread_id": id, "max_chars": max_chars})
            ),
            json!({"truncated": true})
        );
    }
}

#[on_both]
fn limits_are_clamped_and_a_page_may_be_empty(world: World) {
    let id = thread(&world, &["bob"]);
    (0..3).for_each(|_| drop(say(&world, "ada", &id, "x")));
    let read = |more: Value| {
        by(
            &world,
            "bob",
            "read_messages",
            with(json!({"thread_id": id}), more),
        )
    };
    for limit in [0, -5, 1] {
        assert_eq!(
            (
                each(&read(json!({"limit": limit}))["messages"], "seq"),
                &read(json!({"limit": limit}))["has_more"]
            ),
            (vec![json!(1)], &json!(true))
        );
    }
    assert_eq!(
        read(json!({"limit": i64::MAX}))["messages"]
            .as_array()
            .unwrap()
            .len(),
        3
    );
    assert_eq!(
        read(json!({"since_seq": 3})),
        json!({"thread_id": id, "schema_version": 1, "messages": [], "next_seq": 3, "has_more": false})
    );
    assert_eq!(read(json!({"since_seq": i64::MAX}))["messages"], json!([]));
    for _ in 0..205 {
        say(&world, "ada", &id, "x");
    }
    let page = read(json!({"limit": 1_000}));
    assert_eq!(
        (
            page["messages"].as_array().unwrap().len(),
            &page["has_more"]
        ),
        (200, &json!(true))
    );
}

#[on_both]
fn an_answer_must_be_to_a_message_of_the_same_thread(world: World) {
    let (a, b) = (thread(&world, &["bob"]), thread(&world, &["bob"]));
    let elsewhere = text(&say(&world, "ada", &b, "there")["message_id"]);
    for wrong in [
        elsewhere.as_str(),
        "msg_999999",
        "msg_1",
        "msg_x",
        "",
        "1",
        "msg_-1",
        "msg_99999999999999999999",
        &a,
    ] {
        let fault = refuse(
            &world,
            "post_message",
            post(&a, json!({"in_reply_to": wrong})),
            Code::NotFound,
        );
        assert!(!fault.to_string().contains("there"));
    }
    let here = text(&say(&world, "bob", &a, "here")["message_id"]);
    world.ok("post_message", post(&a, json!({"in_reply_to": here})));
}

#[on_both]
fn threads_are_listed_last_changed_first(world: World) {
    let ids: Vec<String> = (0..7).map(|_| thread(&world, &["bob"])).collect();
    thread(&world, &["cyd"]);
    say(&world, "bob", &ids[2], "x");
    world.ok(
        "update_thread_status",
        json!({"thread_id": ids[4], "status": "blocked"}),
    );
    let order: Vec<Value> = [4, 2, 6, 5, 3, 1, 0]
        .iter()
        .map(|at: &usize| json!(ids[*at]))
        .collect();
    let listed = |more: Value| by(&world, "bob", "list_threads", more);
    assert_eq!(each(&listed(json!({}))["threads"], "thread_id"), order);
    assert_eq!(
        each(
            &listed(json!({"status": "blocked"}))["threads"],
            "thread_id"
        ),
        [json!(ids[4])]
    );
    assert_eq!(
        listed(json!({"unread": true}))["threads"],
        json!([]),
        "its own words need no reading"
    );
    let ada = world.ok("list_threads", json!({"unread": true}));
    assert_eq!(
        (
            each(&ada["threads"], "thread_id"),
            each(&ada["threads"], "unread")
        ),
        (vec![json!(ids[2])], vec![json!(1)])
    );
    let (mut seen, mut cursor) = (Vec::new(), Value::Null);
    loop {
        let page = listed(json!({"limit": 3, "cursor": cursor}));
        seen.extend(each(&page["threads"], "thread_id"));
        cursor = page["next_cursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    assert_eq!(seen, order, "page by page");
    let (mut seen, mut cursor) = (Vec::new(), Value::Null);
    loop {
        let page = listed(json!({"max_chars": 700, "cursor": cursor}));
        assert!(chars(&page) <= 700);
        seen.extend(each(&page["threads"], "thread_id"));
        cursor = page["next_cursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    assert_eq!(seen, order, "by budget");
    let fault = refuse(
        &world,
        "list_threads",
        json!({"all": true}),
        Code::InsufficientAuthority,
    );
    assert_eq!(fault.details.unwrap()["field"], "all");
    let all = as_one(
        &world,
        &caller("olga", Role::Operator),
        "list_threads",
        json!({"all": true}),
    );
    assert_eq!(all["threads"].as_array().unwrap().len(), 8);
    assert_eq!(
        as_one(
            &world,
            &caller("olga", Role::Operator),
            "list_threads",
            json!({})
        )["threads"],
        json!([])
    );
}

#[on_both]
fn a_thread_with_long_names_hides_none_and_is_still_told(world: World) {
    let names: Vec<String> = (0..limits::PARTICIPANTS)
        .map(|at| format!("{at}-{}", "n".repeat(60)))
        .collect();
    let first = thread(&world, &["bob"]);
    let large = text(
        &world.ok(
            "create_thread",
            json!({"title": "𝒯".repeat(2_000), "participants": names}),
        )["thread_id"],
    );
    let got = world.ok(
        "get_thread",
        json!({"thread_id": large, "max_chars": 20_000}),
    );
    assert_eq!(
        (&got["status"], &got["truncated"], &got["thread_id"]),
        (&json!("active"), &json!(true), &json!(large))
    );
    assert!(chars(&got) <= 20_000);
    for max_chars in [600, 2_500, 100_000] {
        let (mut seen, mut cursor) = (Vec::new(), Value::Null);
        loop {
            let page = world.ok(
                "list_threads",
                json!({"max_chars": max_chars, "cursor": cursor}),
            );
            assert!(chars(&page) <= max_chars);
            seen.extend(each(&page["threads"], "thread_id"));
            cursor = page["next_cursor"].clone();
            if cursor.is_null() {
                break;
            }
        }
        assert_eq!(seen, [json!(large), json!(first)], "{max_chars}");
    }
}

#[on_both]
fn a_thread_that_is_not_there_is_said_so_with_those_nearest(world: World) {
    let all = ["get_thread", "read_messages", "summarize_thread"].map(|tool| (tool, json!({})));
    let all = all.into_iter().chain([
        ("post_message", json!({"body": "b"})),
        ("ack_read", json!({"last_read_seq": 0})),
        ("update_thread_status", json!({"status": "closed"})),
        ("trigger_participant", json!({"target_agent_id": "bob"})),
    ]);
    let long = "t".repeat(100_000);
    for (tool, args) in all {
        let named = |name: &str| with(args.clone(), json!({"thread_id": name}));
        let nothing = world.call(tool, named("th_001")).unwrap_err();
        assert_eq!(
            nothing.code,
            Code::NotFound,
            "{tool} before the first write"
        );
    }
    let id = thread(&world, &["bob"]);
    world.plan(&["a"]);
    let tools = [
        ("get_thread", json!({})),
        ("read_messages", json!({})),
        ("summarize_thread", json!({})),
        ("post_message", json!({"body": "b", "idempotency_key": "k"})),
        ("ack_read", json!({"last_read_seq": 0})),
        ("update_thread_status", json!({"status": "closed"})),
        ("trigger_participant", json!({"target_agent_id": "bob"})),
    ];
    for (tool, args) in tools {
        for wrong in [
            "th_002",
            "th_1",
            "TASK-001",
            "",
            "msg_1",
            "TH_001x",
            long.as_str(),
        ] {
            let fault = refuse(
                &world,
                tool,
                with(args.clone(), json!({"thread_id": wrong})),
                Code::NotFound,
            );
            assert!(fault.message.len() < 400, "{tool}");
        }
        let near = refuse(
            &world,
            tool,
            with(args.clone(), json!({"thread_id": "th_002"})),
            Code::NotFound,
        );
        assert_eq!(near.details.unwrap()["nearest"], json!([id]), "{tool}");
    }
}
