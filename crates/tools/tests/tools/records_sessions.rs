//! Sessions: how one is saved, closed, resumed and branched, when it is stale, and who it is.

use crate::common::{NASTY, chars};
use crate::records_common::*;
use serde_json::{Value, json};
use understory_model::{Caller, Code};
use understory_testkit::{World, on_both};

#[track_caller]
fn update(world: &World, id: &str) {
    // Each title is new: what changes nothing is no write.
    let title = format!("T{}", world.head());
    world.ok(
        "update_record",
        json!({"id": id, "title": title, "force": true}),
    );
}

/// Whether a session is stale, as every place that tells it does.
#[track_caller]
fn status(world: &World, name: &str) -> (String, i64) {
    let found = session(world, name);
    let text = found["status"].as_str().unwrap_or("closed").to_string();
    (text, found["tick_gap"].as_i64().unwrap_or(-1))
}

#[on_both]
fn a_save_says_what_changed_since_the_last(world: World) {
    let (a, b) = (root(&world, "A"), root(&world, "B"));
    let saved = world.ok("save_session", json!({"summary": "Two questions"}));
    assert_eq!(
        saved,
        json!({"success": true, "saved_records": [a, b], "last_save": saved["last_save"]})
    );
    assert_eq!(tick(&world), 3);
    assert_eq!(
        world.ok("save_session", json!({}))["saved_records"],
        json!([]),
        "nothing since, and still a save"
    );
    assert_eq!(tick(&world), 4);
    update(&world, &b);
    activate(&world, &a);
    let later = world.ok("save_session", json!({"summary": ""}));
    assert_eq!(
        later["saved_records"],
        json!([b]),
        "activating is no change"
    );
    assert!(later["last_save"].as_str() > saved["last_save"].as_str());
    let told = activity(&world, json!({"types": ["session_saved"]}));
    assert_eq!(told.len(), 3);
    assert_eq!(
        (&told[2]["details"]["reason"], &told[2]["session_id"]),
        (&json!("Two questions"), &json!("sess_ada"))
    );
    assert_eq!(holders(&world, &a), ["sess_ada"], "saving ends nothing");
    world.assert_sound();
}

#[on_both]
fn a_save_counts_only_the_sessions_own_changes(world: World) {
    let (a, b) = (root(&world, "A"), root(&world, "B"));
    world.ok("save_session", json!({}));
    by(&world, "bob", "activate", json!({"id": a}));
    by(
        &world,
        "bob",
        "update_record",
        json!({"id": a, "title": "T"}),
    );
    assert_eq!(
        world.ok("save_session", json!({}))["saved_records"],
        json!([])
    );
    assert_eq!(
        by(&world, "bob", "save_session", json!({}))["saved_records"],
        json!([a])
    );
    world.ok(
        "transition",
        json!({"id": b, "to_state": "LATER", "reason": "r"}),
    );
    assert_eq!(
        world.ok("save_session", json!({}))["saved_records"],
        json!([b])
    );
    let refused = world.ok("update_record", json!({"id": a, "title": "stale"}));
    assert!(refused.get("conflict").is_some());
    assert_eq!(
        world.ok("save_session", json!({}))["saved_records"],
        json!([]),
        "what was refused changed nothing"
    );
}

#[on_both]
fn closing_lets_go_of_everything_and_warns_of_what_was_not_saved(world: World) {
    let (a, b) = (root(&world, "A"), root(&world, "B"));
    world.ok("save_session", json!({}));
    update(&world, &b);
    by(&world, "bob", "activate", json!({"id": a}));
    let ticks = tick(&world);
    let closed = world.ok("close_session", json!({"summary": "Enough"}));
    assert_eq!(
        (&closed["success"], &closed["deactivated_records"]),
        (&json!(true), &json!([a, b]))
    );
    let warning = closed["unsaved_warning"].as_str().unwrap();
    assert!(warning.contains(&b) && !warning.contains(&a), "{warning}");
    assert_eq!(
        (holders(&world, &a), holders(&world, &b)),
        (vec!["sess_bob".to_string()], vec![])
    );
    assert_eq!(
        (session(&world, "sess_ada"), tick(&world)),
        (Value::Null, ticks),
        "closing is no tick"
    );
    let told = activity(&world, json!({"types": ["session_closed"]}));
    assert_eq!(
        (told.len(), &told[0]["details"]["reason"]),
        (1, &json!("Enough"))
    );
    assert_eq!(
        by(&world, "bob", "close_session", json!({})),
        json!({"success": true, "deactivated_records": [a]}),
        "bob changed nothing"
    );
    assert!(
        record(&world, &b)["title"]
            .as_str()
            .unwrap()
            .starts_with('T'),
        "every change is kept"
    );
    world.assert_sound();
}

