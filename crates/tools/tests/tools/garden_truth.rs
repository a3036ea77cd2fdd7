//! That what the garden tells is so: where lines came from, that commits are changes, which causes
//! and relations things have, and what may be said of them again.

use serde_json::{Value, json};
use understory_engine::Request;
use understory_engine::garden::artifact::write;
use understory_engine::garden::conversation;
use understory_engine::kernel::artifact;
use understory_engine::kernel::content::artifact_delta::Delta;
use understory_engine::kinds::ARTIFACT_DELTA;
use understory_model::canon::entity_hash;
use understory_model::fragment::fragment_id;
use understory_model::{Code, Role};
use understory_testkit::{World, on_both};

use crate::garden_common::*;

fn commit_ops(world: &World, based_on: Value, ops: &str) -> Value {
    world.ok(
        "garden_artifact_commit",
        json!({"artifact": "d", "based_on": based_on, "ops": ops}),
    )
}

fn changes(world: &World) -> Vec<Value> {
    list(
        &world.ok("garden_changes", json!({"entity_types": ["artifact"]})),
        "notifications",
    )
    .clone()
}

fn kinds(answer: &Value) -> Vec<String> {
    let all = list(answer, "relations").iter();
    all.map(|one| one["kind"].as_str().unwrap().to_string())
        .collect()
}

/// Writes a commit as it was written before commits made versions of their artifact.
fn old_commit(world: &World) {
    let request = Request {
        tool: "test",
        scope: String::new(),
        key: None,
        arguments: Value::Null,
        cause: None,
        project: None,
    };
    world
        .engine
        .write(&world.caller, request, |work| {
            let scope = work.scope()?;
            let found = artifact::find(work.read()?, scope, "d")?;
            let log = conversation::to_write(work, found.row.project, None)?;
            let mut delta = Delta {
                artifact_uuid: found.name.clone(),
                ops: format!("+1:{}", fragment_id("old")),
                texts: vec!["old".into()],
                newline: true,
                label: "d".into(),
                lines: 1,
                bytes: 4,
                ..Delta::default()
            };
            delta.commit = delta.hash()?;
            write::append(
                work,
                &found,
                log,
                ARTIFACT_DELTA,
                delta.fields()?,
                Vec::new(),
            )?;
            Ok(json!({}))
        })
        .unwrap();
}

#[on_both]
fn a_line_knows_the_words_it_was_made_of(world: World) {
    let said = add(
        &world,
        json!({"type": "Message", "description": "Ship on Friday."}),
    );
    let anchor = format!("{}#{}", uuid(&said), fragment_id("Ship on Friday."));
    world.ok("garden_artifact_create", json!({"label": "d"}));
    let made = commit_ops(
        &world,
        Value::Null,
        &format!("+1:{}", fragment_id("Ship on Friday.")),
    );
    let why = world.ok("why", json!({"id": "d:1"}));
    assert_eq!(why["line"]["source"], anchor.as_str());
    assert_eq!(why["steps"][1]["uuid"], said["uuid"], "{why}");
    assert_eq!(
        why["steps"][0]["references"][0]["content"],
        "Ship on Friday."
    );
    let shown = world.ok("garden_artifact_show", json!({"artifact": "d"}));
    assert_eq!(shown["lines"][0]["source"], anchor.as_str());
    let delta = world.ok("garden_artifact_log", json!({"artifact": "d"}))["deltas"][0].clone();
    assert_eq!(delta["references"], json!([anchor]));
    let of = world.ok(
        "garden_relations",
        json!({"of": said["uuid"], "direction": "in"}),
    );
    assert_eq!(of["relations"][0]["source"], delta["uuid"]);
    let of = world.ok(
        "garden_relations",
        json!({"of": delta["uuid"], "direction": "out"}),
    );
    assert_eq!(of["relations"][0]["target"], said["uuid"]);
    // A line that stays keeps its origin, and so does one that is brought again.
    let next = commit_ops(&world, made["commit"].clone(), &format!("+1:{anchor} >1@2"));
    let shown = world.ok("garden_artifact_show", json!({"artifact": "d"}));
    assert_eq!(
        (&shown["lines"][0]["source"], &shown["lines"][1]["source"]),
        (&json!(anchor), &json!(anchor))
    );
    assert_ne!(next["commit"], made["commit"]);
    world.engine.rebuild(|_, _| {}).unwrap();
    world.assert_sound();
    assert_eq!(
        world.ok("garden_artifact_show", json!({"artifact": "d"})),
        shown
    );
}

