//! One rule for what counts as seen: only what an answer really showed. Whatever was left out, cut
//! or not reached by the pages is still a conflict when it would be written over.

use crate::records_reads::*;
use serde_json::{Value, json};
use understory_model::Code;
use understory_testkit::{World, on_both};

#[track_caller]
fn sync(world: &World, args: Value) -> Value {
    by(world, "bob", "sync_session", args)
}

/// Records of ada's that bob has active too.
fn shared(world: &World, count: usize) -> Vec<String> {
    let made: Vec<String> = (0..count)
        .map(|at| root(world, &format!("t{at}")))
        .collect();
    for id in &made {
        activate(world, "bob", id);
    }
    made
}

/// Whether bob's update of a record meets a version that he has not seen.
#[track_caller]
fn conflicts(world: &World, id: &str) -> bool {
    let answer = by(
        world,
        "bob",
        "update_record",
        json!({"id": id, "summary": format!("bob's {}", world.head())}),
    );
    answer.get("conflict").is_some()
}

/// The records that an answer told of.
fn told(answer: &Value) -> Vec<String> {
    each(&answer["changes"], "record_id")
}

/// A text of so many lines.
fn lines(count: usize) -> String {
    (1..=count)
        .map(|at| format!("This is line {at} of the text.\n"))
        .collect()
}

#[on_both]
fn what_a_truncated_sync_left_out_still_conflicts(world: World) {
    let made = shared(&world, 12);
    for id in &made {
        update(
            &world,
            id,
            json!({"body": "ada's, and not short: ".repeat(15)}),
        );
    }
    let first = sync(&world, json!({"max_chars": 2_500}));
    let shown = told(&first);
    assert!(!shown.is_empty() && shown.len() < 12, "{first}");
    assert_eq!(
        (
            &first["truncated"],
            &first["omitted_changes"],
            &first["total_changes"]
        ),
        (&json!(true), &json!(12 - shown.len()), &json!(12))
    );
    for id in &made {
        assert_eq!(
            conflicts(&world, id),
            !shown.contains(id),
            "{id} of {shown:?}"
        );
    }
    let mut seen = shown;
    let mut cursor = first["next_cursor"].clone();
    while !cursor.is_null() {
        let next = sync(&world, json!({"max_chars": 2_500, "cursor": cursor}));
        assert_eq!(
            next["total_changes"],
            12 - seen.len(),
            "what was told is not counted again"
        );
        seen.extend(told(&next));
        cursor = next["next_cursor"].clone();
    }
    assert_eq!(seen, made, "every one once");
    for id in &made {
        assert!(!conflicts(&world, id), "{id}");
    }
    world.assert_sound();
}

#[on_both]
fn a_sync_goes_on_where_the_last_one_stopped_without_a_cursor_too(world: World) {
    let made = shared(&world, 7);
    for id in &made {
        update(&world, id, json!({"body": "new"}));
    }
    let mut seen = Vec::new();
    for left in [7, 4, 1] {
        let page = sync(&world, json!({"limit": 3}));
        assert_eq!(
            (&page["total_changes"], page.get("next_cursor").is_some()),
            (&json!(left), left > 3),
            "{page}"
        );
        assert!(
            page.get("truncated").is_none(),
            "a page of the wanted size is not cut"
        );
        seen.extend(told(&page));
    }
    assert_eq!(seen, made);
    assert_eq!(sync(&world, json!({}))["changes"], json!([]));
}

#[on_both]
fn a_change_deep_in_a_long_body_is_read_as_a_diff(world: World) {
    let id = make(&world, json!({"title": "t", "body": lines(500)}));
    activate(&world, "bob", &id);
    update(
        &world,
        &id,
        json!({"body": lines(500).replace("line 400 ", "line four hundred ")}),
    );
    let answer = sync(&world, json!({}));
    let change = &answer["changes"][0];
    let diff = text(&change["diff"]["body"]);
    assert!(
        diff.contains("-This is line 400 of the text.\n+This is line four hundred of the text.\n"),
        "{diff}"
    );
    assert!(
        diff.contains("@@ -397,7 +397,7 @@")
            && diff.contains("--- R001 version 1\n+++ R001 version 2"),
        "{diff}"
    );
    assert!(
        chars(&answer) < 1_500 && change.get("shortened").is_none(),
        "{answer}"
    );
    assert_eq!(
        (&change["old_value"], &change["new_value"]),
        (&json!({}), &json!({}))
    );
    assert!(!conflicts(&world, &id), "all of it was told");
    update(&world, &id, json!({"body": "short", "force": true}));
    let short = sync(&world, json!({}))["changes"][0].clone();
    assert!(
        text(&short["diff"]["body"]).contains("+short") || short["shortened"] == true,
        "{short}"
    );
    world.assert_sound();
}

