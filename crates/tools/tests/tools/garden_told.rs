//! What a retrace tells: who read what, sought what and changed what, in words and without numbers
//! that only the server knows.

use crate::threads_common::*;
use serde_json::{Value, json};
use understory_testkit::{World, on_both};

fn document(world: &World) -> Value {
    let args = json!({"label": "plan", "content": "# Plan\nWe store everything in SQLite.\n"});
    world.ok("garden_artifact_create", args)["artifact"].clone()
}

/// The steps that an answer of `why` or `garden_trace` tells, each as `actor action handle: text`.
fn told(answer: &Value) -> Vec<String> {
    let field = |step: &Value, name: &str| step[name].as_str().unwrap_or_default().to_string();
    let steps = answer["steps"].as_array().expect("steps").iter();
    steps
        .map(|step| {
            let names = ["actor", "action"].map(|name| field(step, name)).join(" ");
            let what = match field(step, "name") {
                name if name.is_empty() => field(step, "handle"),
                name => name,
            };
            format!("{names} {what}: {}", field(step, "text"))
        })
        .collect()
}

fn last(world: &World, id: &Value) -> String {
    told(&world.ok("why", json!({"id": id}))).remove(0)
}

#[on_both]
fn looks_are_told_with_their_place(world: World) {
    document(&world);
    let at = json!({"artifact": "plan", "start": 1, "end": 2});
    let look = world.ok(
        "reader_scroll",
        with(at.clone(), json!({"context": "find the store"})),
    );
    assert_eq!(
        last(&world, &look["item"]),
        "ada read plan: lines 1–2, to: find the store"
    );
    let picked = world.ok(
        "reader_select",
        json!({"artifact": "plan", "start": 2, "end": 2}),
    );
    assert_eq!(last(&world, &picked["item"]), "ada selected plan: line 2");
    let found = world.ok(
        "reader_search",
        json!({"artifact": "plan", "query": "which database?"}),
    );
    assert_eq!(
        last(&world, &found["item"]),
        "ada searched plan: for “which database?”, found 1 passage"
    );
    let note = world.ok("reader_note", json!({"content": "one writer only"}));
    assert_eq!(last(&world, &note["item"]), "ada noted : one writer only");
    let made = world.ok(
        "reader_propose",
        with(
            at,
            json!({"start": 2, "content": "PostgreSQL.", "reasoning": "many writers"}),
        ),
    );
    let why = world.ok("why", json!({"id": made["item"]}));
    assert_eq!(
        told(&why)[0],
        "ada proposed prop_001: “PostgreSQL.” for plan line 2"
    );
    assert_eq!(why["steps"][0]["reasoning"], "many writers");
    let done = by(
        &world,
        "bob",
        "reader_decide",
        json!({"proposal": "prop_001", "accept": true, "note": "good"}),
    );
    assert_eq!(last(&world, &done["item"]), "bob accepted prop_001: good");
    let line = world.ok("why", json!({"id": "plan:2"}));
    assert_eq!(
        told(&line)[0],
        "bob committed plan: “We store everything in SQLite.” → “PostgreSQL.”"
    );
    assert_eq!(line["steps"][0]["reasoning"], "many writers");
}

#[on_both]
fn commits_say_what_they_changed_from_what_to_what(world: World) {
    let made = document(&world);
    let commit = |base: &Value, content: &str| {
        world.ok(
            "garden_artifact_commit",
            json!({"artifact": "plan", "based_on": base, "content": content}),
        )["commit"]
            .clone()
    };
    let text = |n: usize| {
        told(&world.ok("why", json!({"id": world.ok("garden_timeline", json!({"types": ["ArtifactDelta"]}))["items"][n]["uuid"]}))).remove(0)
    };
    assert_eq!(text(0), "ada created plan: 2 lines, beginning “# Plan”");
    let two = commit(
        &made["head"],
        "# Plan\nWe store everything in SQLite.\nA third.\n",
    );
    assert_eq!(text(0), "ada committed plan: added “A third.” as line 3");
    let three = commit(&two, "# Plan\nA third.\n");
    assert_eq!(
        text(0),
        "ada committed plan: removed “We store everything in SQLite.”"
    );
    commit(&three, "a\nb\nc\nd\n");
    let many = text(0);
    assert!(
        many.contains("“# Plan” → “a”") && many.ends_with("more"),
        "{many}"
    );
}

