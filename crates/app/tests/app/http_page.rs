//! Browsers: whose pages may call, what an answer lets them do, and a person's login.

use crate::shell;
use crate::web::{AppState, Server};
use serde_json::json;
use understory_model::Role;
use understory_testkit::{Backend, on_both};

#[test]
fn hosts_and_origins_are_checked_everywhere() {
    let site = AppState::new(Backend::sqlite());
    let server = site.serve();
    let ada = site.token("ada", "garden", Role::Worker);
    let own = format!("127.0.0.1:{}", server.port);
    for (method, path) in [
        ("POST", "/v1/graph_onboard"),
        ("POST", "/mcp"),
        ("GET", "/healthz"),
        ("GET", "/"),
        ("GET", "/v1/openapi.json"),
        ("GET", "/nothing"),
    ] {
        let ask = server.ask(method, path).token(&ada).json(&json!({}));
        let ask = if path == "/mcp" { ask.mcp() } else { ask };
        for host in ["evil.example", "127.0.0.1.evil.example", "evil.example:80"] {
            let answer = ask.clone().host(Some(host)).send();
            assert_eq!(
                (answer.status, answer.code().as_str()),
                (403, "FORBIDDEN"),
                "{path}"
            );
            assert!(
                answer.json()["error"]["recovery_hint"]
                    .as_str()
                    .unwrap()
                    .contains("url")
            );
        }
        assert_eq!(ask.clone().host(None).send().status, 400, "{path}");
        for origin in [
            "http://evil.example",
            "null",
            "http://localhost:1",
            "https://127.0.0.1",
        ] {
            let answer = ask.clone().header("Origin", origin).send();
            assert_eq!(
                (answer.status, answer.code().as_str()),
                (403, "FORBIDDEN"),
                "{path}"
            );
        }
        let same = ask
            .clone()
            .header("Origin", &format!("http://{own}"))
            .send();
        assert_ne!(same.status, 403, "{path}: {}", same.body);
    }
    let named = site.serve_with(&["--url", "https://memory.example.com"], &[]);
    let ask = named
        .ask("POST", "/v1/graph_onboard")
        .token(&ada)
        .json(&json!({}));
    let ask = ask.host(Some("memory.example.com"));
    assert_eq!(ask.send().status, 200);
    let page = ask.clone().header("Origin", "https://memory.example.com");
    assert_eq!(page.send().status, 200);
    let about = named
        .get("/.well-known/oauth-protected-resource/mcp")
        .json();
    assert_eq!(about["resource"], "https://memory.example.com/mcp");
}

#[test]
fn every_answer_bears_the_headers_that_keep_browsers_safe() {
    let site = AppState::new(Backend::sqlite());
    let server = site.serve();
    for path in [
        "/",
        "/healthz",
        "/metrics",
        "/v1/graph_next",
        "/mcp",
        "/x",
        "/login/nope",
    ] {
        let answer = server.get(path);
        assert_eq!(
            answer.header("x-content-type-options"),
            Some("nosniff"),
            "{path}"
        );
        assert_eq!(answer.header("cache-control"), Some("no-store"), "{path}");
        assert_eq!(answer.header("x-frame-options"), Some("DENY"), "{path}");
        let policy = answer.header("content-security-policy").unwrap();
        assert!(
            policy.contains("default-src 'none'") && !policy.contains("script"),
            "{path}"
        );
        assert!(answer.header("referrer-policy").is_some(), "{path}");
        assert!(
            answer.header("access-control-allow-origin").is_none(),
            "{path}"
        );
    }
}

/// The cookie that a login's link is traded for, and the other half from the page.
pub fn log_in(server: &Server) -> (String, String) {
    let path = format!("/login/{}", server.login);
    // Programs that check links do not spend them.
    for method in ["HEAD", "GET", "GET"] {
        let asked = server.ask(method, &path).send();
        assert_eq!((asked.status, asked.header("set-cookie")), (200, None));
    }
    shell::says(
        &server.get(&path).body,
        &["<form method=\"post\"><button>Log in"],
    );
    let moved = server.ask("POST", &path).send();
    assert_eq!((moved.status, moved.header("location")), (303, Some("/")));
    let set = moved.header("set-cookie").unwrap();
    for part in ["HttpOnly", "SameSite=Strict", "Path=/"] {
        assert!(set.contains(part), "{set}");
    }
    assert!(!set.contains("Secure"), "on loopback there is no TLS");
    let cookie = set.split(';').next().unwrap().to_owned();
    let page = server.ask("GET", "/").header("Cookie", &cookie).send();
    shell::says(
        &page.body,
        &["You are <b>ann</b> (operator)", "workspace <b>garden</b>"],
    );
    let csrf = page.body.split("X-CSRF-Token: ").nth(1).unwrap();
    (cookie, csrf.split('<').next().unwrap().to_owned())
}

