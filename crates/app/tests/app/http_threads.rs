//! Messages over HTTP as agents meet them: thousands may wait, retries post once, and what was
//! acknowledged is there after the server was killed.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, AtomicU16, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::web::{AppState, Ask, PATIENCE, Server, head};
use serde_json::{Value, json};
use understory_model::{Role, limits};
use understory_testkit::{Backend, on_both};

const FAST: (&str, &str) = ("UNDERSTORY_RATE_PER_SECOND", "1000000");

fn thread(server: &Server, token: &str, participants: &[String]) -> String {
    let made = json!({ "title": "Talk", "participants": participants });
    let made = server.ok(token, "create_thread", made);
    made["thread_id"].as_str().unwrap().to_owned()
}

fn waits(server: &Server, token: &str, arguments: Value) -> BufReader<TcpStream> {
    let ask = server.ask("POST", "/v1/wait_for_messages").token(token);
    ask.json(&arguments).open()
}

/// Reads a waiting call's answer.
fn answer(mut stream: BufReader<TcpStream>) -> (u16, Value) {
    let answer = head(&mut stream);
    let mut body = String::new();
    let _ = std::io::Read::read_to_string(&mut stream, &mut body);
    (
        answer.status,
        serde_json::from_str(&body).unwrap_or_default(),
    )
}

/// Threads of a process.
fn threads_of(server: &Server) -> usize {
    let tasks = format!("/proc/{}/task", server.pid());
    std::fs::read_dir(tasks).unwrap().count()
}

/// Begins an MCP session of the revision before; its name.
fn begin_session(server: &Server, token: &str) -> String {
    let hello = json!({
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": { "name": "t", "version": "1" },
    });
    let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello });
    let begun = server
        .ask("POST", "/mcp")
        .token(token)
        .mcp()
        .json(&hello)
        .send();
    begun.header("mcp-session-id").unwrap().to_owned()
}

