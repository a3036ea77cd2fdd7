//! A private thread, and somebody who takes no part in it but knows every name of it: whatever tool,
//! resource or completion is asked, nothing of the thread comes back, and what it is called is as
//! good as a name that nothing has.

use crate::attack::LINES;
use crate::web::{Answer, AppState, Ask, Server};
use serde_json::{Value, json};
use understory_model::Role;
use understory_testkit::{Backend, on_both};
use understory_tools::{Access, registry};

/// Stands in every text and name of the private thread.
const CANARY: &str = "zqcanary";

/// The tools of the threads themselves: these say FORBIDDEN of a thread, as their contract has it.
const THREADS: [&str; 9] = [
    "get_thread",
    "list_wakes",
    "post_message",
    "read_messages",
    "wait_for_messages",
    "ack_read",
    "update_thread_status",
    "summarize_thread",
    "trigger_participant",
];

/// A name of something private, and one of the same length that nothing has.
struct Name {
    there: String,
    nowhere: String,
}

struct Team {
    site: AppState,
    server: Server,
    eve: String,
    operator: String,
    /// A note that everybody may read: it was caused by a private message, and caused another.
    note: String,
    names: Vec<Name>,
}

fn team(backend: understory_testkit::Backend) -> Team {
    let site = AppState::new(backend);
    let server = site.serve_with(&[], &[("UNDERSTORY_RATE_PER_SECOND", "1000000")]);
    let ada = site.token("ada", "team", Role::Worker);
    let eve = site.token("eve", "team", Role::Worker);
    let operator = site.token("root", "team", Role::Operator);
    let ok = |tool: &str, arguments: Value| server.ok(&ada, tool, arguments);
    let name = |value: &Value| value.as_str().expect("a name").to_owned();
    let bob = site.token("bob", "team", Role::Worker);
    let beat = json!({"resumable": true, "management_mode": "unmanaged"});
    server.ok(&bob, "heartbeat_session", beat);
    ok(
        "graph_open",
        json!({"project": "default", "goal": "in the open"}),
    );
    let open = ok(
        "garden_add",
        json!({"type": "Note", "description": "in the open"}),
    );
    let open = name(&open["item"]["uuid"]);
    ok(
        "create_thread",
        json!({"title": "zqcanary-title", "participants": ["zqcanary-peer", "bob"],
               "caused_by": open}),
    );
    let first = ok(
        "post_message",
        json!({"thread_id": "th_001", "caused_by": open, "idempotency_key": "zqcanary-key",
               "body": format!("zqcanary-body one. The PIN of the safe is 4711. See @{open}."),
               "metadata": {"zqcanary-field": "zqcanary-value"}}),
    );
    let first = name(&first["message_id"]);
    ok(
        "post_message",
        json!({"thread_id": "th_001", "kind": "event", "body": "zqcanary-finding",
               "in_reply_to": first,
               "metadata": {"event_type": "finding_reported", "finding_id": "zqcanary-f1",
                            "severity": "high"}}),
    );
    let undone = ok(
        "post_message",
        json!({"thread_id": "th_001", "body": "zqcanary-undone"}),
    );
    ok("garden_undo", json!({"item": undone["message_id"]}));
    ok(
        "update_thread_status",
        json!({"thread_id": "th_001", "status": "blocked", "reason": "zqcanary-reason",
               "metadata": {"why": "zqcanary-status"}}),
    );
    ok(
        "trigger_participant",
        json!({"thread_id": "th_001", "target_agent_id": "bob", "reason": "zqcanary-why",
               "trigger_prompt": "zqcanary-prompt", "caused_by": open}),
    );
    server.ok(
        &bob,
        "ack_read",
        json!({"thread_id": "th_001", "last_read_seq": 1}),
    );
    ok(
        "garden_relate",
        json!({"kind": "groups_with", "source": first, "target": open,
               "metadata": {"note": "zqcanary-relation"}}),
    );
    let note = ok(
        "garden_add",
        json!({"type": "Note", "description": "also in the open", "caused_by": first}),
    );
    let note = name(&note["item"]["uuid"]);
    let names = names(&server, &operator);
    Team {
        site,
        server,
        eve,
        operator,
        note,
        names,
    }
}

