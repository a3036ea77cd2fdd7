//! `get_record_history` and `get_record_diff`: what a record was, at every moment, and who changed
//! it to what it is.

use crate::common::NASTY;
use crate::records_reads::*;
use serde_json::{Value, json};
use understory_model::Code;
use understory_testkit::{World, on_both};

#[track_caller]
fn history(world: &World, id: &str) -> Vec<Value> {
    list(&world.ok("get_record_history", json!({ "id": id }))["history"]).clone()
}

#[track_caller]
fn diff(world: &World, id: &str, from: &Value, to: Option<&Value>) -> Value {
    let mut args = json!({"id": id, "from": from});
    if let Some(to) = to {
        args["to"] = to.clone();
    }
    world.ok("get_record_diff", args)
}

/// A record that ada and bob both have, which ada changed and bob did not see.
fn contested(world: &World) -> String {
    let id = make(world, json!({"title": "t", "body": "one\ntwo\nthree\n"}));
    activate(world, "bob", &id);
    update(world, &id, json!({"body": "one\n2\nthree\n"}));
    id
}

#[on_both]
fn every_change_is_told_with_who_when_and_what(world: World) {
    let id = make(
        &world,
        json!({"title": "First", "body": "one\ntwo\nthree\n"}),
    );
    update(&world, &id, json!({"body": "one\n2\nthree\nfour\n"}));
    update(&world, &id, json!({"title": "Second", "summary": "S"}));
    to(&world, &id, "LATER");
    world.ok("transition", json!({"id": id, "to_state": "OPEN"}));
    let told = history(&world, &id);
    assert_eq!(
        each(&json!(told), "change_type"),
        [
            "state_transition",
            "state_transition",
            "record_updated",
            "record_updated",
            "record_created"
        ]
    );
    assert_eq!(
        told[3]["diff"],
        "--- R001 version 1\n+++ R001 version 2\n@@ -1,3 +1,4 @@\n one\n-two\n+2\n three\n+four\n"
    );
    assert!(
        told.iter()
            .enumerate()
            .all(|(at, entry)| entry.get("diff").is_some() == (at == 3)),
        "only a body has a diff"
    );
    for (entry, part) in told.iter().zip([
        "LATER → OPEN",
        "OPEN → LATER: because",
        "summary, title",
        "body",
        "created: First",
    ]) {
        let said = text(&entry["summary"]);
        assert!(part.split(", ").all(|word| said.contains(word)), "{said}");
        assert_eq!(
            (&entry["session_id"], &entry["agent"]),
            (&json!("sess_ada"), &json!("ada"))
        );
    }
    assert_eq!(
        told.iter()
            .map(|entry| number(&entry["version"]))
            .collect::<Vec<_>>(),
        [5, 4, 3, 2, 1]
    );
    let now = diff(&world, &id, &told[0]["timestamp"], None);
    assert_eq!(now["to_version"]["modified"], told[0]["timestamp"]);
    assert!(
        told.windows(2)
            .all(|pair| text(&pair[0]["timestamp"]) > text(&pair[1]["timestamp"]))
    );
}

