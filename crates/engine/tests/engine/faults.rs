//! A fault at any statement leaves nothing behind, and the call can be made again.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use understory_engine::{Engine, Options};
use understory_model::{Code, Fault};
use understory_testkit::{Backend, TestClock, World, on_both};

use crate::common::{assert_gapless, core_in, soil, soil_in, store};

/// Fails one statement: the n-th from now.
#[derive(Default)]
pub struct Trap {
    left: AtomicUsize,
    sprung: AtomicBool,
}

impl Trap {
    pub fn set(&self, n: usize) {
        self.sprung.store(false, Ordering::SeqCst);
        self.left.store(n, Ordering::SeqCst);
    }

    pub fn lift(&self) {
        self.left.store(0, Ordering::SeqCst);
    }

    fn meets(&self) -> bool {
        let before = self
            .left
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |n| n.checked_sub(1));
        let hit = before == Ok(1);
        self.sprung.fetch_or(hit, Ordering::SeqCst);
        hit
    }

    pub fn sprung(&self) -> bool {
        self.sprung.load(Ordering::SeqCst)
    }
}

pub fn trapped(backend: Backend) -> (World, Arc<Trap>) {
    let (clock, trap) = (Arc::new(TestClock::default()), Arc::new(Trap::default()));
    let seen = trap.clone();
    let options = Options {
        clock: clock.clone(),
        probe: Some(Arc::new(move |_: &str| seen.meets())),
        ..Options::default()
    };
    (World::with(backend, clock, options), trap)
}

pub fn same_kind(world: World) -> Backend {
    if world.backend.is_sqlite() {
        Backend::sqlite()
    } else {
        Backend::postgres()
    }
}

#[track_caller]
pub fn clear(fault: &Fault) {
    assert_eq!(fault.code, Code::StoreUnavailable, "{fault:?}");
    assert!(fault.message.contains("as the test asked"), "{fault:?}");
}

/// Fails every statement of a call in turn. `args` makes a call that succeeds each time anew.
pub fn every_statement(backend: Backend, tool: &str, args: impl Fn(usize) -> Value) {
    every_statement_in(backend, tool, |_, n| args(n));
}

/// As [`every_statement`], for a call that takes something made just before it.
pub fn every_statement_in(backend: Backend, tool: &str, args: impl Fn(&World, usize) -> Value) {
    let (world, trap) = trapped(backend);
    world.plan(&["one", "two", "three", "four"]);
    world.ok(
        "graph_update",
        json!({"updates": [{"node_id": "TASK-004", "properties": {"area": "x"}}]}),
    );
    for title in ["Q", "A"] {
        world.ok("create_record", record(title, Value::Null));
    }
    world.ok(
        "create_thread",
        json!({"title": "T", "participants": ["bob", "ada"]}),
    );
    world.ok("post_message", event("finding_reported", 0));
    world.ok("heartbeat_session", json!({"resumable": true}));
    world.ok(
        "garden_add",
        json!({"type": "Note", "description": "the first word"}),
    );
    let past = store(&world.backend);
    for n in 1.. {
        assert!(n < 500, "{tool} never ends");
        let mut args = args(&world, n);
        args["idempotency_key"] = json!(format!("key-{n}"));
        let (items, before) = (soil_in(&past, 1), core_in(&past));
        trap.set(n);
        let first = world.call(tool, args.clone());
        trap.lift();
        if !trap.sprung() {
            first.expect("a call without a fault");
            assert!(n > 8, "{tool} has more statements than {n}");
            break;
        }
        clear(&first.expect_err("a statement failed"));
        assert_eq!(
            soil_in(&past, 1),
            items,
            "{tool}, statement {n}: an item was left"
        );
        assert_eq!(
            core_in(&past),
            before,
            "{tool}, statement {n}: core was changed"
        );
        let again = world.ok(tool, args.clone());
        let head = world.head();
        assert!(head > items.len() as i64, "{tool} wrote nothing");
        assert_eq!(
            world.ok(tool, args.clone()),
            again,
            "{tool}: two answers to one key"
        );
        assert_eq!(world.head(), head, "{tool}: applied twice");
        if n % 16 == 0 {
            proved(&world);
        }
    }
    assert_gapless(&soil(&world, 1));
    proved(&world);
}