#[on_both]
fn closing_twice_is_harmless(world: World) {
    root(&world, "A");
    world.ok("close_session", json!({}));
    let head = world.head();
    for _ in 0..3 {
        assert_eq!(
            world.ok("close_session", json!({"summary": "again"})),
            json!({"success": true, "deactivated_records": []})
        );
    }
    assert_eq!(world.head(), head);
}

#[on_both]
fn a_closed_session_resumes_fresh(world: World) {
    let (a, b) = (root(&world, "A"), root(&world, "B"));
    by(&world, "bob", "activate", json!({"id": a}));
    by(&world, "bob", "close_session", json!({}));
    for _ in 0..25 {
        update(&world, &a);
    }
    for (tool, args) in [
        ("update_record", json!({"id": a, "title": "T"})),
        (
            "transition",
            json!({"id": a, "to_state": "LATER", "reason": "r"}),
        ),
    ] {
        assert_eq!(
            refused_by(&world, "bob", tool, args).code,
            Code::NotActivated
        );
    }
    let known = told(&world).len();
    let answer = by(
        &world,
        "bob",
        "activate",
        json!({"id": b, "override": true}),
    );
    assert_eq!(
        (&answer["session_id"], &answer["already_loaded"]),
        (&json!("sess_bob"), &json!(false))
    );
    assert!(
        !warned(&answer).contains(&"stale".to_string()),
        "it starts at the newest tick"
    );
    assert_eq!(
        told_since(&world, known)[..2],
        ["session_started", "activation"]
    );
    let now = session(&world, "sess_bob");
    assert_eq!(
        (&now["active_records"], &now["tick_gap"], &now["status"]),
        (&json!([b]), &json!(0), &json!("active")),
        "nothing of before is active"
    );
    world.assert_sound();
}

#[on_both]
fn whatever_uses_a_closed_session_resumes_it(world: World) {
    let a = root(&world, "A");
    for (tool, args) in [
        ("save_session", json!({})),
        ("sync_session", json!({})),
        ("create_record", fresh(Value::Null, "N")),
        ("activate", json!({"id": a})),
    ] {
        world.ok("close_session", json!({}));
        assert_eq!(session(&world, "sess_ada"), Value::Null);
        world.ok(tool, args);
        assert_eq!(status(&world, "sess_ada"), ("active".into(), 0), "{tool}");
        refuse(
            &world,
            "update_record",
            json!({"id": "R001x", "title": "T"}),
            Code::RecordNotFound,
        );
    }
    assert_eq!(
        world.ok("list_projects", json!({}))["projects"][0]["open_sessions"],
        1
    );
    world.assert_sound();
}

#[on_both]
fn a_session_outlives_its_engine(world: World) {
    let a = root(&world, "A");
    by(&world, "bob", "activate", json!({"id": a}));
    world.ok("update_record", json!({"id": a, "title": "T"}));
    let other = world.another();
    world.engine.close();
    let call = |agent: &str, tool: &str, args: Value| {
        World::call_on(&other, &World::caller(agent), tool, args).unwrap()
    };
    assert!(
        call("bob", "update_record", json!({"id": a, "title": "B"}))
            .get("conflict")
            .is_some(),
        "what bob has seen is not forgotten"
    );
    assert_eq!(
        call("ada", "create_record", fresh(a.clone().into(), "Below"))["record"]["parent_id"],
        a,
        "nor what ada holds"
    );
    assert_eq!(
        call("ada", "save_session", json!({}))["saved_records"],
        json!([a, "R002"])
    );
    assert_eq!(
        call("bob", "close_session", json!({}))["deactivated_records"],
        json!([a])
    );
}