#[on_both]
fn what_was_refused_is_kept_word_for_word(world: World) {
    let id = contested(&world);
    let proposal = json!({"id": id, "title": "bob's", "body": "one\nzwei\nthree\n"});
    assert!(by(&world, "bob", "update_record", proposal)["conflict"].is_object());
    update(&world, &id, json!({"body": "later"}));
    let told = history(&world, &id);
    assert_eq!(
        each(&json!(told), "change_type"),
        [
            "record_updated",
            "conflict_detected",
            "record_updated",
            "conflict_detected",
            "record_created"
        ]
    );
    assert_eq!(
        (&told[1]["session_id"], &told[1]["proposed"]),
        (
            &json!("sess_bob"),
            &json!({"title": "bob's", "body": "one\nzwei\nthree\n"})
        )
    );
    assert_eq!(
        told[1]["diff"], "--- there\n+++ proposed\n@@ -1,3 +1,3 @@\n one\n-2\n+zwei\n three\n",
        "against what was there then"
    );
    by(
        &world,
        "bob",
        "update_record",
        json!({"id": id, "body": "forced", "force": true}),
    );
    let told = history(&world, &id);
    assert_eq!(
        each(&json!(told), "change_type")[..2],
        ["conflict_resolved", "record_updated"]
    );
    assert!(
        text(&told[0]["summary"]).contains("version 3"),
        "{}",
        told[0]
    );
    assert_eq!(
        told[1]["diff"],
        "--- R001 version 3\n+++ R001 version 4\n@@ -1 +1 @@\n-later\n\\ No newline at end of file\n+forced\n\\ No newline at end of file\n"
    );
}

#[on_both]
fn a_record_changed_very_often_is_paged_while_it_goes_on(world: World) {
    let id = root(&world, "t");
    let count = if world.backend.is_sqlite() { 500 } else { 260 };
    for at in 1..count {
        update(&world, &id, json!({"body": format!("{at}\n")}));
    }
    let args = json!({ "id": id });
    let whole = page_through(&world, "get_record_history", "history", &args, 200);
    assert_eq!(
        whole
            .iter()
            .map(|entry| number(&entry["version"]))
            .collect::<Vec<_>>(),
        (1..=count).rev().collect::<Vec<_>>()
    );
    for limit in [7, 100] {
        assert_eq!(
            page_through(&world, "get_record_history", "history", &args, limit),
            whole
        );
    }
    assert_eq!(
        page_by_chars(
            &world,
            "get_record_history",
            "history",
            &json!({"id": id, "limit": 200}),
            3_000
        ),
        whole
    );
    let first = world.ok("get_record_history", json!({"id": id, "limit": 3}));
    update(&world, &id, json!({"body": "new"}));
    let next = world.ok(
        "get_record_history",
        json!({"id": id, "limit": 3, "cursor": first["next_cursor"]}),
    );
    assert_eq!(list(&next["history"]), &whole[3..6]);
    for (limit, given) in [
        (json!(null), 50),
        (json!(0), 1),
        (json!(-1), 1),
        (json!(201), 200),
        (json!(i64::MAX), 200),
    ] {
        assert_eq!(
            list(&world.ok("get_record_history", json!({"id": id, "limit": limit}))["history"])
                .len(),
            given,
            "{limit}"
        );
    }
    let other = text(&world.ok("get_recent_activity", json!({"limit": 1}))["next_cursor"]);
    for cursor in [other.as_str(), "", "x"] {
        assert_eq!(
            world
                .refused("get_record_history", json!({"id": id, "cursor": cursor}))
                .code,
            Code::Validation
        );
    }
}

#[on_both]
fn since_is_a_moment_and_includes_it(world: World) {
    let id = root(&world, "t");
    for at in 0..4 {
        world.clock.turn(60);
        update(&world, &id, json!({"body": at.to_string()}));
    }
    let whole = history(&world, &id);
    for (at, entry) in whole.iter().enumerate() {
        let since = world.ok(
            "get_record_history",
            json!({"id": id, "since": entry["timestamp"]}),
        );
        assert_eq!(list(&since["history"]), &whole[..=at]);
    }
    assert_eq!(
        world.ok(
            "get_record_history",
            json!({"id": id, "since": "2099-01-01T00:00:00Z"})
        ),
        json!({"history": []})
    );
    for since in ["last_save", "", "now", "2026-13-01T00:00:00Z"] {
        let fault = world.refused("get_record_history", json!({"id": id, "since": since}));
        assert_eq!(
            (fault.code, &fault.details.unwrap()["field"]),
            (Code::Validation, &json!("since")),
            "{since:?}"
        );
    }
}