#[on_both]
fn a_part_of_several_lines_is_the_origin_of_each(world: World) {
    let text = "```\nlet a = 1;\nlet b = 2;\n```";
    let said = add(&world, json!({"type": "Message", "description": text}));
    let anchor = format!("{}#{}", uuid(&said), fragment_id(text));
    world.ok("garden_artifact_create", json!({"label": "d"}));
    commit_ops(&world, Value::Null, &format!("+1:{}", fragment_id(text)));
    let shown = world.ok("garden_artifact_show", json!({"artifact": "d"}));
    assert_eq!(list(&shown, "lines").len(), 4);
    assert!(
        list(&shown, "lines")
            .iter()
            .all(|line| line["source"] == anchor.as_str())
    );
    assert_eq!(shown["lines"][1]["fragment"], fragment_id("let a = 1;"));
    assert_eq!(
        world.ok("why", json!({"id": "d:2"}))["steps"][1]["uuid"],
        said["uuid"]
    );
}

#[on_both]
fn an_origin_survives_a_merge(world: World) {
    let said = add(
        &world,
        json!({"type": "Message", "description": "Ship on Friday."}),
    );
    world.ok(
        "garden_artifact_create",
        json!({"label": "d", "content": "a\nb\nc\n"}),
    );
    let base = world.ok("garden_get", json!({"id": "d"}))["artifact"]["head"].clone();
    let ours = world.ok(
        "garden_artifact_commit",
        json!({"artifact": "d", "based_on": base, "content": "A\nb\nc\n"}),
    );
    let theirs = world.ok(
        "garden_artifact_commit",
        json!({"artifact": "d", "based_on": base, "fork": true,
        "ops": format!("+4:{}", fragment_id("Ship on Friday."))}),
    );
    world.ok(
        "garden_artifact_merge",
        json!({"artifact": "d", "ours": ours["commit"], "theirs": theirs["commit"]}),
    );
    let why = world.ok("why", json!({"id": "d:4"}));
    assert_eq!(why["line"]["content"], "Ship on Friday.");
    assert_eq!(why["steps"][1]["uuid"], said["uuid"]);
}

#[on_both]
fn a_commit_is_a_change_of_its_artifact(world: World) {
    let made = world.ok(
        "garden_artifact_create",
        json!({"label": "d", "content": "a\n"}),
    );
    let cursor = world.ok("garden_changes", json!({}))["cursor"].clone();
    world.ok("garden_changes_ack", json!({"cursor": cursor}));
    let before = world.ok("garden_get", json!({"id": "d"}))["entity"].clone();
    assert_eq!(
        (&before["version"], &before["data"]["head"]),
        (&json!(2), &made["artifact"]["head"])
    );
    let next = world.ok(
        "garden_artifact_commit",
        json!({"artifact": "d", "based_on": made["artifact"]["head"], "content": "b\n"}),
    );
    let after = world.ok("garden_get", json!({"id": "d"}))["entity"].clone();
    assert_eq!(
        (&after["version"], &after["previous_hash"]),
        (&json!(3), &before["hash"])
    );
    assert_eq!(after["data"]["head"], next["commit"]);
    assert_eq!(
        after["hash"],
        json!(entity_hash(&after["data"], before["hash"].as_str()))
    );
    let told = changes(&world);
    assert_eq!(told.len(), 1);
    assert_eq!(
        (
            &told[0]["entity_uuid"],
            &told[0]["old_hash"],
            &told[0]["new_hash"],
            &told[0]["version"]
        ),
        (&after["uuid"], &before["hash"], &after["hash"], &json!(3))
    );
    let beside = world.ok("garden_artifact_commit", json!({"artifact": "d", "based_on": made["artifact"]["head"], "content": "c\n", "fork": true}));
    assert_eq!(changes(&world).len(), 2, "one beside the head is told too");
    world.ok(
        "garden_artifact_relabel",
        json!({"artifact": "d", "label": "e"}),
    );
    let history = world.ok("garden_entity_history", json!({"uuid": "e", "at": 2}));
    let versions: Vec<&Value> = list(&history, "deltas")
        .iter()
        .map(|delta| &delta["version"])
        .collect();
    assert_eq!(versions, [5, 4, 3, 2, 1]);
    assert_eq!(
        history["deltas"][2]["changes"]["fields"]["head"],
        json!([made["artifact"]["head"], next["commit"]])
    );
    assert_eq!(history["entity"]["data"], before["data"]);
    assert_eq!(history["entity"]["hash"], before["hash"]);
    assert_ne!(beside["commit"], next["commit"]);
    world.assert_sound();
    world.engine.rebuild(|_, _| {}).unwrap();
    world.assert_sound();
}

