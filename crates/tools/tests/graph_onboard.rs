//! `graph_onboard`: somebody new knows where things stand after one short answer.

mod common;

use common::*;
use serde_json::{Value, json};
use understory_testkit::{World, on_both};

on_both! {
    fn before_the_first_plan_it_says_how_to_begin(world) {
        let answer = world.ok("graph_onboard", json!({}));
        assert_eq!((&answer["project"], &answer["you"]), (&json!("default"), &json!("ada")));
        assert_eq!(answer["summary"], json!({"total": 0, "resolved": 0, "unresolved": 0, "blocked": 0, "actionable": 0}));
        assert!(answer["hint"].as_str().unwrap().contains("graph_plan"));
        assert_eq!(world.head(), 0);
    }

    fn it_tells_goal_counts_what_was_done_by_whom_what_goes_on_and_what_is_next(world) {
        world.ok("graph_open", json!({"project": "default", "goal": "Ship it"}));
        let ids = world.plan(&["First", "Second", "Third", "Fourth"]);
        let bob = World::caller("bob");
        world.call_as(&bob, "graph_update", json!({"updates": [{"node_id": ids[0], "resolved": true}]})).unwrap();
        resolve(&world, &[&ids[1]]);
        world.call_as(&bob, "graph_next", json!({"claim": true})).unwrap();
        let answer = world.ok("graph_onboard", json!({}));
        assert_eq!((&answer["goal"], &answer["root"]), (&json!("Ship it"), &json!("PLAN-001")));
        assert_eq!(answer["summary"], counts(&world));
        let brief = |at: usize, key: &str| answer[key][at]["id"].clone();
        assert_eq!((brief(0, "recent"), brief(1, "recent")), (json!(ids[1]), json!(ids[0])), "the newest first");
        assert_eq!((&answer["recent"][0]["by"], &answer["recent"][1]["by"]), (&json!("ada"), &json!("bob")));
        assert_eq!(answer["in_progress"], json!([{"id": ids[2], "summary": "Third", "by": "bob"}]));
        assert_eq!(answer["next"], json!([{"id": ids[3], "summary": "Fourth"}]));
        assert!(answer["hint"].as_str().unwrap().contains("graph_next"));
    }

    fn a_stale_claim_is_not_in_progress_but_next(world) {
        let ids = world.plan(&["A"]);
        world.call_as(&World::caller("bob"), "graph_next", json!({"claim": true})).unwrap();
        world.clock.turn(3_700);
        let answer = world.ok("graph_onboard", json!({}));
        assert_eq!((&answer["in_progress"], &answer["next"][0]["id"]), (&json!([]), &json!(ids[0])));
    }

    fn the_hint_follows_the_state(world) {
        let of = plan(&world, json!([{"ref": "a", "summary": "A"}]));
        resolve(&world, &[&of["a"], "PLAN-001"]);
        assert!(world.ok("graph_onboard", json!({}))["hint"].as_str().unwrap().contains("done"));
    }

    fn a_big_project_takes_at_most_600_tokens(world) {
        world.ok("graph_open", json!({"project": "default", "goal": "goal ".repeat(400)}));
        let text = format!("{} ", "A rather long summary of what is to be done, with \"quotes\" and 漢字\n".repeat(25));
        let nodes: Value = (0..400).map(|at| json!({"ref": at.to_string(), "summary": format!("{at} {text}"), "properties": {"k": "v".repeat(100)}})).collect();
        let of = plan(&world, nodes);
        for at in 0..40 {
            resolve(&world, &[&of[&at.to_string()]]);
        }
        for at in 0..12 {
            world.call_as(&World::caller(&format!("agent-with-a-long-name-{at}")), "graph_next", json!({"claim": true})).unwrap();
        }
        let answer = world.ok("graph_onboard", json!({}));
        assert!(tokens(&answer) <= 600, "{}", tokens(&answer));
        for list in ["recent", "in_progress", "next"] {
            assert!(!answer[list].as_array().unwrap().is_empty(), "{list} is worth a line");
        }
        assert!(answer["goal"].as_str().unwrap().starts_with("goal goal"));
        for max in [-1, 0, 50, 200, 500, 1_000, 100_000] {
            let answer = world.ok("graph_onboard", json!({"max_chars": max}));
            let bound = usize::try_from(max).unwrap_or(0).max(chars(&json!({"truncated": true})));
            assert!(chars(&answer) <= bound.min(2_400), "{max}: {answer}");
            assert!(max > 1_000 || answer["truncated"] == true);
        }
    }

    fn the_worst_texts_fit_too(world) {
        let worst = "\u{1}".repeat(2_000);
        world.ok("graph_open", json!({"project": "default", "goal": worst}));
        let ids = world.plan(&[&format!("a{worst}")[..1_999]; 20]);
        resolve(&world, &[&ids[0], &ids[1], &ids[2]]);
        world.ok("graph_next", json!({"claim": true, "count": 4}));
        let answer = world.ok("graph_onboard", json!({}));
        assert!(tokens(&answer) <= 600);
        assert_eq!(answer["summary"], counts(&world));
    }
}
