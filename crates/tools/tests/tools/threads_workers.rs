//! Workers of jobs of waking: which of them takes a job, what they know of the processes that they started,
//! and what happens between a look and a write.

use std::sync::{Arc, Mutex};

use crate::threads_common::waking::*;
use crate::threads_common::*;
use serde_json::json;
use understory_engine::kernel::clock::Clock;
use understory_engine::kernel::process::Process;
use understory_engine::system::chat::Comes;
use understory_engine::system::untold;
use understory_engine::threads::ladder::{Able, Way};
use understory_engine::threads::wake::{self, Outcome, Taken};
use understory_engine::threads::ways;
use understory_engine::{Engine, Options, View};
use understory_model::thread::{Activity, Channel, WakeAction, WakeResult};
use understory_model::{Role, Time};
use understory_testkit::{TestClock, World, on_both};

const MINUTE: i64 = 60;

/// A process that was started for bob, on a machine.
fn process(machine: &str) -> Process {
    Process {
        machine: machine.into(),
        id: 77,
        started: 4,
    }
}

/// Bob's session has ended, and a process on a machine goes on with it for a job.
fn resumed(world: &World, machine: &str) -> String {
    let id = asked(world);
    world.clock.turn(10 * MINUTE);
    let taken = take(world, "one").expect("a job");
    assert_eq!(taken.job.action, WakeAction::ResumeSession);
    let anybody = worker(Role::Orchestrator);
    wake::begun(&world.engine, &anybody, &taken, &process(machine)).unwrap();
    id
}

/// Another worker takes a job, while these processes run.
fn take_while(world: &World, runs: fn(&Process) -> bool) -> Option<Taken> {
    let able = Able {
        runs: Some(runs),
        ..able()
    };
    let caller = worker(Role::Orchestrator);
    wake::take(&world.engine, &caller, &able, MACHINE, "two").unwrap()
}

#[on_both]
fn only_a_process_that_still_runs_here_shows_that_a_session_has_its_prompt(world: World) {
    let id = resumed(&world, MACHINE);
    // Its worker was killed, and its lease is over.
    world.clock.turn(11 * MINUTE);
    calls_while(&world, &bob(), |_| false);
    assert_eq!(job(&world, &id)["result"], "queued", "it has ended since");
    calls_while(&world, &bob(), |one| one.id == 77 && one.started == 4);
    assert_eq!(job(&world, &id)["result"], "read");
}

#[on_both]
fn a_process_of_another_machine_shows_nothing_without_its_worker(world: World) {
    let id = resumed(&world, "elsewhere");
    world.clock.turn(11 * MINUTE);
    calls_while(&world, &bob(), |_| true);
    assert_eq!(job(&world, &id)["result"], "queued");
}

#[on_both]
fn a_process_that_runs_on_and_on_ends_the_job_and_a_person_is_told(world: World) {
    let id = resumed(&world, MACHINE);
    world.clock.turn(69 * MINUTE);
    assert!(take_while(&world, |_| true).is_none(), "it may be at work");
    assert_eq!(job(&world, &id)["result"], "queued");
    world.clock.turn(2 * MINUTE);
    let over = take_while(&world, |_| true).expect("a job that is over");
    assert_eq!(over.job.action, WakeAction::TellPerson);
    let told = job(&world, &id);
    assert_eq!(told["result"], "failed", "{told}");
    assert_eq!(told["tried"][0]["action"], "resume_session");
    assert!(
        text(&told["tried"][0]["why"]).contains("process 77"),
        "{told}"
    );
    // Once it has ended, somebody who asks anew is heard.
    let args = json!({"thread_id": id, "target_agent_id": "bob", "trigger_prompt": "Now?"});
    world.ok("trigger_participant", args);
    let taken = take_while(&world, |_| false).expect("the new job");
    assert_eq!(taken.job.action, WakeAction::ResumeSession);
}

#[on_both]
fn a_process_of_another_machine_is_forgotten_with_its_job(world: World) {
    let id = resumed(&world, "elsewhere");
    let noted = || {
        world
            .backend
            .raw()
            .number("SELECT COUNT(*) FROM live_started")
    };
    world.clock.turn(71 * MINUTE);
    let other = asked(&world);
    world.clock.turn(10 * MINUTE);
    let again = take(&world, "two").expect("its worker is gone");
    assert_eq!((again.job.thread, noted()), (id.clone(), 1), "it is open");
    ack(&world, "bob", &id, 1);
    let next = take(&world, "two").expect("the other job");
    assert_eq!((next.job.thread, noted()), (other, 0));
}

/// The worker of bob's own terminal.
fn supervisor() -> Able {
    Able {
        own: Some("s-bob".into()),
        agent: Some("bob".into()),
        decides: true,
        ..Able::default()
    }
}

