//! `search`: everything that says something is found, by its words and by what it means, by whoever
//! may read it.

use crate::common::NASTY;
use crate::threads_common::{by, caller};
use serde_json::{Value, json};
use understory_model::{Code, Role};
use understory_testkit::{World, on_both};

fn search(world: &World, query: &str) -> Vec<Value> {
    let answer = world.ok("search", json!({"query": query, "limit": 50}));
    answer["results"].as_array().expect("results").clone()
}

/// The handle and the surface of the best hit.
fn first(world: &World, query: &str) -> (String, String) {
    let results = search(world, query);
    let hit = results
        .first()
        .unwrap_or_else(|| panic!("nothing for {query:?}"));
    let text = |field: &str| hit[field].as_str().expect("a text").to_string();
    (text("handle"), text("surface"))
}

fn handles(world: &World, query: &str) -> Vec<String> {
    let text = |hit: &Value| hit["handle"].as_str().expect("a handle").to_string();
    search(world, query).iter().map(text).collect()
}

/// Something on every surface; their handles.
fn everything(world: &World) -> Vec<(&'static str, String)> {
    let text = |value: &Value| value.as_str().expect("a text").to_string();
    world.ok("create_project", json!({"id": "shop", "name": "Shop"}));
    let record = world.ok(
        "create_record",
        json!({"parent_id": null, "project_id": "shop", "type": "decision", "title": "Sign-in links die after fifteen minutes",
            "summary": "Short lives", "body": "Longer ones were abused through forwarded mail."}),
    );
    let task = world.plan(&["Replace the espresso machine"]).remove(0);
    let thread = world.ok(
        "create_thread",
        json!({"title": "Warehouse", "participants": ["ada", "bob"]}),
    );
    let thread = text(&thread["thread_id"]);
    let message = by(
        world,
        "bob",
        "post_message",
        json!({"thread_id": thread, "body": "The forklift needs a new battery before Monday."}),
    );
    world.ok("branchmind_init", json!({"workspace": "garden-shed"}));
    let note = world.ok(
        "branchmind_notes_commit",
        json!({"workspace": "garden-shed", "title": "Rounding",
            "content": "Amounts are kept as whole cents, never as fractions."}),
    );
    assert!(note.is_object());
    let said = world.ok(
        "garden_add",
        json!({"type": "Note", "description": "Penguins may visit the office on Fridays."}),
    );
    vec![
        ("records", text(&record["record"]["id"])),
        ("graph", task),
        ("threads", text(&message["message_id"])),
        ("garden", text(&said["item"]["uuid"])),
    ]
}

#[on_both]
fn every_surface_is_found_by_meaning_and_by_words(world: World) {
    let made = everything(&world);
    for (surface, meaning, words) in [
        (
            "records",
            "how long does an email login stay valid",
            "forwarded",
        ),
        ("graph", "coffee maker", "espresso"),
        ("threads", "vehicle power supply", "forklift"),
        ("garden", "birds at work", "penguins"),
    ] {
        let handle = &made.iter().find(|(of, _)| *of == surface).unwrap().1;
        for query in [meaning, words] {
            assert_eq!(
                first(&world, query),
                (handle.clone(), surface.to_string()),
                "{query}"
            );
        }
    }
    let (handle, surface) = first(&world, "storing money without decimals");
    assert_eq!(surface, "reasoning");
    assert!(handle.starts_with("item_"), "{handle}");
    assert_eq!(first(&world, "cents").0, handle);
    world.assert_sound();
}

#[on_both]
fn hits_say_what_they_are(world: World) {
    let made = everything(&world);
    let hit = &search(&world, "forklift battery")[0];
    assert_eq!(hit["type"], "message");
    assert!(hit.get("title").is_none(), "a message has none");
    assert!(
        hit["snippet"].as_str().unwrap().contains("**forklift**"),
        "{hit}"
    );
    let hit = &search(&world, "espresso")[0];
    assert_eq!(
        (&hit["type"], &hit["title"]),
        (&json!("task"), &json!("Replace the espresso machine"))
    );
    for hit in search(&world, "the battery of the espresso machine") {
        let score = hit["score"].as_f64().unwrap();
        assert!((0.0..=1.0).contains(&score), "{hit}");
    }
    let named = &search(&world, &made[0].1.to_lowercase())[0];
    assert_eq!(
        (&named["handle"], &named["score"]),
        (&json!(made[0].1), &json!(1.0))
    );
    assert_eq!(named["type"], "decision");
}

