//! A world with something of everything in it, and the names of all that, for targets with a store.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use understory_model::{Caller, Fault, Role};
use understory_testkit::{Backend, World};
use understory_tools::{Context, registry};

use crate::chance::Chance;
use crate::target::On;

/// Names kept of one field, and of all together.
const MOST: usize = 32;
const MOST_NAMES: usize = 600;

/// Who may be calling.
pub const CALLERS: [&str; 5] = ["ada", "bob", "eve", "olga", "zed"];

pub struct Stage {
    pub world: World,
    pub names: Names,
    /// Arguments that worked, by tool.
    pub worked: BTreeMap<&'static str, Vec<Value>>,
}

/// What the store called things, by the field that said so.
#[derive(Default)]
pub struct Names {
    by_field: BTreeMap<String, Vec<String>>,
    all: Vec<String>,
}

impl Stage {
    pub fn new(on: On) -> Stage {
        let backend = match on {
            On::Sqlite => Backend::sqlite(),
            On::Postgres => Backend::postgres(),
        };
        let mut stage = Stage {
            world: World::new(backend),
            names: Names::default(),
            worked: BTreeMap::new(),
        };
        for (agent, tool, args) in scenery() {
            // What fails here fails in every run alike: it is only scenery.
            let _ = stage.call(&caller(agent), tool, args);
        }
        for tool in registry::tools() {
            if let Ok(example) = serde_json::from_str(tool.example) {
                let _ = stage.call(&caller("ada"), tool.name, example);
            }
        }
        stage
    }

    /// Calls a tool and remembers what things are called in its answer.
    pub fn call(&mut self, caller: &Caller, tool: &str, args: Value) -> Result<Value, Fault> {
        let context = Context {
            engine: &self.world.engine,
            caller,
            request_id: "req_fuzz",
        };
        let answer = registry::call_named(&context, tool, args.clone())?;
        self.names.learn("", &answer);
        if let Some(tool) = registry::find(tool) {
            let worked = self.worked.entry(tool.name).or_default();
            if worked.len() < 8 {
                worked.push(args);
            } else {
                let at = self.names.all.len() % 8;
                worked[at] = args;
            }
        }
        Ok(answer)
    }

    /// Proves the log, and what follows from it against a replay.
    pub fn prove(&self) -> Result<(), String> {
        let report = self
            .world
            .engine
            .verify(None, true, |_, _| {})
            .map_err(|fault| format!("verify: {fault:?}"))?;
        if report.ok {
            Ok(())
        } else {
            Err(format!("the store does not prove: {report:?}"))
        }
    }
}

impl Names {
    fn learn(&mut self, field: &str, answer: &Value) {
        match answer {
            Value::String(text) if text.len() <= 200 && !text.contains(' ') => {
                let known = self.by_field.entry(field.to_owned()).or_default();
                if known.len() < MOST && !known.contains(text) {
                    known.push(text.clone());
                    if self.all.len() < MOST_NAMES {
                        self.all.push(text.clone());
                    }
                }
            }
            Value::Array(items) => items.iter().for_each(|item| self.learn(field, item)),
            Value::Object(map) => {
                for (name, value) in map {
                    self.learn(name, value);
                    // Objects by their ids say names too.
                    if name.len() > 30 || name.contains('-') {
                        self.learn("id", &json!(name));
                    }
                }
            }
            _ => {}
        }
    }

    /// A name for a field: one that such a field had, or any.
    pub fn pick(&self, chance: &mut Chance, field: &str) -> Option<String> {
        const ALIKE: [(&str, &[&str]); 14] = [
            ("node_id", &["id", "node", "handle"]),
            ("record_id", &["id", "handle"]),
            ("id", &["uuid", "handle", "node_id"]),
            ("uuid", &["uuid", "entity_uuid"]),
            ("thread_id", &["thread_id", "thread"]),
            ("artifact", &["uuid", "label"]),
            ("log", &["log", "uuid"]),
            ("based_on", &["commit", "head", "hash"]),
            ("based_on_hash", &["hash", "new_hash"]),
            ("from", &["id", "branch", "commit", "handle"]),
            ("to", &["id", "branch", "commit", "handle"]),
            ("cursor", &["next_cursor", "cursor"]),
            ("source", &["id", "uuid", "handle"]),
            ("target", &["id", "uuid", "handle"]),
        ];
        let alike = ALIKE.iter().find(|(name, _)| *name == field);
        let fields = alike.map_or(&[][..], |(_, fields)| fields);
        let fields: Vec<&str> = fields.iter().copied().chain([field]).collect();
        let known = self.by_field.get(*chance.pick(&fields));
        match known.filter(|known| !known.is_empty() && !chance.one_in(4)) {
            Some(known) => Some(chance.pick(known).clone()),
            None if self.all.is_empty() => None,
            None => Some(chance.pick(&self.all).clone()),
        }
    }

    /// The values that one field had.
    pub fn of(&self, field: &str) -> &[String] {
        self.by_field.get(field).map_or(&[], Vec::as_slice)
    }
}

/// A caller by name: two workers, an auditor, an operator, and one of another workspace.
pub fn caller(agent: &str) -> Caller {
    let mut caller = World::caller(agent);
    match agent {
        "eve" => caller.role = Role::Auditor,
        "olga" => caller.role = Role::Operator,
        "zed" => caller.workspace = "other-shed".into(),
        _ => {}
    }
    caller
}