#[test]
fn a_person_logs_in_by_a_link_that_works_once() {
    let site = AppState::new(Backend::sqlite());
    let server = site.serve();
    assert!(server.get("/").body.contains("Nobody is logged in"));
    let (cookie, csrf) = log_in(&server);
    assert_eq!(server.get(&format!("/login/{}", server.login)).status, 404);
    assert_eq!(server.get("/login/").status, 404);
    assert_eq!(
        server.get(&format!("/login/{}", "0".repeat(64))).status,
        404
    );

    let ask = server
        .ask("POST", "/v1/graph_open")
        .json(&json!({"project": "p", "goal": "g"}));
    assert_eq!(ask.send().status, 401);
    let bare = ask.clone().header("Cookie", &cookie);
    let refused = bare.send();
    assert_eq!(
        (refused.status, refused.code().as_str()),
        (403, "FORBIDDEN")
    );
    assert_eq!(
        bare.clone().header("X-CSRF-Token", "guess").send().status,
        403
    );
    assert_eq!(ask.clone().header("X-CSRF-Token", &csrf).send().status, 401);
    let whole = bare.header("X-CSRF-Token", &csrf);
    let foreign = whole.clone().header("Origin", "http://evil.example").send();
    assert_eq!(foreign.status, 403);
    let answer = whole.send();
    assert_eq!(answer.status, 200, "{}", answer.body);
    assert_eq!(answer.json()["root"]["created_by"], "ann");
    // A login is for the page, not for agents.
    let mcp = server.ask("POST", "/mcp").mcp().json(&json!({}));
    let mcp = mcp.header("Cookie", &cookie).header("X-CSRF-Token", &csrf);
    assert_eq!(mcp.send().status, 401);

    let leave = server.ask("POST", "/logout").header("Cookie", &cookie);
    assert_eq!(
        leave.send().status,
        403,
        "anybody's form could have sent it"
    );
    let origin = format!("http://127.0.0.1:{}", server.port);
    assert_eq!(leave.header("Origin", &origin).send().status, 303);
    assert_eq!(whole.send().status, 401);
    let put = server
        .ask("PUT", &format!("/login/{}", server.login))
        .send();
    assert_eq!((put.status, put.header("allow")), (405, Some("GET, POST")));
}

#[test]
fn an_encrypted_connection_takes_the_cookie_that_no_other_host_can_set() {
    let site = AppState::new(Backend::sqlite());
    let server = site.serve_with(&["--url", "https://memory.example.com"], &[]);
    let path = format!("/login/{}", server.login);
    let moved = server.ask("POST", &path).send();
    let set = moved.header("set-cookie").unwrap();
    assert!(set.ends_with("; Secure"), "{set}");
    let cookie = set.split(';').next().unwrap();
    let (name, value) = cookie.split_once('=').unwrap();
    assert_eq!(name, "__Host-understory");
    let page = |cookie: &str| {
        let page = server.ask("GET", "/").header("Cookie", cookie).send();
        page.body.contains("You are <b>ann</b>")
    };
    assert!(page(cookie));
    assert!(!page(&format!("understory={value}")));
    assert!(page(&format!("understory=planted; {cookie}")));
}

#[on_both]
fn a_login_ends_everywhere_and_with_its_session(backend: Backend) {
    let site = AppState::new(backend);
    let server = site.serve();
    let (cookie, _) = log_in(&server);
    let page = || server.ask("GET", "/").header("Cookie", &cookie).send().body;
    let session = page();
    let session = session.split("token revoke --session ").nth(1).unwrap();
    let session = session.split(' ').next().unwrap().to_owned();
    let done = site
        .command(&[
            "token",
            "revoke",
            "--session",
            &session,
            "--workspace",
            "garden",
        ])
        .output()
        .unwrap();
    assert!(done.status.success(), "{done:?}");
    assert!(page().contains("Nobody is logged in"));

    let server = site.serve();
    let (cookie, csrf) = log_in(&server);
    let origin = format!("http://127.0.0.1:{}", server.port);
    let leave = server
        .ask("POST", "/logout?everywhere")
        .header("Origin", &origin);
    let ask = server.ask("POST", "/v1/graph_onboard").json(&json!({}));
    let ask = ask.header("Cookie", &cookie).header("X-CSRF-Token", &csrf);
    assert_eq!(leave.send().status, 303);
    assert_eq!(
        ask.send().status,
        200,
        "only one who is logged in ends logins"
    );
    assert_eq!(leave.header("Cookie", &cookie).send().status, 303);
    assert_eq!(ask.send().status, 401);
}