#[on_both]
fn any_text_survives_and_comes_back_by_its_diff(world: World) {
    let id = make(&world, json!({"title": "t", "body": NASTY[0]}));
    for pair in NASTY.windows(2) {
        let before =
            diff(&world, &id, &json!("2099-01-01T00:00:00Z"), None)["to_version"]["modified"]
                .clone();
        update(&world, &id, json!({"title": pair[1], "body": pair[1]}));
        let answer = diff(&world, &id, &before, None);
        assert_eq!(
            (
                &answer["from_version"]["body"],
                &answer["to_version"]["body"]
            ),
            (&json!(pair[0]), &json!(pair[1]))
        );
        assert_eq!(answer["diff"]["title"]["new"], *pair[1]);
        for line in pair[1].split('\n') {
            assert!(
                text(&answer["diff"]["body"]).contains(&format!("+{line}")),
                "{line:?}"
            );
        }
    }
    assert_eq!(history(&world, &id).len(), NASTY.len());
}

#[on_both]
fn a_diff_shows_both_versions_and_only_what_differs(world: World) {
    let other = root(&world, "other");
    let id = make(
        &world,
        json!({"parent_id": other, "title": "A", "summary": "S", "body": "a\nb\n", "related": [other], "metadata": {"k": 1}}),
    );
    let first = diff(&world, &id, &json!("2099-01-01T00:00:00Z"), None);
    assert_eq!(
        (&first["diff"], &first["from_version"]),
        (&json!({}), &first["to_version"])
    );
    let made = first["to_version"].clone();
    update(&world, &id, json!({"title": "B", "body": "a\nc\n"}));
    world.ok(
        "transition",
        json!({"id": id, "to_state": "RESOLVED", "resolved_by": other}),
    );
    let answer = diff(&world, &id, &made["created"], None);
    assert_eq!(answer["from_version"], made, "the whole record as it was");
    assert_eq!(
        answer["diff"],
        json!({"title": {"old": "A", "new": "B"}, "state": {"old": "OPEN", "new": "RESOLVED"}, "resolved_by": {"old": null, "new": other}, "body": "--- R002 version 1\n+++ R002 version 3\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n"})
    );
    assert_eq!(
        (
            &answer["to_version"]["resolved_by"],
            &answer["to_version"]["parent_id"]
        ),
        (&json!(other), &json!(other))
    );
    let back = diff(
        &world,
        &id,
        &answer["to_version"]["modified"],
        Some(&made["created"]),
    );
    assert_eq!(
        (&back["from_version"], &back["to_version"]),
        (&answer["to_version"], &answer["from_version"]),
        "a later from is read backwards"
    );
    assert_eq!(
        (&back["diff"]["title"], &back["diff"]["state"]),
        (
            &json!({"old": "B", "new": "A"}),
            &json!({"old": "RESOLVED", "new": "OPEN"})
        )
    );
    assert!(text(&back["diff"]["body"]).contains("-c\n+b\n"));
}

