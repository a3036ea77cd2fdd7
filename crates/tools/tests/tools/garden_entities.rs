//! Entities: their chain of hashes, changes from the version that was seen, and what they were.

use crate::garden_common::*;
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

#[on_both]
fn each_version_is_chained_to_the_one_before(world: World) {
    let first = make(
        &world,
        json!({"owner": "Zoë 🌱", "amount": 1e16, "tags": [1.0, null, -0.0]}),
    );
    assert_eq!(
        (&first["version"], &first["previous_hash"]),
        (&json!(1), &Value::Null)
    );
    assert!(uuid(&first).starts_with("entity_"));
    chained(&first);
    let second = update(&world, &first, json!({"amount": 2.5, "tags": null}));
    chained(&second);
    assert_eq!(second["previous_hash"], first["hash"]);
    assert_eq!(second["data"], json!({"owner": "Zoë 🌱", "amount": 2.5}));
    let args = json!({"uuid": first["uuid"], "to": 1, "based_on_hash": second["hash"]});
    let third = world.ok("garden_entity_revert", args)["entity"].clone();
    chained(&third);
    assert_eq!(
        (&third["data"], &third["version"]),
        (&first["data"], &json!(3))
    );
    assert_ne!(third["hash"], first["hash"]);
    let back = json!({"uuid": first["uuid"], "to": second["hash"], "based_on_hash": third["hash"]});
    let fourth = world.ok("garden_entity_revert", back)["entity"].clone();
    assert_eq!(
        (&fourth["data"], &fourth["version"]),
        (&second["data"], &json!(4))
    );
    assert_eq!(
        world.ok("garden_get", json!({"id": first["uuid"]}))["entity"],
        fourth
    );
    world.assert_sound();
}

#[on_both]
fn a_stale_change_is_told_what_is_current(world: World) {
    let first = make(&world, json!({"a": 1}));
    let second = update(&world, &first, json!({"a": 2}));
    let stale = json!({"uuid": first["uuid"], "data": {"a": 3}, "based_on_hash": first["hash"], "based_on_version": 1});
    let fault = world.refused("garden_entity_update", stale);
    assert_eq!(fault.code, Code::Conflict);
    assert_eq!(
        fault.details.unwrap(),
        json!({
            "current_hash": second["hash"], "current_version": 2,
            "client_hash": first["hash"], "client_version": 1,
        })
    );
    let other_number = json!({"uuid": first["uuid"], "data": {"a": 2}, "based_on_hash": second["hash"], "based_on_version": 1});
    assert_eq!(
        world.ok("garden_entity_update", other_number)["unchanged"],
        true,
        "the hash alone decides"
    );
    let args = json!({"uuid": first["uuid"], "to": 1, "based_on_hash": first["hash"]});
    assert_eq!(
        world.refused("garden_entity_revert", args).code,
        Code::Conflict
    );
}