#[on_both]
fn things_are_told_by_their_type_and_name(world: World) {
    let till = world.ok(
        "garden_entity_create",
        json!({"type": "service", "data": {"name": "till", "port": 80}}),
    )["entity"]
        .clone();
    let bare = world.ok(
        "garden_entity_create",
        json!({"type": "service", "data": {"port": 8080}}),
    )["entity"]
        .clone();
    assert_eq!(
        last(&world, &till["uuid"]),
        "ada created service “till”: service: name: till, port: 80"
    );
    assert_eq!(
        last(&world, &bare["uuid"]),
        "ada created service “port: 8080”: service: port: 8080"
    );
    let related = world.ok(
        "garden_relate",
        json!({"kind": "groups_with", "source": till["uuid"], "target": bare["uuid"]}),
    );
    let made = world.ok("garden_timeline", json!({"limit": 1}))["items"][0].clone();
    assert!(related["relation"].is_object());
    assert_eq!(
        made["changes"]["fields"]["source"][1]
            .as_str()
            .map(|name| &name[..5]),
        Some("item_"),
        "{made}"
    );
    let text = told(&world.ok("why", json!({"id": made["uuid"]}))).remove(0);
    assert!(
        text.ends_with("service “till” groups_with service “port: 8080”"),
        "{text}"
    );
}

#[on_both]
fn conversations_are_told_by_their_titles(world: World) {
    let fork = world.ok("garden_fork", json!({"title": "Which store?"}));
    assert_eq!(fork["log"]["title"], "Which store?");
    let log = text(&fork["log"]["uuid"]);
    let below = world.ok("garden_fork", json!({"title": "And how?"}));
    assert_eq!(
        last(&world, &below["log"]["uuid"]),
        "ada created “And how?”: forked from “Which store?”"
    );
    let stack = world.ok("garden_stack", json!({}));
    assert_eq!(stack["tree"][0]["children"][0]["title"], "Which store?");
    world.ok(
        "garden_collapse",
        json!({"log": below["log"]["uuid"], "summary": "By hand."}),
    );
    // Whoever reads the one it came from learns what came of it.
    let items = world.ok("garden_log", json!({"log": log}))["items"].clone();
    let events: Vec<&Value> = items
        .as_array()
        .unwrap()
        .iter()
        .filter(|item| item["_type"] == "SystemEvent")
        .collect();
    assert_eq!(events.len(), 2);
    assert_eq!(
        (&events[0]["event_type"], &events[1]["event_type"]),
        (&json!("branch_created"), &json!("summary_generated"))
    );
    assert_eq!(
        (
            &events[1]["payload"]["summary"],
            &events[1]["payload"]["title"]
        ),
        (&json!("By hand."), &json!("And how?"))
    );
    assert_eq!(
        last(&world, &events[1]["uuid"]),
        "ada reported : “And how?” came to: By hand."
    );
    let again = world.ok("garden_reopen", json!({"log": below["log"]["uuid"]}));
    assert_eq!(again["log"]["title"], "And how?");
    let first = world.ok("garden_log", json!({"log": again["log"]["uuid"]}))["items"].clone();
    assert_eq!(
        (&first[0]["_type"], &first[1]["event_type"]),
        (&json!("Note"), &json!("branch_reopened"))
    );
    // What the server reports there, nobody has seen by that.
    let frame = by(&world, "ada", "garden_frame", json!({}))["frame"].clone();
    assert_eq!(frame["head"], first[0]["uuid"]);
    for bad in ["", " ", "a\nb"] {
        refuse_field(&world, "garden_fork", json!({"title": bad}), "title");
    }
    let events = world.ok(
        "garden_timeline",
        json!({"types": ["SystemEvent"], "limit": 1}),
    );
    refuse(
        &world,
        "garden_undo",
        json!({"item": events["items"][0]["uuid"]}),
        understory_model::Code::Immutable,
    );
    world.assert_sound();
}

