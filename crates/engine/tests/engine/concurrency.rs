//! Many threads, many engines, one store: nothing is lost, doubled or told to two.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

use serde_json::{Value, json};
use understory_engine::Engine;
use understory_model::{Code, Fault};
use understory_testkit::{World, on_both};

use crate::common::{Dice, assert_gapless, created, soil};

/// Every answer that a key was given, by agent and key.
type Answers = Mutex<BTreeMap<(String, String), Vec<Value>>>;

/// One agent's program; run by two threads at once, it must be as if it ran once.
struct Session<'t> {
    agent: String,
    engines: &'t [Engine],
    answers: &'t Answers,
    dice: Dice,
}

impl Session<'_> {
    fn run(&mut self, calls: usize) {
        for number in 0..calls {
            // The arguments follow from agent and number alone, the rest is this thread's chance.
            let (tool, args) = call(&self.agent, number);
            for _ in 0..=self.dice.below(3) {
                self.keyed(tool, &args);
            }
            if self.dice.one_in(4) {
                self.clash(tool, &args);
            }
        }
    }

    fn keyed(&mut self, tool: &str, args: &Value) {
        let answer = self
            .send(tool, args.clone())
            .unwrap_or_else(|fault| panic!("{tool}: {fault:?}"));
        let key = args["idempotency_key"].as_str().expect("a key").to_string();
        let mut answers = self.answers.lock().expect("no thread panicked");
        answers
            .entry((self.agent.clone(), key))
            .or_default()
            .push(answer);
    }

    /// The same key with other arguments is refused, and harms nobody who shares the transaction.
    fn clash(&mut self, tool: &str, args: &Value) {
        let mut other = args.clone();
        match tool {
            "graph_plan" => other["nodes"][0]["summary"] = json!("never made"),
            _ => other["count"] = json!(7),
        }
        let refused = self.send(tool, other).expect_err("a key used twice");
        assert_eq!(refused.code, Code::IdempotencyConflict);
    }

    fn send(&mut self, tool: &str, args: Value) -> Result<Value, Fault> {
        let engine = self.dice.pick(self.engines);
        World::call_on(engine, &World::caller(&self.agent), tool, args)
    }
}

fn call(agent: &str, number: usize) -> (&'static str, Value) {
    let key = format!("key-{number}");
    if number % 3 == 2 {
        // Something is always there to claim: each agent plans two before it takes one.
        return ("graph_next", json!({"claim": true, "idempotency_key": key}));
    }
    let summary = format!("{agent} {number}");
    (
        "graph_plan",
        json!({"nodes": [{"ref": "a", "summary": summary}], "idempotency_key": key}),
    )
}

fn sessions(world: &World, agents: usize, engines: usize, calls: usize, seed: u64) {
    let engines: Vec<Engine> = (0..engines).map(|_| world.another()).collect();
    let answers = Answers::default();
    std::thread::scope(|scope| {
        for thread in 0..agents * 2 {
            let (engines, answers) = (engines.as_slice(), &answers);
            scope.spawn(move || {
                let agent = format!("agent{}", thread / 2);
                let dice = Dice::new(seed + thread as u64);
                Session {
                    agent,
                    engines,
                    answers,
                    dice,
                }
                .run(calls);
            });
        }
    });
    let answers = answers.into_inner().expect("no thread panicked");
    assert_eq!(answers.len(), agents * calls);
    once(world, &answers, agents * calls.div_ceil(3) * 2);
    nobody_shares(&answers);
    world.assert_sound();
}

/// Every key was applied exactly once and answered the same to everybody.
fn once(world: &World, answers: &BTreeMap<(String, String), Vec<Value>>, planned: usize) {
    for (key, given) in answers {
        assert!(
            given.windows(2).all(|two| two[0] == two[1]),
            "{key:?}: {given:?}"
        );
    }
    let items = soil(world, 1);
    assert_gapless(&items);
    let made: Vec<String> = created(&items)
        .into_iter()
        .filter(|h| h.starts_with("TASK"))
        .collect();
    let told: BTreeSet<&str> = answers
        .values()
        .filter_map(|given| given[0]["created"][0]["id"].as_str())
        .collect();
    assert_eq!(
        made.len(),
        told.len(),
        "made but not told, or told but not made"
    );
    assert!(made.iter().all(|handle| told.contains(handle.as_str())));
    assert!(made.len() <= planned);
    let numbers: BTreeSet<String> = (1..=made.len()).map(|n| format!("TASK-{n:03}")).collect();
    assert_eq!(
        made.into_iter().collect::<BTreeSet<_>>(),
        numbers,
        "handles have a gap"
    );
}

