//! An external model, as a person sets it up: a real endpoint on this machine, the real program.

use crate::driver;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use understory_testkit::{Backend, on_both};

use crate::driver::{Client, Revision};
use crate::shell::{Done, Shell, says};
use crate::web::{AppState, PATIENCE};
use serde_json::{Value, json};
use understory_model::Role;

const KEY: &str = "sk-very-secret";

/// What was posted: its path, its authorization, its body.
#[derive(Debug, Clone)]
struct Posted {
    path: String,
    authorization: String,
    body: Value,
}

/// An endpoint that knows kettles by two names.
struct Endpoint {
    port: u16,
    posted: Arc<Mutex<Vec<Posted>>>,
    /// A status to answer with instead.
    status: Arc<Mutex<Option<u16>>>,
}

impl Endpoint {
    fn start() -> Endpoint {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let endpoint = Endpoint {
            port: listener.local_addr().unwrap().port(),
            posted: Arc::default(),
            status: Arc::default(),
        };
        let (posted, status) = (Arc::clone(&endpoint.posted), Arc::clone(&endpoint.status));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (posted, status) = (Arc::clone(&posted), Arc::clone(&status));
                std::thread::spawn(move || answer(stream, &posted, &status));
            }
        });
        endpoint
    }

    fn url(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }

    fn posted(&self) -> Vec<Posted> {
        self.posted.lock().unwrap().clone()
    }

    fn vars(&self) -> [(&'static str, String); 3] {
        [
            ("UNDERSTORY_EMBEDDING_URL", self.url()),
            ("UNDERSTORY_EMBEDDING_MODEL", "kettles".to_owned()),
            ("UNDERSTORY_EMBEDDING_KEY", KEY.to_owned()),
        ]
    }
}

fn answer(stream: std::net::TcpStream, posted: &Mutex<Vec<Posted>>, status: &Mutex<Option<u16>>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut writer = stream;
    loop {
        let mut head = Vec::new();
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).unwrap_or(0) == 0 {
                return;
            }
            if line == "\r\n" {
                break;
            }
            head.push(line.trim_end().to_owned());
        }
        let field = |name: &str| {
            let found = head
                .iter()
                .find(|line| line.to_lowercase().starts_with(name));
            found.map(|line| line[name.len()..].trim_start_matches(':').trim().to_owned())
        };
        let length = field("content-length").and_then(|length| length.parse().ok());
        let mut body = vec![0; length.unwrap_or(0)];
        reader.read_exact(&mut body).unwrap();
        let body: Value = serde_json::from_slice(&body).unwrap();
        posted.lock().unwrap().push(Posted {
            path: head[0].split(' ').nth(1).unwrap_or_default().to_owned(),
            authorization: field("authorization").unwrap_or_default(),
            body: body.clone(),
        });
        let texts = body["input"].as_array().cloned().unwrap_or_default();
        let vector = |text: &Value| {
            let text = text.as_str().unwrap_or_default();
            let kettle = text.contains("kettle") || text.contains("Wasserkocher");
            [if kettle { 1.0 } else { 0.0 }, 0.5, 0.0, 0.1]
        };
        let data: Vec<Value> = (0..)
            .zip(&texts)
            .map(|(index, text)| json!({"index": index, "embedding": vector(text)}))
            .collect();
        let status = status.lock().unwrap().unwrap_or(200);
        let said = match status {
            200 => json!({ "data": data }).to_string(),
            // As some servers do: what was sent, once more.
            _ => json!({"error": {"message": format!("no: {body} {KEY}")}}).to_string(),
        };
        let length = said.len();
        let sent = write!(
            writer,
            "HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{said}"
        );
        if sent.is_err() {
            return;
        }
    }
}

fn run(shell: &Shell, vars: &[(&str, String)], arguments: &[&str]) -> Done {
    let mut command = shell.command(arguments);
    // Nothing that is meant for this machine goes round by a proxy.
    command
        .env("HTTP_PROXY", "http://127.0.0.1:9")
        .env("http_proxy", "http://127.0.0.1:9");
    command.env_remove("NO_PROXY").env_remove("no_proxy");
    command.envs(vars.iter().map(|(name, value)| (*name, value)));
    Done::of(command.output().unwrap())
}

#[track_caller]
fn ok(shell: &Shell, vars: &[(&str, String)], arguments: &[&str]) -> String {
    let done = run(shell, vars, arguments);
    assert_eq!(done.code, 0, "{arguments:?}: {done:?}");
    assert!(
        !done.out.contains(KEY) && !done.err.contains(KEY),
        "{done:?}"
    );
    done.out
}

const PLAN: &str = r#"{"nodes": [{"ref": "a", "summary": "Den Wasserkocher entkalken"}, {"ref": "b", "summary": "Zweitens"}]}"#;