#[on_both]
fn no_number_of_the_server_is_told(world: World) {
    let note = world.ok("garden_add", json!({"type": "Note", "description": "oops"}));
    world.ok("garden_undo", json!({"item": note["item"]["uuid"]}));
    let undone = world.ok("garden_timeline", json!({"types": ["Undone"]}))["items"][0].clone();
    assert_eq!(undone["item"], note["item"]["uuid"]);
    assert!(undone.get("data").is_none(), "{undone}");
    let changes = world.ok("garden_changes", json!({}));
    world.ok("garden_changes_ack", json!({"cursor": changes["cursor"]}));
    let ack = world.ok("garden_timeline", json!({"types": ["ChangesAck"]}))["items"][0].clone();
    assert!(
        ack.get("data").is_none() && ack["description"].is_string(),
        "{ack}"
    );
}

#[on_both]
fn what_readers_and_summaries_mention_is_related(world: World) {
    let plan = document(&world);
    let note = world.ok("reader_note", json!({"content": "see plan:2 again"}));
    let fork = world.ok("garden_fork", json!({}));
    world.ok(
        "garden_collapse",
        json!({"log": fork["log"]["uuid"], "summary": "plan:2 must change"}),
    );
    let event = world.ok(
        "garden_timeline",
        json!({"types": ["SystemEvent"], "limit": 1}),
    )["items"][0]
        .clone();
    for item in [&note["item"], &event["uuid"]] {
        let out = world.ok(
            "garden_relations",
            json!({"of": item, "kind": "mentions", "direction": "out"}),
        );
        assert_eq!(out["relations"].as_array().unwrap().len(), 1, "{out}");
        assert!(
            out.to_string().contains(plan["uuid"].as_str().unwrap()),
            "{out}"
        );
    }
    world.assert_sound();
}

#[on_both]
fn a_closed_project_takes_nothing_new_and_its_order_rests(world: World) {
    world.ok("create_project", json!({"id": "b", "name": "b"}));
    let note = |words: &str, project: &str| {
        text(
            &world.ok(
                "garden_add",
                json!({"type": "Note", "description": words, "project": project}),
            )["item"]["uuid"],
        )
    };
    let artifact = |label: &str, project: &str| {
        let made = world.ok(
            "garden_artifact_create",
            json!({"label": label, "content": "one\n", "project": project}),
        );
        note(&format!("{label}:1 says it"), project);
        text(&made["artifact"]["uuid"])
    };
    let (there, own) = (artifact("doc_b", "b"), artifact("doc_own", "default"));
    let layer = |of: &str| {
        let found = world.ok(
            "garden_relations",
            json!({"of": of, "direction": "in", "kind": "mentions"}),
        );
        text(&found["relations"][0]["layer"])
    };
    assert_eq!((layer(&there), layer(&own)), ("core".into(), "core".into()));
    let closed = world.ok("garden_fossilize", json!({"project": "b", "close": true}));
    assert_eq!(
        (&closed["closed"], &closed["project"]),
        (&json!(true), &json!("b"))
    );
    assert_eq!(
        closed["fossilized"].as_array().unwrap().len(),
        1,
        "{closed}"
    );
    assert_eq!((layer(&there), layer(&own)), ("soil".into(), "core".into()));
    for (tool, args) in [
        (
            "garden_add",
            json!({"type": "Note", "description": "late", "project": "b"}),
        ),
        (
            "garden_artifact_create",
            json!({"label": "late", "project": "b"}),
        ),
        (
            "garden_entity_create",
            json!({"type": "t", "data": {}, "project": "b"}),
        ),
    ] {
        let fault = refuse(&world, tool, args, understory_model::Code::Conflict);
        assert!(fault.hint.unwrap().contains("close: false"));
    }
    // Closing again, and the faded being swept, change nothing for it.
    assert_eq!(
        world.ok("garden_fossilize", json!({"project": "b", "close": true}))["fossilized"],
        json!([])
    );
    assert_eq!(
        world.ok("garden_fossilize", json!({}))["revived"],
        json!([])
    );
    let open = world.ok("garden_fossilize", json!({"project": "b", "close": false}));
    assert_eq!(open["revived"].as_array().unwrap().len(), 1, "{open}");
    assert_eq!(layer(&there), "core");
    note("on we go", "b");
    refuse_field(
        &world,
        "garden_fossilize",
        json!({"project": "b", "close": true, "dry_run": true}),
        "dry_run",
    );
    refuse(
        &world,
        "garden_fossilize",
        json!({"project": "nowhere", "close": true}),
        understory_model::Code::NotFound,
    );
    world.assert_sound();
}
