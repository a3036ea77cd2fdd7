//! Being told of what changed: resources that can be watched, and a call that waits.

use crate::driver;
use crate::driver::{Client, Revision, World};
use serde_json::{Value, json};

const BOTH: [Revision; 2] = [Revision::Before, Revision::Modern];
const TIMELINE: &str = "understory://garden/timeline";
const CHANGES: &str = "understory://garden/changes";

fn read(client: &mut Client, uri: &str) -> Value {
    let read = client.ask("resources/read", json!({ "uri": uri }));
    let text = read["result"]["contents"][0]["text"].as_str();
    let text = text.unwrap_or_else(|| panic!("{uri}: {read}"));
    serde_json::from_str(text).expect("JSON")
}

fn subscribe(client: &mut Client, revision: Revision) {
    match revision {
        Revision::Before => {
            for uri in [TIMELINE, CHANGES] {
                let answer = client.ask("resources/subscribe", json!({ "uri": uri }));
                assert!(answer.get("result").is_some(), "{answer}");
            }
        }
        Revision::Modern => {
            client.post(
                "subscriptions/listen",
                json!({"notifications": {"resourceSubscriptions": [TIMELINE, CHANGES]}}),
            );
            let accepted = client.notice("notifications/subscriptions/acknowledged");
            let accepted = &accepted["params"]["notifications"]["resourceSubscriptions"];
            assert_eq!(accepted, &json!([TIMELINE, CHANGES]));
        }
    }
}

#[test]
fn the_timeline_and_changes_are_read_and_watched() {
    for revision in BOTH {
        let world = World::new();
        let (mut one, mut other) = (world.client(revision), world.client(Revision::Before));
        let listed = one.ask("resources/list", json!({}));
        let listed = listed["result"]["resources"].as_array().unwrap();
        for uri in [TIMELINE, CHANGES] {
            assert!(listed.iter().any(|one| one["uri"] == uri), "{uri}");
        }
        let made = json!({"label": "goals", "content": "one\n"});
        let (made, _) = other.call("garden_artifact_create", made);
        let before = read(&mut one, CHANGES)["items"].as_array().unwrap().len();
        assert!(before > 0);
        subscribe(&mut one, revision);
        let head = &made["artifact"]["head"];
        let commit = json!({"artifact": "goals", "based_on": head, "content": "two\n"});
        let (answer, failed) = other.call("garden_artifact_commit", commit);
        assert!(!failed, "{answer}");
        let told = |uri: &'static str| {
            move |message: &Value| {
                message["method"] == "notifications/resources/updated"
                    && message["params"]["uri"] == uri
            }
        };
        // They come in either order.
        let first = one.wait(|message| told(TIMELINE)(message) || told(CHANGES)(message));
        let rest = match first["params"]["uri"] == TIMELINE {
            true => CHANGES,
            false => TIMELINE,
        };
        one.wait(told(rest));
        let items = read(&mut one, CHANGES)["items"].clone();
        assert_eq!(items[0]["_type"], "ArtifactDelta", "{items}");
        assert_eq!(one.leave().code, Some(0));
    }
}

#[test]
fn a_call_waits_until_a_document_changes() {
    for revision in BOTH {
        let world = World::new();
        let (mut one, mut other) = (world.client(revision), world.client(Revision::Before));
        let made = json!({"label": "goals", "content": "one\n"});
        let (made, _) = other.call("garden_artifact_create", made);
        let (known, _) = one.call("garden_changes", json!({"entity_types": ["artifact"]}));
        let wait = json!({"name": "garden_changes", "arguments": {
            "entity_types": ["artifact"], "since": known["cursor"], "timeout_s": 100}});
        let waiting = one.post("tools/call", wait);
        // Not wanted, and so no reason to answer.
        other.call("graph_open", json!({"project": "p", "goal": "g"}));
        let head = &made["artifact"]["head"];
        let commit = json!({"artifact": "goals", "based_on": head, "content": "two\n"});
        other.call("garden_artifact_commit", commit);
        let (told, failed) = driver::read_result(&one.answer(waiting));
        assert!(!failed, "{told}");
        let told = told["notifications"].as_array().unwrap();
        assert_eq!(told.len(), 1);
        assert_eq!(told[0]["handle"], "goals");
        let (wrong, failed) = one.call("garden_changes", json!({"timeout_s": -1}));
        assert!(failed, "{wrong}");
        assert_eq!(one.leave().code, Some(0));
    }
}
