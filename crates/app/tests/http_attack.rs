//! The attack matrix: every tool, by every role, in its own workspace and at another's, with a good
//! token and with every bad one.
//!
//! The tools come from the registry. One that has no line in `LINES` fails the test: whoever adds a
//! tool says here which arguments name somebody's object, and whether they write.

mod shell;
mod web;

use serde_json::{Value, json};
use understory::token::{self, jws};
use understory_model::Role;
use understory_tools::{Access, registry};
use web::{Answer, Server, Site, now};

/// Stands in every text of the victim's, and in no answer to anybody else.
const MARK: &str = "xyzzy";

/// What arguments may name: the victim's, and what exists nowhere. Both have the same length.
struct Names(Vec<(&'static str, String, &'static str)>);

impl Names {
    /// `conflict` is the one name that the victim's workspace chose itself.
    fn new(conflict: &str) -> Names {
        let known = [
            ("$NODE", "TASK-001", "TASK-777"),
            ("$RECORD", "R001", "R777"),
            ("$PROJECT", "secret", "nosuch"),
            ("$BRANCH", "hidden", "absent"),
            ("$CONFLICT", conflict, "conflict-fedcba9876543210"),
            ("$SESSION", "sess_victim", "sess_nobody"),
            ("$THREAD", "th_001", "th_777"),
        ];
        Names(
            known
                .map(|(name, there, nowhere)| (name, there.to_owned(), nowhere))
                .into(),
        )
    }
}

