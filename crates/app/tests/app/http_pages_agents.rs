//! Following and retracing agents: what is shown of what they did, the document as it was then, and to whom.

use serde_json::{Value, json};
use understory_model::Role;
use understory_testkit::{Backend, on_both};

use crate::browser;
use crate::http_pages::{HOSTILE, Stage};
use crate::shell::says;
use crate::web::{Answer, AppState, Server};

/// Somebody who is logged in with a role.
pub struct Visitor {
    pub site: AppState,
    pub server: Server,
    cookie: String,
    csrf: String,
}

impl Visitor {
    pub fn new(backend: Backend, role: Role) -> Visitor {
        let site = AppState::new(backend);
        let server = site.serve_with(&["--role", role.as_str()], &[]);
        let path = format!("/login/{}", server.login);
        let set = server.ask("POST", &path).send();
        let set = set.header("set-cookie").unwrap();
        let cookie = set.split(';').next().unwrap().to_owned();
        let now = server
            .ask("GET", "/garden/now")
            .header("Cookie", &cookie)
            .send();
        let csrf = now.body.split("data-csrf=\"").nth(1).unwrap();
        let csrf = csrf.split('"').next().unwrap().to_owned();
        Visitor {
            site,
            server,
            cookie,
            csrf,
        }
    }

    pub fn as_agent(&self, agent: &str, tool: &str, arguments: Value) -> Value {
        let token = self.site.token(agent, "garden", Role::Worker);
        self.server.ok(&token, tool, arguments)
    }

    pub fn get(&self, page: &str) -> Answer {
        let ask = self.server.ask("GET", &format!("/garden/{page}"));
        ask.header("Cookie", &self.cookie).send()
    }

    pub fn act(&self, act: &str, fields: &str) -> Answer {
        let ask = self.server.ask("POST", &format!("/garden/do/{act}"));
        ask.header("Cookie", &self.cookie)
            .header("Accept", "application/json")
            .header("Content-Type", "application/x-www-form-urlencoded")
            .body(format!("csrf={}&{fields}", self.csrf))
            .send()
    }
}

/// Ada seeks, reads, selects, notes and proposes in `goals`, and then changes it.
fn reading(stage: &Stage) {
    let call = |tool: &str, arguments: Value| stage.as_agent("ada", tool, arguments);
    call(
        "reader_search",
        json!({"artifact": "goals", "query": "two"}),
    );
    call(
        "reader_scroll",
        json!({"artifact": "goals", "start": 1, "end": 2}),
    );
    call(
        "reader_select",
        json!({"artifact": "goals", "start": 2, "end": 2}),
    );
    call("reader_note", json!({"content": HOSTILE}));
    let shown = call("garden_artifact_show", json!({"artifact": "goals"}));
    let change = json!({"artifact": "goals", "based_on": shown["commit"], "content": "one\ndeux\nthree\n", "reasoning": HOSTILE});
    call("garden_artifact_commit", change);
}

/// The place of the newest step that has something.
fn step(steps: &Value, has: impl Fn(&Value) -> bool) -> i64 {
    let found = steps.as_array().unwrap().iter().find(|step| has(step));
    found.unwrap()["seq"].as_i64().unwrap()
}

