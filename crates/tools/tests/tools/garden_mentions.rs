//! What texts of every surface mention: where it stands, that it follows the newest version, and
//! that a replay comes to the same.

use serde_json::{Value, json};
use understory_engine::system::purge::Asked;
use understory_model::Role;
use understory_model::fragment::fragment_id;
use understory_testkit::{World, on_both};

use crate::garden_common::*;

const SAID: &str = "SQLite will not scale.";

/// Mentions that reach a thing.
fn to(world: &World, of: &str) -> Vec<Value> {
    let asked = json!({"of": of, "kind": "mentions", "direction": "in"});
    list(&world.ok("garden_relations", asked), "relations").clone()
}

/// Those that leave it.
fn from(world: &World, of: &str) -> Vec<Value> {
    let asked = json!({"of": of, "kind": "mentions", "direction": "out"});
    list(&world.ok("garden_relations", asked), "relations").clone()
}

fn record(world: &World, summary: &str, body: &str) {
    world.ok(
        "create_record",
        json!({"parent_id": null, "type": "q", "title": "Which store?",
        "summary": summary, "body": body}),
    );
}

/// Nothing of this may depend on when it was derived.
#[track_caller]
fn assert_replays(world: &World) {
    world.assert_sound();
    let all = |world: &World| {
        ["R001", "R002"].map(|of| {
            let asked = json!({"of": of, "kind": "mentions"});
            world
                .call_as(&World::caller("ada"), "garden_relations", asked)
                .ok()
        })
    };
    let told = all(world);
    world.engine.rebuild(|_, _| {}).unwrap();
    assert_eq!(all(world), told);
}

/// What is where, without what changes from store to store.
fn place(one: &Value) -> (Value, Value) {
    (one["field"].clone(), one["span"].clone())
}

#[on_both]
fn a_record_mentions_what_its_newest_version_says(world: World) {
    let said = add(&world, json!({"type": "Message", "description": SAID}));
    let part = fragment_id(SAID);
    record(&world, "", "plain");
    record(&world, "after @r001", &format!("é because {part}"));
    let there = to(&world, "R001");
    assert_eq!(there.len(), 1);
    assert_eq!(place(&there[0]), (json!("summary"), json!([6, 11])));
    let there = to(&world, &uuid(&said));
    assert_eq!(
        (&there[0]["fragment"], &there[0]["source_type"]),
        (&json!(part), &json!("entity"))
    );
    let end = 10 + part.chars().count();
    assert_eq!(place(&there[0]), (json!("body"), json!([10, end])));
    let got = world.ok("garden_get", json!({"id": there[0]["uuid"]}));
    assert_eq!(got["relation"]["span"], json!([10, end]));
    world.ok(
        "update_record",
        json!({"id": "R002", "body": "no more of that"}),
    );
    assert!(to(&world, &uuid(&said)).is_empty());
    assert_eq!(to(&world, "R001").len(), 1, "the summary still says it");
    world.ok("update_record", json!({"id": "R002", "metadata": {"a": 1}}));
    assert_eq!(
        to(&world, "R001").len(),
        1,
        "what changes no text changes no mention"
    );
    assert_replays(&world);
}

#[on_both]
fn tasks_notes_and_cards_mention(world: World) {
    let ws = World::caller("x").workspace;
    record(&world, "", "plain");
    world.ok(
        "graph_plan",
        json!({"nodes": [{"ref": "a", "summary": "Answer @r001"}]}),
    );
    let there = to(&world, "R001");
    assert_eq!(place(&there[0]), (json!("summary"), json!([7, 12])));
    world.ok(
        "graph_update",
        json!({"updates": [{"node_id": "TASK-001", "summary": "Answer it",
        "add_evidence": [{"type": "note", "ref": "as @r001 says"}]}]}),
    );
    let there = to(&world, "R001");
    assert_eq!(there.len(), 1);
    assert_eq!(place(&there[0]), (json!("evidence"), json!([3, 8])));
    world.ok(
        "branchmind_notes_commit",
        json!({"workspace": ws, "target": "TASK-001",
        "content": "see @r001"}),
    );
    world.ok(
        "branchmind_think_card",
        json!({"workspace": ws, "target": "TASK-001",
        "card": {"id": "h1", "type": "hypothesis", "title": "It is @r001", "text": "or @r001"}}),
    );
    let places: Vec<(Value, Value)> = to(&world, "R001").iter().map(place).collect();
    assert_eq!(
        places[1..],
        [
            (json!("content"), json!([4, 9])),
            (json!("title"), json!([6, 11])),
            (json!("text"), json!([3, 8])),
        ],
        "a card is one thing, though its trace tells of it too"
    );
    assert_replays(&world);
}

#[on_both]
fn a_note_about_a_task_is_read_in_the_project_of_the_task(world: World) {
    let ws = World::caller("x").workspace;
    world.ok("create_project", json!({"id": "shop", "name": "Shop"}));
    world.ok(
        "garden_artifact_create",
        json!({"label": "goals", "content": "one\n", "project": "shop"}),
    );
    world.ok("graph_open", json!({"project": "shop", "goal": "Sell"}));
    world.ok(
        "graph_plan",
        json!({"project": "shop", "nodes": [{"ref": "a", "summary": "Do"}]}),
    );
    world.ok(
        "branchmind_notes_commit",
        json!({"workspace": ws, "target": "TASK-001",
        "content": "see goals:1"}),
    );
    let there = to(&world, "shop/goals");
    assert_eq!(place(&there[0]), (json!("content"), json!([4, 11])));
    assert_replays(&world);
}

