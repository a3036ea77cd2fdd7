//! `sync_session`: what others did meanwhile, told once, completely and within the budget.

use crate::common::NASTY;
use crate::records_reads::*;
use serde_json::{Value, json};
use understory_model::Code;
use understory_testkit::{World, on_both};

#[track_caller]
fn sync(world: &World, agent: &str) -> Value {
    by(world, agent, "sync_session", json!({}))
}

/// The changes in one word each: what, to which record, at which tick.
fn told(answer: &Value) -> Vec<String> {
    let one = |change: &Value| {
        let (what, id) = (text(&change["change_type"]), text(&change["record_id"]));
        format!("{what} {id} {}", change["at_tick"])
    };
    list(&answer["changes"]).iter().map(one).collect()
}

/// Which of the changes were shortened.
fn each_flag(answer: &Value) -> Vec<bool> {
    let changes = list(&answer["changes"]).iter();
    changes.map(|one| one["shortened"] == true).collect()
}

/// Records of ada's, which bob knows.
fn shared(world: &World, count: usize) -> Vec<String> {
    let made: Vec<String> = (0..count)
        .map(|at| root(world, &format!("t{at}")))
        .collect();
    for id in &made {
        activate(world, "bob", id);
    }
    made
}

/// Writers at once, whose writes share their commits.
const THREADS: usize = 40;

#[on_both]
fn it_says_what_changed_from_what_to_what_by_whom_and_when(world: World) {
    let id = shared(&world, 1).remove(0);
    update(
        &world,
        &id,
        json!({"title": "new title", "body": "new body"}),
    );
    to(&world, &id, "LATER");
    make(
        &world,
        json!({"type": "question", "title": "Why?", "state": "LATER"}),
    );
    let answer = sync(&world, "bob");
    assert_eq!(
        answer,
        json!({
            "project_tick": 4, "session_tick_before": 1, "tick_gap": 3, "session_status": "active", "total_changes": 3,
            "changes": [
                {"record_id": id, "change_type": "modified", "old_value": {"title": "t0", "body": ""}, "new_value": {"title": "new title", "body": "new body"}, "by_session": "sess_ada", "by_agent": "ada", "at_tick": 2},
                {"record_id": id, "change_type": "state_changed", "old_value": "OPEN", "new_value": "LATER", "by_session": "sess_ada", "by_agent": "ada", "at_tick": 3, "reason": "because"},
                {"record_id": "R002", "change_type": "created", "new_value": {"type": "question", "title": "Why?", "state": "LATER"}, "by_session": "sess_ada", "by_agent": "ada", "at_tick": 4},
            ],
        })
    );
}

#[on_both]
fn every_field_is_told_whatever_it_holds(world: World) {
    let id = shared(&world, 1).remove(0);
    for text in NASTY {
        update(
            &world,
            &id,
            json!({"title": text, "summary": text, "body": text, "metadata": {"k": text}}),
        );
        let change = sync(&world, "bob")["changes"][0].clone();
        for field in ["title", "summary", "body"] {
            assert_eq!(change["new_value"][field], *text, "{field}");
        }
        assert!(
            change["new_value"]
                .to_string()
                .contains(&json!(text).to_string()),
            "{change}"
        );
    }
    update(&world, &id, json!({"related": [id]}));
    assert_eq!(
        sync(&world, "bob")["changes"][0]["new_value"],
        json!({"related": [id]})
    );
}

