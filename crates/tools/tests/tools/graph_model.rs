//! Random sequences of graph operations against a model that is too simple to be wrong.
//!
//! The model keeps who is resolved, who is whose parent, who depends on whom and which session holds
//! what, and recomputes everything from that after each step. proptest prints the sequence that disagrees.

use std::collections::{BTreeMap, BTreeSet};

use crate::common::*;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestRunner};
use serde_json::{Value, json};
use understory_model::{Caller, Code};
use understory_testkit::{Backend, World};

/// Nodes are named by their place among those alive, so that every sequence makes sense.
#[derive(Debug, Clone)]
enum Step {
    Plan {
        parent: usize,
        deps: Vec<usize>,
        chained: bool,
    },
    Set(Vec<(usize, bool)>),
    Connect {
        from: usize,
        to: usize,
        remove: bool,
    },
    Move {
        node: usize,
        parent: usize,
    },
    Merge {
        source: usize,
        target: usize,
    },
    Drop(usize),
    Claim(usize),
    Take {
        node: usize,
        who: usize,
    },
    Release {
        node: usize,
        who: usize,
    },
}

/// Two sessions of one agent, and another agent.
const WHO: [(&str, &str); 3] = [
    ("ada", "sess_ada"),
    ("ada", "sess_two"),
    ("bob", "sess_bob"),
];

fn caller(who: usize) -> Caller {
    let (agent, session) = WHO[who];
    Caller {
        session: session.into(),
        ..World::caller(agent)
    }
}

fn step() -> impl Strategy<Value = Step> {
    let node = 0..64_usize;
    prop_oneof![
        4 => (node.clone(), prop::collection::vec(node.clone(), 0..3), any::<bool>())
            .prop_map(|(parent, deps, chained)| Step::Plan { parent, deps, chained }),
        4 => prop::collection::vec((node.clone(), prop::bool::weighted(0.75)), 1..4).prop_map(Step::Set),
        4 => (node.clone(), node.clone(), prop::bool::weighted(0.3))
            .prop_map(|(from, to, remove)| Step::Connect { from, to, remove }),
        2 => (node.clone(), node.clone()).prop_map(|(node, parent)| Step::Move { node, parent }),
        2 => (node.clone(), node.clone()).prop_map(|(source, target)| Step::Merge { source, target }),
        1 => node.clone().prop_map(Step::Drop),
        2 => (0..WHO.len()).prop_map(Step::Claim),
        2 => (node.clone(), 0..WHO.len()).prop_map(|(node, who)| Step::Take { node, who }),
        1 => (node, 0..WHO.len()).prop_map(|(node, who)| Step::Release { node, who }),
    ]
}

#[derive(Default, Clone)]
struct Kept {
    resolved: bool,
    parent: Option<String>,
    deps: BTreeSet<String>,
    rev: i64,
    /// Which of [`WHO`].
    holder: Option<usize>,
}

#[derive(Default, Clone)]
struct Model {
    nodes: BTreeMap<String, Kept>,
}

impl Model {
    fn pick(&self, at: usize) -> String {
        self.nodes
            .keys()
            .nth(at % self.nodes.len())
            .unwrap()
            .clone()
    }

    fn open(&self, id: &str) -> bool {
        !self.nodes[id].resolved
    }

    fn blocked(&self, id: &str) -> bool {
        self.open(id) && self.nodes[id].deps.iter().any(|dep| self.open(dep))
    }

    fn actionable(&self) -> BTreeSet<String> {
        let leaf = |id: &str| {
            !self
                .nodes
                .values()
                .any(|n| !n.resolved && n.parent.as_deref() == Some(id))
        };
        let ready = |id: &&String| self.open(id) && leaf(id) && !self.blocked(id);
        self.nodes.keys().filter(ready).cloned().collect()
    }

    /// What a node waits for: what it depends on, and what is below it.
    fn awaited(&self, id: &str) -> Vec<String> {
        let below = self.nodes.iter();
        let below = below.filter(|(_, node)| node.parent.as_deref() == Some(id));
        let deps = self.nodes[id].deps.iter().cloned();
        deps.chain(below.map(|(child, _)| child.clone())).collect()
    }

