//! What names stand for: labels of projects, parts of messages, ranges of lines.

use serde_json::{Value, json};
use understory_engine::Request;
use understory_engine::kernel::content::message::Said;
use understory_engine::kernel::names;
use understory_model::Code;
use understory_model::fact::Fact;
use understory_model::fragment::{Cut, fragment_id};
use understory_model::thread::MessageKind;
use understory_testkit::{World, on_both};

use crate::garden_common::*;

/// Two artifacts of one label: in the caller's project, then in another.
fn two_docs(world: &World) {
    world.ok(
        "create_project",
        json!({"id": "b", "name": "b", "description": "other"}),
    );
    world.ok(
        "garden_artifact_create",
        json!({"label": "doc", "content": "d1\n"}),
    );
    world.ok(
        "garden_artifact_create",
        json!({"label": "doc", "content": "b1\n", "project": "b"}),
    );
}

fn request() -> Request {
    Request {
        tool: "test",
        scope: String::new(),
        key: None,
        arguments: Value::Null,
        cause: None,
        project: None,
    }
}

/// Two texts with one id.
fn colliding() -> (String, String) {
    let mut seen = std::collections::HashMap::new();
    (0..)
        .find_map(|at| {
            let text = format!("This is the sentence with number {at}.");
            seen.insert(fragment_id(&text), text.clone())
                .map(|before| (before, text))
        })
        .unwrap()
}

#[on_both]
fn a_label_belongs_to_its_project(world: World) {
    two_docs(&world);
    let line = |args: Value| world.ok("why", args)["line"]["content"].clone();
    assert_eq!(line(json!({"id": "doc:1"})), "d1");
    assert_eq!(line(json!({"id": "doc:1", "project": "b"})), "b1");
    assert_eq!(line(json!({"id": "b/doc:1"})), "b1");
    assert_eq!(line(json!({"id": "default/doc:1", "project": "b"})), "d1");
    for (project, content) in [("default", "d1"), ("b", "b1")] {
        let refs = world.ok(
            "garden_refs",
            json!({"content": "see doc:1", "project": project}),
        );
        assert_eq!(refs["refs"][0]["content"], content);
        let got = world.ok("garden_get", json!({"id": "doc", "project": project}));
        let uuid = got["entity"]["uuid"].as_str().unwrap().to_string();
        assert_eq!(line(json!({"id": format!("{uuid}:1")})), content);
        let history = world.ok(
            "garden_entity_history",
            json!({"uuid": "doc", "project": project}),
        );
        assert_eq!(history["deltas"][0]["entity_uuid"], uuid.as_str());
        let trace = world.ok("garden_trace", json!({"item": "doc:1", "project": project}));
        assert_eq!(trace["steps"].as_array().unwrap().len(), 1);
        let timeline = world.ok(
            "garden_timeline",
            json!({"entity": "doc", "project": project}),
        );
        assert_eq!(list(&timeline, "items").len(), 3);
        let related = world.ok(
            "garden_relate",
            json!({"kind": "mentions", "source": "doc", "target": "project:b", "project": project}),
        );
        assert_eq!(related["relation"]["source"], uuid.as_str());
        let of = world.ok("garden_relations", json!({"of": "doc", "project": project}));
        assert_eq!(list(&of, "relations").len(), 1);
    }
}

#[on_both]
fn what_is_written_means_its_own_project(world: World) {
    two_docs(&world);
    let uuid_of = |project: &str| {
        world.ok("garden_get", json!({"id": "doc", "project": project}))["entity"]["uuid"].clone()
    };
    for (project, text) in [
        ("b", "as doc:1 says"),
        ("default", "as doc:1 says"),
        ("default", "unlike b/doc:1 it is"),
    ] {
        let said = add(
            &world,
            json!({"type": "Note", "description": text, "project": project, "caused_by": "doc:1"}),
        );
        let of = world.ok(
            "garden_relations",
            json!({"of": said["uuid"], "kind": "mentions"}),
        );
        let meant = if text.contains('/') { "b" } else { project };
        assert_eq!(of["relations"][0]["target"], uuid_of(meant), "{text}");
        let cause = world.ok("garden_get", json!({"id": said["caused_by"]}))["item"].clone();
        assert_eq!(
            cause["artifact_uuid"],
            uuid_of(project),
            "a cause is looked up where the write goes"
        );
        let shown = world.ok("garden_get", json!({"id": said["uuid"], "render": true}));
        assert!(
            shown["item"]["rendered"]
                .as_str()
                .unwrap()
                .contains("[doc line 1]"),
            "{shown}"
        );
    }
    world.assert_sound();
}