#[on_both]
fn long_values_are_shortened_and_do_not_hide_the_others(world: World) {
    let id = shared(&world, 1).remove(0);
    root(&world, "other");
    update(
        &world,
        &id,
        json!({"metadata": {"fat": "x".repeat(60_000)}}),
    );
    update(
        &world,
        &id,
        json!({"metadata": {"fat": "y".repeat(60_000)}, "body": "z".repeat(200_000)}),
    );
    let answer = sync(&world, "bob");
    assert_eq!(
        (list(&answer["changes"]).len(), &answer["total_changes"]),
        (3, &json!(3)),
        "{}",
        chars(&answer)
    );
    assert!(chars(&answer) < 10_000);
    assert_eq!(each_flag(&answer), [true, true, false]);
    assert!(text(&answer["changes"][1]["diff"]["body"]).ends_with('…'));
    update(
        &world,
        &id,
        json!({"metadata": (0..1_000).map(|at| (format!("key {at}"), json!("v".repeat(40)))).collect::<serde_json::Map<_, _>>()}),
    );
    let many = sync(&world, "bob")["changes"][0].clone();
    assert!(
        chars(&many) < 8_000 && many["shortened"] == true && many["record_id"] == json!(id),
        "{many}"
    );
}

#[on_both]
fn what_a_session_did_itself_is_never_told_to_it(world: World) {
    let made = shared(&world, 2);
    update(&world, &made[0], json!({"body": "by ada"}));
    by(
        &world,
        "bob",
        "update_record",
        json!({"id": made[1], "body": "by bob"}),
    );
    make_by(&world, "bob", json!({"title": "bob's"}));
    update(&world, &made[0], json!({"body": "by ada again"}));
    by(
        &world,
        "bob",
        "transition",
        json!({"id": made[1], "to_state": "LATER", "reason": "r"}),
    );
    by(&world, "bob", "save_session", json!({}));
    let answer = sync(&world, "bob");
    assert_eq!(told(&answer), ["modified R001 3", "modified R001 6"]);
    assert_eq!(
        (&answer["total_changes"], &answer["project_tick"]),
        (&json!(2), &json!(8))
    );
    assert_eq!(
        told(&sync(&world, "ada")),
        ["modified R002 4", "state_changed R002 7", "created R003 5"]
    );
    for agent in ["ada", "bob"] {
        make_by(&world, agent, json!({}));
        by(&world, agent, "save_session", json!({}));
        sync(&world, agent);
        make_by(&world, agent, json!({}));
        let alone = sync(&world, agent);
        assert_eq!(
            (
                &alone["tick_gap"],
                &alone["changes"],
                &alone["total_changes"]
            ),
            (&json!(0), &json!([]), &json!(0))
        );
    }
}

#[on_both]
fn the_sessions_own_records_come_first_and_each_from_the_oldest_on(world: World) {
    let made: Vec<String> = (0..4).map(|at| root(&world, &format!("t{at}"))).collect();
    for id in [&made[1], &made[3]] {
        activate(&world, "bob", id);
    }
    for (at, id) in [3, 0, 1, 2, 3, 0].into_iter().enumerate() {
        update(&world, &made[id], json!({"body": format!("{at}")}));
    }
    root(&world, "new");
    let answer = sync(&world, "bob");
    assert_eq!(
        told(&answer),
        [
            "modified R004 5",
            "modified R002 7",
            "modified R004 9",
            "modified R001 6",
            "modified R003 8",
            "modified R001 10",
            "created R005 11",
        ]
    );
}

#[on_both]
fn a_sync_is_remembered_and_is_no_write(world: World) {
    let id = shared(&world, 1).remove(0);
    for at in 0..3 {
        update(&world, &id, json!({"body": format!("x{at}")}));
    }
    let before = tick(&world);
    let first = sync(&world, "bob");
    assert_eq!(
        (
            &first["session_tick_before"],
            &first["tick_gap"],
            &first["project_tick"]
        ),
        (&json!(1), &json!(3), &json!(4))
    );
    let shown =
        |world: &World| world.ok("get_project_overview", json!({}))["open_sessions"][0].clone();
    let session = shown(&world);
    assert_eq!(
        (
            &session["id"],
            &session["last_sync_tick"],
            &session["tick_gap"]
        ),
        (&json!("sess_bob"), &json!(4), &json!(0))
    );
    let again = sync(&world, "bob");
    assert_eq!(
        (
            &again["session_tick_before"],
            &again["tick_gap"],
            &again["changes"]
        ),
        (&json!(4), &json!(0), &json!([]))
    );
    assert!(text(&shown(&world)["last_activity"]) > text(&session["last_activity"]));
    assert_eq!(tick(&world), before);
}

