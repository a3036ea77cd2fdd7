//! What is open ends with the key that signed its token, with a revocation that was noticed while the
//! store did not answer, and with the login that opened it.

use crate::web;
use std::io::{BufRead, BufReader, Read};
use std::net::TcpStream;
use std::time::{Duration, Instant};
use understory_testkit::{Backend, on_both};

use crate::web::{AppState, Server, head};
use serde_json::{Value, json};
use understory_model::Role;

/// Waits for messages; what can be read of the answer.
fn waits(server: &Server, token: &str) -> BufReader<TcpStream> {
    server
        .ask("POST", "/v1/wait_for_messages")
        .token(token)
        .json(&json!({ "timeout_s": 60 }))
        .open()
}

/// The status and the body of an answer.
fn answer(mut stream: BufReader<TcpStream>) -> (u16, Value) {
    let status = head(&mut stream).status;
    let mut body = String::new();
    stream.read_to_string(&mut body).unwrap();
    (status, serde_json::from_str(&body).unwrap_or_default())
}

/// Opens a stream for news of the records, and reads it up to its acknowledgement.
fn listens(server: &Server, token: &str) -> BufReader<TcpStream> {
    let params = json!({
        "notifications": {"resourceSubscriptions": ["understory://garden/records"]},
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        },
    });
    let method = "subscriptions/listen";
    let mut stream = server
        .ask("POST", "/mcp")
        .token(token)
        .mcp()
        .header("MCP-Protocol-Version", "2026-07-28")
        .header("Mcp-Method", method)
        .json(&json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}))
        .open();
    assert_eq!(head(&mut stream).status, 200);
    let mut line = String::new();
    while !line.contains("acknowledged") {
        line.clear();
        assert!(stream.read_line(&mut line).unwrap() > 0, "it ended at once");
    }
    stream
}

