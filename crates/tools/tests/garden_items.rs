//! The timeline: what can be added to it, how it is read, and what is taken back.

use serde_json::{Value, json};
use understory_model::Code;
use understory_testkit::{World, on_both};

fn note(world: &World, text: &str) -> Value {
    let added = world.ok("garden_add", json!({"type": "Note", "description": text}));
    added["item"].clone()
}

fn texts(answer: &Value) -> Vec<&str> {
    let items = answer["items"].as_array().unwrap();
    items
        .iter()
        .filter_map(|item| item["description"].as_str())
        .collect()
}

on_both! {
    fn items_of_every_type_are_added(world) {
    let message = world.ok(
        "garden_add",
        json!({"type": "Message", "description": "Use PostgreSQL instead. SQLite has one writer.",
            "sender": "user"}),
    );
    let fragments = message["item"]["fragments"].as_array().unwrap();
    assert_eq!(fragments.len(), 2, "{message}");
    let whole: String = fragments
        .iter()
        .map(|f| f["content"].as_str().unwrap())
        .collect();
    assert_eq!(whole, "Use PostgreSQL instead. SQLite has one writer.");
    assert_eq!(message["item"]["_type"], "Message");
    let own = world.ok(
        "garden_add",
        json!({"type": "DeployFinished", "service": "billing", "took": 3.5}),
    );
    assert_eq!(own["item"]["took"], 3.5);
    let call = world.ok(
        "garden_add",
        json!({"type": "ToolCall", "tool": "reader", "operation": "scroll_to"}),
    );
    assert_eq!(call["item"]["caller"], "agent");
    let event = world.ok(
        "garden_add",
        json!({"type": "SystemEvent", "event_type": "deployed"}),
    );
    assert_eq!(event["item"]["event_type"], "deployed");
    let all = world.ok("garden_timeline", json!({}));
    let types: Vec<&str> = all["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| item["_type"].as_str().unwrap())
        .collect();
    assert_eq!(types[..4], ["SystemEvent", "ToolCall", "DeployFinished", "Message"]);
    assert!(world.engine.verify(None, true, |_, _| {}).unwrap().ok);
    }


    fn what_is_undone_is_gone_and_proven(world) {
    let item = note(&world, "zanzibar-secret: hunter2");
    note(&world, "something else");
    let id = item["uuid"].as_str().unwrap();
    let undone = world.ok("garden_undo", json!({"item": id}));
    assert_eq!(undone["undone"], id);
    let got = world.ok("garden_get", json!({"id": id}));
    assert_eq!(got["item"]["undone"], true);
    assert_eq!(got["item"]["description"], Value::Null);
    let report = world.engine.verify(None, true, |_, _| {}).unwrap();
    assert!(report.ok, "{report:?}");
    let fault = world.refused("garden_undo", json!({"item": id}));
    assert_eq!(fault.code, Code::Conflict);
    let timeline = world.ok("garden_timeline", json!({"types": ["Note"]}));
    assert_eq!(texts(&timeline), ["something else"]);
    }
}
