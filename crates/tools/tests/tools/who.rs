//! `who`: the agents that are here, what each works on, and how each can be reached.

use crate::threads_common::{as_one, by, caller, text};
use serde_json::{Value, json};
use understory_engine::threads::wait::{self, Wanted};
use understory_model::{Caller, Role};
use understory_testkit::{World, on_both};

fn agents(world: &World, args: Value) -> Vec<Value> {
    let answer = world.ok("who", args);
    answer["agents"].as_array().expect("agents").clone()
}

#[track_caller]
fn one(world: &World, agent: &str) -> Value {
    let all = agents(world, json!({"gone": true}));
    let found = all.iter().find(|one| one["agent"] == agent);
    found
        .unwrap_or_else(|| panic!("no {agent}: {all:?}"))
        .clone()
}

/// What the hooks of a client report of a session.
fn report(world: &World, session: &str, channel: &str) {
    let sql = format!(
        "INSERT INTO live_reach (ws, session, agent, client, client_session, channel, address, \
         machine, process, started, folder, activity, at) SELECT ws, '{session}', 'x', 'x', \
         'chat', '{channel}', '', '', 0, 0, '', 'busy', 1 FROM soil_workspace"
    );
    let mut raw = world.backend.raw();
    raw.run(&format!(
        "DELETE FROM live_reach WHERE session = '{session}'"
    ))
    .unwrap();
    raw.run(&sql).unwrap();
}

#[on_both]
fn live_agents_are_told_with_what_they_are_on(world: World) {
    assert_eq!(agents(&world, json!({})), Vec::<Value>::new());
    let nodes = world.plan(&["Fix the oven"]);
    let bob = World::caller("bob");
    let seat = world.alive(&bob);
    as_one(&world, &bob, "graph_next", json!({"claim": true}));
    let all = agents(&world, json!({}));
    assert_eq!(all.len(), 1, "ada has no process: {all:?}");
    let told = &all[0];
    assert_eq!(
        (&told["agent"], &told["client"], &told["on"], &told["reach"]),
        (
            &json!("bob"),
            &json!("bob"),
            &json!([nodes[0]]),
            &json!("unread_only")
        )
    );
    assert!(text(&told["since"]) <= text(&told["seen"]));
    assert_eq!((told.get("gone"), told.get("you")), (None, None));
    let gone = one(&world, "ada");
    assert_eq!((&gone["gone"], &gone["you"]), (&json!(true), &json!(true)));
    drop(seat);
    world.engine.leave(&bob).unwrap();
    assert_eq!(agents(&world, json!({})), Vec::<Value>::new());
    world.clock.turn(24 * 3_600);
    assert_eq!(agents(&world, json!({"gone": true})), Vec::<Value>::new());
    let asked = agents(&world, json!({"agent": "bob"}));
    assert_eq!((asked.len(), &asked[0]["gone"]), (1, &json!(true)));
    world.refused("who", json!({"agent": " bob"}));
}

#[on_both]
fn how_each_is_reached_is_the_quickest_way(world: World) {
    let bob = World::caller("bob");
    let heartbeat = |more: Value| by(&world, "bob", "heartbeat_session", more);
    let reach = || text(&one(&world, "bob")["reach"]);
    heartbeat(json!({}));
    assert_eq!(reach(), "unread_only");
    report(&world, "sess_bob", "hooks");
    assert_eq!(reach(), "end_of_turn");
    assert_eq!(one(&world, "bob")["activity"], "busy");
    heartbeat(json!({"management_mode": "managed"}));
    assert_eq!(reach(), "terminal");
    for channel in ["claude_rewake", "codex_queue", "opencode_prompt"] {
        report(&world, "sess_bob", channel);
        assert_eq!(reach(), "in_session");
    }
    report(&world, "sess_bob", "terminal");
    assert_eq!(reach(), "terminal");
    let lease = wait::begin(&world.engine, &bob, &Wanted::default()).unwrap();
    assert_eq!(reach(), "waiting");
    wait::end(&world.engine, &bob, &lease);
    assert_eq!(reach(), "terminal");
    heartbeat(json!({"status": "offline"}));
    assert_eq!(reach(), "resume", "its client's chat is known");
    let mut raw = world.backend.raw();
    raw.run("DELETE FROM live_reach").unwrap();
    assert_eq!(reach(), "unread_only");
    heartbeat(json!({"status": "offline", "resumable": true}));
    assert_eq!(reach(), "resume");
}

#[on_both]
fn sessions_of_one_agent_are_one_line_and_few_fit_a_small_budget(world: World) {
    for session in ["a", "b"] {
        let bob = Caller {
            session: session.into(),
            ..World::caller("bob")
        };
        as_one(&world, &bob, "heartbeat_session", json!({}));
    }
    for n in 0..20 {
        by(&world, &format!("w{n}"), "heartbeat_session", json!({}));
    }
    let bob = one(&world, "bob");
    assert_eq!(bob["sessions"], 2);
    assert_eq!(agents(&world, json!({})).len(), 21);
    let short = world.ok("who", json!({"max_chars": 1000}));
    assert!(short["agents"].as_array().unwrap().len() < 21);
    assert_eq!(short["agents_count"], 21, "{short}");
    let auditor = caller("eve", Role::Auditor);
    as_one(&world, &auditor, "who", json!({}));
}
