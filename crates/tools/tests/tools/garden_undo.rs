//! Taking back what was just said: who may, until when, and that nothing of it is left.

use crate::garden_common::*;
use serde_json::{Value, json};
use understory_model::Code;
use understory_model::fragment::fragment_id;
use understory_testkit::{World, on_both};

/// Whether a text stands anywhere in the files of a SQLite store.
fn in_files(world: &World, text: &str) -> Vec<String> {
    let file = world.backend.file();
    let folder = file.parent().unwrap();
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let bytes = std::fs::read(&path).unwrap_or_default();
        if bytes
            .windows(text.len())
            .any(|window| window == text.as_bytes())
        {
            found.push(path.display().to_string());
        }
    }
    found
}

#[on_both]
fn what_is_undone_is_gone_and_proven(world: World) {
    let secret = "zanzibarquux";
    let args = json!({"type": "Message", "description": format!("The password is {secret}."),
        "idempotency_key": "k"});
    let item = add(&world, args.clone());
    let later = note(&world, "something else");
    let id = uuid(&item);
    assert_eq!(world.ok("garden_undo", json!({"item": id}))["undone"], id);
    let got = world.ok("garden_get", json!({"id": id}))["item"].clone();
    assert_eq!(got["undone"], true);
    assert_eq!(got["realized_at"], item["realized_at"]);
    assert!(!got.to_string().contains(secret));
    let timeline = world.ok("garden_timeline", json!({}));
    assert!(!timeline.to_string().contains(secret), "{timeline}");
    let fragment = item["fragments"][0]["id"].as_str().unwrap();
    let refs = world.ok("garden_refs", json!({"content": fragment}));
    assert_eq!(refs["refs"][0]["resolved"], false);
    let retried = world.ok("garden_add", args);
    assert_eq!(
        retried["item"]["undone"], true,
        "a retry does not say it again"
    );
    world.assert_sound();
    world.engine.rebuild(|_, _| {}).unwrap();
    world.assert_sound();
    assert_eq!(
        world.ok("garden_get", json!({"id": uuid(&later)}))["item"],
        later
    );
    if world.backend.is_sqlite() {
        world.engine.close();
        assert_eq!(in_files(&world, secret), [] as [&str; 0]);
    }
}

#[on_both]
fn a_proposal_is_gone_with_its_words(world: World) {
    let (words, why, beside) = ("zanzibarquux", "quuxzanzibar", "barquuxzanzi");
    let made = world.ok(
        "garden_artifact_create",
        json!({"label": "d", "content": "one\ntwo\n"}),
    );
    let propose = |key: &str| {
        world.ok("reader_propose", json!({"artifact": "d", "start": 1, "end": 1,
        "content": format!("the {words}"), "reasoning": format!("because {why}"), "idempotency_key": key}))
    };
    let first = propose("k");
    let id = first["proposal"]["id"].clone();
    let got = world.ok("garden_get", json!({"id": id}));
    assert_eq!(got["proposal"]["content"], format!("the {words}"));
    assert_eq!(got["proposal"]["reasoning"], format!("because {why}"));
    assert!(
        !got["entity"].to_string().contains(words),
        "the entity copies nothing"
    );
    let undone = world.ok("garden_undo", json!({"item": first["item"]}));
    assert_eq!(undone.get("kept_in"), None);
    let got = world.ok("garden_get", json!({"id": id}));
    assert_eq!(got["proposal"]["undone"], true);
    for tool in ["garden_timeline", "garden_changes"] {
        assert!(
            !world.ok(tool, json!({})).to_string().contains(words),
            "{tool}"
        );
    }
    let fault = world
        .call_as(
            &World::caller("bob"),
            "reader_decide",
            json!({"proposal": id, "accept": true}),
        )
        .unwrap_err();
    assert_eq!(
        (fault.code, fault.message.as_str()),
        (Code::Conflict, "the words of prop_001 were taken back")
    );
    // What was said beside a decision is gone with it too.
    let second = world.ok(
        "reader_propose",
        json!({"artifact": "d", "start": 2, "end": 2, "content": "zwei", "reasoning": "german"}),
    );
    let done = by(
        &world,
        "bob",
        "reader_decide",
        json!({"proposal": second["proposal"]["id"], "accept": true,
        "note": format!("yes {beside}"), "idempotency_key": "k2"}),
    );
    assert_eq!(done["proposal"]["note"], format!("yes {beside}"));
    assert_eq!(
        done["proposal"].get("content"),
        None,
        "an answer that is kept repeats no words of another"
    );
    by(&world, "bob", "garden_undo", json!({"item": done["item"]}));
    // Who takes back what was committed since is told where it stays.
    let undone = world.ok("garden_undo", json!({"item": second["item"]}));
    let log = world.ok("garden_artifact_log", json!({"artifact": "d"}));
    assert_eq!(undone["kept_in"], json!([log["deltas"][0]["uuid"]]));
    assert_ne!(log["deltas"][0]["commit"], made["artifact"]["head"]);
    world.assert_sound();
    world.engine.rebuild(|_, _| {}).unwrap();
    world.assert_sound();
    if world.backend.is_sqlite() {
        world.engine.close();
        for word in [words, why, beside] {
            assert_eq!(in_files(&world, word), [] as [&str; 0], "{word}");
        }
    }
}

