//! What one caller, or nobody in particular, can take of a server that others need.

use crate::web;
use std::io::Write;
use std::net::TcpStream;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::web::{AppState, Server};
use serde_json::json;
use understory_model::{Role, limits};
use understory_testkit::{Backend, on_both};

/// A figure of the server's own page.
fn figure(server: &Server, name: &str) -> i64 {
    let page = server.get("/metrics");
    let line = page.body.lines().find_map(|line| line.strip_prefix(name));
    let value = line.unwrap_or_else(|| panic!("no {name}: {}", page.body));
    value.trim().parse().unwrap()
}

/// Waits until a figure is as it should be.
fn until(server: &Server, name: &str, patience: Duration, right: impl Fn(i64) -> bool) {
    let begun = Instant::now();
    loop {
        let value = figure(server, name);
        if right(value) {
            return;
        }
        assert!(begun.elapsed() < patience, "{name} stays {value}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A client that asks for large answers and reads none of them.
fn unread(server: &Server) -> TcpStream {
    let mut stream = TcpStream::connect(("127.0.0.1", server.port)).unwrap();
    let ask = "GET /v1/openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(20);
    // It may have been closed to make room for another.
    let _ = stream.write_all(ask.as_bytes());
    stream
}

/// The same command in a process that may open so many files.
fn with_files(command: &Command, files: usize) -> Command {
    let mut limited = Command::new("sh");
    let script = format!("ulimit -n {files} && exec \"$@\"");
    limited
        .args(["-c", &script, "sh"])
        .arg(command.get_program())
        .args(command.get_args())
        .current_dir(command.get_current_dir().unwrap());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => limited.env(name, value),
            None => limited.env_remove(name),
        };
    }
    limited
}

#[test]
fn sockets_that_nobody_reads_leave_room_for_others() {
    let site = AppState::new(Backend::sqlite());
    let command = site.serving(&[], &[("UNDERSTORY_LOG", "debug")]);
    let server = site.start(with_files(&command, 256), usize::MAX);
    let ada = site.token("ada", "garden", Role::Worker);
    server.ok(&ada, "graph_onboard", json!({}));
    let held: Vec<TcpStream> = (0..400).map(|_| unread(&server)).collect();
    for _ in 0..3 {
        assert_eq!(server.get("/healthz").status, 200);
        server.ok(&ada, "graph_open", json!({"project": "p", "goal": "g"}));
    }
    drop(held);
    let (code, _, log) = server.stop();
    assert_eq!(code, Some(0));
    let failed = |line: &&String| line.contains("was not accepted");
    assert_eq!(log.iter().find(failed), None, "files never run out");
}

#[test]
fn a_client_that_does_not_read_its_answer_is_let_go() {
    let site = AppState::new(Backend::sqlite());
    let server = site.serve();
    let held: Vec<TcpStream> = (0..3).map(|_| unread(&server)).collect();
    let connections = "understory_http_connections";
    until(&server, connections, web::PATIENCE, |open| open == 4);
    let patience = Duration::from_secs(limits::HTTP_WRITE_SECONDS) + web::PATIENCE;
    until(&server, connections, patience, |open| open == 1);
    drop(held);
}

#[on_both]
fn one_agent_cannot_take_the_memory_of_others(backend: Backend) {
    const SIZE: usize = 16_000_000;
    let site = AppState::new(backend);
    let server = site.serve();
    let [ada, bob] = ["ada", "bob"].map(|agent| site.token(agent, "garden", Role::Worker));
    let eve = site.token("eve", "shed", Role::Worker);
    let body = vec![b' '; SIZE - 1];
    let begin = || {
        let mut stream = TcpStream::connect(("127.0.0.1", server.port)).unwrap();
        stream.set_read_timeout(Some(web::PATIENCE)).unwrap();
        let head = format!(
            "POST /v1/graph_onboard HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \
             {ada}\r\nContent-Type: application/json\r\nContent-Length: {SIZE}\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream
    };
    let fit = limits::HELD_BYTES_PER_AGENT / SIZE;
    let mut held = Vec::new();
    for count in 1..=fit {
        let mut stream = begin();
        stream.write_all(&body).unwrap();
        // All but the last byte of each has arrived.
        let all = (count * (SIZE - 1)) as i64;
        until(&server, "understory_held_bytes", web::PATIENCE, |held| {
            held == all
        });
        held.push(stream);
    }
    for _ in fit..60 {
        let mut stream = begin();
        let answer = web::head(&mut std::io::BufReader::new(&mut stream));
        assert_eq!(answer.status, 429, "refused before it is read");
        assert!(answer.header("retry-after").is_some());
    }
    let full = (fit * (SIZE - 1)) as i64;
    assert_eq!(figure(&server, "understory_held_bytes"), full);
    for token in [&bob, &eve] {
        let text = "x".repeat(1_000_000);
        let note =
            json!({"parent_id": null, "type": "q", "title": "t", "summary": "s", "body": text});
        server.ok(token, "create_record", note);
    }
    drop(held);
    until(&server, "understory_held_bytes", web::PATIENCE, |held| {
        held == 0
    });
    server.ok(&ada, "graph_onboard", json!({}));
}

#[on_both]
fn a_body_of_many_small_values_is_refused_before_it_is_built(backend: Backend) {
    let site = AppState::new(backend);
    let server = site.serve();
    let ada = site.token("ada", "garden", Role::Worker);
    let many = format!(r#"{{"x":[{}[]]}}"#, "[],".repeat(5_000_000));
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call"}).to_string();
    let call = format!("{},\"params\":{many}}}", &call[..call.len() - 1]);
    for (path, body) in [("/v1/graph_onboard", many), ("/mcp", call)] {
        let ask = server.ask("POST", path).token(&ada).mcp();
        let answer = ask
            .header("Content-Type", "application/json")
            .body(body)
            .send();
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (413, "TOO_LARGE"),
            "{path}"
        );
        assert!(answer.body.contains("too many values"), "{}", answer.body);
    }
}

#[test]
fn large_bodies_empty_the_bucket_sooner() {
    let site = AppState::new(Backend::sqlite());
    let server = site.serve_with(&[], &[("UNDERSTORY_RATE_PER_SECOND", "5")]);
    let ada = site.token("ada", "garden", Role::Worker);
    let burst = usize::try_from(5 * limits::RATE_BURST_SECONDS).unwrap();
    let large = json!({"x": "y".repeat(4 * burst * limits::RATE_BYTES)});
    assert_eq!(server.call(&ada, "graph_onboard", large).status, 400);
    let refused = server.call(&ada, "graph_onboard", json!({}));
    assert_eq!(
        (refused.status, refused.code().as_str()),
        (429, "RATE_LIMITED")
    );
    // What it owes is bounded by a full bucket.
    let wait: i64 = refused.header("retry-after").unwrap().parse().unwrap();
    assert!(
        (2..=limits::RATE_BURST_SECONDS + 1).contains(&wait),
        "{wait}"
    );
    let bob = site.token("bob", "garden", Role::Worker);
    server.ok(&bob, "graph_onboard", json!({}));
}

/// Sends many requests over one connection, and reads every answer.
fn many(server: &Server, count: usize) {
    let mut stream = TcpStream::connect(("127.0.0.1", server.port)).unwrap();
    stream.set_read_timeout(Some(web::PATIENCE)).unwrap();
    let ask = server.ask("GET", "/nothing");
    for _ in 0..count {
        let answer = ask.send_over(&mut stream, true);
        assert_eq!(answer.expect("an answer").status, 404);
    }
}

#[test]
fn a_log_that_nobody_reads_holds_up_nobody() {
    let site = AppState::new(Backend::sqlite());
    let command = site.serving(&[], &[]);
    let server = site.start(command, 2);
    // Each leaves a line; so many fill the pipe and the queue before it.
    many(&server, 4_000);
    for path in ["/", "/healthz", "/metrics"] {
        assert_eq!(server.get(path).status, 200, "{path}");
    }
    until(
        &server,
        "understory_log_lines_dropped_total",
        web::PATIENCE,
        |lines| lines > 0,
    );
}

#[test]
fn visits_print_no_second_link_while_one_works() {
    let site = AppState::new(Backend::sqlite());
    let server = site.serve();
    for _ in 0..3 {
        assert_eq!(server.get("/").status, 200);
    }
    server.tell_to_stop();
    let said: Vec<String> = server.out.iter().collect();
    assert_eq!(said, Vec::<String>::new(), "the first link still works");
}