/// No node was told to two agents.
fn nobody_shares(answers: &BTreeMap<(String, String), Vec<Value>>) {
    let mut owner: BTreeMap<&str, &str> = BTreeMap::new();
    let mut claims = 0;
    for ((agent, _), given) in answers {
        for node in given[0]["nodes"].as_array().unwrap_or(&Vec::new()) {
            claims += 1;
            let id = node["node"]["id"].as_str().expect("an id").to_string();
            let id: &str = Box::leak(id.into_boxed_str());
            if let Some(other) = owner.insert(id, agent) {
                assert_eq!(other, agent, "{id} was told to two");
            }
        }
    }
    assert!(claims > 0, "nothing was claimed");
}

/// Windows of one client: one agent's name, a session each.
fn windows(world: &World, engines: usize, count: usize) {
    world.plan(&["work"; 40]);
    let engines: Vec<Engine> = (0..engines).map(|_| world.another()).collect();
    let taken: Mutex<BTreeMap<String, String>> = Mutex::default();
    std::thread::scope(|scope| {
        for window in 0..count {
            let (engine, taken) = (&engines[window % engines.len()], &taken);
            scope.spawn(move || {
                let mut caller = World::caller("claude-code");
                caller.session = format!("window-{window}");
                for _ in 0..8 {
                    let args = json!({"claim": true, "count": 1});
                    let answer = World::call_on(engine, &caller, "graph_next", args);
                    let answer = answer.unwrap_or_else(|fault| panic!("{fault:?}"));
                    let Some(id) = answer["nodes"][0]["node"]["id"].as_str() else {
                        continue;
                    };
                    let before = taken
                        .lock()
                        .expect("no thread panicked")
                        .insert(id.to_string(), caller.session.clone());
                    assert!(
                        before.as_ref().is_none_or(|owner| *owner == caller.session),
                        "{id} was told to {before:?} and {}",
                        caller.session
                    );
                    let done = json!({"updates": [{"node_id": id, "resolved": true}]});
                    World::call_on(engine, &caller, "graph_update", done).expect("it is its own");
                }
            });
        }
    });
    let taken = taken.into_inner().expect("no thread panicked");
    assert_eq!(taken.len(), 40.min(count * 8));
    world.assert_sound();
}

#[on_both]
fn windows_of_one_client_are_never_told_the_same(world: World) {
    windows(&world, 3, 5);
}

#[on_both]
fn sessions_of_one_engine(world: World) {
    sessions(&world, 4, 1, 12, 7);
}

#[on_both]
fn sessions_of_many_engines(world: World) {
    sessions(&world, 4, 3, 12, 77);
}

#[on_both]
fn a_refusal_after_changes_harms_nobody_who_shares_the_transaction(world: World) {
    let node = world.plan(&["untouched"]).remove(0);
    let before = world.head();
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let (world, node) = (&world, node.as_str());
            scope.spawn(move || {
                for at in 0..20 {
                    let plan = json!({"nodes": [{"ref": "a", "summary": format!("{thread} {at}")}]});
                    if thread % 2 == 0 {
                        world.ok("graph_plan", plan);
                        continue;
                    }
                    // The first half is in the tables when the second is found to be wrong.
                    let updates = json!([{"node_id": node, "summary": "touched"}, {"node_id": "TASK-9999", "summary": "?"}]);
                    let refused = world.call("graph_update", json!({ "updates": updates }));
                    assert_eq!(refused.expect_err("no such node").code, Code::NotFound);
                }
            });
        }
    });
    assert_eq!(
        world.head(),
        before + 80,
        "each plan is one item, a refusal none"
    );
    let shown = world.ok("graph_context", json!({"node_id": node}));
    assert_eq!(
        (&shown["node"]["summary"], &shown["node"]["rev"]),
        (&json!("untouched"), &json!(1))
    );
    assert_gapless(&soil(&world, 1));
    world.assert_sound();
}

#[on_both]
fn a_rebuild_among_writers_and_readers(world: World) {
    world.plan(&["a", "b"]);
    let engines: Vec<Engine> = (0..3).map(|_| world.another()).collect();
    std::thread::scope(|scope| {
        for (number, engine) in engines.iter().enumerate() {
            let caller = World::caller(&format!("agent{number}"));
            scope.spawn(move || {
                for at in 0..15 {
                    let args =
                        json!({"nodes": [{"ref": "a", "summary": format!("{number} {at}")}]});
                    World::call_on(engine, &caller, "graph_plan", args).expect("planned");
                    let seen = World::call_on(engine, &caller, "graph_query", json!({}));
                    let seen = seen.expect("a query")["total"].as_i64().expect("a total");
                    assert!(
                        seen >= 4 + at,
                        "a reader saw core while it was replayed: {seen}"
                    );
                }
            });
        }
        for _ in 0..4 {
            world.engine.rebuild(|_, _| {}).expect("rebuilt");
        }
    });
    assert_gapless(&soil(&world, 1));
    world.assert_sound();
}
