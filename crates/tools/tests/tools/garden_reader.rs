//! The reader: everybody's looks are items, and proposals become commits or do not.

use crate::threads_common::*;
use serde_json::{Value, json};
use understory_model::{Code, Role};
use understory_testkit::{World, on_both};

/// An artifact `goals` of so many lines, `line 1` to `line n`.
#[track_caller]
fn goals(world: &World, lines: usize) -> String {
    let content: String = (1..=lines).map(|n| format!("line {n}\n")).collect();
    let made = world.ok(
        "garden_artifact_create",
        json!({"label": "goals", "content": content}),
    );
    text(&made["artifact"]["uuid"])
}

#[track_caller]
fn content(world: &World) -> Vec<String> {
    let shown = world.ok("garden_artifact_show", json!({"artifact": "goals"}));
    each(&shown["lines"], "content").iter().map(text).collect()
}

#[track_caller]
fn head(world: &World) -> Value {
    world.ok("garden_artifact_show", json!({"artifact": "goals"}))["commit"].clone()
}

/// A commit of the whole text, as somebody else makes one meanwhile.
#[track_caller]
fn rewrite(world: &World, lines: &[&str]) {
    let content: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let args = json!({"artifact": "goals", "based_on": head(world), "content": content});
    by(world, "eve", "garden_artifact_commit", args);
}

#[track_caller]
fn propose(world: &World, start: i64, end: i64, content: &str) -> String {
    let args = json!({"artifact": "goals", "start": start, "end": end, "content": content, "reasoning": "because"});
    text(&world.ok("reader_propose", args)["proposal"]["id"])
}

/// The item of a call, as the timeline has it.
#[track_caller]
fn call(world: &World, answer: &Value) -> Value {
    let item = world.ok("garden_get", json!({"id": answer["item"]}))["item"].clone();
    assert_eq!(
        (&item["_type"], &item["tool"]),
        (&json!("ToolCall"), &json!("artifact_reader"))
    );
    assert_eq!(item["result"]["status"], "success");
    assert!(item["result"]["timestamp"].is_string() && item["log"].is_string());
    item
}

#[on_both]
fn every_look_is_an_item_with_its_caller(world: World) {
    let uuid = goals(&world, 50);
    let look = world.ok(
        "reader_scroll",
        json!({"artifact": "goals", "start": 10, "end": 12, "context": "to see"}),
    );
    assert_eq!(
        each(&look["lines"], "content"),
        ["line 10", "line 11", "line 12"].map(Value::from)
    );
    assert_eq!(each(&look["lines"], "line"), [10, 11, 12].map(Value::from));
    assert_eq!(
        (&look["total"], &look["artifact"]),
        (&json!(50), &json!(uuid))
    );
    let item = call(&world, &look);
    assert_eq!(
        (&item["operation"], &item["caller"], &item["context"]),
        (&json!("scroll_to"), &json!("agent"), &json!("to see"))
    );
    assert_eq!(
        item["params"],
        json!({"artifact": uuid, "label": "goals", "start": 10, "end": 12})
    );
    assert_eq!(
        item["result"]["output"],
        json!({"start": 10, "end": 12, "commit": look["commit"]})
    );
    let person = caller("olga", Role::Operator);
    let seen = as_one(
        &world,
        &person,
        "reader_select",
        json!({"artifact": uuid, "start": 2, "end": 3}),
    );
    let item = call(&world, &seen);
    assert_eq!(
        (&item["operation"], &item["caller"]),
        (&json!("select_lines"), &json!("user"))
    );
    assert_eq!(item["result"]["output"]["fragments"], seen["fragments"]);
    let reference =
        world.ok("garden_refs", json!({"content": seen["reference"]}))["refs"][0].clone();
    assert_eq!(
        (&reference["line"], &reference["content"]),
        (&json!(2), &json!("line 2")),
        "{reference}"
    );
    let noted = world.ok("reader_note", json!({"content": "Zeile zwei 🌱"}));
    let item = call(&world, &noted);
    assert_eq!(
        (&item["operation"], &item["params"]),
        (&json!("note"), &json!({"content": "Zeile zwei 🌱"}))
    );
    world.assert_sound();
}

