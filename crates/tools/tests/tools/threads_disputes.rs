//! Who settles what: findings by whoever reported them or directs, escalations by those who direct,
//! reviews asked for again by their reviewers.

use crate::threads_common::*;
use serde_json::{Value, json};
use understory_model::fact::Fact;
use understory_model::{Caller, Code, Id, Role};
use understory_testkit::{World, on_both};

/// An event of somebody; the answer.
#[track_caller]
fn posts(world: &World, who: &Caller, thread: &str, kind: &str, more: Value) -> Value {
    let metadata = json!({"event_type": kind});
    let args = json!({"thread_id": thread, "kind": "event", "body": kind, "metadata": metadata});
    as_one(world, who, "post_message", with(args, more))
}

fn worker(agent: &str) -> Caller {
    caller(agent, Role::Worker)
}

#[track_caller]
fn open_items(world: &World, thread: &str) -> Vec<(Value, Value)> {
    let summary = world.ok("summarize_thread", json!({"thread_id": thread}));
    let items = summary["open_items"].as_array().unwrap().clone();
    let counted = get(world, thread)["open_items"].as_u64().unwrap();
    assert_eq!(items.len() as u64, counted, "two counts of one thing");
    let told = |item: &Value| (item["item"].clone(), item["for"].clone());
    items.iter().map(told).collect()
}

#[on_both]
fn only_its_reporter_and_those_who_direct_settle_a_finding(world: World) {
    for kind in ["finding_verified", "finding_withdrawn"] {
        for (who, settles) in [
            (worker("bob"), true),
            (worker("ada"), false),
            (worker("cyd"), false),
            (caller("olga", Role::Operator), true),
            (caller("orla", Role::Orchestrator), true),
        ] {
            let id = thread(&world, &["bob", "cyd"]);
            let found = posts(&world, &worker("bob"), &id, "finding_reported", json!({}));
            let answer = posts(
                &world,
                &who,
                &id,
                kind,
                json!({"in_reply_to": found["message_id"]}),
            );
            assert_eq!(
                answer["finding"]["open"], !settles,
                "{kind} by {who:?}: {answer}"
            );
            assert_eq!(
                (
                    &answer["finding"]["message_id"],
                    &answer["finding"]["reported_by"]
                ),
                (&found["message_id"], &json!("bob"))
            );
            assert_eq!(answer.get("note").is_some(), !settles, "told so: {answer}");
            assert_eq!(open_findings(&world, &id), i64::from(!settles));
            assert_eq!(
                messages(&world, &id)[1]["metadata"]["event_type"],
                kind,
                "kept as their word"
            );
            let close = json!({"thread_id": id, "status": "closed"});
            match settles {
                true => drop(by(&world, "cyd", "update_thread_status", close)),
                false => {
                    let fault = refused(
                        &world,
                        &worker("cyd"),
                        "update_thread_status",
                        close,
                        Code::InsufficientAuthority,
                    );
                    let hint = fault.hint.unwrap();
                    assert!(
                        !hint.contains("finding_verified") && !hint.contains("finding_withdrawn"),
                        "it teaches no way around: {hint}"
                    );
                }
            }
        }
    }
    world.assert_sound();
}

#[on_both]
fn a_name_or_a_report_under_it_makes_nobody_the_reporter(world: World) {
    let id = thread(&world, &["bob"]);
    let named = json!({"metadata": {"event_type": "finding_reported", "finding_id": "F-1"}});
    posts(
        &world,
        &worker("bob"),
        &id,
        "finding_reported",
        named.clone(),
    );
    let again = posts(&world, &worker("ada"), &id, "finding_reported", named);
    assert_eq!(
        again["finding"]["reported_by"], "bob",
        "the first to report it"
    );
    let settled = json!({"metadata": {"event_type": "finding_withdrawn", "finding_id": "F-1"}});
    assert_eq!(
        posts(
            &world,
            &worker("ada"),
            &id,
            "finding_withdrawn",
            settled.clone()
        )["finding"]["open"],
        true
    );
    let chain = json!({"in_reply_to": again["message_id"]});
    assert_eq!(
        posts(&world, &worker("ada"), &id, "finding_verified", chain)["finding"]["open"],
        true
    );
    assert_eq!(
        posts(&world, &worker("bob"), &id, "finding_withdrawn", settled)["finding"]["open"],
        false
    );
}

#[on_both]
fn an_event_about_no_finding_says_so(world: World) {
    let id = thread(&world, &["bob"]);
    let answer = posts(&world, &worker("bob"), &id, "finding_verified", json!({}));
    assert!(text(&answer["note"]).contains("in_reply_to"), "{answer}");
    assert_eq!(answer.get("finding"), None);
    assert_eq!(say(&world, "bob", &id, "words").get("note"), None);
}