#[on_both]
fn every_field_is_compared(world: World) {
    let (a, b) = (root(&world, "A"), root(&world, "B"));
    let id = make(
        &world,
        json!({"title": "t", "type": "note", "metadata": {"k": 1}}),
    );
    update(&world, &id, json!({"related": [a]}));
    update(
        &world,
        &id,
        json!({"metadata": {"k": 2, "l": [1]}, "type": "question"}),
    );
    update(&world, &id, json!({"parent_id": b}));
    world.ok(
        "transition",
        json!({"id": id, "to_state": "LATER", "reason": "not now"}),
    );
    let between =
        |from: i64, to: i64| world.ok("get_record_diff", json!({"id": id, "from": from, "to": to}));
    assert_eq!(
        between(1, 2)["diff"],
        json!({"related": {"old": null, "new": [a]}})
    );
    assert_eq!(
        between(2, 3)["diff"],
        json!({"metadata": {"old": {"k": 1}, "new": {"k": 2, "l": [1]}}, "type": {"old": "note", "new": "question"}})
    );
    assert_eq!(
        between(3, 4)["diff"],
        json!({"parent_id": {"old": null, "new": b}})
    );
    assert_eq!(
        between(4, 5)["diff"],
        json!({"state": {"old": "OPEN", "new": "LATER"}, "reason": {"old": null, "new": "not now"}})
    );
    let (first, last) = (between(1, 5), between(5, 1));
    assert_eq!(
        (
            &first["from_version"]["parent_id"],
            &first["to_version"]["parent_id"]
        ),
        (&Value::Null, &json!(b)),
        "a version knows its place"
    );
    assert_eq!(
        (&first["from_version"], &first["to_version"]),
        (&last["to_version"], &last["from_version"])
    );
    by(&world, "bob", "activate", json!({ "id": id }));
    update(&world, &id, json!({"metadata": {}}));
    let again = by(&world, "bob", "activate", json!({ "id": id }));
    assert_eq!(
        again["changed"],
        json!({"from_version": 5, "to_version": 6, "diff": {"metadata": {"old": {"k": 2, "l": [1]}, "new": {}}}})
    );
    world.assert_sound();
}

#[on_both]
fn versions_are_named_by_their_numbers(world: World) {
    let id = make(&world, json!({"title": "t", "body": "1"}));
    for at in 2..=5 {
        update(&world, &id, json!({"body": at.to_string()}));
    }
    for from in 1..=5 {
        for to in 1..=5 {
            let answer = world.ok(
                "get_record_diff",
                json!({"id": id, "from": from, "to": to.to_string()}),
            );
            assert_eq!(
                (
                    &answer["from_version"]["body"],
                    &answer["to_version"]["body"]
                ),
                (&json!(from.to_string()), &json!(to.to_string()))
            );
        }
        let versions: Vec<i64> = history(&world, &id)
            .iter()
            .map(|entry| number(&entry["version"]))
            .collect();
        assert!(
            versions.contains(&from),
            "history shows the number that diff takes"
        );
    }
    for wrong in [json!(0), json!(6), json!(-1), json!("99"), json!(i64::MAX)] {
        let fault = world.refused("get_record_diff", json!({"id": id, "from": wrong}));
        let details = fault.details.unwrap();
        assert_eq!(
            (fault.code, &details["field"], &details["versions"]),
            (Code::Validation, &json!("from"), &json!(5)),
            "{wrong}"
        );
    }
}

#[on_both]
fn every_version_is_the_same_from_whichever_end_it_is_reached(world: World) {
    let count = if world.backend.is_sqlite() { 450 } else { 230 };
    let answer = world.ok(
        "create_record",
        new_record(json!({"title": "t0", "body": "0"})),
    );
    let (id, mut copies) = (
        text(&answer["record"]["id"]),
        vec![answer["record"].clone()],
    );
    for at in 1..count {
        if at % 5 == 4 {
            root(&world, "noise");
        }
        let answer = match at % 7 {
            3 => to(&world, &id, "LATER"),
            4 => to(&world, &id, "OPEN"),
            5 => update(
                &world,
                &id,
                json!({"related": if at % 2 == 0 { vec![&id] } else { vec![] }, "metadata": {"at": at, "deep": {"er": at % 3}}}),
            ),
            6 => update(
                &world,
                &id,
                json!({"title": format!("t{at}"), "summary": format!("s{at}")}),
            ),
            _ => update(
                &world,
                &id,
                json!({"body": format!("{}\nline {at}", copies[at - 1]["body"].as_str().unwrap().lines().rev().take(5).collect::<Vec<_>>().join("\n"))}),
            ),
        };
        copies.push(answer["record"].clone());
    }
    let near = [
        0,
        1,
        2,
        3,
        198,
        199,
        200,
        201,
        202,
        248,
        249,
        250,
        251,
        count / 2 - 1,
        count / 2,
        count / 2 + 1,
        count - 2,
        count - 1,
    ];
    for at in near
        .into_iter()
        .chain((0..count).step_by(23))
        .filter(|at| *at < count)
    {
        let answer = diff(
            &world,
            &id,
            &copies[at]["modified"],
            Some(&copies[count - 1 - at]["modified"]),
        );
        assert_eq!(answer["from_version"], copies[at], "version {}", at + 1);
        assert_eq!(
            answer["to_version"],
            copies[count - 1 - at],
            "version {}",
            count - at
        );
    }
    world.assert_sound();
}