#[on_both]
fn scrolling_goes_from_where_one_last_looked(world: World) {
    goals(&world, 50);
    let to = |more: Value| with(json!({"artifact": "goals"}), more);
    refuse_field(&world, "reader_scroll", to(json!({"up": 5})), "up");
    world.ok("reader_scroll", to(json!({"start": 20, "end": 24})));
    let place = |agent: &str, more: Value| {
        let answer = by(&world, agent, "reader_scroll", to(more));
        (
            answer["start"].as_i64().unwrap(),
            answer["end"].as_i64().unwrap(),
        )
    };
    assert_eq!(place("ada", json!({"up": 5})), (15, 19));
    assert_eq!(place("ada", json!({"down": 10})), (25, 29));
    assert_eq!(place("ada", json!({"down": 1_000})), (46, 50));
    assert_eq!(place("ada", json!({"up": 1_000})), (1, 5));
    refused(
        &world,
        &World::caller("bob"),
        "reader_scroll",
        to(json!({"down": 1})),
        Code::Validation,
    );
    assert_eq!(place("bob", json!({"start": 48, "end": 90})), (48, 50));
    assert_eq!(
        place("ada", json!({"down": 1})),
        (2, 6),
        "each has its own view"
    );
    world.ok("reader_select", to(json!({"start": 30, "end": 30})));
    assert_eq!(place("ada", json!({"down": 2})), (32, 32));
    rewrite(&world, &["a", "b", "c"]);
    assert_eq!(
        place("ada", json!({"up": 1})),
        (3, 3),
        "what is gone is not looked at"
    );
    for bad in [
        json!({}),
        json!({"start": 1}),
        json!({"up": 1, "down": 1}),
        json!({"start": 1, "end": 2, "up": 1}),
        json!({"up": 0}),
        json!({"down": -1}),
        json!({"start": 0, "end": 1}),
        json!({"start": 4, "end": 4}),
        json!({"start": i64::MAX, "end": i64::MIN}),
    ] {
        refuse(&world, "reader_scroll", to(bad), Code::Validation);
    }
    for bad in [json!({"start": 2, "end": 4}), json!({"start": 3, "end": 2})] {
        refuse_field(&world, "reader_select", to(bad), "end");
    }
    let fault = refuse(
        &world,
        "reader_scroll",
        json!({"artifact": "goal", "start": 1, "end": 1}),
        Code::NotFound,
    );
    assert!(fault.hint.unwrap().contains("goals"));
    world.assert_sound();
}

#[on_both]
fn searching_finds_passages_in_any_script(world: World) {
    let content = "# Storage\nWe keep everything in SQLite.\n\n# Login\nUsers sign in with tokens.\n\n# 検索\n検索バーは上に置きます。\n";
    world.ok(
        "garden_artifact_create",
        json!({"label": "goals", "content": content}),
    );
    let find = |query: &str| {
        world.ok(
            "reader_search",
            json!({"artifact": "goals", "query": query}),
        )
    };
    let found = find("which token signs users in?");
    assert_eq!(
        (&found["matches"][0]["start"], &found["matches"][0]["end"]),
        (&json!(4), &json!(5))
    );
    let item = call(&world, &found);
    assert_eq!(
        (&item["operation"], &item["params"]["query"]),
        (
            &json!("semantic_search"),
            &json!("which token signs users in?")
        )
    );
    assert_eq!(item["result"]["output"]["matches"][0], json!([4, 5]));
    assert_eq!(found["matches"][0]["line"], 5, "the line that answers best");
    assert_eq!(found["total"], found["matches"].as_array().unwrap().len());
    assert_eq!(found["lines"], 8, "the lines of the whole artifact");
    assert_eq!(find("検索バー")["matches"][0]["start"], 7);
    refuse_field(
        &world,
        "reader_search",
        json!({"artifact": "goals", "query": " "}),
        "query",
    );
    for most in [0, 60, 400] {
        let cut = world.ok(
            "reader_search",
            json!({"artifact": "goals", "query": "storage login", "max_chars": most}),
        );
        assert!(cut.to_string().chars().count() <= most.max(40), "{cut}");
    }
}

