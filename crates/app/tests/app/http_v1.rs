//! `/v1/<tool>` and what stands beside it: shapes, refusals, limits, health, figures, logins.

use crate::shell;
use crate::web;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use crate::web::AppState;
use serde_json::{Value, json};
use understory_model::{Role, limits};
use understory_testkit::{Backend, on_both};

#[on_both]
fn a_tool_answers_with_its_own_object(backend: Backend) {
    let site = AppState::new(backend);
    let server = site.serve();
    let ada = site.token("ada", "garden", Role::Worker);
    let open = server.call(&ada, "graph_open", json!({"project": "p", "goal": "Tea"}));
    assert_eq!(open.status, 200, "{}", open.body);
    assert_eq!(open.header("content-type"), Some("application/json"));
    assert!(open.header("x-request-id").unwrap().starts_with("req_"));
    assert_eq!(open.json()["root"]["created_by"], "ada");
    assert_eq!(open.json()["root"]["id"], "PLAN-001");
    let plan = json!({"project": "p", "nodes": [{"ref": "a", "summary": "Brew"}]});
    server.ok(&ada, "graph_plan", plan);
    // Two agents of two processes meet on one store; each is who its token says.
    let other = site.serve();
    let bob = site.token("bob", "garden", Role::Worker);
    let next = other.ok(&bob, "graph_next", json!({"project": "p", "claim": true}));
    assert!(next.to_string().contains("\"bob\""), "{next}");
    let shown = site
        .shell
        .ok(&["show", "TASK-001", "--workspace", "garden"]);
    shell::says(&shown, &["Brew", "bob"]);
    // A write that is repeated with its key is answered as the first time, by any server.
    let create = json!({"parent_id": null, "type": "q", "title": "Why?", "summary": "s",
                        "body": "b", "idempotency_key": "k1"});
    let first = server.ok(&ada, "create_record", create.clone());
    assert_eq!(other.ok(&ada, "create_record", create.clone()), first);
    let mut changed = create;
    changed["title"] = json!("Why not?");
    let conflict = other.call(&ada, "create_record", changed);
    assert_eq!(
        (conflict.status, conflict.code()),
        (409, "IDEMPOTENCY_CONFLICT".into())
    );
}

#[on_both]
fn figures_are_counted(backend: Backend) {
    let site = AppState::new(backend);
    let server = site.serve();
    let ada = site.token("ada", "garden", Role::Worker);
    server.ok(&ada, "graph_onboard", json!({}));
    server.call(&ada, "graph_context", json!({"node_id": "TASK-001"}));
    server.call(&ada, "no\"such\ntool", json!({}));
    let page = server.get("/metrics");
    assert!(
        page.header("content-type")
            .unwrap()
            .starts_with("text/plain; version=0.0.4")
    );
    shell::says(
        &page.body,
        &[
            "understory_calls_total{tool=\"graph_onboard\",code=\"ok\"} 1",
            "understory_calls_total{tool=\"graph_context\",code=\"NOT_FOUND\"} 1",
            "understory_call_seconds_count{tool=\"graph_onboard\"} 1",
            "understory_http_requests_total{route=\"v1\",status=\"200\"} 1",
            "understory_http_requests_in_flight 1",
            "understory_store_up 1",
            "process_resident_memory_bytes",
        ],
    );
    assert!(!page.body.contains("such") && !page.body.contains("ada"));
    // Where others can call, figures are for those who look after it.
    let open = site.serve_with(&["--url", "https://memory.example.com"], &[]);
    assert_eq!(open.get("/metrics").status, 401);
    for (role, status) in [
        (Role::Operator, 200),
        (Role::Auditor, 200),
        (Role::Orchestrator, 403),
        (Role::Worker, 403),
    ] {
        let token = site.token("x", "garden", role);
        assert_eq!(
            open.ask("GET", "/metrics").token(&token).send().status,
            status
        );
    }
}