/// Every name of what is private, as one who reads everything learns them.
fn names(server: &Server, operator: &str) -> Vec<Name> {
    let all = server.ok(operator, "garden_timeline", json!({"limit": 200}));
    let mut names: Vec<Name> = Vec::new();
    let mut add = |there: String, nowhere: String| names.push(Name { there, nowhere });
    let absent = "0199d3a0-0000-7000-8000-00000000000";
    for (n, item) in all["items"].as_array().unwrap().iter().enumerate() {
        let about = item["entity_type"].as_str().unwrap_or_default();
        let kind = item["_type"].as_str().unwrap();
        let private = ["thread", "wake", "relation"].contains(&about)
            || ["Message", "ReadAck", "Undone"].contains(&kind);
        if !private {
            continue;
        }
        let uuid = item["uuid"].as_str().unwrap().trim_start_matches("item_");
        let nowhere = format!("{absent}{}", n % 10);
        let forms = ["item_", "entity_", "uuid_", "rel_"];
        for form in forms {
            add(format!("{form}{uuid}"), format!("{form}{nowhere}"));
        }
        for said in [".1", ".replies_to", ".group_id"] {
            add(format!("rel_{uuid}{said}"), format!("rel_{nowhere}{said}"));
        }
        if kind == "Message" {
            let seq = item["seq"].to_string();
            add(
                format!("msg_{seq}"),
                format!("msg_{}", "9".repeat(seq.len())),
            );
            for part in item["fragments"].as_array().into_iter().flatten() {
                let id = part["id"].as_str().unwrap();
                add(format!("item_{uuid}#{id}"), format!("item_{nowhere}#{id}"));
            }
        }
    }
    for (there, nowhere) in [
        ("th_001", "th_777"),
        ("TH_1", "TH_7"),
        ("wake_001", "wake_777"),
        ("WAKE_1", "WAKE_7"),
    ] {
        add(there.into(), nowhere.into());
    }
    assert!(names.len() > 40, "{}", names.len());
    names
}

/// An answer without what differs from call to call, and without the name that was asked for. A
/// refusal is compared whole, with its details and its hint.
fn nameless(answer: &Answer, name: &str) -> String {
    let mut said = answer.json();
    if let Some(error) = said["error"].as_object_mut() {
        error.remove("request_id");
        // Threads are counted, so eve's own have names like this one's, and are suggested instead.
        let nearest = error.get_mut("details").and_then(Value::as_object_mut);
        let nearest = nearest.and_then(|details| details.remove("nearest"));
        if name.starts_with("th_") {
            assert!(nearest.is_none_or(|some| !some.to_string().contains("th_001")));
            error.remove("recovery_hint");
        } else if let Some(nearest) = nearest {
            error.insert("nearest".into(), nearest);
        }
    }
    let whole = json!([answer.status, said])
        .to_string()
        .replace(name, "NAME");
    // A reference may be shown without what follows its id.
    let id = name.split(['.', '#']).next().unwrap_or(name);
    whole.replace(id, "ID")
}

#[track_caller]
fn hides(answer: &Answer, tried: &str) {
    assert!(answer.status < 500, "{tried}: {}", answer.body);
    let body = answer.body.to_lowercase();
    assert!(!body.contains(CANARY), "{tried}: {}", answer.body);
    assert!(!body.contains("4711"), "{tried}: {}", answer.body);
}

