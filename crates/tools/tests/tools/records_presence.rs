//! Sessions that live and end: who stands in whose way, who is only a fact, and who may speak for
//! whom.

use crate::records_common::*;
use serde_json::{Value, json};
use understory_model::{Caller, Code, Role, Via};
use understory_testkit::{World, on_both};

const MINUTE: i64 = 60;

fn sessions(world: &World, of: Value) -> Vec<(String, bool)> {
    let answer = world.ok("get_active_sessions", of);
    let sessions = answer["sessions"].as_array().expect("sessions");
    sessions
        .iter()
        .map(|one| {
            let agent = one["agent"].as_str().expect("agent").to_owned();
            (agent, one["alive"] == true)
        })
        .collect()
}

fn names(found: &[(String, bool)]) -> Vec<&str> {
    found.iter().map(|(agent, _)| agent.as_str()).collect()
}

/// A caller whom a token proved.
fn by_token(agent: &str, role: Role) -> Caller {
    Caller {
        role,
        via: Via::Token,
        ..World::caller(agent)
    }
}

#[on_both]
fn only_who_lives_or_acted_lately_stands_in_the_way(world: World) {
    let id = root(&world, "A");
    let flag = |agent: &str| by(&world, agent, "activate", json!({"id": id}));
    let met = flag("bob");
    assert_eq!(
        (&met["conflict"]["agent"], &met["conflict"]["alive"]),
        (&json!("ada"), &json!(false))
    );
    assert!(
        text(&met["conflict"]["message"])
            .contains("\"sess_ada\" of \"ada\" (gone, last active just now)"),
        "{met}"
    );
    world.clock.turn(29 * MINUTE);
    assert!(
        text(&flag("eve")["conflict"]["message"]).contains("bob"),
        "within the window"
    );
    world.clock.turn(31 * MINUTE);
    let known = told(&world).len();
    let free = flag("fay");
    assert_eq!(
        (free.get("conflict"), warned(&free)),
        (None, vec![]),
        "{free}"
    );
    assert_eq!(
        told_since(&world, known),
        ["session_started", "activation"],
        "what the dead held is no conflict"
    );
    let left: Vec<&Value> = free["left_active_by"]
        .as_array()
        .expect("told as a fact")
        .iter()
        .map(|one| &one["agent"])
        .collect();
    assert_eq!(left, [&json!("eve"), &json!("bob"), &json!("ada")]);
    let shown = world.ok("get_active_sessions", json!({"record_id": id}));
    assert_eq!(
        (
            shown["sessions"].as_array().unwrap().len(),
            shown["left"].as_array().unwrap().len()
        ),
        (2, 2),
        "the caller's own is always shown: {shown}"
    );
    let overview = world.ok("get_project_overview", json!({}));
    assert_eq!(
        (
            overview["open_sessions"].as_array().unwrap().len(),
            overview["left_sessions"].as_array().unwrap().len()
        ),
        (1, 3),
        "{overview}"
    );
    assert_eq!(overview["totals"]["open_sessions"], 4);
    world.assert_sound();
}

#[on_both]
fn who_lives_stands_in_the_way_however_long_it_was_silent(world: World) {
    let id = root(&world, "A");
    world.clock.turn(24 * 60 * MINUTE);
    let ada = World::caller("ada");
    let seat = world.alive(&ada);
    let met = by(&world, "bob", "activate", json!({"id": id}));
    assert_eq!(
        (&met["conflict"]["agent"], &met["conflict"]["alive"]),
        (&json!("ada"), &json!(true))
    );
    assert!(
        text(&met["conflict"]["message"]).contains("(alive, last active 1 day ago)"),
        "{met}"
    );
    assert_eq!(
        sessions(&world, json!({"record_id": id})),
        [("bob".into(), false), ("ada".into(), true)]
    );
    // Killed: the system lets go of its place, or it falls silent.
    drop(seat);
    world.clock.turn(2 * MINUTE);
    assert_eq!(
        by(&world, "eve", "activate", json!({"id": id}))["conflict"]["agent"],
        "bob",
        "ada is gone"
    );
}

#[on_both]
fn the_end_of_a_process_releases_what_it_held(world: World) {
    let id = root(&world, "A");
    world.ok("create_project", json!({"id": "p", "name": "P"}));
    world.ok(
        "create_record",
        with(fresh(Value::Null, "There"), json!({"project_id": "p"})),
    );
    let ada = World::caller("ada");
    let seat = world.alive(&ada);
    if seat.is_some() {
        world.engine.leave(&ada).unwrap();
        assert_eq!(
            holders(&world, &id),
            ["sess_ada"],
            "another process of the same chat goes on"
        );
    }
    drop(seat);
    world.engine.leave(&ada).unwrap();
    assert_eq!(
        (holders(&world, &id), holders(&world, "R002")),
        (vec![], vec![])
    );
    let told = activity(&world, json!({"types": ["session_closed"]})).remove(0);
    assert_eq!(
        (&told["summary"], &told["details"]["released"]),
        (&json!("session ended"), &json!(id))
    );
    let head = world.head();
    world.engine.leave(&ada).unwrap();
    assert_eq!(world.head(), head, "it ends once");
    assert!(activate(&world, &id).get("conflict").is_none());
    assert_eq!(
        activity(&world, json!({"types": ["session_started"]}))[0]["summary"],
        "session resumed"
    );
    world.assert_sound();
}