#[on_both]
fn nothing_resolves_elsewhere_by_accident(world: World) {
    world.ok(
        "create_project",
        json!({"id": "b", "name": "b", "description": "other"}),
    );
    world.ok(
        "garden_artifact_create",
        json!({"label": "plans", "content": "one\n", "project": "b"}),
    );
    let fault = world.refused("why", json!({"id": "plans:1"}));
    assert_eq!(fault.code, Code::NotFound);
    assert_eq!(
        fault.hint.as_deref(),
        Some("Project b has a plans: name it b/plans:1, or give project b.")
    );
    assert_eq!(
        world.ok("garden_refs", json!({"content": "plans:1"}))["refs"][0]["resolved"],
        false
    );
    assert_eq!(
        world
            .refused(
                "garden_add",
                json!({"type": "Note", "description": "x", "caused_by": "plans"})
            )
            .code,
        Code::NotFound
    );
    let said = add(
        &world,
        json!({"type": "Message", "description": "Only in project b.", "project": "b"}),
    );
    let id = said["fragments"][0]["id"].as_str().unwrap();
    assert_eq!(
        world.ok("garden_refs", json!({"content": id}))["refs"][0]["resolved"],
        false
    );
    assert_eq!(
        world.ok("garden_refs", json!({"content": id, "project": "b"}))["refs"][0]["resolved"],
        true
    );
    let anchor = format!("{}#{id}", uuid(&said));
    assert_eq!(
        world.ok("garden_refs", json!({"content": anchor}))["refs"][0]["message_uuid"],
        said["uuid"]
    );
}

#[on_both]
fn what_there_is_not_is_told_as_it_was_asked(world: World) {
    world.ok(
        "garden_artifact_create",
        json!({"label": "goals_doc", "content": "one\n"}),
    );
    let told = |id: &str| {
        let fault = world.refused("why", json!({"id": id}));
        assert_eq!(fault.code, Code::NotFound);
        (fault.message.clone(), fault.hint.unwrap_or_default())
    };
    assert_eq!(told("goals_doc:9").0, "goals_doc has 1 line");
    assert_eq!(
        told("goals_doc:1@0000000").0,
        "goals_doc has no commit 0000000"
    );
    assert_eq!(told("goals_dok").1, "Did you mean goals_doc?");
    assert!(told("item_x#^a7f").1.contains("item_<uuid>#^a7f"));
    for id in [
        "item_0192c0de-0000-7000-8000-000000000001",
        "rel_x",
        "msg_999",
    ] {
        let (message, hint) = told(id);
        assert_eq!(message, format!("nothing is called {id}"));
        assert!(!hint.contains("graph_query"), "{hint}");
    }
    for part in ["goals_doc#x", "goals_doc#^a7f", "TASK-001#x"] {
        let fault = world.refused(
            "garden_add",
            json!({"type": "Note", "description": "x", "caused_by": part}),
        );
        assert_eq!(fault.code, Code::NotFound, "{part}");
    }
    let fault = names::nothing_yet("id", "x");
    assert_eq!(fault.message, "nothing is called x");
}

#[on_both]
fn an_anchor_means_its_message(world: World) {
    let (one, other) = colliding();
    let id = fragment_id(&one);
    let first = add(&world, json!({"type": "Message", "description": one}));
    let second = add(&world, json!({"type": "Message", "description": other}));
    for (said, text) in [(&first, &one), (&second, &other)] {
        let anchor = format!("{}#{id}", uuid(said));
        let refs = world.ok(
            "garden_refs",
            json!({"content": format!("as {anchor} says")}),
        );
        assert_eq!(refs["refs"][0]["message_uuid"], said["uuid"]);
        assert_eq!(refs["refs"][0].get("ambiguous"), None);
        let citing = note(&world, &format!("as @{anchor} says"));
        let of = world.ok(
            "garden_relations",
            json!({"of": citing["uuid"], "kind": "mentions", "direction": "out"}),
        );
        let parts: Vec<&Value> = list(&of, "relations")
            .iter()
            .filter(|one| one["target_type"] == "fragment")
            .collect();
        assert_eq!(parts.len(), 1);
        assert_eq!(parts[0]["target"], said["uuid"]);
        let shown = world.ok("garden_get", json!({"id": citing["uuid"], "render": true}));
        assert_eq!(
            shown["item"]["rendered"],
            json!(format!("as [{text}] says"))
        );
    }
}