#[on_both]
fn old_commits_stay_what_they_were(world: World) {
    world.ok("garden_artifact_create", json!({"label": "d"}));
    old_commit(&world);
    world.assert_sound();
    let entity = world.ok("garden_get", json!({"id": "d"}));
    assert_eq!(
        (&entity["entity"]["version"], &entity["artifact"]["lines"]),
        (&json!(1), &json!(1))
    );
    world.ok(
        "garden_artifact_relabel",
        json!({"artifact": "d", "label": "e"}),
    );
    world.ok(
        "garden_artifact_commit",
        json!({"artifact": "e", "based_on": entity["artifact"]["head"], "content": "new\n"}),
    );
    assert_eq!(
        world.ok("garden_get", json!({"id": "e"}))["entity"]["version"],
        3
    );
    world.assert_sound();
    world.engine.rebuild(|_, _| {}).unwrap();
    world.assert_sound();
}

#[on_both]
fn an_entity_has_the_causes_of_all_its_items(world: World) {
    let said = note(&world, "we need a shop");
    let record = world.ok("create_record", json!({"parent_id": null, "type": "decision", "title": "T", "summary": "s", "body": "b", "caused_by": said["uuid"]}));
    let record = record["record"]["id"]
        .as_str()
        .unwrap_or("R001")
        .to_string();
    let plan = world.ok(
        "graph_plan",
        json!({"nodes": [{"ref": "1", "summary": "build"}], "caused_by": record}),
    );
    let task = plan["created"][0]["id"].as_str().unwrap().to_string();
    world.ok(
        "graph_update",
        json!({"updates": [{"node_id": task, "properties": {"a": 1}}]}),
    );
    world.ok(
        "create_thread",
        json!({"title": "t", "type": "conversation", "participants": ["ada"], "caused_by": task}),
    );
    let of = |id: &str, direction: &str| {
        world.ok(
            "garden_relations",
            json!({"of": id, "direction": direction, "kind": "triggers"}),
        )
    };
    let into = of(&record, "in");
    assert_eq!(kinds(&into), ["triggers"]);
    assert_eq!(into["relations"][0]["source"], said["uuid"]);
    assert_eq!(
        kinds(&of(&record, "out")).len(),
        list(&of(&record, "out"), "relations").len()
    );
    assert!(!kinds(&of(&record, "out")).is_empty());
    assert_eq!(kinds(&of(&task, "in")), ["triggers"]);
    assert_eq!(kinds(&of(&task, "out")), ["triggers"]);
    assert_eq!(kinds(&of("th_001", "in")), ["triggers"]);
    let first = world.ok("garden_relations", json!({"of": task, "limit": 1}));
    let second = world.ok(
        "garden_relations",
        json!({"of": task, "limit": 1, "cursor": first["pagination"]["next_cursor"]}),
    );
    assert_ne!(
        first["relations"][0]["uuid"],
        second["relations"][0]["uuid"]
    );
}