fn record(title: &str, parent: Value) -> Value {
    json!({"parent_id": parent, "type": "note", "title": title, "summary": "s", "body": "b"})
}

/// An event of the thread that is always there, about the finding that it begins with.
fn event(kind: &str, n: usize) -> Value {
    json!({"thread_id": "th_001", "body": format!("{kind} {n}"), "kind": "event",
        "metadata": {"event_type": kind, "finding_id": "F", "commit": "abc1234"}})
}

/// The head of the artifact `doc`, which is made when it is first asked for.
fn artifact_head(world: &World) -> Value {
    let args = json!({"artifact": "doc"});
    match world.call("garden_artifact_show", args) {
        Ok(shown) => shown["commit"].clone(),
        Err(_) => {
            let new = json!({"label": "doc", "content": "x\n"});
            world.ok("garden_artifact_create", new)["artifact"]["head"].clone()
        }
    }
}

pub fn proved(world: &World) {
    let report = world
        .another()
        .verify(None, true, |_, _| {})
        .expect("verified");
    assert!(report.ok, "{report:?}");
}

/// Writers that meet in one transaction: the first is held at its commit until the others queue.
/// A refusal, a clash of keys and three writes share the next one, whose n-th statement fails.
fn shared_transaction(world: &World, n: usize) -> bool {
    let (hold, trap) = (Arc::new(AtomicBool::new(true)), Arc::new(Trap::default()));
    let engine = held(world, &hold, &trap);
    let call = |summary: &str, key: &str| {
        let args = match key {
            "" => json!({"nodes": []}),
            _ => keyed(summary, key),
        };
        let answer = World::call_on(&engine, &world.caller, "graph_plan", args);
        (summary.to_string(), answer)
    };
    let answers: Vec<(String, Result<Value, Fault>)> = std::thread::scope(|scope| {
        let call = &call;
        let first = scope.spawn(move || call("first", &format!("first {n}")));
        std::thread::sleep(Duration::from_millis(15));
        let good = ["a", "b", "c"].map(|name| format!("{name} {n}"));
        let mut calls = vec![
            ("bad".to_string(), String::new()),
            ("clash".into(), "used".into()),
        ];
        calls.extend(good.into_iter().map(|name| (name.clone(), name)));
        let mut rest = Vec::new();
        for (summary, key) in calls {
            rest.push(scope.spawn(move || call(&summary, &key)));
            std::thread::sleep(Duration::from_millis(3));
        }
        trap.set(n);
        hold.store(false, Ordering::SeqCst);
        first
            .join()
            .expect("no panic")
            .1
            .expect("the first has a transaction of its own");
        rest.into_iter()
            .map(|running| running.join().expect("no panic"))
            .collect()
    });
    let sprung = trap.sprung();
    trap.lift();
    for (summary, answer) in answers {
        let made = times(world, &summary);
        assert_eq!(
            made,
            usize::from(answer.is_ok()),
            "{summary}, statement {n}: {answer:?}"
        );
        match (summary.as_str(), answer) {
            ("bad" | "clash", answer) => assert!(answer.is_err()),
            (_, Err(fault)) => {
                clear(&fault);
                world.ok("graph_plan", keyed(&summary, &summary));
            }
            (_, Ok(answer)) => {
                assert_eq!(world.ok("graph_plan", keyed(&summary, &summary)), answer)
            }
        }
        assert_eq!(
            times(world, &summary),
            usize::from(!["bad", "clash"].contains(&summary.as_str()))
        );
    }
    sprung
}

fn keyed(summary: &str, key: &str) -> Value {
    json!({"nodes": [{"ref": "r", "summary": summary}], "idempotency_key": key})
}

/// An engine whose first commit waits until it is let go; the trap counts from then on.
fn held(world: &World, hold: &Arc<AtomicBool>, trap: &Arc<Trap>) -> Engine {
    let (hold, trap) = (hold.clone(), trap.clone());
    let passed = AtomicBool::new(false);
    let probe = move |sql: &str| {
        if passed.load(Ordering::SeqCst) {
            return trap.meets();
        }
        if sql == "COMMIT" {
            while hold.load(Ordering::SeqCst) {
                std::thread::yield_now();
            }
            passed.store(true, Ordering::SeqCst);
        }
        false
    };
    let options = Options {
        probe: Some(Arc::new(probe)),
        ..world.options()
    };
    Engine::open(&world.backend.store(), options).expect("opened")
}

