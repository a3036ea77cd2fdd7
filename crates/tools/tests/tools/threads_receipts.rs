//! What a job of waking says stays true: whoever reports late, dies, asks again or acknowledges first;
//! and the bounds on what is started.

use std::sync::Arc;

use crate::threads_common::waking::*;
use crate::threads_common::*;
use serde_json::{Value, json};
use understory_engine::Options;
use understory_engine::kernel::process::Process;
use understory_engine::system::untold;
use understory_engine::threads::ladder::Able;
use understory_engine::threads::wake::{self, Outcome, Taken};
use understory_model::thread::{Activity, Channel, DeferReason, WakeAction, WakeResult};
use understory_model::{Caller, Role, Time};
use understory_testkit::{World, on_both};

const MINUTE: i64 = 60;

fn delivered(channel: Channel) -> Outcome {
    Outcome::Delivered {
        channel: Some(channel),
    }
}

/// A process ended well: what it started took the prompt.
const ENDED: Outcome = Outcome::Delivered { channel: None };

/// The steps that failed, in order.
fn tried(job: &Value) -> Vec<String> {
    let tried = job["tried"].as_array().cloned().unwrap_or_default();
    tried.iter().map(|one| text(&one["action"])).collect()
}

fn trigger(world: &World, thread: &str, more: Value) -> Value {
    let args = with(json!({"thread_id": thread, "target_agent_id": "bob"}), more);
    world.ok("trigger_participant", args)
}

/// The answer of `trigger_participant` says what the job says.
#[track_caller]
fn agrees(answer: &Value, job: &Value) {
    for field in [
        "wake_id",
        "action",
        "result",
        "defer_reason",
        "deferred_until",
    ] {
        assert_eq!(answer.get(field), job.get(field), "{field}: {answer} {job}");
    }
}

/// Bob is gone.
fn gone(world: &World) {
    world.clock.turn(10 * MINUTE);
}

#[on_both]
fn an_unread_prompt_of_an_ended_session_goes_on_to_the_next_step_and_no_step_comes_twice(
    world: World,
) {
    let id = asked(&world);
    let taken = take(&world, "one").expect("a job");
    report(&world, &taken, delivered(Channel::CodexQueue));
    world.clock.turn(MINUTE);
    here(&world, Channel::CodexQueue, Activity::Idle);
    world.clock.turn(80);
    assert!(
        take(&world, "one").is_none(),
        "bob is there and may read it"
    );
    gone(&world);
    let taken = take(&world, "one").expect("the next step");
    assert_eq!(taken.job.action, WakeAction::ResumeSession);
    let told = job(&world, &id);
    assert_eq!(
        (&told["result"], &told["action"]),
        (&json!("queued"), &json!("resume_session"))
    );
    assert_eq!(tried(&told), ["in_session"]);
    assert!(text(&told["tried"][0]["why"]).contains("without reading"));
    report(&world, &taken, ENDED);
    assert_eq!(job(&world, &id)["result"], "delivered");
    gone(&world);
    let taken = take(&world, "one").expect("the next step");
    assert_eq!(taken.job.action, WakeAction::SpawnSession);
    report(&world, &taken, ENDED);
    gone(&world);
    let over = take(&world, "one").expect("a job that is over");
    assert_eq!(over.job.result, WakeResult::Failed);
    let told = job(&world, &id);
    assert_eq!(told["result"], "failed");
    let steps = tried(&told);
    assert_eq!(
        steps[..3],
        ["in_session", "resume_session", "spawn_session"],
        "{told}"
    );
    gone(&world);
    assert!(take(&world, "one").is_none(), "nothing is started again");
    world.assert_sound();
}

