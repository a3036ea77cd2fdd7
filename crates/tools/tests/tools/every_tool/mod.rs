//! Every tool called once with arguments that work, each call using what earlier ones answered. Each
//! answer is held against the schema that its tool declares.

mod conforms;

use std::collections::BTreeSet;

use serde_json::{Value, json};
use understory_testkit::World;
use understory_tools::{Tool, registry};

const WS: &str = "garden-shed";

/// Calls that are changed on their way, and what each answered.
pub struct Script<'w> {
    pub world: &'w World,
    /// Makes other arguments of the ones that work.
    change: &'w dyn Fn(&Tool, Value) -> Value,
    /// Told of each call that succeeded, with its arguments.
    after: &'w dyn Fn(&World, &Tool, &Value),
    said: Vec<(&'static str, Value)>,
}

impl<'w> Script<'w> {
    /// Calls every tool; what each answered, in one order.
    pub fn run(
        world: &'w World,
        change: &'w dyn Fn(&Tool, Value) -> Value,
        after: &'w dyn Fn(&World, &Tool, &Value),
    ) -> Vec<(&'static str, Value)> {
        let mut script = Script {
            world,
            change,
            after,
            said: Vec::new(),
        };
        script.graph();
        script.records();
        script.reasoning();
        script.threads();
        script.garden();
        script.reader();
        script.ends();
        script.examples();
        script.said
    }

    #[track_caller]
    fn call(&mut self, name: &str, args: Value) -> Value {
        let tool = registry::find(name).unwrap_or_else(|| panic!("no tool {name}"));
        let args = (self.change)(tool, args);
        let answer = self.world.call(name, args.clone());
        let answer = answer.unwrap_or_else(|fault| panic!("{name} {args}: {fault:?}"));
        conforms::check(&tool.output_schema(), &answer, tool.name);
        (self.after)(self.world, tool, &args);
        self.said.push((tool.name, answer.clone()));
        answer
    }

    /// A tool that has no call of its own here is called with its example.
    fn examples(&mut self) {
        let called: BTreeSet<&str> = self.said.iter().map(|(tool, _)| *tool).collect();
        for tool in registry::tools()
            .iter()
            .filter(|tool| !called.contains(tool.name))
        {
            self.call(tool.name, serde_json::from_str(tool.example).unwrap());
        }
    }

    fn graph(&mut self) {
        self.call("graph_open", json!({"project": "default", "goal": "Ship"}));
        self.call(
            "graph_plan",
            json!({"nodes": [
                {"ref": "a", "summary": "A", "properties": {"priority": 3}}, {"ref": "b", "summary": "B"},
                {"ref": "c", "summary": "C"}, {"ref": "d", "summary": "D"},
            ]}),
        );
        self.call(
            "graph_connect",
            json!({"edges": [{"from": "TASK-002", "to": "TASK-001", "type": "depends_on"}]}),
        );
        self.call("graph_next", json!({"claim": true, "count": 1}));
        self.call(
            "graph_update",
            json!({"updates": [{"node_id": "TASK-001", "summary": "A!", "add_evidence": [{"type": "note", "ref": "n"}]}]}),
        );
        self.call("graph_context", json!({"node_id": "TASK-001", "depth": 1}));
        self.call("graph_history", json!({"node_id": "TASK-001", "limit": 5}));
        self.call(
            "graph_query",
            json!({"limit": 3, "filter": {"resolved": false}}),
        );
        self.call(
            "graph_restructure",
            json!({"operations": [{"op": "drop", "node_id": "TASK-004", "reason": "r"}]}),
        );
        self.call("graph_onboard", json!({}));
        self.call("scratchpad", json!({"task": "TASK-002", "write": "w"}));
        self.call("search", json!({"query": "A", "limit": 2}));
        self.call("who", json!({"gone": true}));
        self.call("why", json!({"id": "TASK-001"}));
        self.call("toolset", json!({}));
    }

