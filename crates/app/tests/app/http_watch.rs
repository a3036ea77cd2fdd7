//! Watched resources over HTTP: what is told, and what a commit costs however many are watched.

use crate::web;
use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::time::Instant;

use crate::web::{AppState, Server, head};
use serde_json::{Value, json};
use understory_model::{Role, limits};
use understory_testkit::{Backend, on_both};

/// A stream of notices.
struct Stream {
    lines: BufReader<TcpStream>,
    accepted: Vec<String>,
}

impl Stream {
    fn open(server: &Server, token: &str, uris: &[String]) -> Stream {
        let params = json!({
            "notifications": { "resourceSubscriptions": uris },
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
                "io.modelcontextprotocol/clientInfo": {"name": "test client", "version": "1"}
            }
        });
        let method = "subscriptions/listen";
        let mut lines = server
            .ask("POST", "/mcp")
            .token(token)
            .mcp()
            .header("MCP-Protocol-Version", "2026-07-28")
            .header("Mcp-Method", method)
            .json(&json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}))
            .open();
        assert_eq!(head(&mut lines).status, 200);
        let mut stream = Stream {
            lines,
            accepted: Vec::new(),
        };
        let said = stream.next("notifications/subscriptions/acknowledged");
        let accepted = said["params"]["notifications"]["resourceSubscriptions"].as_array();
        let accepted = accepted.into_iter().flatten().filter_map(Value::as_str);
        stream.accepted = accepted.map(str::to_owned).collect();
        stream
    }

    /// The next message of a method.
    #[track_caller]
    fn next(&mut self, method: &str) -> Value {
        let (begun, mut line) = (Instant::now(), String::new());
        while begun.elapsed() < web::PATIENCE {
            line.clear();
            assert_ne!(
                self.lines.read_line(&mut line).unwrap(),
                0,
                "the stream ended"
            );
            let data = line.strip_prefix("data: ").unwrap_or_default();
            let message: Value = serde_json::from_str(data).unwrap_or_default();
            if message["method"] == method {
                return message;
            }
        }
        panic!("no {method}");
    }

    /// The resource that is told to have changed next.
    #[track_caller]
    fn told(&mut self) -> String {
        let notice = self.next("notifications/resources/updated");
        notice["params"]["uri"].as_str().unwrap().to_owned()
    }
}

/// How often a tool was called, by callers and by those who watch.
fn calls(server: &Server, tool: &str) -> u64 {
    let page = server.get("/metrics").body;
    let name = format!("understory_call_seconds_count{{tool=\"{tool}\"}} ");
    let line = page.lines().find_map(|line| line.strip_prefix(&name));
    line.map_or(0, |count| count.parse().unwrap())
}

fn node(number: usize) -> String {
    format!("understory://garden/graph/TASK-{number:03}")
}

#[on_both]
fn a_commit_costs_as_many_looks_as_it_changes(backend: Backend) {
    const NODES: usize = 30;
    let site = AppState::new(backend);
    let server = site.serve();
    let [ada, bob] = ["ada", "bob"].map(|agent| site.token(agent, "garden", Role::Worker));
    server.ok(
        &ada,
        "graph_open",
        json!({"project": "default", "goal": "g"}),
    );
    let nodes: Vec<Value> = (0..NODES)
        .map(|at| json!({"ref": format!("n{at}"), "summary": format!("Node {at}")}))
        .collect();
    server.ok(&ada, "graph_plan", json!({ "nodes": nodes }));
    let uris: Vec<String> = (1..=NODES).map(node).collect();
    let mut streams: Vec<Stream> = (0..4).map(|_| Stream::open(&server, &bob, &uris)).collect();
    for stream in &streams {
        assert_eq!(stream.accepted, uris);
    }
    let change = |number: usize, text: &str| {
        let id = format!("TASK-{number:03}");
        let update = json!({"updates": [{"node_id": id, "summary": text}]});
        server.ok(&ada, "graph_update", update);
    };
    // The first commit that a stream hears of may be about anything.
    change(1, "first");
    for stream in &mut streams {
        assert_eq!(stream.told(), node(1));
    }
    let before = calls(&server, "graph_context");
    for (number, text) in [(7, "a"), (9, "b"), (7, "c")] {
        change(number, text);
        for stream in &mut streams {
            assert_eq!(stream.told(), node(number));
        }
    }
    let looks = calls(&server, "graph_context") - before;
    assert_eq!(looks, 3 * streams.len() as u64, "one for each that changed");
    // What is around a node is part of it.
    let child = json!({"ref": "c", "summary": "child", "parent_ref": "TASK-005"});
    server.ok(&ada, "graph_plan", json!({ "nodes": [child] }));
    assert_eq!(streams[0].told(), node(5));
    let edge = json!({"from": "TASK-011", "to": "TASK-012", "type": "depends_on"});
    server.ok(&ada, "graph_connect", json!({ "edges": [edge] }));
    let both = [streams[0].told(), streams[0].told()];
    assert_eq!(both, [node(11), node(12)]);
    change(12, "what 11 waits for");
    let both = [streams[0].told(), streams[0].told()];
    assert_eq!(both, [node(11), node(12)]);
}