#[on_both]
fn a_resumed_session_that_calls_a_tool_has_read(world: World) {
    let id = asked(&world);
    gone(&world);
    calls(&world, &bob());
    assert_eq!(
        job(&world, &id)["result"],
        "queued",
        "nothing was delivered"
    );
    let taken = take(&world, "one").expect("a job");
    assert_eq!(taken.job.action, WakeAction::ResumeSession);
    calls(&world, &World::caller("bob"));
    assert_eq!(job(&world, &id)["result"], "queued", "another session");
    calls(&world, &bob());
    let told = job(&world, &id);
    assert_eq!(told["result"], "read");
    assert!(told["delivered_at"].is_string(), "{told}");
    // The agent goes on with its work, and its end changes nothing.
    wake::renew(&world.engine, &worker(Role::Orchestrator), &taken).unwrap();
    for outcome in [failed("exit status: 1", true), ENDED] {
        report(&world, &taken, outcome);
        assert_eq!(job(&world, &id), told);
    }
}

#[on_both]
fn a_new_session_that_calls_a_tool_has_read(world: World) {
    let id = asked(&world);
    let old = Caller {
        session: "s-old".into(),
        ..bob()
    };
    drop(world.alive(&old));
    gone(&world);
    let taken = take(&world, "one").expect("a job");
    report(&world, &taken, failed("exit status: 1", false));
    let taken = take(&world, "one").expect("the next step");
    assert_eq!(taken.job.action, WakeAction::SpawnSession);
    calls(&world, &old);
    assert_eq!(job(&world, &id)["result"], "queued", "it began before");
    let new = Caller {
        session: "s-new".into(),
        ..bob()
    };
    let _seat = world.alive(&new);
    calls(&world, &new);
    let told = job(&world, &id);
    assert_eq!(
        (&told["result"], &told["session_id"]),
        (&json!("read"), &json!("s-new"))
    );
}

#[on_both]
fn an_agent_is_started_once_at_a_time(world: World) {
    let one = asked(&world);
    let two = asked(&world);
    gone(&world);
    let taken = take(&world, "one").expect("a job");
    assert_eq!(taken.job.action, WakeAction::ResumeSession);
    assert!(take(&world, "one").is_none());
    assert!(take(&world, "two").is_none(), "nor by another worker");
    let told = job(&world, &two);
    assert_eq!(
        (&told["result"], &told["action"]),
        (&json!("queued"), &json!("resume_session"))
    );
    report(&world, &taken, ENDED);
    assert_eq!(job(&world, &one)["result"], "delivered");
    world.clock.turn(6);
    let next = take(&world, "two").expect("the other job");
    assert_eq!(next.job.thread, two);
}

#[on_both]
fn an_agent_that_outlives_its_worker_is_not_started_again(world: World) {
    let id = asked(&world);
    gone(&world);
    let taken = take(&world, "one").expect("a job");
    assert_eq!(taken.job.action, WakeAction::ResumeSession);
    let process = Process {
        machine: MACHINE.into(),
        id: 77,
        started: 4,
    };
    let anybody = worker(Role::Orchestrator);
    wake::begun(&world.engine, &anybody, &taken, &process).unwrap();
    let take_if = |runs: fn(&Process) -> bool, machine: &str| {
        let able = Able {
            runs: Some(runs),
            ..able()
        };
        wake::take(&world.engine, &anybody, &able, machine, "two").unwrap()
    };
    // The first worker was killed, and its lease is over.
    world.clock.turn(11 * MINUTE);
    assert!(take_if(|_| true, MACHINE).is_none());
    let told = job(&world, &id);
    assert_eq!(
        (&told["result"], &told["action"]),
        (&json!("queued"), &json!("resume_session")),
        "it is still at work"
    );
    world.clock.turn(6);
    assert!(take_if(|one| one.id == 77 && one.started == 4, MACHINE).is_none());
    // What it does meanwhile shows that it has the prompt.
    calls(&world, &World::caller("bob"));
    assert_eq!(job(&world, &id)["result"], "queued", "another session");
    world.clock.turn(6);
    let again = take_if(|_| false, MACHINE).expect("it has ended");
    assert_eq!(again.job.action, WakeAction::ResumeSession);
    wake::begun(&world.engine, &anybody, &again, &process).unwrap();
    // The first worker's word is not about the second one's process.
    report(&world, &taken, failed("exit status: 1", true));
    world.clock.turn(11 * MINUTE);
    assert!(take_if(|_| true, MACHINE).is_none());
    calls_while(&world, &bob(), |_| true);
    assert_eq!(job(&world, &id)["result"], "read");
}

