//! Waking a session in its managed terminal: it is put off while a person types, and for how long; what
//! follows when that time is over.

use crate::threads_common::waking::{MACHINE, beats, bob, calls, in_terminal, job, reach, worker};
use crate::threads_common::*;
use serde_json::{Value, json};
use understory_engine::threads::ladder::{Able, Way};
use understory_engine::threads::wake::{self, Outcome, Taken};
use understory_engine::threads::ways;
use understory_model::Role;
use understory_model::thread::{Activity, Channel, DeferReason, WakeAction};
use understory_testkit::{World, on_both};

fn trigger(world: &World) -> (String, Value) {
    let id = thread(world, &["bob"]);
    say(world, "ada", &id, "x");
    let answer = again(world, &id);
    (id, answer)
}

fn again(world: &World, id: &str) -> Value {
    let args = json!({"thread_id": id, "target_agent_id": "bob"});
    world.ok("trigger_participant", args)
}

/// Bob's supervisor looks for a job.
fn take(world: &World) -> Option<Taken> {
    let own = Able {
        own: Some("s-bob".into()),
        agent: Some("bob".into()),
        decides: true,
        ..Able::default()
    };
    wake::take(&world.engine, &bob(), &own, MACHINE, "run").unwrap()
}

fn put_off(world: &World, taken: &Taken, reason: DeferReason) {
    let outcome = Outcome::Obstructed { reason };
    wake::report(&world.engine, &bob(), taken, &outcome).unwrap();
}

#[on_both]
fn a_session_in_a_terminal_is_reached_through_it(world: World) {
    begin(&world);
    let (id, answer) = trigger(&world);
    assert_eq!(answer["action"], "trigger_runtime");
    assert_eq!(answer["result"], "queued");
    let who = world.ok("who", json!({"agent": "bob"}));
    let bob_is = &who["agents"][0];
    assert_eq!(
        (&bob_is["reach"], &bob_is["client"], &bob_is["activity"]),
        (&json!("terminal"), &json!("claude-code"), &json!("idle"))
    );
    let taken = take(&world).expect("a job");
    assert_eq!(taken.job.action, WakeAction::TriggerRuntime);
    let channel = Some(Channel::Terminal);
    let outcome = Outcome::Delivered { channel };
    wake::report(&world.engine, &bob(), &taken, &outcome).unwrap();
    let delivered = job(&world, &id);
    assert_eq!(
        (&delivered["result"], &delivered["channel"]),
        (&json!("delivered"), &json!("terminal"))
    );
    // The session calls a tool: it has read the prompt.
    as_one(&world, &bob(), "list_threads", json!({}));
    calls(&world, &bob());
    assert_eq!(job(&world, &id)["result"], "read");
}

#[on_both]
fn a_person_who_types_puts_it_off_for_a_minute_and_no_longer(world: World) {
    let id = thread(&world, &["bob"]);
    say(&world, "ada", &id, "x");
    in_terminal(&world, Activity::Typing);
    let answer = again(&world, &id);
    assert_eq!(answer["result"], "deferred");
    assert_eq!(answer["defer_reason"], "human_input_busy");
    assert_eq!(answer["action"], "trigger_runtime");
    assert_eq!(job(&world, &id)["deferred_until"], answer["deferred_until"]);
    let mut tries = 0;
    let collision = loop {
        world.clock.turn(5);
        beats(&world);
        let Some(taken) = take(&world) else {
            break job(&world, &id);
        };
        tries += 1;
        put_off(&world, &taken, DeferReason::HumanInputBusy);
        let now = job(&world, &id);
        if now["result"] != "deferred" {
            continue;
        }
        assert_eq!(now["defer_reason"], "human_input_busy");
        assert!(take(&world).is_none(), "not before it is due");
    };
    // The clock of a log moves on with every item, so the last try may be a moment late.
    assert!(
        (12..=13).contains(&tries),
        "every five seconds for a minute: {tries}"
    );
    assert_eq!(collision["result"], "failed");
    assert_eq!(collision["action"], "tell_person");
    let tried = collision["tried"].as_array().unwrap();
    assert_eq!(tried[0]["code"], "HUMAN_INPUT_COLLISION");
    assert_eq!(tried[0]["action"], "trigger_runtime");
    assert_eq!(tried[1]["action"], "resume_session");
    assert!(text(&tried[1]["why"]).contains("a live process holds its session"));
    assert!(collision.get("defer_reason").is_none());
}