#[on_both]
fn threads_records_and_artifacts_are_told(backend: Backend) {
    let site = AppState::new(backend);
    let server = site.serve();
    let [ada, bob] = ["ada", "bob"].map(|agent| site.token(agent, "garden", Role::Worker));
    let record = json!({"parent_id": null, "type": "q", "title": "Why?", "summary": "s",
                        "body": "b"});
    server.ok(&ada, "create_record", record);
    let thread = json!({"title": "T", "participants": ["ada", "bob"]});
    let thread = server.ok(&ada, "create_thread", thread);
    let thread = thread["thread_id"].as_str().unwrap().to_owned();
    let artifact = json!({"label": "goals_doc", "content": "Fast\n"});
    let artifact = server.ok(&ada, "garden_artifact_create", artifact);
    let uri = |kind: &str, id: &str| format!("understory://garden/{kind}/{id}");
    let uris = [
        uri("records", "R001"),
        uri("threads", &thread),
        uri("artifacts", "goals_doc"),
    ];
    let mut stream = Stream::open(&server, &bob, &uris);
    assert_eq!(stream.accepted, uris);
    let post = json!({"thread_id": thread, "body": "hello"});
    let posted = server.ok(&ada, "post_message", post.clone());
    assert_eq!(stream.told(), uris[1]);
    server.ok(
        &ada,
        "update_record",
        json!({"id": "R001", "summary": "new"}),
    );
    assert_eq!(stream.told(), uris[0]);
    let commit = json!({"artifact": "goals_doc", "based_on": artifact["artifact"]["head"],
                        "content": "Fast\nSmall\n"});
    server.ok(&ada, "garden_artifact_commit", commit);
    assert_eq!(stream.told(), uris[2]);
    server.ok(&ada, "garden_undo", json!({ "item": posted["message_id"] }));
    assert_eq!(stream.told(), uris[1]);
}

#[test]
fn what_is_watched_exists_and_is_counted_for_the_caller() {
    let site = AppState::new(Backend::sqlite());
    let server = site.serve();
    let [ada, bob] = ["ada", "bob"].map(|agent| site.token(agent, "garden", Role::Worker));
    server.ok(
        &ada,
        "graph_open",
        json!({"project": "default", "goal": "g"}),
    );
    let most = limits::WATCHED_PER_CALLER;
    let nodes: Vec<Value> = (0..most + 2)
        .map(|at| json!({"ref": format!("n{at}"), "summary": format!("Node {at}")}))
        .collect();
    server.ok(&ada, "graph_plan", json!({ "nodes": nodes }));
    let uris: Vec<String> = (1..=most + 2).map(node).collect();
    let first = Stream::open(&server, &ada, &uris[..most - 1]);
    assert_eq!(first.accepted.len(), most - 1);
    // On another stream there is one place left, and what does not exist takes none.
    let wanted = [vec![node(900)], uris[most - 1..].to_vec()].concat();
    let second = Stream::open(&server, &ada, &wanted);
    assert_eq!(second.accepted, [node(most)]);
    let others = Stream::open(&server, &bob, &wanted);
    assert_eq!(others.accepted, uris[most - 1..]);
}
