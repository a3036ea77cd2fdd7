//! The addresses beside the tools, for every role, workspace and bad token: figures, logins, entities,
//! audit events, quotas, and what only a shell may do.

use crate::attack::tokens::{REVOKED, bad_tokens};
use crate::web::{Answer, AppState, Server};
use serde_json::{Value, json};
use understory_model::Role;
use understory_testkit::{Backend, on_both};

const WORKSPACES: [&str; 2] = ["victim", "mine"];

/// Asks with a token, or without one.
fn ask(server: &Server, method: &str, path: &str, token: Option<&str>) -> Answer {
    let ask = server.ask(method, path).json(&json!({}));
    match token {
        Some(token) => ask.token(token).send(),
        None => ask.send(),
    }
}

fn get(server: &Server, path: &str, token: Option<&str>) -> Answer {
    let ask = server.ask("GET", path);
    match token {
        Some(token) => ask.token(token).send(),
        None => ask.send(),
    }
}

/// Both workspaces with something in them, and the token that is called revoked revoked.
fn furnish(site: &AppState, server: &Server) {
    for workspace in WORKSPACES {
        let token = site.token("owner", workspace, Role::Operator);
        let goal = json!({"project": "default", "goal": "xyzzy"});
        server.ok(&token, "graph_open", goal);
        let revoke = ["token", "revoke", REVOKED, "--workspace", workspace];
        assert!(site.command(&revoke).output().unwrap().status.success());
    }
}

/// Every bad token of every role in both workspaces.
fn each_bad(site: &AppState, mut each: impl FnMut(&str, Option<&str>)) {
    for workspace in WORKSPACES {
        for role in Role::ALL {
            for (fault, token) in bad_tokens(site, role, workspace) {
                each(&format!("{role} {workspace} {fault}"), token.as_deref());
            }
        }
    }
}

#[on_both]
fn figures_are_for_those_who_look_after_a_public_server(backend: Backend) {
    let site = AppState::new(backend);
    let public = ["--url", "https://memory.example.com"];
    let server = site.serve_with(&public, &[("UNDERSTORY_RATE_PER_SECOND", "1000000")]);
    furnish(&site, &server);
    for workspace in WORKSPACES {
        for role in Role::ALL {
            let answer = get(&server, "/metrics", Some(&site.token("x", workspace, role)));
            let may = matches!(role, Role::Operator | Role::Auditor);
            assert_eq!(
                answer.status,
                if may { 200 } else { 403 },
                "{role} {}",
                answer.body
            );
            // Figures are of the process: nobody's names or words are among them.
            for word in ["xyzzy", "victim", "mine", "owner"] {
                assert!(!answer.body.contains(word), "{role}: {word}");
            }
        }
    }
    each_bad(&site, |tried, token| {
        let answer = get(&server, "/metrics", token);
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (401, "UNAUTHORIZED"),
            "{tried}"
        );
    });
    assert_eq!(get(&server, "/healthz", None).body, r#"{"status":"ok"}"#);
}

#[on_both]
fn no_token_and_no_other_page_logs_in(backend: Backend) {
    let site = AppState::new(backend);
    let server = site.serve_with(&[], &[("UNDERSTORY_RATE_PER_SECOND", "1000000")]);
    furnish(&site, &server);
    let guess = format!("/login/{}", "0".repeat(64));
    let link = format!("/login/{}", server.login);
    let refused = |answer: &Answer, status: u16, tried: &str| {
        assert_eq!(
            (answer.status, answer.header("set-cookie")),
            (status, None),
            "{tried}"
        );
    };
    for workspace in WORKSPACES {
        for role in Role::ALL {
            let token = site.token("x", workspace, role);
            refused(&ask(&server, "POST", &guess, Some(&token)), 404, "a guess");
        }
    }
    each_bad(&site, |tried, token| {
        refused(&ask(&server, "POST", &guess, token), 404, tried);
    });
    // Another site's form, or another name for this machine, neither logs in nor spends the link.
    let foreign = server
        .ask("POST", &link)
        .header("Origin", "http://evil.example");
    refused(&foreign.send(), 403, "another origin");
    let named = server.ask("POST", &link).host(Some("evil.example"));
    let named = named.send();
    assert!((400..500).contains(&named.status), "{named:?}");
    assert_eq!(named.header("set-cookie"), None);
    let moved = server.ask("POST", &link).send();
    assert_eq!(moved.status, 303, "{moved:?}");
    refused(&server.ask("POST", &link).send(), 404, "a second time");
}

