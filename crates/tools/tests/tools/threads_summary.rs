//! A summary: computed from the thread alone, the same each time, and never larger than asked for.

use crate::common::{NASTY, chars};
use crate::threads_common::*;
use serde_json::{Map, Value, json};
use understory_engine::Request;
use understory_engine::kernel::checked::Check;
use understory_engine::threads::post::{self, NewMessage};
use understory_model::thread::MessageKind;
use understory_testkit::{World, on_both};

fn summary(world: &World, thread: &str, more: Value) -> Value {
    world.ok("summarize_thread", with(json!({"thread_id": thread}), more))
}

/// Messages in one transaction, as fast as a test can make ten thousand.
fn post_many(world: &World, thread: &str, from: usize, count: usize) {
    let request = Request {
        tool: "post_message",
        scope: String::new(),
        key: None,
        arguments: Value::Null,
        cause: None,
        project: None,
    };
    let thread = thread.to_string();
    let done = world.engine.write(&world.caller, request, move |work| {
        for at in from..from + count {
            let (kind, metadata) = match at % 5 {
                0 => (MessageKind::Event, json!({"event_type": "finding_reported", "finding_id": format!("F{at}"), "severity": "high"})),
                1 => (MessageKind::Event, json!({"event_type": "fix_pushed", "finding_id": format!("F{}", at - 1), "commit": format!("c{at:06}")})),
                2 if at % 10 == 2 => (MessageKind::Event, json!({"event_type": "finding_verified", "finding_id": format!("F{}", at - 2)})),
                _ => (MessageKind::Chat, json!({})),
            };
            let metadata: Map<String, Value> = metadata.as_object().cloned().unwrap_or_default();
            let body = format!("BODY {at} {}", "é".repeat(at * 31 % 400));
            let new = NewMessage { kind, body, metadata, in_reply_to: None, schema_version: 1, key: None };
            post::post(work, &thread, &new.checked()?)?;
        }
        Ok(())
    });
    done.expect("posted");
}

#[on_both]
fn an_empty_thread_says_so(world: World) {
    let id = thread(&world, &["bob"]);
    let told = summary(&world, &id, json!({}));
    assert_eq!(
        told["summary"],
        "0 messages from 0 agents; no findings reported. Status: active."
    );
    assert_eq!(
        (
            &told["open_items"],
            &told["last_messages"],
            &told["last_status"],
            &told["messages"]
        ),
        (&json!([]), &json!([]), &json!("active"), &json!(0))
    );
    say(&world, "bob", &id, "x");
    assert_eq!(
        summary(&world, &id, json!({}))["summary"],
        "1 message from 1 agent; no findings reported. Status: active."
    );
}

#[on_both]
fn it_tells_what_was_found_fixed_and_settled_and_by_which_commits(world: World) {
    let id = thread(&world, &["bob"]);
    let (a, b) = (finding(&world, &id), finding(&world, &id));
    event(
        &world,
        &id,
        "fix_pushed",
        Some(&a),
        json!({"commit": "abc1234"}),
    );
    event(
        &world,
        &id,
        "fix_pushed",
        Some(&b),
        json!({"commit": "def5678"}),
    );
    event(&world, &id, "finding_verified", Some(&a), json!({}));
    event(&world, &id, "finding_rejected", Some(&b), json!({}));
    let c = event(
        &world,
        &id,
        "finding_reported",
        None,
        json!({"severity": "low", "file": "a.rs", "line": 42, "task_id": "TASK-9", "other": "x"}),
    );
    let told = summary(&world, &id, json!({}));
    assert_eq!(
        told["findings"],
        json!({"reported": 3, "fixed": 0, "verified": 1, "rejected": 1, "withdrawn": 0, "unanswered": 1, "open": 2})
    );
    assert_eq!(
        told["summary"],
        "3 findings reported: 1 verified, 1 rejected, 1 unanswered; 2 are open. Fixes: def5678, abc1234. 7 messages. Status: active."
    );
    assert_eq!(
        (
            each(&told["open_items"], "message_id"),
            each(&told["open_items"], "state")
        ),
        (
            vec![json!(b), json!(c)],
            vec![json!("rejected"), json!("reported")]
        )
    );
    let item = &told["open_items"][1];
    assert_eq!(
        (
            &item["severity"],
            &item["file"],
            &item["line"],
            &item["task_id"],
            item.get("other")
        ),
        (
            &json!("low"),
            &json!("a.rs"),
            &json!(42),
            &json!("TASK-9"),
            None
        )
    );
    assert_eq!(
        (&item["sender_agent_id"], &item["body"], &item["seq"]),
        (&json!("ada"), &json!("about finding_reported"), &json!(7)),
        "with who wrote it"
    );
    event(&world, &id, "finding_withdrawn", Some(&c), json!({}));
    event(&world, &id, "finding_verified", Some(&b), json!({}));
    world.ok(
        "update_thread_status",
        json!({"thread_id": id, "status": "resolved"}),
    );
    let told = summary(&world, &id, json!({}));
    assert_eq!(
        (&told["open_items"], &told["last_status"]),
        (&json!([]), &json!("resolved"))
    );
    assert_eq!(
        told["summary"],
        "3 findings reported: 2 verified, 1 withdrawn; none is open. Fixes: def5678, abc1234. 9 messages. Status: resolved."
    );
}