#[on_both]
fn what_was_synced_is_known_and_conflicts_no_more(world: World) {
    let id = shared(&world, 1).remove(0);
    update(&world, &id, json!({"body": "ada"}));
    assert!(
        by(
            &world,
            "bob",
            "update_record",
            json!({"id": id, "body": "bob"})
        )["conflict"]
            .is_object()
    );
    sync(&world, "bob");
    let after = by(
        &world,
        "bob",
        "update_record",
        json!({"id": id, "body": "bob"}),
    );
    assert_eq!(
        (after.get("conflict"), &after["record"]["body"]),
        (None, &json!("bob"))
    );
}

#[on_both]
fn a_stale_session_is_told_so_until_it_has_synced(world: World) {
    let id = shared(&world, 1).remove(0);
    for at in 0..20 {
        update(&world, &id, json!({"body": format!("x{at}")}));
    }
    activate(&world, "eve", &id);
    let fresh = sync(&world, "bob");
    assert_eq!(
        (&fresh["session_status"], fresh.get("warning")),
        (&json!("active"), None)
    );
    for at in 0..21 {
        update(&world, &id, json!({"body": format!("x{at}")}));
    }
    let stale = sync(&world, "eve");
    assert_eq!(
        (&stale["session_status"], &stale["tick_gap"]),
        (&json!("stale"), &json!(21))
    );
    assert!(text(&stale["warning"]).contains("21 writes occurred since your last sync"));
    assert_eq!(sync(&world, "eve")["session_status"], "active");
}

#[on_both]
fn a_closed_session_resumes_fresh_when_it_syncs(world: World) {
    let id = shared(&world, 1).remove(0);
    by(&world, "bob", "close_session", json!({}));
    update(&world, &id, json!({"body": "x"}));
    let answer = sync(&world, "bob");
    assert_eq!(told(&answer), ["modified R001 2"]);
    let open = world.ok("get_project_overview", json!({}))["open_sessions"][0].clone();
    assert_eq!(
        (&open["id"], &open["active_records"]),
        (&json!("sess_bob"), &json!([]))
    );
    let fault = world
        .call_as(
            &World::caller("bob"),
            "update_record",
            json!({"id": id, "body": "y"}),
        )
        .unwrap_err();
    assert_eq!(fault.code, Code::NotActivated);
}

#[on_both]
fn a_session_that_never_began_is_unknown(world: World) {
    assert_eq!(
        world.refused("sync_session", json!({})).code,
        Code::SessionNotFound,
        "before the first write"
    );
    shared(&world, 1);
    for name in ["sess_bobb", "nobody", "R001", "default"] {
        assert_eq!(
            world
                .refused("sync_session", json!({"session_id": name}))
                .code,
            Code::SessionNotFound,
            "{name}"
        );
    }
    assert!(
        world
            .refused("sync_session", json!({"session_id": "sess_bobb"}))
            .hint
            .unwrap()
            .contains("sess_bob")
    );
    for name in ["", "a\0b", "a\nb", &"x".repeat(300)] {
        assert_eq!(
            world
                .refused("sync_session", json!({"session_id": name}))
                .code,
            Code::Validation,
            "{name:?}"
        );
    }
    assert_eq!(
        world
            .refused("sync_session", json!({"project_id": "nope"}))
            .code,
        Code::SessionNotFound
    );
    assert_eq!(
        world
            .refused("sync_session", json!({"session_id": "sess_bob"}))
            .code,
        Code::ClaimMismatch,
        "it is another's"
    );
}