#[on_both]
fn a_change_too_long_to_tell_is_shortened_and_not_seen(world: World) {
    let made = shared(&world, 2);
    let (id, other) = (&made[0], &made[1]);
    update(&world, id, json!({"body": lines(1_000)}));
    update(&world, id, json!({"title": "a short one after it"}));
    update(&world, other, json!({"title": "beside it"}));
    let answer = sync(&world, json!({}));
    let flags: Vec<bool> = list(&answer["changes"])
        .iter()
        .map(|one| one["shortened"] == true)
        .collect();
    assert_eq!(
        (told(&answer), flags),
        (
            vec![id.clone(), id.clone(), other.clone()],
            vec![true, false, false]
        )
    );
    assert!(
        chars(&answer) < 3_000,
        "it does not crowd out the others: {}",
        chars(&answer)
    );
    assert!(answer.get("next_cursor").is_none() && answer.get("omitted_changes").is_none());
    assert!(
        conflicts(&world, id),
        "shortened is not seen, whatever came after"
    );
    assert!(!conflicts(&world, other));
    assert_eq!(
        sync(&world, json!({}))["changes"],
        json!([]),
        "each change is told once"
    );
    assert!(conflicts(&world, id));
    let whole = activate(&world, "bob", id);
    assert_eq!(whole["context"]["target"]["body"], lines(1_000));
    assert!(!conflicts(&world, id), "activating shows it whole");
    world.assert_sound();
}

#[on_both]
fn a_partial_sync_keeps_its_counts_true(world: World) {
    let mine = shared(&world, 1).remove(0);
    for at in 0..4 {
        root(&world, &format!("other {at}"));
    }
    update(&world, &mine, json!({"title": "changed last"}));
    let shown = |world: &World| {
        let answer = world.ok("get_project_overview", json!({"max_chars": 100_000}));
        let found = list(&answer["open_sessions"])
            .iter()
            .find(|one| one["id"] == "sess_bob")
            .cloned()
            .unwrap();
        (number(&found["last_sync_tick"]), number(&found["tick_gap"]))
    };
    assert_eq!(shown(&world), (1, 5));
    let first = sync(&world, json!({"limit": 1}));
    assert_eq!(
        (told(&first), &first["tick_gap"]),
        (vec![mine.clone()], &json!(5)),
        "what bob works on, though it is the newest"
    );
    assert_eq!(
        shown(&world),
        (1, 5),
        "the sync point does not pass what was not told"
    );
    let second = sync(&world, json!({"limit": 2}));
    assert_eq!(
        (
            told(&second),
            &second["total_changes"],
            &second["session_tick_before"]
        ),
        (
            vec!["R002".to_string(), "R003".into()],
            &json!(4),
            &json!(1)
        )
    );
    assert_eq!(shown(&world), (3, 3));
    let last = sync(&world, json!({}));
    assert_eq!(
        (told(&last), &last["total_changes"]),
        (vec!["R004".to_string(), "R005".into()], &json!(2))
    );
    assert_eq!(shown(&world), (6, 0));
    world.assert_sound();
}

#[on_both]
fn a_state_that_was_not_told_is_a_conflict_for_a_transition(world: World) {
    let made = shared(&world, 2);
    for id in &made {
        to(&world, id, "LATER");
    }
    assert_eq!(told(&sync(&world, json!({"limit": 1}))), [made[0].as_str()]);
    let reopen = |id: &str| {
        world.call_as(
            &World::caller("bob"),
            "transition",
            json!({"id": id, "to_state": "OPEN"}),
        )
    };
    assert_eq!(reopen(&made[1]).unwrap_err().code, Code::Conflict);
    assert!(reopen(&made[0]).is_ok());
    sync(&world, json!({}));
    assert!(reopen(&made[1]).is_ok());
}

#[on_both]
fn an_activation_without_room_for_the_body_is_not_seeing(world: World) {
    let id = make(&world, json!({"title": "t", "body": lines(100)}));
    let cut = by(
        &world,
        "bob",
        "activate",
        json!({"id": id, "max_chars": 1_000}),
    );
    assert_eq!(
        (&cut["truncated"], &cut["context"]["target"]["body_chars"]),
        (&json!(true), &json!(lines(100).len()))
    );
    let refused = by(
        &world,
        "bob",
        "update_record",
        json!({"id": id, "body": "mine"}),
    );
    assert!(
        text(&refused["conflict"]["message"]).contains("never shown whole"),
        "{refused}"
    );
    activate(&world, "bob", &id);
    assert!(!conflicts(&world, &id));
    by(
        &world,
        "bob",
        "activate",
        json!({"id": id, "max_chars": 1_000}),
    );
    assert!(!conflicts(&world, &id), "what was seen stays seen");
    world.assert_sound();
}