#[on_both]
fn a_sessions_own_worker_takes_its_step_before_others_look_again(world: World) {
    let id = thread(&world, &["bob"]);
    say(&world, "ada", &id, "x");
    in_terminal(&world, Activity::Idle);
    let args = json!({"thread_id": id, "target_agent_id": "bob"});
    world.ok("trigger_participant", args);
    let take_as = |able: &Able| {
        let caller = worker(Role::Orchestrator);
        wake::take(&world.engine, &caller, able, MACHINE, "run").unwrap()
    };
    assert!(take(&world, "serve").is_none(), "it is its supervisor's");
    let other = Able {
        own: Some("s-other".into()),
        ..supervisor()
    };
    let written = || {
        let sums = "SELECT COALESCE(MAX(due), 0) FROM live_wake";
        (world.head(), world.backend.raw().number(sums))
    };
    let before = written();
    assert!(take_as(&other).is_none(), "it is another session's");
    assert_eq!(written(), before, "and stays as it is");
    let taken = take_as(&supervisor()).expect("before it is due");
    assert_eq!(taken.job.action, WakeAction::TriggerRuntime);
    assert!(take_as(&supervisor()).is_none(), "once");
}

#[on_both]
fn a_job_waits_for_a_machine_that_can_start_the_agent(world: World) {
    asked(&world);
    // Bob is gone, and his session cannot be resumed.
    for sql in [
        "UPDATE live_session SET at = 0",
        "UPDATE live_reach SET client_session = ''",
    ] {
        world.backend.raw().run(sql).unwrap();
    }
    let take = || {
        let bare = Able {
            decides: true,
            ..Able::default()
        };
        let caller = worker(Role::Orchestrator);
        wake::take(&world.engine, &caller, &bare, MACHINE, "one").unwrap()
    };
    if !world.backend.is_sqlite() {
        assert!(take().is_none(), "another machine may be able to");
        world.clock.turn(MINUTE);
    }
    let over = take().expect("a job that is over");
    assert_eq!(over.job.result, WakeResult::Failed);
}

/// A clock that lets something happen at the next chance: between a look and a write.
struct Between {
    clock: Arc<TestClock>,
    act: Mutex<Option<Box<dyn FnOnce() + Send>>>,
}

impl Clock for Between {
    fn now(&self) -> Time {
        self.clock.now()
    }

    fn chance(&self) -> [u8; 10] {
        let act = self.act.lock().unwrap().take();
        if let Some(act) = act {
            act();
        }
        self.clock.chance()
    }
}

/// What a hook of bob takes, where something happens after it has looked.
fn own_after(world: &World, act: impl FnOnce() + Send + 'static) -> Vec<Taken> {
    let clock = Between {
        clock: Arc::clone(&world.clock),
        act: Mutex::new(Some(Box::new(act))),
    };
    let options = Options {
        clock: Arc::new(clock),
        ..world.options()
    };
    let engine = Engine::open(&world.backend.store(), options).expect("the store opens again");
    wake::own(&engine, &bob(), &rewake(), "hook").unwrap().jobs
}

/// Bob's chat, beside which a hook waits.
fn rewake() -> Way {
    ways::reported(reach(Channel::ClaudeRewake, Activity::Idle), MACHINE)
}

#[on_both]
fn who_acknowledges_after_the_look_is_woken_for_nothing(world: World) {
    let id = thread(&world, &["bob"]);
    say(&world, "ada", &id, "x");
    here(&world, Channel::ClaudeRewake, Activity::Idle);
    let other = world.another();
    let jobs = own_after(&world, move || {
        let read = json!({"thread_id": id, "last_read_seq": 1});
        World::call_on(&other, &bob(), "ack_read", read).unwrap();
    });
    assert!(jobs.is_empty(), "{jobs:?}");
    let all = world.ok("list_wakes", json!({}));
    assert_eq!(all["wakes"], json!([]), "no job says 0 unread messages");
}

#[on_both]
fn what_another_hook_delivers_after_the_look_is_not_delivered_again(world: World) {
    let id = asked(&world);
    here(&world, Channel::ClaudeRewake, Activity::Idle);
    let other = world.another();
    let jobs = own_after(&world, move || {
        let own = wake::own(&other, &bob(), &rewake(), "other").unwrap();
        let channel = Some(Channel::ClaudeRewake);
        let outcome = Outcome::Delivered { channel };
        wake::report(&other, &bob(), &own.jobs[0], &outcome).unwrap();
    });
    assert!(jobs.is_empty(), "{jobs:?}");
    assert_eq!(job(&world, &id)["result"], "delivered");
}

#[on_both]
fn what_was_delivered_and_is_not_read_hides_no_other_request(world: World) {
    for _ in 0..6 {
        asked(&world);
        let taken = take(&world, "one").expect("a job");
        let channel = Some(Channel::CodexQueue);
        report(&world, &taken, Outcome::Delivered { channel });
    }
    let id = asked(&world);
    let told = world.engine.view(&bob(), untold::jobs).unwrap();
    let threads: Vec<&str> = told.iter().map(|one| one.thread.as_str()).collect();
    assert_eq!(threads, [id.as_str()]);
    let claim = |view: &mut View<'_, '_>| wake::claim(view, &rewake(), "hook");
    let claimed = world.engine.hooked(&bob(), None, Comes::GoingOn, claim);
    let claimed = claimed.unwrap().expect("a workspace");
    let threads: Vec<&str> = claimed.iter().map(|one| one.job.thread.as_str()).collect();
    assert_eq!(threads, [id.as_str()]);
}