#[on_both]
fn what_a_shell_does_is_no_address(backend: Backend) {
    let site = AppState::new(backend);
    let server = site.serve_with(&[], &[("UNDERSTORY_RATE_PER_SECOND", "1000000")]);
    furnish(&site, &server);
    let head = || site.shell.json(&["status", "--workspace", "victim"])["head_seq"].clone();
    let before = head();
    for tool in [
        "purge",
        "audit",
        "checkpoint",
        "rebuild",
        "verify",
        "backup",
        "token_revoke",
        "token_issue",
    ] {
        let path = format!("/v1/{tool}");
        for workspace in WORKSPACES {
            for role in Role::ALL {
                let answer = ask(
                    &server,
                    "POST",
                    &path,
                    Some(&site.token("x", workspace, role)),
                );
                assert_eq!(answer.status, 404, "{tool} {role}: {}", answer.body);
            }
        }
    }
    assert_eq!(head(), before);
    each_bad(&site, |tried, token| {
        let answer = ask(&server, "POST", "/v1/purge", token);
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (401, "UNAUTHORIZED"),
            "{tried}"
        );
    });
}

#[on_both]
fn audit_events_are_for_those_who_may_read_them(backend: Backend) {
    let site = AppState::new(backend);
    let server = site.serve_with(&[], &[("UNDERSTORY_RATE_PER_SECOND", "1000000")]);
    furnish(&site, &server);
    let issue = [
        "token",
        "issue",
        "--agent",
        "zqissued",
        "--workspace",
        "victim",
    ];
    assert!(site.command(&issue).output().unwrap().status.success());
    let mut events: Vec<Value> = Vec::new();
    for role in Role::ALL {
        for workspace in WORKSPACES {
            let token = site.token("x", workspace, role);
            let asked = json!({"limit": 200, "types": ["AuditEvent", "TokenRevoked"]});
            let answer = server.ok(&token, "garden_timeline", asked);
            let sees = answer.to_string().contains("zqissued");
            let may = workspace == "victim" && role != Role::Worker;
            assert_eq!(sees, may, "{role} {workspace}: {answer}");
            if may {
                events.extend(answer["items"].as_array().unwrap().iter().cloned());
            }
        }
    }
    // By its name neither, as a tool or as an entity.
    let event = events
        .iter()
        .find(|item| item.to_string().contains("zqissued"))
        .unwrap();
    let name = event["uuid"].as_str().unwrap();
    for (workspace, role) in [
        ("victim", Role::Worker),
        ("mine", Role::Operator),
        ("mine", Role::Worker),
    ] {
        let token = site.token("x", workspace, role);
        let answer = server.call(&token, "garden_get", json!({"id": name}));
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (404, "NOT_FOUND"),
            "{role} {workspace}"
        );
        let path = format!("/api/v1/entities/{}", name.trim_start_matches("item_"));
        let answer = get(&server, &path, Some(&token));
        assert_eq!(answer.status, 404, "{role} {workspace}: {}", answer.body);
        assert!(!answer.body.contains("zqissued"), "{}", answer.body);
    }
    each_bad(&site, |tried, token| {
        let path = format!("/api/v1/entities/{}", name.trim_start_matches("item_"));
        assert_eq!(get(&server, &path, token).status, 401, "{tried}");
    });
}

#[on_both]
fn a_quota_holds_for_every_role_and_for_one_workspace(backend: Backend) {
    let site = AppState::new(backend);
    let vars = [
        ("UNDERSTORY_RATE_PER_SECOND", "1000000"),
        ("UNDERSTORY_QUOTA_ITEMS", "8"),
    ];
    let server = site.serve_with(&[], &vars);
    let note = || json!({"type": "Note", "description": "one more"});
    let owner = site.token("owner", "victim", Role::Worker);
    let full = |token: &str| server.call(token, "garden_add", note());
    let written = (0..9).filter(|_| full(&owner).status == 200).count();
    assert!((1..9).contains(&written), "{written} notes");
    for role in Role::ALL {
        let answer = full(&site.token("x", "victim", role));
        let expected = match role {
            Role::Auditor => (403, "FORBIDDEN"),
            _ => (507, "QUOTA_EXCEEDED"),
        };
        assert_eq!(
            (answer.status, answer.code().as_str()),
            expected,
            "{role}: {}",
            answer.body
        );
    }
    assert_eq!(
        full(&site.token("x", "mine", Role::Worker)).status,
        200,
        "another's quota is its own"
    );
    let told = server.ok(&owner, "graph_onboard", json!({}));
    assert_eq!(told["quota"]["items"]["max"], 8, "{told}");
    // A token is revoked all the same, and whoever proves nothing is told nothing of it.
    let revoke = ["token", "revoke", REVOKED, "--workspace", "victim"];
    assert!(site.command(&revoke).output().unwrap().status.success());
    for (fault, token) in bad_tokens(&site, Role::Operator, "victim") {
        let answer = ask(&server, "POST", "/v1/garden_add", token.as_deref());
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (401, "UNAUTHORIZED"),
            "{fault}"
        );
    }
}
