//! MCP over HTTP: both lifecycles by raw messages, sessions that are one caller's, streams, and a
//! good end under load.

use crate::web;
use std::io::BufRead;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::web::{Answer, AppState, Ask, Server, head};
use serde_json::{Value, json};
use understory_model::{Role, limits};
use understory_testkit::{Backend, on_both};

/// A request of 2026-07-28: it says itself who asks, and its headers say what.
fn modern(server: &Server, token: &str, method: &str, params: Value) -> Ask {
    modern_at("/mcp", server, token, method, params)
}

fn modern_at(address: &str, server: &Server, token: &str, method: &str, mut params: Value) -> Ask {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "test client", "version": "1"}
    });
    let named = params["name"].as_str().or(params["uri"].as_str());
    let ask = server
        .ask("POST", address)
        .token(token)
        .mcp()
        .header("MCP-Protocol-Version", "2026-07-28")
        .header("Mcp-Method", method);
    let ask = match named {
        Some(name) => ask.header("Mcp-Name", name),
        None => ask,
    };
    ask.json(&json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}))
}

/// A session of 2025-11-25.
struct Session<'s> {
    server: &'s Server,
    token: String,
    name: String,
}

impl Session<'_> {
    fn begin<'s>(server: &'s Server, token: &str) -> Session<'s> {
        let hello = json!({
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": {"name": "test client", "version": "1"}
        });
        let ask = server.ask("POST", "/mcp").token(token).mcp();
        let answer = ask
            .json(&json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello}))
            .send();
        assert_eq!(answer.status, 200, "{}", answer.body);
        assert_eq!(answer.message()["result"]["protocolVersion"], "2025-11-25");
        let session = Session {
            server,
            token: token.to_owned(),
            name: answer.header("mcp-session-id").unwrap().to_owned(),
        };
        let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        assert_eq!(session.ask(token).json(&ready).send().status, 202);
        session
    }

    fn ask(&self, token: &str) -> Ask {
        self.with("POST", token)
    }

    fn with(&self, method: &str, token: &str) -> Ask {
        let ask = self.server.ask(method, "/mcp").token(token).mcp();
        ask.header("Mcp-Session-Id", &self.name)
            .header("MCP-Protocol-Version", "2025-11-25")
    }

    fn send(&self, token: &str, method: &str, params: Value) -> Answer {
        let message = json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params});
        self.ask(token).json(&message).send()
    }

    fn request(&self, method: &str, params: Value) -> Value {
        let answer = self.send(&self.token, method, params);
        assert_eq!(answer.status, 200, "{}", answer.body);
        answer.message()
    }
}

#[on_both]
fn both_lifecycles_work(backend: Backend) {
    let site = AppState::new(backend);
    let server = site.serve();
    let ada = site.token("ada", "garden", Role::Worker);
    let found = modern(&server, &ada, "server/discover", json!({})).send();
    assert_eq!(found.status, 200, "{}", found.body);
    let found = found.message()["result"].clone();
    assert!(
        found["instructions"]
            .as_str()
            .unwrap()
            .contains("workspace `garden`"),
        "{found}"
    );
    let listed = modern(&server, &ada, "tools/list", json!({}))
        .send()
        .message();
    assert_eq!(listed["result"]["cacheScope"], "private");
    let open = json!({"name": "graph_open", "arguments": {"project": "p", "goal": "Tea"}});
    let answer = modern(&server, &ada, "tools/call", open).send();
    let result = &answer.message()["result"];
    assert_eq!(
        result["structuredContent"]["root"]["created_by"], "ada",
        "{result}"
    );
    assert!(result["resultType"].is_string());
    let wrong = json!({"name": "graph_context", "arguments": {"node_id": "TASK-9"}});
    let answer = modern(&server, &ada, "tools/call", wrong).send();
    let error = answer.message()["result"]["structuredContent"]["error"].clone();
    assert_eq!(error["code"], "NOT_FOUND");
    assert_eq!(error["request_id"].as_str(), answer.header("x-request-id"));

    let bob = site.token("bob", "garden", Role::Worker);
    let session = Session::begin(&server, &bob);
    let tools = session.request("tools/list", json!({}));
    let count = |tools: &Value| tools["result"]["tools"].as_array().unwrap().len();
    assert!(count(&tools) >= 10);
    let seen = session.request(
        "tools/call",
        json!({"name": "graph_onboard", "arguments": {"project": "p"}}),
    );
    assert_eq!(seen["result"]["structuredContent"]["you"], "bob");
    let read = json!({"name": "toolset", "arguments": {"name": "reasoning"}});
    session.request("tools/call", read);
    assert_eq!(
        session.request("tools/list", json!({})),
        tools,
        "no call changes the list"
    );
    let ends = session.with("DELETE", &bob).send();
    assert_eq!(ends.status, 204);
    assert_eq!(session.send(&bob, "tools/list", json!({})).status, 404);
}