/// How many nodes bear this summary.
fn times(world: &World, summary: &str) -> usize {
    let answer = world.ok(
        "graph_query",
        json!({"filter": {"text": summary}, "limit": 100}),
    );
    let nodes = answer["nodes"].as_array().expect("nodes");
    nodes
        .iter()
        .filter(|node| node["summary"] == summary)
        .count()
}

#[on_both]
fn planning(world: World) {
    every_statement(same_kind(world), "graph_plan", |n| {
        json!({"nodes": [
            {"ref": "a", "summary": format!("new {n}"), "depends_on": ["b", "TASK-001"]},
            {"ref": "b", "summary": "lower", "parent_ref": "TASK-002", "properties": {"area": "y"}},
        ]})
    });
}

#[on_both]
fn updating(world: World) {
    every_statement(same_kind(world), "graph_update", |n| {
        json!({"updates": [
            {"node_id": "TASK-001", "summary": format!("changed {n}"), "resolved": n % 2 == 0},
            {"node_id": "TASK-002", "properties": {"area": n},
             "add_evidence": [{"type": "git", "ref": "abc"}]},
        ]})
    });
}

#[on_both]
fn connecting(world: World) {
    every_statement(same_kind(world), "graph_connect", |n| {
        json!({"edges": [
            {"from": "TASK-001", "to": "TASK-002", "type": format!("t{n}")},
            {"from": "TASK-003", "to": "TASK-001", "type": "depends_on", "remove": n % 2 == 0},
        ]})
    });
}

#[on_both]
fn moving_and_dropping(world: World) {
    every_statement(same_kind(world), "graph_restructure", |n| {
        json!({"operations": [
            {"op": "move", "node_id": "TASK-002",
             "new_parent": if n % 2 == 1 { "TASK-003" } else { "TASK-004" }},
            {"op": "drop", "node_id": "TASK-001", "reason": "out of scope"},
        ]})
    });
}

#[on_both]
fn claiming(world: World) {
    every_statement(
        same_kind(world),
        "graph_next",
        |n| json!({"claim": true, "count": 1 + n % 3}),
    );
}

#[on_both]
fn creating_a_record(world: World) {
    every_statement(same_kind(world), "create_record", |n| {
        let mut new = record(&format!("new {n}"), json!("R001"));
        new["related"] = json!(["R002"]);
        new
    });
}

#[on_both]
fn changing_a_record(world: World) {
    every_statement(same_kind(world), "update_record", |n| {
        json!({
        "id": "R001", "body": format!("b {n}"),
        "related": if n % 2 == 0 { json!(["R002"]) } else { json!([]) }})
    });
}

#[on_both]
fn moving_a_record(world: World) {
    every_statement(same_kind(world), "update_record", |n| {
        json!({
        "id": "R002", "parent_id": if n % 2 == 1 { json!("R001") } else { json!(null) }})
    });
}

#[on_both]
fn resolving_and_opening_a_record(world: World) {
    every_statement(same_kind(world), "transition", |n| match n % 2 {
        1 => json!({"id": "R001", "to_state": "RESOLVED", "resolved_by": "R002"}),
        _ => json!({"id": "R001", "to_state": "OPEN"}),
    });
}

#[on_both]
fn activating_in_a_new_session(world: World) {
    every_statement(same_kind(world), "activate", |n| {
        json!({
        "id": "R001", "session_id": format!("s{n}"), "parent_session": "sess_ada"})
    });
}

#[on_both]
fn syncing_and_saving(world: World) {
    let kind = world.backend.is_sqlite();
    every_statement(same_kind(world), "sync_session", |_| json!({}));
    let backend = if kind {
        Backend::sqlite()
    } else {
        Backend::postgres()
    };
    every_statement(
        backend,
        "save_session",
        |n| json!({"summary": format!("save {n}")}),
    );
}

#[on_both]
fn writing_a_graph_document(world: World) {
    every_statement(same_kind(world), "branchmind_graph_apply", |n| {
        json!({
        "workspace": "garden-shed", "target": "TASK-001", "ops": [
            {"op": "node_upsert", "id": "a", "type": "idea", "title": format!("t {n}")},
            {"op": "edge_upsert", "from": "a", "rel": "about", "to": "task:TASK-001"},
            {"op": "node_delete", "id": "a"}]})
    });
}