#[on_both]
fn a_process_that_was_reported_keeps_nobody_back(world: World) {
    asked(&world);
    let other = asked(&world);
    gone(&world);
    let taken = take(&world, "one").expect("a job");
    let process = Process {
        machine: MACHINE.into(),
        id: 77,
        started: 4,
    };
    let anybody = worker(Role::Orchestrator);
    wake::begun(&world.engine, &anybody, &taken, &process).unwrap();
    report(&world, &taken, ENDED);
    world.clock.turn(6);
    let able = Able {
        runs: Some(|_| true),
        ..able()
    };
    let next = wake::take(&world.engine, &anybody, &able, MACHINE, "two").unwrap();
    assert_eq!(next.expect("the other job").job.thread, other);
}

#[on_both]
fn a_worker_that_lost_its_job_changes_only_what_it_delivered(world: World) {
    let id = asked(&world);
    let first = take(&world, "one").expect("a job");
    world.clock.turn(11 * MINUTE);
    here(&world, Channel::CodexQueue, Activity::Idle);
    let second = take(&world, "two").expect("the first one seems dead");
    let before = job(&world, &id);
    report(&world, &first, failed("too late", false));
    let until = Time(i64::MAX / 2);
    let reason = DeferReason::HumanInputBusy;
    report(&world, &first, Outcome::Deferred { reason, until });
    assert_eq!(job(&world, &id), before);
    assert!(take(&world, "three").is_none(), "the second one has it");
    assert!(
        wake::renew(&world.engine, &worker(Role::Orchestrator), &first).is_err(),
        "the first one learns of it"
    );
    // That the channel took the prompt is true, whoever says it.
    report(&world, &first, delivered(Channel::CodexQueue));
    assert_eq!(job(&world, &id)["result"], "delivered");
    report(&world, &second, failed("no daemon", false));
    assert_eq!(job(&world, &id)["result"], "delivered");
}

#[on_both]
fn who_acknowledges_before_the_worker_reports_has_read(world: World) {
    let id = asked(&world);
    let taken = take(&world, "one").expect("a job");
    as_one(
        &world,
        &bob(),
        "ack_read",
        json!({"thread_id": id, "last_read_seq": 1}),
    );
    assert_eq!(job(&world, &id)["result"], "read");
    report(&world, &taken, delivered(Channel::CodexQueue));
    let told = job(&world, &id);
    assert_eq!(
        (&told["result"], &told["channel"], &told["action"]),
        (&json!("read"), &json!("codex_queue"), &json!("in_session"))
    );
    report(&world, &taken, failed("and then?", true));
    assert_eq!(job(&world, &id), told);
    assert!(take(&world, "one").is_none());
    world.assert_sound();
}

#[on_both]
fn who_asks_anew_during_a_step_starts_no_second_one_and_is_delivered_after_it(world: World) {
    let id = asked(&world);
    gone(&world);
    let taken = take(&world, "one").expect("a job");
    assert_eq!(taken.job.action, WakeAction::ResumeSession);
    let answer = trigger(&world, &id, json!({"trigger_prompt": "Now this."}));
    agrees(&answer, &job(&world, &id));
    assert!(take(&world, "two").is_none(), "a process is at work");
    report(&world, &taken, ENDED);
    let told = job(&world, &id);
    assert_eq!(
        (&told["result"], &told["prompt"]),
        (&json!("queued"), &json!("Now this."))
    );
    let taken = take(&world, "one").expect("the new words");
    assert_eq!(taken.job.prompt, "Now this.");
}

