//! The official MCP clients over HTTP, of the newest revision and of the one before, in two
//! languages: each is who its token says, and two hold a review.

use std::process::Command;

use crate::official::{Driven, node, python, review};

use crate::web::AppState;
use understory_model::Role;
use understory_testkit::{Backend, on_both};

fn plays(mut command: Command) {
    let site = AppState::new(Backend::sqlite());
    let server = site.serve();
    let done = command
        .arg(format!("http://127.0.0.1:{}/mcp", server.port))
        .env(
            "UNDERSTORY_TOKEN",
            site.token("ada", "garden", Role::Worker),
        )
        .output()
        .expect("the client starts");
    let (said, told) = (
        String::from_utf8_lossy(&done.stdout),
        String::from_utf8_lossy(&done.stderr),
    );
    assert!(
        done.status.success() && said.contains("ok ada"),
        "{said}\n{told}"
    );
    assert!(!told.contains("failed"), "{told}");
}

#[test]
fn python_modern() {
    plays(python("python-modern", "http_modern.py"));
}

#[test]
fn python_before() {
    plays(python("python-before", "http_before.py"));
}

#[test]
fn node_modern() {
    plays(node("http_modern.mjs"));
}

#[test]
fn node_before() {
    plays(node("http_before.mjs"));
}

/// Two clients with a token each hold a review through one server.
fn two_review(backend: Backend, one: Command, other: Command) {
    let site = AppState::new(backend);
    let server = site.serve();
    let token = |agent: &str| site.token(agent, "garden", Role::Worker);
    let ada = Driven::over_http(one, server.port, &token("ada"));
    let bob = Driven::over_http(other, server.port, &token("bob"));
    review(ada, bob);
}

#[on_both]
fn two_modern_review(backend: Backend) {
    let python = python("python-modern", "driven_modern.py");
    two_review(backend, python, node("driven_modern.mjs"));
}

#[on_both]
fn two_before_review(backend: Backend) {
    let python = python("python-before", "driven_before.py");
    two_review(backend, node("driven_before.mjs"), python);
}
