//! Changes of records that were only looked at: they name the versions that they began from; and refused
//! updates that a change settles by naming them as its cause.

use serde_json::{Value, json};
use understory_engine::records::conflicts;
use understory_model::Code;
use understory_testkit::{World, on_both};

use crate::records_common::*;

#[track_caller]
fn looked(world: &World, agent: &str, tool: &str, asked: Value) -> Value {
    by(world, agent, tool, asked)
}

/// The refused updates that wait, as items.
fn open(world: &World) -> Vec<String> {
    let caller = World::caller("ada");
    let found = world
        .engine
        .view(&caller, |view| conflicts::open(view, None))
        .unwrap();
    found.into_iter().map(|one| one.item).collect()
}

#[on_both]
fn a_named_version_stands_for_an_activation(world: World) {
    let id = root(&world, "Looked at");
    let seen = |version: i64| json!({&id: version});
    let asked = json!({"id": id, "title": "By eve", "seen": seen(1)});
    let done = looked(&world, "eve", "update_record", asked);
    assert_eq!(done["record"]["title"], "By eve", "{done}");
    // eve has not got it active by that.
    let plain = json!({"id": id, "title": "Again"});
    assert_eq!(
        refused_by(&world, "eve", "update_record", plain).code,
        Code::NotActivated
    );
    let sessions = world.ok("get_active_sessions", json!({"record_id": id}));
    assert_eq!(
        sessions["sessions"].as_array().unwrap().len(),
        1,
        "{sessions}"
    );
    assert!(sessions["sessions"][0]["since"].is_string(), "{sessions}");
    // A version that is no longer the last is a conflict, even if the session wrote the last itself.
    let stale = json!({"id": id, "title": "Late", "seen": seen(1)});
    let refused = looked(&world, "eve", "update_record", stale);
    assert!(refused["conflict"].is_object(), "{refused}");
    let state = json!({"id": id, "to_state": "LATER", "reason": "r", "seen": seen(2)});
    assert_eq!(
        looked(&world, "eve", "transition", state)["record"]["state"],
        "LATER"
    );
    for wrong in [0, -1, 9] {
        let asked = json!({"id": id, "title": "T", "seen": seen(wrong)});
        let fault = refused_by(&world, "eve", "update_record", asked);
        assert_eq!(fault.code, Code::Validation, "{wrong}");
    }
    let child = json!({"parent_id": id, "type": "note", "title": "C", "summary": "", "body": "", "seen": seen(3)});
    let child = looked(&world, "eve", "create_record", child);
    assert_eq!(child["record"]["parent_id"], json!(id));
    let other = root(&world, "Other");
    let moved = json!({"id": child["record"]["id"], "parent_id": other, "seen": {&other: 1}});
    assert_eq!(
        looked(&world, "eve", "update_record", moved)["record"]["parent_id"],
        json!(other)
    );
    world.assert_sound();
}

/// A record that bob was refused to change; the refusal's item.
fn contested(world: &World) -> (String, String) {
    let id = root(world, "Contested");
    by(world, "bob", "activate", json!({"id": id}));
    world.ok("update_record", json!({"id": id, "body": "ada's"}));
    let refused = by(
        world,
        "bob",
        "update_record",
        json!({"id": id, "body": "bob's"}),
    );
    assert_eq!(refused["conflict"]["by"], "ada");
    let history = world.ok("get_record_history", json!({"id": id, "values": true}));
    let entry = history["history"][0].clone();
    assert_eq!(entry["proposed"], json!({"body": "bob's"}), "{history}");
    let change = &history["history"][1]["changes"][0];
    assert_eq!(
        (&change["field"], &change["after"]),
        (&json!("body"), &json!("ada's")),
        "{history}"
    );
    let item = entry["item"].as_str().unwrap().to_owned();
    assert_eq!(open(world), std::slice::from_ref(&item));
    (id, item)
}

#[on_both]
fn a_refused_update_waits_until_it_is_settled(world: World) {
    let (id, item) = contested(&world);
    // Another change does not settle it, nor does one that another item led to.
    world.ok("update_record", json!({"id": id, "summary": "S"}));
    world.ok(
        "update_record",
        json!({"id": id, "summary": "S2", "caused_by": id}),
    );
    assert_eq!(open(&world), std::slice::from_ref(&item));
    // One that changes nothing does, if it names it.
    let kept = world.ok(
        "update_record",
        json!({"id": id, "summary": "S2", "caused_by": item}),
    );
    assert_eq!(kept["unchanged"], true);
    assert_eq!(open(&world), Vec::<String>::new());
    let history = world.ok("get_record_history", json!({"id": id}));
    assert_eq!(
        history["history"][0]["summary"], "a refused update was settled",
        "{history}"
    );

    // Of another record it settles nothing.
    let (id, item) = contested(&world);
    let other = root(&world, "Other");
    world.ok(
        "update_record",
        json!({"id": other, "summary": "S", "caused_by": item}),
    );
    assert_eq!(open(&world), [item]);
    // Where the record comes to say the same, nothing is left to choose.
    world.ok("update_record", json!({"id": id, "body": "bob's"}));
    assert_eq!(open(&world), Vec::<String>::new());

    // Who was refused has settled it with another change.
    let (id, item) = contested(&world);
    by(
        &world,
        "bob",
        "activate",
        json!({"id": id, "override": true}),
    );
    assert_eq!(open(&world), [item]);
    by(
        &world,
        "bob",
        "update_record",
        json!({"id": id, "body": "both"}),
    );
    assert_eq!(open(&world), Vec::<String>::new());
    world.assert_sound();
}