#[on_both]
fn a_message_whose_words_were_committed_says_so(world: World) {
    let said = add(
        &world,
        json!({"type": "Message", "description": "Ship on Friday."}),
    );
    world.ok("garden_artifact_create", json!({"label": "d"}));
    world.ok("garden_artifact_commit", json!({"artifact": "d", "based_on": null, "ops": format!("+1:{}", fragment_id("Ship on Friday."))}));
    let delta =
        world.ok("garden_artifact_log", json!({"artifact": "d"}))["deltas"][0]["uuid"].clone();
    assert_eq!(
        world.ok("garden_undo", json!({"item": said["uuid"]}))["kept_in"],
        json!([delta])
    );
    assert_eq!(
        world.ok("why", json!({"id": "d:1"}))["line"]["content"],
        "Ship on Friday."
    );
    world.assert_sound();
}

#[on_both]
fn a_long_text_is_gone_too(world: World) {
    let secret = "quuxzanzibar";
    let text = format!("{} {secret} {}", "a ".repeat(30_000), "b ".repeat(30_000));
    let item = note(&world, &text);
    for at in 0..200 {
        note(&world, &format!("filler {at}"));
    }
    world.ok("garden_undo", json!({"item": uuid(&item)}));
    world.assert_sound();
    if world.backend.is_sqlite() {
        world.engine.close();
        assert_eq!(in_files(&world, secret), [] as [&str; 0]);
    }
}

#[on_both]
fn nothing_is_left_where_two_workspaces_share_pages(world: World) {
    let other = understory_model::Caller {
        workspace: "other".into(),
        ..World::caller("ada")
    };
    let mut names = Vec::new();
    for at in 0..150 {
        let item = note(&world, &format!("the word is zanzibar{at}quux"));
        names.push((uuid(&item), format!("zanzibar{at}quux")));
        let args = json!({"type": "Note", "description": format!("filler {at} {}", "x".repeat(at * 7 % 400))});
        world.call_as(&other, "garden_add", args).unwrap();
    }
    for (name, _) in &names {
        world.ok("garden_undo", json!({"item": name}));
    }
    world.assert_sound();
    if world.backend.is_sqlite() {
        world.engine.close();
        for (_, word) in names {
            assert_eq!(in_files(&world, &word), [] as [&str; 0], "{word}");
        }
    }
}

#[on_both]
fn only_its_author_and_only_for_five_minutes(world: World) {
    let item = note(&world, "mine");
    let fault = world
        .call_as(
            &World::caller("bob"),
            "garden_undo",
            json!({"item": uuid(&item)}),
        )
        .unwrap_err();
    assert_eq!(fault.code, Code::Forbidden);
    world.clock.turn(299);
    let other = note(&world, "later");
    world.ok("garden_undo", json!({"item": uuid(&item)}));
    assert_eq!(
        world
            .refused("garden_undo", json!({"item": uuid(&item)}))
            .code,
        Code::Conflict
    );
    world.clock.turn(301);
    let fault = world.refused("garden_undo", json!({"item": uuid(&other)}));
    assert_eq!(fault.code, Code::UndoExpired);
    assert_eq!(fault.code.wire(), "UNDO_EXPIRED");
    assert_eq!(
        world.refused("garden_undo", json!({"item": "item_x"})).code,
        Code::NotFound
    );
}

#[on_both]
fn changes_of_entities_stay(world: World) {
    world.plan(&["A"]);
    let made = world.ok(
        "garden_entity_create",
        json!({"type": "t", "data": {"a": 1}}),
    );
    for id in ["TASK-001", made["entity"]["uuid"].as_str().unwrap()] {
        let fault = world.refused("garden_undo", json!({"item": id}));
        assert_eq!(fault.code, Code::Immutable, "{fault}");
    }
    let ack = world.ok("garden_changes", json!({}));
    world.ok("garden_changes_ack", json!({"cursor": ack["cursor"]}));
    let newest = world.ok("garden_timeline", json!({"types": ["ChangesAck"]}));
    let fault = world.refused("garden_undo", json!({"item": newest["items"][0]["uuid"]}));
    assert_eq!(fault.code, Code::Immutable);
}

