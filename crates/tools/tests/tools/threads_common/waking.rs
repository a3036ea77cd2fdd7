//! What the tests of waking share: bob, how he is reached, a job of waking him, and workers.

use serde_json::{Value, json};
use understory_engine::kernel::process::{Local, Process};
use understory_engine::threads::ladder::Able;
use understory_engine::threads::wake::{self, Outcome, Taken};
use understory_engine::threads::{terminal, ways};
use understory_engine::{Reach, Terminal};
use understory_model::thread::{Activity, Channel, WakeFailure};
use understory_model::{Caller, Role, Time};
use understory_testkit::World;

use super::*;

pub const MACHINE: &str = "here";

pub fn worker(role: Role) -> Caller {
    Caller {
        role,
        ..World::caller("understory")
    }
}

pub fn able() -> Able {
    let codex = vec!["codex".to_owned()];
    Able {
        own: None,
        queues: codex.clone(),
        resumes: codex.clone(),
        starts: codex,
        decides: true,
        runs: None,
        agent: None,
        full: false,
        alone: true,
    }
}

pub fn bob() -> Caller {
    Caller {
        session: "s-bob".into(),
        ..World::caller("bob")
    }
}

pub fn reach(channel: Channel, activity: Activity) -> Reach {
    Reach {
        session: "s-bob".into(),
        agent: "bob".into(),
        client: "codex".into(),
        client_session: "chat-1".into(),
        channel,
        address: String::new(),
        machine: MACHINE.into(),
        process: 1,
        started: 1,
        folder: "/repo".into(),
        activity,
        at: Time::ZERO,
    }
}

/// Says how bob is reached, and that he is here.
pub fn here(world: &World, channel: Channel, activity: Activity) {
    world.backend.raw().run("DELETE FROM live_reach").unwrap();
    let one = reach(channel, activity);
    let sql = format!(
        "INSERT INTO live_reach (ws, session, agent, client, client_session, channel, address, \
         machine, process, started, folder, activity, at) SELECT ws, '{}', '{}', '{}', '{}', '{}', \
         '', '{MACHINE}', 1, 1, '/repo', '{}', 0 FROM soil_workspace",
        one.session, one.agent, one.client, one.client_session, one.channel, one.activity
    );
    world.backend.raw().run(&sql).unwrap();
    as_one(
        world,
        &bob(),
        "heartbeat_session",
        json!({"runtime": "codex_cli"}),
    );
}

/// Says that bob runs in a managed terminal, in which this goes on.
pub fn in_terminal(world: &World, activity: Activity) {
    let one = Terminal {
        session: String::new(),
        agent: String::new(),
        program: "claude-code".into(),
        machine: MACHINE.into(),
        folder: "/repo".into(),
        activity,
        at: Time::ZERO,
    };
    assert!(terminal::report(&world.engine, &bob(), &one).unwrap());
    beats(world);
}

/// Bob gives a sign of life.
pub fn beats(world: &World) {
    world.engine.touch(&bob()).unwrap();
}

/// A thread in which bob has not read a message, and a job of waking him for it.
pub fn asked(world: &World) -> String {
    let id = thread(world, &["bob"]);
    say(world, "ada", &id, "Please look.");
    here(world, Channel::CodexQueue, Activity::Idle);
    let args = json!({"thread_id": id, "target_agent_id": "bob", "trigger_prompt": "Review it"});
    world.ok("trigger_participant", args);
    id
}

pub fn take(world: &World, holder: &str) -> Option<Taken> {
    let caller = worker(Role::Orchestrator);
    wake::take(&world.engine, &caller, &able(), MACHINE, holder).unwrap()
}

pub fn report(world: &World, taken: &Taken, outcome: Outcome) {
    wake::report(&world.engine, &worker(Role::Orchestrator), taken, &outcome).unwrap();
}

pub fn failed(why: &str, retry: bool) -> Outcome {
    Outcome::Failed {
        code: WakeFailure::WakeFailed,
        why: why.into(),
        retry,
    }
}

/// A session calls a tool; nothing that was started for it runs on this machine.
pub fn calls(world: &World, caller: &Caller) {
    calls_while(world, caller, |_| false);
}

/// A session calls a tool, while these processes run here.
pub fn calls_while(world: &World, caller: &Caller, runs: fn(&Process) -> bool) {
    let local = Local {
        machine: MACHINE,
        runs,
    };
    wake::called(&world.engine, caller, local).unwrap();
}

/// The last job, which every reader tells alike.
#[track_caller]
pub fn job(world: &World, thread: &str) -> Value {
    let listed = world.ok("list_wakes", json!({"thread_id": thread}))["wakes"][0].clone();
    assert_eq!(get(world, thread)["wakes"][0], listed);
    listed
}

/// Bob's own worker wakes him for what he was not told.
pub fn own(world: &World) -> Vec<Taken> {
    own_as(world, &bob())
}

pub fn own_as(world: &World, caller: &Caller) -> Vec<Taken> {
    let reach = Reach {
        session: caller.session.clone(),
        agent: caller.agent.clone(),
        ..reach(Channel::ClaudeRewake, Activity::Idle)
    };
    let way = ways::reported(reach, MACHINE);
    wake::own(&world.engine, caller, &way, &caller.session)
        .unwrap()
        .jobs
}