#[on_both]
fn what_an_entity_says_of_itself_is_related(world: World) {
    let make = |data: Value| world.ok("garden_entity_create", data)["entity"]["uuid"].clone();
    let group = make(json!({"type": "g", "data": {"name": "all"}}));
    let old = make(json!({"type": "t", "data": {"name": "old"}, "group_id": group}));
    let new = make(json!({"type": "t", "data": {"name": "new"}, "derived_from": old}));
    world.ok("garden_entity_supersede", json!({"uuid": old, "by": new}));
    let of = world.ok("garden_relations", json!({"of": old}));
    assert_eq!(kinds(&of), ["groups_with", "derived_from", "supercedes"]);
    let supercedes = of["relations"][2].clone();
    assert_eq!(
        (
            &supercedes["source"],
            &supercedes["target"],
            &supercedes["preview"]
        ),
        (&new, &old, &json!("new"))
    );
    for one in list(&of, "relations") {
        let mut got = world.ok("garden_get", json!({"id": one["uuid"]}))["relation"].clone();
        got["preview"] = one["preview"].clone();
        assert_eq!(got, *one);
    }
    let into = world.ok("garden_relations", json!({"of": group, "direction": "in"}));
    assert_eq!(kinds(&into), ["groups_with"]);
    let deltas = world.ok("garden_entity_history", json!({"uuid": old}))["deltas"].clone();
    assert_eq!(
        deltas[0]["changes"]["fields"]["superseded_by"],
        json!([null, new])
    );
}

#[on_both]
fn a_relation_can_be_said_again_otherwise(world: World) {
    let (a, b) = (note(&world, "a"), note(&world, "b"));
    let relate = |more: Value| {
        let mut args = json!({"kind": "mentions", "source": a["uuid"], "target": b["uuid"]});
        args.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        world.ok("garden_relate", args)["relation"].clone()
    };
    let first = relate(json!({"confidence": 0.95}));
    let head = world.head();
    assert_eq!(relate(json!({})), first);
    assert_eq!(world.head(), head, "nothing new, nothing written");
    let again = relate(json!({"confidence": 0.5, "metadata": {"why": "guess"}}));
    assert_eq!(
        (
            &again["uuid"],
            &again["confidence"],
            &again["metadata"]["why"]
        ),
        (&first["uuid"], &json!(0.5), &json!("guess"))
    );
    let sure = |least: f64| {
        kinds(&world.ok(
            "garden_relations",
            json!({"of": a["uuid"], "min_confidence": least}),
        ))
        .len()
    };
    assert_eq!((sure(0.4), sure(0.6)), (1, 0));
    world.clock.turn(86_400 * 400);
    let weak = world.ok(
        "garden_relations",
        json!({"of": a["uuid"], "min_strength": 0.9}),
    );
    assert_eq!(kinds(&weak).len(), 0);
    assert_eq!(
        world
            .refused(
                "garden_relations",
                json!({"of": a["uuid"], "kind": "bogus"})
            )
            .code,
        Code::Validation
    );
    world.ok(
        "garden_relate",
        json!({"kind": "contains", "source": a["uuid"], "target": b["uuid"]}),
    );
    let fault = world.refused(
        "garden_relate",
        json!({"kind": "contains", "source": a["uuid"], "target": b["uuid"], "confidence": 0.1}),
    );
    assert_eq!(fault.code, Code::Immutable);
    world.assert_sound();
}