#[on_both]
fn the_answer_to_who_asks_again_is_what_the_job_says(world: World) {
    let id = asked(&world);
    let again = || trigger(&world, &id, json!({"trigger_prompt": "Review it"}));
    agrees(&again(), &job(&world, &id));
    let taken = take(&world, "one").expect("a job");
    report(&world, &taken, failed("no daemon", true));
    let answer = again();
    assert_eq!(answer["result"], "deferred");
    assert_eq!(answer["defer_reason"], "retry");
    agrees(&answer, &job(&world, &id));
    world.clock.turn(30);
    here(&world, Channel::CodexQueue, Activity::Idle);
    let taken = take(&world, "one").expect("a job");
    report(&world, &taken, delivered(Channel::CodexQueue));
    let answer = again();
    assert_eq!(answer["result"], "delivered");
    assert!(text(&answer["note"]).contains("not read yet"), "{answer}");
    agrees(&answer, &job(&world, &id));
    // Somebody else asks: it is delivered once more.
    let other = by(
        &world,
        "ada",
        "trigger_participant",
        json!({"thread_id": id, "target_agent_id": "bob", "trigger_prompt": "And this"}),
    );
    assert_eq!(other["result"], "queued");
    agrees(&other, &job(&world, &id));
    assert!(take(&world, "one").is_some());
}

#[on_both]
fn a_call_that_waited_and_died_is_not_believed_to_have_read(world: World) {
    let id = thread(&world, &["bob"]);
    say(&world, "ada", &id, "x");
    here(&world, Channel::CodexQueue, Activity::Idle);
    let wanted = understory_engine::threads::wait::Wanted::default();
    let lease = understory_engine::threads::wait::begin(&world.engine, &bob(), &wanted);
    assert!(lease.is_some());
    let answer = trigger(&world, &id, json!({}));
    assert_eq!(answer["result"], "delivered");
    agrees(&answer, &job(&world, &id));
    assert_eq!(job(&world, &id)["session_id"], "s-bob");
    assert!(take(&world, "one").is_none());
    gone(&world);
    let taken = take(&world, "one").expect("the next step");
    assert_eq!(taken.job.action, WakeAction::ResumeSession);
    assert_eq!(tried(&job(&world, &id)), ["wait_for_messages"]);
}

#[on_both]
fn a_deferral_that_has_passed_is_told_no_more(world: World) {
    let id = thread(&world, &["bob"]);
    say(&world, "ada", &id, "x");
    in_terminal(&world, Activity::Typing);
    trigger(&world, &id, json!({}));
    assert_eq!(job(&world, &id)["result"], "deferred");
    world.clock.turn(10);
    assert!(take(&world, "one").is_none(), "its supervisor has it");
    let told = job(&world, &id);
    assert_eq!(told["result"], "queued", "{told}");
    assert_eq!(told.get("deferred_until"), None);
    // Others look again in a while; that does not keep its supervisor from taking it now.
    let own = Able {
        own: Some("s-bob".into()),
        agent: Some("bob".into()),
        ..Able::default()
    };
    let taken = wake::take(&world.engine, &bob(), &own, MACHINE, "run").unwrap();
    assert_eq!(taken.unwrap().job.action, WakeAction::TriggerRuntime);
}

fn own_failed(world: &World, taken: &Taken) {
    wake::report(&world.engine, &bob(), taken, &failed("no daemon", true)).unwrap();
}