/// Waits until an agent is said to wait, or not.
fn until_waiting(server: &Server, token: &str, thread: &str, target: &str, waiting: bool) {
    let begun = Instant::now();
    loop {
        let shown = server.ok(token, "get_thread", json!({ "thread_id": thread }));
        let readers = shown["readers"].as_array().unwrap();
        let reader = readers.iter().find(|one| one["agent_id"] == target);
        let waits = reader.is_some_and(|one| one["waits"] == true);
        if waits == waiting {
            return;
        }
        assert!(begun.elapsed() < PATIENCE, "{shown}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Waits until as many calls are said to wait.
fn until_leases(site: &AppState, calls: usize) {
    let (begun, mut raw) = (Instant::now(), site.shell.backend.raw());
    while raw.number("SELECT COUNT(*) FROM live_waiting") != calls as i64 {
        assert!(begun.elapsed() < PATIENCE, "{calls} calls do not wait");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[on_both]
fn many_wait_and_none_holds_a_thread(backend: Backend) {
    let site = AppState::new(backend);
    let server = site.serve_with(&[], &[FAST]);
    let names: Vec<String> = (0..10).map(|at| format!("waiter-{at}")).collect();
    let boss = site.token("boss", "garden", Role::Orchestrator);
    let id = thread(&server, &boss, &names);
    let before = threads_of(&server);
    let mut waiting = Vec::new();
    for name in &names {
        let token = site.token(name, "garden", Role::Worker);
        for _ in 0..25 {
            waiting.push(waits(&server, &token, json!({ "timeout_s": 60 })));
        }
    }
    for name in &names {
        until_waiting(&server, &boss, &id, name, true);
    }
    // A wait begins with a short write, which has a thread; after that there is none.
    let begun = Instant::now();
    while threads_of(&server) > before + 40 {
        assert!(
            begun.elapsed() < PATIENCE,
            "{} threads",
            threads_of(&server)
        );
        std::thread::sleep(Duration::from_millis(100));
    }
    // Another process posts; all are woken by it.
    let other = site.serve_with(&[], &[FAST]);
    other.ok(
        &boss,
        "post_message",
        json!({ "thread_id": id, "body": "wake up" }),
    );
    for stream in waiting {
        let (status, said) = answer(stream);
        assert_eq!(
            (status, &said["messages"][0]["body"]),
            (200, &json!("wake up")),
            "{said}"
        );
        assert_eq!(said["next"][&id], 1);
    }
    until_waiting(&server, &boss, &id, "waiter-0", false);
}

#[on_both]
fn whoever_was_told_is_not_told_again(backend: Backend) {
    let site = AppState::new(backend);
    let server = site.serve_with(&[], &[FAST]);
    let names: Vec<String> = (0..5).map(|at| format!("waiter-{at}")).collect();
    let boss = site.token("boss", "garden", Role::Orchestrator);
    let id = thread(&server, &boss, &names);
    let token = |name: &String| site.token(name, "garden", Role::Worker);
    let tokens: Vec<String> = names.iter().map(token).collect();
    let look = |token: &str| server.ok(token, "wait_for_messages", json!({ "timeout_s": 0 }));
    for body in ["one", "two"] {
        // Two calls of one session wait at once: both are told.
        let calls = tokens.iter().chain(&tokens);
        let waiting: Vec<_> = calls
            .map(|token| waits(&server, token, json!({ "timeout_s": 60 })))
            .collect();
        until_leases(&site, 2 * names.len());
        let post = json!({ "thread_id": id, "body": body });
        server.ok(&boss, "post_message", post);
        for stream in waiting {
            let (_, said) = answer(stream);
            let told = said["messages"].as_array().unwrap();
            assert_eq!((told.len(), &told[0]["body"]), (1, &json!(body)), "{said}");
        }
        for token in &tokens {
            let again = look(token);
            assert_eq!(again["timed_out"], true, "{again}");
            assert!(again["hint"].as_str().unwrap().contains("`ack`"));
        }
        until_leases(&site, 0);
    }
    let listed = server.ok(&tokens[0], "list_threads", json!({}));
    assert_eq!(listed["unread"]["messages"], 2, "told is not read");
}

#[on_both]
fn a_wait_ends_with_its_time_its_client_and_its_server(backend: Backend) {
    let site = AppState::new(backend);
    let server = site.serve();
    let (ada, bob) = (
        site.token("ada", "garden", Role::Worker),
        site.token("bob", "garden", Role::Worker),
    );
    let id = thread(&server, &ada, &["bob".to_owned()]);
    let timed = server.ok(&bob, "wait_for_messages", json!({ "timeout_s": 0.2 }));
    assert_eq!(
        (&timed["timed_out"], &timed["messages"]),
        (&json!(true), &json!([]))
    );
    let left = waits(&server, &bob, json!({ "timeout_s": 60 }));
    until_waiting(&server, &ada, &id, "bob", true);
    drop(left);
    until_waiting(&server, &ada, &id, "bob", false);
    let stopped = waits(&server, &bob, json!({ "timeout_s": 60 }));
    until_waiting(&server, &ada, &id, "bob", true);
    server.tell_to_stop();
    let (status, said) = answer(stopped);
    assert_eq!((status, &said["timed_out"]), (200, &json!(true)), "{said}");
    assert_eq!(server.ended().0, Some(0));
}

#[on_both]
fn a_change_of_status_wakes_who_waits_and_is_acknowledged(backend: Backend) {
    let site = AppState::new(backend);
    let server = site.serve();
    let (ada, bob) = (
        site.token("ada", "garden", Role::Worker),
        site.token("bob", "garden", Role::Worker),
    );
    let id = thread(&server, &ada, &["bob".to_owned()]);
    let waiting = waits(&server, &bob, json!({ "timeout_s": 60 }));
    until_waiting(&server, &ada, &id, "bob", true);
    let block = json!({ "thread_id": id, "status": "blocked", "reason": "no schema" });
    server.ok(&ada, "update_thread_status", block);
    let (status, said) = answer(waiting);
    assert_eq!(
        (status, &said["changes"][0]["reason"]),
        (200, &json!("no schema")),
        "{said}"
    );
    let more = json!({ "timeout_s": 0, "ack": said["next"] });
    assert_eq!(
        server.ok(&bob, "wait_for_messages", more)["timed_out"],
        true
    );
}

#[on_both]
fn heavy_a_wait_is_believed_for_as_long_as_it_lasts(backend: Backend) {
    let site = AppState::new(backend);
    let server = site.serve();
    let (ada, bob) = (
        site.token("ada", "garden", Role::Worker),
        site.token("bob", "garden", Role::Worker),
    );
    let id = thread(&server, &ada, &["bob".to_owned()]);
    let waiting = waits(&server, &bob, json!({ "timeout_s": 60 }));
    until_waiting(&server, &ada, &id, "bob", true);
    // Longer than it is believed without saying so again.
    std::thread::sleep(Duration::from_secs(26));
    until_waiting(&server, &ada, &id, "bob", true);
    server.ok(
        &ada,
        "post_message",
        json!({ "thread_id": id, "body": "at last" }),
    );
    assert_eq!(answer(waiting).1["messages"][0]["body"], "at last");
}

#[on_both]
fn a_wait_brings_nothing_to_one_whose_token_was_revoked(backend: Backend) {
    let site = AppState::new(backend);
    let server = site.serve();
    let (ada, bob) = (
        site.token("ada", "garden", Role::Worker),
        site.token("bob", "garden", Role::Worker),
    );
    let id = thread(&server, &ada, &["bob".to_owned()]);
    let wait = json!({ "name": "wait_for_messages", "arguments": { "timeout_s": 60 } });
    let call = json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": wait });
    let session = begin_session(&server, &bob);
    let over_mcp = server
        .ask("POST", "/mcp")
        .token(&bob)
        .mcp()
        .header("Mcp-Session-Id", &session)
        .header("MCP-Protocol-Version", "2025-11-25")
        .json(&call)
        .open();
    let over_v1 = waits(&server, &bob, json!({ "timeout_s": 60 }));
    until_waiting(&server, &ada, &id, "bob", true);
    let revoke = [
        "token",
        "revoke",
        "--session",
        "sess_bob",
        "--workspace",
        "garden",
    ];
    assert!(site.command(&revoke).output().unwrap().status.success());
    let (status, said) = answer(over_v1);
    assert_eq!(
        (status, &said["error"]["code"]),
        (401, &json!("UNAUTHORIZED")),
        "{said}"
    );
    let mut rest = String::new();
    let mut over_mcp = over_mcp;
    let _ = std::io::Read::read_to_string(&mut over_mcp, &mut rest);
    server.ok(
        &ada,
        "post_message",
        json!({ "thread_id": id, "body": "not for bob" }),
    );
    assert!(
        !rest.contains("not for bob") && !rest.contains("timed_out"),
        "{rest}"
    );
    until_waiting(&server, &ada, &id, "bob", false);
}

#[on_both]
fn heavy_what_was_acknowledged_is_there_once_after_every_crash(backend: Backend) {
    let site = Arc::new(AppState::new(backend));
    let server = site.serve_with(&[], &[FAST]);
    let port = Arc::new(AtomicU16::new(server.port));
    let names: Vec<String> = (0..CLIENTS).map(|at| format!("client-{at}")).collect();
    let boss = site.token("boss", "garden", Role::Orchestrator);
    let id = thread(&server, &boss, &names);
    let over = Arc::new(AtomicBool::new(false));
    let acknowledged = Arc::new(Mutex::new(BTreeMap::new()));
    let clients: Vec<_> = names
        .iter()
        .map(|name| {
            let client = Posting {
                ask: server.ask("POST", "/v1/post_message").token(&site.token(
                    name,
                    "garden",
                    Role::Worker,
                )),
                port: Arc::clone(&port),
                name: name.clone(),
                thread: id.clone(),
                acknowledged: Arc::clone(&acknowledged),
            };
            let over = Arc::clone(&over);
            std::thread::spawn(move || client.run(&over))
        })
        .collect();
    let mut server = Some(server);
    for crash in 0..CRASHES {
        let enough = (crash + 1) * 40;
        let begun = Instant::now();
        while acknowledged.lock().unwrap().len() < enough {
            assert!(begun.elapsed() < 3 * PATIENCE, "no progress");
            std::thread::sleep(Duration::from_millis(5));
        }
        // Killed, not told to stop.
        drop(server.take());
        let again = site.serve_with(&[], &[FAST]);
        port.store(again.port, Ordering::SeqCst);
        server = Some(again);
    }
    over.store(true, Ordering::SeqCst);
    clients
        .into_iter()
        .for_each(|client| client.join().unwrap());
    let server = server.unwrap();
    let stored = all_messages(&server, &boss, &id);
    let acknowledged = acknowledged.lock().unwrap();
    for (body, seq) in acknowledged.iter() {
        let there: Vec<i64> = stored
            .iter()
            .filter(|(said, _)| said == body)
            .map(|(_, seq)| *seq)
            .collect();
        assert_eq!(there, [*seq], "{body}");
    }
    let mut bodies: Vec<&String> = stored.iter().map(|(body, _)| body).collect();
    bodies.sort();
    bodies.dedup();
    assert_eq!(bodies.len(), stored.len(), "nothing is there twice");
    let places: Vec<i64> = stored.iter().map(|(_, seq)| *seq).collect();
    assert_eq!(places, (1..=stored.len() as i64).collect::<Vec<_>>());
    site.shell.ok(&["verify"]);
}

const CLIENTS: usize = 8;
const CRASHES: usize = 5;

/// A client that posts without end, cuts its own connection now and then, and repeats what it has
/// no answer to.
struct Posting {
    ask: Ask,
    port: Arc<AtomicU16>,
    name: String,
    thread: String,
    acknowledged: Arc<Mutex<BTreeMap<String, i64>>>,
}

impl Posting {
    fn run(&self, over: &AtomicBool) {
        for count in 0.. {
            if over.load(Ordering::SeqCst) {
                return;
            }
            let body = format!("{}/{count}", self.name);
            let post = json!({ "thread_id": self.thread, "body": body, "idempotency_key": body });
            let seq = self.post(&post, count % 5 == 4);
            self.acknowledged.lock().unwrap().insert(body, seq);
        }
    }

    fn post(&self, post: &Value, mut cut: bool) -> i64 {
        let begun = Instant::now();
        loop {
            assert!(begun.elapsed() < 3 * PATIENCE, "{post} gets no answer");
            let ask = self
                .ask
                .clone()
                .at(self.port.load(Ordering::SeqCst))
                .json(post);
            if std::mem::take(&mut cut) {
                drop(ask.try_open());
                continue;
            }
            match ask.try_send() {
                Some(answer) if answer.status == 200 => {
                    return answer.json()["seq"].as_i64().unwrap();
                }
                Some(answer) if answer.status != 0 && answer.status != 503 => {
                    panic!("{post}: {answer:?}")
                }
                _ => std::thread::sleep(Duration::from_millis(10)),
            }
        }
    }
}

/// Every message of a thread: what it says, and its number.
fn all_messages(server: &Server, token: &str, thread: &str) -> Vec<(String, i64)> {
    let (mut all, mut since) = (Vec::new(), 0);
    loop {
        let page = json!({ "thread_id": thread, "since_seq": since, "limit": 200 });
        let page = server.ok(token, "read_messages", page);
        for message in page["messages"].as_array().unwrap() {
            let body = message["body"].as_str().unwrap().to_owned();
            all.push((body, message["seq"].as_i64().unwrap()));
        }
        since = page["next_seq"].as_i64().unwrap();
        if page["has_more"] == false {
            return all;
        }
    }
}

#[test]
fn one_caller_waits_in_so_many_calls_and_no_more() {
    let site = AppState::new(Backend::sqlite());
    let server = site.serve();
    let ada = site.token("ada", "garden", Role::Worker);
    thread(&server, &ada, &[]);
    let mut waiting: Vec<_> = (0..=limits::WAITS_PER_CALLER)
        .map(|_| waits(&server, &ada, json!({ "timeout_s": 60 })))
        .collect();
    let begun = Instant::now();
    let mut answered = Vec::new();
    while answered.is_empty() {
        assert!(begun.elapsed() < PATIENCE, "none is refused");
        for (at, stream) in waiting.iter_mut().enumerate() {
            let patience = Some(Duration::from_millis(10));
            stream.get_ref().set_read_timeout(patience).unwrap();
            if stream.fill_buf().is_ok_and(|bytes| !bytes.is_empty()) {
                answered.push(at);
            }
        }
    }
    assert_eq!(answered.len(), 1, "one is too many");
    let refused = waiting.remove(answered[0]);
    refused.get_ref().set_read_timeout(Some(PATIENCE)).unwrap();
    let (status, said) = answer(refused);
    assert_eq!(
        (status, &said["error"]["code"]),
        (429, &json!("RATE_LIMITED")),
        "{said}"
    );
    let look = server.call(&ada, "wait_for_messages", json!({ "timeout_s": 0 }));
    assert_eq!(look.status, 200, "a look takes no place");
    drop(waiting);
}
