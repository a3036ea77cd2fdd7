//! The pages of a workspace: what each shows, as a page and as data, what a form does, and who may see them.

use std::io::{BufRead, BufReader};
use std::net::TcpStream;

use serde_json::{Value, json};
use understory_model::Role;
use understory_testkit::{Backend, on_both};

use crate::http_page::log_in;
use crate::shell::says;
use crate::web::{Answer, AppState, Server};

/// A server whose workspace has something of everything that the pages show.
pub struct Stage {
    pub site: AppState,
    pub server: Server,
    cookie: String,
    csrf: String,
}

pub const HOSTILE: &str = "<script>alert(1)</script>\u{202E}\"'><img src=x onerror=alert(1)>";

impl Stage {
    pub fn new(backend: Backend) -> Stage {
        let site = AppState::new(backend);
        let server = site.serve();
        let (cookie, csrf) = log_in(&server);
        Stage {
            site,
            server,
            cookie,
            csrf,
        }
    }

    /// Runs a script of `browser/` as the person who is logged in here.
    pub fn browse(&self, script: &str, vars: &[(&str, &str)]) {
        let vars = [vars, &[("COOKIE", self.cookie.as_str())]].concat();
        crate::browser::run_with(&self.site, &self.server, script, &vars);
    }

    pub fn filled(backend: Backend) -> Stage {
        let stage = Stage::new(backend);
        let plan = json!({"nodes": [{"ref": "a", "summary": HOSTILE}, {"ref": "b", "summary": "Sell"},
            {"ref": "c", "summary": "Count", "depends_on": ["b"]}]});
        stage.as_agent("ada", "graph_plan", plan);
        let claim = json!({"updates": [{"node_id": "TASK-002", "claim": true}]});
        stage.as_agent("ada", "graph_update", claim);
        let asks =
            json!({"to": ["ann"], "title": HOSTILE, "body": format!("{HOSTILE} see TASK-002")});
        stage.as_agent("ada", "post_message", asks);
        let text = json!({"label": "goals", "content": "one\ntwo\n"});
        stage.as_agent("ada", "garden_artifact_create", text);
        let proposal = json!({"artifact": "goals", "start": 2, "end": 2, "content": "zwei", "reasoning": HOSTILE});
        stage.as_agent("bob", "reader_propose", proposal);
        stage
    }

    pub fn as_agent(&self, agent: &str, tool: &str, arguments: Value) -> Value {
        let token = self.site.token(agent, "garden", Role::Worker);
        self.server.ok(&token, tool, arguments)
    }

    pub fn get(&self, page: &str) -> Answer {
        let ask = self.server.ask("GET", &format!("/garden/{page}"));
        ask.header("Cookie", &self.cookie).send()
    }

    pub fn data(&self, page: &str) -> Value {
        let answer = self.get(page);
        assert_eq!(answer.status, 200, "{page}: {}", answer.body);
        answer.json()
    }

    /// Sends a form as the script does.
    pub fn act(&self, act: &str, fields: &str) -> Answer {
        let body = format!("csrf={}&{fields}", self.csrf);
        let ask = self.server.ask("POST", &format!("/garden/do/{act}"));
        ask.header("Cookie", &self.cookie)
            .header("Accept", "application/json")
            .header("Content-Type", "application/x-www-form-urlencoded")
            .body(body)
            .send()
    }
}

const PAGES: [&str; 12] = [
    "now",
    "timeline",
    "work",
    "work/TASK-001",
    "threads",
    "threads/th_001",
    "timeline?by=ada&of=TASK-001",
    "artifacts",
    "artifacts/goals",
    "why/goals:2",
    "search?q=script",
    "search",
];

