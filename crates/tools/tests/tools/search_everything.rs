//! `search` finds whatever was ever stored, whoever stored it and where, and nothing that was taken
//! back.

use crate::threads_common::{by, caller, text};
use serde_json::{Value, json};
use understory_model::Role;
use understory_testkit::{World, on_both};

fn hits(world: &World, query: &str) -> Vec<Value> {
    let answer = world.ok("search", json!({"query": query, "limit": 50}));
    answer["results"].as_array().expect("results").clone()
}

/// The only things that bear a word are found by it: their handles and types.
fn named(world: &World, word: &str) -> Vec<(String, String)> {
    let hit = |hit: &Value| (text(&hit["handle"]), text(&hit["type"]));
    let bears = |hit: &&Value| {
        hit["snippet"]
            .as_str()
            .is_some_and(|text| text.to_lowercase().contains(word))
    };
    hits(world, word).iter().filter(bears).map(hit).collect()
}

#[track_caller]
fn only(world: &World, word: &str) -> (String, String) {
    let mut found = named(world, word);
    assert_eq!(found.len(), 1, "{word}: {found:?}");
    found.remove(0)
}

fn artifact(world: &World) -> Value {
    let args = json!({"label": "goals", "content": "# Goals\nEverything is kept in one file.\n"});
    world.ok("garden_artifact_create", args)["artifact"].clone()
}

#[on_both]
fn what_came_of_a_conversation_is_found(world: World) {
    let fork = world.ok("garden_fork", json!({"title": "Which zeppelin?"}));
    let log = text(&fork["log"]["uuid"]);
    assert_eq!(
        only(&world, "zeppelin"),
        (log.clone(), "conversation".into())
    );
    world.ok(
        "garden_collapse",
        json!({"log": log, "summary": "Helium it is: hydrogen burns."}),
    );
    assert_eq!(only(&world, "helium"), (log.clone(), "conversation".into()));
    let best = &hits(&world, "is the gas flammable?")[0];
    assert_eq!(
        (&best["handle"], &best["title"], &best["surface"]),
        (&json!(log), &json!("Which zeppelin?"), &json!("garden"))
    );
    world.assert_sound();
}

#[on_both]
fn what_readers_say_is_found(world: World) {
    artifact(&world);
    let note = world.ok(
        "reader_note",
        json!({"content": "The marmalade clause is missing."}),
    );
    assert_eq!(
        only(&world, "marmalade"),
        (text(&note["item"]), "ToolCall".into())
    );
    let look = world.ok(
        "reader_scroll",
        json!({"artifact": "goals", "start": 1, "end": 2, "context": "checking the quorum"}),
    );
    assert_eq!(only(&world, "quorum").0, text(&look["item"]));
    world.ok(
        "reader_scroll",
        json!({"artifact": "goals", "start": 1, "end": 2}),
    );
    let args = json!({"artifact": "goals", "start": 2, "end": 2, "content": "Two kangaroos share it.", "reasoning": "one wallaby was lonely"});
    let made = world.ok("reader_propose", args);
    let proposal = text(&made["proposal"]["id"]);
    for word in ["kangaroos", "wallaby"] {
        assert_eq!(only(&world, word), (proposal.clone(), "proposal".into()));
    }
    let decided = by(
        &world,
        "bob",
        "reader_decide",
        json!({"proposal": proposal, "accept": false, "note": "no pouches here"}),
    );
    assert_eq!(only(&world, "pouches").0, text(&decided["item"]));
    // A question is no answer to itself.
    world.ok(
        "reader_search",
        json!({"artifact": "goals", "query": "xylophone"}),
    );
    assert!(named(&world, "xylophone").is_empty());
    for item in [&note["item"], &made["item"]] {
        world.ok("garden_undo", json!({"item": item}));
    }
    for word in ["marmalade", "kangaroos", "wallaby"] {
        assert!(named(&world, word).is_empty(), "{word} was taken back");
    }
    world.assert_sound();
}

#[on_both]
fn why_things_were_changed_is_found(world: World) {
    let made = artifact(&world);
    let commit = json!({"artifact": "goals", "based_on": made["head"], "content": "# Goals\n", "reasoning": "the accordion was too loud"});
    world.ok("garden_artifact_commit", commit);
    let (handle, kind) = only(&world, "accordion");
    assert!(
        handle.starts_with("item_") && kind == "commit",
        "{handle} {kind}"
    );
    let hit = &hits(&world, "noisy instrument")[0];
    assert_eq!(
        (&hit["type"], &hit["title"], &hit["entity"]),
        (&json!("commit"), &json!("goals"), &made["uuid"])
    );
    // A commit that gives reasons and takes lines away is found by the lines of others no more.
    assert!(
        hits(&world, "accordion")
            .iter()
            .all(|hit| hit["type"] != "line")
    );
    let entity = world.ok(
        "garden_entity_create",
        json!({"type": "till", "data": {"n": 1}}),
    )["entity"]
        .clone();
    let update = json!({"uuid": entity["uuid"], "data": {"n": 2}, "based_on_hash": entity["hash"], "reason": "the walrus insisted"});
    world.ok("garden_entity_update", update);
    assert_eq!(
        only(&world, "walrus"),
        (text(&entity["uuid"]), "updated".into())
    );
    let task = world.plan(&["Tune the organ"]).remove(0);
    world.ok(
        "graph_update",
        json!({"updates": [{"node_id": task, "resolved": true, "reason": "flamingo approved"}]}),
    );
    assert_eq!(only(&world, "flamingo").0, task);
    let record = world.ok("create_record", json!({"parent_id": null, "type": "question", "title": "Q", "summary": "", "body": "", "metadata": {"ticket": "JIRA-4711", "by": {"who": "Zebediah"}}}));
    let id = text(&record["record"]["id"]);
    for word in ["jira-4711", "zebediah"] {
        assert_eq!(hits(&world, word)[0]["handle"], json!(id), "{word}");
    }
    world.ok(
        "transition",
        json!({"id": id, "to_state": "LATER", "reason": "until the armadillo wakes"}),
    );
    assert_eq!(only(&world, "armadillo").0, id);
    world.assert_sound();
}

