//! Every tool with arguments that name somebody's object, and every argument that names somebody.

pub mod tokens;

use std::sync::LazyLock;

use serde_json::Value;
use understory_model::Role;
use understory_tools::{Access, Tool, registry};

/// Stands in every text of the victim's, and in no answer to anybody else.
pub const MARK: &str = "xyzzy";

/// What arguments may name: the victim's, and what exists nowhere. Both have the same length.
pub struct Names(pub Vec<(&'static str, String, &'static str)>);

impl Names {
    /// Names that the victim's workspace chose itself are given.
    pub fn new(conflict: &str, item: &str, entity: &str, log: &str, artifact: &str) -> Names {
        let known = [
            ("$NODE", "TASK-001", "TASK-777"),
            ("$RECORD", "R001", "R777"),
            ("$PROJECT", "secret", "nosuch"),
            ("$BRANCH", "hidden", "absent"),
            ("$CONFLICT", conflict, "conflict-fedcba9876543210"),
            ("$SESSION", "sess_victim", "sess_nobody"),
            ("$THREAD", "th_001", "th_777"),
            ("$PROPOSAL", "prop_001", "prop_777"),
            ("$ITEM", item, "item_0199d3a0-0000-7000-8000-000000000001"),
            (
                "$ENTITY",
                entity,
                "entity_0199d3a0-0000-7000-8000-000000000002",
            ),
            (
                "$ARTIFACT",
                artifact,
                "entity_0199d3a0-0000-7000-8000-000000000004",
            ),
            ("$LABEL", "hidden_doc", "absent_doc"),
            ("$LOG", log, "uuid_0199d3a0-0000-7000-8000-000000000003"),
        ];
        Names(
            known
                .map(|(name, there, nowhere)| (name, there.to_owned(), nowhere))
                .into(),
        )
    }
}

/// What an argument that names an agent or a session says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whose {
    /// Who is calling, which the token says: anything else is refused.
    Caller,
    /// Whom the call is about: another's name is what it is for.
    Other,
    /// Whose it is: the caller, or anybody where the caller directs.
    OwnOrDirected,
}

/// Every argument of any tool whose name could stand for somebody.
pub const NAMES_SOMEBODY: &[(&str, Whose)] = &[
    ("workspace", Whose::Caller),
    ("workspace_id", Whose::Caller),
    ("agent_id", Whose::Caller),
    ("sender_agent_id", Whose::Caller),
    ("sender_session_id", Whose::Caller),
    ("created_by", Whose::Caller),
    // `close_session` of another is for those who direct.
    ("session_id", Whose::Caller),
    ("participant", Whose::OwnOrDirected),
    // Whose words or deed an item tells of: the caller, its `user` or an `agent`.
    ("sender", Whose::OwnOrDirected),
    ("caller", Whose::OwnOrDirected),
    ("participants", Whose::Other),
    ("add_participants", Whose::Other),
    // Oneself; others by whoever made the thread or directs.
    ("remove_participants", Whose::OwnOrDirected),
    ("target_agent_id", Whose::Other),
    // Filters.
    ("agent", Whose::Other),
    ("actor", Whose::Other),
    ("claimed_by", Whose::Other),
    // Which session this one continues: recorded, and nothing is done to that one.
    ("parent_session", Whose::Other),
];

/// A tool, arguments that name an object, whether these write, and the roles that may not even so.
#[derive(Clone, Copy)]
pub struct Line {
    pub tool: &'static str,
    pub arguments: &'static str,
    pub writes: bool,
    pub forbidden: &'static [Role],
}

const fn reads(tool: &'static str, arguments: &'static str) -> Line {
    Line {
        tool,
        arguments,
        writes: false,
        forbidden: &[],
    }
}

const fn writes(tool: &'static str, arguments: &'static str) -> Line {
    Line {
        writes: true,
        ..reads(tool, arguments)
    }
}

/// A line for each tool: those below and, for a tool without one, a line made from its example.
pub static LINES: LazyLock<Vec<Line>> = LazyLock::new(|| {
    let without = |tool: &&Tool| CHOSEN.iter().all(|line| line.tool != tool.name);
    let made = registry::tools().iter().filter(without).map(from_example);
    CHOSEN.iter().copied().chain(made).collect()
});

/// The tool's example, with the victim's objects where it names some.
fn from_example(tool: &Tool) -> Line {
    let mut arguments = serde_json::from_str(tool.example).expect(tool.name);
    put_names(&mut arguments);
    Line {
        tool: tool.name,
        arguments: arguments.to_string().leak(),
        writes: tool.access != Access::Read,
        forbidden: &[],
    }
}