#[on_both]
fn every_page_is_shown_with_what_was_stored_as_text(backend: Backend) {
    let stage = Stage::filled(backend);
    for page in PAGES {
        let shown = stage.get(page);
        assert_eq!(shown.status, 200, "{page}: {}", shown.body);
        assert!(!shown.body.contains("<script>alert"), "{page}");
        assert!(!shown.body.contains("<img"), "{page}");
        assert!(!shown.body.contains('\u{202E}'), "{page}");
        let policy = shown.header("content-security-policy").unwrap();
        says(policy, &["default-src 'none'", "script-src 'self'"]);
        assert!(!policy.contains("unsafe"), "{policy}");
        let (path, query) = page.split_once('?').unwrap_or((page, ""));
        let data = stage.data(&format!("{path}.json?{query}"));
        assert!(data.is_object(), "{page}: {data}");
    }
    let now = stage.get("now").body;
    says(
        &now,
        &[
            "(2) Now",
            "proposes to change",
            "works on",
            "Sell",
            "Here now",
        ],
    );
    says(
        &stage.get("work/TASK-002").body,
        &["Take over", "Why is this here?"],
    );
    says(
        &stage.get("artifacts/goals").body,
        &["artifacts/goals%3A2", "Version 1 of 1"],
    );
    says(
        &stage.get("search?q=Sell").body,
        &["href=\"/garden/work/TASK-002\""],
    );
    let moved = stage.get("go/th_001");
    assert_eq!(
        (moved.status, moved.header("location")),
        (303, Some("/garden/threads/th_001"))
    );
    let thread = stage.get("threads/th_001").body;
    says(&thread, &["href=\"/garden/go/TASK-002\"", "U+202E"]);
}

#[on_both]
fn an_empty_workspace_teaches(backend: Backend) {
    let stage = Stage::new(backend);
    for (page, words) in [
        ("now", "Nobody works here yet."),
        ("work", "No tasks yet."),
        ("threads", "No threads."),
        ("artifacts", "No documents."),
        ("search?q=shoes", "Nothing found for"),
    ] {
        let shown = stage.get(page);
        assert_eq!(shown.status, 200, "{page}: {}", shown.body);
        says(&shown.body, &[words]);
    }
    assert_eq!(stage.get("work/TASK-001").status, 404);
}

#[on_both]
fn a_form_is_a_call_of_a_tool_by_the_person(backend: Backend) {
    let stage = Stage::filled(backend);
    let done = stage.act("post", "thread=th_001&upto=1&body=Take+it&key=k1");
    assert_eq!(done.status, 200, "{}", done.body);
    // The same form twice says it once.
    assert_eq!(
        stage
            .act("post", "thread=th_001&upto=1&body=Take+it&key=k1")
            .status,
        200
    );
    let thread = stage.data("threads/th_001.json");
    let said = thread["messages"]["messages"].as_array().unwrap();
    assert_eq!(said.len(), 2, "{thread}");
    assert_eq!(said[1]["body"], "Take it");
    assert_eq!(said[1]["sender_agent_id"], "ann");
    assert_eq!(thread["thread"]["last_read_seq"], 1);
    assert_eq!(stage.data("now.json")["needs_you"][0]["kind"], "proposal");
    assert_eq!(
        stage.act("decide", "proposal=prop_001&accept=true").status,
        200
    );
    assert_eq!(stage.data("now.json")["needs_you"], json!([]));
    assert_eq!(stage.act("resolve", "node=TASK-003").status, 200);
    let board = stage.data("work.json?view=board");
    assert_eq!(board["done"]["tasks"][0]["id"], "TASK-003", "{board}");
    assert_eq!(
        board["in_hand"]["tasks"][0]["claim"]["by"], "ada",
        "{board}"
    );
    // What is wrong changes nothing, and says what.
    let refused = stage.act("resolve", "node=TASK-999");
    assert_eq!(
        (refused.status, refused.code().as_str()),
        (404, "NOT_FOUND")
    );
    let refused = stage.act("post", "thread=th_001&upto=1");
    says(&refused.json()["error"]["message"].to_string(), &["body"]);
    assert_eq!(stage.act("drop_everything", "").status, 404);
    // Without the script the browser is sent back to the page.
    let ask = stage.server.ask("POST", "/garden/do/plan");
    let form = format!("csrf={}&summary=New&back=//evil.example", stage.csrf);
    let moved = ask
        .header("Cookie", &stage.cookie)
        .header("Content-Type", "application/x-www-form-urlencoded")
        .body(form)
        .send();
    assert_eq!(moved.status, 303, "{}", moved.body);
    assert_eq!(moved.header("location"), Some("/garden/evil.example"));
}