#[on_both]
fn a_chat_is_taken_back_and_an_event_is_not(world: World) {
    world.ok(
        "create_thread",
        json!({"title": "Review", "participants": ["bob"]}),
    );
    let post = |body: &str, more: Value| {
        let mut args = json!({"thread_id": "th_001", "body": body});
        args.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        world.ok("post_message", args)["message_id"]
            .as_str()
            .unwrap()
            .to_string()
    };
    let event = json!({"kind": "event", "metadata": {"event_type": "finding_reported"}});
    let finding = post("It leaks", event);
    let chat = post("wrong window", json!({"in_reply_to": finding}));
    let answer = post("which one?", json!({"in_reply_to": chat}));
    world.ok("garden_undo", json!({"item": chat}));
    let read = world.ok("read_messages", json!({"thread_id": "th_001"}));
    let messages = list(&read, "messages");
    assert_eq!(messages.len(), 3);
    assert_eq!(
        (&messages[1]["body"], &messages[1]["undone"]),
        (&json!(""), &json!(true))
    );
    assert_eq!(messages[2]["in_reply_to"], json!(chat));
    for id in [finding, answer] {
        let seen = world.ok("garden_get", json!({"id": id}));
        assert!(seen["item"]["undone"].is_null());
    }
    let fault = world.refused("garden_undo", json!({"item": messages[0]["message_id"]}));
    assert_eq!(fault.code, Code::Immutable);
    world.assert_sound();
    world.engine.rebuild(|_, _| {}).unwrap();
    world.assert_sound();
}

#[on_both]
fn the_database_itself_allows_nothing_else(world: World) {
    let item = note(&world, "kept");
    note(&world, "other");
    world.plan(&["A"]);
    let seq = item["seq"].as_i64().unwrap();
    let mut raw = world.backend.raw();
    let changes = [
        format!("UPDATE soil_item SET content = NULL WHERE seq = {seq}"),
        format!("UPDATE soil_item SET content = 'x' WHERE seq = {seq}"),
        "UPDATE soil_item SET actor = 'eve'".to_string(),
        "DELETE FROM soil_item".to_string(),
        // Nothing in the log says that it was taken back.
        format!(
            "INSERT INTO soil_erased (ws, seq, by_seq, remains) VALUES (1, {seq}, {}, '{{}}')",
            seq + 1
        ),
    ];
    for sql in changes {
        assert!(raw.run(&sql).is_err(), "{sql}");
    }
    world.ok("garden_undo", json!({"item": uuid(&item)}));
    for sql in [
        format!("UPDATE soil_item SET content = 'again' WHERE seq = {seq}"),
        format!("UPDATE soil_item SET content = NULL, actor = 'eve' WHERE seq = {seq}"),
        "UPDATE soil_erased SET remains = 'x'".to_string(),
        "DELETE FROM soil_erased".to_string(),
    ] {
        assert!(raw.run(&sql).is_err(), "{sql}");
    }
    world.assert_sound();
}

#[on_both]
fn a_content_that_vanished_is_a_break(world: World) {
    let item = note(&world, "kept");
    let seq = item["seq"].as_i64().unwrap();
    let mut raw = world.backend.raw();
    raw.disarm();
    raw.run(&format!(
        "UPDATE soil_item SET content = NULL WHERE seq = {seq}"
    ))
    .unwrap();
    let report = world.engine.verify(None, false, |_, _| {}).unwrap();
    assert!(!report.ok);
    assert_eq!(report.workspaces[0].breaks[0].seq.0, seq);
}

#[on_both]
fn a_reference_to_what_was_undone_stays_a_fact(world: World) {
    let first = add(
        &world,
        json!({"type": "Message", "description": "Take the fast road."}),
    );
    let id = fragment_id("Take the fast road.");
    let citing = note(&world, &format!("because {id}"));
    world.ok("garden_undo", json!({"item": uuid(&first)}));
    let relations = world.ok(
        "garden_relations",
        json!({"of": uuid(&citing), "direction": "out"}),
    );
    assert_eq!(relations["relations"][0]["target"], first["uuid"]);
    assert_eq!(relations["relations"][0]["preview"], "");
    world.assert_sound();
}