#[on_both]
fn two_parts_of_one_id_in_one_message(world: World) {
    let (one, other) = colliding();
    let id = fragment_id(&one);
    let said = add(
        &world,
        json!({"type": "Message", "description": format!("{one} {other}")}),
    );
    let anchor = |n: &str| format!("{}#{id}{n}", uuid(&said));
    let content = |n: &str| world.ok("garden_get", json!({"id": anchor(n)}))["fragment"].clone();
    assert_eq!(content("")["content"], json!(one));
    assert_eq!(content("")["ambiguous"], true);
    assert_eq!(content(".1")["content"], json!(one));
    assert_eq!(
        (
            content(".2")["content"].clone(),
            content(".2")["position"].clone()
        ),
        (json!(other), json!(1))
    );
    assert_eq!(content(".2").get("ambiguous"), None);
    assert_eq!(
        world
            .refused("garden_get", json!({"id": anchor(".3")}))
            .code,
        Code::NotFound
    );
    world.ok("garden_artifact_create", json!({"label": "doc"}));
    let fault = world.refused(
        "garden_artifact_commit",
        json!({"artifact": "doc", "based_on": null, "ops": format!("+1:{id}")}),
    );
    assert_eq!(fault.code, Code::Conflict);
    assert_eq!(
        fault.details.unwrap()["candidates"],
        json!([anchor(".1"), anchor(".2")])
    );
    world.ok(
        "garden_artifact_commit",
        json!({"artifact": "doc", "based_on": null, "ops": format!("+1:{}", anchor(".2"))}),
    );
    let shown = world.ok("garden_artifact_show", json!({"artifact": "doc"}));
    assert_eq!(
        (&shown["lines"][0]["content"], &shown["lines"][0]["source"]),
        (&json!(other), &json!(anchor(".2")))
    );
}

#[on_both]
fn ranges_of_lines_and_of_parts(world: World) {
    let made = world.ok(
        "garden_artifact_create",
        json!({"label": "doc", "content": "a\nb\nc\nd\n"}),
    );
    let head = made["artifact"]["head"].as_str().unwrap()[..9].to_string();
    world.ok(
        "garden_artifact_commit",
        json!({"artifact": "doc", "based_on": head, "content": "a\nB\nc\nd\n"}),
    );
    let one =
        |content: &str| world.ok("garden_refs", json!({"content": content}))["refs"][0].clone();
    let range = one("see doc:2-3 now");
    assert_eq!(
        (&range["line"], &range["end"], &range["content"]),
        (&json!(2), &json!(3), &json!("B\nc"))
    );
    assert_eq!(
        (&range["span"], &range["whole"]),
        (&json!([4, 9]), &json!([4, 11]))
    );
    assert_eq!(one(&format!("doc:2-3@{head}"))["content"], "b\nc");
    assert_eq!(one("doc:3-9")["resolved"], false);
    assert_eq!(
        one("doc:99999999999999999999")["line"],
        "99999999999999999999"
    );
    let why = world.ok("why", json!({"id": "doc:1-2"}));
    assert_eq!(why["lines"].as_array().unwrap().len(), 2);
    assert_eq!(
        why["steps"][0]["uuid"],
        world.ok("garden_artifact_log", json!({"artifact": "doc"}))["deltas"][0]["uuid"],
        "the last commit of them"
    );
    let shown = note(&world, "as doc:2-3 says");
    let shown = world.ok("garden_get", json!({"id": shown["uuid"], "render": true}));
    assert_eq!(shown["item"]["rendered"], "as [doc lines 2 to 3] says");
    let text = "The first sentence is here.\nThe second sentence is here.  The third one ends it.";
    let said = add(&world, json!({"type": "Message", "description": text}));
    let ids: Vec<&str> = list(&said, "fragments")
        .iter()
        .map(|part| part["id"].as_str().unwrap())
        .collect();
    let range = format!("{}#{}:{}", uuid(&said), ids[1], ids[2]);
    assert_eq!(
        world.ok("garden_get", json!({"id": range}))["fragment"]["content"],
        "The second sentence is here.  The third one ends it."
    );
    assert_eq!(one(&range)["last"], ids[2]);
}