#[on_both]
fn pages_and_forms_are_for_the_person_alone(backend: Backend) {
    let stage = Stage::filled(backend);
    for page in PAGES {
        let asked = stage.server.get(&format!("/garden/{page}"));
        assert_eq!(asked.status, 401, "{page}");
        assert!(!asked.body.contains("TASK"), "{page}");
    }
    assert_eq!(stage.server.get("/garden/events").status, 401);
    // A token is for programs.
    let token = stage.site.token("ada", "garden", Role::Worker);
    assert_eq!(
        stage
            .server
            .ask("GET", "/garden/now")
            .token(&token)
            .send()
            .status,
        401
    );
    let other = stage
        .server
        .ask("GET", "/elsewhere/now")
        .header("Cookie", &stage.cookie)
        .send();
    assert_eq!(other.status, 404, "{}", other.body);
    for csrf in ["", "csrf=guess&"] {
        let ask = stage.server.ask("POST", "/garden/do/plan");
        let ask = ask
            .header("Cookie", &stage.cookie)
            .header("Content-Type", "application/x-www-form-urlencoded")
            .body(format!("{csrf}summary=Forged"));
        assert_eq!(ask.send().status, 403);
    }
    let before = stage.data("work.json");
    assert!(!before.to_string().contains("Forged"));
    assert_eq!(stage.server.get("/assets/page.js").status, 200);
    assert_eq!(stage.server.get("/assets/../Cargo.toml").status, 404);
    assert_eq!(stage.get("nothing").status, 404);
}

#[on_both]
fn long_things_are_shown_to_their_end(backend: Backend) {
    let stage = Stage::filled(backend);
    for n in 0..30 {
        let body = format!("word {n} {}", "a ".repeat(3_000));
        stage.as_agent(
            "ada",
            "post_message",
            json!({"thread_id": "th_001", "body": body}),
        );
    }
    says(&stage.get("threads/th_001").body, &["word 0 ", "word 29 "]);
    let lines: String = (1..=1_200).map(|n| format!("line number {n}\n")).collect();
    let text = json!({"label": "long", "content": lines});
    stage.as_agent("ada", "garden_artifact_create", text);
    let first = stage.get("artifacts/long").body;
    says(&first, &["line number 500<", "artifacts/long?start=501"]);
    assert!(!first.contains("line number 501<"));
    let last = stage.get("artifacts/long?start=1001").body;
    says(&last, &["line number 1200<"]);
    assert!(!last.contains("?start=1501"), "nothing follows");
}

/// The next event of a stream: its number.
fn event(stream: &mut BufReader<TcpStream>) -> i64 {
    let mut line = String::new();
    loop {
        line.clear();
        assert_ne!(
            stream.read_line(&mut line).unwrap(),
            0,
            "the stream has ended"
        );
        if let Some(id) = line.trim().strip_prefix("id: ") {
            return id.parse().unwrap();
        }
    }
}

#[on_both]
fn a_page_hears_of_every_commit(backend: Backend) {
    let stage = Stage::filled(backend);
    let ask = stage
        .server
        .ask("GET", "/garden/events")
        .header("Cookie", &stage.cookie);
    let mut stream = ask.open();
    let first = event(&mut stream);
    stage.as_agent(
        "bob",
        "graph_plan",
        json!({"nodes": [{"ref": "n", "summary": "News"}]}),
    );
    assert!(event(&mut stream) > first);
}