#[on_both]
fn one_session_through_two_engines_is_one(world: World) {
    let other = world.another();
    let first = World::call_on(
        &other,
        &world.caller,
        "create_record",
        fresh(Value::Null, "A"),
    )
    .unwrap();
    let a = created(&first);
    child(&world, &a, "B");
    World::call_on(
        &other,
        &world.caller,
        "update_record",
        json!({"id": "R002", "title": "T"}),
    )
    .unwrap();
    world.ok("close_session", json!({}));
    let fault = World::call_on(
        &other,
        &world.caller,
        "update_record",
        json!({"id": "R002", "title": "U"}),
    )
    .unwrap_err();
    assert_eq!(fault.code, Code::NotActivated);
    assert_eq!(
        activity(&world, json!({"types": ["session_started"]})).len(),
        1
    );
}

#[on_both]
fn a_session_is_stale_beyond_twenty_missed_ticks(world: World) {
    let a = root(&world, "A");
    by(&world, "bob", "activate", json!({"id": a}));
    for missed in 1..=22 {
        update(&world, &a);
        let expected = if missed > 20 { "stale" } else { "active" };
        assert_eq!(status(&world, "sess_bob"), (expected.into(), missed));
    }
    let synced = by(&world, "bob", "sync_session", json!({}));
    assert_eq!(
        (&synced["session_status"], &synced["tick_gap"]),
        (&json!("stale"), &json!(22))
    );
    assert!(synced["warning"].as_str().unwrap().contains("22"));
    assert_eq!(status(&world, "sess_bob"), ("active".into(), 0));
    for missed in [20, 21] {
        by(&world, "bob", "sync_session", json!({}));
        (0..missed).for_each(|_| update(&world, &a));
        let synced = by(&world, "bob", "sync_session", json!({}));
        assert_eq!(
            (
                synced["session_status"] == "stale",
                synced.get("warning").is_some()
            ),
            (missed > 20, missed > 20),
            "{missed}"
        );
    }
}

#[on_both]
fn how_many_ticks_are_many_can_be_said(world: World) {
    let a = root(&world, "A");
    for (threshold, missed, stale) in [
        (0, 0, false),
        (0, 1, true),
        (3, 3, false),
        (3, 4, true),
        (100, 30, false),
    ] {
        by(&world, "bob", "activate", json!({"id": a}));
        by(&world, "bob", "sync_session", json!({}));
        (0..missed).for_each(|_| update(&world, &a));
        let engine = stale_after(&world, threshold);
        let overview =
            World::call_on(&engine, &world.caller, "get_project_overview", json!({})).unwrap();
        let bob = overview["open_sessions"]
            .as_array()
            .unwrap()
            .iter()
            .find(|one| one["id"] == "sess_bob")
            .unwrap()
            .clone();
        assert_eq!(bob["status"] == "stale", stale, "{missed} of {threshold}");
        let synced =
            World::call_on(&engine, &World::caller("bob"), "sync_session", json!({})).unwrap();
        assert_eq!(
            synced["session_status"] == "stale",
            stale,
            "{missed} of {threshold}"
        );
    }
}

#[on_both]
fn what_is_no_tick_makes_nobody_stale(world: World) {
    let a = root(&world, "A");
    by(&world, "bob", "activate", json!({"id": a}));
    for _ in 0..25 {
        activate(&world, &a);
        world.ok("sync_session", json!({}));
        world.ok("close_session", json!({}));
    }
    world.ok("create_project", json!({"name": "Another"}));
    world.plan(&["A node"]);
    assert_eq!(status(&world, "sess_bob"), ("active".into(), 0));
    world.ok(
        "create_record",
        with(fresh(Value::Null, "N"), json!({"project_id": "another"})),
    );
    assert_eq!(
        status(&world, "sess_bob"),
        ("active".into(), 0),
        "each project has its clock"
    );
}