#[on_both]
fn a_channel_that_fails_is_tried_thrice_with_pauses(world: World) {
    let id = thread(&world, &["bob"]);
    say(&world, "ada", &id, "x");
    for _ in 0..3 {
        here(&world, Channel::ClaudeRewake, Activity::Idle);
        let jobs = own(&world);
        assert_eq!(jobs.len(), 1);
        own_failed(&world, &jobs[0]);
        let head = world.head();
        assert!(own(&world).is_empty(), "not at once");
        assert_eq!(world.head(), head, "looking writes nothing");
        world.clock.turn(MINUTE);
    }
    here(&world, Channel::ClaudeRewake, Activity::Idle);
    let head = world.head();
    for _ in 0..5 {
        assert!(own(&world).is_empty(), "it fails");
        world.clock.turn(MINUTE);
    }
    assert_eq!(world.head(), head);
    assert_eq!(tried(&job(&world, &id)), ["in_session"]);
    // The others find nothing left either.
    here(&world, Channel::ClaudeRewake, Activity::Idle);
    while let Some(taken) = take(&world, "one") {
        if taken.job.result == WakeResult::Failed {
            break;
        }
    }
    assert_eq!(job(&world, &id)["result"], "failed");
    assert!(own(&world).is_empty(), "what failed is not begun anew");
    say(&world, "ada", &id, "y");
    assert_eq!(
        own(&world).len(),
        1,
        "for another message it is tried again"
    );
}

#[on_both]
fn each_message_wakes_a_session_once_however_many_come_before_it_reads(world: World) {
    let id = thread(&world, &["bob"]);
    here(&world, Channel::ClaudeRewake, Activity::Idle);
    for body in ["x", "y", "z"] {
        say(&world, "ada", &id, body);
        let jobs = own(&world);
        assert_eq!(jobs.len(), 1, "{body}");
        let channel = Channel::ClaudeRewake;
        wake::report(&world.engine, &bob(), &jobs[0], &delivered(channel)).unwrap();
        assert!(own(&world).is_empty(), "{body}");
    }
    let all = world.ok("list_wakes", json!({"thread_id": id}));
    assert_eq!(all["wakes"].as_array().unwrap().len(), 1, "one is open");
    ack(&world, "bob", &id, 1);
    assert_eq!(job(&world, &id)["result"], "delivered", "not all is read");
    ack(&world, "bob", &id, 3);
    assert_eq!(job(&world, &id)["result"], "read");
}

#[on_both]
fn nobody_is_woken_for_a_thread_that_is_closed_or_that_it_left(world: World) {
    let id = asked(&world);
    let other = asked(&world);
    world.ok(
        "update_thread_status",
        json!({"thread_id": id, "status": "closed", "reason": "done"}),
    );
    assert_eq!(job(&world, &id)["result"], "not_needed");
    world.ok(
        "update_thread_status",
        json!({"thread_id": other, "remove_participants": ["bob"]}),
    );
    assert_eq!(job(&world, &other)["result"], "not_needed");
    assert!(take(&world, "one").is_none());
    assert!(own(&world).is_empty());
    world.assert_sound();
}

#[on_both]
fn a_crowded_thread_wakes_each_session_once(world: World) {
    let names: Vec<String> = (0..30).map(|n| format!("agent-{n:02}")).collect();
    let all: Vec<&str> = names.iter().map(String::as_str).chain(["bob"]).collect();
    let id = thread(&world, &all);
    say(&world, "ada", &id, "x");
    here(&world, Channel::ClaudeRewake, Activity::Idle);
    for name in std::iter::once("bob").chain(names.iter().map(String::as_str)) {
        let caller = match name {
            "bob" => bob(),
            _ => World::caller(name),
        };
        let jobs = own_as(&world, &caller);
        let outcome = delivered(Channel::CodexQueue);
        wake::report(&world.engine, &caller, &jobs[0], &outcome).unwrap();
    }
    assert!(own(&world).is_empty(), "it was woken first, and once");
}