#[on_both]
fn a_changed_child_or_parent_shown_whole_is_marked_and_seen(world: World) {
    let top = root(&world, "Top");
    let middle = child(&world, &top, "Middle");
    let below = child(&world, &middle, "Below");
    for id in [&top, &middle, &below] {
        activate(&world, "bob", id);
    }
    update(&world, &top, json!({"title": "New top"}));
    update(&world, &below, json!({"body": "new", "metadata": {"k": 1}}));
    let context = activate(&world, "bob", &middle)["context"].clone();
    assert_eq!(
        context["parent"]["changed"],
        json!({"from_version": 1, "to_version": 2, "fields": ["title"]})
    );
    assert_eq!(
        context["children"]["open"][0]["changed"],
        json!({"from_version": 1, "to_version": 2, "fields": ["body", "metadata"]})
    );
    assert!(!conflicts(&world, &top) && !conflicts(&world, &below));
    update(&world, &below, json!({"body": lines(300), "force": true}));
    let cut = by(
        &world,
        "bob",
        "activate",
        json!({"id": middle, "max_chars": 3_000}),
    );
    assert!(
        cut["context"]["children"]["open"][0].get("body").is_none(),
        "{cut}"
    );
    assert!(conflicts(&world, &below), "a reference is not the record");
    world.assert_sound();
}

#[on_both]
fn children_never_vanish_without_a_count(world: World) {
    let top = root(&world, "Top");
    for at in 0..60 {
        make(
            &world,
            json!({"parent_id": top, "title": format!("child {at}"), "body": lines(30)}),
        );
    }
    for at in 0..3 {
        let id = child(&world, &top, &format!("later {at}"));
        to(&world, &id, "LATER");
        child(&world, &id, "grandchild");
    }
    let whole = by(
        &world,
        "bob",
        "activate",
        json!({"id": top, "max_chars": 1_000_000}),
    );
    assert!(
        whole.get("truncated").is_none()
            && whole["context"]["children"].get("open_total").is_none()
    );
    for budget in [60_000, 30_000, 20_000, 15_000] {
        let cut = by(
            &world,
            "bob",
            "activate",
            json!({"id": top, "max_chars": budget}),
        );
        assert!(chars(&cut) <= budget, "{budget}");
        let children = &cut["context"]["children"];
        assert_eq!(
            (
                list(&children["open"]).len(),
                list(&children["other"]).len()
            ),
            (60, 3),
            "{budget}: each is named"
        );
        let with_body = list(&children["open"])
            .iter()
            .take_while(|one| one["body"].is_string())
            .count();
        assert!(
            with_body < 60
                && list(&children["open"])[with_body..]
                    .iter()
                    .all(|one| one.get("body").is_none() && one["title"].is_string()),
            "{budget}: {with_body}"
        );
    }
    for budget in [8_000, 3_000, 1_500] {
        let cut = by(
            &world,
            "bob",
            "activate",
            json!({"id": top, "max_chars": budget}),
        );
        assert!(chars(&cut) <= budget, "{budget}");
        let context = &cut["context"];
        assert_eq!(
            (
                &context["children"]["open_total"],
                &context["children"]["other_total"],
                &context["grandchildren_total"]
            ),
            (&json!(60), &json!(3), &json!(3)),
            "{budget}"
        );
        assert!(list(&context["children"]["open"]).len() < 60);
    }
}

#[on_both]
fn a_cursor_belongs_to_its_session(world: World) {
    let made = shared(&world, 3);
    activate(&world, "eve", &made[0]);
    for id in &made {
        update(&world, id, json!({"body": "new"}));
    }
    let cursor = sync(&world, json!({"limit": 1}))["next_cursor"].clone();
    let other = text(&world.ok("get_recent_activity", json!({"limit": 1}))["next_cursor"]);
    let before = world.head();
    for (agent, wrong) in [
        ("eve", cursor.clone()),
        ("bob", json!(other)),
        ("bob", json!("x")),
        ("bob", json!("")),
    ] {
        let fault = world
            .call_as(
                &World::caller(agent),
                "sync_session",
                json!({"cursor": wrong}),
            )
            .unwrap_err();
        assert_eq!(
            (fault.code, &fault.details.unwrap()["field"]),
            (Code::Validation, &json!("cursor")),
            "{agent} {wrong}"
        );
    }
    assert_eq!(
        world.head(),
        before,
        "nothing was told, and nothing is written down"
    );
    assert_eq!(
        list(&sync(&world, json!({"cursor": cursor}))["changes"]).len(),
        2
    );
}

#[on_both]
fn what_was_told_before_closing_may_be_told_again(world: World) {
    let made = shared(&world, 3);
    for id in &made {
        update(&world, id, json!({"body": "new"}));
    }
    sync(&world, json!({"limit": 2}));
    by(&world, "bob", "close_session", json!({}));
    let again = sync(&world, json!({}));
    assert_eq!(
        (told(&again), &again["total_changes"]),
        (made, &json!(3)),
        "nothing is lost"
    );
    assert_eq!(sync(&world, json!({}))["total_changes"], 0);
    world.assert_sound();
}