#[on_both]
fn projects_have_clocks_of_their_own(world: World) {
    shared(&world, 1);
    world.ok("create_project", json!({"id": "shop", "name": "Shop"}));
    let there = make(&world, json!({"title": "there", "project_id": "shop"}));
    activate(&world, "bob", &there);
    for at in 0..3 {
        update(&world, &there, json!({"body": format!("x{at}")}));
    }
    let here = sync(&world, "bob");
    assert_eq!(
        (&here["project_tick"], &here["changes"]),
        (&json!(1), &json!([]))
    );
    let answer = by(&world, "bob", "sync_session", json!({"project_id": "shop"}));
    assert_eq!(
        (
            &answer["project_tick"],
            &answer["tick_gap"],
            list(&answer["changes"]).len()
        ),
        (&json!(4), &json!(3), 3)
    );
}

#[on_both]
fn every_budget_is_kept_and_every_change_accounted_for(world: World) {
    let id = root(&world, "t");
    for max in (25..65)
        .step_by(3)
        .chain((110..220).step_by(11))
        .chain(SIZES)
    {
        activate(&world, &format!("s{max}"), &id);
    }
    for at in 0..30 {
        update(&world, &id, json!({"body": format!("{at} \"quoted\"\n")}));
    }
    let empty = json!({"changes": [], "truncated": true});
    let sessions = list(
        &world.ok(
            "get_active_sessions",
            json!({"record_id": id, "max_chars": 1_000_000}),
        )["sessions"],
    )
    .clone();
    for session in sessions {
        let name = text(&session["session_id"]);
        let Some(max) = name
            .strip_prefix("sess_s")
            .and_then(|max| max.parse::<usize>().ok())
        else {
            continue;
        };
        let answer = by(
            &world,
            &format!("s{max}"),
            "sync_session",
            json!({"max_chars": max}),
        );
        assert!(
            chars(&answer) <= max || (answer == empty && max < chars(&empty)),
            "{max}: {} in {answer}",
            chars(&answer)
        );
        let shown = list(&answer["changes"]).len();
        assert_eq!(answer["truncated"] == true, shown < 30, "{max}");
        if let Some(omitted) = answer.get("omitted_changes") {
            assert_eq!(number(omitted), 30 - shown as i64, "{max}");
            assert!(
                answer.get("total_changes").is_none_or(|total| total == 30),
                "{max}"
            );
        } else {
            assert!(shown == 30 || shown == 0, "{max}: {answer}");
        }
    }
}

#[on_both]
fn ten_thousand_missed_writes_fit_and_are_counted(world: World) {
    let count = if world.backend.is_sqlite() {
        10_000
    } else {
        2_000
    };
    let held = shared(&world, 1).remove(0);
    let other = root(&world, "other");
    update(&world, &held, json!({"title": "long ago"}));
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (world, other) = (&world, &other);
            scope.spawn(move || {
                for at in 0..count / THREADS {
                    update(world, other, json!({"metadata": {"at": at, "by": thread}}));
                }
            });
        }
    });
    let answer = sync(&world, "bob");
    let shown = list(&answer["changes"]).len();
    assert!(
        chars(&answer) <= 100_000 && shown == 200,
        "{} characters, {shown} changes",
        chars(&answer)
    );
    assert_eq!(answer["total_changes"], count + 2);
    assert_eq!(
        answer["omitted_changes"],
        count + 2 - shown,
        "what is not shown is told"
    );
    assert_eq!(answer["tick_gap"], count + 2);
    assert_eq!(
        answer["changes"][0]["record_id"],
        json!(held),
        "what it works on comes first, however old"
    );
    let (mut ticks, mut page) = (Vec::new(), answer);
    loop {
        ticks.extend(
            list(&page["changes"])
                .iter()
                .map(|change| number(&change["at_tick"])),
        );
        if page["next_cursor"].is_null() {
            break;
        }
        page = by(
            &world,
            "bob",
            "sync_session",
            json!({"cursor": page["next_cursor"]}),
        );
    }
    let others: Vec<i64> = [2].into_iter().chain(4..count as i64 + 4).collect();
    assert_eq!(
        (ticks[0], &ticks[1..]),
        (3, others.as_slice()),
        "every one once, from the oldest on"
    );
    assert_eq!(sync(&world, "bob")["total_changes"], 0);
}