#[on_both]
fn an_agent_is_followed_with_the_lines_lit(backend: Backend) {
    let stage = Stage::filled(backend);
    reading(&stage);
    let page = stage.get("agents/ada");
    assert_eq!(page.status, 200, "{}", page.body);
    says(
        &page.body,
        &[
            "The page goes where ",
            "in TASK-002 for ",
            "Pause the view",
            "changed ",
            "ada writes, lines 2 to 3",
            "class=\"is-written\" id=\"line-2\"",
            "deux",
            "sought “",
            "1 found",
        ],
    );
    for bad in ["<script>alert", "<img", "\u{202E}"] {
        assert!(!page.body.contains(bad), "{bad}");
    }
    let data = stage.data("agents/ada.json");
    assert_eq!(data["steps"][0]["look"]["does"], "changes", "{data}");
    assert_eq!(data["steps"][0]["look"]["lines"], json!([[2, 3]]));
    assert_eq!(data["steps"][1]["said"], HOSTILE);
    assert_eq!(data["agent"]["agent"], "ada");
    // Staying where one is: the document is the one of then, and the note stands beneath its line.
    let note = step(&data["steps"], |step| step["said"] == HOSTILE);
    let stays = stage.get(&format!("agents/ada?at={note}")).body;
    says(
        &stays,
        &[
            "You stay",
            "has gone on: 1 step.",
            "ada selects",
            "ada looks, lines 1 to 2",
            "class=\"is-selected\" id=\"line-2\"",
            ">two<",
            "ada</bdi> notes, ",
            "U+202E",
        ],
    );
    assert!(!stays.contains("deux"), "that was written later");
    assert!(!stays.contains("Pause the view"));
    // What is known of it beside its steps.
    let about = stage.get("agents/ada?peek=about").body;
    says(
        &about,
        &[
            "Reached by",
            "nothing, until it asks",
            "work/TASK-002",
            "threads/th_001",
            "Send to ",
        ],
    );
    let sent = stage.act("send", "to=ada&body=Well+done&key=k9");
    assert_eq!(sent.status, 200, "{}", sent.body);
    says(
        &stage.get("agents").body,
        &["href=\"/garden/agents/ada\"", "is here"],
    );
}

#[on_both]
fn steps_are_retraced_with_the_document_as_it_was(backend: Backend) {
    let stage = Stage::filled(backend);
    reading(&stage);
    let data = stage.data("agents/ada/retrace.json");
    let steps = data["steps"].as_array().unwrap();
    let seqs: Vec<i64> = steps
        .iter()
        .map(|step| step["seq"].as_i64().unwrap())
        .collect();
    assert!(seqs.is_sorted(), "the oldest first: {seqs:?}");
    assert_eq!(data["at"], seqs[0], "from the first");
    let look = step(&data["steps"], |step| step["look"]["does"] == "looks");
    let at = stage.get(&format!("agents/ada/retrace?at={look}")).body;
    let place = 1 + seqs.iter().position(|seq| *seq == look).unwrap();
    says(
        &at,
        &[
            &format!("Step {place} of {}", seqs.len()),
            "as it was at ",
            ">two<",
            "class=\"is-looked\" id=\"line-1\"",
            "rel=\"next\"",
            "rel=\"prev\"",
            "data-play",
        ],
    );
    assert!(!at.contains("deux"));
    let last = seqs[seqs.len() - 1];
    let at = stage.get(&format!("agents/ada/retrace?at={last}")).body;
    says(&at, &["deux", "class=\"is-written\" id=\"line-3\""]);
    assert!(!at.contains("rel=\"next\""));
    // A stretch by places and by moments; one in which nothing happened.
    let one = stage.data(&format!("agents/ada/retrace.json?from={look}&to={look}"));
    assert_eq!(one["steps"].as_array().unwrap().len(), 1, "{one}");
    assert_eq!(one["steps"][0]["seq"], look);
    let moment = data["steps"][2]["at"].as_str().unwrap();
    let until = stage.data(&format!("agents/ada/retrace.json?to={moment}"));
    for step in until["steps"].as_array().unwrap() {
        assert!(step["at"].as_str().unwrap() < moment, "{step}");
    }
    let none = stage.get("agents/ada/retrace?from=2099-01-01&to=2099-01-02");
    says(&none.body, &["did nothing in this time."]);
    assert_eq!(stage.get("agents/ada/retrace?from=nonsense").status, 400);
}

#[on_both]
fn nobody_is_made_up(backend: Backend) {
    let stage = Stage::filled(backend);
    for name in [
        "agents/nobody",
        "agents/nobody/retrace",
        "agents/%3Cscript%3E",
    ] {
        let page = stage.get(name);
        assert_eq!(page.status, 404, "{name}: {}", page.body);
        says(&page.body, &["Nobody is called"]);
        assert!(!page.body.contains("<script>"), "{name}");
    }
    // A person can be followed as well.
    assert_eq!(stage.act("plan", "summary=Mine").status, 200);
    says(&stage.get("agents/ann").body, &["made ", "TASK-004"]);
}