/// Calls after which there is something of everything.
fn scenery() -> Vec<(&'static str, &'static str, Value)> {
    let ws = "garden-shed";
    let record = |title: &str| json!({"parent_id": null, "type": "note", "title": title, "summary": "s", "body": "One.\nTwo.\n"});
    let vertex = |branch: &str, title: &str| {
        json!({"workspace": ws, "branch": branch, "doc": "graph",
               "ops": [{"op": "node_upsert", "id": "h1", "type": "hypothesis", "title": title}]})
    };
    let beat = json!({"runtime": "codex_cli", "resumable": true, "status": "idle"});
    vec![
        (
            "ada",
            "graph_open",
            json!({"project": "default", "goal": "Ship"}),
        ),
        (
            "ada",
            "graph_plan",
            json!({"nodes": [
            {"ref": "a", "summary": "A", "properties": {"priority": 3}}, {"ref": "b", "summary": "B"},
            {"ref": "c", "summary": "C", "parent_ref": "b"}, {"ref": "d", "summary": "D"}]}),
        ),
        ("ada", "graph_next", json!({"claim": true, "count": 1})),
        (
            "ada",
            "graph_connect",
            json!({"edges": [{"from": "TASK-002", "to": "TASK-001", "type": "depends_on"}]}),
        ),
        ("ada", "graph_query", json!({"limit": 1})),
        (
            "ada",
            "create_project",
            json!({"id": "shop", "name": "Shop"}),
        ),
        ("ada", "create_record", record("Question")),
        ("bob", "create_record", record("Answer")),
        ("ada", "activate", json!({"id": "R001"})),
        (
            "ada",
            "update_record",
            json!({"id": "R001", "body": "One.\nThree.\n"}),
        ),
        ("ada", "save_session", json!({"summary": "s"})),
        ("ada", "list_records", json!({"limit": 1})),
        ("ada", "branchmind_init", json!({"workspace": ws})),
        (
            "ada",
            "branchmind_branch_create",
            json!({"workspace": ws, "name": "what-if"}),
        ),
        (
            "ada",
            "branchmind_notes_commit",
            json!({"workspace": ws, "branch": "what-if", "doc": "notes", "content": "c"}),
        ),
        ("ada", "branchmind_graph_apply", vertex("what-if", "theirs")),
        ("ada", "branchmind_graph_apply", vertex("main", "ours")),
        (
            "ada",
            "branchmind_graph_merge",
            json!({"workspace": ws, "from": "what-if", "into": "main"}),
        ),
        (
            "ada",
            "branchmind_graph_conflicts",
            json!({"workspace": ws, "into": "main"}),
        ),
        (
            "ada",
            "branchmind_think_card",
            json!({"workspace": ws, "target": "TASK-001",
            "card": {"id": "q1", "type": "question", "title": "t"}}),
        ),
        (
            "ada",
            "create_thread",
            json!({"title": "T", "participants": ["bob"]}),
        ),
        (
            "bob",
            "create_thread",
            json!({"title": "Private", "participants": ["olga"], "visibility": "private"}),
        ),
        ("bob", "heartbeat_session", beat),
        (
            "ada",
            "post_message",
            json!({"thread_id": "th_001", "body": "Hello there. The clock drifts."}),
        ),
        (
            "bob",
            "post_message",
            json!({"thread_id": "th_001", "body": "Why?"}),
        ),
        (
            "ada",
            "read_messages",
            json!({"thread_id": "th_001", "limit": 1}),
        ),
        ("ada", "list_threads", json!({"limit": 1})),
        (
            "ada",
            "garden_add",
            json!({"type": "Note", "description": "A thought. See R001."}),
        ),
        (
            "ada",
            "garden_entity_create",
            json!({"type": "service", "data": {"port": 1}}),
        ),
        (
            "ada",
            "garden_entity_create",
            json!({"type": "service", "data": {"port": 2, "deep": {"a": [1]}}}),
        ),
        (
            "ada",
            "garden_entities",
            json!({"type": "service", "limit": 1}),
        ),
        ("ada", "garden_changes", json!({"limit": 2})),
        (
            "ada",
            "garden_relate",
            json!({"kind": "groups_with", "source": "R001", "target": "R002"}),
        ),
        ("ada", "garden_relations", json!({"of": "R001", "limit": 1})),
        ("ada", "garden_timeline", json!({"limit": 2})),
        (
            "ada",
            "garden_artifact_create",
            json!({"label": "doc", "content": "a\nb\nc\n"}),
        ),
        (
            "bob",
            "garden_artifact_create",
            json!({"label": "other", "content": "x"}),
        ),
        ("ada", "garden_artifact_list", json!({"limit": 1})),
        (
            "ada",
            "garden_artifact_log",
            json!({"artifact": "doc", "limit": 1}),
        ),
        ("ada", "garden_fork", json!({})),
        (
            "bob",
            "reader_propose",
            json!({"artifact": "doc", "start": 1, "end": 1, "content": "x", "reasoning": "r"}),
        ),
        (
            "ada",
            "reader_proposals",
            json!({"artifact": "doc", "limit": 1}),
        ),
        ("ada", "search", json!({"query": "clock", "limit": 1})),
        ("ada", "get_recent_activity", json!({"limit": 1})),
        (
            "ada",
            "get_record_history",
            json!({"id": "R001", "limit": 1}),
        ),
        (
            "zed",
            "graph_plan",
            json!({"nodes": [{"ref": "a", "summary": "Elsewhere"}]}),
        ),
    ]
}