#[test]
fn refusals_have_one_envelope_and_the_fitting_status() {
    let site = AppState::new(Backend::sqlite());
    let server = site.serve();
    let ada = site.token("ada", "garden", Role::Worker);
    let auditor = site.token("eve", "garden", Role::Auditor);
    let post = |path: &str| server.ask("POST", path).token(&ada);
    let empty = json!({});
    for (what, ask, status, code) in [
        (
            "no tool",
            post("/v1/graph_nxt").json(&empty),
            404,
            "NOT_FOUND",
        ),
        (
            "nothing",
            post("/v2/graph_next").json(&empty),
            404,
            "NOT_FOUND",
        ),
        (
            "below",
            post("/v1/graph_next/x").json(&empty),
            404,
            "NOT_FOUND",
        ),
        (
            "GET",
            server.ask("GET", "/v1/graph_next").token(&ada),
            405,
            "VALIDATION_ERROR",
        ),
        (
            "PUT",
            server.ask("PUT", "/v1/graph_next").token(&ada),
            405,
            "VALIDATION_ERROR",
        ),
        ("POST health", post("/healthz"), 405, "VALIDATION_ERROR"),
        (
            "no kind",
            post("/v1/graph_next").body("{}"),
            415,
            "VALIDATION_ERROR",
        ),
        (
            "a form",
            post("/v1/graph_next")
                .header("Content-Type", "application/x-www-form-urlencoded")
                .body("{}"),
            415,
            "VALIDATION_ERROR",
        ),
        (
            "bad JSON",
            post("/v1/graph_next")
                .header("Content-Type", "application/json")
                .body("{\"a\": "),
            400,
            "VALIDATION_ERROR",
        ),
        (
            "no object",
            post("/v1/graph_next").json(&json!([])),
            400,
            "VALIDATION_ERROR",
        ),
        (
            "an argument",
            post("/v1/graph_context").json(&json!({"nod_id": "x"})),
            400,
            "VALIDATION_ERROR",
        ),
        (
            "no node",
            post("/v1/graph_context").json(&json!({"node_id": "TASK-009"})),
            404,
            "NOT_FOUND",
        ),
        (
            "no record",
            post("/v1/get_record_ref").json(&json!({"id": "R009"})),
            404,
            "RECORD_NOT_FOUND",
        ),
        (
            "an auditor",
            server
                .ask("POST", "/v1/graph_plan")
                .token(&auditor)
                .json(&json!({"nodes": []})),
            403,
            "FORBIDDEN",
        ),
        (
            "another workspace",
            post("/v1/branchmind_status").json(&json!({"workspace": "other"})),
            403,
            "OUT_OF_SCOPE_WORKSPACE",
        ),
    ] {
        let answer = ask.send();
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (status, code),
            "{what}"
        );
    }
    let near = post("/v1/graph_nxt").json(&empty).send().json();
    assert_eq!(near["error"]["details"]["nearest"][0], "graph_next");
    let charset = post("/v1/graph_onboard")
        .header("Content-Type", "Application/JSON; charset=utf-8")
        .body("{}");
    assert_eq!(charset.send().status, 200);
    let wrong = server.ask("DELETE", "/v1/graph_next").token(&ada).send();
    assert_eq!(wrong.header("allow"), Some("POST"));
    // The log has who, what and how it ended, and nothing that was said.
    server.call(
        &ada,
        "graph_open",
        json!({"project": "p", "goal": "sesame"}),
    );
    let (code, _, log) = server.stop();
    assert_eq!(code, Some(0));
    let log = log.join("\n");
    shell::says(&log, &["graph_open ok", "agent ada", "POST v1 404", "req_"]);
    assert!(
        !log.contains("sesame") && !log.contains("eyJ") && !log.contains("graph_nxt"),
        "{log}"
    );
}