#[on_both]
fn an_accepted_proposal_is_a_commit_caused_by_the_decision(world: World) {
    goals(&world, 5);
    let made = world.ok("reader_propose", json!({"artifact": "goals", "start": 2, "end": 3, "content": "zwei\nzweieinhalb\ndrei\n", "reasoning": "in German"}));
    let proposal = made["proposal"].clone();
    assert_eq!(
        (&proposal["id"], &proposal["status"], &proposal["based_on"]),
        (&json!("prop_001"), &json!("open"), &head(&world))
    );
    assert_eq!(
        call(&world, &made)["result"]["output"]["proposal"],
        "prop_001"
    );
    assert_eq!(content(&world)[1], "line 2", "nothing changed yet");
    let done = by(
        &world,
        "bob",
        "reader_decide",
        json!({"proposal": "prop_001", "accept": true, "note": "gut"}),
    );
    assert_eq!(
        content(&world),
        ["line 1", "zwei", "zweieinhalb", "drei", "line 4", "line 5"]
    );
    assert_eq!(
        (
            &done["proposal"]["status"],
            &done["proposal"]["decided_by"],
            &done["proposal"]["note"]
        ),
        (&json!("accepted"), &json!("bob"), &json!("gut"))
    );
    assert_eq!(done["commit"], head(&world));
    let delta = world.ok("garden_artifact_log", json!({"artifact": "goals"}))["deltas"][0].clone();
    assert_eq!(
        (&delta["commit"], &delta["reasoning"]),
        (&done["commit"], &json!("in German"))
    );
    let deltas = world.ok("garden_timeline", json!({"types": ["ArtifactDelta"]}));
    assert_eq!(deltas["items"][0]["caused_by"], done["item"]);
    let decided = call(&world, &done);
    assert_eq!(decided["operation"], "decide_edit");
    let cause = world.ok("garden_get", json!({"id": decided["caused_by"]}))["item"].clone();
    assert_eq!(cause["handle"], "prop_001");
    assert_eq!(cause["caused_by"], made["item"]);
    let again = json!({"proposal": "prop_001", "accept": false});
    assert_eq!(
        refuse(&world, "reader_decide", again, Code::Conflict)
            .details
            .unwrap()["status"],
        "accepted"
    );
    world.assert_sound();
}

#[on_both]
fn a_range_that_ends_before_it_begins_is_refused(world: World) {
    goals(&world, 9);
    let args = json!({"artifact": "goals_doc", "start": 9, "end": 5});
    assert_eq!(
        world.refused("reader_scroll", args).message,
        "end: is before start, 9"
    );
}

#[on_both]
fn a_rejected_proposal_keeps_its_note_and_changes_nothing(world: World) {
    goals(&world, 3);
    let (id, before) = (propose(&world, 1, 1, "other"), head(&world));
    let done = world.ok(
        "reader_decide",
        json!({"proposal": id, "accept": false, "note": "not now"}),
    );
    assert_eq!(
        (
            &done["proposal"]["status"],
            &done["proposal"]["note"],
            done.get("commit")
        ),
        (&json!("rejected"), &json!("not now"), None)
    );
    assert_eq!(head(&world), before);
    refuse(
        &world,
        "reader_decide",
        json!({"proposal": id, "accept": true}),
        Code::Conflict,
    );
    let got = world.ok("garden_get", json!({"id": id}));
    assert_eq!(got["proposal"]["note"], "not now", "{got}");
}

#[on_both]
fn lines_that_only_moved_are_followed_and_changed_ones_are_a_conflict(world: World) {
    goals(&world, 4);
    let (moved, changed, gone) = (
        propose(&world, 3, 3, "drei"),
        propose(&world, 2, 2, "zwei"),
        propose(&world, 4, 4, ""),
    );
    rewrite(
        &world,
        &["new", "newer", "line 1", "line zwei", "line 3", "line 4"],
    );
    let before = world.head();
    let fault = refused(
        &world,
        &World::caller("bob"),
        "reader_decide",
        json!({"proposal": changed, "accept": true}),
        Code::Conflict,
    );
    assert_eq!(fault.details.unwrap()["current_commit"], head(&world));
    assert_eq!(world.head(), before);
    by(
        &world,
        "bob",
        "reader_decide",
        json!({"proposal": moved, "accept": true}),
    );
    assert_eq!(
        content(&world),
        ["new", "newer", "line 1", "line zwei", "drei", "line 4"]
    );
    by(
        &world,
        "bob",
        "reader_decide",
        json!({"proposal": gone, "accept": true}),
    );
    assert_eq!(
        content(&world),
        ["new", "newer", "line 1", "line zwei", "drei"]
    );
    // It stays open until somebody rejects it.
    world.ok(
        "reader_decide",
        json!({"proposal": changed, "accept": false}),
    );
    // A line of the same words that was written anew is another line.
    let same = propose(&world, 1, 2, "x");
    rewrite(&world, &["newer", "new", "line 1"]);
    refused(
        &world,
        &World::caller("bob"),
        "reader_decide",
        json!({"proposal": same, "accept": true}),
        Code::Conflict,
    );
    world.assert_sound();
}