/// Logs in as a browser does that `understory open` opened; where it ends up, and the cookie.
fn followed(server: &Server, link: &str) -> (String, String) {
    let port = server.port;
    let path = link.split_once(&format!(":{port}")).unwrap().1;
    let asked = server.get(path);
    says(&asked.body, &["data-go", "/assets/page.js"]);
    let moved = server.ask("POST", path).send();
    assert_eq!(moved.status, 303, "{}", moved.body);
    let cookie = moved
        .header("set-cookie")
        .unwrap()
        .split(';')
        .next()
        .unwrap();
    (
        moved.header("location").unwrap().to_owned(),
        cookie.to_owned(),
    )
}

fn port_of(link: &str) -> u16 {
    let port = link.strip_prefix("http://127.0.0.1:").unwrap();
    port.split('/').next().unwrap().parse().unwrap()
}

#[on_both]
fn open_logs_in_to_the_server_that_runs(backend: Backend) {
    let stage = Stage::filled(backend);
    for (page, ends) in [
        ("now", "/garden/now"),
        ("threads/th_001", "/garden/threads/th_001"),
        ("TASK-001", "/garden/go/TASK-001"),
        ("../../x", "/garden/go/x"),
    ] {
        let done = stage
            .site
            .command(&["open", "--print", page])
            .output()
            .unwrap();
        let out = String::from_utf8(done.stdout).unwrap();
        assert!(
            done.status.success(),
            "{out} {}",
            String::from_utf8_lossy(&done.stderr)
        );
        let (place, cookie) = followed(&stage.server, out.trim());
        assert_eq!(place, ends);
        let ask = stage
            .server
            .ask("GET", "/garden/now")
            .header("Cookie", &cookie);
        assert_eq!(ask.send().status, 200);
    }
    for key in ["", "0000"] {
        let ask = stage
            .server
            .ask("POST", "/login")
            .header("x-understory-door", key);
        assert_eq!(ask.send().status, 403);
    }
    // An agent's shell is not a person.
    let mut agent = stage.site.command(&["open", "--print"]);
    let done = agent.env("CLAUDECODE", "1").output().unwrap();
    assert!(!done.status.success());
    says(&String::from_utf8_lossy(&done.stderr), &["for people"]);
}

#[test]
fn two_servers_do_not_log_each_other_out() {
    // A browser sends what either has set to both, because it does not tell ports apart.
    let sites = [(); 2].map(|()| AppState::new(Backend::sqlite()));
    let servers = sites.each_ref().map(AppState::serve);
    let cookies = servers.each_ref().map(|server| log_in(server).0);
    let names = cookies
        .each_ref()
        .map(|cookie| cookie.split('=').next().unwrap());
    assert_ne!(names[0], names[1]);
    for server in &servers {
        let ask = server
            .ask("GET", "/garden/now")
            .header("Cookie", &cookies.join("; "));
        assert_eq!(ask.send().status, 200);
    }
}

#[test]
fn open_starts_a_server_that_stays() {
    let site = AppState::new(Backend::sqlite());
    let open = || {
        let mut command = site.command(&["open", "--print"]);
        let done = command
            .env("UNDERSTORY_LISTEN", "127.0.0.1:0")
            .output()
            .unwrap();
        let told = String::from_utf8_lossy(&done.stderr).into_owned();
        assert!(done.status.success(), "{told}");
        (
            String::from_utf8(done.stdout).unwrap().trim().to_owned(),
            told,
        )
    };
    let (link, told) = open();
    says(&told, &["Started `understory serve`, process "]);
    let process = told
        .split("process ")
        .nth(1)
        .unwrap()
        .split('.')
        .next()
        .unwrap()
        .to_owned();
    let (again, quiet) = open();
    let stop = std::process::Command::new("kill").arg(&process).status();
    assert!(stop.unwrap().success());
    assert_eq!(port_of(&link), port_of(&again), "one server is enough");
    assert!(!quiet.contains("Started"), "{quiet}");
}
