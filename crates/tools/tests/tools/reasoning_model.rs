//! Random programs of branches, writes, merges and decisions against the model in
//! `reasoning_oracle`, which copies everything.
//!
//! proptest prints the program that disagrees and the seed that shows it again; programs that once
//! did are run every time.

use std::collections::BTreeMap;

use crate::reasoning_oracle::stage::{Stage, number, with};
use crate::reasoning_oracle::*;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestRunner};
use serde_json::{Value, json};
use understory_model::Code;
use understory_testkit::{Backend, World, on_both};

const NODES: [&str; 3] = ["a", "b", "c"];
const RELS: [&str; 2] = ["blocks", "supports"];
/// More branches than this are not made.
const BRANCHES: usize = 14;

/// Branches, conflicts and what is deleted are named by their place among those that are there.
#[derive(Debug, Clone)]
enum Step {
    Apply {
        branch: usize,
        doc: usize,
        edits: Vec<Edit>,
    },
    /// One key written again and again, with a branch made after each time or not.
    Hot {
        branch: usize,
        doc: usize,
        key: usize,
        times: usize,
        forks: bool,
    },
    Note(usize),
    Fork {
        from: usize,
        chain: usize,
    },
    Merge {
        branch: usize,
        doc: usize,
        limit: usize,
    },
    MergeNotes {
        from: usize,
        into: usize,
        limit: usize,
    },
    Resolve {
        conflict: usize,
        how: &'static str,
    },
}

#[derive(Debug, Clone)]
enum Edit {
    Node(usize, usize),
    Edge(usize, usize, usize, usize),
    Drop(usize),
}

fn step() -> impl Strategy<Value = Step> {
    let (branch, doc) = (0..64_usize, prop::bool::weighted(0.2).prop_map(usize::from));
    let limit = prop::sample::select(vec![1, 2, 3, 200]);
    let how = prop::sample::select(vec!["use_from", "use_into"]);
    let edit = prop_oneof![
        4 => (0..3_usize, 0..4_usize).prop_map(|(id, value)| Edit::Node(id, value)),
        3 => (0..3_usize, 0..2_usize, 0..3_usize, 0..3_usize)
            .prop_map(|(from, rel, to, value)| Edit::Edge(from, rel, to, value)),
        3 => (0..64_usize).prop_map(Edit::Drop),
    ];
    let edits = prop::collection::vec(edit, 1..4);
    prop_oneof![
        9 => (branch.clone(), doc.clone(), edits)
            .prop_map(|(branch, doc, edits)| Step::Apply { branch, doc, edits }),
        3 => (branch.clone(), doc.clone(), 0..4_usize, 2..6_usize, any::<bool>()).prop_map(
            |(branch, doc, key, times, forks)| Step::Hot { branch, doc, key, times, forks }
        ),
        3 => branch.clone().prop_map(Step::Note),
        3 => (branch.clone(), prop_oneof![12 => Just(1), 1 => Just(9_usize)])
            .prop_map(|(from, chain)| Step::Fork { from, chain }),
        6 => (branch.clone(), doc, limit.clone())
            .prop_map(|(branch, doc, limit)| Step::Merge { branch, doc, limit }),
        3 => (branch.clone(), branch.clone(), limit)
            .prop_map(|(from, into, limit)| Step::MergeNotes { from, into, limit }),
        4 => (branch, how).prop_map(|(conflict, how)| Step::Resolve { conflict, how }),
    ]
}

fn node_state(id: &str, value: usize) -> (Value, Value) {
    let more = [
        json!({"type": "question"}),
        json!({"type": "question", "title": "One"}),
        json!({"type": "test", "text": "Two", "status": "open", "meta": {"n": [2, null]}}),
        json!({"type": "test", "tags": ["Z", "a", "z"]}),
    ];
    let mut state = more[value % more.len()].clone();
    state["id"] = id.into();
    let given = state.clone();
    if value == 3 {
        state["tags"] = json!(["a", "z"]);
    }
    (given, state)
}