#[on_both]
fn what_is_listed_follows_from_address_or_header(backend: Backend) {
    let site = AppState::new(backend);
    let server = site.serve();
    let ada = site.token("ada", "garden", Role::Worker);
    let names = |ask: Ask| -> Vec<String> {
        let tools = ask.send().message()["result"]["tools"].clone();
        let tools = tools.as_array().unwrap().iter();
        tools
            .map(|tool| tool["name"].as_str().unwrap().to_owned())
            .collect()
    };
    let at = |address: &str| modern_at(address, &server, &ada, "tools/list", json!({}));
    let plain = names(at("/mcp"));
    let graph = names(at("/mcp?tools=graph"));
    assert!(
        graph.contains(&"graph_context".to_owned()) && !plain.contains(&"graph_context".to_owned())
    );
    assert!(!graph.contains(&"activate".to_owned()) && graph.contains(&"toolset".to_owned()));
    let both = names(at("/mcp?x=1&tools=graph%2Cthreads"));
    assert!(
        both.contains(&"graph_context".to_owned()) && both.contains(&"create_thread".to_owned())
    );
    assert_eq!(
        names(at("/mcp").header("Understory-Tools", "graph,threads")),
        both
    );
    assert_eq!(
        names(at("/mcp?tools=graph").header("Understory-Tools", "threads")),
        graph
    );
    assert_eq!(
        names(at("/mcp")),
        plain,
        "one request chooses for itself alone"
    );
    let wrong = at("/mcp?tools=grpah").send();
    assert_eq!(wrong.status, 400);
    assert!(
        wrong.body.contains("did you mean `graph`?"),
        "{}",
        wrong.body
    );
}

#[on_both]
fn a_subscription_is_told_and_ends_with_its_token(backend: Backend) {
    let site = AppState::new(backend);
    let server = site.serve();
    let ada = site.token("ada", "garden", Role::Worker);
    let bob = site.token("bob", "garden", Role::Worker);
    let create = json!({"parent_id": null, "type": "q", "title": "Why?", "summary": "s",
                        "body": "b"});
    server.ok(&ada, "create_record", create.clone());
    let uri = "understory://garden/records";
    let wanted = json!({"notifications": {"resourceSubscriptions": [uri]}});
    let mut stream = modern(&server, &bob, "subscriptions/listen", wanted).open();
    assert_eq!(head(&mut stream).status, 200);
    let mut until = |piece: &str| {
        let begun = Instant::now();
        let mut line = String::new();
        while begun.elapsed() < web::PATIENCE {
            line.clear();
            if stream.read_line(&mut line).unwrap_or(0) == 0 || line.contains(piece) {
                break;
            }
        }
        line
    };
    assert!(until("acknowledged").contains("acknowledged"));
    server.ok(&ada, "create_record", create);
    assert!(until("resources/updated").contains(uri));
    // A revocation ends what was begun before it.
    let done = site
        .command(&[
            "token",
            "revoke",
            "--session",
            "sess_bob",
            "--workspace",
            "garden",
        ])
        .output()
        .unwrap();
    assert!(done.status.success());
    assert_eq!(until("\0"), "", "the stream ends");
}

#[on_both]
fn a_server_that_stops_under_load_loses_nothing(backend: Backend) {
    let site = AppState::new(backend);
    let server = site.serve();
    let ada = site.token("ada", "garden", Role::Worker);
    server.ok(
        &ada,
        "graph_open",
        json!({"project": "default", "goal": "g"}),
    );
    let session = Session::begin(&server, &ada);
    let mut waiting = session.with("GET", &ada).open();
    assert_eq!(head(&mut waiting).status, 200);
    let wanted = json!({"notifications": {"toolsListChanged": true}});
    let mut listening = modern(&server, &ada, "subscriptions/listen", wanted).open();
    assert_eq!(head(&mut listening).status, 200);
    drop(session);

    let done = Arc::new(Mutex::new(Vec::new()));
    let writers: Vec<_> = (0..6)
        .map(|writer| {
            let ask = server.ask("POST", "/v1/graph_plan").token(&ada);
            let done = Arc::clone(&done);
            std::thread::spawn(move || {
                for count in 0.. {
                    let summary = format!("node-{writer}-{count}");
                    let nodes = json!({"nodes": [{"ref": "a", "summary": summary}]});
                    let Some(answer) = ask.clone().json(&nodes).try_send() else {
                        return;
                    };
                    match answer.status {
                        200 => done.lock().unwrap().push(summary),
                        _ => return,
                    }
                }
            })
        })
        .collect();
    while done.lock().unwrap().len() < 20 {
        std::thread::sleep(Duration::from_millis(5));
    }
    let begun = Instant::now();
    server.tell_to_stop();
    writers
        .into_iter()
        .for_each(|writer| writer.join().unwrap());
    let mut rest = String::new();
    while waiting.read_line(&mut rest).unwrap_or(0) > 0 {}
    while listening.read_line(&mut rest).unwrap_or(0) > 0 {}
    let (code, _, _) = server.ended();
    assert_eq!(code, Some(0));
    assert!(
        begun.elapsed() < Duration::from_secs(8),
        "{:?}",
        begun.elapsed()
    );
    let answered = done.lock().unwrap().clone();
    let again = site.serve();
    for summary in &answered {
        let found = again.ok(&ada, "graph_query", json!({"filter": {"text": summary}}));
        assert!(
            found.to_string().contains(summary.as_str()),
            "{summary} is lost"
        );
    }
    site.shell.ok(&["verify"]);
}