#[on_both]
fn nothing_of_what_people_wrote_stands_in_the_summary(world: World) {
    for nasty in NASTY.iter().chain(&["MARK"]) {
        let id = text(
            &world.ok(
                "create_thread",
                json!({"title": format!("MARK {nasty}"), "participants": ["bob"]}),
            )["thread_id"],
        );
        let body = format!("MARK {nasty} MARK");
        let metadata = json!({"event_type": "finding_reported", "finding_id": body, "severity": body, "commit": body, "file": body});
        world.ok(
            "post_message",
            json!({"thread_id": id, "kind": "event", "body": body, "metadata": metadata}),
        );
        let metadata = json!({"event_type": "fix_pushed", "finding_id": body, "commits": [body, {"sha": body}, 5]});
        world.ok(
            "post_message",
            json!({"thread_id": id, "kind": "event", "body": body, "metadata": metadata}),
        );
        let told = summary(&world, &id, json!({}));
        assert_eq!(
            told["summary"],
            "1 finding reported: 1 fixed and not verified; 1 is open. 2 messages. Status: active."
        );
        assert_eq!(told["commits"], json!([]));
        assert_eq!(
            (
                &told["open_items"][0]["body"],
                &told["last_messages"][0]["body"]
            ),
            (&json!(body), &json!(body)),
            "but in fields of its own"
        );
    }
}

#[on_both]
fn what_is_long_is_cut_and_crowds_out_nothing(world: World) {
    let id = thread(&world, &["bob"]);
    let long = "𝒳".repeat(15_000);
    for _ in 0..3 {
        let metadata = json!({"event_type": "finding_reported", "severity": long, "file": {"deep": [1]}, "line": [1], "task_id": "T"});
        world.ok(
            "post_message",
            json!({"thread_id": id, "kind": "event", "body": long, "metadata": metadata}),
        );
    }
    let told = summary(&world, &id, json!({"max_chars": 6_000}));
    assert_eq!(
        (
            told["open_items"].as_array().unwrap().len(),
            told.get("truncated")
        ),
        (3, None)
    );
    let item = &told["open_items"][0];
    assert_eq!(
        (
            &item["severity"],
            item.get("file"),
            item.get("line"),
            &item["task_id"]
        ),
        (
            &json!(format!("{}…", "𝒳".repeat(240))),
            None,
            None,
            &json!("T")
        )
    );
    let exact = "y".repeat(240);
    say(&world, "ada", &id, &exact);
    assert_eq!(
        summary(&world, &id, json!({}))["last_messages"][0]["body"],
        exact
    );
}

#[on_both]
fn the_last_messages_come_newest_first_and_no_more_than_asked(world: World) {
    let id = thread(&world, &["bob"]);
    (1..=15).for_each(|at| drop(say(&world, ["ada", "bob"][at % 2], &id, &format!("{at}"))));
    let last = |more: Value| each(&summary(&world, &id, more)["last_messages"], "seq");
    assert_eq!(last(json!({})), (6..=15).rev().collect::<Vec<i64>>());
    assert_eq!(last(json!({"max_messages": 3})), [15, 14, 13]);
    assert_eq!(
        last(json!({"max_messages": 200})).len(),
        15,
        "as many as asked for"
    );
    for none in [0, -1, i64::MIN] {
        assert!(last(json!({"max_messages": none})).is_empty());
    }
}

