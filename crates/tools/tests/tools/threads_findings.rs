//! Findings: which event is about which, what becomes of it, and by which commits.

use crate::threads_common::*;
use serde_json::{Value, json};
use understory_model::limits;
use understory_testkit::{World, on_both};

/// What the counts of a summary say.
#[track_caller]
fn counts(world: &World, thread: &str) -> Value {
    let summary = world.ok("summarize_thread", json!({"thread_id": thread}));
    let counts = summary["findings"].clone();
    assert_eq!(
        counts["open"],
        open_findings(world, thread),
        "two counts of one thing"
    );
    let open = summary["open_items"].as_array().unwrap().iter();
    let open = open.filter(|item| item["item"] == "finding").count();
    assert_eq!(counts["open"], open, "{summary}");
    counts
}

/// `[reported, fixed, verified, rejected, withdrawn, open]`.
#[track_caller]
fn tally(world: &World, thread: &str) -> [i64; 6] {
    let counts = counts(world, thread);
    [
        "reported",
        "fixed",
        "verified",
        "rejected",
        "withdrawn",
        "open",
    ]
    .map(|name| counts[name].as_i64().expect("a count"))
}

fn named(name: impl Into<Value>) -> Value {
    json!({"finding_id": name.into()})
}

#[on_both]
fn each_event_makes_of_a_finding_what_it_says(world: World) {
    let after = [
        ("fix_pushed", [1, 1, 0, 0, 0, 1]),
        ("finding_verified", [1, 0, 1, 0, 0, 0]),
        ("finding_rejected", [1, 0, 0, 1, 0, 1]),
        ("finding_withdrawn", [1, 0, 0, 0, 1, 0]),
        ("finding_reported", [2, 0, 0, 0, 0, 2]),
        ("re_review_requested", [1, 0, 0, 0, 0, 1]),
        ("thread_escalated", [1, 0, 0, 0, 0, 1]),
        ("thread_resolved", [1, 0, 0, 0, 0, 1]),
        ("finding_celebrated", [1, 0, 0, 0, 0, 1]),
    ];
    for (kind, expected) in after {
        let id = thread(&world, &["bob"]);
        let found = finding(&world, &id);
        assert_eq!(tally(&world, &id), [1, 0, 0, 0, 0, 1]);
        event(&world, &id, kind, Some(&found), json!({}));
        assert_eq!(tally(&world, &id), expected, "{kind}");
        assert_eq!(
            messages(&world, &id)[1]["metadata"]["event_type"],
            kind,
            "every event is kept"
        );
    }
    world.assert_sound();
}

#[on_both]
fn an_event_reaches_its_finding_through_a_chain_of_answers(world: World) {
    let id = thread(&world, &["bob"]);
    let (first, other) = (finding(&world, &id), finding(&world, &id));
    let chat = |answers: &str| {
        text(
            &by(
                &world,
                "bob",
                "post_message",
                json!({"thread_id": id, "body": "hm", "in_reply_to": answers}),
            )["message_id"],
        )
    };
    let mut last = first.clone();
    for _ in 0..5 {
        last = chat(&last);
    }
    let fix = event(
        &world,
        &id,
        "fix_pushed",
        Some(&last),
        json!({"commit": "abc1234"}),
    );
    assert_eq!(tally(&world, &id), [2, 1, 0, 0, 0, 2]);
    let asked = event(&world, &id, "re_review_requested", Some(&fix), json!({}));
    event(
        &world,
        &id,
        "finding_verified",
        Some(&chat(&asked)),
        json!({}),
    );
    assert_eq!(tally(&world, &id), [2, 0, 1, 0, 0, 1]);
    let open = world.ok("summarize_thread", json!({"thread_id": id}));
    assert_eq!(open["open_items"][0]["message_id"], other);
    world.assert_sound();
}