#[on_both]
fn agents_that_only_wake_each_other_are_stopped_and_the_job_says_so(world: World) {
    let id = thread(&world, &["bob"]);
    let ada = World::caller("ada");
    here(&world, Channel::ClaudeRewake, Activity::Idle);
    let (mut wakes, mut said) = (0, Vec::new());
    'all: for _ in 0..20 {
        for (from, to) in [("ada", bob()), ("bob", ada.clone())] {
            say(&world, from, &id, "over to you");
            let Some(taken) = own_as(&world, &to).pop() else {
                break 'all;
            };
            wakes += 1;
            said.push(taken.last);
            let outcome = delivered(Channel::ClaudeRewake);
            wake::report(&world.engine, &to, &taken, &outcome).unwrap();
            calls(&world, &to);
        }
    }
    assert!((5..20).contains(&wakes), "{wakes}");
    assert_eq!(said.last(), Some(&true), "the last one says so");
    assert!(said.iter().filter(|last| **last).count() <= 2, "{said:?}");
    let told = job(&world, &id);
    assert_eq!(told["result"], "failed");
    assert_eq!(told["action"], "tell_person");
    assert_eq!(told["tried"][0]["code"], "RATE_LIMITED");
    let head = world.head();
    assert!(own(&world).is_empty() && own_as(&world, &ada).is_empty());
    assert_eq!(world.head(), head, "it is said once");
    // An operator forces one, and then they go on.
    let target = text(&told["target_agent_id"]);
    let (other, to) = match target.as_str() {
        "bob" => ("ada", bob()),
        _ => ("bob", ada),
    };
    let olga = caller("olga", Role::Operator);
    let args = json!({"thread_id": id, "target_agent_id": target, "force": true, "reason": "r"});
    as_one(&world, &olga, "trigger_participant", args);
    let forced = own_as(&world, &to).pop().expect("it is forced");
    let outcome = delivered(Channel::ClaudeRewake);
    wake::report(&world.engine, &to, &forced, &outcome).unwrap();
    calls(&world, &to);
    say(&world, other, &id, "still here");
    assert_eq!(own_as(&world, &to).len(), 1, "a person stepped in");
}

#[on_both]
fn work_of_others_makes_no_loop_of_a_long_conversation(world: World) {
    let id = thread(&world, &["bob"]);
    here(&world, Channel::ClaudeRewake, Activity::Idle);
    for n in 0..15 {
        say(&world, "ada", &id, "x");
        let taken = own(&world).pop().expect("a job");
        wake::report(&world.engine, &bob(), &taken, &ENDED).unwrap();
        calls(&world, &bob());
        let note = json!({"type": "Note", "description": format!("work {n}")});
        as_one(&world, &bob(), "garden_add", note);
    }
    // Everything that bob did is long ago in the log.
    let nodes: Vec<Value> = (0..100)
        .map(|n| json!({"ref": n.to_string(), "summary": "other work"}))
        .collect();
    for _ in 0..6 {
        by(&world, "cyd", "graph_plan", json!({"nodes": nodes}));
    }
    here(&world, Channel::ClaudeRewake, Activity::Idle);
    say(&world, "ada", &id, "and now?");
    assert_eq!(own(&world).len(), 1);
}

/// A world in which an agent is woken so often an hour.
fn limited(world: World, most: i64) -> World {
    let options = Options {
        wakes_per_hour: most,
        ..world.options()
    };
    World::with(world.backend, Arc::clone(&world.clock), options)
}

#[on_both]
fn a_limit_puts_off_what_is_to_come_and_changes_nothing_that_was_delivered(world: World) {
    let world = limited(world, 1);
    let id = asked(&world);
    let taken = take(&world, "one").expect("a job");
    report(&world, &taken, delivered(Channel::CodexQueue));
    let other = asked(&world);
    assert!(take(&world, "one").is_none());
    let told = job(&world, &other);
    assert_eq!(
        (&told["result"], &told["defer_reason"]),
        (&json!("deferred"), &json!("too_many_wakes"))
    );
    world.clock.turn(3 * MINUTE);
    here(&world, Channel::CodexQueue, Activity::Idle);
    assert!(take(&world, "one").is_none());
    assert_eq!(job(&world, &id)["result"], "delivered");
    world.clock.turn(MINUTE * MINUTE);
    here(&world, Channel::CodexQueue, Activity::Idle);
    let taken = take(&world, "one").expect("an hour has passed");
    assert_eq!(taken.job.thread, other);
    report(&world, &taken, delivered(Channel::CodexQueue));
    assert_eq!(job(&world, &other)["result"], "delivered");
}

