//! What was written is found, whether it is in an index already or waits for one.

use serde_json::json;
use understory_engine::Engine;
use understory_engine::kernel::checked::Check;
use understory_engine::kernel::search::{Asked, Way};
use understory_testkit::{World, on_both};

/// More single writes than ever wait.
const MANY: usize = 150;

fn found(engine: &Engine, world: &World, query: &str) -> Vec<String> {
    let asked = Asked {
        query: query.into(),
        limit: 1_000,
        way: Way::Words,
        ..Asked::default()
    };
    let found = engine
        .search(&world.caller, asked.checked().unwrap())
        .expect("a search");
    found.hits.into_iter().map(|hit| hit.handle).collect()
}

fn listed(world: &World, text: &str) -> Vec<String> {
    let args = json!({"filter": {"text": text}, "sort": "created", "limit": 100});
    let answer = world.ok("graph_query", args);
    let nodes = answer["nodes"].as_array().expect("nodes");
    assert_eq!(answer["total"], json!(nodes.len()), "{text}");
    let id = |node: &serde_json::Value| node["id"].as_str().expect("an id").to_string();
    nodes.iter().map(id).collect()
}

fn update(world: &World, id: &str, change: serde_json::Value) {
    let mut update = json!({"node_id": id});
    let fields = update.as_object_mut().expect("an object");
    fields.extend(change.as_object().expect("a change").clone());
    world.ok("graph_update", json!({ "updates": [update] }));
}

#[on_both]
fn every_write_is_found_at_once_by_everybody(world: World) {
    let other = world.another();
    for at in 0..MANY {
        let id = world
            .plan(&[&format!("Cleaning the kettle{at} of Zoe")])
            .remove(0);
        // Stemmed and in any case; by this process and by another.
        for (engine, query) in [
            (&*world.engine, format!("KETTLE{at} cleaned")),
            (&other, format!("kettle{at}")),
        ] {
            assert_eq!(found(engine, &world, &query).first(), Some(&id), "{query}");
        }
        assert_eq!(listed(&world, &format!("TLE{at} of z")), vec![id]);
    }
    assert_eq!(found(&world.engine, &world, "clean").len(), MANY);
    assert_eq!(
        listed(&world, "kettle14"),
        (0..MANY)
            .filter(|at| at.to_string().starts_with("14"))
            .map(|at| format!("TASK-{:03}", at + 1))
            .collect::<Vec<_>>()
    );
    world.assert_sound();
}

#[on_both]
fn a_changed_text_is_found_as_it_is_now(world: World) {
    // Some of it in an index, some of it waiting, and changed more than once.
    let ids: Vec<String> = (0..MANY)
        .map(|at| world.plan(&[&format!("old{at} thing")]).remove(0))
        .collect();
    for (at, id) in ids.iter().enumerate().filter(|(at, _)| at % 7 == 0) {
        update(&world, id, json!({"summary": format!("between{at} thing")}));
        update(
            &world,
            id,
            json!({"summary": format!("new{at} thing"), "add_evidence": [{"type": "note", "ref": format!("proof{at}")}]}),
        );
    }
    let check = || {
        assert_eq!(found(&world.engine, &world, "thing").len(), MANY);
        assert_eq!(
            listed(&world, "new"),
            ids.iter().step_by(7).cloned().collect::<Vec<_>>()
        );
        for (at, id) in ids.iter().enumerate() {
            let changed = at % 7 == 0;
            let (now, gone) = if changed {
                (vec![id.clone()], vec![])
            } else {
                (vec![], vec![id.clone()])
            };
            for word in [format!("new{at}"), format!("proof{at}")] {
                assert_eq!(found(&world.engine, &world, &word), now, "{word}");
            }
            assert_eq!(
                found(&world.engine, &world, &format!("old{at}")),
                gone,
                "{at}"
            );
            assert_eq!(
                found(&world.engine, &world, &format!("between{at}")),
                Vec::<String>::new(),
                "{at}"
            );
        }
    };
    check();
    world.engine.rebuild(|_, _| {}).expect("rebuilt");
    check();
}

#[on_both]
fn what_waits_is_ranked_among_what_does_not(world: World) {
    // Enough at once to be indexed, then single ones.
    let ballast: Vec<String> = (0..60).map(|at| format!("ballast{at} common")).collect();
    world.plan(&ballast.iter().map(String::as_str).collect::<Vec<_>>());
    let title = world.plan(&["a rare common bird"]).remove(0);
    let body = world.plan(&["a fish"]).remove(0);
    update(
        &world,
        &body,
        json!({"add_evidence": [{"type": "note", "ref": "a rare common sight"}]}),
    );
    let both = |when: &str| {
        assert_eq!(
            found(&world.engine, &world, "rare"),
            [title.clone(), body.clone()],
            "{when}"
        );
        let common = found(&world.engine, &world, "common");
        assert_eq!((common.len(), common.last()), (62, Some(&body)), "{when}");
        let mut either = found(&world.engine, &world, "ballast7 bird");
        either.sort();
        assert_eq!(either, ["TASK-008".to_string(), title.clone()], "{when}");
    };
    both("waiting");
    world.engine.rebuild(|_, _| {}).expect("rebuilt");
    both("indexed");
}

#[on_both]
fn a_node_that_is_gone_is_not_found(world: World) {
    let ids = world.plan(&["keep this robin", "lose that wren"]);
    world.ok(
        "graph_restructure",
        json!({"operations": [{"op": "merge", "source": ids[1], "target": ids[0]}]}),
    );
    assert_eq!(listed(&world, "wren"), Vec::<String>::new());
    assert!(!found(&world.engine, &world, "wren robin").contains(&ids[1]));
    assert_eq!(found(&world.engine, &world, "robin"), vec![ids[0].clone()]);
}