#[test]
fn a_session_is_its_callers_alone() {
    let site = AppState::new(Backend::sqlite());
    let server = site.serve();
    let ada = site.token("ada", "garden", Role::Worker);
    let session = Session::begin(&server, &ada);
    let call = json!({"name": "graph_onboard", "arguments": {}});
    let attempt = |token: &str| session.send(token, "tools/call", call.clone());
    let nowhere = Session {
        name: "00000000-0000-4000-8000-000000000000".into(),
        server: &server,
        token: ada.clone(),
    };
    for (who, workspace, role) in [
        ("bob", "garden", Role::Worker),
        ("bob", "garden", Role::Operator),
        ("ada", "shed", Role::Worker),
        ("ada", "garden", Role::Operator),
    ] {
        let token = site.token(who, workspace, role);
        let refused = attempt(&token);
        assert_eq!(refused.status, 404, "{who} {workspace} {role}");
        // Whether it exists is not told either.
        let none = nowhere.send(&token, "tools/call", call.clone());
        assert_eq!((none.status, none.body), (404, refused.body));
        assert_eq!(session.with("GET", &token).send().status, 404);
        assert_eq!(session.with("DELETE", &token).send().status, 404);
    }
    assert_eq!(attempt("garbage").status, 401);
    assert_eq!(session.with("GET", "garbage").send().status, 401);
    let bare = server
        .ask("POST", "/mcp")
        .mcp()
        .header("Mcp-Session-Id", &session.name);
    assert_eq!(bare.json(&json!({})).send().status, 401);
    let twice = session.ask(&ada).header("Mcp-Session-Id", "x");
    assert_eq!(twice.json(&json!({})).send().status, 404);
    // A newer token of the same caller goes on with it.
    assert_eq!(
        attempt(&site.token("ada", "garden", Role::Worker)).status,
        200
    );
    assert_eq!(attempt(&ada).status, 200);
}

#[test]
fn what_is_no_message_is_refused() {
    let site = AppState::new(Backend::sqlite());
    let server = site.serve();
    let ada = site.token("ada", "garden", Role::Worker);
    let ask = || server.ask("POST", "/mcp").token(&ada).mcp();
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    let batch = ask().json(&json!([ping, ping])).send();
    assert_eq!(
        (batch.status, &batch.json()["error"]["code"]),
        (400, &json!(-32600))
    );
    let spaced = ask()
        .header("Content-Type", "application/json")
        .body(" \n[]")
        .send();
    assert_eq!(spaced.status, 400);
    assert_eq!(ask().body("{}").send().status, 415);
    assert_eq!(server.ask("PUT", "/mcp").token(&ada).send().status, 405);
    assert!(ask().json(&json!({"jsonrpc": "2.0"})).send().status >= 400);
    let large = ask().header("Content-Type", "application/json");
    let large = large.body(vec![b' '; limits::HTTP_BODY_BYTES + 1]).send();
    assert_eq!((large.status, large.code().as_str()), (413, "TOO_LARGE"));
    let named = modern(&server, &ada, "tools/list", json!({})).header("Mcp-Method", "tools/call");
    assert!(named.send().status >= 400, "two methods");
}

#[test]
fn streams_and_sessions_have_a_limit() {
    let site = AppState::new(Backend::sqlite());
    let server = site.serve();
    let ada = site.token("ada", "garden", Role::Worker);
    let wanted = json!({"notifications": {"toolsListChanged": true}});
    let listen = |token: &str| modern(&server, token, "subscriptions/listen", wanted.clone());
    let mut open = Vec::new();
    for _ in 0..limits::STREAMS_PER_CALLER {
        let mut stream = listen(&ada).open();
        assert_eq!(head(&mut stream).status, 200);
        open.push(stream);
    }
    let refused = listen(&ada).send();
    assert_eq!(
        (refused.status, refused.code().as_str()),
        (429, "RATE_LIMITED")
    );
    let mut other = listen(&site.token("bob", "garden", Role::Worker)).open();
    assert_eq!(head(&mut other).status, 200);
    drop(other);
    drop(open);
    let begun = Instant::now();
    while !server
        .get("/metrics")
        .body
        .contains("understory_streams 0\n")
    {
        assert!(
            begun.elapsed() < web::PATIENCE,
            "streams that were left stay counted"
        );
        std::thread::sleep(Duration::from_millis(50));
    }
    // Of too many sessions the one that was used least lately ends.
    let first = Session::begin(&server, &ada);
    let rest: Vec<Session<'_>> = (0..limits::MCP_SESSIONS_PER_CALLER)
        .map(|_| Session::begin(&server, &ada))
        .collect();
    assert_eq!(first.send(&ada, "tools/list", json!({})).status, 404);
    assert_eq!(rest[0].send(&ada, "tools/list", json!({})).status, 200);
}
