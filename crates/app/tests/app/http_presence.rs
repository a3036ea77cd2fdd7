//! Who is here of those who call over HTTP, and whose session a call may name.

use std::time::{Duration, Instant};

use crate::web::{AppState, PATIENCE, Server};
use serde_json::{Value, json};
use understory_model::Role;
use understory_testkit::{Backend, on_both};

fn record() -> Value {
    json!({"parent_id": null, "type": "question", "title": "Q", "summary": "s", "body": "b"})
}

/// Waits until an agent is seen alive: a sign of life holds up no call.
fn wait_for(server: &Server, token: &str, agent: &str) -> Value {
    let begun = Instant::now();
    loop {
        let here = server.ok(token, "get_active_sessions", json!({}));
        let found = here["sessions"].as_array().unwrap().iter();
        let mut found = found.filter(|one| one["agent"] == agent && one["alive"] == true);
        if let Some(one) = found.next() {
            return one.clone();
        }
        assert!(begun.elapsed() < PATIENCE, "{agent} is not seen: {here}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[on_both]
fn a_call_is_a_sign_of_life(backend: Backend) {
    let site = AppState::new(backend);
    let server = site.serve();
    let (ada, bob) = (
        site.token("ada", "garden", Role::Worker),
        site.token("bob", "garden", Role::Worker),
    );
    server.ok(&ada, "create_record", record());
    // Reading is a call, too.
    server.ok(&bob, "graph_onboard", json!({}));
    let seen = wait_for(&server, &ada, "bob");
    assert_eq!(
        (&seen["session_id"], &seen["status"]),
        (&json!("sess_bob"), &json!("active"))
    );
    let seen = wait_for(&server, &bob, "ada");
    assert_eq!(seen["on"], json!(["R001"]));
    let met = server.ok(&bob, "activate", json!({"id": "R001"}));
    assert_eq!(
        (&met["conflict"]["agent"], &met["conflict"]["alive"]),
        (&json!("ada"), &json!(true))
    );
}

#[on_both]
fn a_token_is_one_sessions(backend: Backend) {
    let site = AppState::new(backend);
    let server = site.serve();
    let token = |agent: &str, role: Role| site.token(agent, "garden", role);
    let (ada, bob, boss) = (
        token("ada", Role::Worker),
        token("bob", Role::Worker),
        token("boss", Role::Operator),
    );
    server.ok(&ada, "create_record", record());
    for (tool, mut arguments) in [
        ("sync_session", json!({})),
        ("close_session", json!({})),
        ("activate", json!({"id": "R001"})),
        ("update_record", json!({"id": "R001", "body": "x"})),
    ] {
        for other in ["sess_ada", "sess_bob_2"] {
            arguments["session_id"] = other.into();
            let answer = server.call(&bob, tool, arguments.clone());
            assert_eq!(
                (answer.status, &answer.json()["error"]["code"]),
                (403, &json!("CLAIM_MISMATCH")),
                "{tool} {other}"
            );
        }
    }
    server.ok(&ada, "sync_session", json!({"session_id": "sess_ada"}));
    let closed = server.ok(&boss, "close_session", json!({"session_id": "sess_ada"}));
    assert_eq!(closed["deactivated_records"], json!(["R001"]));
    let told = server.ok(
        &bob,
        "get_recent_activity",
        json!({"types": ["session_closed"]}),
    );
    assert_eq!(told["activity"][0]["details"]["by_agent"], "boss");
}

#[test]
fn a_server_for_callers_leaves_no_seat_behind() {
    let site = AppState::new(Backend::sqlite());
    let server = site.serve();
    server.ok(
        &site.token("ada", "garden", Role::Worker),
        "create_record",
        record(),
    );
    assert!(
        !site
            .shell
            .backend
            .file()
            .with_file_name("understory.db-sessions")
            .exists()
    );
    assert_eq!(server.stop().0, Some(0));
}