#[on_both]
fn own_writes_never_make_a_session_stale(world: World) {
    let (mine, theirs) = (
        root(&world, "A"),
        created(&by(&world, "bob", "create_record", fresh(Value::Null, "B"))),
    );
    for at in 0..25 {
        world.ok("update_record", json!({"id": mine, "body": at.to_string()}));
    }
    assert_eq!(
        (
            &session(&world, "sess_ada")["tick_gap"],
            &session(&world, "sess_ada")["status"]
        ),
        (&json!(1), &json!("active"))
    );
    let synced = world.ok("sync_session", json!({}));
    assert_eq!(
        (
            &synced["tick_gap"],
            &synced["total_changes"],
            &synced["session_status"],
            synced.get("warning")
        ),
        (&json!(1), &json!(1), &json!("active"), None),
        "{synced}"
    );
    world.ok("update_record", json!({"id": mine, "body": "on"}));
    by(
        &world,
        "bob",
        "update_record",
        json!({"id": theirs, "body": "x"}),
    );
    by(&world, "bob", "save_session", json!({}));
    world.ok("save_session", json!({}));
    assert_eq!(session(&world, "sess_ada")["tick_gap"], 2);
    world.assert_sound();
}

#[on_both]
fn a_session_that_is_continued_is_no_conflict(world: World) {
    let top = root(&world, "Top");
    let sub = child(&world, &top, "Subtopic");
    // Pattern 3 to the letter: the new chat names nobody.
    let active = by(&world, "bob", "activate", json!({"id": sub}));
    assert_eq!((active.get("conflict"), warned(&active)), (None, vec![]));
    let active = by(
        &world,
        "eve",
        "activate",
        json!({"id": top, "parent_session": "sess_ada"}),
    );
    assert_eq!((active.get("conflict"), warned(&active)), (None, vec![]));
    let again = by(&world, "eve", "activate", json!({"id": top}));
    assert_eq!(
        again.get("conflict"),
        None,
        "it is remembered whom it continues"
    );
    world.ok(
        "update_record",
        json!({"id": sub, "body": "ada goes on with it"}),
    );
    assert_eq!(
        by(&world, "fay", "activate", json!({"id": sub}))["conflict"]["agent"],
        "ada",
        "no subtopic that was handed on"
    );
}

#[on_both]
fn a_session_is_spoken_for_by_its_own_agent(world: World) {
    let id = root(&world, "A");
    for (tool, args) in [
        ("sync_session", json!({})),
        ("close_session", json!({})),
        ("save_session", json!({})),
        ("activate", json!({"id": id})),
        ("update_record", json!({"id": id, "body": "x"})),
        (
            "transition",
            json!({"id": id, "to_state": "LATER", "reason": "r"}),
        ),
        ("create_record", fresh(json!(id), "Below")),
        ("get_active_sessions", json!({"record_id": id})),
    ] {
        let fault = refused_by(
            &world,
            "bob",
            tool,
            with(args.clone(), json!({"session_id": "sess_ada"})),
        );
        assert_eq!(
            (fault.code, &fault.details.unwrap()["field"]),
            (Code::ClaimMismatch, &json!("session_id")),
            "{tool}"
        );
        let caller = by_token("ada", Role::Worker);
        let fault = world
            .call_as(
                &caller,
                tool,
                with(args, json!({"session_id": "sess_ada_2"})),
            )
            .unwrap_err();
        assert_eq!(
            fault.code,
            Code::ClaimMismatch,
            "{tool}: a token is one session's"
        );
    }
    world.ok(
        "activate",
        json!({"id": id, "session_id": "another chat of ada's"}),
    );
    assert_eq!(session(&world, "another chat of ada's")["agent"], "ada");
    let later = Caller {
        session: "sess_later".into(),
        ..World::caller("ada")
    };
    world
        .call_as(&later, "sync_session", json!({"session_id": "sess_ada"}))
        .unwrap();
}

