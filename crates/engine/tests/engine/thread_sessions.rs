//! Many agents talk at once, through many engines: every thread counts without a gap, and every retry
//! is one message.

use std::collections::BTreeMap;
use std::sync::Mutex;

use serde_json::{Value, json};
use understory_engine::Engine;
use understory_model::{Caller, Code, Role, Seq};
use understory_testkit::{World, on_both};

use crate::common::{Dice, assert_gapless, soil};

const THREADS: [&str; 3] = ["th_001", "th_002", "th_003"];

/// Every answer that a key was given, by agent, thread and key.
type Answers = Mutex<BTreeMap<(String, String, String), Vec<Value>>>;

/// One agent's program; run by two at once, it must be as if it ran once.
fn talk(engines: &[Engine], answers: &Answers, agent: &str, mut dice: Dice, count: usize) {
    let caller = World::caller(agent);
    for number in 0..count {
        let (thread, key) = (THREADS[number % 3], format!("key-{}", number / 3));
        let body = format!("{agent} {number}");
        let args = json!({"thread_id": thread, "body": body, "idempotency_key": key});
        for _ in 0..=dice.below(3) {
            let engine = dice.pick(engines);
            let answer = World::call_on(engine, &caller, "post_message", args.clone());
            let answer = answer.unwrap_or_else(|fault| panic!("{fault:?}"));
            let place = (agent.to_string(), thread.to_string(), key.clone());
            let mut answers = answers.lock().expect("no thread panicked");
            answers.entry(place).or_default().push(answer);
        }
        if dice.one_in(3) {
            let mut other = args.clone();
            other["body"] = json!("never said");
            let refused = World::call_on(dice.pick(engines), &caller, "post_message", other);
            assert_eq!(
                refused.expect_err("a key used twice").code,
                Code::IdempotencyConflict
            );
        }
        if dice.one_in(4) {
            acked(dice.pick(engines), &caller, thread);
        }
    }
}

/// Reads to the end and says so; another of the same name may have read further meanwhile.
fn acked(engine: &Engine, caller: &Caller, thread: &str) {
    let got = World::call_on(engine, caller, "get_thread", json!({"thread_id": thread}));
    let last = got.expect("a thread")["last_seq"].clone();
    let args = json!({"thread_id": thread, "last_read_seq": last});
    if let Err(fault) = World::call_on(engine, caller, "ack_read", args) {
        assert_eq!(fault.code, Code::Validation, "{fault:?}");
    }
}

fn all_of(world: &World, thread: &str) -> Vec<Value> {
    let operator = Caller {
        role: Role::Operator,
        ..World::caller("olga")
    };
    let args = json!({"thread_id": thread, "limit": 200, "max_chars": 10_000_000});
    let page = world.call_as(&operator, "read_messages", args);
    let page = page.expect("a page");
    assert_eq!(page["has_more"], false);
    page["messages"].as_array().expect("messages").clone()
}

fn sessions(world: &World, agents: usize, engines: usize, count: usize, seed: u64) {
    let engines: Vec<Engine> = (0..engines).map(|_| world.another()).collect();
    let names: Vec<String> = (0..agents).map(|at| format!("agent{at}")).collect();
    for _ in THREADS {
        world.ok(
            "create_thread",
            json!({"title": "T", "participants": names}),
        );
    }
    let answers = Answers::default();
    std::thread::scope(|scope| {
        for (at, name) in names.iter().chain(&names).enumerate() {
            let (engines, answers) = (engines.as_slice(), &answers);
            let dice = Dice::new(seed + at as u64);
            scope.spawn(move || talk(engines, answers, name, dice, count));
        }
    });
    let answers = answers.into_inner().expect("no thread panicked");
    assert_eq!(answers.len(), agents * count);
    for (key, given) in &answers {
        assert!(
            given.windows(2).all(|two| two[0] == two[1]),
            "{key:?}: {given:?}"
        );
    }
    let mut told: Vec<(&str, i64, &str)> = answers
        .iter()
        .map(|((_, thread, _), given)| {
            let (seq, name) = (given[0]["seq"].as_i64(), given[0]["message_id"].as_str());
            (thread.as_str(), seq.expect("a seq"), name.expect("a name"))
        })
        .collect();
    told.sort_unstable();
    let mut there = Vec::new();
    for thread in THREADS {
        let messages = all_of(world, thread);
        for (said, n) in messages.iter().zip(1..) {
            assert_eq!(said["seq"], n, "{thread} has a gap");
            assert_ne!(said["body"], "never said");
        }
        let name = |said: &Value| said["message_id"].as_str().expect("a name").to_string();
        there.extend(
            messages
                .iter()
                .zip(1..)
                .map(|(said, n)| (thread, n, name(said))),
        );
    }
    let there: Vec<(&str, i64, &str)> =
        there.iter().map(|(t, n, m)| (*t, *n, m.as_str())).collect();
    assert_eq!(there, told, "said but not told, or told but not said");
    assert_gapless(&soil(world, 1));
    world.assert_sound();
}

#[on_both]
fn agents_of_one_engine(world: World) {
    sessions(&world, 4, 1, 15, 5);
}

#[on_both]
fn agents_of_many_engines(world: World) {
    sessions(&world, 4, 3, 15, 55);
}

#[on_both]
fn a_thread_closed_among_posts_takes_none_after(world: World) {
    world.ok(
        "create_thread",
        json!({"title": "T", "participants": ["bob"]}),
    );
    let other = world.another();
    std::thread::scope(|scope| {
        for (engine, agent) in [(&*world.engine, "ada"), (&other, "bob")] {
            scope.spawn(move || {
                for at in 0.. {
                    assert!(at < 5_000, "never closed");
                    let args = json!({"thread_id": "th_001", "body": format!("{at}")});
                    match World::call_on(engine, &World::caller(agent), "post_message", args) {
                        Ok(answer) => assert_eq!(answer["thread_status"], "active"),
                        Err(fault) => {
                            assert_eq!(fault.code, Code::Conflict);
                            return;
                        }
                    }
                }
            });
        }
        world
            .engine
            .watch(&world.caller, Seq(10), std::time::Duration::from_secs(60))
            .expect("watched");
        world.ok(
            "update_thread_status",
            json!({"thread_id": "th_001", "status": "closed"}),
        );
    });
    let items = soil(&world, 1);
    assert_gapless(&items);
    let closed = items.iter().position(|item| {
        item.content
            .as_deref()
            .is_some_and(|text| text.contains("status_changed"))
    });
    assert_eq!(
        closed,
        Some(items.len() - 1),
        "a message came after the end"
    );
    world.assert_sound();
}