fn put_names(value: &mut Value) {
    match value {
        Value::String(text) => {
            if let Some(name) = name_like(text) {
                *text = name.to_owned();
            }
        }
        Value::Array(values) => values.iter_mut().for_each(put_names),
        Value::Object(fields) => {
            fields.values_mut().for_each(put_names);
            if let Some(workspace) = fields.get_mut("workspace") {
                *workspace = "$WS".into();
            }
        }
        _ => {}
    }
}

/// Which of [`Names`] is of the same kind as a handle or id.
fn name_like(text: &str) -> Option<&'static str> {
    let kinds = [
        ("TASK-", "$NODE"),
        ("R", "$RECORD"),
        ("th_", "$THREAD"),
        ("prop_", "$PROPOSAL"),
        ("item_", "$ITEM"),
        ("entity_", "$ENTITY"),
        ("uuid_", "$LOG"),
    ];
    let numbered = |rest: &str| rest.starts_with(|c: char| c.is_ascii_digit());
    let (_, name) = kinds
        .into_iter()
        .find(|(prefix, _)| text.strip_prefix(prefix).is_some_and(numbered))?;
    Some(name)
}

#[test]
fn a_tool_without_a_line_is_attacked_with_its_example() {
    let tool = registry::find("graph_connect").unwrap();
    let line = from_example(tool);
    assert!(line.writes);
    assert!(
        line.arguments.contains(r#""from":"$NODE""#),
        "{}",
        line.arguments
    );
    assert!(!line.arguments.contains("TASK-"), "{}", line.arguments);
}

const CHOSEN: &[Line] = &[
    reads("search", r#"{"query": "xyzzy $NODE"}"#),
    reads("who", r#"{"gone": true}"#),
    writes("create_project", r#"{"id": "$PROJECT", "name": "x"}"#),
    reads("list_projects", "{}"),
    reads("get_project", r#"{"id": "$PROJECT"}"#),
    reads("get_project_overview", r#"{"project_id": "$PROJECT"}"#),
    reads(
        "search_records",
        r#"{"query": "xyzzy", "project_id": "$PROJECT"}"#,
    ),
    reads("list_records", r#"{"parent_id": "$RECORD"}"#),
    reads("get_record_ref", r#"{"id": "$RECORD"}"#),
    writes("activate", r#"{"id": "$RECORD"}"#),
    writes("sync_session", r#"{"session_id": "$SESSION"}"#),
    writes(
        "create_record",
        r#"{"parent_id": "$RECORD", "type": "q", "title": "t", "summary": "s", "body": "b"}"#,
    ),
    writes(
        "create_records",
        r#"{"records": [{"parent_id": "$RECORD", "type": "q", "title": "t", "summary": "s", "body": "b"}]}"#,
    ),
    writes("update_record", r#"{"id": "$RECORD", "title": "mine"}"#),
    writes(
        "transition",
        r#"{"id": "$RECORD", "to_state": "LATER", "reason": "r"}"#,
    ),
    writes("save_session", r#"{"session_id": "$SESSION"}"#),
    writes("close_session", r#"{"session_id": "$SESSION"}"#),
    reads("get_record_history", r#"{"id": "$RECORD"}"#),
    reads(
        "get_record_diff",
        r#"{"id": "$RECORD", "from": "last_save"}"#,
    ),
    reads("get_active_sessions", r#"{"record_id": "$RECORD"}"#),
    reads("get_recent_activity", r#"{"record_id": "$RECORD"}"#),
    writes("branchmind_init", r#"{"workspace": "$WS"}"#),
    reads("branchmind_status", r#"{"workspace": "$WS"}"#),
    writes(
        "branchmind_branch_create",
        r#"{"workspace": "$WS", "name": "b", "from": "$BRANCH"}"#,
    ),
    reads("branchmind_branch_list", r#"{"workspace": "$WS"}"#),
    writes(
        "branchmind_checkout",
        r#"{"workspace": "$WS", "ref": "$BRANCH"}"#,
    ),
    writes(
        "branchmind_notes_commit",
        r#"{"workspace": "$WS", "target": "$NODE", "content": "x"}"#,
    ),
    writes(
        "branchmind_commit",
        r#"{"workspace": "$WS", "target": "$NODE", "message": "x"}"#,
    ),
    reads(
        "branchmind_show",
        r#"{"workspace": "$WS", "branch": "$BRANCH", "doc": "notes"}"#,
    ),
    reads(
        "branchmind_log",
        r#"{"workspace": "$WS", "target": "$NODE"}"#,
    ),
    reads(
        "branchmind_export",
        r#"{"workspace": "$WS", "target": "$NODE"}"#,
    ),
    reads(
        "branchmind_diff",
        r#"{"workspace": "$WS", "from": "main", "to": "$BRANCH"}"#,
    ),
    writes(
        "branchmind_merge",
        r#"{"workspace": "$WS", "from": "$BRANCH", "into": "main"}"#,
    ),
    writes(
        "branchmind_graph_apply",
        r#"{"workspace": "$WS", "target": "$NODE",
            "ops": [{"op": "node_upsert", "id": "h1", "type": "hypothesis", "title": "t"}]}"#,
    ),
    reads(
        "branchmind_graph_query",
        r#"{"workspace": "$WS", "target": "$NODE"}"#,
    ),
    reads(
        "branchmind_graph_validate",
        r#"{"workspace": "$WS", "target": "$NODE"}"#,
    ),
    reads(
        "branchmind_graph_diff",
        r#"{"workspace": "$WS", "from": "main", "to": "$BRANCH"}"#,
    ),
    writes(
        "branchmind_graph_merge",
        r#"{"workspace": "$WS", "from": "$BRANCH", "into": "main"}"#,
    ),
    reads(
        "branchmind_graph_conflicts",
        r#"{"workspace": "$WS", "into": "$BRANCH"}"#,
    ),
    reads(
        "branchmind_graph_conflict_show",
        r#"{"workspace": "$WS", "conflict_id": "$CONFLICT"}"#,
    ),
    writes(
        "branchmind_graph_conflict_resolve",
        r#"{"workspace": "$WS", "conflict_id": "$CONFLICT", "resolution": "use_from"}"#,
    ),
    reads(
        "branchmind_think_template",
        r#"{"workspace": "$WS", "type": "hypothesis"}"#,
    ),
    writes(
        "branchmind_think_card",
        r#"{"workspace": "$WS", "target": "$NODE",
            "card": {"id": "h2", "type": "hypothesis", "title": "t"}}"#,
    ),
    reads(
        "branchmind_think_context",
        r#"{"workspace": "$WS", "target": "$NODE"}"#,
    ),
    reads(
        "branchmind_think_next",
        r#"{"workspace": "$WS", "target": "$NODE"}"#,
    ),
    reads("tasks_radar", r#"{"workspace": "$WS", "task": "$NODE"}"#),
    reads("tasks_delta", r#"{"workspace": "$WS", "since": 0}"#),
    writes("create_thread", r#"{"title": "t", "workspace_id": "$WS"}"#),
    reads("list_threads", "{}"),
    reads("get_thread", r#"{"thread_id": "$THREAD"}"#),
    writes(
        "post_message",
        r#"{"thread_id": "$THREAD", "body": "mine"}"#,
    ),
    reads("read_messages", r#"{"thread_id": "$THREAD"}"#),
    reads(
        "wait_for_messages",
        r#"{"thread_ids": ["$THREAD"], "timeout_s": 0}"#,
    ),
    writes(
        "wait_for_messages",
        r#"{"ack": {"$THREAD": 1}, "timeout_s": 0}"#,
    ),
    writes(
        "ack_read",
        r#"{"thread_id": "$THREAD", "last_read_seq": 1}"#,
    ),
    writes(
        "update_thread_status",
        r#"{"thread_id": "$THREAD", "status": "blocked"}"#,
    ),
    reads("summarize_thread", r#"{"thread_id": "$THREAD"}"#),
    writes("heartbeat_session", r#"{"resumable": true}"#),
    writes(
        "trigger_participant",
        r#"{"thread_id": "$THREAD", "target_agent_id": "victim"}"#,
    ),
    reads("list_wakes", r#"{"thread_id": "$THREAD"}"#),
    writes(
        "garden_add",
        r#"{"type": "Note", "description": "mine", "log": "$LOG"}"#,
    ),
    reads("garden_get", r#"{"id": "$ITEM"}"#),
    reads("garden_get", r#"{"id": "$ENTITY"}"#),
    reads("garden_timeline", r#"{"entity": "$ENTITY"}"#),
    reads("garden_timeline", r#"{"project": "$PROJECT"}"#),
    writes("garden_undo", r#"{"item": "$ITEM"}"#),
    reads("garden_refs", r#"{"content": "@$ITEM @$ENTITY"}"#),
    writes(
        "garden_entity_create",
        r#"{"type": "t", "data": {}, "group_id": "$ENTITY"}"#,
    ),
    writes(
        "garden_entity_update",
        r#"{"uuid": "$ENTITY", "data": {}, "based_on_hash": "x"}"#,
    ),
    reads("garden_entity_history", r#"{"uuid": "$ENTITY"}"#),
    writes(
        "garden_entity_revert",
        r#"{"uuid": "$ENTITY", "to": 1, "based_on_hash": "x"}"#,
    ),
    writes(
        "garden_entity_supersede",
        r#"{"uuid": "$ENTITY", "by": "$RECORD"}"#,
    ),
    reads("garden_entities", r#"{"group": "$ENTITY"}"#),
    reads("garden_changes", r#"{"project": "$PROJECT"}"#),
    writes(
        "garden_changes_ack",
        r#"{"cursor": "x", "project": "$PROJECT"}"#,
    ),
    writes(
        "garden_artifact_create",
        r#"{"label": "mine", "content": "mine", "project": "$PROJECT"}"#,
    ),
    writes(
        "garden_artifact_commit",
        r#"{"artifact": "$ARTIFACT", "content": "mine"}"#,
    ),
    writes(
        "garden_artifact_commit",
        r#"{"artifact": "$LABEL", "ops": "-1"}"#,
    ),
    reads("garden_artifact_show", r#"{"artifact": "$ARTIFACT"}"#),
    reads("garden_artifact_show", r#"{"artifact": "$LABEL"}"#),
    reads("garden_artifact_log", r#"{"artifact": "$ARTIFACT"}"#),
    reads(
        "garden_artifact_diff",
        r#"{"artifact": "$ARTIFACT", "from": "0123456"}"#,
    ),
    writes(
        "garden_artifact_merge",
        r#"{"artifact": "$ARTIFACT", "ours": "0123456", "theirs": "0123457"}"#,
    ),
    writes(
        "garden_artifact_relabel",
        r#"{"artifact": "$ARTIFACT", "label": "mine"}"#,
    ),
    reads("garden_artifact_list", r#"{"project": "$PROJECT"}"#),
    writes(
        "garden_relate",
        r#"{"kind": "mentions", "source": "$ITEM", "target": "$ENTITY"}"#,
    ),
    reads("garden_relations", r#"{"of": "$ITEM"}"#),
    reads("garden_trace", r#"{"item": "$ITEM"}"#),
    writes("garden_fossilize", r#"{"project": "$PROJECT"}"#),
    writes("garden_fork", r#"{"parent": "$LOG"}"#),
    reads("garden_log", r#"{"log": "$LOG", "inherited": true}"#),
    writes("garden_collapse", r#"{"log": "$LOG", "summary": "over"}"#),
    writes("garden_reopen", r#"{"log": "$LOG"}"#),
    reads("garden_stack", r#"{"project": "$PROJECT"}"#),
    writes("garden_frame", r#"{"log": "$LOG", "head": "$ITEM"}"#),
    reads("garden_frame", r#"{"project": "$PROJECT"}"#),
    writes(
        "reader_search",
        r#"{"artifact": "$ARTIFACT", "query": "xyzzy"}"#,
    ),
    writes(
        "reader_scroll",
        r#"{"artifact": "$ARTIFACT", "start": 1, "end": 9}"#,
    ),
    writes(
        "reader_select",
        r#"{"artifact": "$LABEL", "start": 1, "end": 1}"#,
    ),
    writes("reader_note", r#"{"content": "of nobody's"}"#),
    writes(
        "reader_propose",
        r#"{"artifact": "$ARTIFACT", "start": 1, "end": 1, "content": "mine", "reasoning": "r"}"#,
    ),
    reads("reader_proposals", r#"{"artifact": "$ARTIFACT"}"#),
    writes(
        "reader_decide",
        r#"{"proposal": "$PROPOSAL", "accept": false}"#,
    ),
    reads("why", r#"{"id": "$ITEM"}"#),
    reads("scratchpad", r#"{"task": "$NODE"}"#),
    writes(
        "scratchpad",
        r#"{"log": "$LOG", "write": "mine", "keep": true}"#,
    ),
    reads("graph_onboard", r#"{"project": "$PROJECT"}"#),
    reads("graph_open", r#"{"project": "$PROJECT"}"#),
    writes(
        "graph_plan",
        r#"{"nodes": [{"ref": "a", "summary": "s", "depends_on": ["$NODE"]}]}"#,
    ),
    writes("graph_next", r#"{"scope": "$NODE", "claim": true}"#),
    reads("graph_context", r#"{"node_id": "$NODE"}"#),
    writes(
        "graph_update",
        r#"{"updates": [{"node_id": "$NODE", "summary": "mine"}]}"#,
    ),
    writes(
        "graph_connect",
        r#"{"edges": [{"from": "$NODE", "to": "$NODE", "type": "depends_on"}]}"#,
    ),
    reads(
        "graph_query",
        r#"{"project": "$PROJECT", "filter": {"text": "xyzzy"}}"#,
    ),
    writes(
        "graph_restructure",
        r#"{"operations": [{"op": "drop", "node_id": "$NODE", "reason": "r"}]}"#,
    ),
    reads("graph_history", r#"{"node_id": "$NODE"}"#),
    reads("toolset", "{}"),
];