    fn records(&mut self) {
        self.call("create_project", json!({"id": "shop", "name": "Shop"}));
        self.call("list_projects", json!({}));
        self.call("get_project", json!({}));
        let new = |title: &str| json!({"parent_id": null, "type": "note", "title": title, "summary": "s", "body": "b"});
        self.call("create_record", new("Q"));
        self.call("create_record", new("A"));
        self.call("create_records", json!({"records": [new("B"), new("C")]}));
        self.call("get_project_overview", json!({}));
        self.call("search_records", json!({"query": "Q", "limit": 2}));
        self.call("list_records", json!({"limit": 2}));
        self.call("get_record_ref", json!({"id": "R001"}));
        self.call("activate", json!({"id": "R001"}));
        self.call("sync_session", json!({}));
        self.call("update_record", json!({"id": "R001", "body": "bb"}));
        self.call("save_session", json!({"summary": "s"}));
        self.call(
            "transition",
            json!({"id": "R001", "to_state": "RESOLVED", "resolved_by": "R002"}),
        );
        self.call("get_record_history", json!({"id": "R001", "limit": 3}));
        self.call(
            "get_record_diff",
            json!({"id": "R001", "from": "last_save"}),
        );
        self.call("get_active_sessions", json!({"record_id": "R002"}));
        self.call("get_recent_activity", json!({"limit": 2}));
    }

    fn reasoning(&mut self) {
        let ws = |mut args: Value| {
            args["workspace"] = WS.into();
            args
        };
        self.call("branchmind_init", ws(json!({})));
        self.call("branchmind_status", ws(json!({})));
        self.call("branchmind_branch_create", ws(json!({"name": "what-if"})));
        self.call("branchmind_branch_list", ws(json!({"limit": 5})));
        self.call("branchmind_checkout", ws(json!({"ref": "main"})));
        self.call(
            "branchmind_notes_commit",
            ws(json!({"branch": "what-if", "doc": "notes", "content": "c"})),
        );
        self.call(
            "branchmind_commit",
            ws(json!({"branch": "what-if", "doc": "notes", "message": "m"})),
        );
        for tool in ["branchmind_show", "branchmind_log"] {
            self.call(
                tool,
                ws(json!({"branch": "what-if", "doc": "notes", "limit": 3})),
            );
        }
        self.call(
            "branchmind_export",
            ws(json!({"target": "TASK-001", "notes_limit": 2})),
        );
        self.call(
            "branchmind_diff",
            ws(json!({"from": "main", "to": "what-if", "limit": 2})),
        );
        self.call(
            "branchmind_merge",
            ws(json!({"from": "what-if", "into": "main", "limit": 9})),
        );
        let node = |title: &str| json!([{"op": "node_upsert", "id": "h1", "type": "hypothesis", "title": title}]);
        for (branch, title) in [("what-if", "theirs"), ("main", "ours")] {
            self.call(
                "branchmind_graph_apply",
                ws(json!({"branch": branch, "doc": "graph", "ops": node(title)})),
            );
        }
        self.call(
            "branchmind_graph_query",
            ws(json!({"branch": "main", "doc": "graph", "limit": 2})),
        );
        self.call(
            "branchmind_graph_validate",
            ws(json!({"branch": "main", "doc": "graph"})),
        );
        self.call(
            "branchmind_graph_diff",
            ws(json!({"from": "main", "to": "what-if"})),
        );
        self.call(
            "branchmind_graph_merge",
            ws(json!({"from": "what-if", "into": "main"})),
        );
        let listed = self.call(
            "branchmind_graph_conflicts",
            ws(json!({"into": "main", "limit": 3})),
        );
        let conflict = listed["conflicts"][0]["conflict_id"].clone();
        assert!(conflict.is_string(), "{listed}");
        self.call(
            "branchmind_graph_conflict_show",
            ws(json!({ "conflict_id": conflict })),
        );
        self.call(
            "branchmind_graph_conflict_resolve",
            ws(json!({"conflict_id": conflict, "resolution": "use_from"})),
        );
        self.call("branchmind_think_template", ws(json!({"type": "note"})));
        self.call(
            "branchmind_think_card",
            ws(json!({"target": "TASK-001", "card": {"id": "q1", "type": "question", "title": "t"}})),
        );
        self.call(
            "branchmind_think_context",
            ws(json!({"target": "TASK-001", "limit_cards": 3})),
        );
        self.call("branchmind_think_next", ws(json!({"target": "TASK-001"})));
        self.call("tasks_radar", ws(json!({"task": "TASK-001"})));
        self.call("tasks_delta", ws(json!({"since": 0, "limit": 2})));
    }

