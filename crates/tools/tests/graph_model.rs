//! Random sequences of graph operations against a model that is too simple to be wrong.
//!
//! The model keeps who is resolved, who is whose parent and who depends on whom, and recomputes
//! everything from that after each step. proptest prints the sequence that disagrees.

mod common;

use std::collections::{BTreeMap, BTreeSet};

use common::*;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestRunner};
use serde_json::{Value, json};
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
    Claim,
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
        1 => node.prop_map(Step::Drop),
        1 => Just(Step::Claim),
    ]
}

#[derive(Default, Clone)]
struct Kept {
    resolved: bool,
    parent: Option<String>,
    deps: BTreeSet<String>,
    rev: i64,
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

    /// Whether `from` leads to `to` along `next`.
    fn leads(&self, from: &str, to: &str, next: &dyn Fn(&Kept) -> Vec<String>) -> bool {
        from == to
            || next(&self.nodes[from])
                .iter()
                .any(|via| self.leads(via, to, next))
    }

    fn depends(&self, from: &str, to: &str) -> bool {
        self.leads(from, to, &|node| node.deps.iter().cloned().collect())
    }

    fn below(&self, node: &str, above: &str) -> bool {
        self.leads(node, above, &|node| node.parent.iter().cloned().collect())
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
        let ids: Vec<String> = after.nodes.keys().cloned().collect();
        let circle = ids.iter().any(|id| circles(&after, id));
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

/// Whether a node depends on itself, however far round.
fn circles(model: &Model, id: &str) -> bool {
    let (mut seen, mut next): (BTreeSet<&str>, Vec<&str>) = (BTreeSet::new(), vec![id]);
    while let Some(at) = next.pop() {
        for dep in &model.nodes[at].deps {
            if dep == id {
                return true;
            }
            if seen.insert(dep) {
                next.push(dep);
            }
        }
    }
    false
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
            let made = plan(world, nodes.into());
            let a = Kept {
                parent: Some(model.pick(*parent)),
                deps: deps.into_iter().collect(),
                rev: 1,
                resolved: false,
            };
            if *chained {
                let deps = [model.pick(*parent + 1)].into();
                let b = Kept {
                    parent: Some(made["a"].clone()),
                    deps,
                    rev: 1,
                    resolved: false,
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
                model.change(&id, |node| node.resolved = *resolved);
            }
            Some(world.ok("graph_update", json!({ "updates": updates })))
        }
        Step::Connect { from, to, remove } => connect(world, model, *from, *to, *remove),
        Step::Move { node, parent } => {
            let (id, to) = (model.pick(*node), model.pick(*parent));
            let operations = json!([{"op": "move", "node_id": id, "new_parent": to}]);
            if id == "PLAN-001" || model.below(&to, &id) {
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
        Step::Claim => {
            let claimed = world.ok("graph_next", json!({"claim": true}));
            let id = next_of(&claimed).pop();
            assert_eq!(id.is_some(), !model.actionable().is_empty());
            if let Some(id) = id {
                assert!(model.actionable().contains(&id));
                model.change(&id, |_| {});
            }
            None
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
        (false, false) if model.depends(&to, &from) => Some("cycle_detected"),
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
    let ready: BTreeSet<String> = next_ids(world, json!({"count": 200})).into_iter().collect();
    assert_eq!(ready, model.actionable());
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
