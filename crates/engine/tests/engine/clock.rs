//! The clock may be set back; the log does not run backwards.

use serde_json::json;
use understory_testkit::{World, on_both};

use crate::common::soil;

/// When the node was claimed, as its property says.
fn claimed_at(world: &World, agent: &str) -> String {
    let caller = World::caller(agent);
    let answer = world
        .call_as(&caller, "graph_next", json!({"claim": true}))
        .expect("a claim");
    let node = &answer["nodes"][0]["node"];
    node["properties"]["_claimed_at"]
        .as_str()
        .unwrap_or_else(|| panic!("no time of claim: {answer}"))
        .to_string()
}

#[on_both]
fn time_set_back_never_shows_in_the_log(world: World) {
    world.plan(&["a", "b", "c"]);
    let mut claims = vec![claimed_at(&world, "ada")];
    for seconds in [-3_600, 1, -86_400, 30, 90_000] {
        world.clock.turn(seconds);
        claims.push(claimed_at(&world, "bob"));
        world.plan(&["more"]);
        world.ok(
            "graph_update",
            json!({"updates": [{"node_id": "TASK-003",
            "add_evidence": [{"type": "note", "ref": "seen"}]}]}),
        );
    }
    let times: Vec<i64> = soil(&world, 1)
        .iter()
        .map(|item| item.realized_at.0)
        .collect();
    assert!(times.is_sorted(), "{times:?}");
    assert!(claims.is_sorted(), "{claims:?}");
    world.assert_sound();
}

#[on_both]
fn a_claim_is_kept_by_a_clock_set_back(world: World) {
    world.plan(&["only"]);
    claimed_at(&world, "ada");
    world.clock.turn(-7_200);
    let other = World::caller("bob");
    for args in [json!({}), json!({"claim": true})] {
        let answer = world
            .call_as(&other, "graph_next", args)
            .expect("an answer");
        assert_eq!(
            answer["nodes"],
            json!([]),
            "claimed by ada an hour from now"
        );
    }
    world.clock.turn(7_200 + 3_601);
    assert!(
        !claimed_at(&world, "bob").is_empty(),
        "ada's claim is stale"
    );
}

#[on_both]
fn a_key_is_remembered_by_a_clock_set_back(world: World) {
    let args = json!({"nodes": [{"ref": "a", "summary": "once"}], "idempotency_key": "k"});
    let first = world.ok("graph_plan", args.clone());
    let head = world.head();
    for seconds in [-7_200, 3_600, 80_000] {
        world.clock.turn(seconds);
        assert_eq!(world.ok("graph_plan", args.clone()), first);
    }
    assert_eq!(world.head(), head);
}