#[on_both]
fn a_person_overrides_what_a_text_was_taken_to_mean(world: World) {
    world.ok(
        "garden_artifact_create",
        json!({"label": "at", "content": "x\n"}),
    );
    let said = note(&world, "we meet at:1 or so");
    let remove =
        json!({"kind": "mentions", "source": said["uuid"], "target": "at", "remove": true});
    assert_eq!(
        world.refused("garden_relate", remove.clone()).code,
        Code::Forbidden
    );
    let person = caller("eve", Role::Operator);
    let done = world
        .call_as(&person, "garden_relate", remove.clone())
        .unwrap();
    assert_eq!(done["relation"]["removed"], true);
    let of = |world: &World| {
        kinds(&world.ok(
            "garden_relations",
            json!({"of": said["uuid"], "direction": "out"}),
        ))
    };
    assert_eq!(of(&world), [] as [&str; 0]);
    world.engine.rebuild(|_, _| {}).unwrap();
    assert_eq!(of(&world), [] as [&str; 0], "it stays removed");
    world.assert_sound();
    assert_eq!(
        world
            .call_as(&person, "garden_relate", remove)
            .unwrap_err()
            .code,
        Code::NotFound
    );
    let timeline = world.ok("garden_timeline", json!({"types": ["Corrected"]}));
    assert_eq!(timeline["items"][0]["actor"], "eve");
}

#[on_both]
fn circles_are_refused(world: World) {
    let (a, b, c) = (note(&world, "a"), note(&world, "b"), note(&world, "c"));
    for kind in ["triggers", "supercedes", "replies_to", "continues"] {
        for (from, to) in [(&a, &b), (&b, &c)] {
            world.ok(
                "garden_relate",
                json!({"kind": kind, "source": from["uuid"], "target": to["uuid"]}),
            );
        }
        let fault = world.refused(
            "garden_relate",
            json!({"kind": kind, "source": c["uuid"], "target": a["uuid"]}),
        );
        assert_eq!(fault.code, Code::Conflict, "{kind}");
        assert_eq!(
            fault.message,
            format!("this would close a circle of {kind}")
        );
    }
    let (d, e) = (note(&world, "d"), note(&world, "e"));
    for from in [&d, &e] {
        world.ok(
            "garden_relate",
            json!({"kind": "continues", "source": from["uuid"], "target": c["uuid"]}),
        );
    }
    let effect = add(
        &world,
        json!({"type": "Note", "description": "f", "caused_by": d["uuid"]}),
    );
    let fault = world.refused(
        "garden_relate",
        json!({"kind": "triggers", "source": effect["uuid"], "target": d["uuid"]}),
    );
    assert_eq!(fault.code, Code::Conflict, "what caused_by says counts");
    assert_eq!(
        world.ok("garden_get", json!({"id": b["uuid"]}))["item"]["superseded_by"],
        a["uuid"],
        "a superseded note says so"
    );
}

#[on_both]
fn a_reply_is_a_reply(world: World) {
    let first = note(&world, "question");
    let reply = add(
        &world,
        json!({"type": "Message", "description": "An answer to it.", "replies_to": first["uuid"]}),
    );
    assert_eq!(reply["replies_to"], first["uuid"]);
    let of = world.ok(
        "garden_relations",
        json!({"of": first["uuid"], "direction": "in", "kind": "replies_to"}),
    );
    assert_eq!(of["relations"][0]["source"], reply["uuid"]);
    assert_eq!(
        of["relations"][0]["uuid"]
            .as_str()
            .unwrap()
            .rsplit_once('.')
            .unwrap()
            .1,
        "replies_to"
    );
    let fault = world.refused(
        "garden_relate",
        json!({"kind": "replies_to", "source": reply["uuid"], "target": first["uuid"]}),
    );
    assert_eq!(fault.code, Code::Conflict);
    world.ok(
        "create_thread",
        json!({"title": "t", "type": "conversation", "participants": ["ada"]}),
    );
    let one = world.ok(
        "post_message",
        json!({"thread_id": "th_001", "body": "one"}),
    );
    let two = world.ok(
        "post_message",
        json!({"thread_id": "th_001", "body": "two", "in_reply_to": one["message_id"]}),
    );
    let of = world.ok(
        "garden_relations",
        json!({"of": two["message_id"], "direction": "out", "kind": "replies_to"}),
    );
    assert_eq!(kinds(&of), ["replies_to"]);
    world.ok("garden_undo", json!({"item": reply["uuid"]}));
    world.assert_sound();
    world.engine.rebuild(|_, _| {}).unwrap();
    world.assert_sound();
}