#[on_both]
fn one_sentence_has_one_id(world: World) {
    let alone = add(
        &world,
        json!({"type": "Message", "description": "We must ship on Friday."}),
    );
    let among = add(
        &world,
        json!({"type": "Message", "description": "We must ship on Friday. \nThen we can rest."}),
    );
    assert_eq!(alone["fragments"][0]["id"], among["fragments"][0]["id"]);
    assert_eq!(
        among["fragments"][1],
        json!({"id": fragment_id("Then we can rest."), "content": "Then we can rest.", "span": [25, 42]})
    );
    let quoted = add(
        &world,
        json!({"type": "Message", "description": "He said \"Stop. Now.\" and left."}),
    );
    assert_eq!(list(&quoted, "fragments").len(), 1);
    world.ok(
        "garden_artifact_create",
        json!({"label": "doc", "content": "We must ship on Friday.\n"}),
    );
    let shown = world.ok("garden_artifact_show", json!({"artifact": "doc"}));
    let refs = world.ok(
        "garden_refs",
        json!({"content": shown["lines"][0]["fragment"]}),
    );
    assert_eq!(
        refs["refs"][0]["message_uuid"], among["uuid"],
        "a line of the same words has the same id"
    );
}

#[on_both]
fn old_messages_keep_their_ids(world: World) {
    let made = world.ok(
        "create_thread",
        json!({"title": "t", "type": "conversation", "participants": ["ada"]}),
    );
    let thread = made["thread_id"].as_str().unwrap_or("th_001").to_string();
    let body = "The first sentence is here. The second sentence is here.";
    world
        .engine
        .write(&world.caller, request(), move |work| {
            let scope = work.scope()?;
            let found = names::entity(work.read()?, scope, "thread", &thread)?;
            let said = Said {
                role: None,
                thread: thread.clone(),
                n: 1,
                kind: MessageKind::Chat,
                body: body.into(),
                metadata: Default::default(),
                in_reply_to: None,
                schema_version: 1,
                key: None,
                cut: Cut::Joined,
                mentions: Vec::new(),
                cited: Vec::new(),
                undone: false,
            };
            work.note_about(found.id, Fact::Message(Box::new(said)))?;
            Ok(json!({}))
        })
        .unwrap();
    let old = fragment_id("The first sentence is here. ");
    let refs = world.ok("garden_refs", json!({"content": old}));
    assert_eq!(
        refs["refs"][0]["preview"],
        "The first sentence is here. ".trim_end()
    );
    world.ok("post_message", json!({"thread_id": "th_001", "body": body}));
    let new = fragment_id("The first sentence is here.");
    assert_eq!(
        world.ok("garden_refs", json!({"content": new}))["refs"][0]["resolved"],
        true
    );
    world.engine.rebuild(|_, _| {}).unwrap();
    assert_eq!(
        world.ok("garden_refs", json!({"content": old}))["refs"],
        refs["refs"]
    );
    world.assert_sound();
}

#[on_both]
fn a_summary_can_be_cited(world: World) {
    note(&world, "before");
    let log = world.ok("garden_fork", json!({}))["log"]["uuid"].clone();
    let done = world.ok(
        "garden_collapse",
        json!({"log": log, "summary": "SQLite is enough for us. We keep one writer."}),
    );
    let ids = done["log"]["summary"]["fragment_ids"].clone();
    assert_eq!(ids[0], fragment_id("SQLite is enough for us."));
    let refs = world.ok("garden_refs", json!({"content": ids[0]}));
    assert_eq!(refs["refs"][0]["preview"], "SQLite is enough for us.");
    world.ok("garden_artifact_create", json!({"label": "doc"}));
    let made = world.ok(
        "garden_artifact_commit",
        json!({"artifact": "doc", "based_on": null,
        "ops": format!("+1:{}", ids[0].as_str().unwrap()), "references": [ids[1]]}),
    );
    assert_eq!(made["artifact"]["lines"], 1);
    world.engine.rebuild(|_, _| {}).unwrap();
    world.assert_sound();
    assert_eq!(
        world.ok("garden_refs", json!({"content": ids[1]}))["refs"][0]["resolved"],
        true
    );
}

#[on_both]
fn a_past_label_is_not_taken(world: World) {
    world.ok(
        "garden_artifact_create",
        json!({"label": "draft", "content": "one\n"}),
    );
    world.ok(
        "garden_artifact_relabel",
        json!({"artifact": "draft", "label": "final"}),
    );
    let fault = world.refused("garden_artifact_create", json!({"label": "draft"}));
    assert_eq!(fault.code, Code::Conflict);
    assert_eq!(
        fault.message,
        "draft was a label of final, and references to it still lead there"
    );
    assert_eq!(
        world.ok("garden_refs", json!({"content": "draft:1"}))["refs"][0]["content"],
        "one"
    );
    world.ok(
        "garden_artifact_relabel",
        json!({"artifact": "final", "label": "draft"}),
    );
}
