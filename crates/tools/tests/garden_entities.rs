//! Entities: their chain of hashes, changes from the version that was seen, and what they were.

mod garden_common;

use garden_common::*;
use serde_json::{Value, json};
use understory_model::Code;
use understory_model::canon::entity_hash;
use understory_testkit::{World, on_both};

#[track_caller]
fn make(world: &World, data: Value) -> Value {
    world.ok(
        "garden_entity_create",
        json!({"type": "account", "data": data}),
    )["entity"]
        .clone()
}

#[track_caller]
fn update(world: &World, of: &Value, data: Value) -> Value {
    let args = json!({"uuid": of["uuid"], "data": data, "based_on_hash": of["hash"]});
    world.ok("garden_entity_update", args)["entity"].clone()
}

fn chained(entity: &Value) {
    let previous = entity["previous_hash"].as_str();
    assert_eq!(
        entity["hash"],
        entity_hash(&entity["data"], previous),
        "{entity}"
    );
}

on_both! {
    fn each_version_is_chained_to_the_one_before(world) {
        let first = make(&world, json!({"owner": "Zoë 🌱", "amount": 1e16, "tags": [1.0, null, -0.0]}));
        assert_eq!((&first["version"], &first["previous_hash"]), (&json!(1), &Value::Null));
        assert!(uuid(&first).starts_with("entity_"));
        chained(&first);
        let second = update(&world, &first, json!({"amount": 2.5, "tags": null}));
        chained(&second);
        assert_eq!(second["previous_hash"], first["hash"]);
        assert_eq!(second["data"], json!({"owner": "Zoë 🌱", "amount": 2.5}));
        let args = json!({"uuid": first["uuid"], "to": 1, "based_on_hash": second["hash"]});
        let third = world.ok("garden_entity_revert", args)["entity"].clone();
        chained(&third);
        assert_eq!((&third["data"], &third["version"]), (&first["data"], &json!(3)));
        assert_ne!(third["hash"], first["hash"]);
        let back = json!({"uuid": first["uuid"], "to": second["hash"], "based_on_hash": third["hash"]});
        let fourth = world.ok("garden_entity_revert", back)["entity"].clone();
        assert_eq!((&fourth["data"], &fourth["version"]), (&second["data"], &json!(4)));
        assert_eq!(world.ok("garden_get", json!({"id": first["uuid"]}))["entity"], fourth);
        world.assert_sound();
    }

    fn a_stale_change_is_told_what_is_current(world) {
        let first = make(&world, json!({"a": 1}));
        let second = update(&world, &first, json!({"a": 2}));
        let stale = json!({"uuid": first["uuid"], "data": {"a": 3}, "based_on_hash": first["hash"], "based_on_version": 1});
        let fault = world.refused("garden_entity_update", stale);
        assert_eq!(fault.code, Code::Conflict);
        assert_eq!(fault.details.unwrap(), json!({
            "current_hash": second["hash"], "current_version": 2,
            "client_hash": first["hash"], "client_version": 1,
        }));
        let other_number = json!({"uuid": first["uuid"], "data": {"a": 2}, "based_on_hash": second["hash"], "based_on_version": 1});
        assert_eq!(world.ok("garden_entity_update", other_number)["unchanged"], true, "the hash alone decides");
        let args = json!({"uuid": first["uuid"], "to": 1, "based_on_hash": first["hash"]});
        assert_eq!(world.refused("garden_entity_revert", args).code, Code::Conflict);
    }

    fn of_two_changes_from_one_version_one_wins(world) {
        let first = make(&world, json!({"a": 0}));
        let others: Vec<_> = (0..2).map(|_| world.another()).collect();
        let done: Vec<bool> = std::thread::scope(|scope| {
            let run = |(at, engine): (usize, understory_engine::Engine)| {
                let args = json!({"uuid": first["uuid"], "data": {"a": at + 1}, "based_on_hash": first["hash"]});
                scope.spawn(move || World::call_on(&engine, &World::caller("ada"), "garden_entity_update", args).is_ok())
            };
            let threads: Vec<_> = others.into_iter().enumerate().map(run).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(done.iter().filter(|done| **done).count(), 1);
        world.assert_sound();
    }

    fn history_says_what_it_was(world) {
        let first = make(&world, json!({"a": 1}));
        world.clock.turn(60);
        let second = update(&world, &first, json!({"a": 2, "b": [1]}));
        world.clock.turn(60);
        let third = update(&world, &second, json!({"b": null}));
        let history = world.ok("garden_entity_history", json!({"uuid": first["uuid"]}));
        let deltas = list(&history, "deltas");
        assert_eq!(deltas.len(), 3);
        for (delta, entity) in deltas.iter().zip([&third, &second, &first]) {
            assert_eq!(delta["_type"], "EntityDelta");
            assert_eq!((&delta["commit"], &delta["parent"]), (&entity["hash"], &entity["previous_hash"]));
            assert_eq!((&delta["version"], &delta["entity_uuid"]), (&entity["version"], &entity["uuid"]));
        }
        assert_eq!(deltas[1]["changes"]["fields"]["a"], json!([1, 2]));
        assert_eq!(deltas[0]["changes"]["fields"]["b"], json!([[1], null]));
        for (at, entity) in [
            (json!(1), &first), (json!(2), &second), (json!(3), &third),
            (first["hash"].clone(), &first), (third["hash"].clone(), &third),
            (second["updated_at"].clone(), &second),
        ] {
            let was = world.ok("garden_entity_history", json!({"uuid": first["uuid"], "at": at}))["entity"].clone();
            for field in ["data", "hash", "previous_hash", "version"] {
                assert_eq!(was[field], entity[field], "{at} {field}");
            }
        }
        for at in [json!(0), json!(4), json!("0123456789abcdef"), json!("2001-01-01T00:00:00Z")] {
            let fault = world.refused("garden_entity_history", json!({"uuid": first["uuid"], "at": at}));
            assert_eq!(fault.code, Code::NotFound, "{at}: {fault}");
        }
        for at in [json!("soon"), json!([1]), json!(1.5)] {
            let fault = world.refused("garden_entity_history", json!({"uuid": first["uuid"], "at": at}));
            assert_eq!(fault.code, Code::Validation, "{at}: {fault}");
        }
        let page = world.ok("garden_entity_history", json!({"uuid": first["uuid"], "limit": 2}));
        let rest = json!({"uuid": first["uuid"], "limit": 2, "cursor": page["pagination"]["next_cursor"]});
        assert_eq!(world.ok("garden_entity_history", rest)["deltas"][0], deltas[2]);
    }

    fn entities_of_every_surface_have_their_history_here(world) {
        world.plan(&["A"]);
        world.ok("create_record", json!({"parent_id": null, "type": "q", "title": "T", "summary": "", "body": ""}));
        world.ok("create_thread", json!({"title": "Talk"}));
        for body in ["one", "two"] {
            world.ok("post_message", json!({"thread_id": "th_001", "body": body}));
        }
        world.ok("update_thread_status", json!({"thread_id": "th_001", "status": "blocked"}));
        world.ok("graph_update", json!({"updates": [{"node_id": "TASK-001", "summary": "B"}]}));
        for handle in ["TASK-001", "R001", "th_001"] {
            let history = world.ok("garden_entity_history", json!({"uuid": handle, "at": 1}));
            let entity = world.ok("garden_get", json!({"id": handle}))["entity"].clone();
            chained(&entity);
            assert_eq!(history["deltas"][0]["commit"], entity["hash"], "{handle}");
            assert_eq!(history["entity"]["version"], 1);
            assert_eq!(history["entity"]["uuid"], entity["uuid"]);
            let by_uuid = world.ok("garden_get", json!({"id": entity["uuid"]}));
            assert_eq!(by_uuid["entity"], entity);
            let args = json!({"uuid": handle, "data": {"x": 1}, "based_on_hash": entity["hash"]});
            let fault = world.refused("garden_entity_update", args);
            assert_eq!(fault.code, Code::Immutable, "{fault}");
        }
        let was = world.ok("garden_entity_history", json!({"uuid": "th_001", "at": 1}))["entity"].clone();
        assert_eq!(was["data"]["status"], "active");
        assert_eq!(list(&world.ok("garden_entity_history", json!({"uuid": "th_001"})), "deltas").len(), 2);
    }

    fn superseding_is_said_once_and_never_in_a_circle(world) {
        let (a, b, c) = (make(&world, json!({"n": 1})), make(&world, json!({"n": 2})), make(&world, json!({"n": 3})));
        let args = |of: &Value, by: &Value| json!({"uuid": of["uuid"], "by": by["uuid"]});
        let done = world.ok("garden_entity_supersede", args(&a, &b))["entity"].clone();
        assert_eq!(done["superseded_by"], b["uuid"]);
        assert!(done["superseded_at"].is_string());
        assert_eq!(done["data"], a["data"]);
        chained(&done);
        assert_eq!(world.refused("garden_entity_supersede", args(&a, &c)).code, Code::Conflict);
        world.ok("garden_entity_supersede", args(&b, &c));
        assert_eq!(world.refused("garden_entity_supersede", args(&c, &a)).code, Code::Conflict);
        assert_eq!(world.refused("garden_entity_supersede", args(&c, &c)).code, Code::Validation);
        let newer = update(&world, &done, json!({"n": 9}));
        assert_eq!(newer["superseded_by"], b["uuid"]);
        world.assert_sound();
    }

    fn groups_and_provenance_are_kept(world) {
        let group = make(&world, json!({}));
        world.ok("create_record", json!({"parent_id": null, "type": "q", "title": "T", "summary": "", "body": ""}));
        let args = json!({"type": "account", "data": {}, "group_id": group["uuid"], "derived_from": "R001"});
        let made = world.ok("garden_entity_create", args)["entity"].clone();
        assert_eq!(made["group_id"], group["uuid"]);
        assert!(made["derived_from"].as_str().unwrap().starts_with("entity_"));
        let args = json!({"type": "account", "data": {}, "group_id": "entity_x"});
        assert_eq!(world.refused("garden_entity_create", args).code, Code::NotFound);
        for kind in ["", "record", "node", "artifact", "log"] {
            let fault = world.refused("garden_entity_create", json!({"type": kind, "data": {}}));
            assert_eq!(fault.code, Code::Validation, "{kind}");
        }
        world.assert_sound();
    }

    fn each_agent_deals_with_changes_at_its_own_pace(world) {
        let first = make(&world, json!({"a": 1}));
        let second = update(&world, &first, json!({"a": 2}));
        world.plan(&["A"]);
        let news = world.ok("garden_changes", json!({"entity_types": ["account"]}));
        let notices = list(&news, "notifications");
        assert_eq!(notices.len(), 2);
        assert_eq!(notices[0]["old_hash"], Value::Null);
        assert_eq!(notices[1]["old_hash"], first["hash"]);
        assert_eq!(notices[1]["new_hash"], second["hash"]);
        assert_eq!(notices[1]["entity_uuid"], first["uuid"]);
        assert_eq!((&notices[1]["version"], &notices[1]["entity_type"]), (&json!(2), &json!("account")));
        world.ok("garden_changes_ack", json!({"cursor": news["cursor"]}));
        let mine = world.ok("garden_changes", json!({"entity_types": ["account"]}));
        assert_eq!(list(&mine, "notifications").len(), 0);
        let bobs = by(&world, "bob", "garden_changes", json!({"entity_types": ["account"]}));
        assert_eq!(list(&bobs, "notifications").len(), 2);
        // Acknowledging less than before takes nothing back.
        world.ok("garden_changes_ack", json!({"cursor": by(&world, "bob", "garden_changes", json!({"limit": 1}))["cursor"]}));
        assert_eq!(list(&world.ok("garden_changes", json!({"entity_types": ["account"]})), "notifications").len(), 0);
        update(&world, &second, json!({"a": 3}));
        assert_eq!(list(&world.ok("garden_changes", json!({})), "notifications").len(), 1, "one's own too");
        let mut cursor = Value::Null;
        let mut count = 0;
        loop {
            let page = by(&world, "bob", "garden_changes", json!({"limit": 1, "since": cursor}));
            if list(&page, "notifications").is_empty() {
                break;
            }
            (cursor, count) = (page["cursor"].clone(), count + 1);
        }
        assert_eq!(count, list(&by(&world, "bob", "garden_changes", json!({})), "notifications").len());
        let fault = world.refused("garden_changes_ack", json!({"cursor": "x"}));
        assert!(fault.message.starts_with("cursor"), "{fault}");
        world.assert_sound();
    }
}
