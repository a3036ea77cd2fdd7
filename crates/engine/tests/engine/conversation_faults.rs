//! A fault at any statement of what conversations do leaves nothing behind.

use serde_json::{Value, json};
use understory_testkit::{World, on_both};

use crate::common::{assert_gapless, core_in, soil, soil_in, store};
use crate::faults::{clear, every_statement, every_statement_in, proved, same_kind, trapped};

/// Fails every statement of a call in turn; `ready` prepares each and says its arguments.
fn each_statement(world: World, tool: &str, ready: impl Fn(&World, usize) -> Value) {
    let (world, trap) = trapped(same_kind(world));
    world.plan(&["one"]);
    world.ok("garden_add", json!({"type": "Note", "description": "one"}));
    let past = store(&world.backend);
    for n in 1.. {
        assert!(n < 300, "{tool} never ends");
        let mut args = ready(&world, n);
        args["idempotency_key"] = json!(format!("k{n}"));
        let (items, before) = (soil_in(&past, 1), core_in(&past));
        trap.set(n);
        let first = world.call(tool, args.clone());
        trap.lift();
        if !trap.sprung() {
            first.expect("a call without a fault");
            break;
        }
        clear(&first.expect_err("a statement failed"));
        assert_eq!(
            (soil_in(&past, 1), core_in(&past)),
            (items, before),
            "{tool}, statement {n}"
        );
        let again = world.ok(tool, args.clone());
        assert_eq!(
            world.ok(tool, args),
            again,
            "{tool}: two answers to one key"
        );
    }
    assert_gapless(&soil(&world, 1));
    proved(&world);
}

/// A conversation that others stand in; its name.
fn forked(world: &World) -> Value {
    let root = world.ok("garden_stack", json!({}))["stack"][0].clone();
    let log = world.ok("garden_fork", json!({"parent": root}))["log"]["uuid"].clone();
    world.ok("scratchpad", json!({"log": log, "write": "a thought"}));
    log
}

/// An artifact of its own.
fn document(world: &World, n: usize) {
    let new = json!({"label": format!("doc{n}"), "content": "one\ntwo\nthree\n"});
    world.ok("garden_artifact_create", new);
}

fn proposal(n: usize) -> Value {
    json!({"artifact": format!("doc{n}"), "start": 2, "end": 2, "content": "zwei",
        "reasoning": "in German"})
}

#[on_both]
fn forking(world: World) {
    // Always from the first conversation: forks of forks would take ever more statements.
    every_statement_in(same_kind(world), "garden_fork", |world, _| {
        let stack = world.ok("garden_stack", json!({}));
        json!({"parent": stack["tree"][0]["uuid"]})
    });
}

#[on_both]
fn collapsing(world: World) {
    each_statement(
        world,
        "garden_collapse",
        |world, n| json!({"log": forked(world), "summary": format!("learned {n}")}),
    );
}

#[on_both]
fn reopening(world: World) {
    each_statement(world, "garden_reopen", |world, n| {
        let log = forked(world);
        world.ok(
            "garden_collapse",
            json!({"log": log, "summary": format!("learned {n}")}),
        );
        json!({"log": log})
    });
}

#[on_both]
fn moving_a_frame(world: World) {
    each_statement(world, "garden_frame", |world, _| {
        let root = world.ok("garden_stack", json!({}))["stack"][0].clone();
        forked(world);
        json!({"log": root})
    });
}

#[on_both]
fn looking_at_lines(world: World) {
    each_statement(world, "reader_scroll", |world, n| {
        document(world, n);
        json!({"artifact": format!("doc{n}"), "start": 1, "end": 2})
    });
}

#[on_both]
fn proposing(world: World) {
    each_statement(world, "reader_propose", |world, n| {
        document(world, n);
        proposal(n)
    });
}

#[on_both]
fn accepting(world: World) {
    each_statement(world, "reader_decide", |world, n| {
        document(world, n);
        let other = World::caller("bob");
        let made = world.call_as(&other, "reader_propose", proposal(n));
        let made = made.expect("a proposal of somebody else");
        json!({"proposal": made["proposal"]["id"], "accept": true})
    });
}

#[on_both]
fn keeping_of_a_scratchpad(world: World) {
    every_statement(same_kind(world), "scratchpad", |n| {
        json!({
        "task": "TASK-001", "write": format!("thought {n}"), "keep": true})
    });
}

#[on_both]
fn resolving_with_a_scratchpad(world: World) {
    each_statement(world, "graph_update", |world, n| {
        let open = json!({"node_id": "TASK-001", "resolved": false});
        world.ok("graph_update", json!({"updates": [open]}));
        world.ok(
            "scratchpad",
            json!({"task": "TASK-001", "write": format!("thought {n}")}),
        );
        json!({"updates": [{"node_id": "TASK-001", "resolved": true}]})
    });
}
