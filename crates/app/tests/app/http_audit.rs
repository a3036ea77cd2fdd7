//! Audit events: what is done with tokens, keys and logins is in the log, for those who may read it,
//! and nobody who proves nothing writes there.

use crate::shell;
use crate::web;
use std::time::Instant;
use understory_testkit::{Backend, on_both};

use crate::web::{AppState, caller, now};
use serde_json::{Value, json};
use understory::token;
use understory_model::Role;

/// The audit events of a workspace, oldest first, without the time and place of each.
fn events(site: &AppState, workspace: &str) -> Vec<(String, String, String)> {
    let out = site
        .shell
        .ok(&["audit", "--workspace", workspace, "-n", "1000", "--json"]);
    let mut all: Vec<_> = out
        .lines()
        .map(|line| {
            let entry: Value = serde_json::from_str(line).unwrap();
            let text = |name: &str| entry[name].as_str().unwrap_or_default().to_owned();
            (text("actor"), text("action"), text("text"))
        })
        .collect();
    all.reverse();
    all
}

/// Waits until an event of this kind is there.
fn until(site: &AppState, workspace: &str, action: &str, piece: &str) {
    let begun = Instant::now();
    loop {
        let all = events(site, workspace);
        if all
            .iter()
            .any(|(_, did, text)| did == action && text.contains(piece))
        {
            return;
        }
        assert!(
            begun.elapsed() < web::PATIENCE,
            "no `{action} {piece}` in {all:?}"
        );
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

#[track_caller]
fn run(site: &AppState, arguments: &[&str]) -> String {
    let done = site.command(arguments).output().unwrap();
    assert!(done.status.success(), "{arguments:?}: {done:?}");
    String::from_utf8(done.stdout).unwrap()
}

#[on_both]
fn what_is_done_with_tokens_and_keys_is_noted(backend: Backend) {
    let site = AppState::new(backend);
    let issue = [
        "token",
        "issue",
        "--agent",
        "ada",
        "--workspace",
        "garden",
        "--role",
        "worker",
        "--session",
        "s1",
    ];
    let token = run(&site, &issue);
    let token = token.trim();
    run(
        &site,
        &["token", "issue", "--agent", "bob", "--workspace", "shop"],
    );
    run(&site, &["token", "keys", "--rotate"]);
    let listed: Value = serde_json::from_str(&run(&site, &["token", "keys", "--json"])).unwrap();
    let old = listed["keys"][0]["kid"].as_str().unwrap();
    let new = listed["keys"][1]["kid"].as_str().unwrap();
    run(&site, &["token", "keys", "--retire", old]);
    run(&site, &["token", "keys", "--retire", old]);
    run(
        &site,
        &[
            "token",
            "revoke",
            "--session",
            "s1",
            "--workspace",
            "garden",
        ],
    );
    for workspace in ["garden", "shop"] {
        let all = events(&site, workspace);
        let did: Vec<&str> = all.iter().map(|(_, did, _)| did.as_str()).collect();
        let expected: &[&str] = match workspace {
            "garden" => &["issued", "created", "retired", "revoked"],
            _ => &["issued", "created", "retired"],
        };
        assert_eq!(did, expected, "{all:?}");
        assert!(all.iter().all(|(actor, ..)| actor == "ann"), "{all:?}");
        assert!(all[1].2.contains(new) && all[2].2.contains(old), "{all:?}");
    }
    let (_, _, issued) = &events(&site, "garden")[0];
    shell::says(issued, &["ada", "worker", "session s1", "until 2"]);
    // Nothing that could be used is kept, and a replay says the same.
    let log = site.shell.ok(&["log", "--workspace", "garden", "--json"]);
    assert!(!log.contains(token) && !log.contains("eyJ") && !log.contains("pkcs8"));
    shell::says(&log, &["AuditEvent", "issued"]);
    site.shell.ok(&["rebuild"]);
    site.shell.ok(&["verify"]);
    assert_eq!(events(&site, "shop").len(), 3);
}

#[on_both]
fn refused_tokens_are_noted_once_and_only_when_signed(backend: Backend) {
    let site = AppState::new(backend);
    let server = site.serve();
    let key = site.keys().signing().unwrap();
    let good = site.token("ada", "garden", Role::Worker);
    server.ok(
        &good,
        "graph_open",
        json!({"project": "default", "goal": "g"}),
    );
    let call = |token: &str| server.call(token, "graph_onboard", json!({})).status;
    let (header, mut claims) = site.good();
    claims["iat"] = json!(now() - 100);
    claims["exp"] = json!(now() - 50);
    let expired = site.signed(&header, &claims);
    for _ in 0..50 {
        assert_eq!(call(&expired), 401);
    }
    until(&site, "garden", "refused", "it has expired");
    // By a key that was never this store's, without one, and for a workspace that is not there.
    let stranger = token::keys::Keys::in_folder(site.shell.path("other"));
    let theirs = stranger.signing().unwrap();
    let forged = token::jws::compact(&header, &claims, |bytes| theirs.sign(bytes));
    claims["workspace_id"] = json!("nowhere");
    let elsewhere = site.signed(&header, &claims);
    for token in [forged.as_str(), "garbage", &elsewhere] {
        assert_eq!(call(token), 401);
    }
    let (revoked, jti) =
        token::issue(&key, &caller("bob", "garden", Role::Worker), now(), 600).unwrap();
    run(&site, &["token", "revoke", &jti, "--workspace", "garden"]);
    assert_eq!(call(&revoked), 401);
    until(&site, "garden", "refused", "it was revoked");
    run(&site, &["token", "keys", "--rotate"]);
    run(&site, &["token", "keys", "--retire", key.kid()]);
    let begun = Instant::now();
    while call(&good) != 401 {
        assert!(
            begun.elapsed() < web::PATIENCE,
            "the retired key still verifies"
        );
    }
    until(&site, "garden", "refused", "its key was retired");
    let refused: Vec<_> = events(&site, "garden")
        .into_iter()
        .filter(|(_, did, _)| did == "refused")
        .collect();
    assert_eq!(refused.len(), 3, "one a reason: {refused:?}");
    assert!(refused.iter().all(|(actor, ..)| actor == "understory"));
    let names = site.shell.ok(&["status", "--json"]);
    assert!(
        !names.contains("nowhere"),
        "a refusal makes no workspace: {names}"
    );
    let page = server.get("/metrics").body;
    shell::says(
        &page,
        &[
            "understory_tokens_refused_total{reason=\"invalid\"} 2",
            "understory_tokens_refused_total{reason=\"expired\"} 51",
        ],
    );
}

#[on_both]
fn a_login_is_noted_and_a_worker_reads_none_of_it(backend: Backend) {
    let site = AppState::new(backend);
    let server = site.serve();
    let entered = server
        .ask("POST", &format!("/login/{}", server.login))
        .send();
    assert_eq!(entered.status, 303);
    assert_eq!(server.get(&format!("/login/{}", server.login)).status, 404);
    let cookie = entered
        .header("set-cookie")
        .unwrap()
        .split(';')
        .next()
        .unwrap()
        .to_owned();
    let origin = format!("http://127.0.0.1:{}", server.port);
    let leave = || {
        let ask = server.ask("POST", "/logout").header("Cookie", &cookie);
        ask.header("Origin", &origin).send().status
    };
    assert_eq!((leave(), leave()), (303, 303));
    let did: Vec<_> = events(&site, "garden")
        .into_iter()
        .map(|one| (one.0, one.1))
        .collect();
    let ann = |did: &str| ("ann".to_owned(), did.to_owned());
    assert_eq!(did, [ann("logged in"), ann("logged out")]);

    for (role, reads) in [
        (Role::Worker, false),
        (Role::Auditor, true),
        (Role::Orchestrator, true),
        (Role::Operator, true),
    ] {
        let token = site.token("eve", "garden", role);
        let asked = json!({ "types": ["AuditEvent"] });
        let shown = server.ok(&token, "garden_timeline", asked);
        let items = shown["items"].as_array().unwrap();
        assert_eq!(items.len(), if reads { 2 } else { 0 }, "{role}: {shown}");
        let all = server.ok(&token, "garden_timeline", json!({}));
        assert_eq!(all.to_string().contains("logged_"), reads, "{role}: {all}");
        let operator = site.token("olga", "garden", Role::Operator);
        let asked = json!({ "types": ["AuditEvent"] });
        let shown = server.ok(&operator, "garden_timeline", asked);
        let uuid = &shown["items"][0]["uuid"];
        let got = server.call(&token, "garden_get", json!({ "id": uuid }));
        assert_eq!(got.body.contains("logged_"), reads, "{role}: {}", got.body);
    }
    let as_worker = ["--workspace", "garden", "--role", "worker"];
    site.shell
        .refused(&[&["audit"][..], &as_worker].concat(), 4);
    let log = site
        .shell
        .ok(&[&["log", "--json"][..], &as_worker].concat());
    assert!(!log.contains("AuditEvent"), "{log}");
    // Nobody forges one.
    let token = site.token("eve", "garden", Role::Operator);
    let forged = json!({ "type": "AuditEvent", "event": "logged_in" });
    assert_eq!(server.call(&token, "garden_add", forged).status, 400);
}

#[test]
fn a_token_to_revoke_is_read_from_standard_input() {
    let site = AppState::new(understory_testkit::Backend::sqlite());
    let server = site.serve();
    let status = |token: &str| server.call(token, "graph_onboard", json!({})).status;
    for arguments in [&["token", "revoke", "-"][..], &["token", "revoke"]] {
        let token = site.token("ada", "garden", Role::Worker);
        assert_eq!(status(&token), 200);
        let done = site.shell.fed(arguments, format!("{token}\n").as_bytes());
        assert_eq!(done.code, 0, "{done:?}");
        assert!(!done.out.contains("eyJ"), "{done:?}");
        assert_eq!(status(&token), 401, "{arguments:?}");
    }
    for nothing in ["", "\n"] {
        assert_eq!(
            site.shell
                .fed(&["token", "revoke", "-"], nothing.as_bytes())
                .code,
            2
        );
    }
}