impl Stage<'_> {
    fn take(&mut self, step: &Step) {
        match step {
            Step::Apply { branch, doc, edits } => {
                let branch = self.model.pick(*branch);
                self.apply(branch, *doc, edits);
            }
            Step::Hot {
                branch,
                doc,
                key,
                times,
                forks,
            } => {
                let branch = self.model.pick(*branch);
                for time in 0..*times {
                    let edit = match key {
                        0..3 => Edit::Node(*key, time),
                        _ => Edit::Edge(0, 0, 1, time),
                    };
                    self.apply(branch, *doc, &[edit]);
                    if *forks {
                        let from = branch;
                        self.take(&Step::Fork { from, chain: 1 });
                    }
                }
            }
            Step::Note(branch) => {
                let branch = self.model.pick(*branch);
                let note = self.model.note(branch);
                let args =
                    json!({"branch": Model::name(branch), "doc": "notes", "content": note.text});
                let entry = self.ok("notes_commit", args)["entry"].clone();
                self.stands(note.tick, &entry["seq"]);
            }
            Step::Fork { from, chain } => {
                let mut from = self.model.pick(*from);
                for _ in 0..*chain {
                    if self.model.branches.len() < BRANCHES {
                        let base = Model::name(from);
                        from = self.model.fork(from);
                        let args = json!({"name": Model::name(from), "from": base});
                        let made = self.ok("branch_create", args)["branch"].clone();
                        assert_eq!(made["base_branch"], base);
                    }
                }
            }
            Step::Merge { branch, doc, limit } => {
                let branch = self.model.pick(*branch);
                if branch > 0 {
                    self.merge(branch, *doc, *limit);
                }
            }
            Step::MergeNotes { from, into, limit } => {
                let (from, into) = (self.model.pick(*from), self.model.pick(*into));
                if from != into {
                    self.merge_notes(from, into, *limit);
                }
            }
            Step::Resolve { conflict, how } => {
                if !self.ids.is_empty() {
                    self.resolve(conflict % self.ids.len(), how);
                }
            }
        }
    }

    fn apply(&mut self, branch: usize, doc: usize, edits: &[Edit]) {
        // What there is to be deleted is asked of a copy that went through what comes before.
        let mut copy = self.model.clone();
        let (mut ops, mut sent) = (Vec::new(), Vec::new());
        for edit in edits {
            let (op, args) = match edit {
                Edit::Node(id, value) => {
                    let (given, state) = node_state(NODES[*id], *value);
                    let op = Op::Put(Key::Node(NODES[*id].into()), state);
                    (op, with(given, json!({"op": "node_upsert"})))
                }
                Edit::Edge(from, rel, to, value) => {
                    let (from, rel, to) = (NODES[*from], RELS[*rel], NODES[*to]);
                    let key = Key::Edge(from.into(), rel.into(), to.into());
                    let mut state = key.shown();
                    if *value > 0 {
                        state["meta"] = json!({ "weight": value });
                    }
                    (
                        Op::Put(key, state.clone()),
                        with(state, json!({"op": "edge_upsert"})),
                    )
                }
                Edit::Drop(at) => {
                    let living: Vec<Key> = copy.living(branch, doc).into_keys().collect();
                    // Sometimes the one beyond the last, which is not there.
                    let ghost = Key::Node("ghost".into());
                    let key = living.get(at % (living.len() + 1)).unwrap_or(&ghost);
                    let args = match key {
                        Key::Node(id) => json!({"op": "node_delete", "id": id}),
                        _ => with(key.shown(), json!({"op": "edge_delete"})),
                    };
                    (Op::Drop(key.clone()), args)
                }
            };
            let _ = copy.apply(branch, doc, std::slice::from_ref(&op));
            ops.push(op);
            sent.push(args);
        }
        for op in &mut sent {
            op.as_object_mut().expect("an object").remove("workspace");
        }
        let args = json!({"branch": Model::name(branch), "doc": DOCS[doc], "ops": sent});
        match self.model.apply(branch, doc, &ops) {
            Ok(done) => {
                let answer = self.ok("graph_apply", args);
                let expected = json!({
                    "nodes_upserted": done.nodes, "nodes_deleted": done.nodes_gone,
                    "edges_upserted": done.edges, "edges_deleted": done.edges_gone,
                });
                assert_eq!(answer["applied"], expected);
                assert_eq!(answer["last_seq"], self.world.head());
            }
            Err(at) => {
                let fault = self
                    .world
                    .refused("branchmind_graph_apply", with(args, json!({})));
                assert_eq!(fault.code, Code::NotFound);
                assert!(fault.message.contains(&format!("ops[{at}]")), "{fault}");
            }
        }
    }

    /// Pages through a merge: what was merged, what was skipped, and the conflicts that it made.
    fn merged(&self, tool: &str, args: &Value, limit: usize) -> (u64, u64, Vec<Value>) {
        let (mut merged, mut skipped, mut conflicts) = (0, 0, Vec::new());
        let mut cursor = Value::Null;
        loop {
            let args = with(args.clone(), json!({"limit": limit, "cursor": cursor}));
            let answer = self.ok(tool, args);
            let new = answer["conflict_ids"].as_array().cloned();
            let new = new.unwrap_or_default();
            let page = &answer["pagination"];
            let (came, left) = (number(&answer["merged"]), number(&answer["skipped"]));
            assert_eq!(number(&page["count"]), came + left + new.len() as u64);
            assert!(number(&page["count"]) <= limit as u64);
            if tool == "graph_merge" {
                assert_eq!(answer["conflicts_created"], new.len());
            }
            merged += came;
            skipped += left;
            conflicts.extend(new);
            if page["has_more"] == false {
                return (merged, skipped, conflicts);
            }
            cursor = page["next_cursor"].clone();
        }
    }

    fn merge(&mut self, from: usize, doc: usize, limit: usize) {
        let into = self.model.branches[from].base.expect("a base");
        let args = json!({"from": Model::name(from), "into": Model::name(into), "doc": DOCS[doc]});
        let head = self.world.head();
        let foreseen = self.merged(
            "graph_merge",
            &with(args.clone(), json!({"dry_run": true})),
            limit,
        );
        assert_eq!(self.world.head(), head, "a dry run wrote");
        let expected = self.model.merge(from, doc);
        let (merged, skipped, conflicts) = self.merged("graph_merge", &args, limit);
        assert_eq!(foreseen, (merged, skipped, conflicts.clone()), "a dry run");
        assert_eq!((merged, skipped), (expected.merged, expected.skipped));
        assert_eq!(conflicts.len(), expected.conflicts.len());
        let new = conflicts
            .iter()
            .map(|id| id.as_str().expect("id").to_string());
        self.ids.extend(new);
        self.again("graph_merge", &args);
    }

    fn merge_notes(&mut self, from: usize, into: usize, limit: usize) {
        let args = json!({"from": Model::name(from), "into": Model::name(into)});
        let foreseen = self.merged("merge", &with(args.clone(), json!({"dry_run": true})), 200);
        let expected = self.model.merge_notes(from, into);
        let (merged, skipped, _) = self.merged("merge", &args, limit);
        assert_eq!((merged, skipped), expected);
        assert_eq!((foreseen.0, foreseen.1), expected, "a dry run");
        self.again("merge", &args);
    }

    /// Merging again changes nothing.
    fn again(&self, tool: &str, args: &Value) {
        let head = self.world.head();
        let (merged, _, conflicts) = self.merged(tool, args, 200);
        assert_eq!((merged, conflicts.len()), (0, 0), "merged again: {args}");
        assert_eq!(self.world.head(), head, "{tool} wrote again: {args}");
    }

    fn resolve(&mut self, at: usize, how: &'static str) {
        let args = json!({"conflict_id": self.ids[at], "resolution": how});
        let conflict = self.model.conflicts[at].clone();
        let Some(applied) = self.model.resolve(at, how) else {
            let tool = "branchmind_graph_conflict_resolve";
            let fault = self.world.refused(tool, with(args, json!({})));
            assert_eq!(fault.code, Code::Conflict);
            return;
        };
        let answer = self.ok("graph_conflict_resolve", args);
        let expected =
            json!({"conflict_id": self.ids[at], "status": "resolved", "applied": applied});
        assert_eq!(answer, expected);
        if self.model.branches[conflict.from].now[conflict.doc][&conflict.key] == conflict.theirs {
            // The branch has not moved on, so there is nothing left to merge of this key.
            let copy = &mut self.model.clone();
            let before = copy.merge(conflict.from, conflict.doc);
            assert!(
                before
                    .conflicts
                    .iter()
                    .all(|at| copy.conflicts[*at].key != conflict.key)
            );
        }
    }
}