#[on_both]
fn those_who_direct_close_and_sync_and_the_log_says_so(world: World) {
    let id = root(&world, "A");
    for role in [Role::Operator, Role::Orchestrator] {
        for via in [Via::Local, Via::Token] {
            activate(&world, &id);
            let boss = Caller {
                role,
                via,
                ..World::caller("boss")
            };
            let call = |tool: &str| world.call_as(&boss, tool, json!({"session_id": "sess_ada"}));
            assert_eq!(call("save_session").unwrap_err().code, Code::ClaimMismatch);
            call("sync_session").unwrap();
            assert_eq!(
                call("close_session").unwrap()["deactivated_records"],
                json!([id])
            );
            let told = activity(&world, json!({"types": ["session_closed"]})).remove(0);
            assert_eq!(
                (
                    &told["session_id"],
                    &told["details"]["agent"],
                    &told["details"]["by_session"]
                ),
                (&json!("sess_ada"), &json!("boss"), &json!("sess_boss"))
            );
            assert_eq!(
                world.ok("get_active_sessions", json!({"agent": "boss"}))["sessions"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .filter(|one| one["session_id"] == "sess_boss")
                    .count(),
                0,
                "it made no session of its own"
            );
        }
    }
    world.assert_sound();
}

#[on_both]
fn who_is_here_is_told_to_whoever_asks(world: World) {
    assert_eq!(
        world.ok("get_active_sessions", json!({})),
        json!({"sessions": []})
    );
    let id = root(&world, "A");
    by(
        &world,
        "bob",
        "activate",
        json!({"id": id, "parent_session": "sess_ada"}),
    );
    let thread = by(
        &world,
        "eve",
        "create_thread",
        json!({"title": "t", "participants": ["ada"]}),
    )["thread_id"]
        .clone();
    let _seat = world.alive(&World::caller("fay"));
    let here = world.ok("get_active_sessions", json!({}))["sessions"].clone();
    let of = |agent: &str| {
        here.as_array()
            .unwrap()
            .iter()
            .find(|one| one["agent"] == agent)
            .cloned()
            .unwrap_or_default()
    };
    assert_eq!(
        (
            &of("ada")["is_current"],
            &of("ada")["on"],
            &of("ada")["project"]
        ),
        (&json!(true), &json!([id]), &json!("default"))
    );
    assert_eq!(
        (
            &of("bob")["parent_session"],
            of("bob")["created"].is_string()
        ),
        (&json!("sess_ada"), true)
    );
    assert_eq!(
        (&of("eve")["alive"], &of("eve")["status"], &of("eve")["on"]),
        (&json!(false), &json!("offline"), &json!([])),
        "who only talks is seen too"
    );
    assert_eq!(
        (
            &of("fay")["alive"],
            &of("fay")["status"],
            &of("fay")["management_mode"]
        ),
        (&json!(true), &json!("active"), &json!("unmanaged"))
    );
    assert_eq!(
        names(&sessions(&world, json!({})))[0],
        "fay",
        "the living first"
    );
    let onboard = world.ok("graph_onboard", json!({}));
    assert_eq!(onboard["here"][0]["agent"], "fay");
    assert!(
        onboard["here"]
            .as_array()
            .unwrap()
            .iter()
            .all(|one| one["agent"] != "ada")
            && onboard.to_string().len() <= 2_400
    );
    assert_eq!(
        world.ok("get_project_overview", json!({}))["here"],
        onboard["here"]
    );
    world.clock.turn(31 * MINUTE);
    let _again = world.alive(&World::caller("fay"));
    assert_eq!(names(&sessions(&world, json!({}))), ["fay"]);
    assert_eq!(
        names(&sessions(&world, json!({"agent": "bob"}))),
        ["bob"],
        "of one agent, whenever"
    );
    assert_eq!(sessions(&world, json!({"agent": "nobody"})), []);
    for wrong in [json!(""), json!("a\0"), json!(" a"), json!(5)] {
        refuse_field(
            &world,
            "get_active_sessions",
            json!({ "agent": wrong }),
            "agent",
        );
    }
    refuse_field(
        &world,
        "get_active_sessions",
        json!({"agent": "bob", "record_id": id}),
        "agent",
    );
    let readers = world.ok("get_thread", json!({"thread_id": thread}))["readers"].clone();
    assert!(
        readers[0]["last_seen"].is_string() && readers[1]["last_seen"].is_string(),
        "posting is a sign of life: {readers}"
    );
}

#[on_both]
fn whoever_spoke_was_seen(world: World) {
    let thread = world.ok(
        "create_thread",
        json!({"title": "t", "participants": ["bob", "eve"]}),
    )["thread_id"]
        .clone();
    by(
        &world,
        "bob",
        "post_message",
        json!({"thread_id": thread, "body": "here"}),
    );
    world.ok(
        "post_message",
        json!({"thread_id": thread, "body": "anybody?"}),
    );
    let wake = |target: &str| {
        world.call(
            "trigger_participant",
            json!({"thread_id": thread, "target_agent_id": target}),
        )
    };
    let fault = wake("bob").unwrap_err();
    assert!(fault.message.contains("was last seen at 2026-"), "{fault}");
    let fault = wake("eve").unwrap_err();
    assert!(fault.message.contains("never seen"), "{fault}");
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