#[on_both]
fn an_event_reaches_its_finding_by_name(world: World) {
    let id = thread(&world, &["bob"]);
    event(&world, &id, "finding_reported", None, named("F-1"));
    event(&world, &id, "finding_reported", None, named("F-2"));
    event(&world, &id, "finding_verified", None, named("F-2"));
    assert_eq!(tally(&world, &id), [2, 0, 1, 0, 0, 1]);
    event(&world, &id, "finding_verified", None, named("f-1"));
    event(&world, &id, "finding_verified", None, named("F-3"));
    event(&world, &id, "finding_verified", None, named(json!(["F-1"])));
    event(&world, &id, "finding_verified", None, json!({}));
    assert_eq!(
        tally(&world, &id),
        [2, 0, 1, 0, 0, 1],
        "another name is another finding, or none"
    );
    event(&world, &id, "finding_withdrawn", None, named("F-1"));
    assert_eq!(tally(&world, &id), [2, 0, 1, 0, 1, 0]);
    world.assert_sound();
}

#[on_both]
fn a_number_names_a_finding_too(world: World) {
    let id = thread(&world, &["bob"]);
    event(&world, &id, "finding_reported", None, named(7));
    event(&world, &id, "finding_reported", None, named(8));
    event(&world, &id, "finding_verified", None, named(7.0));
    assert_eq!(tally(&world, &id), [2, 0, 1, 0, 0, 1]);
}

#[on_both]
fn findings_without_a_name_are_never_one(world: World) {
    let id = thread(&world, &["bob"]);
    for name in [
        json!(""),
        json!(""),
        json!(" "),
        json!(null),
        json!({}),
        json!(true),
    ] {
        event(&world, &id, "finding_reported", None, named(name));
    }
    assert_eq!(tally(&world, &id)[0], 6);
    event(&world, &id, "finding_verified", None, named(""));
    assert_eq!(tally(&world, &id), [6, 0, 0, 0, 0, 6]);
}

#[on_both]
fn a_name_is_as_long_as_a_name_may_be(world: World) {
    let id = thread(&world, &["bob"]);
    // What no database can squeeze: each character another.
    let name = |count: u32| {
        (0..count)
            .map(|at| char::from_u32(0x10000 + at * 7919 % 0xf000).unwrap())
            .collect::<String>()
    };
    let most = limits::NAME_CHARS as u32;
    event(&world, &id, "finding_reported", None, named(name(most)));
    event(&world, &id, "finding_verified", None, named(name(most)));
    assert_eq!(tally(&world, &id), [1, 0, 1, 0, 0, 0]);
    for wrong in [name(most + 1), name(10_000), "a\0".into()] {
        let metadata = json!({"event_type": "finding_reported", "finding_id": wrong});
        refuse_field(
            &world,
            "post_message",
            json!({"thread_id": id, "kind": "event", "body": "b", "metadata": metadata}),
            "metadata.finding_id",
        );
    }
    // In words it names nothing, so it may be anything.
    world.ok(
        "post_message",
        json!({"thread_id": id, "body": "b", "metadata": {"finding_id": name(10_000)}}),
    );
    world.assert_sound();
}

#[on_both]
fn what_it_answers_goes_before_what_it_names(world: World) {
    let id = thread(&world, &["bob"]);
    let answered = event(&world, &id, "finding_reported", None, named("A"));
    event(&world, &id, "finding_reported", None, named("B"));
    event(&world, &id, "finding_verified", Some(&answered), named("B"));
    let open = world.ok("summarize_thread", json!({"thread_id": id}))["open_items"].clone();
    assert_eq!(each(&open, "finding_id"), ["B"]);
    // An answer to a message that is about no finding still has its name.
    let chat = text(&say(&world, "bob", &id, "so?")["message_id"]);
    event(&world, &id, "finding_verified", Some(&chat), named("B"));
    assert_eq!(tally(&world, &id), [2, 0, 2, 0, 0, 0]);
}

#[on_both]
fn a_finding_reported_again_is_open_again_and_not_another(world: World) {
    let id = thread(&world, &["bob"]);
    let first = event(&world, &id, "finding_reported", None, named("A"));
    event(&world, &id, "finding_verified", None, named("A"));
    assert_eq!(tally(&world, &id), [1, 0, 1, 0, 0, 0]);
    event(&world, &id, "finding_reported", None, named("A"));
    assert_eq!(tally(&world, &id), [1, 0, 0, 0, 0, 1]);
    assert_eq!(
        world.ok("summarize_thread", json!({"thread_id": id}))["open_items"][0]["message_id"],
        first
    );
    // Without a name a report is always a new one, also in answer to another.
    event(&world, &id, "finding_reported", Some(&first), json!({}));
    assert_eq!(tally(&world, &id)[0], 2);
    world.assert_sound();
}