#[on_both]
fn plain_talk_is_told_by_who_when_and_what_about(world: World) {
    let id = thread(&world, &["bob", "cyd"]);
    for at in 0..23 {
        say(
            &world,
            ["ada", "bob"][at % 2],
            &id,
            &format!("The parser and its fallback, part {at}"),
        );
        world.clock.turn(60);
    }
    let told = summary(&world, &id, json!({}));
    assert_eq!(told["title"], "Review");
    assert_eq!(
        told["participants"],
        json!([{"agent_id": "ada", "messages": 12}, {"agent_id": "bob", "messages": 11}, {"agent_id": "cyd", "messages": 0}])
    );
    assert_eq!(told["topics"], json!(["fallback", "parser", "part"]));
    let all = messages(&world, &id);
    assert_eq!(
        told["span"],
        json!({"first_at": all[0]["created_at"], "last_at": all[22]["created_at"]})
    );
    assert_eq!(
        (
            each(&told["first_messages"], "seq"),
            &told["last_messages"][0]["sender_agent_id"]
        ),
        (vec![json!(1), json!(2)], &json!("ada"))
    );
    assert_eq!(
        told["summary"],
        "23 messages from 2 agents; no findings reported. Status: active."
    );
    let short = thread(&world, &["bob"]);
    let body = "x".repeat(900);
    say(&world, "bob", &short, &body);
    let told = summary(&world, &short, json!({}));
    assert_eq!(
        (
            &told["last_messages"][0]["body"],
            told.get("first_messages")
        ),
        (&json!(body), None),
        "where there is room, longer lines"
    );
    assert!(
        text(&summary(&world, &short, json!({"max_chars": 1_000}))["last_messages"][0]["body"])
            .chars()
            .count()
            <= 241
    );
}

#[on_both]
fn a_tight_budget_drops_chatter_before_what_is_open(world: World) {
    let id = thread(&world, &["bob"]);
    (0..3).for_each(|_| drop(finding(&world, &id)));
    (0..20).for_each(|at| drop(say(&world, "bob", &id, &format!("chatter {at}"))));
    event(&world, &id, "thread_escalated", None, json!({}));
    for budget in [600, 900, 1_500, 2_500] {
        let told = summary(&world, &id, json!({"max_chars": budget}));
        assert!(chars(&told) <= budget, "{budget}: {told}");
        let open = told["open_items"].as_array().unwrap();
        assert_eq!(open[0]["item"], "escalation", "{budget}: {told}");
        assert!(
            open.len() == 4 || told["open_items_total"] == 4,
            "{budget}: counts are told: {told}"
        );
        assert!(
            open.len() == 4 || told["last_messages"].as_array().is_none_or(Vec::is_empty),
            "{budget}: {told}"
        );
    }
}

#[on_both]
fn ten_thousand_messages_keep_within_any_budget(world: World) {
    let id = thread(&world, &["bob"]);
    (0..10).for_each(|part| post_many(&world, &id, part * 1_000, 1_000));
    let whole = summary(&world, &id, json!({}));
    assert!(chars(&whole) <= 100_000);
    assert_eq!(
        whole["findings"],
        json!({"reported": 2_000, "fixed": 1_000, "verified": 1_000, "rejected": 0, "withdrawn": 0, "unanswered": 0, "open": 1_000})
    );
    assert_eq!(
        (&whole["messages"], &whole["last_messages"][0]["seq"]),
        (&json!(10_000), &json!(10_000))
    );
    assert_eq!(
        whole["open_items"][0]["finding_id"], "F5",
        "the oldest that is open"
    );
    assert_eq!(whole["commits"][0], "c009996", "the newest fix");
    assert!(whole["summary"].as_str().unwrap().starts_with("2000 findings reported: 1000 verified, 1000 fixed and not verified; 1000 are open. Fixes: c009996, "));
    assert!(!whole["summary"].as_str().unwrap().contains("BODY"));
    assert_eq!(summary(&world, &id, json!({})), whole, "the same twice");
    for budget in [0, 10, 100, 300, 500, 700, 1_000, 1_500, 2_400, 10_000] {
        let told = summary(&world, &id, json!({"max_chars": budget}));
        assert!(chars(&told) <= budget.max(18), "{budget}: {told}");
        assert_eq!(told["truncated"], true);
        if budget >= 500 {
            assert_eq!(told["summary"], whole["summary"], "{budget}");
            assert_eq!(told["last_status"], "active");
        }
    }
}

#[on_both]
fn a_rebuild_tells_the_same(world: World) {
    let id = thread(&world, &["bob"]);
    post_many(&world, &id, 0, 200);
    let whole = summary(&world, &id, json!({}));
    world.engine.rebuild(|_, _| {}).unwrap();
    assert_eq!(summary(&world, &id, json!({})), whole);
}