#[test]
fn bodies_and_heads_have_a_limit() {
    let site = AppState::new(Backend::sqlite());
    let server = site.serve();
    let ada = site.token("ada", "garden", Role::Worker);
    let sized = |bytes: usize| {
        let frame = r#"{"x":""}"#.len();
        format!(r#"{{"x":"{}"}}"#, "a".repeat(bytes - frame))
    };
    let post = |body: String| {
        server
            .ask("POST", "/v1/graph_onboard")
            .token(&ada)
            .header("Content-Type", "application/json")
            .body(body)
            .send()
    };
    // Just below it is read, and refused by the tool's own limit for arguments.
    let most = post(sized(limits::HTTP_BODY_BYTES));
    assert_eq!((most.status, most.code().as_str()), (413, "TOO_LARGE"));
    assert!(most.body.contains("arguments"), "{}", most.body);
    let over = post(sized(limits::HTTP_BODY_BYTES + 1));
    assert_eq!((over.status, over.code().as_str()), (413, "TOO_LARGE"));
    assert!(over.body.contains("body"), "{}", over.body);
    // Without a length, too.
    let mut stream = TcpStream::connect(("127.0.0.1", server.port)).unwrap();
    let head = format!(
        "POST /v1/graph_onboard HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {ada}\r\n\
         Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).unwrap();
    let piece = vec![b' '; 1 << 20];
    for _ in 0..18 {
        let sent = write!(stream, "{:x}\r\n", piece.len())
            .and_then(|()| stream.write_all(&piece))
            .and_then(|()| stream.write_all(b"\r\n"));
        if sent.is_err() {
            break;
        }
    }
    let mut answer = [0; 64];
    stream.set_read_timeout(Some(web::PATIENCE)).unwrap();
    if let Ok(read) = stream.read(&mut answer) {
        let answer = String::from_utf8_lossy(&answer[..read]);
        assert!(
            answer.starts_with("HTTP/1.1 413") || answer.is_empty(),
            "{answer}"
        );
    }

    let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    let deep = |levels| post(format!(r#"{{"x":{}}}"#, nested(levels)));
    assert!(!deep(limits::NESTING - 1).body.contains("nested"));
    let refused = deep(limits::NESTING);
    assert_eq!(refused.status, 400);
    assert!(refused.body.contains("nested deeper"), "{}", refused.body);
    assert_eq!(deep(10_000).status, 400, "no depth overflows the stack");

    let with = |count: usize| {
        let mut ask = server.ask("GET", "/healthz");
        // Host, Content-Length and Connection are there already.
        for at in 0..count - 3 {
            ask = ask.header(&format!("X-{at}"), "y");
        }
        ask.send().status
    };
    assert_eq!(with(limits::HTTP_HEADERS), 200);
    assert_eq!(with(limits::HTTP_HEADERS + 1), 431);
    let long = |bytes: usize| {
        let ask = server.ask("GET", "/healthz");
        ask.header("X-Long", &"y".repeat(bytes)).send().status
    };
    assert_eq!(long(limits::HTTP_HEAD_BYTES - 200), 200);
    assert_eq!(long(limits::HTTP_HEAD_BYTES), 431);
    assert_eq!(long(3 * limits::HTTP_HEAD_BYTES), 431);
    assert_eq!(server.get("/healthz").status, 200);
}

#[test]
fn a_client_that_says_nothing_is_let_go() {
    let site = AppState::new(Backend::sqlite());
    let server = site.serve();
    let slow = || {
        let mut stream = TcpStream::connect(("127.0.0.1", server.port)).unwrap();
        stream
            .write_all(b"GET /healthz HTTP/1.1\r\nHost: loc")
            .unwrap();
        stream
    };
    let (mut silent, mut late) = (slow(), slow());
    let limit = Duration::from_secs(limits::HTTP_HEAD_SECONDS);
    std::thread::sleep(limit - Duration::from_secs(2));
    late.write_all(b"alhost\r\nConnection: close\r\n\r\n")
        .unwrap();
    let mut answer = String::new();
    late.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "just in time: {answer}");
    silent
        .set_read_timeout(Some(Duration::from_secs(6)))
        .unwrap();
    let mut rest = Vec::new();
    let ended = silent.read_to_end(&mut rest);
    assert!(ended.is_ok(), "it is still open after {limit:?}: {ended:?}");
    let rest = String::from_utf8_lossy(&rest);
    assert!(
        rest.is_empty() || rest.starts_with("HTTP/1.1 408"),
        "{rest}"
    );
}

#[test]
fn an_agent_that_calls_too_fast_waits() {
    let site = AppState::new(Backend::sqlite());
    let server = site.serve_with(&[], &[("UNDERSTORY_RATE_PER_SECOND", "1")]);
    let ada = site.token("ada", "garden", Role::Worker);
    let call = |token: &str| server.call(token, "graph_onboard", json!({}));
    for _ in 0..limits::RATE_BURST_SECONDS {
        assert_eq!(call(&ada).status, 200);
    }
    let refused = call(&ada);
    assert_eq!(
        (refused.status, refused.code().as_str()),
        (429, "RATE_LIMITED")
    );
    let wait: u64 = refused.header("retry-after").unwrap().parse().unwrap();
    assert_eq!(call(&site.token("bob", "garden", Role::Worker)).status, 200);
    assert_eq!(call(&site.token("ada", "shed", Role::Worker)).status, 200);
    std::thread::sleep(Duration::from_secs(wait) + Duration::from_millis(200));
    assert_eq!(call(&ada).status, 200);
}

#[test]
fn the_description_is_the_registrys_and_nobodys_secret() {
    let site = AppState::new(Backend::sqlite());
    let server = site.serve();
    let document = server.get("/v1/openapi.json");
    assert_eq!(document.status, 200);
    let document = document.json();
    assert_eq!(document["openapi"], "3.1.0");
    let tools = understory_tools::registry::tools();
    let paths = document["paths"].as_object().unwrap();
    assert_eq!(paths.len(), tools.len() + 1);
    let entity = &paths["/api/v1/entities/{uuid}"];
    assert!(entity["get"].is_object() && entity["put"].is_object());
    assert_eq!(
        document["components"]["securitySchemes"]["token"]["scheme"],
        "bearer"
    );
    // Each status that a call may end with is described.
    let answers = document["paths"]["/v1/graph_next"]["post"]["responses"]
        .as_object()
        .unwrap();
    for status in [
        "200", "400", "401", "403", "404", "409", "413", "415", "429", "503",
    ] {
        assert!(answers.contains_key(status), "{status}");
    }
}

#[test]
fn health_asks_the_store() {
    let site = AppState::new(Backend::sqlite());
    assert_eq!(
        site.serve().get("/healthz").status,
        200,
        "no store yet is no fault"
    );
    let backend = Backend::sqlite();
    std::fs::write(
        backend.file(),
        "this is no database, and never was".repeat(200),
    )
    .unwrap();
    let broken = AppState::new(backend);
    let server = broken.serve();
    let answer = server.get("/healthz");
    assert_eq!(
        (answer.status, answer.json()),
        (503, json!({"status": "store unavailable"}))
    );
    shell::says(&server.get("/metrics").body, &["understory_store_up 0"]);
    let ada = broken.token("ada", "garden", Role::Worker);
    let call = server.call(&ada, "graph_onboard", json!({}));
    assert!(
        call.status >= 500 && call.json()["error"]["code"].is_string(),
        "{call:?}"
    );
    let nobody = Backend::sqlite();
    let unreachable = AppState::new(nobody);
    let server = unreachable.serve_with(
        &[
            "--store",
            "postgres://nobody@127.0.0.1:1/none?connect_timeout=1",
        ],
        &[],
    );
    assert_eq!(server.get("/healthz").status, 503);
}

#[test]
fn the_settings_are_shown_with_what_set_them() {
    let site = AppState::new(Backend::sqlite());
    let done = site.command(&["status", "--json"]).output().unwrap();
    let status: Value = serde_json::from_slice(&done.stdout).unwrap();
    let settings = status["settings"].as_array().unwrap();
    let of = |name: &str| {
        settings
            .iter()
            .find(|setting| setting["name"] == name)
            .unwrap()
    };
    assert_eq!(of("listen")["value"], "127.0.0.1:7878");
    assert_eq!(of("keys")["source"], "UNDERSTORY_KEYS");
    for name in ["url", "issuer", "audience", "jwks"] {
        assert_eq!(of(name)["value"], Value::Null, "{name}");
    }
    let taken = site.serve();
    let address = format!("127.0.0.1:{}", taken.port);
    let done = site
        .command(&["serve", "--listen", &address])
        .output()
        .unwrap();
    assert_eq!(done.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&done.stderr).contains("listen"));
}