    /// Whether `from` waits for `to`, however far round, or is it.
    fn awaits(&self, from: &str, to: &str) -> bool {
        let (mut seen, mut next) = (BTreeSet::new(), vec![from.to_string()]);
        while let Some(at) = next.pop() {
            if at == to {
                return true;
            }
            if seen.insert(at.clone()) {
                next.extend(self.awaited(&at));
            }
        }
        false
    }

    /// What a session could be given, and what of it is its own.
    fn offered(&self, who: usize) -> (BTreeSet<String>, BTreeSet<String>) {
        let mut free = self.actionable();
        // A goal alone is no work.
        if self.nodes.len() == 1 {
            free.clear();
        }
        free.retain(|id| self.nodes[id].holder.is_none_or(|holder| holder == who));
        let own = free.iter().filter(|id| self.nodes[*id].holder == Some(who));
        let own = own.cloned().collect();
        (free, own)
    }

    fn below(&self, node: &str, above: &str) -> bool {
        let parent = self.nodes[node].parent.as_deref();
        node == above || parent.is_some_and(|parent| self.below(parent, above))
    }

    fn change(&mut self, id: &str, change: impl FnOnce(&mut Kept)) {
        let node = self.nodes.get_mut(id).unwrap();
        change(node);
        node.rev += 1;
    }

    /// The model after a merge, or `None` where it would close a circle.
    fn merged(&self, source: &str, target: &str) -> Option<Model> {
        let mut after = self.clone();
        let gone = after.nodes.remove(source)?;
        for node in after.nodes.values_mut() {
            if node.deps.remove(source) {
                node.deps.insert(target.to_string());
            }
            if node.parent.as_deref() == Some(source) {
                node.parent = Some(target.to_string());
            }
        }
        let kept = after.nodes.get_mut(target)?;
        kept.deps.extend(gone.deps);
        kept.deps.remove(target);
        let circles = |id: &String| after.awaited(id).iter().any(|next| after.awaits(next, id));
        let circle = after.nodes.keys().any(circles);
        (!circle).then_some(after)
    }

    fn tally(&self) -> [i64; 4] {
        let count = |wanted: &dyn Fn(&String) -> bool| {
            self.nodes.keys().filter(|id| wanted(id)).count() as i64
        };
        [
            self.nodes.len() as i64,
            count(&|id| !self.open(id)),
            count(&|id| self.blocked(id)),
            self.actionable().len() as i64,
        ]
    }
}