#[on_both]
fn fields_of_ones_own(world: World) {
    let said = add(
        &world,
        json!({"type": "Note", "description": "x", "attributes": {"mood": "good", "n": {"a": 1}}}),
    );
    assert_eq!(
        (&said["mood"], &said["n"]["a"]),
        (&json!("good"), &json!(1))
    );
    let fault = world.refused(
        "garden_add",
        json!({"type": "Note", "description": "x", "mood": "good"}),
    );
    assert_eq!(
        fault.hint.as_deref(),
        Some("Put fields of your own under attributes.")
    );
    for bad in [
        json!({"title": "t"}),
        json!({"replies_to": "x"}),
        json!({"_type": "x"}),
        json!({"uuid": "x"}),
    ] {
        let fault = world.refused(
            "garden_add",
            json!({"type": "Note", "description": "x", "attributes": bad}),
        );
        assert_eq!(fault.code, Code::Validation, "{bad}");
    }
    for kind in ["Fragment", "ToolCALL", "note", "Entity"] {
        assert_eq!(
            world
                .refused("garden_add", json!({"type": kind, "description": "x"}))
                .code,
            Code::Validation,
            "{kind}"
        );
    }
    let said = add(
        &world,
        json!({"type": "Message", "fragments": ["bare string", "two"]}),
    );
    assert_eq!(said["description"], "bare string two");
    assert_eq!(said["fragments"][1]["span"], json!([12, 15]));
}

#[on_both]
fn a_change_tells_all_that_it_changed(world: World) {
    let made = world.ok(
        "garden_entity_create",
        json!({"type": "t", "data": {"deep.a": 1, "deep": {"a": 1}, "n": null}}),
    )["entity"]
        .clone();
    let change = |data: Value, based: &Value| {
        world.ok(
            "garden_entity_update",
            json!({"uuid": made["uuid"], "data": data, "based_on_hash": based["hash"]}),
        )
    };
    let next = change(json!({"deep.a": 2, "deep": {"a": 3}, "x": 1}), &made)["entity"].clone();
    let told =
        world.ok("garden_entity_history", json!({"uuid": made["uuid"]}))["deltas"][0]["changes"]
            .clone();
    assert_eq!(
        told["fields"],
        json!({"deep\\.a": [1, 2], "deep.a": [1, 3], "x": [null, 1]})
    );
    assert_eq!(told["added"], json!(["x"]));
    let head = world.head();
    let same = change(json!({}), &next);
    assert_eq!(
        (&same["unchanged"], &same["entity"]["version"]),
        (&json!(true), &json!(2))
    );
    assert_eq!(world.head(), head);
    let fault = world.refused(
        "garden_entity_update",
        json!({"uuid": made["uuid"], "data": {"a": 1}, "based_on_hash": "", "based_on_version": 2}),
    );
    assert_eq!(
        fault.message,
        "based_on_hash is not the hash of version 2, where the entity stands"
    );
    world.ok("garden_entity_update", json!({"uuid": made["uuid"], "data": {"a": 1}, "based_on_hash": next["hash"], "based_on_version": 1}));
    let fault = world.refused(
        "garden_entity_create",
        json!({"type": "t", "data": {"": 1}}),
    );
    assert_eq!(fault.message, "data: has a field whose name is empty");
    let (a, b) = (note(&world, "a"), note(&world, "b"));
    let one = world.ok(
        "garden_relate",
        json!({"kind": "mentions", "source": a["uuid"], "target": b["uuid"]}),
    )["relation"]["uuid"]
        .clone();
    world.ok(
        "garden_relate",
        json!({"kind": "mentions", "source": a["uuid"], "target": b["uuid"], "remove": true}),
    );
    let told = world.ok("garden_entity_history", json!({"uuid": one}))["deltas"][0].clone();
    assert_eq!(
        (&told["action"], &told["changes"]["fields"]["gone"]),
        (&json!("removed"), &json!([false, true]))
    );
    assert_eq!(
        world.ok("garden_trace", json!({"item": a["uuid"], "max_depth": 0}))["steps"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
}