/// Waits until an agent is known to wait in a thread.
fn until_waiting(server: &Server, token: &str, thread: &str, target: &str) {
    let begun = Instant::now();
    loop {
        let shown = server.ok(token, "get_thread", json!({ "thread_id": thread }));
        let readers = shown["readers"].as_array().unwrap();
        let reader = readers.iter().find(|one| one["agent_id"] == target);
        if reader.is_some_and(|one| one["waits"] == true) {
            return;
        }
        assert!(begun.elapsed() < web::PATIENCE, "{shown}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[track_caller]
fn run(site: &AppState, arguments: &[&str]) -> Value {
    let all = [arguments, &["--json"]].concat();
    let done = site.command(&all).output().unwrap();
    assert!(done.status.success(), "{arguments:?}: {done:?}");
    serde_json::from_slice(&done.stdout).unwrap()
}

/// A thread of ada's in which bob and carol take part.
fn thread(server: &Server, ada: &str) -> String {
    let asked = json!({ "title": "Talk", "participants": ["bob", "carol"] });
    let made = server.ok(ada, "create_thread", asked);
    made["thread_id"].as_str().unwrap().to_owned()
}

/// Waits until the server has looked for a revocation and the store did not answer.
fn until_unjudged(server: &Server) {
    let begun = Instant::now();
    let failed = |line: &str| {
        let count = line.strip_prefix("understory_token_checks_failed_total ");
        count.is_some_and(|count| count != "0")
    };
    while !server.get("/metrics").body.lines().any(failed) {
        assert!(begun.elapsed() < web::PATIENCE, "nobody looked");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A person's login: the headers of their calls, and the session that it proves.
struct Person {
    cookie: String,
    csrf: String,
    session: String,
}

impl Person {
    fn log_in(server: &Server) -> Person {
        let path = format!("/login/{}", server.login);
        let moved = server.ask("POST", &path).send();
        let set = moved.header("set-cookie").unwrap();
        let cookie = set.split(';').next().unwrap().to_owned();
        let page = server.ask("GET", "/").header("Cookie", &cookie).send().body;
        let after = |mark: &str, end: char| {
            let rest = page.split(mark).nth(1).unwrap();
            rest.split(end).next().unwrap().to_owned()
        };
        Person {
            csrf: after("X-CSRF-Token: ", '<'),
            session: after("token revoke --session ", ' '),
            cookie,
        }
    }

    /// Waits for messages; what can be read of the answer.
    fn waits(&self, server: &Server) -> BufReader<TcpStream> {
        server
            .ask("POST", "/v1/wait_for_messages")
            .header("Cookie", &self.cookie)
            .header("X-CSRF-Token", &self.csrf)
            .json(&json!({ "timeout_s": 60 }))
            .open()
    }
}

#[on_both]
fn a_login_that_is_revoked_or_ended_ends_what_waits(backend: Backend) {
    let site = AppState::new(backend);
    for ends in ["revoked", "logged out"] {
        let server = site.serve();
        // First, so that the workspace is the one that the person's folder has.
        let person = Person::log_in(&server);
        let ada = site.token("ada", "garden", Role::Worker);
        let asked = json!({ "title": "Talk", "participants": ["ann"] });
        let made = server.ok(&ada, "create_thread", asked);
        let id = made["thread_id"].as_str().unwrap();
        let waiting = person.waits(&server);
        until_waiting(&server, &ada, id, "ann");
        if ends == "revoked" {
            run(
                &site,
                &[
                    "token",
                    "revoke",
                    "--session",
                    &person.session,
                    "--workspace",
                    "garden",
                ],
            );
        } else {
            let origin = format!("http://127.0.0.1:{}", server.port);
            let leave = server.ask("POST", "/logout").header("Origin", &origin);
            assert_eq!(leave.header("Cookie", &person.cookie).send().status, 303);
            // At once: not only after the moment in which everything else looks again.
            server.ok(
                &ada,
                "post_message",
                json!({ "thread_id": id, "body": "not for a ghost" }),
            );
        }
        let (status, said) = answer(waiting);
        assert_eq!(
            (status, &said["error"]["code"]),
            (401, &json!("UNAUTHORIZED")),
            "{ends}: {said}"
        );
    }
}

#[on_both]
fn a_retired_key_ends_what_is_open(backend: Backend) {
    let site = AppState::new(backend);
    let server = site.serve();
    let bob = site.token("bob", "garden", Role::Worker);
    let listed = run(&site, &["token", "keys"]);
    let stolen = listed["keys"][0]["kid"].as_str().unwrap().to_owned();
    run(&site, &["token", "keys", "--rotate"]);
    let ada = site.token("ada", "garden", Role::Worker);
    let id = thread(&server, &ada);
    let mut stream = listens(&server, &bob);
    let waiting = waits(&server, &bob);
    let others = waits(&server, &site.token("carol", "garden", Role::Worker));
    until_waiting(&server, &ada, &id, "bob");
    until_waiting(&server, &ada, &id, "carol");

    run(&site, &["token", "keys", "--retire", &stolen]);
    // At once: not only after the moment in which everything else looks again.
    server.ok(
        &ada,
        "post_message",
        json!({ "thread_id": id, "body": "not for the thief" }),
    );
    server.ok(
        &ada,
        "create_record",
        json!({ "parent_id": null, "type": "q", "title": "Why?",
        "summary": "s", "body": "b" }),
    );
    let (status, said) = answer(waiting);
    assert_eq!(
        (status, &said["error"]["code"]),
        (401, &json!("UNAUTHORIZED")),
        "{said}"
    );
    let mut rest = String::new();
    let _ = stream.read_to_string(&mut rest);
    assert!(!rest.contains("resources/updated"), "{rest}");
    // A token of the key that is still good waits on, and is told.
    let (status, said) = answer(others);
    assert_eq!(
        (status, &said["messages"][0]["body"]),
        (200, &json!("not for the thief"))
    );
}

#[on_both]
fn a_revocation_is_looked_for_again_after_the_store_failed(backend: Backend) {
    let site = AppState::new(backend);
    let server = site.serve();
    let (ada, bob) = (
        site.token("ada", "garden", Role::Worker),
        site.token("bob", "garden", Role::Worker),
    );
    let id = thread(&server, &ada);
    let waiting = waits(&server, &bob);
    until_waiting(&server, &ada, &id, "bob");
    // The log goes on while nobody can be asked about revocations.
    let mut raw = site.shell.backend.raw();
    raw.run("ALTER TABLE core_revoked RENAME TO elsewhere")
        .unwrap();
    site.shell.ok(&[
        "call",
        "graph_open",
        r#"{"project": "default", "goal": "g"}"#,
    ]);
    until_unjudged(&server);
    // The last commit was seen; what it revoked can be read only now.
    raw.run("INSERT INTO elsewhere VALUES (1, 'session', 'sess_bob', 9000000000000000)")
        .unwrap();
    raw.run("ALTER TABLE elsewhere RENAME TO core_revoked")
        .unwrap();
    let (status, said) = answer(waiting);
    assert_eq!(
        (status, &said["error"]["code"]),
        (401, &json!("UNAUTHORIZED")),
        "{said}"
    );
}