/// The lines of the matrix that name something, and some more that only matter here.
fn naming() -> Vec<(&'static str, String)> {
    let mut lines: Vec<(&str, String)> = LINES
        .iter()
        .filter(|line| line.tool != "search")
        .map(|line| (line.tool, line.arguments.replace("$WS", "team")))
        .filter(|(_, arguments)| arguments.contains('$') && !arguments.contains("$PROJECT"))
        .collect();
    for (tool, arguments) in [
        ("garden_get", r#"{"id": "$X", "render": true}"#),
        ("why", r#"{"id": "$X"}"#),
        ("garden_trace", r#"{"item": "$X", "direction": "effects"}"#),
        ("garden_trace", r#"{"item": "$X", "direction": "root"}"#),
        ("garden_relations", r#"{"of": "$X"}"#),
        ("garden_refs", r#"{"content": "@$X [x]($X) $X"}"#),
        ("garden_entity_history", r#"{"uuid": "$X", "at": 1}"#),
        ("garden_timeline", r#"{"entity": "$X"}"#),
        ("garden_timeline", r#"{"log": "$X"}"#),
        (
            "garden_add",
            r#"{"type": "Note", "description": "d", "caused_by": "$X"}"#,
        ),
        (
            "garden_add",
            r#"{"type": "Note", "description": "d", "replies_to": "$X"}"#,
        ),
        ("garden_undo", r#"{"item": "$X"}"#),
        (
            "garden_relate",
            r#"{"kind": "groups_with", "source": "$X", "target": "$X"}"#,
        ),
        ("garden_entity_supersede", r#"{"uuid": "$X", "by": "$X"}"#),
        ("garden_frame", r#"{"head": "$X"}"#),
        (
            "garden_entity_create",
            r#"{"type": "t", "data": {}, "derived_from": "$X"}"#,
        ),
        (
            "branchmind_think_context",
            r#"{"workspace": "team", "target": "$X"}"#,
        ),
        ("graph_context", r#"{"node_id": "$X"}"#),
        ("get_record_ref", r#"{"id": "$X"}"#),
        (
            "post_message",
            r#"{"thread_id": "th_002", "body": "b", "in_reply_to": "$X"}"#,
        ),
    ] {
        lines.push((tool, arguments.to_owned()));
    }
    lines
}

/// The arguments with one name in the place of every name.
fn filled(arguments: &str, name: &str) -> Value {
    let mut text = String::new();
    let mut rest = arguments;
    while let Some(at) = rest.find('$') {
        text.push_str(&rest[..at]);
        text.push_str(name);
        rest = rest[at + 1..].trim_start_matches(|letter: char| letter.is_ascii_uppercase());
    }
    text.push_str(rest);
    serde_json::from_str(&text).unwrap_or_else(|_| panic!("{text}"))
}

fn mcp(team: &Team, method: &str, mut params: Value) -> Answer {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "test client", "version": "1"}
    });
    let named = params["name"].as_str().or(params["uri"].as_str());
    let mut ask: Ask = team.server.ask("POST", "/mcp").token(&team.eve).mcp();
    ask = ask.header("MCP-Protocol-Version", "2026-07-28");
    ask = ask.header("Mcp-Method", method);
    if let Some(name) = named {
        ask = ask.header("Mcp-Name", name);
    }
    ask.json(&json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}))
        .send()
}

#[on_both]
fn whoever_takes_no_part_finds_no_name_of_a_private_thread(backend: Backend) {
    let team = team(backend);
    let own = json!({"title": "eve's own", "participants": []});
    team.server.ok(&team.eve, "create_thread", own);
    let lines = naming();
    for tool in registry::tools() {
        let listed = lines.iter().any(|(name, _)| *name == tool.name);
        let unnamed = LINES.iter().any(|line| line.tool == tool.name);
        assert!(listed || unnamed, "{} is not asked", tool.name);
    }
    let mut wrong = Vec::new();
    for (tool, arguments) in &lines {
        for name in &team.names {
            let ask = |name: &str| team.server.call(&team.eve, tool, filled(arguments, name));
            let (there, nowhere) = (ask(&name.there), ask(&name.nowhere));
            let tried = format!("{tool} {}", filled(arguments, &name.there));
            hides(&there, &tried);
            let thread = name.there.to_lowercase().starts_with("th_");
            if THREADS.contains(tool) && thread {
                continue;
            }
            let same = match there.status {
                // What was written has an id of its own.
                200 if registry::find(tool).unwrap().access != Access::Read => {
                    nowhere.status == 200
                }
                _ => nameless(&there, &name.there) == nameless(&nowhere, &name.nowhere),
            };
            if !same {
                wrong.push(format!("{tried}\n  {}\n  {}", there.body, nowhere.body));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} differ:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    for tool in THREADS.iter().filter(|tool| **tool != "wait_for_messages") {
        let line = LINES.iter().find(|line| line.tool == *tool).unwrap();
        let answer = team
            .server
            .call(&team.eve, tool, filled(line.arguments, "th_001"));
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (403, "FORBIDDEN"),
            "{tool}"
        );
    }
    team.site.shell.ok(&["verify"]);
}

#[on_both]
fn no_list_search_resource_or_completion_tells_of_a_private_thread(backend: Backend) {
    let team = team(backend);
    let eve = |tool: &str, arguments: Value| team.server.call(&team.eve, tool, arguments);
    for line in LINES.iter() {
        let arguments = filled(&line.arguments.replace("$WS", "team"), "default");
        hides(&eve(line.tool, arguments), line.tool);
    }
    let mut searched = vec![
        "4711".to_owned(),
        "zqcanary".to_owned(),
        "PIN safe".to_owned(),
    ];
    searched.extend(team.names.iter().map(|name| name.there.clone()));
    for query in searched {
        let found = eve("search", json!({"query": query})).json().to_string();
        let found = found.replace(&query, "");
        assert!(
            !found.contains(CANARY) && !found.contains("4711"),
            "{query}: {found}"
        );
    }
    for arguments in [
        json!({"limit": 200}),
        json!({"limit": 200, "types": ["Message", "ReadAck", "Undone", "EntityDelta"]}),
        json!({"limit": 200, "actor": "ada"}),
        json!({"limit": 200, "actor": "bob"}),
        json!({"limit": 200, "clock": "canonical"}),
    ] {
        let answer = eve("garden_timeline", arguments.clone());
        hides(&answer, "garden_timeline");
        let plain = arguments.get("types").or(arguments.get("actor")).is_none();
        for item in answer.json()["items"].as_array().unwrap() {
            let mut told: Vec<&str> = item
                .as_object()
                .unwrap()
                .keys()
                .map(String::as_str)
                .collect();
            told.sort_unstable();
            if item["hidden"] == true {
                assert!(plain, "a filter tells what is hidden: {arguments} {item}");
                assert_eq!(told, ["_type", "hidden", "realized_at", "seq"], "{item}");
                assert_eq!(item["_type"], "hidden");
            }
            for name in &team.names {
                assert!(
                    !item.to_string().contains(&name.there),
                    "{}: {item}",
                    name.there
                );
            }
        }
    }
    let changes = eve("garden_changes", json!({"limit": 200}));
    hides(&changes, "garden_changes");
    for handle in ["th_001", "wake_001"] {
        assert!(!changes.body.contains(handle), "{}", changes.body);
    }
    for tool in ["why", "garden_get", "garden_trace", "garden_relations"] {
        let field = match tool {
            "garden_trace" => "item",
            "garden_relations" => "of",
            _ => "id",
        };
        let answer = eve(tool, json!({field: team.note}));
        assert_eq!(answer.status, 200, "{tool}: {}", answer.body);
        hides(&answer, tool);
        for name in &team.names {
            assert!(
                !answer.body.contains(&name.there),
                "{tool} {}: {}",
                name.there,
                answer.body
            );
        }
    }
    hides(&mcp(&team, "resources/list", json!({})), "resources/list");
    hides(&mcp(&team, "prompts/list", json!({})), "prompts/list");
    for name in &team.names {
        for kind in ["graph", "records", "threads", "artifacts", "why"] {
            let uri = format!("understory://team/{kind}/{}", name.there);
            hides(&mcp(&team, "resources/read", json!({"uri": uri})), &uri);
            let template = format!("understory://team/{kind}/{{id}}");
            let begins: String = name.there.chars().take(3).collect();
            let ask = json!({
                "ref": {"type": "ref/resource", "uri": template},
                "argument": {"name": "id", "value": begins}
            });
            let answer = mcp(&team, "completion/complete", ask);
            hides(&answer, &uri);
            assert!(!answer.body.contains("th_001"), "{}", answer.body);
        }
    }
    // An auditor and an operator do read it.
    let auditor = team.site.token("audit", "team", Role::Auditor);
    for token in [&auditor, &team.operator] {
        let read = team
            .server
            .ok(token, "read_messages", json!({"thread_id": "th_001"}));
        assert!(read.to_string().contains("zqcanary-body"), "{read}");
    }
}

#[on_both]
fn a_private_message_is_not_found_by_guessing_its_words(backend: Backend) {
    let team = team(backend);
    let said = team.server.ok(
        &team.operator,
        "read_messages",
        json!({"thread_id": "th_001", "full": true}),
    );
    let uuids: Vec<&str> = team.names.iter().map(|name| name.there.as_str()).collect();
    let parts = team.server.ok(
        &team.operator,
        "garden_timeline",
        json!({"types": ["Message"], "limit": 50}),
    );
    let mut ids = Vec::new();
    for item in parts["items"].as_array().unwrap() {
        let fragments = item["fragments"].as_array().into_iter().flatten();
        ids.extend(fragments.map(|part| part["id"].as_str().unwrap().to_owned()));
    }
    assert!(!ids.is_empty() && said.to_string().contains("4711"));
    for id in &ids {
        let asked = json!({"content": format!("as ^{} says", id.trim_start_matches('^'))});
        let answer = team.server.ok(&team.eve, "garden_refs", asked);
        assert_eq!(answer["refs"][0]["resolved"], false, "{answer}");
        for uuid in &uuids {
            assert!(!answer.to_string().contains(uuid), "{answer}");
        }
    }
    // Said in the open, the same words are found, and the private ones do not shadow them.
    let words = json!({"type": "Message", "description": "The PIN of the safe is 4711."});
    let ada = team.site.token("ada", "team", Role::Worker);
    let open = team.server.ok(&ada, "garden_add", words);
    let again = json!({"thread_id": "th_001", "body": "The PIN of the safe is 4711."});
    for _ in 0..10 {
        team.server.ok(&ada, "post_message", again.clone());
    }
    let id = open["item"]["fragments"][0]["id"].as_str().unwrap();
    let asked = json!({"content": format!("as ^{} says", id.trim_start_matches('^'))});
    let answer = team.server.ok(&team.eve, "garden_refs", asked);
    assert_eq!(answer["refs"][0]["resolved"], true, "{answer}");
    assert_eq!(
        answer["refs"][0]["message_uuid"], open["item"]["uuid"],
        "{answer}"
    );
    assert_ne!(answer["refs"][0]["ambiguous"], true, "{answer}");
}