#[on_both]
fn a_session_in_sync_does_not_grow_stale_by_its_own_writes(world: World) {
    let a = root(&world, "A");
    for _ in 0..25 {
        update(&world, &a);
    }
    world.ok(
        "transition",
        json!({"id": a, "to_state": "LATER", "reason": "r"}),
    );
    world.ok("save_session", json!({}));
    child(&world, &a, "B");
    assert_eq!(status(&world, "sess_ada"), ("active".into(), 0));
    assert_eq!(session(&world, "sess_ada")["last_sync_tick"], tick(&world));
    assert_eq!(world.ok("sync_session", json!({}))["changes"], json!([]));
    by(&world, "bob", "activate", json!({"id": a}));
    by(
        &world,
        "bob",
        "update_record",
        json!({"id": a, "title": "T"}),
    );
    update(&world, &a);
    assert_eq!(
        status(&world, "sess_ada"),
        ("active".into(), 1),
        "what it missed is not made up for by writing, and what it wrote is not missed"
    );
    let synced = world.ok("sync_session", json!({}));
    assert_eq!(
        synced["changes"].as_array().unwrap().len(),
        1,
        "only the one of bob: {synced}"
    );
}

#[on_both]
fn a_branch_names_its_parent_once(world: World) {
    let a = root(&world, "A");
    let known = told(&world).len();
    by(
        &world,
        "bob",
        "activate",
        json!({"id": a, "parent_session": "sess_ada"}),
    );
    assert_eq!(
        told_since(&world, known),
        ["session_started", "session_branched", "activation"]
    );
    let branched = activity(&world, json!({"types": ["session_branched"]})).remove(0);
    assert_eq!(
        (
            &branched["session_id"],
            &branched["details"]["parent_session"]
        ),
        (&json!("sess_bob"), &json!("sess_ada"))
    );
    assert!(branched["summary"].as_str().unwrap().contains("sess_ada"));
    by(
        &world,
        "bob",
        "activate",
        json!({"id": a, "parent_session": "sess_ada"}),
    );
    assert_eq!(
        activity(&world, json!({"types": ["session_branched"]})).len(),
        1
    );
    world.ok("close_session", json!({}));
    by(
        &world,
        "eve",
        "activate",
        json!({"id": a, "parent_session": "sess_ada"}),
    );
    assert_eq!(
        activity(&world, json!({"types": ["session_branched"]})).len(),
        2,
        "a closed session can be continued"
    );
    world.assert_sound();
}

#[on_both]
fn a_parent_session_must_exist_and_be_another(world: World) {
    let a = root(&world, "A");
    refuse_field(
        &world,
        "activate",
        json!({"id": a, "parent_session": "sess_ada"}),
        "parent_session",
    );
    for missing in NASTY.iter().chain(&["", "nobody"]) {
        let fault = refused_by(
            &world,
            "bob",
            "activate",
            json!({"id": a, "parent_session": missing}),
        );
        assert_eq!(
            (fault.code, fault.code.status()),
            (Code::SessionNotFound, 404),
            "{missing}"
        );
        assert!(fault.hint.is_some());
    }
    let fault = refused_by(
        &world,
        "bob",
        "activate",
        json!({"id": a, "parent_session": "sess_adb"}),
    );
    assert_eq!(
        fault.details.unwrap_or_default()["nearest"],
        json!(["sess_ada"]),
        "a slip of the keyboard is told"
    );
    assert_eq!(session(&world, "sess_bob"), Value::Null);
}