#[on_both]
fn making_an_artifact(world: World) {
    every_statement(same_kind(world), "garden_artifact_create", |n| {
        json!({
        "label": format!("doc_{n}"), "content": "one\ntwo\n"})
    });
}

#[on_both]
fn committing_to_an_artifact(world: World) {
    // Longer than twice the text: each version is kept whole.
    every_statement_in(same_kind(world), "garden_artifact_commit", |world, n| {
        json!({
        "artifact": "doc", "based_on": artifact_head(world), "content": format!("{n}\n"),
        "reasoning": "why ".repeat(3_000)})
    });
}

#[on_both]
fn merging_an_artifact(world: World) {
    every_statement_in(same_kind(world), "garden_artifact_merge", |world, n| {
        let head = artifact_head(world);
        let beside = world.ok(
            "garden_artifact_commit",
            json!({"artifact": "doc",
            "based_on": head, "content": format!("beside {n}\n"), "fork": true}),
        );
        json!({"artifact": "doc", "ours": head, "theirs": beside["commit"]})
    });
}

#[on_both]
fn relabelling_an_artifact(world: World) {
    every_statement_in(same_kind(world), "garden_artifact_relabel", |world, n| {
        artifact_head(world);
        json!({"artifact": "doc", "label": format!("doc_{n}")})
    });
}

#[on_both]
fn keeping_a_card(world: World) {
    every_statement(same_kind(world), "branchmind_think_card", |n| {
        json!({
        "workspace": "garden-shed", "target": "TASK-001", "supports": ["q"],
        "card": {"id": format!("h{n}"), "type": "hypothesis", "title": "T"}})
    });
}

#[on_both]
fn branching(world: World) {
    every_statement(same_kind(world), "branchmind_branch_create", |n| {
        json!({
        "workspace": "garden-shed", "name": format!("b{n}"), "from": "task/TASK-001"})
    });
}

#[on_both]
fn adding_a_note(world: World) {
    every_statement(same_kind(world), "garden_add", |n| {
        json!({
        "type": "Note", "description": format!("note {n}")})
    });
}

#[on_both]
fn opening_a_thread(world: World) {
    every_statement(same_kind(world), "create_thread", |n| {
        json!({
        "title": format!("t {n}"), "participants": ["bob", "cyd"]})
    });
}

#[on_both]
fn posting_to_a_thread(world: World) {
    let kinds = [
        "fix_pushed",
        "finding_verified",
        "finding_reported",
        "finding_withdrawn",
    ];
    every_statement(same_kind(world), "post_message", |n| event(kinds[n % 4], n));
}

#[on_both]
fn changing_where_a_thread_stands(world: World) {
    every_statement(same_kind(world), "update_thread_status", |n| {
        json!({
        "thread_id": "th_001", "status": if n % 2 == 1 { "blocked" } else { "active" }})
    });
}

#[on_both]
fn waking_somebody(world: World) {
    every_statement_in(same_kind(world), "trigger_participant", |world, n| {
        // Only who has something unread needs waking.
        let said = json!({"thread_id": "th_001", "body": "Look"});
        world
            .call_as(&World::caller("bob"), "post_message", said)
            .unwrap();
        json!({"thread_id": "th_001", "target_agent_id": "ada", "reason": format!("r {n}")})
    });
}

#[on_both]
fn saying_what_was_read(world: World) {
    let (world, trap) = trapped(same_kind(world));
    world.ok(
        "create_thread",
        json!({"title": "T", "participants": ["ada"]}),
    );
    world.ok("heartbeat_session", json!({"resumable": true}));
    let past = store(&world.backend);
    for n in 1.. {
        assert!(n < 200, "ack_read never ends");
        // A job of waking is done by the same step: both or neither.
        world.ok("post_message", json!({"thread_id": "th_001", "body": "x"}));
        world.ok(
            "trigger_participant",
            json!({"thread_id": "th_001", "target_agent_id": "ada"}),
        );
        let (items, before) = (soil_in(&past, 1), core_in(&past));
        let args =
            json!({"thread_id": "th_001", "last_read_seq": n, "idempotency_key": format!("k{n}")});
        trap.set(n);
        let first = world.call("ack_read", args.clone());
        trap.lift();
        if !trap.sprung() {
            first.expect("a call without a fault");
            break;
        }
        clear(&first.expect_err("a statement failed"));
        assert_eq!(
            (soil_in(&past, 1), core_in(&past)),
            (items, before),
            "statement {n}"
        );
        let again = world.ok("ack_read", args.clone());
        assert_eq!(world.ok("ack_read", args), again);
    }
    assert_gapless(&soil(&world, 1));
    proved(&world);
}