#[on_both]
fn nobody_accepts_what_they_proposed_themselves_but_a_person_in_charge(world: World) {
    goals(&world, 2);
    let id = propose(&world, 1, 1, "mine");
    let fault = refuse(
        &world,
        "reader_decide",
        json!({"proposal": id, "accept": true}),
        Code::InsufficientAuthority,
    );
    assert!(fault.hint.unwrap().contains("reject"));
    world.ok("reader_decide", json!({"proposal": id, "accept": false}));
    let person = caller("olga", Role::Operator);
    let args =
        json!({"artifact": "goals", "start": 1, "end": 1, "content": "hers", "reasoning": "r"});
    let id = as_one(&world, &person, "reader_propose", args)["proposal"]["id"].clone();
    as_one(
        &world,
        &person,
        "reader_decide",
        json!({"proposal": id, "accept": true}),
    );
    assert_eq!(content(&world), ["hers", "line 2"]);
    let events = world.ok("garden_timeline", json!({"types": ["SystemEvent"]}));
    let told = each(&events["items"], "event_type");
    assert_eq!(
        told,
        ["proposal_accepted", "proposal_rejected"].map(Value::from)
    );
    assert_eq!(events["items"][0]["payload"]["proposal"], id);
    world.assert_sound();
}

#[on_both]
fn lines_can_be_proposed_between_others_and_at_the_end(world: World) {
    goals(&world, 2);
    let (top, middle, end) = (
        propose(&world, 1, 0, "first"),
        propose(&world, 2, 1, "between\nthem"),
        propose(&world, 3, 2, "last"),
    );
    // Somebody moves what they are next to.
    rewrite(&world, &["new", "line 1", "line 2", "newer"]);
    for id in [&end, &middle, &top] {
        by(
            &world,
            "bob",
            "reader_decide",
            json!({"proposal": id, "accept": true}),
        );
    }
    assert_eq!(
        content(&world),
        [
            "new", "first", "line 1", "between", "them", "line 2", "last", "newer"
        ]
    );
    let lost = propose(&world, 9, 8, "x");
    rewrite(&world, &["only this"]);
    refused(
        &world,
        &World::caller("bob"),
        "reader_decide",
        json!({"proposal": lost, "accept": true}),
        Code::Conflict,
    );
    world.ok("garden_artifact_create", json!({"label": "blank"}));
    let args = json!({"artifact": "blank", "start": 1, "end": 0, "content": "a beginning", "reasoning": "r"});
    let id = world.ok("reader_propose", args)["proposal"]["id"].clone();
    by(
        &world,
        "bob",
        "reader_decide",
        json!({"proposal": id, "accept": true}),
    );
    let shown = world.ok("garden_artifact_show", json!({"artifact": "blank"}));
    assert_eq!(
        each(&shown["lines"], "content"),
        ["a beginning"].map(Value::from)
    );
    world.assert_sound();
}