#[on_both]
fn a_limit_holds_for_messages_too_and_its_end_wakes(world: World) {
    let world = limited(world, 1);
    let id = thread(&world, &["bob"]);
    say(&world, "ada", &id, "x");
    here(&world, Channel::ClaudeRewake, Activity::Idle);
    let taken = own(&world).pop().expect("a job");
    let outcome = delivered(Channel::ClaudeRewake);
    wake::report(&world.engine, &bob(), &taken, &outcome).unwrap();
    // It never calls a tool: its one job stays open, and the limit counts all the same.
    say(&world, "ada", &id, "y");
    here(&world, Channel::ClaudeRewake, Activity::Idle);
    assert!(own(&world).is_empty());
    let told = job(&world, &id);
    assert_eq!(told["defer_reason"], "too_many_wakes", "{told}");
    let head = world.head();
    assert!(own(&world).is_empty());
    assert_eq!(world.head(), head);
    world.clock.turn(MINUTE * MINUTE);
    here(&world, Channel::ClaudeRewake, Activity::Idle);
    assert!(take(&world, "serve").is_none(), "bob's own hook has time");
    assert_eq!(job(&world, &id)["result"], "queued");
    assert_eq!(own(&world).len(), 1);
}

#[on_both]
fn a_clock_that_was_set_back_keeps_no_job_and_takes_none_twice(world: World) {
    asked(&world);
    let taken = take(&world, "one").expect("a job");
    world.clock.turn(-3_600);
    assert!(take(&world, "two").is_none(), "the first one has it");
    wake::renew(&world.engine, &worker(Role::Orchestrator), &taken).unwrap();
    assert!(take(&world, "two").is_none(), "and keeps it");
    report(&world, &taken, failed("no daemon", true));
    assert!(take(&world, "two").is_none(), "it is put off as ever");
    world.clock.turn(11);
    assert!(take(&world, "two").is_some(), "it waits for no clock");
}

#[on_both]
fn what_a_queue_took_is_not_told_by_a_hook_again(world: World) {
    let id = asked(&world);
    let untold = |world: &World| {
        let found = world.engine.view(&bob(), untold::untold).unwrap();
        found.threads.iter().map(|one| one.count).sum::<i64>()
    };
    assert_eq!(untold(&world), 1);
    let taken = take(&world, "one").expect("a job");
    let undelivered = world.engine.view(&bob(), untold::undelivered).unwrap();
    assert!(undelivered.is_empty(), "a worker is just delivering it");
    say(&world, "ada", &id, "came later");
    report(&world, &taken, delivered(Channel::CodexQueue));
    assert_eq!(untold(&world), 1, "only what it did not hold");
}

#[on_both]
fn words_of_a_forced_wake_are_not_another_ones_to_use(world: World) {
    let world = limited(world, 0);
    let id = asked(&world);
    let olga = caller("olga", Role::Operator);
    let args = json!({"thread_id": id, "target_agent_id": "bob", "force": true, "reason": "fire"});
    as_one(&world, &olga, "trigger_participant", args);
    assert_eq!(job(&world, &id)["forced"], true);
    trigger(&world, &id, json!({"trigger_prompt": "mine instead"}));
    assert_eq!(job(&world, &id).get("forced"), None);
    assert!(take(&world, "one").is_none());
    assert_eq!(job(&world, &id)["result"], "deferred");
}
