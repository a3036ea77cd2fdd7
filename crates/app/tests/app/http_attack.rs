//! The attack matrix: every tool, by every role, in its own workspace and at another's, with a good
//! token and with every bad one.
//!
//! The tools come from the registry. `attack/mod.rs` says which arguments name somebody's object and
//! whether they write; a tool without such a line is attacked with its example.

use crate::attack::tokens::{REVOKED, bad_tokens};
use crate::attack::{LINES, Line, MARK, NAMES_SOMEBODY, Names};
use crate::web::{Answer, AppState, Server};
use serde_json::{Value, json};
use understory_model::Role;
use understory_testkit::{Backend, on_both};
use understory_tools::{Access, registry};

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
fn victim(site: &AppState, server: &Server) -> Names {
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
    let conflict = &text[at..at + "conflict-fedcba9876543210".len()];
    let added = ok("garden_add", json!({"type": "Note", "description": MARK}));
    let made = ok(
        "garden_entity_create",
        json!({"type": "secret", "data": {"text": MARK}}),
    );
    let name = |value: &Value| value.as_str().expect("a name").to_owned();
    let (item, log) = (name(&added["item"]["uuid"]), name(&added["item"]["log"]));
    let artifact = ok(
        "garden_artifact_create",
        json!({"label": "hidden_doc", "content": MARK}),
    );
    let artifact = name(&artifact["artifact"]["uuid"]);
    let proposal = json!({"artifact": "hidden_doc", "start": 1, "end": 1,
        "content": "xyzzy too", "reasoning": MARK});
    ok("reader_propose", proposal);
    let entity = name(&made["entity"]["uuid"]);
    Names::new(conflict, &item, &entity, &log, &artifact)
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
fn each_line_fits_its_tool() {
    for tool in registry::tools() {
        for line in LINES.iter().filter(|line| line.tool == tool.name) {
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
            let known = tool.input_schema();
            for name in line
                .arguments(&Names::new("c", "i", "e", "l", "a"), "w", true)
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
    for line in LINES.iter() {
        assert!(
            registry::find(line.tool).is_some(),
            "{} is no tool",
            line.tool
        );
    }
}

/// The words in names of arguments that may stand for an agent or a session.
const SOMEBODY: [&str; 11] = [
    "agent",
    "session",
    "participant",
    "sender",
    "caller",
    "actor",
    "claimed",
    "owner",
    "author",
    "workspace",
    "created_by",
];

/// Every argument of a tool at any depth, by its name.
fn arguments(schema: &Value, found: &mut Vec<String>) {
    if let Some(properties) = schema["properties"].as_object() {
        found.extend(properties.keys().cloned());
    }
    match schema {
        Value::Object(fields) => fields.values().for_each(|inner| arguments(inner, found)),
        Value::Array(some) => some.iter().for_each(|inner| arguments(inner, found)),
        _ => {}
    }
}

#[test]
fn every_argument_that_names_somebody_is_decided() {
    let mut named = Vec::new();
    for tool in registry::tools() {
        arguments(&tool.input_schema(), &mut named);
    }
    named.retain(|name| SOMEBODY.iter().any(|word| name.contains(word)));
    named.sort_unstable();
    named.dedup();
    for name in &named {
        assert!(
            NAMES_SOMEBODY.iter().any(|(known, _)| known == name),
            "{name}: say in NAMES_SOMEBODY what it may name"
        );
    }
    for (known, _) in NAMES_SOMEBODY {
        assert!(
            named.iter().any(|name| name == known),
            "no tool takes {known}"
        );
    }
}

#[on_both]
fn only_ones_own_frame_and_words_are_ones_own(backend: Backend) {
    let site = AppState::new(backend);
    let server = site.serve();
    let (ada, eve) = (
        site.token("ada", "team", Role::Worker),
        site.token("eve", "team", Role::Worker),
    );
    let added = server.ok(
        &ada,
        "garden_add",
        json!({"type": "Note", "description": "one"}),
    );
    let log = added["item"]["log"].clone();
    let before = server.ok(&ada, "garden_frame", json!({}));
    let fork = server.call(
        &eve,
        "garden_fork",
        json!({"parent": log, "participant": "ada"}),
    );
    assert_eq!(
        (fork.status, fork.code().as_str()),
        (403, "INSUFFICIENT_AUTHORITY"),
        "{}",
        fork.body
    );
    assert_eq!(server.ok(&ada, "garden_frame", json!({})), before);
    for said in [
        json!({"type": "Message", "description": "mine", "sender": "ada"}),
        json!({"type": "ToolCall", "tool": "t", "operation": "o", "caller": "ada"}),
        json!({"type": "Deployed", "sender": "ada"}),
    ] {
        let answer = server.call(&eve, "garden_add", said.clone());
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (403, "CLAIM_MISMATCH"),
            "{said}: {}",
            answer.body
        );
    }
    for sender in ["eve", "user", "agent"] {
        let said = json!({"type": "Message", "description": "mine", "sender": sender});
        let item = server.ok(&eve, "garden_add", said)["item"].clone();
        assert_eq!(
            (&item["sender"], &item["actor"]),
            (&json!(sender), &json!("eve"))
        );
    }
    let directing = site.token("boss", "team", Role::Orchestrator);
    let said = json!({"type": "Message", "description": "as ada told me", "sender": "ada"});
    assert_eq!(
        server.ok(&directing, "garden_add", said)["item"]["actor"],
        "boss"
    );
    let moved = server.ok(
        &directing,
        "garden_fork",
        json!({"parent": log, "participant": "ada"}),
    );
    assert_eq!(moved["frame"]["participant"], "ada");
}

#[on_both]
fn a_session_is_acted_in_by_its_own_token_alone(backend: Backend) {
    let site = AppState::new(backend);
    let server = site.serve();
    let token = |agent: &str| site.token(agent, "team", Role::Worker);
    let (ada, bob, eve) = (token("ada"), token("bob"), token("eve"));
    let record = json!({"parent_id": null, "type": "q", "title": "t", "summary": "s", "body": "b"});
    server.ok(&ada, "create_record", record);
    server.ok(&ada, "activate", json!({"id": "R001"}));
    server.ok(&bob, "activate", json!({"id": "R001"}));
    server.ok(
        &bob,
        "update_record",
        json!({"id": "R001", "body": "bob's"}),
    );
    for (tool, arguments) in [
        ("sync_session", json!({})),
        ("activate", json!({"id": "R001"})),
        ("update_record", json!({"id": "R001", "body": "eve's"})),
        (
            "transition",
            json!({"id": "R001", "to_state": "LATER", "reason": "r"}),
        ),
        ("save_session", json!({})),
        ("close_session", json!({})),
        (
            "create_record",
            json!({"parent_id": null, "type": "q", "title": "t", "summary": "s", "body": "b"}),
        ),
        (
            "get_record_diff",
            json!({"id": "R001", "from": "last_save"}),
        ),
        ("get_active_sessions", json!({"record_id": "R001"})),
    ] {
        let mut arguments = arguments;
        arguments["session_id"] = json!("sess_ada");
        let answer = server.call(&eve, tool, arguments);
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (403, "CLAIM_MISMATCH"),
            "{tool}: {}",
            answer.body
        );
    }
    let late = server.ok(
        &ada,
        "update_record",
        json!({"id": "R001", "body": "ada's"}),
    );
    assert!(
        late["conflict"]["message"].is_string(),
        "bob's change was overwritten: {late}"
    );
}

#[on_both]
fn no_bad_token_opens_any_tool(backend: Backend) {
    let site = AppState::new(backend);
    let server = site.serve_with(&[], &[("UNDERSTORY_RATE_PER_SECOND", "1000000")]);
    let names = victim(&site, &server);
    for workspace in ["victim", "mine"] {
        let revoke = ["token", "revoke", REVOKED, "--workspace", workspace];
        assert!(site.command(&revoke).output().unwrap().status.success());
    }
    let log = || site.shell.json(&["status", "--workspace", "victim"])["head_seq"].as_u64();
    let audit = || {
        site.shell
            .ok(&["audit", "--workspace", "victim", "-n", "1000", "--json"])
    };
    let (before, known) = (log().unwrap(), audit().lines().count());
    for workspace in ["victim", "mine"] {
        for role in Role::ALL {
            for (fault, token) in bad_tokens(&site, role, workspace) {
                for line in LINES.iter() {
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
    // That signed tokens were refused is noted, a few times in all, and nothing else is.
    let (written, noted) = (log().unwrap() - before, audit().lines().count() - known);
    assert_eq!(written, noted as u64, "a call that was refused has written");
    assert!(written < 10, "{written} notes of refusals");
}

#[on_both]
fn roles_may_what_they_may(backend: Backend) {
    let site = AppState::new(backend);
    let server = site.serve_with(&[], &[("UNDERSTORY_RATE_PER_SECOND", "1000000")]);
    let names = victim(&site, &server);
    for role in [
        Role::Auditor,
        Role::Worker,
        Role::Orchestrator,
        Role::Operator,
    ] {
        let token = site.token("victim", "victim", role);
        for line in LINES.iter() {
            let arguments = line.arguments(&names, "victim", true);
            let answer = call(&server, Some(&token), line, &arguments);
            let tried = format!("{} {role}: {}", line.tool, answer.body);
            if line.forbids(role) {
                assert_eq!(
                    (answer.status, answer.code().as_str()),
                    (403, "FORBIDDEN"),
                    "{tried}"
                );
            } else {
                assert!(![401, 403].contains(&answer.status), "{tried}");
                assert!(answer.status < 500, "{tried}");
            }
        }
    }
    site.shell.ok(&["verify"]);
}

#[on_both]
fn anothers_object_is_as_none(backend: Backend) {
    let site = AppState::new(backend);
    let server = site.serve_with(&[], &[("UNDERSTORY_RATE_PER_SECOND", "1000000")]);
    let names = victim(&site, &server);
    let before = site.shell.json(&["status", "--workspace", "victim"])["head_seq"].clone();
    let mut count = 0;
    for role in Role::ALL {
        for line in LINES.iter() {
            // Each try has a workspace of its own, so that none sees what another left.
            let mut ask = |victims: bool| {
                count += 1;
                let mine = format!("mine{count:05}");
                let token = site.token("eve", &mine, role);
                call(
                    &server,
                    Some(&token),
                    line,
                    &line.arguments(&names, &mine, victims),
                )
            };
            let (theirs, nowhere) = (ask(true), ask(false));
            let tried = format!("{} {role}: {} / {}", line.tool, theirs.body, nowhere.body);
            assert_eq!(theirs.status, nowhere.status, "{tried}");
            assert!(theirs.status < 500, "{tried}");
            // A search may say again what was searched for.
            let said = theirs.body.replace("\"query\":\"xyzzy\"", "");
            assert!(!said.contains(MARK), "{tried}");
            if theirs.status != 200 {
                assert_eq!(
                    nameless(&theirs, &names),
                    nameless(&nowhere, &names),
                    "{tried}"
                );
            }
        }
    }
    let after = site.shell.json(&["status", "--workspace", "victim"])["head_seq"].clone();
    assert_eq!(after, before, "another's call has written here");
}

#[on_both]
fn no_payload_names_another_caller(backend: Backend) {
    let site = AppState::new(backend);
    let server = site.serve_with(&[], &[("UNDERSTORY_RATE_PER_SECOND", "1000000")]);
    let names = victim(&site, &server);
    let claims = [
        ("workspace", "OUT_OF_SCOPE_WORKSPACE"),
        ("workspace_id", "OUT_OF_SCOPE_WORKSPACE"),
        ("agent_id", "CLAIM_MISMATCH"),
        ("sender_agent_id", "CLAIM_MISMATCH"),
        ("sender_session_id", "CLAIM_MISMATCH"),
        ("created_by", "CLAIM_MISMATCH"),
        ("session_id", "CLAIM_MISMATCH"),
    ];
    for role in Role::ALL {
        let token = site.token("eve", "mine", role);
        for line in LINES.iter().filter(|line| !line.forbids(role)) {
            let schema = registry::find(line.tool)
                .map(|tool| tool.input_schema())
                .unwrap();
            for (claim, code) in claims {
                if schema["properties"].get(claim).is_none() {
                    continue;
                }
                // Those who direct may end and sync another's session: it is recorded as theirs.
                let ends = ["close_session", "sync_session"].contains(&line.tool);
                if ends && claim == "session_id" && role.directs() {
                    continue;
                }
                let mut arguments = line.arguments(&names, "mine", true);
                arguments[claim] = json!("victim");
                let answer = call(&server, Some(&token), line, &arguments);
                let tried = format!("{} {role} {claim}: {}", line.tool, answer.body);
                assert_eq!(
                    (answer.status, answer.code().as_str()),
                    (403, code),
                    "{tried}"
                );
                assert!(!answer.body.contains(MARK), "{tried}");
            }
        }
    }
}
