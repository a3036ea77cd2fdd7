//! How SQLite goes about the questions that the product asks: along an index that leads to the few
//! rows that are wanted, not along a whole workspace.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use understory_engine::Options;
use understory_testkit::{Backend, TestClock, World};

/// Every statement that a world's calls ran.
fn listened() -> (World, Arc<Mutex<BTreeSet<String>>>) {
    let heard: Arc<Mutex<BTreeSet<String>>> = Arc::default();
    let told = Arc::clone(&heard);
    let clock = Arc::new(TestClock::default());
    let options = Options {
        clock: clock.clone(),
        probe: Some(Arc::new(move |sql: &str| {
            told.lock().unwrap().insert(sql.to_string());
            false
        })),
        ..Options::default()
    };
    (World::with(Backend::sqlite(), clock, options), heard)
}

/// Whether a step walks everything in a workspace that lies between two places.
fn walks(step: &str) -> bool {
    let Some((_, key)) = step.split_once('(') else {
        return false;
    };
    step.starts_with("SEARCH")
        && key.starts_with("ws=?")
        && !key["ws=?".len()..].contains('=')
        && !step.contains("INTEGER PRIMARY KEY")
}

/// Things on every surface, related, caused and talked about, and every way to ask for one of them.
fn live(world: &World) {
    let text = |value: &Value| value.as_str().expect("a text").to_string();
    let tasks = world.plan(&["Dig", "Sow"]);
    world.ok(
        "graph_update",
        json!({"updates": [{"node_id": tasks[0], "summary": "Dig deep"}]}),
    );
    world.ok("graph_history", json!({"node_id": tasks[0], "limit": 5}));
    let said = world.ok(
        "garden_add",
        json!({"type": "Message", "description": "Use the spade."}),
    );
    let said = text(&said["item"]["uuid"]);
    let note = json!({"type": "Note", "description": "Done", "caused_by": said});
    let note = text(&world.ok("garden_add", note)["item"]["uuid"]);
    world.ok(
        "garden_relate",
        json!({"kind": "mentions", "source": said, "target": note}),
    );
    for direction in ["causes", "effects"] {
        world.ok(
            "garden_trace",
            json!({"item": note, "direction": direction}),
        );
        world.ok(
            "garden_trace",
            json!({"item": said, "direction": direction}),
        );
    }
    for way in ["out", "in", "both"] {
        world.ok("garden_relations", json!({"of": said, "direction": way}));
    }
    world.ok("why", json!({"id": note}));
    for filter in [
        json!({"actor": "ada"}),
        json!({"types": ["Note"]}),
        json!({"entity": tasks[0]}),
        json!({"actor": "ada", "clock": "canonical"}),
    ] {
        world.ok("garden_timeline", filter);
    }
    let thread = world.ok(
        "create_thread",
        json!({"title": "Beds", "participants": ["ada", "bob"]}),
    );
    let thread = text(&thread["thread_id"]);
    let message = world.ok(
        "post_message",
        json!({"thread_id": thread, "body": "Ready?"}),
    );
    world.ok("read_messages", json!({"thread_id": thread}));
    world.ok("garden_get", json!({"id": message["message_id"]}));
    let entity = world.ok(
        "garden_entity_create",
        json!({"type": "bed", "data": {"rows": 3}}),
    );
    let entity = text(&entity["entity"]["uuid"]);
    world.ok("garden_entity_history", json!({"uuid": entity}));
}

#[test]
fn no_question_about_one_thing_walks_the_workspace() {
    let (world, heard) = listened();
    live(&world);
    let mut store = world.backend.raw();
    let mut asked = 0;
    for sql in heard.lock().unwrap().iter() {
        // Questions about one thing, by what an index has of it.
        let named = [
            "entity = ?",
            "cause = ?",
            "cause IN",
            "actor = ?",
            "type = ?",
            "source = ?",
            "source IN",
            "target = ?",
            "seq = ?",
            "thread = ?",
        ];
        let question = sql.starts_with("SELECT") || sql.starts_with("WITH RECURSIVE chain");
        if !question || !named.iter().any(|name| sql.contains(name)) {
            continue;
        }
        asked += 1;
        let plan = store.plan(sql);
        let walked = plan
            .iter()
            .find(|step| walks(step) && !step.contains("soil_item_canonical"));
        assert_eq!(walked, None, "{sql}\n{plan:#?}");
    }
    assert!(asked > 15, "{asked} questions");
}

/// However many nodes there are and whoever holds them, what is next is a step into an index.
#[test]
fn what_is_next_is_found_along_an_index() {
    let (world, heard) = listened();
    world.plan(&["Dig", "Sow", "Water"]);
    world.ok("graph_next", json!({"claim": true}));
    let mut other = World::caller("ada");
    other.session = "another".into();
    for args in [json!({}), json!({"claim": true}), json!({"count": 5})] {
        world
            .call_as(&other, "graph_next", args)
            .expect("an answer");
    }
    let mut store = world.backend.raw();
    let (mut ready, mut held) = (0, 0);
    for sql in heard.lock().unwrap().iter() {
        let index = if sql.contains("n.claimed_session = ?5 AND n.standing = 0") {
            ready += 1;
            "core_node_ready"
        } else if sql.contains("GROUP BY claimed_session") {
            held += 1;
            "core_node_held"
        } else {
            continue;
        };
        let plan = store.plan(sql);
        assert!(
            plan.iter().any(|step| step.contains(index)),
            "{sql}\n{plan:#?}"
        );
        assert!(
            !plan.iter().any(|step| step.contains("TEMP B-TREE")),
            "{sql}\n{plan:#?}"
        );
    }
    assert!(ready > 0 && held > 0, "{ready} {held}");
}