    fn threads(&mut self) {
        self.call(
            "create_thread",
            json!({"title": "T", "participants": ["bob"]}),
        );
        self.call("list_threads", json!({"limit": 2}));
        self.call("get_thread", json!({"thread_id": "th_001"}));
        self.call(
            "post_message",
            json!({"thread_id": "th_001", "body": "hello", "schema_version": 1}),
        );
        self.call(
            "read_messages",
            json!({"thread_id": "th_001", "since_seq": 0, "limit": 3}),
        );
        self.call(
            "wait_for_messages",
            json!({"thread_ids": ["th_001"], "since": 0, "timeout_s": 0}),
        );
        self.call(
            "ack_read",
            json!({"thread_id": "th_001", "last_read_seq": 1}),
        );
        self.call(
            "summarize_thread",
            json!({"thread_id": "th_001", "max_messages": 2}),
        );
        self.call(
            "heartbeat_session",
            json!({"runtime": "codex_cli", "resumable": true}),
        );
        let beat = json!({"runtime": "codex_cli", "resumable": true, "status": "idle"});
        let bob = World::caller("bob");
        self.world.call_as(&bob, "heartbeat_session", beat).unwrap();
        self.call(
            "trigger_participant",
            json!({"thread_id": "th_001", "target_agent_id": "bob"}),
        );
        self.call("list_wakes", json!({"thread_id": "th_001"}));
        self.call(
            "update_thread_status",
            json!({"thread_id": "th_001", "status": "blocked", "reason": "r"}),
        );
    }

    fn garden(&mut self) {
        let added = self.call(
            "garden_add",
            json!({"type": "Note", "description": "A thought."}),
        );
        let item = added["item"]["uuid"]
            .as_str()
            .or(added["uuid"].as_str())
            .unwrap()
            .to_owned();
        self.call("garden_get", json!({ "id": item }));
        self.call("garden_timeline", json!({"limit": 3}));
        self.call("garden_refs", json!({"content": "See R001"}));
        let made = self.call(
            "garden_entity_create",
            json!({"type": "service", "data": {"port": 1}}),
        );
        let (uuid, hash) = version(&made);
        let changed = self.call(
            "garden_entity_update",
            json!({"uuid": uuid, "data": {"port": 2}, "based_on_hash": hash, "based_on_version": 1}),
        );
        self.call(
            "garden_entity_history",
            json!({"uuid": uuid, "at": 1, "limit": 2}),
        );
        let (_, hash) = version(&changed);
        self.call(
            "garden_entity_revert",
            json!({"uuid": uuid, "to": 1, "based_on_hash": hash}),
        );
        let other = self.call(
            "garden_entity_create",
            json!({"type": "service", "data": {}}),
        );
        self.call(
            "garden_entity_supersede",
            json!({"uuid": uuid, "by": version(&other).0}),
        );
        self.call("garden_entities", json!({"type": "service"}));
        let changes = self.call("garden_changes", json!({"limit": 2}));
        let cursor = changes["cursor"]
            .as_str()
            .or(changes["next_cursor"].as_str());
        self.call("garden_changes_ack", json!({ "cursor": cursor.unwrap() }));
        self.call(
            "garden_relate",
            json!({"kind": "groups_with", "source": "R001", "target": "R002"}),
        );
        self.call("garden_relations", json!({"of": "R001", "limit": 2}));
        self.call("garden_trace", json!({"item": "R001", "max_depth": 3}));
        self.call("garden_fossilize", json!({"threshold": 0.1}));
        let forked = self.call("garden_fork", json!({}));
        let log = forked["log"]["uuid"]
            .as_str()
            .or(forked["log"].as_str())
            .unwrap()
            .to_owned();
        self.call("garden_log", json!({"limit": 2}));
        self.call("garden_frame", json!({}));
        self.call("garden_stack", json!({"limit": 5}));
        self.call(
            "garden_collapse",
            json!({"log": log, "summary": "Learned."}),
        );
        self.call("garden_reopen", json!({ "log": log }));
        self.call("garden_undo", json!({ "item": item }));
    }