#[on_both]
fn a_rejected_finding_is_still_disputed(world: World) {
    let id = thread(&world, &["bob"]);
    let found = finding(&world, &id);
    event(&world, &id, "finding_rejected", Some(&found), json!({}));
    assert_eq!(tally(&world, &id), [1, 0, 0, 1, 0, 1]);
    event(&world, &id, "finding_withdrawn", Some(&found), json!({}));
    assert_eq!(tally(&world, &id), [1, 0, 0, 0, 1, 0]);
    event(&world, &id, "finding_withdrawn", Some(&found), json!({}));
    assert_eq!(
        tally(&world, &id),
        [1, 0, 0, 0, 1, 0],
        "settled twice is settled once"
    );
}

#[on_both]
fn events_about_nothing_settle_nothing(world: World) {
    let id = thread(&world, &["bob"]);
    for kind in [
        "fix_pushed",
        "finding_verified",
        "finding_rejected",
        "finding_withdrawn",
    ] {
        event(&world, &id, kind, None, json!({}));
    }
    let chat = text(&say(&world, "bob", &id, "x")["message_id"]);
    event(&world, &id, "finding_verified", Some(&chat), json!({}));
    assert_eq!(tally(&world, &id), [0; 6]);
    // Words with the metadata of an event are words.
    let metadata = json!({"event_type": "finding_reported"});
    world.ok(
        "post_message",
        json!({"thread_id": id, "body": "b", "metadata": metadata}),
    );
    assert_eq!(tally(&world, &id), [0; 6]);
}

#[on_both]
fn findings_of_one_thread_are_nothing_to_another(world: World) {
    let (a, b) = (thread(&world, &["bob"]), thread(&world, &["bob"]));
    event(&world, &a, "finding_reported", None, named("A"));
    event(&world, &b, "finding_reported", None, named("A"));
    event(&world, &b, "finding_verified", None, named("A"));
    assert_eq!(
        (tally(&world, &a), tally(&world, &b)),
        ([1, 0, 0, 0, 0, 1], [1, 0, 1, 0, 0, 0])
    );
}

#[on_both]
fn commits_are_told_of_the_thread_and_of_each_open_finding(world: World) {
    let id = thread(&world, &["bob"]);
    let (one, two) = (finding(&world, &id), finding(&world, &id));
    event(
        &world,
        &id,
        "fix_pushed",
        Some(&one),
        json!({"commit": "abc1234"}),
    );
    event(
        &world,
        &id,
        "fix_pushed",
        Some(&two),
        json!({"commits": ["def5678", "abc1234"]}),
    );
    let body = "Fixed in 0123abcd, see <script>x</script>";
    world.ok("post_message", json!({"thread_id": id, "kind": "event", "body": body, "metadata": {"event_type": "fix_pushed"}}));
    world.ok(
        "post_message",
        json!({"thread_id": id, "body": "never 9999ffff"}),
    );
    event(
        &world,
        &id,
        "fix_pushed",
        None,
        json!({"commit": "rm -rf; ignore"}),
    );
    event(
        &world,
        &id,
        "finding_verified",
        Some(&one),
        json!({"commit": "7777eeee"}),
    );
    let summary = world.ok("summarize_thread", json!({"thread_id": id}));
    assert_eq!(
        summary["commits"],
        json!(["0123abcd", "def5678", "abc1234"]),
        "newest first, each once, only of fixes"
    );
    assert_eq!(
        (
            each(&summary["open_items"], "message_id"),
            &summary["open_items"][0]["commits"]
        ),
        (vec![json!(two)], &json!(["def5678", "abc1234"]))
    );
    let told = text(&summary["summary"]);
    for commit in ["0123abcd", "def5678", "abc1234"] {
        assert!(told.contains(commit), "{told}");
    }
    world.assert_sound();
}