#[on_both]
fn an_agent_at_work_is_waited_for_longer_than_a_person(world: World) {
    begin(&world);
    let (id, _) = trigger(&world);
    let taken = take(&world).expect("a job");
    put_off(&world, &taken, DeferReason::AgentBusy);
    world.clock.turn(10 * 60);
    beats(&world);
    let taken = take(&world).expect("a job");
    put_off(&world, &taken, DeferReason::AgentBusy);
    assert_eq!(job(&world, &id)["result"], "deferred");
    world.clock.turn(6 * 60);
    beats(&world);
    let taken = take(&world).expect("a job");
    put_off(&world, &taken, DeferReason::AgentBusy);
    let failed = job(&world, &id);
    assert_eq!(failed["tried"][0]["code"], "WAKE_FAILED");
    assert_eq!(failed["tried"][0]["why"], "it was at work for 960 s");
}

/// Something has to be there before a terminal can be reported.
fn begin(world: &World) {
    let id = thread(world, &["bob"]);
    in_terminal(world, Activity::Idle);
    let olga = caller("olga", Role::Operator);
    let args = json!({"thread_id": id, "status": "closed"});
    as_one(world, &olga, "update_thread_status", args);
}

#[on_both]
fn a_supervisor_that_dies_loses_the_job_to_the_next_step(world: World) {
    begin(&world);
    let (id, answer) = trigger(&world);
    assert_eq!(answer["action"], "trigger_runtime");
    assert!(take(&world).is_some());
    assert!(take(&world).is_none(), "it has it");
    // It is killed: its lease ends, and nobody is alive in the terminal.
    world.clock.turn(10 * 60);
    let codex = vec!["claude-code".to_owned()];
    let able = Able {
        starts: codex,
        decides: true,
        ..Able::default()
    };
    let anybody = worker(Role::Orchestrator);
    let taken = wake::take(&world.engine, &anybody, &able, MACHINE, "serve").unwrap();
    let taken = taken.expect("a job");
    assert_eq!(taken.job.action, WakeAction::SpawnSession);
    assert_eq!(job(&world, &id)["result"], "queued");
}

/// What bob's supervisor wakes him for by itself.
fn own(world: &World) -> Vec<Taken> {
    let way = world
        .engine
        .view(&bob(), |view| ways::own(view, MACHINE))
        .unwrap();
    wake::own(&world.engine, &bob(), &way.expect("a way"), "run")
        .unwrap()
        .jobs
}

#[on_both]
fn a_message_is_tried_once_and_not_again_and_again(world: World) {
    begin(&world);
    let id = thread(&world, &["bob"]);
    say(&world, "ada", &id, "x");
    let jobs = own(&world);
    assert_eq!(jobs.len(), 1);
    assert_eq!(jobs[0].job.action, WakeAction::TriggerRuntime);
    put_off(&world, &jobs[0], DeferReason::DialogOpen);
    assert!(own(&world).is_empty(), "not before it is due");
    world.clock.turn(61);
    beats(&world);
    let jobs = own(&world);
    assert_eq!(jobs.len(), 1);
    put_off(&world, &jobs[0], DeferReason::DialogOpen);
    assert_eq!(
        job(&world, &id)["tried"][0]["code"],
        "HUMAN_INPUT_COLLISION"
    );
    assert!(own(&world).is_empty(), "this step failed");
    assert!(take(&world).is_some_and(|over| over.job.result.is_final()));
    assert!(own(&world).is_empty(), "and is not begun again");
    say(&world, "ada", &id, "y");
    assert_eq!(own(&world).len(), 1, "a new message is");
}

#[on_both]
fn a_channel_of_the_client_comes_before_the_terminal(world: World) {
    begin(&world);
    let way = ways::reported(reach(Channel::ClaudeRewake, Activity::Idle), MACHINE);
    let (id, _) = trigger(&world);
    let way = Way {
        terminal: Some(Activity::Idle),
        ..way
    };
    let jobs = wake::own(&world.engine, &bob(), &way, "hook").unwrap().jobs;
    assert_eq!(jobs[0].job.action, WakeAction::InSession);
    assert_eq!(job(&world, &id)["target_agent_id"], "bob");
}