#[on_both]
fn proposals_are_listed_until_they_are_decided(world: World) {
    assert_eq!(
        world.ok("reader_proposals", json!({})),
        json!({"proposals": [], "pagination": {"next_cursor": null}, "truncated": false})
    );
    goals(&world, 3);
    let ids = [
        propose(&world, 1, 1, "a"),
        propose(&world, 2, 2, "b"),
        propose(&world, 3, 3, "c"),
    ];
    let listed = |args: Value| -> Vec<String> {
        each(&world.ok("reader_proposals", args)["proposals"], "id")
            .iter()
            .map(text)
            .collect()
    };
    assert_eq!(
        listed(json!({})),
        [&ids[2], &ids[1], &ids[0]].map(Clone::clone)
    );
    by(
        &world,
        "bob",
        "reader_decide",
        json!({"proposal": ids[1], "accept": true}),
    );
    world.ok(
        "reader_decide",
        json!({"proposal": ids[0], "accept": false}),
    );
    assert_eq!(listed(json!({"artifact": "goals"})), [ids[2].clone()]);
    assert_eq!(listed(json!({"status": "accepted"})), [ids[1].clone()]);
    assert_eq!(listed(json!({"status": "any"})).len(), 3);
    let page = world.ok("reader_proposals", json!({"status": "any", "limit": 2}));
    let rest = world.ok(
        "reader_proposals",
        json!({"status": "any", "limit": 2, "cursor": page["pagination"]["next_cursor"]}),
    );
    assert_eq!(each(&rest["proposals"], "id"), [json!(ids[0])]);
    assert!(rest["pagination"]["next_cursor"].is_null());
    refuse_field(
        &world,
        "reader_proposals",
        json!({"status": "lost"}),
        "status",
    );
    world.ok("create_project", json!({"id": "b", "name": "b"}));
    assert_eq!(listed(json!({"project": "b"})), [""; 0]);
}

#[on_both]
fn of_two_proposals_for_one_line_one_wins(world: World) {
    goals(&world, 3);
    let ids = [propose(&world, 2, 2, "a"), propose(&world, 2, 2, "b")];
    let engine = world.another();
    let done: Vec<bool> = std::thread::scope(|scope| {
        let calls = ids.each_ref().map(|id| {
            let engine = &engine;
            scope.spawn(move || {
                let args = json!({"proposal": id, "accept": true});
                match World::call_on(engine, &World::caller("bob"), "reader_decide", args) {
                    Ok(_) => true,
                    Err(fault) => {
                        assert_eq!(fault.code, Code::Conflict);
                        false
                    }
                }
            })
        });
        calls
            .into_iter()
            .map(|call| call.join().expect("no panic"))
            .collect()
    });
    assert_eq!(done.iter().filter(|done| **done).count(), 1);
    assert_eq!(content(&world).len(), 3);
    world.assert_sound();
}

#[on_both]
fn bad_arguments_are_named_and_leave_no_trace(world: World) {
    refuse(
        &world,
        "reader_scroll",
        json!({"artifact": "goals", "start": 1, "end": 1}),
        Code::NotFound,
    );
    goals(&world, 3);
    let wish = |more: Value| {
        with(
            json!({"artifact": "goals", "start": 1, "end": 1, "content": "x", "reasoning": "r"}),
            more,
        )
    };
    for (more, field) in [
        (json!({"start": 0}), "start"),
        (json!({"end": 4}), "end"),
        (json!({"start": 3, "end": 1}), "end"),
        (json!({"start": 5, "end": 4}), "start"),
        (json!({"start": 1, "end": 0, "content": ""}), "content"),
        (json!({"content": "line 1"}), "content"),
        (json!({"content": "line 1\n"}), "content"),
        (json!({"content": "a\0"}), "content"),
        (json!({"reasoning": ""}), "reasoning"),
        (json!({"context": "c".repeat(3_000)}), "context"),
    ] {
        refuse_field(&world, "reader_propose", wish(more), field);
    }
    refuse(
        &world,
        "reader_decide",
        json!({"proposal": "prop_777", "accept": true}),
        Code::NotFound,
    );
    world.plan(&["a task"]);
    refuse_field(
        &world,
        "reader_decide",
        json!({"proposal": "TASK-001", "accept": true}),
        "proposal",
    );
    refuse_field(&world, "reader_note", json!({"content": "  "}), "content");
    let auditor = caller("aud", Role::Auditor);
    refused(
        &world,
        &auditor,
        "reader_scroll",
        json!({"artifact": "goals", "start": 1, "end": 1}),
        Code::Forbidden,
    );
    // The reader writes where its caller stands, and a caller always stands in an open log.
    let log = text(&world.ok("garden_fork", json!({}))["log"]["uuid"]);
    let look = world.ok(
        "reader_scroll",
        json!({"artifact": "goals", "start": 1, "end": 1, "idempotency_key": "k"}),
    );
    assert_eq!(call(&world, &look)["log"], log);
    let again = world.ok(
        "reader_scroll",
        json!({"artifact": "goals", "start": 1, "end": 1, "idempotency_key": "k"}),
    );
    assert_eq!(again, look);
    world.assert_sound();
}