#[on_both]
fn of_two_changes_from_one_version_one_wins(world: World) {
    let first = make(&world, json!({"a": 0}));
    let others: Vec<_> = (0..2).map(|_| world.another()).collect();
    let done: Vec<bool> = std::thread::scope(|scope| {
        let run = |(at, engine): (usize, understory_engine::Engine)| {
            let args = json!({"uuid": first["uuid"], "data": {"a": at + 1}, "based_on_hash": first["hash"]});
            scope.spawn(move || {
                World::call_on(&engine, &World::caller("ada"), "garden_entity_update", args).is_ok()
            })
        };
        let threads: Vec<_> = others.into_iter().enumerate().map(run).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    assert_eq!(done.iter().filter(|done| **done).count(), 1);
    world.assert_sound();
}

#[on_both]
fn history_says_what_it_was(world: World) {
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
        assert_eq!(
            (&delta["commit"], &delta["parent"]),
            (&entity["hash"], &entity["previous_hash"])
        );
        assert_eq!(
            (&delta["version"], &delta["entity_uuid"]),
            (&entity["version"], &entity["uuid"])
        );
    }
    assert_eq!(deltas[1]["changes"]["fields"]["a"], json!([1, 2]));
    assert_eq!(deltas[0]["changes"]["fields"]["b"], json!([[1], null]));
    for (at, entity) in [
        (json!(1), &first),
        (json!(2), &second),
        (json!(3), &third),
        (first["hash"].clone(), &first),
        (third["hash"].clone(), &third),
        (second["updated_at"].clone(), &second),
    ] {
        let was = world.ok(
            "garden_entity_history",
            json!({"uuid": first["uuid"], "at": at}),
        )["entity"]
            .clone();
        for field in ["data", "hash", "previous_hash", "version"] {
            assert_eq!(was[field], entity[field], "{at} {field}");
        }
    }
    for at in [
        json!(0),
        json!(4),
        json!("0123456789abcdef"),
        json!("2001-01-01T00:00:00Z"),
    ] {
        let fault = world.refused(
            "garden_entity_history",
            json!({"uuid": first["uuid"], "at": at}),
        );
        assert_eq!(fault.code, Code::NotFound, "{at}: {fault}");
    }
    for at in [json!("soon"), json!([1]), json!(1.5)] {
        let fault = world.refused(
            "garden_entity_history",
            json!({"uuid": first["uuid"], "at": at}),
        );
        assert_eq!(fault.code, Code::Validation, "{at}: {fault}");
    }
    let page = world.ok(
        "garden_entity_history",
        json!({"uuid": first["uuid"], "limit": 2}),
    );
    let rest =
        json!({"uuid": first["uuid"], "limit": 2, "cursor": page["pagination"]["next_cursor"]});
    assert_eq!(
        world.ok("garden_entity_history", rest)["deltas"][0],
        deltas[2]
    );
}

#[on_both]
fn entities_of_every_surface_have_their_history_here(world: World) {
    world.plan(&["A"]);
    world.ok(
        "create_record",
        json!({"parent_id": null, "type": "q", "title": "T", "summary": "", "body": ""}),
    );
    world.ok("create_thread", json!({"title": "Talk"}));
    for body in ["one", "two"] {
        world.ok("post_message", json!({"thread_id": "th_001", "body": body}));
    }
    world.ok(
        "update_thread_status",
        json!({"thread_id": "th_001", "status": "blocked"}),
    );
    world.ok(
        "graph_update",
        json!({"updates": [{"node_id": "TASK-001", "summary": "B"}]}),
    );
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
    let was =
        world.ok("garden_entity_history", json!({"uuid": "th_001", "at": 1}))["entity"].clone();
    assert_eq!(was["data"]["status"], "active");
    assert_eq!(
        list(
            &world.ok("garden_entity_history", json!({"uuid": "th_001"})),
            "deltas"
        )
        .len(),
        2
    );
}

#[on_both]
fn superseding_is_said_once_and_never_in_a_circle(world: World) {
    let (a, b, c) = (
        make(&world, json!({"n": 1})),
        make(&world, json!({"n": 2})),
        make(&world, json!({"n": 3})),
    );
    let args = |of: &Value, by: &Value| json!({"uuid": of["uuid"], "by": by["uuid"]});
    let done = world.ok("garden_entity_supersede", args(&a, &b))["entity"].clone();
    assert_eq!(done["superseded_by"], b["uuid"]);
    assert!(done["superseded_at"].is_string());
    assert_eq!(done["data"], a["data"]);
    chained(&done);
    assert_eq!(
        world.refused("garden_entity_supersede", args(&a, &c)).code,
        Code::Conflict
    );
    world.ok("garden_entity_supersede", args(&b, &c));
    assert_eq!(
        world.refused("garden_entity_supersede", args(&c, &a)).code,
        Code::Conflict
    );
    assert_eq!(
        world.refused("garden_entity_supersede", args(&c, &c)).code,
        Code::Validation
    );
    let newer = update(&world, &done, json!({"n": 9}));
    assert_eq!(newer["superseded_by"], b["uuid"]);
    world.assert_sound();
}

#[on_both]
fn groups_and_provenance_are_kept(world: World) {
    let group = make(&world, json!({}));
    world.ok(
        "create_record",
        json!({"parent_id": null, "type": "q", "title": "T", "summary": "", "body": ""}),
    );
    let args =
        json!({"type": "account", "data": {}, "group_id": group["uuid"], "derived_from": "R001"});
    let made = world.ok("garden_entity_create", args)["entity"].clone();
    assert_eq!(made["group_id"], group["uuid"]);
    assert!(
        made["derived_from"]
            .as_str()
            .unwrap()
            .starts_with("entity_")
    );
    let args = json!({"type": "account", "data": {}, "group_id": "entity_x"});
    assert_eq!(
        world.refused("garden_entity_create", args).code,
        Code::NotFound
    );
    for kind in ["", "record", "node", "artifact", "log"] {
        let fault = world.refused("garden_entity_create", json!({"type": kind, "data": {}}));
        assert_eq!(fault.code, Code::Validation, "{kind}");
    }
    world.assert_sound();
}

#[on_both]
fn each_agent_deals_with_changes_at_its_own_pace(world: World) {
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
    assert_eq!(
        (&notices[1]["version"], &notices[1]["entity_type"]),
        (&json!(2), &json!("account"))
    );
    world.ok("garden_changes_ack", json!({"cursor": news["cursor"]}));
    let mine = world.ok("garden_changes", json!({"entity_types": ["account"]}));
    assert_eq!(list(&mine, "notifications").len(), 0);
    let bobs = by(
        &world,
        "bob",
        "garden_changes",
        json!({"entity_types": ["account"]}),
    );
    assert_eq!(list(&bobs, "notifications").len(), 2);
    // Acknowledging less than before takes nothing back.
    world.ok(
        "garden_changes_ack",
        json!({"cursor": by(&world, "bob", "garden_changes", json!({"limit": 1}))["cursor"]}),
    );
    assert_eq!(
        list(
            &world.ok("garden_changes", json!({"entity_types": ["account"]})),
            "notifications"
        )
        .len(),
        0
    );
    update(&world, &second, json!({"a": 3}));
    assert_eq!(
        list(
            &world.ok("garden_changes", json!({"entity_types": ["account"]})),
            "notifications"
        )
        .len(),
        1,
        "one's own too"
    );
    let mut cursor = Value::Null;
    let mut count = 0;
    loop {
        let page = by(
            &world,
            "bob",
            "garden_changes",
            json!({"limit": 1, "since": cursor}),
        );
        if list(&page, "notifications").is_empty() {
            break;
        }
        (cursor, count) = (page["cursor"].clone(), count + 1);
    }
    assert_eq!(
        count,
        list(
            &by(&world, "bob", "garden_changes", json!({})),
            "notifications"
        )
        .len()
    );
    let fault = world.refused("garden_changes_ack", json!({"cursor": "x"}));
    assert!(fault.message.starts_with("cursor"), "{fault}");
    world.assert_sound();
}

#[on_both]
fn dealing_with_what_a_filter_showed_drops_nothing_that_it_hid(world: World) {
    make(&world, json!({"a": 1}));
    world.plan(&["A"]);
    let seen = |args: Value| list(&world.ok("garden_changes", args), "notifications").len();
    let news = world.ok("garden_changes", json!({"entity_types": ["account"]}));
    world.ok("garden_changes_ack", json!({"cursor": news["cursor"]}));
    assert_eq!(seen(json!({"entity_types": ["account"]})), 0);
    assert!(
        seen(json!({"entity_types": ["node"]})) >= 1,
        "the tasks were never shown"
    );
    let all = world.ok("garden_changes", json!({}));
    assert!(list(&all, "notifications").len() >= 3);
    world.ok("garden_changes_ack", json!({"cursor": all["cursor"]}));
    assert_eq!(
        (seen(json!({})), seen(json!({"entity_types": ["node"]}))),
        (0, 0)
    );
    world.ok("create_project", json!({"id": "b", "name": "b"}));
    let other = world.ok(
        "garden_entity_create",
        json!({"type": "account", "data": {}, "project": "b"}),
    );
    make(&world, json!({"a": 2}));
    let there = world.ok(
        "garden_changes",
        json!({"project": "b", "entity_types": ["account"]}),
    );
    assert_eq!(list(&there, "notifications").len(), 1);
    assert_eq!(
        there["notifications"][0]["entity_uuid"],
        other["entity"]["uuid"]
    );
    world.ok("garden_changes_ack", json!({"cursor": there["cursor"]}));
    assert_eq!(
        seen(json!({"project": "b", "entity_types": ["account"]})),
        0
    );
    assert_eq!(
        seen(json!({"entity_types": ["account"]})),
        2,
        "of every project"
    );
    let made = world.ok("garden_artifact_create", json!({"label": "doc"}));
    let told = world.ok("garden_changes", json!({"entity_types": ["artifact"]}));
    let notice = &told["notifications"][0];
    assert_eq!(
        (&notice["handle"], &notice["entity_uuid"]),
        (&json!("doc"), &made["artifact"]["uuid"])
    );
    for bad in ["x", ""] {
        let fault = world.refused("garden_changes", json!({"since": bad}));
        assert!(
            fault
                .message
                .starts_with("since: is not a cursor of garden_changes"),
            "{fault}"
        );
    }
    world.assert_sound();
}

#[on_both]
fn entities_are_listed_by_type_group_and_text(world: World) {
    assert_eq!(
        world.ok("garden_entities", json!({})),
        json!({"entities": [], "pagination": {"next_cursor": null}, "truncated": false})
    );
    let create = |kind: &str, data: Value, more: Value| {
        let mut args = json!({"type": kind, "data": data});
        args.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        world.ok("garden_entity_create", args)["entity"].clone()
    };
    let uuids = |args: Value| -> Vec<String> {
        list(&world.ok("garden_entities", args), "entities")
            .iter()
            .map(uuid)
            .collect()
    };
    let team = create("team", json!({"name": "Blue"}), json!({}));
    let one = create(
        "service",
        json!({"port": 8080}),
        json!({"group_id": team["uuid"]}),
    );
    let two = create("service", json!({"deep": {"name": "Käse"}}), json!({}));
    world.plan(&["A"]);
    world.ok("garden_artifact_create", json!({"label": "doc"}));
    assert_eq!(uuids(json!({"type": "service"})), [uuid(&two), uuid(&one)]);
    assert_eq!(uuids(json!({})), [uuid(&two), uuid(&one), uuid(&team)]);
    assert_eq!(uuids(json!({"group": team["uuid"]})), [uuid(&one)]);
    assert_eq!(uuids(json!({"text": "kÄSE"})), [uuid(&two)]);
    assert_eq!(
        uuids(json!({"text": "8080", "type": "service"})),
        [uuid(&one)]
    );
    assert_eq!(
        world.ok("garden_entities", json!({"type": "team"}))["entities"][0]["name"],
        "Blue"
    );
    let page = world.ok("garden_entities", json!({"limit": 2}));
    assert_eq!(
        uuids(json!({"limit": 2, "cursor": page["pagination"]["next_cursor"]})),
        [uuid(&team)]
    );
    // Members come and go.
    let update = |entity: &Value, more: Value| {
        let mut args = json!({"uuid": entity["uuid"], "based_on_hash": entity["hash"]});
        args.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        world.ok("garden_entity_update", args)["entity"].clone()
    };
    let two = update(
        &two,
        json!({"group_id": team["uuid"], "derived_from": one["uuid"]}),
    );
    assert_eq!(
        (&two["group_id"], &two["derived_from"]),
        (&team["uuid"], &one["uuid"])
    );
    assert_eq!(
        uuids(json!({"group": team["uuid"]})),
        [uuid(&two), uuid(&one)]
    );
    let one = update(&one, json!({"group_id": null}));
    assert!(one.get("group_id").is_none(), "{one}");
    assert_eq!(uuids(json!({"group": team["uuid"]})), [uuid(&two)]);
    let fault = world.refused(
        "garden_entity_update",
        json!({"uuid": two["uuid"], "based_on_hash": two["hash"], "group_id": two["uuid"]}),
    );
    assert!(fault.message.starts_with("group_id"), "{fault}");
    world.ok(
        "garden_entity_supersede",
        json!({"uuid": one["uuid"], "by": two["uuid"]}),
    );
    assert_eq!(uuids(json!({"type": "service"})), [uuid(&two)]);
    assert_eq!(
        uuids(json!({"type": "service", "superseded": true})).len(),
        2
    );
    for (kind, tool) in [
        ("record", "list_records"),
        ("proposal", "reader_proposals"),
        ("node", "graph_query"),
    ] {
        let fault = world.refused("garden_entities", json!({"type": kind}));
        assert!(fault.hint.unwrap().contains(tool));
    }
    world.ok("create_project", json!({"id": "b", "name": "b"}));
    assert_eq!(uuids(json!({"project": "b"})), [""; 0]);
    world.assert_sound();
}

#[on_both]
fn changes_are_waited_for(world: World) {
    let nothing = world.ok("garden_changes", json!({"timeout_s": 0.01}));
    assert_eq!(nothing["notifications"], json!([]));
    let told = std::thread::scope(|scope| {
        let waiting = scope.spawn(|| {
            by(
                &world,
                "bob",
                "garden_changes",
                json!({"entity_types": ["record"], "timeout_s": 100}),
            )
        });
        note(&world, "no change of an entity");
        world.ok(
            "create_record",
            json!({"type": "q", "title": "t", "summary": "", "body": ""}),
        );
        waiting.join().expect("the wait ends")
    });
    assert_eq!(told["notifications"][0]["handle"], "R001");
    let fault = world.refused("garden_changes", json!({"timeout_s": -1}));
    assert!(fault.message.starts_with("timeout_s"), "{fault}");
}