#[on_both]
fn lines_summaries_and_reader_notes_mention(world: World) {
    record(&world, "", "plain");
    let made = world.ok(
        "garden_artifact_create",
        json!({"label": "goals",
        "content": "First\nas @r001 wants\nlast\n"}),
    );
    let there = to(&world, "R001");
    assert_eq!(
        (place(&there[0]), &there[0]["line"]),
        ((json!("line"), json!([3, 8])), &json!(2))
    );
    world.ok("garden_artifact_commit", json!({"artifact": "goals",
        "based_on": made["artifact"]["head"], "content": "zero\nFirst\nas @r001 wants\nlast\nand again @r001\n"}));
    let lines: Vec<Value> = to(&world, "R001")
        .iter()
        .map(|one| one["line"].clone())
        .collect();
    assert_eq!(
        lines,
        [json!(2), json!(5)],
        "only what a commit wrote is its own"
    );
    world.ok("reader_note", json!({"content": "compare @r001"}));
    let fork = world.ok("garden_fork", json!({"title": "aside"}));
    let log = fork["log"]["uuid"].as_str().unwrap().to_string();
    world.ok(
        "garden_collapse",
        json!({"log": log, "summary": "It was @r001"}),
    );
    let fields: Vec<Value> = to(&world, "R001")
        .iter()
        .map(|one| one["field"].clone())
        .collect();
    assert_eq!(
        fields[2..],
        [
            json!("params.content"),
            json!("summary"),
            json!("payload.summary")
        ]
    );
    assert_replays(&world);
}

#[on_both]
fn what_is_erased_is_meant_by_nothing(world: World) {
    let part = fragment_id(SAID);
    let first = add(&world, json!({"type": "Message", "description": SAID}));
    let second = add(&world, json!({"type": "Message", "description": SAID}));
    let third = add(&world, json!({"type": "Message", "description": SAID}));
    record(
        &world,
        &format!("{part} and {}#{part}", uuid(&third)),
        "@msg_9999",
    );
    assert_eq!(to(&world, &uuid(&third)).len(), 2);
    world.ok("garden_undo", json!({"item": third["uuid"]}));
    assert!(to(&world, &uuid(&third)).is_empty());
    let moved = to(&world, &uuid(&second));
    assert_eq!(moved.len(), 1, "the id alone means the newest that is left");
    world.ok("garden_undo", json!({"item": second["uuid"]}));
    world.ok("garden_undo", json!({"item": first["uuid"]}));
    assert!(from(&world, "R001").is_empty());
    assert_replays(&world);
}

#[on_both]
fn only_what_came_before_is_meant(world: World) {
    // The next items of the log, as a text might guess them.
    let guesses: Vec<String> = (1..40).map(|n| format!("@msg_{n}")).collect();
    record(&world, &guesses.join(" "), "@r002 and goals:1");
    record(&world, "", "");
    world.ok(
        "garden_artifact_create",
        json!({"label": "goals", "content": "one\n"}),
    );
    world.ok("create_thread", json!({"title": "Talk"}));
    world.ok(
        "post_message",
        json!({"thread_id": "th_001", "body": "hello"}),
    );
    assert!(from(&world, "R001").is_empty());
    assert_replays(&world);
}

#[on_both]
fn a_mention_of_what_a_reader_may_not_read_is_not_shown(world: World) {
    let talk = by(
        &world,
        "ada",
        "create_thread",
        json!({"title": "Talk", "participants": ["bob"]}),
    );
    let said = by(
        &world,
        "ada",
        "post_message",
        json!({"thread_id": talk["thread_id"], "body": SAID}),
    );
    let message = said["message_id"].as_str().unwrap();
    let part = fragment_id(SAID);
    by(
        &world,
        "ada",
        "create_record",
        json!({"type": "q", "title": "Which store?",
        "summary": format!("@{message}"), "body": format!("{part} and {message}#{part}")}),
    );
    let seen = |agent: &str| {
        let asked = json!({"of": "R001", "kind": "mentions"});
        let there = by(&world, agent, "garden_relations", asked);
        (
            list(&there, "relations").len(),
            there.to_string().contains("scale"),
        )
    };
    assert_eq!(seen("bob"), (3, true));
    assert_eq!(seen("eve"), (0, false));
    assert_replays(&world);
    assert_eq!(seen("eve"), (0, false));
}

#[on_both]
fn what_a_purge_erased_mentions_nothing(world: World) {
    record(&world, "", "plain");
    record(&world, "a secret after @r001", "");
    record(&world, "kept, after @r001", "");
    assert_eq!(to(&world, "R001").len(), 2);
    let asked = Asked {
        names: vec!["R002".into()],
        reason: "a leak".into(),
        ..Asked::default()
    };
    world
        .engine
        .purge(&caller("olga", Role::Operator), asked, |_, _| {})
        .unwrap();
    assert!(from(&world, "R002").is_empty());
    assert_eq!(
        (from(&world, "R003").len(), to(&world, "R001").len()),
        (1, 1)
    );
    assert_replays(&world);
}
