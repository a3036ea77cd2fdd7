//! Tokens of another issuer: believed as far as it is named, with keys that are read and fetched
//! with care.

use crate::web;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::mpsc::Receiver;

use crate::web::{AppState, Server};
use serde_json::json;
use understory::token::{self, jws};
use understory_model::Role;
use understory_testkit::Backend;

/// Calls with a token; the status.
fn status(server: &Server, token: &str) -> u16 {
    server.call(token, "graph_onboard", json!({})).status
}

/// A key set of another issuer, and a way to sign for it.
struct Stranger {
    _dir: tempfile::TempDir,
    keys: token::keys::Keys,
}

impl Stranger {
    fn new() -> Stranger {
        let dir = tempfile::tempdir().unwrap();
        let keys = token::keys::Keys::in_folder(dir.path());
        keys.rotate().unwrap();
        Stranger { _dir: dir, keys }
    }

    fn set(&self) -> String {
        token::keys::set(&self.keys.public().unwrap()).to_string()
    }

    fn token(&self, site: &AppState, issuer: &str, audience: &str) -> String {
        self.naming(site, (issuer, audience), "garden", Role::Worker)
    }

    /// A token for a workspace and a role.
    fn naming(&self, site: &AppState, by: (&str, &str), workspace: &str, role: Role) -> String {
        let (issuer, audience) = by;
        let key = self.keys.signing().unwrap();
        let (mut header, mut claims) = site.good();
        header["kid"] = json!(key.kid());
        claims["iss"] = json!(issuer);
        claims["aud"] = json!(audience);
        claims["workspace_id"] = json!(workspace);
        claims["role"] = json!(role.as_str());
        jws::compact(&header, &claims, |bytes| key.sign(bytes))
    }
}

#[test]
fn another_issuer_is_believed_as_far_as_it_is_named() {
    let site = AppState::new(Backend::sqlite());
    let stranger = Stranger::new();
    let file = site.shell.path("jwks.json");
    std::fs::write(&file, stranger.set()).unwrap();
    let vars = [
        ("UNDERSTORY_ISSUER", "https://id.example"),
        ("UNDERSTORY_AUDIENCE", "memory"),
        ("UNDERSTORY_JWKS", file.to_str().unwrap()),
        ("UNDERSTORY_ISSUER_WORKSPACES", "garden"),
        ("UNDERSTORY_ISSUER_ROLES", "worker"),
    ];
    let server = site.serve_with(&[], &vars);
    let theirs = |issuer: &str, audience: &str| stranger.token(&site, issuer, audience);
    assert_eq!(
        status(&server, &theirs("https://id.example", "memory")),
        200
    );
    assert_eq!(
        status(&server, &theirs("https://id.example", "understory")),
        401
    );
    assert_eq!(
        status(&server, &theirs("https://other.example", "memory")),
        401
    );
    assert_eq!(status(&server, &theirs("understory", "understory")), 401);
    // The store's own key does not speak for the other issuer.
    let (header, mut claims) = site.good();
    claims["iss"] = json!("https://id.example");
    claims["aud"] = json!("memory");
    assert_eq!(status(&server, &site.signed(&header, &claims)), 401);
    assert_eq!(
        status(&server, &site.token("ada", "garden", Role::Worker)),
        200
    );
    let about = server.get("/.well-known/oauth-protected-resource").json();
    assert_eq!(
        about["authorization_servers"],
        json!(["https://id.example"])
    );
    // A key that the issuer has withdrawn is forgotten.
    let old = theirs("https://id.example", "memory");
    std::fs::write(&file, r#"{"keys": []}"#).unwrap();
    let begun = std::time::Instant::now();
    while status(&server, &old) != 401 {
        assert!(begun.elapsed() < web::PATIENCE);
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    let done = site
        .command(&["serve", "--listen", "127.0.0.1:0"])
        .env("UNDERSTORY_ISSUER", "https://id.example")
        .output()
        .unwrap();
    assert_eq!(done.status.code(), Some(2), "half a setting is none");
}

/// Serves a key set to whoever asks, also as a proxy would; its address and who asked.
fn served(set: String) -> (String, Receiver<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let (asked, count) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut stream = stream;
            let _ = asked.send(());
            let mut head = [0; 4_096];
            let read = stream.read(&mut head).unwrap_or(0);
            if head[..read].starts_with(b"CONNECT") {
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n");
                let _ = stream.read(&mut head);
            }
            let _ = write!(
                stream,
                "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{set}",
                set.len()
            );
        }
    });
    (address, count)
}

#[test]
fn keys_of_this_machine_are_never_fetched_through_a_proxy() {
    let (issuer, attacker) = (Stranger::new(), Stranger::new());
    let (address, asked) = served(issuer.set());
    let (proxy, through) = served(attacker.set());
    let (jwks, proxy) = (format!("http://{address}/jwks"), format!("http://{proxy}"));
    let names = [
        "HTTP_PROXY",
        "http_proxy",
        "HTTPS_PROXY",
        "https_proxy",
        "ALL_PROXY",
        "all_proxy",
    ];
    for name in names {
        let site = AppState::new(Backend::sqlite());
        let vars = [
            ("UNDERSTORY_ISSUER", "platform"),
            ("UNDERSTORY_AUDIENCE", "memory"),
            ("UNDERSTORY_JWKS", jwks.as_str()),
            ("UNDERSTORY_ISSUER_WORKSPACES", "*"),
            ("UNDERSTORY_ISSUER_ROLES", "*"),
            ("NO_PROXY", ""),
            ("no_proxy", ""),
            (name, proxy.as_str()),
        ];
        let server = site.serve_with(&[], &vars);
        let forged = attacker.token(&site, "platform", "memory");
        assert_eq!(
            status(&server, &forged),
            401,
            "{name}: the proxy chose the keys"
        );
        let good = issuer.token(&site, "platform", "memory");
        assert_eq!(status(&server, &good), 200, "{name}");
    }
    assert_eq!(asked.try_iter().count(), names.len());
    assert_eq!(through.try_iter().count(), 0);
}

