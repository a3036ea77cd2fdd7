//! Core rebuilt from soil equals core, whatever was done to get there.

use serde_json::{Value, json};
use understory_engine::kernel::checked::Check;
use understory_engine::kernel::search::Asked;
use understory_model::fragment::fragment_id;
use understory_model::{Caller, Code, Fault, Role, Seq};
use understory_testkit::{World, on_both};

use crate::common::{Dice, core, soil, store};
use crate::{artifact_steps, conversation_steps, reasoning_steps, record_steps, thread_steps};

const AGENTS: [&str; 3] = ["ada", "bob", "cyd"];
const WORDS: [&str; 8] = [
    "Write",
    "the API",
    "naïve ÜBUNG",
    "日本語",
    "50%_x",
    "quote ' \" \\",
    "ﬁne",
    "🌱 root",
];

/// A random program of calls; invalid ones are part of it.
struct Program<'w> {
    world: &'w World,
    dice: Dice,
    workspace: String,
    nodes: Vec<String>,
    records: Vec<String>,
    threads: Vec<String>,
    messages: Vec<String>,
    logs: Vec<String>,
    items: Vec<String>,
    /// Labels, each with a commit.
    commits: Vec<(String, String)>,
    refused: usize,
    done: usize,
}

impl<'w> Program<'w> {
    fn new(world: &'w World, seed: u64) -> Program<'w> {
        Program {
            world,
            dice: Dice::new(seed),
            workspace: format!("w{seed}"),
            nodes: vec!["TASK-999".into(), "PLAN-001".into()],
            records: vec!["R999".into(), "R001".into()],
            threads: vec!["th_001".into(), "th_999".into()],
            messages: vec!["msg_1".into()],
            logs: vec!["TASK-001".into()],
            items: vec!["msg_1".into()],
            commits: vec![("goals_doc".into(), "0123456".into())],
            refused: 0,
            done: 0,
        }
    }

    fn caller(&mut self) -> Caller {
        let agent = *self.dice.pick(&AGENTS);
        // Some of what threads refuse to one they grant to another.
        let role = match self.dice.one_in(6) {
            true => Role::Orchestrator,
            false => Role::Worker,
        };
        Caller {
            workspace: self.workspace.clone(),
            role,
            ..World::caller(agent)
        }
    }

    fn step(&mut self) {
        let (tool, args) = match self.dice.below(84) {
            0..=2 => ("graph_plan", self.plan()),
            3..=5 => ("graph_update", self.update()),
            6 | 7 => ("graph_connect", self.connect()),
            8 | 9 => ("graph_restructure", self.restructure()),
            10 => ("graph_next", self.claim()),
            11 => (
                "graph_open",
                json!({"project": self.dice.pick(&["default", "side", " "])}),
            ),
            24..=35 => {
                let (text, workspace) = (self.text(), self.workspace.clone());
                reasoning_steps::step(&mut self.dice, &workspace, text)
            }
            52..=65 => {
                let text = self.text();
                artifact_steps::step(&mut self.dice, &self.commits, text)
            }
            66.. => {
                let text = self.text();
                let known = conversation_steps::Known {
                    logs: &self.logs,
                    items: &self.items,
                    nodes: &self.nodes,
                };
                conversation_steps::step(&mut self.dice, &known, text)
            }
            36.. => {
                let text = self.text();
                let known = (self.threads.as_slice(), self.messages.as_slice());
                thread_steps::step(&mut self.dice, known, text)
            }
            _ => {
                let text = self.text();
                record_steps::step(&mut self.dice, &self.records, text)
            }
        };
        if self.dice.one_in(10) {
            let by = self.dice.below(4_000) as i64 - 2_000;
            self.world.clock.turn(by);
        }
        let caller = self.caller();
        let before = self.world.engine.head(&caller).expect("a head");
        match self.world.call_as(&caller, tool, args.clone()) {
            Ok(answer) => self.learn(&answer),
            Err(fault) => {
                self.refused += 1;
                expected(&fault, tool, &args);
                let after = self.world.engine.head(&caller).expect("a head");
                assert_eq!(
                    after, before,
                    "{tool} was refused and wrote: {fault} {args}"
                );
            }
        }
    }

    fn learn(&mut self, answer: &Value) {
        self.done += 1;
        for node in answer["created"].as_array().unwrap_or(&Vec::new()) {
            self.nodes.extend(node["id"].as_str().map(str::to_string));
        }
        self.nodes
            .extend(answer["root"]["id"].as_str().map(str::to_string));
        self.records
            .extend(answer["record"]["id"].as_str().map(str::to_string));
        self.logs
            .extend(answer["log"]["uuid"].as_str().map(str::to_string));
        let items = [&answer["item"], &answer["kept"], &answer["entity"]];
        let names = items.iter().filter_map(|item| item["uuid"].as_str());
        self.items.extend(names.map(str::to_string));
        self.logs
            .extend(answer["item"]["log"].as_str().map(str::to_string));
        self.threads
            .extend(answer["thread_id"].as_str().map(str::to_string));
        self.messages
            .extend(answer["message_id"].as_str().map(str::to_string));
        let artifact = &answer["artifact"];
        let commit = answer["commit"].as_str().or(artifact["head"].as_str());
        if let (Some(label), Some(commit)) = (artifact["label"].as_str(), commit) {
            self.commits.push((label.to_string(), commit.to_string()));
        }
    }

    fn node(&mut self) -> String {
        self.dice.pick(&self.nodes).clone()
    }

    fn text(&mut self) -> String {
        let words: Vec<&str> = (0..=self.dice.below(4))
            .map(|_| *self.dice.pick(&WORDS))
            .collect();
        let mut text = words.join(" ");
        if self.dice.one_in(4) {
            let reference = match self.dice.below(6) {
                0 => "@r001".to_string(),
                1 => format!("@{}", self.node().to_lowercase()),
                2 => format!("@msg_{}", self.dice.below(400)),
                3 => "goals_doc:1".to_string(),
                4 => format!("@{}", self.dice.pick(&self.items).clone()),
                // Messages are often one of these words, and are taken back now and then.
                _ => {
                    let word = *self.dice.pick(&WORDS);
                    fragment_id(word)
                }
            };
            text = format!("{text} {reference}");
        }
        text
    }

    fn properties(&mut self) -> Value {
        match self.dice.below(6) {
            0 => json!({"priority": self.dice.below(5)}),
            1 => json!({"priority": -0.5, "area": self.text()}),
            2 => json!({"area": null, "deep": {"a": [1, 2.5, "x"]}}),
            3 => json!({"rank": "high", "owner": "eve"}),
            _ => json!({}),
        }
    }

    fn plan(&mut self) -> Value {
        let count = 1 + self.dice.below(4);
        let nodes: Vec<Value> = (0..count)
            .map(|at| {
                let mut node = json!({"ref": format!("r{at}"), "summary": self.text()});
                if self.dice.one_in(2) {
                    let inner = format!("r{}", self.dice.below(count));
                    node["parent_ref"] = json!(if self.dice.one_in(3) {
                        inner
                    } else {
                        self.node()
                    });
                }
                if self.dice.one_in(3) {
                    let other = format!("r{}", self.dice.below(count));
                    node["depends_on"] = json!([self.node(), other]);
                } else if self.dice.one_in(3) {
                    node["depends_on"] = json!([self.node()]);
                }
                node["properties"] = self.properties();
                node
            })
            .collect();
        json!({"nodes": nodes})
    }

    fn update(&mut self) -> Value {
        let count = 1 + self.dice.below(3);
        let updates: Vec<Value> = (0..count)
            .map(|_| {
                let mut update = json!({"node_id": self.node(), "properties": self.properties()});
                match self.dice.below(10) {
                    8 => update["claim"] = json!(true),
                    9 => update["claim"] = json!(false),
                    0 => update["summary"] = json!(self.text()),
                    1 | 2 => update["resolved"] = json!(true),
                    3 => update["resolved"] = json!(false),
                    4 => update["state"] = json!({"step": self.dice.below(9)}),
                    5 => update["add_evidence"] = json!([{"type": "git", "ref": self.text()}]),
                    6 => update["add_context_links"] = json!([self.text()]),
                    _ => update["expected_rev"] = json!(1 + self.dice.below(4)),
                }
                update
            })
            .collect();
        json!({"updates": updates})
    }

    fn connect(&mut self) -> Value {
        let count = 1 + self.dice.below(3);
        let edges: Vec<Value> = (0..count)
            .map(|_| {
                let kind = *self
                    .dice
                    .pick(&["depends_on", "depends_on", "relates_to", "blocks"]);
                let remove = self.dice.one_in(4);
                json!({"from": self.node(), "to": self.node(), "type": kind, "remove": remove})
            })
            .collect();
        json!({"edges": edges})
    }

    fn restructure(&mut self) -> Value {
        let count = 1 + self.dice.below(3);
        let operations: Vec<Value> = (0..count)
            .map(|_| match self.dice.below(5) {
                0..=2 => json!({"op": "move", "node_id": self.node(), "new_parent": self.node()}),
                3 => json!({"op": "merge", "source": self.node(), "target": self.node()}),
                _ => json!({"op": "drop", "node_id": self.node(), "reason": self.text()}),
            })
            .collect();
        json!({"operations": operations})
    }

    fn claim(&mut self) -> Value {
        let mut claim = json!({"claim": true, "count": 1 + self.dice.below(3)});
        if self.dice.one_in(3) {
            claim["scope"] = json!(self.node());
        }
        claim
    }
}

/// A refusal is the caller's to understand, never damage and never a fault of ours.
#[track_caller]
fn expected(fault: &Fault, tool: &str, args: &Value) {
    let ours = [Code::Internal, Code::StoreCorrupt, Code::StoreUnavailable];
    assert!(!ours.contains(&fault.code), "{tool} {args}: {fault}");
}

/// What can be found by words, best first, with scores.
fn found(world: &World, workspace: &str) -> Vec<String> {
    let caller = Caller {
        workspace: workspace.into(),
        ..World::caller("ada")
    };
    let mut all = Vec::new();
    for word in WORDS {
        let asked = Asked {
            query: word.to_string(),
            limit: 50,
            ..Asked::default()
        };
        let found = world
            .engine
            .search(&caller, asked.checked().unwrap())
            .expect("a search");
        let mut names: Vec<String> = found.hits.into_iter().map(|h| h.handle).collect();
        names.sort();
        all.push(names.join(","));
        let query = json!({"filter": {"text": word}, "limit": 100});
        let answer = world
            .call_as(&caller, "graph_query", query)
            .expect("a query");
        all.push(answer.to_string());
    }
    all
}

fn runs(world: &World, seeds: std::ops::Range<u64>, steps: usize) {
    for seed in seeds.clone() {
        let mut program = Program::new(world, seed);
        (0..steps).for_each(|_| program.step());
        assert!(program.done > steps / 6, "seed {seed}: too little was done");
        assert!(program.refused > 0, "seed {seed}: nothing was refused");
        assert!(
            program.messages.len() > steps / 100,
            "seed {seed}: hardly a word"
        );
        assert!(program.logs.len() > 5, "seed {seed}: hardly a conversation");
    }
    let texts = |world: &World| -> Vec<Vec<String>> {
        seeds
            .clone()
            .map(|seed| found(world, &format!("w{seed}")))
            .collect()
    };
    let (before, said) = (core(world), texts(world));
    world.assert_sound();
    world.engine.rebuild(|_, _| {}).expect("core is rebuilt");
    assert_eq!(core(world), before, "core rebuilt is another");
    assert_eq!(texts(world), said, "other texts are found");
    world.assert_sound();
}

#[on_both]
fn a_rebuilt_core_is_the_same(world: World) {
    runs(&world, 1..4, 260);
}

#[on_both]
fn a_long_program_is_the_same(world: World) {
    runs(&world, 100..101, 560);
}

#[on_both]
fn a_rebuild_tells_how_far_it_is_and_can_be_repeated(world: World) {
    world.plan(&["a", "b"]);
    let (to, from) = std::sync::mpsc::channel();
    world
        .engine
        .rebuild(move |name, seq| to.send((name.to_string(), seq)).expect("heard"))
        .expect("rebuilt");
    assert_eq!(
        from.iter().last(),
        Some(("garden-shed".to_string(), Seq(world.head())))
    );
    world.engine.rebuild(|_, _| {}).expect("rebuilt again");
    world.assert_sound();
}

#[on_both]
fn a_node_that_is_merged_takes_its_edges_to_itself_along(world: World) {
    world.plan(&["a", "b", "c"]);
    world.ok(
        "graph_connect",
        json!({"edges": [
        {"from": "TASK-001", "to": "TASK-001", "type": "relates_to"}]}),
    );
    for (source, target) in [("TASK-001", "TASK-002"), ("TASK-002", "TASK-003")] {
        world.ok(
            "graph_restructure",
            json!({"operations": [
            {"op": "merge", "source": source, "target": target}]}),
        );
        world.assert_sound();
    }
}

#[on_both]
fn core_of_another_version_is_replayed_by_a_write(world: World) {
    world.plan(&["before"]);
    let (items, digests) = (soil(&world, 1), core(&world));
    let fresh = world.another();
    let mut raw = world.backend.raw();
    raw.run("UPDATE core_meta SET value = '0' WHERE key = 'version'")
        .expect("changed");
    raw.run("DELETE FROM core_node").expect("changed");
    // Also an engine that was open before must not go on with what another version derived.
    for engine in [&*world.engine, &fresh, &world.another()] {
        let look = World::call_on(engine, &world.caller, "graph_next", json!({}));
        let fault = look.expect_err("derived by another version");
        assert_eq!(fault.code, Code::StoreUnavailable);
        assert!(fault.message.contains("another version"), "{fault}");
        assert!(fault.hint.is_some_and(|hint| hint.contains("rebuild")));
    }
    let late = World::call_on(
        &fresh,
        &world.caller,
        "graph_plan",
        json!({"nodes": [{"ref": "a", "summary": "after"}]}),
    );
    assert_eq!(late.expect("written")["created"][0]["id"], "TASK-002");
    assert_eq!(
        soil(&world, 1)[..items.len()],
        items[..],
        "soil was touched"
    );
    world.ok("graph_next", json!({}));
    world.assert_sound();
    assert_eq!(core(&world).len(), digests.len());
}

#[on_both]
fn core_that_was_dropped_is_replayed_too(world: World) {
    world.plan(&["before"]);
    let mut raw = world.backend.raw();
    raw.run("DROP TABLE core_meta").expect("dropped");
    drop(raw);
    let fresh = world.another();
    assert!(fresh.head(&world.caller).is_err());
    World::call_on(
        &fresh,
        &world.caller,
        "graph_open",
        json!({"project": "new"}),
    )
    .expect_err("its look before the write is a read");
    World::call_on(
        &fresh,
        &world.caller,
        "graph_plan",
        json!({"nodes": [{"ref": "a", "summary": "after"}]}),
    )
    .expect("written");
    world.assert_sound();
    assert!(store(&world.backend).check().is_ok());
}