/// A tool, arguments that name an object, whether these write, and the roles that may not even so.
struct Line {
    tool: &'static str,
    arguments: &'static str,
    writes: bool,
    forbidden: &'static [Role],
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

const LINES: &[Line] = &[
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
    writes("update_record", r#"{"id": "$RECORD", "title": "mine"}"#),
    writes("transition", r#"{"id": "$RECORD", "to_state": "LATER"}"#),
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

impl Line {
    /// The arguments for a workspace, with the victim's names or with nobody's.
    fn arguments(&self, names: &Names, workspace: &str, victims: bool) -> Value {
        let mut text = self.arguments.replace("$WS", workspace);
        for (name, there, nowhere) in &names.0 {
            text = text.replace(name, if victims { there } else { nowhere });
        }
        serde_json::from_str(&text).unwrap_or_else(|_| panic!("{}: {text}", self.tool))
    }

    fn forbids(&self, role: Role) -> bool {
        (self.writes && !role.may_write()) || self.forbidden.contains(&role)
    }
}

/// Fills the victim's workspace with something of every kind; what it can be named by.
fn victim(site: &Site, server: &Server) -> Names {
    let token = site.token("victim", "victim", Role::Operator);
    let ok = |tool: &str, arguments: Value| server.ok(&token, tool, arguments);
    ok("graph_open", json!({"project": "default", "goal": MARK}));
    ok("graph_open", json!({"project": "secret", "goal": MARK}));
    ok(
        "graph_plan",
        json!({"nodes": [
        {"ref": "a", "summary": MARK}, {"ref": "b", "summary": MARK, "depends_on": ["a"]}]}),
    );
    let record = json!({"parent_id": null, "type": "q", "title": MARK, "summary": MARK,
                        "body": MARK});
    ok("create_record", record);
    ok("activate", json!({"id": "R001"}));
    ok("save_session", json!({"summary": MARK}));
    ok(
        "create_thread",
        json!({"title": MARK, "participants": ["xyzzy-2"]}),
    );
    ok("post_message", json!({"thread_id": "th_001", "body": MARK}));
    ok(
        "heartbeat_session",
        json!({"resumable": true, "runtime": MARK}),
    );
    let ws = "victim";
    ok(
        "branchmind_branch_create",
        json!({"workspace": ws, "name": "hidden"}),
    );
    ok(
        "branchmind_notes_commit",
        json!({"workspace": ws, "branch": "hidden", "doc": "notes",
                                         "content": MARK}),
    );
    ok(
        "branchmind_notes_commit",
        json!({"workspace": ws, "target": "TASK-001", "content": MARK}),
    );
    let upsert = |branch: &str, title: &str| {
        let node = json!({"op": "node_upsert", "id": MARK, "type": "hypothesis", "title": title});
        let ops = json!([node]);
        ok(
            "branchmind_graph_apply",
            json!({"workspace": ws, "branch": branch, "doc": "graph",
                                            "ops": ops}),
        )
    };
    upsert("main", MARK);
    ok(
        "branchmind_branch_create",
        json!({"workspace": ws, "name": "third"}),
    );
    upsert("main", "xyzzy one");
    upsert("third", "xyzzy two");
    let merged = ok(
        "branchmind_graph_merge",
        json!({"workspace": ws, "from": "third",
                                                     "into": "main", "doc": "graph"}),
    );
    let text = merged.to_string();
    let at = text.find("conflict-").expect("the two meet");
    Names::new(&text[at..at + "conflict-fedcba9876543210".len()])
}

/// Tokens that must not be believed, each by its fault.
fn bad_tokens(site: &Site, role: Role, workspace: &str) -> Vec<(&'static str, Option<String>)> {
    let (header, mut claims) = site.good();
    claims["role"] = json!(role.as_str());
    claims["workspace_id"] = json!(workspace);
    let with = |claim: &str, value: Value| {
        let mut claims = claims.clone();
        claims[claim] = value;
        Some(site.signed(&header, &claims))
    };
    let mut none = header.clone();
    none["alg"] = json!("none");
    let other = tempfile::tempdir().unwrap();
    let other = token::keys::Keys::in_folder(other.path()).rotate().unwrap();
    vec![
        ("missing", None),
        ("garbage", Some("garbage".to_owned())),
        (
            "unsigned",
            Some(jws::compact(&none, &claims, |_| Vec::new())),
        ),
        (
            "another key's",
            Some(jws::compact(&header, &claims, |bytes| other.sign(bytes))),
        ),
        ("expired", with("exp", json!(now() - 60))),
        ("for somebody else", with("aud", json!("other"))),
        ("another issuer's", with("iss", json!("other"))),
        ("from the future", with("iat", json!(now() + 600))),
        ("of no role", with("role", json!("root"))),
        ("revoked", with("jti", json!("revoked"))),
    ]
}

fn call(server: &Server, token: Option<&str>, line: &Line, arguments: &Value) -> Answer {
    let ask = server
        .ask("POST", &format!("/v1/{}", line.tool))
        .json(arguments);
    match token {
        Some(token) => ask.token(token).send(),
        None => ask.send(),
    }
}

/// What was refused, with the names that were asked for taken out.
fn nameless(answer: &Answer, names: &Names) -> String {
    let mut answer = answer.json();
    answer["error"]["request_id"] = Value::Null;
    let mut text = answer.to_string();
    for (name, there, nowhere) in &names.0 {
        text = text.replace(there, name).replace(nowhere, name);
    }
    text
}

#[test]
fn every_tool_has_its_line() {
    for tool in registry::tools() {
        let lines: Vec<&Line> = LINES.iter().filter(|line| line.tool == tool.name).collect();
        assert!(
            !lines.is_empty(),
            "{} has no line in LINES: say which of its arguments name an object",
            tool.name
        );
        for line in lines {
            let fits = match tool.access {
                Access::Read => !line.writes,
                Access::Write => line.writes,
                Access::ReadOrWrite => true,
            };
            assert!(
                fits,
                "{}: what its line says is not what it declares",
                tool.name
            );
            let known = (tool.schema)();
            for name in line
                .arguments(&Names::new("c"), "w", true)
                .as_object()
                .unwrap()
                .keys()
            {
                assert!(
                    known["properties"].get(name).is_some(),
                    "{}: {name}",
                    tool.name
                );
            }
        }
    }
    for line in LINES {
        assert!(
            registry::find(line.tool).is_some(),
            "{} is no tool",
            line.tool
        );
    }
}

on_both! {
    fn no_bad_token_opens_any_tool(backend) {
        let site = Site::new(backend);
        let server = site.serve_with(&[], &[("UNDERSTORY_RATE_PER_SECOND", "1000000")]);
        let names = victim(&site, &server);
        for workspace in ["victim", "mine"] {
            let revoke = ["token", "revoke", "revoked", "--workspace", workspace];
            assert!(site.command(&revoke).output().unwrap().status.success());
        }
        let before = site.shell.json(&["status", "--workspace", "victim"])["head_seq"].clone();
        for workspace in ["victim", "mine"] {
            for role in Role::ALL {
                for (fault, token) in bad_tokens(&site, role, workspace) {
                    for line in LINES {
                        let arguments = line.arguments(&names, workspace, true);
                        let answer = call(&server, token.as_deref(), line, &arguments);
                        let tried = format!("{} {role} {workspace} {fault}", line.tool);
                        assert_eq!(answer.status, 401, "{tried}: {}", answer.body);
                        assert_eq!(answer.code(), "UNAUTHORIZED", "{tried}");
                        assert!(!answer.body.contains(MARK), "{tried}");
                    }
                }
            }
        }
        let after = site.shell.json(&["status", "--workspace", "victim"])["head_seq"].clone();
        assert_eq!(after, before, "a call that was refused has written");
    }

    fn roles_may_what_they_may(backend) {
        let site = Site::new(backend);
        let server = site.serve_with(&[], &[("UNDERSTORY_RATE_PER_SECOND", "1000000")]);
        let names = victim(&site, &server);
        for role in [Role::Auditor, Role::Worker, Role::Orchestrator, Role::Operator] {
            let token = site.token("victim", "victim", role);
            for line in LINES {
                let arguments = line.arguments(&names, "victim", true);
                let answer = call(&server, Some(&token), line, &arguments);
                let tried = format!("{} {role}: {}", line.tool, answer.body);
                if line.forbids(role) {
                    assert_eq!((answer.status, answer.code().as_str()), (403, "FORBIDDEN"), "{tried}");
                } else {
                    assert!(![401, 403].contains(&answer.status), "{tried}");
                    assert!(answer.status < 500, "{tried}");
                }
            }
        }
        site.shell.ok(&["verify"]);
    }

    fn anothers_object_is_as_none(backend) {
        let site = Site::new(backend);
        let server = site.serve_with(&[], &[("UNDERSTORY_RATE_PER_SECOND", "1000000")]);
        let names = victim(&site, &server);
        let before = site.shell.json(&["status", "--workspace", "victim"])["head_seq"].clone();
        let mut count = 0;
        for role in Role::ALL {
            for line in LINES {
                // Each try has a workspace of its own, so that none sees what another left.
                let mut ask = |victims: bool| {
                    count += 1;
                    let mine = format!("mine{count:05}");
                    let token = site.token("eve", &mine, role);
                    call(&server, Some(&token), line, &line.arguments(&names, &mine, victims))
                };
                let (theirs, nowhere) = (ask(true), ask(false));
                let tried = format!("{} {role}: {} / {}", line.tool, theirs.body, nowhere.body);
                assert_eq!(theirs.status, nowhere.status, "{tried}");
                assert!(theirs.status < 500, "{tried}");
                // A search may say again what was searched for.
                let said = theirs.body.replace("\"query\":\"xyzzy\"", "");
                assert!(!said.contains(MARK), "{tried}");
                if theirs.status != 200 {
                    assert_eq!(nameless(&theirs, &names), nameless(&nowhere, &names), "{tried}");
                }
            }
        }
        let after = site.shell.json(&["status", "--workspace", "victim"])["head_seq"].clone();
        assert_eq!(after, before, "another's call has written here");
    }

    fn no_payload_names_another_caller(backend) {
        let site = Site::new(backend);
        let server = site.serve_with(&[], &[("UNDERSTORY_RATE_PER_SECOND", "1000000")]);
        let names = victim(&site, &server);
        let claims = [
            ("workspace", "OUT_OF_SCOPE_WORKSPACE"),
            ("workspace_id", "OUT_OF_SCOPE_WORKSPACE"),
            ("agent_id", "CLAIM_MISMATCH"),
            ("sender_agent_id", "CLAIM_MISMATCH"),
            ("sender_session_id", "CLAIM_MISMATCH"),
            ("created_by", "CLAIM_MISMATCH"),
        ];
        for role in Role::ALL {
            let token = site.token("eve", "mine", role);
            for line in LINES.iter().filter(|line| !line.forbids(role)) {
                let schema = registry::find(line.tool).map(|tool| (tool.schema)()).unwrap();
                for (claim, code) in claims {
                    if schema["properties"].get(claim).is_none() {
                        continue;
                    }
                    let mut arguments = line.arguments(&names, "mine", true);
                    arguments[claim] = json!("victim");
                    let answer = call(&server, Some(&token), line, &arguments);
                    let tried = format!("{} {role} {claim}: {}", line.tool, answer.body);
                    assert_eq!((answer.status, answer.code().as_str()), (403, code), "{tried}");
                    assert!(!answer.body.contains(MARK), "{tried}");
                }
            }
        }
    }
}