#[test]
fn another_issuers_keys_are_fetched_once() {
    let site = AppState::new(Backend::sqlite());
    let stranger = Stranger::new();
    let (address, count) = served(stranger.set());
    let address = format!("http://{address}/jwks");
    let vars = [
        ("UNDERSTORY_ISSUER", "platform"),
        ("UNDERSTORY_AUDIENCE", "memory"),
        ("UNDERSTORY_JWKS", address.as_str()),
        ("UNDERSTORY_ISSUER_WORKSPACES", "garden"),
        ("UNDERSTORY_ISSUER_ROLES", "*"),
    ];
    let server = site.serve_with(&[], &vars);
    let good = stranger.token(&site, "platform", "memory");
    assert_eq!(status(&server, &good), 200);
    let unknown = Stranger::new();
    for _ in 0..20 {
        assert_eq!(
            status(&server, &unknown.token(&site, "platform", "memory")),
            401
        );
    }
    assert_eq!(status(&server, &good), 200);
    assert_eq!(count.try_iter().count(), 1);
}

/// A server that knows an issuer with these two settings.
fn with_mapping(
    site: &AppState,
    jwks: &str,
    workspaces: Option<&str>,
    roles: Option<&str>,
) -> Server {
    let mut vars = vec![
        ("UNDERSTORY_ISSUER", "platform"),
        ("UNDERSTORY_AUDIENCE", "memory"),
        ("UNDERSTORY_JWKS", jwks),
    ];
    vars.extend(workspaces.map(|names| ("UNDERSTORY_ISSUER_WORKSPACES", names)));
    vars.extend(roles.map(|names| ("UNDERSTORY_ISSUER_ROLES", names)));
    site.serve_with(&[], &vars)
}

#[test]
fn an_issuer_names_only_the_workspaces_and_roles_that_it_was_given() {
    let site = AppState::new(Backend::sqlite());
    let stranger = Stranger::new();
    let file = site.shell.path("jwks.json");
    std::fs::write(&file, stranger.set()).unwrap();
    let jwks = file.to_str().unwrap();
    let token = |workspace: &str, role: Role| {
        stranger.naming(&site, ("platform", "memory"), workspace, role)
    };
    let told = |server: &Server, workspace: &str, role: Role| {
        let answer = server.call(&token(workspace, role), "graph_onboard", json!({}));
        let message = answer.json()["error"]["message"].clone();
        (
            answer.status,
            message.as_str().unwrap_or_default().to_owned(),
        )
    };
    // Nothing is allowed that was not written down, and the refusal says where.
    for (workspaces, roles, missing) in [
        (None, None, "issuer_workspaces"),
        (None, Some("*"), "issuer_workspaces"),
        (Some("*"), None, "issuer_roles"),
    ] {
        let server = with_mapping(&site, jwks, workspaces, roles);
        let (status, message) = told(&server, "garden", Role::Worker);
        assert!(
            status == 401 && message.contains(missing),
            "{status} {message}"
        );
    }
    let server = with_mapping(&site, jwks, Some("garden, shop"), Some("worker,auditor"));
    for (workspace, role, good) in [
        ("garden", Role::Worker, true),
        ("shop", Role::Auditor, true),
        ("garden", Role::Operator, false),
        ("garden", Role::Orchestrator, false),
        ("bank", Role::Worker, false),
        ("garden-2", Role::Worker, false),
    ] {
        let (status, message) = told(&server, workspace, role);
        assert_eq!(
            status,
            if good { 200 } else { 401 },
            "{workspace} {role}: {message}"
        );
        let setting = if role.directs() {
            "issuer_roles"
        } else {
            "issuer_workspaces"
        };
        assert!(good || message.contains(setting), "{message}");
    }
    // The store's own tokens are not bound by it.
    let own = site.token("ada", "bank", Role::Operator);
    assert_eq!(status(&server, &own), 200);
    let all = with_mapping(&site, jwks, Some("*"), Some("*"));
    assert_eq!(told(&all, "bank", Role::Operator).0, 200);
    // What is neither a name nor a role is refused before anybody calls.
    let done = site
        .command(&["serve", "--listen", "127.0.0.1:0"])
        .envs([
            ("UNDERSTORY_ISSUER", "platform"),
            ("UNDERSTORY_AUDIENCE", "memory"),
            ("UNDERSTORY_JWKS", jwks),
            ("UNDERSTORY_ISSUER_WORKSPACES", "*"),
            ("UNDERSTORY_ISSUER_ROLES", "root"),
        ])
        .output()
        .unwrap();
    assert_eq!(done.status.code(), Some(2), "{done:?}");
}

#[test]
fn a_repository_cannot_say_what_an_issuer_may_do() {
    let site = AppState::new(Backend::sqlite());
    let file = site.shell.path("garden/understory.toml");
    std::fs::write(&file, "issuer_workspaces = \"*\"\nissuer_roles = \"*\"\n").unwrap();
    let done = site.shell.run(&["status", "--settings", "--json"]);
    assert!(
        done.err.contains("ignored issuer_workspaces"),
        "{}",
        done.err
    );
    assert!(done.err.contains("ignored issuer_roles"), "{}", done.err);
}