/// Runs a program; panics where world and model disagree.
fn run(world: &World, steps: &[Step]) {
    let mut stage = Stage {
        world,
        model: Model::default(),
        ids: Vec::new(),
        seqs: BTreeMap::new(),
    };
    for step in steps {
        stage.take(step);
    }
    stage.check_all();
    // All that is left is merged, children first, and once more.
    for branch in (1..stage.model.branches.len()).rev() {
        stage.merge(branch, 0, 200);
        stage.merge_notes(branch, 0, 200);
    }
    stage.check_views();
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
    let result = TestRunner::new(config).run(&prop::collection::vec(step(), 1..60), |steps| {
        run(&World::new(backend()), &steps);
        Ok(())
    });
    if let Err(error) = result {
        panic!("UNDERSTORY_TEST_SEED={seed} shows it again: {error}");
    }
}

/// Programs that the product once got wrong, as proptest shortened them.
fn found() -> Vec<Vec<Step>> {
    let fork = |chain: usize| Step::Fork { from: 0, chain };
    let write = |branch: usize, edits: Vec<Edit>| Step::Apply {
        branch,
        doc: 0,
        edits,
    };
    let says = |branch: usize, value: usize| write(branch, vec![Edit::Node(0, value)]);
    let merge = || Step::Merge {
        branch: 1,
        doc: 0,
        limit: 200,
    };
    let settle = |how: &'static str| Step::Resolve { conflict: 0, how };
    // Main and a branch of it disagree about a node.
    let met = || vec![says(0, 0), fork(1), says(1, 1), says(0, 2), merge()];
    let then = |more: Vec<Step>| met().into_iter().chain(more).collect();
    vec![
        // The first write of a branch with many ancestors deletes what it has just made.
        vec![fork(9), write(9, vec![Edit::Node(0, 0), Edit::Drop(0)])],
        // A branch that goes on after a merge is no conflict with what it gave itself.
        vec![fork(1), says(1, 1), merge(), says(1, 2), merge()],
        // What was settled for main stays so when main returns to where the branch began.
        then(vec![settle("use_into"), says(0, 0), merge()]),
        // A conflict about what the branch has left behind must not be chosen over what came after.
        then(vec![says(0, 0), says(1, 3), merge(), settle("use_from")]),
    ]
}

#[on_both]
fn programs_that_once_disagreed(world: World) {
    let first = found().remove(0);
    run(&world, &first);
    for steps in &found()[1..] {
        let backend = match world.backend.is_sqlite() {
            true => Backend::sqlite(),
            false => Backend::postgres(),
        };
        run(&World::new(backend), steps);
    }
}

#[test]
fn any_program_agrees_with_the_model_on_sqlite() {
    check(12, Backend::sqlite);
}

#[test]
fn any_program_agrees_with_the_model_on_postgres() {
    check(5, Backend::postgres);
}