/// Does one step in the world and in the model; what the world answered, if it did anything.
fn take(world: &World, model: &mut Model, step: &Step) -> Option<Value> {
    match step {
        Step::Plan {
            parent,
            deps,
            chained,
        } => {
            let deps: Vec<String> = deps.iter().map(|dep| model.pick(*dep)).collect();
            let mut nodes = vec![
                json!({"ref": "a", "summary": "A", "parent_ref": model.pick(*parent), "depends_on": deps}),
            ];
            if *chained {
                nodes.insert(0, json!({"ref": "b", "summary": "B", "parent_ref": "a", "depends_on": [model.pick(*parent + 1)]}));
            }
            let above = model.pick(*parent);
            let other = model.pick(*parent + 1);
            let back = |dep: &String| model.awaits(dep, &above);
            if deps.iter().any(back) || (*chained && back(&other)) {
                let fault = world.refused("graph_plan", json!({ "nodes": nodes }));
                assert_eq!(fault.details.unwrap()["reason"], "cycle_detected");
                return None;
            }
            let made = plan(world, nodes.into());
            let a = Kept {
                parent: Some(model.pick(*parent)),
                deps: deps.into_iter().collect(),
                rev: 1,
                ..Kept::default()
            };
            if *chained {
                let deps = [model.pick(*parent + 1)].into();
                let b = Kept {
                    parent: Some(made["a"].clone()),
                    deps,
                    rev: 1,
                    ..Kept::default()
                };
                model.nodes.insert(made["b"].clone(), b);
            }
            model.nodes.insert(made["a"].clone(), a);
            None
        }
        Step::Set(all) => {
            let updates: Vec<Value> = all
                .iter()
                .map(|(at, resolved)| json!({"node_id": model.pick(*at), "resolved": resolved}))
                .collect();
            for (at, resolved) in all {
                let id = model.pick(*at);
                if model.nodes[&id].resolved != *resolved {
                    model.change(&id, |node| {
                        node.resolved = *resolved;
                        // Who did it stays; who reopens it frees it.
                        node.holder = node.holder.filter(|_| *resolved);
                    });
                }
            }
            Some(world.ok("graph_update", json!({ "updates": updates })))
        }
        Step::Connect { from, to, remove } => connect(world, model, *from, *to, *remove),
        Step::Move { node, parent } => {
            let (id, to) = (model.pick(*node), model.pick(*parent));
            let operations = json!([{"op": "move", "node_id": id, "new_parent": to}]);
            let stays = model.nodes[&id].parent.as_ref() == Some(&to);
            if id == "PLAN-001" || model.below(&to, &id) || (!stays && model.awaits(&id, &to)) {
                world.refused("graph_restructure", json!({ "operations": operations }));
                return None;
            }
            if model.nodes[&id].parent.as_ref() != Some(&to) {
                model.change(&id, |node| node.parent = Some(to));
            }
            Some(restructure(world, operations))
        }
        Step::Merge { source, target } => {
            let (from, into) = (model.pick(*source), model.pick(*target));
            let operations = json!([{"op": "merge", "source": from, "target": into}]);
            let fits = from != "PLAN-001" && !model.below(&into, &from);
            let Some(after) = model.merged(&from, &into).filter(|_| fits) else {
                world.refused("graph_restructure", json!({ "operations": operations }));
                return None;
            };
            *model = after;
            let answer = restructure(world, operations);
            // Which neighbours a merge touches is not the model's to say; that revs rise is.
            for (id, node) in &mut model.nodes {
                let now = rev(world, id);
                assert!(now >= node.rev && (*id != into || now > node.rev));
                node.rev = now;
            }
            Some(answer)
        }
        Step::Drop(at) => {
            let id = model.pick(*at);
            let below: Vec<String> = model
                .nodes
                .keys()
                .filter(|node| **node == id || (model.open(node) && model.below(node, &id)))
                .cloned()
                .collect();
            for node in below {
                model.change(&node, |node| node.resolved = true);
            }
            Some(restructure(
                world,
                json!([{"op": "drop", "node_id": id, "reason": "r"}]),
            ))
        }
        Step::Claim(who) => {
            let answer = world.call_as(&caller(*who), "graph_next", json!({"claim": true}));
            let answer = answer.unwrap();
            let (free, own) = model.offered(*who);
            match next_of(&answer).pop() {
                Some(id) => {
                    let expected = if own.is_empty() { free } else { own };
                    assert!(expected.contains(&id), "{id} was not {who}'s to take");
                    model.change(&id, |node| node.holder = Some(*who));
                }
                None => {
                    assert!(free.is_empty(), "{free:?} were not told");
                    assert!(answer["reason"]["code"].is_string());
                }
            }
            None
        }
        Step::Take { node, who } => {
            let id = model.pick(*node);
            let kept = &model.nodes[&id];
            let fits = !kept.resolved && kept.holder.is_none_or(|holder| holder == *who);
            claims(world, &id, *who, true, fits);
            if fits {
                model.change(&id, |node| node.holder = Some(*who));
            }
            None
        }
        Step::Release { node, who } => {
            let id = model.pick(*node);
            let kept = &model.nodes[&id];
            let held = kept.holder.is_some();
            let fits = !held || (!kept.resolved && kept.holder == Some(*who));
            claims(world, &id, *who, false, fits);
            if held && fits {
                model.change(&id, |node| node.holder = None);
            }
            None
        }
    }
}

/// Claims or releases a node by name; checks that it is refused, without a trace, unless it fits.
fn claims(world: &World, id: &str, who: usize, claim: bool, fits: bool) {
    let head = world.head();
    let args = json!({"updates": [{"node_id": id, "claim": claim}]});
    let answer = world.call_as(&caller(who), "graph_update", args);
    match answer {
        Ok(_) => assert!(fits, "{who} was let: claim {claim} of {id}"),
        Err(fault) => {
            assert!(!fits, "{who} was refused: {fault}");
            assert_eq!((fault.code, world.head()), (Code::Conflict, head));
        }
    }
}

