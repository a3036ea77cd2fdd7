//! The official MCP clients, of the newest revision and of the one before, each playing an agent
//! that plans, claims and resolves: in two languages, on both databases. And two of them at once, who
//! meet on one record, and who hold a review.

use std::process::{Command, Output};

use crate::official::{Driven, node, python, review};
use serde_json::json;
use understory_testkit::Backend;

fn plays(mut command: Command, backend: &Backend) {
    let Output {
        status,
        stdout,
        stderr,
    } = command
        .arg(env!("CARGO_BIN_EXE_understory"))
        .env("UNDERSTORY_STORE", backend.store())
        .env("UNDERSTORY_WORKSPACE", "clients")
        .output()
        .expect("the client starts");
    let said = String::from_utf8_lossy(&stdout);
    assert!(
        status.success() && said.contains("ok TASK-001 TASK-002"),
        "{status}\n{said}\n{}",
        String::from_utf8_lossy(&stderr)
    );
}

/// Both have the record active; ada writes first, bob is told and merges, ada is told of that.
fn conflict((one, other): (Command, Command), backend: &Backend) {
    let mut ada = Driven::start(one, backend, "ada");
    let mut bob = Driven::start(other, backend, "bob");
    let new = json!({
        "parent_id": null, "type": "question", "title": "T", "summary": "S", "body": "first"
    });
    let id = ada.call("create_record", new)["record"]["id"].clone();
    let active = bob.call("activate", json!({ "id": id }));
    assert_eq!(active["context"]["target"]["body"], "first");
    assert_eq!(active["conflict"]["session_id"], "ada");

    let done = ada.call("update_record", json!({ "id": id, "body": "of ada" }));
    assert!(done.get("conflict").is_none(), "{done}");
    let refused = bob.call("update_record", json!({ "id": id, "body": "of bob" }));
    assert_eq!(refused["record"]["body"], "of ada");
    assert_eq!(refused["conflict"]["other_version"]["body"], "of ada");
    let merged = json!({ "id": id, "body": "of ada and bob", "force": true });
    let merged = bob.call("update_record", merged);
    assert!(merged.get("conflict").is_none(), "{merged}");
    assert_eq!(merged["record"]["body"], "of ada and bob");

    let told = ada.call("sync_session", json!({}));
    let change = &told["changes"][0];
    assert_eq!(
        (&change["record_id"], &change["by_session"]),
        (&id, &json!("bob"))
    );
    assert_eq!(change["change_type"], "modified", "{told}");
    let again = ada.call("update_record", json!({ "id": id, "summary": "seen" }));
    assert!(
        again.get("conflict").is_none(),
        "what was synced is known: {again}"
    );
    let kinds = json!({ "types": ["conflict_detected", "conflict_resolved"], "record_id": id });
    let activity = bob.call("get_recent_activity", kinds);
    // Bob's activation met ada's, his update met hers, and his merge settled it.
    assert_eq!(
        activity["activity"].as_array().map(Vec::len),
        Some(3),
        "{activity}"
    );
    ada.leave();
    bob.leave();
}

macro_rules! each_client {
    ($backend:expr) => {
        #[test]
        fn python_modern() {
            super::plays(super::python("python-modern", "modern.py"), &$backend);
        }
        #[test]
        fn python_before() {
            super::plays(super::python("python-before", "before.py"), &$backend);
        }
        #[test]
        fn typescript_modern() {
            super::plays(super::node("modern.mjs"), &$backend);
        }
        #[test]
        fn typescript_before() {
            super::plays(super::node("before.mjs"), &$backend);
        }
        #[test]
        fn two_modern_meet() {
            let python = super::python("python-modern", "driven_modern.py");
            super::conflict((python, super::node("driven_modern.mjs")), &$backend);
        }
        #[test]
        fn two_modern_review() {
            let (backend, python) = ($backend, super::python("python-modern", "driven_modern.py"));
            let ada = super::Driven::start(python, &backend, "ada");
            let bob = super::Driven::start(super::node("driven_modern.mjs"), &backend, "bob");
            super::review(ada, bob);
        }
        #[test]
        fn two_before_meet() {
            let python = super::python("python-before", "driven_before.py");
            super::conflict((super::node("driven_before.mjs"), python), &$backend);
        }
    };
}

mod sqlite {
    each_client!(super::Backend::sqlite());
}

mod postgres {
    each_client!(super::Backend::postgres());
}