#[on_both]
fn the_last_save_is_ones_own_else_anyones(world: World) {
    let id = contested(&world);
    let none = world.refused("get_record_diff", json!({"id": id, "from": "last_save"}));
    assert_eq!(
        (none.code, &none.details.unwrap()["field"]),
        (Code::Validation, &json!("from")),
        "nobody saved"
    );
    world.ok("save_session", json!({}));
    update(&world, &id, json!({"body": "after ada's save"}));
    by(
        &world,
        "eve",
        "activate",
        json!({"id": id, "override": true}),
    );
    assert_eq!(
        by(
            &world,
            "eve",
            "get_record_diff",
            json!({"id": id, "from": "last_save"})
        )["from_version"]["body"],
        "one\n2\nthree\n",
        "eve never saved"
    );
    by(&world, "bob", "save_session", json!({}));
    update(&world, &id, json!({"body": "after bob's save"}));
    let bodies = |agent: &str, args: Value| {
        let answer = by(&world, agent, "get_record_diff", args);
        [
            text(&answer["from_version"]["body"]),
            text(&answer["to_version"]["body"]),
        ]
    };
    assert_eq!(
        bodies("ada", json!({"id": id, "from": "last_save"})),
        ["one\n2\nthree\n", "after bob's save"]
    );
    assert_eq!(
        bodies("bob", json!({"id": id, "from": "last_save"})),
        ["after ada's save", "after bob's save"]
    );
    let foreign = world.refused(
        "get_record_diff",
        json!({"id": id, "from": "last_save", "session_id": "sess_bob"}),
    );
    assert_eq!(foreign.code, Code::ClaimMismatch, "another's session");
    assert_eq!(
        bodies(
            "ada",
            json!({"id": id, "from": "2099-01-01T00:00:00Z", "to": "last_save"})
        ),
        ["after bob's save", "one\n2\nthree\n"]
    );
    let young = root(&world, "young");
    let early = world.refused("get_record_diff", json!({"id": young, "from": "last_save"}));
    assert_eq!(
        (early.code, &early.details.unwrap()["field"]),
        (Code::Validation, &json!("from")),
        "made after the save"
    );
}

#[on_both]
fn the_last_save_is_that_of_the_records_project(world: World) {
    root(&world, "here");
    world.ok("save_session", json!({}));
    world.ok("create_project", json!({"id": "shop", "name": "Shop"}));
    let id = make(
        &world,
        json!({"title": "t", "body": "1", "project_id": "shop"}),
    );
    world.ok("save_session", json!({"project_id": "shop"}));
    update(&world, &id, json!({"body": "2"}));
    by(&world, "bob", "activate", json!({ "id": id }));
    by(&world, "bob", "save_session", json!({"project_id": "shop"}));
    update(&world, &id, json!({"body": "3"}));
    let answer = diff(&world, &id, &json!("last_save"), None);
    assert_eq!(
        answer["from_version"]["body"], "1",
        "ada's own save there, not bob's, nor her own elsewhere"
    );
}