    fn reader(&mut self) {
        let made = self.call(
            "garden_artifact_create",
            json!({"label": "doc", "content": "a\nb\nc\n"}),
        );
        let first = commit(&made);
        let ours = self.call(
            "garden_artifact_commit",
            json!({"artifact": "doc", "based_on": first, "content": "A\nb\nc\n"}),
        );
        let theirs = self.call(
            "garden_artifact_commit",
            json!({"artifact": "doc", "based_on": first, "content": "a\nb\nC\n", "fork": true}),
        );
        self.call(
            "garden_artifact_show",
            json!({"artifact": "doc", "start": 1, "end": 2}),
        );
        self.call(
            "garden_artifact_log",
            json!({"artifact": "doc", "limit": 5}),
        );
        self.call(
            "garden_artifact_diff",
            json!({"artifact": "doc", "from": first}),
        );
        self.call(
            "garden_artifact_merge",
            json!({"artifact": "doc", "ours": commit(&ours), "theirs": commit(&theirs)}),
        );
        self.call("garden_artifact_list", json!({"limit": 5}));
        self.call("reader_search", json!({"artifact": "doc", "query": "b"}));
        self.call(
            "reader_scroll",
            json!({"artifact": "doc", "start": 1, "end": 2}),
        );
        self.call(
            "reader_select",
            json!({"artifact": "doc", "start": 1, "end": 1}),
        );
        self.call("reader_note", json!({"content": "n"}));
        self.call(
            "reader_propose",
            json!({"artifact": "doc", "start": 2, "end": 2, "content": "B", "reasoning": "r"}),
        );
        self.call("reader_proposals", json!({"artifact": "doc"}));
        // Who proposes does not decide.
        self.world
            .call_as(
                &World::caller("bob"),
                "reader_propose",
                json!({"artifact": "doc", "start": 1, "end": 1, "content": "x", "reasoning": "r"}),
            )
            .unwrap();
        self.call(
            "reader_decide",
            json!({"proposal": "prop_002", "accept": false}),
        );
        self.call(
            "garden_artifact_relabel",
            json!({"artifact": "doc", "label": "paper"}),
        );
    }

    fn ends(&mut self) {
        self.call("close_session", json!({}));
    }
}

/// An entity's name and hash.
fn version(answer: &Value) -> (String, String) {
    let entity = if answer["entity"].is_object() {
        &answer["entity"]
    } else {
        answer
    };
    let text = |name: &str| {
        entity[name]
            .as_str()
            .unwrap_or_else(|| panic!("{name}: {answer}"))
            .to_owned()
    };
    (text("uuid"), text("hash"))
}

fn commit(answer: &Value) -> String {
    let found = answer["artifact"]["head"].as_str().or_else(|| {
        let names = ["commit", "hash", "head"].iter();
        names
            .clone()
            .find_map(|name| answer[name].as_str().or(answer[name]["hash"].as_str()))
    });
    found.unwrap_or_else(|| panic!("{answer}")).to_owned()
}
