//! Real processes on one SQLite file: fair turns, and nothing acknowledged lost to `kill -9`.
//!
//! This binary starts itself as the writers: `child_writer` is ignored unless it is asked for by name.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::json;
use understory_engine::{Engine, Options};
use understory_testkit::{Backend, World};

use crate::common::{Dice, assert_gapless, created, soil};

const WRITERS: usize = 8;
const STORE: &str = "UNDERSTORY_TEST_CHILD_STORE";
const NAME: &str = "UNDERSTORY_TEST_CHILD_NAME";
const START: &str = "UNDERSTORY_TEST_CHILD_START";
const FOR: &str = "UNDERSTORY_TEST_CHILD_FOR";

fn millis() -> u128 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .expect("after 1970")
        .as_millis()
}

fn variable(name: &str) -> u128 {
    std::env::var(name)
        .ok()
        .and_then(|text| text.parse().ok())
        .expect(name)
}

/// What a child does: writes as fast as it can, and says what was acknowledged before the next.
#[test]
#[ignore = "the tests start it as a process of its own"]
fn child_writer() {
    let store = std::env::var(STORE).expect(STORE);
    let caller = World::caller(&std::env::var(NAME).expect(NAME));
    let engine = Engine::open(&store, Options::default()).expect("the store opens");
    let start = variable(START);
    while millis() < start {
        std::thread::sleep(Duration::from_millis(1));
    }
    let end = start + variable(FOR);
    let mut out = std::io::stdout();
    while millis() < end {
        let args = json!({"nodes": [{"ref": "a", "summary": "from a process"}]});
        let line = match World::call_on(&engine, &caller, "graph_plan", args) {
            Ok(answer) => format!(
                "ack {}",
                answer["created"][0]["id"].as_str().expect("an id")
            ),
            Err(fault) => format!("fault {fault}"),
        };
        writeln!(out, "{line}")
            .and_then(|()| out.flush())
            .expect("the parent listens");
    }
}

fn spawn(store: &str, name: &str, start: u128, length: u128) -> Child {
    Command::new(std::env::current_exe().expect("this binary"))
        .args([
            "--exact",
            "processes::child_writer",
            "--ignored",
            "--nocapture",
        ])
        .env(STORE, store)
        .env(NAME, name)
        .env(START, start.to_string())
        .env(FOR, length.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("a child starts")
}

/// What a child acknowledged, until it ended or was killed; half a line is none.
fn heard(out: ChildStdout) -> Vec<String> {
    let (mut out, mut acks, mut line) = (BufReader::new(out), Vec::new(), String::new());
    while out.read_line(&mut line).is_ok_and(|count| count > 0) {
        assert!(!line.contains("fault "), "{line}");
        // The test harness may have begun the line.
        if let (Some(at), true) = (line.find("ack "), line.ends_with('\n')) {
            acks.push(line[at + 4..].trim().to_string());
        }
        line.clear();
    }
    acks
}

fn assert_all_there(world: &World, acks: &[String]) {
    let items = soil(world, 1);
    assert_gapless(&items);
    let made: BTreeSet<String> = created(&items).into_iter().collect();
    let lost: Vec<&String> = acks.iter().filter(|ack| !made.contains(*ack)).collect();
    assert!(lost.is_empty(), "acknowledged and lost: {lost:?}");
    let different: BTreeSet<&String> = acks.iter().collect();
    assert_eq!(different.len(), acks.len(), "a handle was told twice");
    let tasks = made
        .iter()
        .filter(|handle| handle.starts_with("TASK"))
        .count();
    let numbers: BTreeSet<String> = (1..=tasks).map(|n| format!("TASK-{n:03}")).collect();
    assert!(numbers.is_subset(&made), "handles have a gap");
    world.assert_sound();
}

#[test]
fn heavy_processes_take_fair_turns() {
    let world = World::new(Backend::sqlite());
    let start = millis() + 700;
    let mut children: Vec<Child> = (0..WRITERS)
        .map(|n| spawn(&world.backend.store(), &format!("agent{n}"), start, 4_000))
        .collect();
    let heard: Vec<Vec<String>> = std::thread::scope(|scope| {
        let listening: Vec<_> = children
            .iter_mut()
            .filter_map(|child| child.stdout.take())
            .map(|out| scope.spawn(move || heard(out)))
            .collect();
        listening
            .into_iter()
            .map(|thread| thread.join().expect("no fault"))
            .collect()
    });
    children
        .iter_mut()
        .for_each(|child| assert!(child.wait().expect("ended").success()));
    let counts: Vec<usize> = heard.iter().map(Vec::len).collect();
    let (least, most) = (
        counts.iter().min().expect("some"),
        counts.iter().max().expect("some"),
    );
    eprintln!("writes of {WRITERS} processes in 4 s: {counts:?}");
    assert_all_there(&world, &heard.concat());
    assert!(*least > 0 && *most <= 2 * *least, "unfair: {counts:?}");
}

#[test]
fn heavy_killed_processes_lose_nothing_acknowledged() {
    let world = World::new(Backend::sqlite());
    let store = world.backend.store();
    let end = Instant::now() + Duration::from_secs(6);
    let acks: Vec<Vec<String>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..WRITERS)
            .map(|n| {
                let store = &store;
                scope.spawn(move || {
                    let (mut dice, mut acks) = (Dice::new(n as u64), Vec::new());
                    while Instant::now() < end {
                        acks.extend(one_life(store, n, 50 + dice.below(900)));
                    }
                    acks
                })
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().expect("no fault"))
            .collect()
    });
    let acks = acks.concat();
    assert!(
        acks.len() > WRITERS,
        "too little was written: {}",
        acks.len()
    );
    assert_all_there(&world, &acks);
}

/// Starts a writer, kills it after a while, and tells what it had acknowledged.
fn one_life(store: &str, number: usize, length: usize) -> Vec<String> {
    let mut child = spawn(store, &format!("agent{number}"), millis(), 60_000);
    let out = child.stdout.take().expect("piped");
    std::thread::scope(|scope| {
        let listening = scope.spawn(move || heard(out));
        std::thread::sleep(Duration::from_millis(length as u64));
        child.kill().expect("killed");
        child.wait().expect("gone");
        listening.join().expect("no fault")
    })
}