#[on_both]
fn a_session_that_never_began_is_not_found(world: World) {
    for tool in ["save_session", "close_session", "sync_session"] {
        assert_eq!(
            world.refused(tool, json!({})).code,
            Code::SessionNotFound,
            "{tool}"
        );
        assert_eq!(
            world.refused(tool, json!({"session_id": "chat-7"})).code,
            Code::SessionNotFound,
            "{tool}"
        );
    }
    assert_eq!(world.head(), 0, "nothing is made by asking");
    root(&world, "A");
    for tool in ["save_session", "close_session", "sync_session"] {
        let fault = refuse(
            &world,
            tool,
            json!({"session_id": "sess_adb"}),
            Code::SessionNotFound,
        );
        assert_eq!(
            fault.details.unwrap()["nearest"],
            json!(["sess_ada"]),
            "{tool}"
        );
        assert!(fault.hint.unwrap().contains("sess_ada"));
        assert_eq!(
            refused_by(&world, "bob", tool, json!({})).code,
            Code::SessionNotFound
        );
        refuse(
            &world,
            tool,
            json!({"project_id": "nowhere"}),
            Code::SessionNotFound,
        );
    }
}

#[on_both]
fn the_session_that_is_named_beats_the_callers(world: World) {
    let a = root(&world, "A");
    world.ok("activate", json!({"id": a, "session_id": "chat-7"}));
    world.ok(
        "save_session",
        json!({"session_id": "chat-7", "summary": "by ada"}),
    );
    assert_eq!(
        activity(&world, json!({"types": ["session_saved"]}))[0]["session_id"],
        "chat-7"
    );
    assert_eq!(
        world.ok("close_session", json!({"session_id": "chat-7"}))["deactivated_records"],
        json!([a])
    );
    assert_eq!(holders(&world, &a), ["sess_ada"]);
    for tool in ["save_session", "close_session", "sync_session"] {
        for wrong in [
            json!(""),
            json!(" "),
            json!("a\nb"),
            json!("\0"),
            json!("s".repeat(257)),
            json!(5),
        ] {
            refuse_field(&world, tool, json!({"session_id": wrong}), "session_id");
        }
    }
}

#[on_both]
fn one_chat_may_work_in_several_projects(world: World) {
    world.ok("create_project", json!({"id": "p", "name": "P"}));
    let here = root(&world, "Here");
    let there = created(&world.ok(
        "create_record",
        with(fresh(Value::Null, "There"), json!({"project_id": "p"})),
    ));
    assert_eq!(
        world.ok("save_session", json!({}))["saved_records"],
        json!([here]),
        "the caller's own project"
    );
    assert_eq!((tick(&world), tick_of(&world, "p")), (2, 1));
    assert_eq!(
        world.ok("save_session", json!({"project_id": "p"}))["saved_records"],
        json!([there])
    );
    assert_eq!((tick(&world), tick_of(&world, "p")), (2, 2));
    assert_eq!(
        world.ok("close_session", json!({"project_id": "p"}))["deactivated_records"],
        json!([there])
    );
    assert_eq!(
        (holders(&world, &here).len(), holders(&world, &there).len()),
        (1, 0)
    );
    let bob = Caller {
        project: "q".into(),
        ..World::caller("bob")
    };
    world
        .call_as(&bob, "activate", json!({"id": there}))
        .unwrap();
    assert_eq!(
        world.call_as(&bob, "close_session", json!({})).unwrap()["deactivated_records"],
        json!([there]),
        "where it works, if nowhere at home"
    );
    world.assert_sound();
}

#[on_both]
fn summaries_are_kept_and_bounded(world: World) {
    root(&world, "A");
    for text in NASTY {
        world.ok("save_session", json!({"summary": text}));
        assert_eq!(
            activity(&world, json!({"types": ["session_saved"]}))[0]["details"]["reason"],
            *text
        );
    }
    for tool in ["save_session", "close_session"] {
        for wrong in [json!("x".repeat(100_001)), json!("\0"), json!(5), json!([])] {
            refuse_field(&world, tool, json!({"summary": wrong}), "summary");
        }
        refuse_field(&world, tool, json!({"note": "x"}), "note");
    }
    world.ok("close_session", json!({"summary": "x".repeat(100_000)}));
    world.assert_sound();
}