fn connect(
    world: &World,
    model: &mut Model,
    from: usize,
    to: usize,
    remove: bool,
) -> Option<Value> {
    let (from, to) = (model.pick(from), model.pick(to));
    let there = model.nodes[&from].deps.contains(&to);
    let reason = match (remove, there) {
        (true, false) => Some("edge_not_found"),
        (false, true) => Some("duplicate_edge"),
        (false, false) if model.awaits(&to, &from) => Some("cycle_detected"),
        _ => None,
    };
    let edge = json!({"from": from, "to": to, "type": "depends_on", "remove": remove});
    let answer = world.ok("graph_connect", json!({"edges": [edge]}));
    match reason {
        Some(reason) => {
            assert_eq!(answer["rejected"][0]["reason"], reason);
            return None;
        }
        None => assert_eq!(answer["applied"], 1),
    }
    model.change(&from, |node| {
        if remove {
            node.deps.remove(&to)
        } else {
            node.deps.insert(to.clone())
        };
    });
    Some(answer)
}

/// Runs a sequence; panics where world and model disagree.
fn run(world: &World, steps: &[Step]) {
    world.ok("graph_open", json!({"project": "default"}));
    let mut model = Model::default();
    model.nodes.insert(
        "PLAN-001".into(),
        Kept {
            rev: 1,
            ..Kept::default()
        },
    );
    for (at, step) in steps.iter().enumerate() {
        let before = model.actionable();
        let answer = take(world, &mut model, step);
        if let Some(answer) = answer {
            let expected: Vec<String> = model.actionable().difference(&before).cloned().collect();
            assert_eq!(
                newly(&answer),
                expected,
                "newly_actionable of step {at}: {step:?}"
            );
        }
        assert_eq!(
            tally(world),
            model.tally(),
            "counts after step {at}: {step:?}"
        );
    }
    for who in 0..WHO.len() {
        let answer = world.call_as(&caller(who), "graph_next", json!({"count": 200}));
        let told: BTreeSet<String> = next_of(&answer.unwrap()).into_iter().collect();
        assert_eq!(told, model.offered(who).0, "what {who} is offered");
    }
    for (id, seen) in everything(world) {
        let kept = &model.nodes[&id];
        assert_eq!(
            (seen.resolved, &seen.parent),
            (kept.resolved, &kept.parent),
            "{id}"
        );
        assert_eq!(
            seen.deps.into_iter().collect::<BTreeSet<_>>(),
            kept.deps,
            "{id}"
        );
        assert_eq!(rev(world, &id), kept.rev, "{id}");
        let held = &node(world, &id)["properties"];
        let holder = kept.holder.map(|who| WHO[who]);
        let (by, session) = (&held["_claimed_by"], &held["_claimed_session"]);
        assert_eq!(
            (by.as_str(), session.as_str()),
            (holder.map(|who| who.0), holder.map(|who| who.1)),
            "{id}"
        );
    }
    world.assert_sound();
}

/// A number from the environment, to run a failure again or to search longer.
fn given(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

fn check(cases: u32, backend: fn() -> Backend) {
    let cases = given("UNDERSTORY_TEST_CASES").map_or(cases, |cases| cases as u32);
    let now = std::time::UNIX_EPOCH
        .elapsed()
        .map_or(0, |since| since.as_nanos() as u64);
    let seed = given("UNDERSTORY_TEST_SEED").unwrap_or(now);
    let config = Config {
        cases,
        rng_seed: RngSeed::Fixed(seed),
        failure_persistence: None,
        max_shrink_iters: 200,
        ..Config::default()
    };
    let steps = prop::collection::vec(step(), 1..40);
    let result = TestRunner::new(config).run(&steps, |steps| {
        run(&World::new(backend()), &steps);
        Ok(())
    });
    if let Err(error) = result {
        panic!("UNDERSTORY_TEST_SEED={seed} shows it again: {error}");
    }
}

#[test]
fn any_sequence_agrees_with_the_model_on_sqlite() {
    check(6, Backend::sqlite);
}

#[test]
fn any_sequence_agrees_with_the_model_on_postgres() {
    check(3, Backend::postgres);
}