#[on_both]
fn surfaces_and_types_narrow(world: World) {
    everything(&world);
    for surface in ["records", "reasoning", "threads", "garden", "graph"] {
        let query = "battery, links, cents, penguins and the espresso machine";
        let answer = world.ok("search", json!({"query": query, "surfaces": [surface]}));
        let results = answer["results"].as_array().unwrap();
        assert!(!results.is_empty(), "{surface}");
        assert!(
            results.iter().all(|hit| hit["surface"] == surface),
            "{answer}"
        );
    }
    let answer = world.ok(
        "search",
        json!({"query": "forklift links espresso", "types": ["Decision", "task"]}),
    );
    let types: Vec<&str> = answer["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|hit| hit["type"].as_str().unwrap())
        .collect();
    assert!(
        types.contains(&"decision") && types.contains(&"task"),
        "{answer}"
    );
    assert!(!types.contains(&"message"));
    let fault = world.refused("search", json!({"query": "x", "surfaces": ["cellar"]}));
    assert_eq!(fault.code, Code::Validation);
}

#[on_both]
fn what_changed_or_went_is_not_found_as_it_was(world: World) {
    let other = world.another();
    let task = world.plan(&["Paint the fence green"]).remove(0);
    assert!(handles(&world, "fence colour").contains(&task));
    world.ok(
        "graph_update",
        json!({"updates": [{"node_id": task, "summary": "Order a telescope"}]}),
    );
    assert_eq!(first(&world, "astronomy equipment").0, task);
    assert!(!handles(&world, "fence").contains(&task));
    // Another process follows the same log.
    let elsewhere = |query: &str| {
        let args = json!({"query": query});
        let answer = World::call_on(&other, &world.caller, "search", args).unwrap();
        answer["results"].as_array().unwrap().len()
    };
    assert_eq!(elsewhere("astronomy equipment"), 1);
    let said = world.ok(
        "garden_add",
        json!({"type": "Note", "description": "The submarine leaks."}),
    );
    let item = said["item"]["uuid"].as_str().unwrap().to_string();
    assert_eq!(first(&world, "boat under water").0, item);
    assert!(elsewhere("submarine") >= 1);
    world.ok("garden_undo", json!({"item": item}));
    assert!(!handles(&world, "submarine").contains(&item));
    assert!(!handles(&world, "boat under water").contains(&item));
    assert_eq!(elsewhere("submarine"), 0);
    world.assert_sound();
}

#[on_both]
fn who_takes_no_part_in_a_thread_does_not_find_it(world: World) {
    let made = everything(&world);
    let (message, ask) = (json!(made[2].1), json!({"query": "forklift battery"}));
    for (agent, role, finds) in [
        ("bob", Role::Worker, true),
        ("eve", Role::Worker, false),
        ("eve", Role::Operator, true),
        ("eve", Role::Auditor, true),
    ] {
        let answer = world
            .call_as(&caller(agent, role), "search", ask.clone())
            .unwrap();
        let results = answer["results"].as_array().unwrap();
        assert_eq!(
            results.iter().any(|hit| hit["handle"] == message),
            finds,
            "{agent} {role:?}"
        );
        let warehouse = world
            .call_as(
                &caller(agent, role),
                "search",
                json!({"query": "warehouse"}),
            )
            .unwrap();
        let threads = warehouse["results"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|hit| hit["type"] == "thread");
        assert_eq!(threads.count(), usize::from(finds), "{agent} {role:?}");
    }
}

#[on_both]
fn a_question_is_text_and_nothing_else(world: World) {
    assert_eq!(
        world.ok("search", json!({"query": "anything"})),
        json!({"results": [], "truncated": false})
    );
    everything(&world);
    for query in [
        "",
        "   ",
        "\u{200b}",
        "\0",
        "\"",
        "* OR *",
        "NEAR(",
        "'; DROP TABLE core_words; --",
        "a:b^2",
        "日本語",
        "😀",
        "\u{202e}",
    ] {
        search(&world, query);
    }
    for query in NASTY {
        search(&world, query);
    }
    assert_eq!(search(&world, ""), Vec::<Value>::new());
    assert_eq!(
        search(&world, "qqxzzv jjkwqp"),
        Vec::<Value>::new(),
        "what is like nothing finds nothing"
    );
    search(&world, &"espresso machine battery ".repeat(4_000));
    let fault = world.refused("search", json!({"query": "x".repeat(100_001)}));
    assert_eq!(fault.code, Code::Validation);
    world.refused("search", json!({}));
}

#[on_both]
fn long_texts_are_found_by_any_of_their_passages(world: World) {
    world.ok("create_project", json!({"id": "shop", "name": "Shop"}));
    let filler = "Minutes of a meeting in which nothing was decided about the weather. ".repeat(30);
    let body = format!("{filler}\n\nThe lighthouse keeper feeds the seagulls at dawn.\n\n{filler}");
    world.ok(
        "create_record",
        json!({"parent_id": null, "project_id": "shop", "type": "note", "title": "Minutes",
        "summary": "Long", "body": body}),
    );
    world.plan(&["Feed the meter", "Weather station", "Meeting about nothing"]);
    let hit = &search(&world, "who takes care of birds by the sea in the morning")[0];
    assert_eq!(hit["handle"], "R001");
    assert!(
        hit["snippet"].as_str().unwrap().contains("lighthouse"),
        "{hit}"
    );
}

#[on_both]
fn lines_of_artifacts_are_found_where_they_stand_now(world: World) {
    let text = "# Handbook\n\nDoors open at nine.\nCustomers who bring something back are repaid in cash.\nWater the ferns on Mondays.\n";
    let made = world.ok(
        "garden_artifact_create",
        json!({"label": "handbook_md", "content": text}),
    );
    let hit = search(&world, "refund for returned goods").remove(0);
    assert_eq!(
        (&hit["handle"], &hit["type"], &hit["surface"]),
        (&json!("handbook_md:4"), &json!("line"), &json!("garden")),
        "{hit}"
    );
    assert!(hit["snippet"].as_str().unwrap().contains("repaid"), "{hit}");
    assert_eq!(first(&world, "ferns").0, "handbook_md:5");
    assert_eq!(first(&world, "handbook").1, "garden");
    // What moved is named where it stands; what was changed is not found as it was.
    let head = made["artifact"]["head"].clone();
    let text = "# Handbook\n\nRing twice.\nDoors open at nine.\nCustomers who bring something back are repaid in cash.\nThe cactus needs nothing.\n";
    world.ok(
        "garden_artifact_commit",
        json!({"artifact": "handbook_md", "based_on": head, "content": text}),
    );
    assert_eq!(
        first(&world, "refund for returned goods").0,
        "handbook_md:5"
    );
    let left = search(&world, "ferns");
    assert!(
        !left
            .iter()
            .any(|hit| hit["snippet"].as_str().unwrap().contains("ferns")),
        "it is gone: {left:?}"
    );
    assert_eq!(first(&world, "desert plant").0, "handbook_md:6");
    world.ok(
        "garden_artifact_relabel",
        json!({"artifact": "handbook_md", "label": "rules_md"}),
    );
    assert_eq!(first(&world, "cactus").0, "rules_md:6");
    world.assert_sound();
}

#[on_both]
fn answers_keep_to_their_budget(world: World) {
    let tasks: Vec<String> = (0..40)
        .map(|n| format!("Water plant number {n} in the greenhouse"))
        .collect();
    let tasks: Vec<&str> = tasks.iter().map(String::as_str).collect();
    world.plan(&tasks);
    let some = world.ok("search", json!({"query": "greenhouse plants", "limit": 5}));
    assert_eq!(some["results"].as_array().unwrap().len(), 5);
    assert_eq!(some["truncated"], true);
    let short = world.ok(
        "search",
        json!({"query": "greenhouse plants", "max_chars": 600}),
    );
    assert!(short.to_string().chars().count() <= 600);
    assert_eq!(short["truncated"], true);
    let all = world.ok(
        "search",
        json!({"query": "greenhouse plants", "limit": 200}),
    );
    assert_eq!(all["results"].as_array().unwrap().len(), 40);
    assert_eq!(all["truncated"], false);
}