#[on_both]
fn a_moment_before_the_record_or_none_at_all_is_refused(world: World) {
    root(&world, "earlier");
    world.clock.turn(100);
    let id = root(&world, "t");
    let now = "2099-01-01T00:00:00Z";
    let made = diff(&world, &id, &json!(now), None)["to_version"]["created"].clone();
    for (from, to, field) in [
        ("1970-01-01T00:00:00Z", now, "from"),
        ("2026-02-17T12:00:30Z", now, "from"),
        (now, "1970-01-01T00:00:00Z", "to"),
        ("-009999-01-02T01:59:59Z", now, "from"),
    ] {
        let fault = world.refused("get_record_diff", json!({"id": id, "from": from, "to": to}));
        let details = fault.details.unwrap();
        assert_eq!(
            (fault.code, &details["field"], &details["created"]),
            (Code::Validation, &json!(field), &made),
            "{from} {to}"
        );
    }
    for bad in NASTY.iter().chain(&[
        "",
        "LAST_SAVE",
        "last save",
        "now",
        "12:00",
        "2026-02-17",
        "1771329600",
        "\0",
    ]) {
        for (field, args) in [
            ("from", json!({"id": id, "from": bad})),
            ("to", json!({"id": id, "from": now, "to": bad})),
        ] {
            let fault = world.refused("get_record_diff", args);
            assert_eq!(
                (fault.code, &fault.details.unwrap()["field"]),
                (Code::Validation, &json!(field)),
                "{bad:?}"
            );
        }
    }
    for id in ["R999", "", "default"] {
        assert_eq!(
            world
                .refused("get_record_diff", json!({"id": id, "from": now}))
                .code,
            Code::RecordNotFound,
            "{id:?}"
        );
        assert_eq!(
            world.refused("get_record_history", json!({"id": id})).code,
            Code::RecordNotFound,
            "{id:?}"
        );
    }
}

#[on_both]
fn before_the_first_write_there_is_no_record(world: World) {
    assert_eq!(
        world
            .refused(
                "get_record_diff",
                json!({"id": "R001", "from": "last_save"})
            )
            .code,
        Code::RecordNotFound
    );
    assert_eq!(
        world
            .refused("get_record_history", json!({"id": "R001"}))
            .code,
        Code::RecordNotFound
    );
}

#[on_both]
fn history_and_diff_keep_within_their_budgets(world: World) {
    let id = contested(&world);
    let made = json!(text(&history(&world, &id).last().unwrap()["timestamp"]));
    for text in NASTY {
        by(
            &world,
            "bob",
            "update_record",
            json!({"id": id, "title": text, "body": text.repeat(20)}),
        );
        update(&world, &id, json!({"title": text, "body": text.repeat(30)}));
    }
    assert_within(
        &world,
        "get_record_history",
        &json!({ "id": id }),
        json!({"history": [], "truncated": true}),
    );
    assert_within(
        &world,
        "get_record_diff",
        &json!({"id": id, "from": made}),
        json!({"truncated": true}),
    );
}

#[on_both]
fn long_bodies_do_not_hide_what_changed(world: World) {
    let id = make(
        &world,
        json!({"title": "old", "body": "a\n".repeat(100_000)}),
    );
    let made = history(&world, &id)[0]["timestamp"].clone();
    update(
        &world,
        &id,
        json!({"title": "new", "body": "b\n".repeat(100_000)}),
    );
    update(
        &world,
        &id,
        json!({"body": format!("{}end\n", "b\n".repeat(100_000))}),
    );
    let answer = diff(&world, &id, &made, None);
    assert!(chars(&answer) <= 100_000);
    assert_eq!(
        (&answer["truncated"], &answer["diff"]["title"]),
        (&json!(true), &json!({"old": "old", "new": "new"}))
    );
    assert_eq!(
        answer["from_version"]["body_chars"], 200_000,
        "what is left out is told"
    );
    let seen = page_by_chars(
        &world,
        "get_record_history",
        "history",
        &json!({ "id": id }),
        20_000,
    );
    assert_eq!(
        seen.iter()
            .map(|entry| number(&entry["version"]))
            .collect::<Vec<_>>(),
        [3, 2, 1]
    );
}