#[on_both]
fn what_was_settled_before_roles_were_kept_stays_settled(world: World) {
    let id = thread(&world, &["bob"]);
    let found = posts(&world, &worker("bob"), &id, "finding_reported", json!({}));
    // As an earlier version wrote it: without a role.
    let seq: i64 = text(&found["message_id"])[4..].parse().unwrap();
    let content = json!({"thread": id, "n": 2, "schema_version": 1, "kind": "event", "body": "ok",
        "metadata": {"event_type": "finding_verified"}, "in_reply_to": seq});
    let request = understory_engine::Request {
        tool: "post_message",
        scope: String::new(),
        key: None,
        arguments: Value::Null,
        cause: None,
        project: None,
    };
    let thread = Id(world.backend.raw().number("SELECT id FROM core_thread"));
    world
        .engine
        .write(&world.caller, request, move |work| {
            let said = serde_json::from_value(content.clone())
                .map(Fact::Message)
                .expect("a message");
            work.note_about(thread, said).map(|seq| json!(seq))
        })
        .unwrap();
    assert_eq!(open_findings(&world, &id), 0);
    world.engine.rebuild(|_, _| {}).unwrap();
    assert_eq!(open_findings(&world, &id), 0);
    world.assert_sound();
}

#[on_both]
fn an_escalation_is_open_until_somebody_who_directs_answers(world: World) {
    let (olga, orla) = (
        caller("olga", Role::Operator),
        caller("orla", Role::Orchestrator),
    );
    for (who, kind, settles) in [
        (&olga, "chat", true),
        (&orla, "chat", true),
        (&worker("bob"), "chat", false),
        (&worker("ada"), "chat", false),
        (&olga, "thread_resolved", true),
        (&worker("ada"), "thread_resolved", true),
        (&worker("bob"), "thread_resolved", false),
    ] {
        let id = thread(&world, &["bob"]);
        let asked = posts(&world, &worker("ada"), &id, "thread_escalated", json!({}));
        assert_eq!(
            open_items(&world, &id),
            [(json!("escalation"), json!("operator"))]
        );
        let summary = world.ok("summarize_thread", json!({"thread_id": id}));
        assert!(
            text(&summary["summary"]).contains("1 escalation for an operator open."),
            "{summary}"
        );
        let listed = as_one(
            &world,
            &olga,
            "list_threads",
            json!({"all": true, "limit": 1}),
        );
        assert_eq!(
            listed["threads"][0]["open_items"], 1,
            "an operator sees it in the list"
        );
        match kind {
            "chat" => drop(as_one(
                &world,
                who,
                "post_message",
                json!({"thread_id": id, "body": "Do it", "in_reply_to": asked["message_id"]}),
            )),
            event => drop(posts(&world, who, &id, event, json!({}))),
        }
        assert_eq!(
            open_items(&world, &id).is_empty(),
            settles,
            "{kind} by {who:?}"
        );
    }
    let id = thread(&world, &["bob"]);
    posts(&world, &worker("ada"), &id, "thread_escalated", json!({}));
    as_one(
        &world,
        &olga,
        "post_message",
        json!({"thread_id": id, "body": "about something else"}),
    );
    assert_eq!(open_items(&world, &id).len(), 1, "it answers nothing");
    world.assert_sound();
}

#[on_both]
fn a_review_asked_for_again_waits_for_its_reviewer(world: World) {
    let id = thread(&world, &["bob", "cyd"]);
    let found = posts(&world, &worker("bob"), &id, "finding_reported", json!({}));
    let about = json!({"in_reply_to": found["message_id"]});
    posts(&world, &worker("ada"), &id, "fix_pushed", about.clone());
    posts(
        &world,
        &worker("ada"),
        &id,
        "re_review_requested",
        about.clone(),
    );
    assert_eq!(
        open_items(&world, &id),
        [
            (json!("finding"), Value::Null),
            (json!("re_review"), json!("bob"))
        ]
    );
    posts(
        &world,
        &worker("cyd"),
        &id,
        "finding_verified",
        about.clone(),
    );
    posts(
        &world,
        &worker("ada"),
        &id,
        "finding_rejected",
        about.clone(),
    );
    assert_eq!(open_items(&world, &id).len(), 2, "neither is its reviewer");
    posts(
        &world,
        &worker("bob"),
        &id,
        "finding_rejected",
        about.clone(),
    );
    assert_eq!(
        open_items(&world, &id),
        [(json!("finding"), Value::Null)],
        "looked at again, and still wrong"
    );
    posts(
        &world,
        &worker("ada"),
        &id,
        "re_review_requested",
        json!({}),
    );
    assert_eq!(
        open_items(&world, &id)[1],
        (json!("re_review"), Value::Null),
        "of whoever reviews"
    );
    posts(&world, &worker("bob"), &id, "finding_verified", about);
    assert!(open_items(&world, &id).is_empty());
    world.engine.rebuild(|_, _| {}).unwrap();
    assert!(open_items(&world, &id).is_empty());
    world.assert_sound();
}

#[on_both]
fn who_calls_a_thread_resolved_is_named(world: World) {
    let id = thread(&world, &["bob"]);
    posts(&world, &worker("bob"), &id, "thread_resolved", json!({}));
    posts(&world, &worker("bob"), &id, "thread_resolved", json!({}));
    let summary = world.ok("summarize_thread", json!({"thread_id": id}));
    assert_eq!(summary["resolved_by"], json!(["bob"]));
    assert!(
        text(&summary["summary"]).contains("Called resolved by 1 agent. Status: active."),
        "{summary}"
    );
}