#[on_both]
fn making_a_store(world: World) {
    let sqlite = world.backend.is_sqlite();
    for n in (1..200).step_by(if sqlite { 1 } else { 3 }) {
        let (world, trap) = trapped(if sqlite {
            Backend::sqlite()
        } else {
            Backend::postgres()
        });
        let args = keyed("first", "first");
        trap.set(n);
        let first = world.call("graph_plan", args.clone());
        trap.lift();
        // Making the tables is tried again by itself; everything else is the caller's.
        if let Err(fault) = &first {
            clear(fault);
            assert_eq!(world.head(), 0, "statement {n}");
        }
        let again = world.ok("graph_plan", args);
        assert_eq!(
            again["created"][0]["id"], "TASK-001",
            "a handle was spent at {n}"
        );
        assert_eq!(world.head(), 3);
        if n % 5 == 0 || !trap.sprung() {
            proved(&world);
        }
        if !trap.sprung() {
            return;
        }
    }
    panic!("making a store never ends");
}

#[on_both]
fn reading(world: World) {
    let (world, trap) = trapped(same_kind(world));
    world.plan(&["one", "two"]);
    world.ok("create_thread", json!({"title": "T"}));
    world.ok("post_message", event("finding_reported", 0));
    let thread = json!({"thread_id": "th_001"});
    for (tool, args) in [
        ("get_thread", thread.clone()),
        ("read_messages", thread.clone()),
        ("list_threads", json!({})),
        ("summarize_thread", thread),
        ("wait_for_messages", json!({"timeout_s": 0})),
        ("graph_query", json!({"filter": {"text": "one"}})),
        ("graph_next", json!({})),
        ("graph_context", json!({"node_id": "TASK-001"})),
        ("graph_onboard", json!({})),
        ("graph_history", json!({"node_id": "TASK-001"})),
        ("graph_open", json!({})),
    ] {
        let sound = world.ok(tool, args.clone());
        for n in 1..200 {
            trap.set(n);
            let answer = world.call(tool, args.clone());
            trap.lift();
            if !trap.sprung() {
                break;
            }
            clear(&answer.expect_err("a statement failed"));
            assert_eq!(world.ok(tool, args.clone()), sound, "{tool} after a fault");
        }
    }
}

#[on_both]
fn a_fault_that_was_swallowed_is_not_committed(world: World) {
    world.plan(&["one"]);
    let (past, before) = (store(&world.backend), core_in(&store(&world.backend)));
    let swallowed = past.write("w", |tx| {
        tx.run("UPDATE core_counter SET last = 99", &[])?;
        let _ = tx.run("UPDATE no_such_table SET last = 99", &[]);
        Ok("done")
    });
    assert!(
        swallowed.is_err(),
        "PostgreSQL would roll back and call it a commit"
    );
    assert_eq!(core_in(&past), before);
    assert_eq!(
        past.write("w", |_| Ok("done")),
        Ok("done"),
        "the line is still good"
    );
}

#[on_both]
fn a_panic_is_a_fault_of_one_write_alone(world: World) {
    world.plan(&["one"]);
    let past = store(&world.backend);
    let broke = past.write("w", |tx| -> understory_model::error::Result<()> {
        tx.run("UPDATE core_counter SET last = 99", &[])?;
        panic!("on purpose")
    });
    assert_eq!(broke.expect_err("broken off").code, Code::Internal);
    assert_eq!(world.plan(&["two"]), ["TASK-002"]);
    world.assert_sound();
}

#[on_both]
fn a_shared_transaction(world: World) {
    world.ok("graph_plan", keyed("before", "used"));
    let step = if world.backend.is_sqlite() { 3 } else { 7 };
    for n in (1..400).step_by(step) {
        let sprung = shared_transaction(&world, n);
        if n % 4 == 0 || !sprung {
            proved(&world);
        }
        if !sprung {
            return;
        }
    }
    panic!("a shared transaction never ends");
}