#[on_both]
fn what_others_say_in_private_is_in_no_step(backend: Backend) {
    let worker = Visitor::new(backend, Role::Worker);
    let secret = json!({"to": ["cleo"], "title": "Secret plans", "body": "A secret word"});
    worker.as_agent("bob", "post_message", secret);
    let open = json!({"to": ["ann"], "title": "Open words", "body": "For all who asked"});
    worker.as_agent("bob", "post_message", open);
    for page in [
        "agents/bob",
        "agents/bob?peek=about",
        "agents/bob.json",
        "agents/bob/retrace",
        "agents/bob/retrace.json",
    ] {
        let shown = worker.get(page);
        assert_eq!(shown.status, 200, "{page}: {}", shown.body);
        assert!(!shown.body.to_lowercase().contains("secret"), "{page}");
        assert!(!shown.body.contains("th_001"), "{page}");
        assert!(shown.body.contains("For all who asked"), "{page}");
    }
    // An agent of whom there is nothing else to read is not there.
    let secret = json!({"to": ["cleo"], "title": "Secret plans", "body": "A secret word"});
    worker.as_agent("mallory", "post_message", secret);
    let shown = worker.get("agents/mallory").body;
    assert!(!shown.to_lowercase().contains("secret"), "{shown}");
}

#[on_both]
fn much_is_shown_in_parts(backend: Backend) {
    let stage = Stage::new(backend);
    let nodes: Vec<Value> = (0..150)
        .map(
            |n| json!({"ref": format!("n{n}"), "summary": format!("Task {n} {}", "w".repeat(900))}),
        )
        .collect();
    stage.as_agent("ada", "graph_plan", json!({"nodes": nodes}));
    let lines: Vec<String> = (1..=3_000).map(|n| format!("this is line {n}")).collect();
    let text = json!({"label": "long", "content": lines.join("\n")});
    stage.as_agent("ada", "garden_artifact_create", text);
    let look = json!({"artifact": "long", "start": 2_000, "end": 2_010});
    stage.as_agent("ada", "reader_scroll", look);
    let page = stage.get("agents/ada").body;
    assert_eq!(page.matches("id=\"step-").count(), 60);
    assert_eq!(page.matches("id=\"line-").count(), 400);
    says(
        &page,
        &[
            "class=\"is-looked\" id=\"line-2000\"",
            "lines before these",
            "lines after these",
        ],
    );
    assert!(page.matches("<rect class=\"bar\"").count() <= 240);
    let retrace = stage.get("agents/ada/retrace").body;
    assert_eq!(retrace.matches("id=\"step-").count(), 100);
    says(&retrace, &["Step 1 of 100", "Show 100 before"]);
    let before = retrace.split("retrace?to=").nth(1).unwrap();
    let before = before.split('"').next().unwrap();
    let earlier = stage.get(&format!("agents/ada/retrace?to={before}")).body;
    says(&earlier, &["of 54", "Task 0 "]);
}

#[on_both]
fn a_person_follows_and_retraces(backend: Backend) {
    let site = AppState::new(backend);
    let server = site.serve_with(&[], &[("UNDERSTORY_RATE_PER_SECOND", "1000000")]);
    browser::own_workspace(&site);
    let token = site.token("ada", "garden", Role::Worker);
    let lines: Vec<String> = (1..=120).map(|n| format!("line {n} {HOSTILE}")).collect();
    let text = json!({"label": "goals", "content": lines.join("\n")});
    server.ok(&token, "garden_artifact_create", text);
    let look = json!({"artifact": "goals", "start": 1, "end": 12});
    server.ok(&token, "reader_scroll", look);
    browser::run(&site, &server, "agents");
}