#[on_both]
fn values_are_found_however_deep_and_of_whatever_sort(world: World) {
    let make = |data: Value| {
        text(
            &world.ok(
                "garden_entity_create",
                json!({"type": "service", "data": data}),
            )["entity"]["uuid"],
        )
    };
    let deep = make(
        json!({"description": "Sells tea.", "address": {"lines": [{"street": "Pomegranate Lane"}]}}),
    );
    assert_eq!(only(&world, "pomegranate").0, deep);
    let number = make(json!({"port": 48213}));
    assert_eq!(only(&world, "48213").0, number);
    let call = world.ok("garden_add", json!({"type": "ToolCall", "tool": "shell", "operation": "run", "params": {"line": "grep -r tangerine"}, "context": "looking for the bassoon", "result": {"status": "error", "output": "no mandolin"}}));
    for word in ["tangerine", "bassoon", "mandolin"] {
        assert_eq!(only(&world, word).0, text(&call["item"]["uuid"]), "{word}");
    }
    assert!(call["item"]["result"]["timestamp"].is_string(), "{call}");
    world.assert_sound();
}

#[on_both]
fn what_is_private_stays_so(world: World) {
    let operator = caller("olga", Role::Operator);
    let thread = by(
        &world,
        "bob",
        "create_thread",
        json!({"title": "Secret", "participants": ["bob", "eve"]}),
    );
    let id = text(&thread["thread_id"]);
    by(
        &world,
        "bob",
        "post_message",
        json!({"thread_id": id, "body": "hush", "metadata": {"file": "src/cormorant.rs"}}),
    );
    by(
        &world,
        "bob",
        "update_thread_status",
        json!({"thread_id": id, "status": "blocked", "reason": "waiting for the pelican"}),
    );
    for word in ["pelican", "cormorant"] {
        assert!(named(&world, word).is_empty(), "ada takes no part: {word}");
        let seen = world
            .call_as(&operator, "search", json!({"query": word}))
            .unwrap();
        assert!(
            seen["results"][0]["snippet"]
                .as_str()
                .unwrap()
                .contains(word),
            "{seen}"
        );
    }
    world.assert_sound();
}

#[on_both]
fn hits_of_two_projects_and_what_was_superseded_are_told_apart(world: World) {
    for (project, words) in [
        ("default", "Sea lions sleep here.\n"),
        ("b", "Sea otters sleep here.\n"),
    ] {
        world.ok("create_project", json!({"id": project, "name": project}));
        world.ok(
            "garden_artifact_create",
            json!({"label": "doc", "content": words, "project": project}),
        );
    }
    let lines: Vec<Value> = hits(&world, "sleep here")
        .into_iter()
        .filter(|hit| hit["type"] == "line")
        .collect();
    assert_eq!(lines.len(), 2);
    assert!(
        lines.iter().all(|hit| hit["handle"] == "doc:1"
            && hit["entity"].as_str().unwrap().starts_with("entity_"))
    );
    let mut projects: Vec<String> = lines.iter().map(|hit| text(&hit["project"])).collect();
    projects.sort();
    assert_eq!(projects, ["b", "default"]);
    assert_ne!(lines[0]["entity"], lines[1]["entity"]);
    let whole = hits(&world, "doc")
        .into_iter()
        .find(|hit| hit["type"] == "artifact")
        .unwrap();
    assert_eq!(whole["handle"], "doc");
    let note = |words: &str| {
        text(&world.ok("garden_add", json!({"type": "Note", "description": words}))["item"]["uuid"])
    };
    let (old, new) = (
        note("Ship the gherkins on Friday."),
        note("Ship the gherkins on Monday."),
    );
    world.ok(
        "garden_relate",
        json!({"kind": "supercedes", "source": new, "target": old}),
    );
    let found = hits(&world, "gherkins");
    let over =
        |name: &str| found.iter().find(|hit| hit["handle"] == name).unwrap()["superseded"].clone();
    assert_eq!((over(&old), over(&new)), (json!(true), Value::Null));
    world.assert_sound();
}
