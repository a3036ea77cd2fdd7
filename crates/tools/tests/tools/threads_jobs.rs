//! Jobs of waking, as a worker takes and reports them: one worker at a time, true receipts, steps one
//! after another, and bounds.

use crate::threads_common::waking::*;
use crate::threads_common::*;
use serde_json::json;
use understory_engine::threads::wake::{self, Outcome};
use understory_model::thread::{Activity, Channel, WakeAction, WakeResult};
use understory_model::{Caller, Code, Role};
use understory_testkit::{World, on_both};

#[on_both]
fn one_worker_takes_a_job_and_another_after_its_lease(world: World) {
    asked(&world);
    let taken = take(&world, "one").expect("a job");
    assert_eq!(taken.job.action, WakeAction::InSession);
    assert_eq!(taken.way.unwrap().client_session, "chat-1");
    assert!(take(&world, "two").is_none());
    world.clock.turn(11 * 60);
    here(&world, Channel::CodexQueue, Activity::Idle);
    assert!(take(&world, "two").is_some(), "the first one died");
}

#[on_both]
fn a_job_is_delivered_when_the_channel_took_it_and_read_by_a_call(world: World) {
    let id = asked(&world);
    let taken = take(&world, "one").expect("a job");
    assert_eq!(job(&world, &id)["result"], "queued");
    let channel = Some(Channel::CodexQueue);
    report(&world, &taken, Outcome::Delivered { channel });
    let told = job(&world, &id);
    assert_eq!(told["result"], "delivered");
    assert_eq!(told["channel"], "codex_queue");
    assert_eq!(told["asked_by"], "ada");
    // Another session of the same agent has not read it.
    calls(&world, &World::caller("bob"));
    assert_eq!(job(&world, &id)["result"], "delivered");
    calls(&world, &bob());
    assert_eq!(job(&world, &id)["result"], "read");
    assert!(take(&world, "one").is_none());
}