#[on_both]
fn those_who_work_on_a_record_are_shown_the_last_active_first(world: World) {
    let a = root(&world, "A");
    by(&world, "bob", "activate", json!({"id": a}));
    by(&world, "eve", "activate", json!({"id": a}));
    world.ok("update_record", json!({"id": a, "title": "T"}));
    let shown = by(
        &world,
        "bob",
        "get_active_sessions",
        json!({"record_id": a}),
    )["sessions"]
        .clone();
    let names: Vec<(&str, bool)> = shown
        .as_array()
        .unwrap()
        .iter()
        .map(|one| {
            (
                one["session_id"].as_str().unwrap(),
                one["is_current"].as_bool().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        names,
        [("sess_ada", false), ("sess_eve", false), ("sess_bob", true)]
    );
    assert_eq!(shown[0]["last_activity"], record(&world, &a)["modified"]);
    refuse(
        &world,
        "get_active_sessions",
        json!({"record_id": a, "session_id": "sess_eve"}),
        Code::ClaimMismatch,
    );
    assert_eq!(
        (
            &shown[0]["agent"],
            &shown[0]["alive"],
            shown[0]["created"].is_string()
        ),
        (&json!("ada"), &json!(false), true)
    );
    assert_eq!(
        world.ok(
            "get_active_sessions",
            json!({"record_id": a, "max_chars": 150})
        )["truncated"],
        true
    );
    for budget in [0, 60, 150, 250] {
        let cut = world.ok(
            "get_active_sessions",
            json!({"record_id": a, "max_chars": budget}),
        );
        assert!(chars(&cut) <= budget.max(32), "{budget}: {cut}");
    }
    let fault = refuse(
        &world,
        "get_active_sessions",
        json!({"record_id": "R002"}),
        Code::RecordNotFound,
    );
    assert_eq!(fault.details.unwrap()["nearest"], json!([a]));
    refuse_field(
        &world,
        "get_active_sessions",
        json!({"record_id": a, "session_id": ""}),
        "session_id",
    );
}

#[on_both]
fn the_same_key_saves_syncs_and_closes_once(mut world: World) {
    let a = root(&world, "A");
    for tool in ["save_session", "sync_session", "close_session"] {
        let args = json!({"idempotency_key": "k"});
        let first = world.ok(tool, args.clone());
        update_after(&world, &a);
        let (head, ticks) = (world.head(), tick(&world));
        assert_eq!(world.ok(tool, args.clone()), first, "{tool}");
        assert_eq!(
            World::call_on(&world.another(), &world.caller, tool, args).unwrap(),
            first
        );
        assert_eq!((world.head(), tick(&world)), (head, ticks));
        refuse(
            &world,
            tool,
            json!({"session_id": "sess_ada", "idempotency_key": "k"}),
            Code::IdempotencyConflict,
        );
    }
    assert_eq!(
        status(&world, "sess_ada").0,
        "active",
        "a retry of the close did not close again"
    );
    world.caller = auditor();
    for tool in ["save_session", "sync_session", "close_session"] {
        refuse(&world, tool, json!({}), Code::Forbidden);
    }
}

#[on_both]
fn a_long_day_replays_to_the_same(world: World) {
    let ids: Vec<String> = (0..4).map(|at| root(&world, &at.to_string())).collect();
    for round in 0..24_usize {
        let (agent, id) = (["ada", "bob", "eve"][round % 3], &ids[round % 4]);
        by(
            &world,
            agent,
            "activate",
            json!({"id": id, "override": round % 2 == 0}),
        );
        by(
            &world,
            agent,
            "update_record",
            json!({"id": ids[round % 4], "body": round.to_string(), "force": round % 5 == 0}),
        );
        match round % 6 {
            0 => by(&world, agent, "save_session", json!({})),
            1 => by(&world, agent, "sync_session", json!({})),
            2 => by(&world, agent, "close_session", json!({})),
            _ => by(
                &world,
                agent,
                "create_record",
                fresh(id.clone().into(), "Below"),
            ),
        };
    }
    world.assert_sound();
    assert_eq!(
        world.ok("list_projects", json!({}))["projects"][0]["tick"],
        tick(&world)
    );
}

/// A change after which the session has moved on, open again if it was closed.
#[track_caller]
fn update_after(world: &World, id: &str) {
    activate(world, id);
    update(world, id);
}