/// Asks until it is found, and fails when that takes too long.
fn until_found(mut ask: impl FnMut() -> Value) {
    let begun = Instant::now();
    loop {
        let answer = ask();
        if answer["results"][0]["handle"] == "TASK-001" {
            return;
        }
        assert!(begun.elapsed() < PATIENCE, "{answer}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[on_both]
fn a_person_sets_it_up(backend: Backend) {
    let (shell, endpoint) = (Shell::new(backend), Endpoint::start());
    let vars = endpoint.vars();
    ok(&shell, &vars, &["call", "graph_plan", PLAN]);
    assert_eq!(endpoint.posted().len(), 0, "no write waits for it");
    says(
        &ok(&shell, &vars, &["search", "kettle"]),
        &["Nothing found"],
    );
    says(
        &ok(&shell, &vars, &["doctor"]),
        &[
            "embedding",
            "kettles: 4 numbers",
            "0 of 3 texts",
            "understory embed",
        ],
    );
    says(
        &ok(&shell, &vars, &["embed"]),
        &["3 texts embedded by kettles", "3 of 3 are"],
    );
    says(&ok(&shell, &vars, &["embed"]), &["0 texts embedded"]);
    says(
        &ok(&shell, &vars, &["search", "kettle"]),
        &["TASK-001", "Den Wasserkocher entkalken"],
    );
    says(&ok(&shell, &vars, &["doctor"]), &["3 of 3 texts"]);
    says(
        &ok(&shell, &vars, &["status", "--settings"]),
        &["embedding_url", "127.0.0.1", "kettles", "***"],
    );
    for posted in endpoint.posted() {
        assert_eq!(posted.path, "/v1/embeddings");
        assert_eq!(posted.authorization, format!("Bearer {KEY}"));
        assert_eq!(posted.body["model"], "kettles");
    }
    // Without it, search is as it was; with --forget nothing of it is left.
    says(&shell.ok(&["search", "kettle"]), &["Nothing found"]);
    assert_eq!(shell.json(&["embed", "--forget"]), json!({"forgotten": 3}));
    let told: Value = serde_json::from_str(&ok(&shell, &vars, &["embed", "--json"])).unwrap();
    assert_eq!(
        told,
        json!({"model": "kettles", "embedded": 3, "texts": 3, "done": 3})
    );
}

#[on_both]
fn an_agents_writes_are_embedded_a_moment_later(backend: Backend) {
    let (world, endpoint) = (driver::World::new(), Endpoint::start());
    let mut command = world.command(&["mcp", "--tools", "all"]);
    command
        .env("UNDERSTORY_STORE", backend.store())
        .envs(endpoint.vars());
    let mut client = Client::begin(command, Revision::Modern);
    let (_, failed) = client.call("graph_plan", serde_json::from_str(PLAN).unwrap());
    assert!(!failed);
    until_found(|| client.call("search", json!({"query": "kettle"})).0);
}

#[on_both]
fn a_server_embeds_for_every_workspace(backend: Backend) {
    let (site, endpoint) = (AppState::new(backend), Endpoint::start());
    let vars = endpoint.vars();
    let vars: Vec<(&str, &str)> = vars
        .iter()
        .map(|(name, value)| (*name, value.as_str()))
        .collect();
    let server = site.serve_with(&[], &vars);
    for workspace in ["garden", "attic"] {
        let token = site.token("ada", workspace, Role::Worker);
        server.ok(&token, "graph_plan", serde_json::from_str(PLAN).unwrap());
        until_found(|| server.ok(&token, "search", json!({"query": "kettle"})));
    }
}

#[on_both]
fn a_workspace_that_fails_keeps_no_other_back(backend: Backend) {
    let (site, endpoint) = (AppState::new(backend), Endpoint::start());
    let vars = endpoint.vars();
    let vars: Vec<(&str, &str)> = vars
        .iter()
        .map(|(name, value)| (*name, value.as_str()))
        .collect();
    for workspace in ["attic", "garden"] {
        let args = ["call", "graph_plan", PLAN, "--workspace", workspace];
        assert!(site.command(&args).output().unwrap().status.success());
    }
    // The first was embedded by a model of the same name that gave other vectors.
    let first = "(SELECT ws FROM soil_workspace WHERE name = 'attic')";
    let bytes = if site.shell.backend.is_sqlite() {
        "x''"
    } else {
        "''"
    };
    let other = format!(
        "INSERT INTO live_embedder (ws, model, filled, dims, strangers, holder, until) \
        VALUES ({first}, 'kettles', 0, 7, {bytes}, '', 0)"
    );
    assert_eq!(site.shell.backend.raw().run(&other), Ok(()));
    let server = site.serve_with(&[], &vars);
    let token = site.token("ada", "garden", Role::Worker);
    until_found(|| server.ok(&token, "search", json!({"query": "kettle"})));
}

#[on_both]
fn an_endpoint_that_fails_is_named_and_done_without(backend: Backend) {
    let (shell, endpoint) = (Shell::new(backend), Endpoint::start());
    let vars = endpoint.vars();
    ok(
        &shell,
        &vars,
        &[
            "call",
            "graph_plan",
            r#"{"nodes": [{"ref": "a", "summary": "Buy a kettle"}]}"#,
        ],
    );
    ok(&shell, &vars, &["embed"]);
    ok(
        &shell,
        &vars,
        &[
            "call",
            "graph_plan",
            r#"{"nodes": [{"ref": "a", "summary": "Sell a ladder"}]}"#,
        ],
    );
    for (status, word) in [
        (401, "UNDERSTORY_EMBEDDING_KEY"),
        (404, "embedding_url"),
        (429, "later"),
        (500, "later"),
    ] {
        *endpoint.status.lock().unwrap() = Some(status);
        let done = run(&shell, &vars, &["embed"]);
        assert_ne!(done.code, 0);
        says(&done.err, &[&status.to_string(), word]);
        assert!(
            !done.err.contains(KEY) && !done.err.contains("ladder"),
            "{done:?}"
        );
        let done = run(&shell, &vars, &["search", "kettle"]);
        says(&done.out, &["TASK-001"]);
        says(
            &done.err,
            &["ranked by the built-in model", &status.to_string()],
        );
        assert!(!done.err.contains(KEY), "{done:?}");
        says(
            &ok(&shell, &vars, &["doctor"]),
            &["warn", "embedding", &status.to_string(), "built-in"],
        );
    }
    // Nobody there at all.
    let gone = [
        (
            "UNDERSTORY_EMBEDDING_URL",
            "http://127.0.0.1:9/v1".to_owned(),
        ),
        vars[1].clone(),
    ];
    let done = run(&shell, &gone, &["search", "kettle"]);
    assert_eq!(done.code, 0);
    says(&done.out, &["TASK-001"]);
    says(&done.err, &["cannot be reached"]);
}

#[test]
fn a_refused_question_keeps_no_other_from_being_asked() {
    let (world, endpoint) = (driver::World::new(), Endpoint::start());
    let mut command = world.command(&["mcp", "--tools", "all"]);
    command.envs(endpoint.vars());
    let mut client = Client::begin(command, Revision::Modern);
    client.call("graph_plan", serde_json::from_str(PLAN).unwrap());
    until_found(|| client.call("search", json!({"query": "kettle"})).0);
    *endpoint.status.lock().unwrap() = Some(400);
    let (refused, _) = client.call("search", json!({"query": "kettle"}));
    says(refused["note"].as_str().unwrap(), &["400", "built-in"]);
    *endpoint.status.lock().unwrap() = None;
    let (answer, _) = client.call("search", json!({"query": "kettle"}));
    assert_eq!(answer["results"][0]["handle"], "TASK-001", "{answer}");
    // One that cannot answer at all is left alone for a while.
    *endpoint.status.lock().unwrap() = Some(500);
    client.call("search", json!({"query": "kettle"}));
    *endpoint.status.lock().unwrap() = None;
    let (rests, _) = client.call("search", json!({"query": "kettle"}));
    says(rests["note"].as_str().unwrap(), &["a moment ago"]);
}

#[test]
fn forgetting_makes_nothing() {
    let shell = Shell::sqlite();
    assert_eq!(shell.json(&["embed", "--forget"]), json!({"forgotten": 0}));
    assert!(!shell.backend.file().exists());
}

#[test]
fn a_repository_cannot_have_texts_sent_anywhere() {
    let (shell, endpoint) = (Shell::sqlite(), Endpoint::start());
    let file = format!(
        "embedding_url = \"{}\"\nembedding_model = \"kettles\"\n",
        endpoint.url()
    );
    std::fs::write(shell.path("garden/understory.toml"), &file).unwrap();
    shell.ok(&["call", "graph_plan", PLAN]);
    let done = shell.run(&["embed"]);
    assert_ne!(done.code, 0);
    says(
        &done.err,
        &["ignored embedding_url", "UNDERSTORY_EMBEDDING_URL"],
    );
    assert_eq!(endpoint.posted().len(), 0);
    // The user's own file may.
    std::fs::remove_file(shell.path("garden/understory.toml")).unwrap();
    let own = shell.path(".config/understory");
    std::fs::create_dir_all(&own).unwrap();
    std::fs::write(own.join("understory.toml"), &file).unwrap();
    says(&shell.ok(&["embed"]), &["3 texts embedded"]);
}

#[test]
fn settings_that_cannot_be_right_are_refused() {
    let shell = Shell::sqlite();
    let model = ("UNDERSTORY_EMBEDDING_MODEL", "m".to_owned());
    let url = |url: &str| ("UNDERSTORY_EMBEDDING_URL", url.to_owned());
    for vars in [
        vec![model.clone()],
        vec![url("http://127.0.0.1:9/v1")],
        vec![model.clone(), url("http://example.com/v1")],
        vec![model.clone(), url("http://127.0.0.1@example.com/v1")],
        vec![model.clone(), url("https://user:secret@example.com/v1")],
        vec![model.clone(), url("ftp://127.0.0.1/")],
        vec![model.clone(), url("https://a b/")],
        vec![model.clone(), url("nonsense")],
    ] {
        let done = run(&shell, &vars, &["status"]);
        assert_eq!(done.code, 2, "{vars:?}: {done:?}");
        says(
            &done.err,
            &["error: embedding_", "it was set by UNDERSTORY_EMBEDDING_"],
        );
        assert!(!done.err.contains("secret"), "{done:?}");
    }
}