#[on_both]
fn the_woken_agent_is_told_who_asks_and_what(world: World) {
    asked(&world);
    let taken = take(&world, "one").expect("a job");
    let caller = worker(Role::Orchestrator);
    let text = world.engine.view(&caller, |view| {
        wake::text(view, std::slice::from_ref(&taken))
    });
    let text = text.unwrap();
    for part in [
        "ada",
        "th_001",
        "\"Please look.\"",
        "\"Review it\"",
        "wake_001",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[on_both]
fn a_step_that_may_succeed_later_is_retried_and_then_the_next_one_taken(world: World) {
    let id = asked(&world);
    for _ in 0..2 {
        let taken = take(&world, "one").expect("a job");
        report(&world, &taken, failed("no daemon", true));
        let told = job(&world, &id);
        assert_eq!(told["result"], "deferred");
        assert_eq!(told["defer_reason"], "retry");
        assert!(take(&world, "one").is_none(), "not yet");
        world.clock.turn(60);
        here(&world, Channel::CodexQueue, Activity::Idle);
    }
    let taken = take(&world, "one").expect("a job");
    report(&world, &taken, failed("no daemon", true));
    assert_eq!(job(&world, &id)["tried"][0]["why"], "no daemon");
    // Bob is alive, so nothing is resumed or begun: a person is told.
    let over = take(&world, "one").expect("a job that is over");
    assert_eq!(over.job.action, WakeAction::TellPerson);
    let told = job(&world, &id);
    assert_eq!(told["result"], "failed");
    let actions: Vec<String> = told["tried"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tried| text(&tried["action"]))
        .collect();
    assert_eq!(actions, ["in_session", "end_of_turn", "resume_session"]);
    assert!(take(&world, "one").is_none());
}

#[on_both]
fn an_ended_session_is_resumed_and_then_a_new_one_begun(world: World) {
    let id = asked(&world);
    world.clock.turn(10 * 60);
    let taken = take(&world, "one").expect("a job");
    assert_eq!(taken.job.action, WakeAction::ResumeSession);
    report(&world, &taken, failed("exit status: 1", false));
    let taken = take(&world, "one").expect("a job");
    assert_eq!(taken.job.action, WakeAction::SpawnSession);
    assert_eq!(taken.client.as_deref(), Some("codex"));
    let caller = worker(Role::Orchestrator);
    let text = world
        .engine
        .view(&caller, |view| wake::first_text(view, &taken));
    assert!(text.unwrap().contains("You begin a new session"));
    report(&world, &taken, Outcome::Delivered { channel: None });
    assert_eq!(job(&world, &id)["result"], "delivered");
}

#[on_both]
fn only_an_operator_forces_a_wake_with_a_reason_and_the_audit_says_so(world: World) {
    let id = asked(&world);
    let args = json!({"thread_id": id, "target_agent_id": "bob", "force": true});
    refuse(&world, "trigger_participant", args, Code::Validation);
    let args = json!({"thread_id": id, "target_agent_id": "bob", "force": true, "reason": "fire"});
    refuse(
        &world,
        "trigger_participant",
        args.clone(),
        Code::InsufficientAuthority,
    );
    let person = Caller {
        role: Role::Operator,
        ..World::caller("eve")
    };
    as_one(&world, &person, "trigger_participant", args);
    assert_eq!(job(&world, &id)["forced"], true);
    let sql = "SELECT COUNT(*) FROM soil_item WHERE type = 'AuditEvent' \
         AND content LIKE '%wake_forced%' AND content LIKE '%fire%'";
    assert_eq!(world.backend.raw().number(sql), 1);
}

#[on_both]
fn a_message_wakes_a_session_once(world: World) {
    let id = thread(&world, &["bob"]);
    say(&world, "ada", &id, "x");
    here(&world, Channel::ClaudeRewake, Activity::Idle);
    let jobs = own(&world);
    assert_eq!(jobs.len(), 1);
    let channel = Some(Channel::ClaudeRewake);
    let outcome = Outcome::Delivered { channel };
    wake::report(&world.engine, &bob(), &jobs[0], &outcome).unwrap();
    assert!(own(&world).is_empty(), "it has it already");
    let other = Caller {
        session: "s-other".into(),
        ..bob()
    };
    assert!(own_as(&world, &other).is_empty(), "another session has it");
    let told = job(&world, &id);
    assert_eq!(
        (&told["result"], &told["asked_by"]),
        (&json!("delivered"), &json!("ada"))
    );
    calls(&world, &bob());
    assert!(own(&world).is_empty(), "unread, and told");
    say(&world, "ada", &id, "y");
    assert_eq!(own(&world).len(), 1, "this is another one");
}

#[on_both]
fn two_agents_that_only_wake_each_other_are_stopped(world: World) {
    let id = thread(&world, &["bob"]);
    here(&world, Channel::ClaudeRewake, Activity::Idle);
    let (mut rounds, mut last) = (0, false);
    for _ in 0..20 {
        say(&world, "ada", &id, "ping");
        let Some(taken) = own(&world).pop() else {
            break;
        };
        (rounds, last) = (rounds + 1, taken.last);
        let channel = Some(Channel::ClaudeRewake);
        wake::report(
            &world.engine,
            &bob(),
            &taken,
            &Outcome::Delivered { channel },
        )
        .unwrap();
        calls(&world, &bob());
        say(&world, "bob", &id, "pong");
    }
    assert!((5..20).contains(&rounds), "{rounds}");
    assert!(last, "the last one says so");
    // Other work lets it go on.
    as_one(
        &world,
        &bob(),
        "garden_add",
        json!({"type": "Note", "description": "done"}),
    );
    say(&world, "ada", &id, "and now?");
    assert_eq!(own(&world).len(), 1);
}

#[on_both]
fn an_agent_is_not_woken_more_often_than_the_setting_allows(world: World) {
    let options = understory_engine::Options {
        wakes_per_hour: 1,
        ..world.options()
    };
    let world = World::with(world.backend, world.clock, options);
    asked(&world);
    let taken = take(&world, "one").expect("a job");
    report(&world, &taken, failed("no daemon", false));
    asked(&world);
    // What failed counts too.
    while let Some(taken) = take(&world, "one") {
        assert_eq!(taken.job.result, WakeResult::Failed, "it is over");
    }
    let told = world.ok("list_wakes", json!({}));
    assert_eq!(told["wakes"][0]["defer_reason"], "too_many_wakes");
}
