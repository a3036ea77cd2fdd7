//! The main road, end to end on both engines: plan, claim, resolve, prove.

use serde_json::json;
use understory_testkit::{World, on_both};

#[on_both]
fn plan_claim_resolve(world: World) {
    let opened = world.ok(
        "graph_open",
        json!({"project": "default", "goal": "Ship it"}),
    );
    assert_eq!(opened["root"]["id"], "PLAN-001");
    let planned = world.ok(
        "graph_plan",
        json!({"nodes": [
            {"ref": "ui", "summary": "Write the UI", "depends_on": ["api"]},
            {"ref": "api", "summary": "Write the API"},
        ]}),
    );
    assert_eq!(
        planned["created"],
        json!([{"ref": "ui", "id": "TASK-001"}, {"ref": "api", "id": "TASK-002"}])
    );
    let next = world.ok("graph_next", json!({"claim": true}));
    assert_eq!(next["nodes"][0]["node"]["id"], "TASK-002");
    let done = world.ok(
        "graph_update",
        json!({"updates": [{"node_id": "TASK-002", "resolved": true}]}),
    );
    assert_eq!(
        done["newly_actionable"],
        json!([{"id": "TASK-001", "summary": "Write the UI"}])
    );
    let query = world.ok(
        "graph_query",
        json!({"filter": {"text": "write", "properties": {"_claimed_by": "ada"}}}),
    );
    assert_eq!(query["total"], 1);
    let context = world.ok("graph_context", json!({"node_id": "TASK-001"}));
    assert_eq!(context["depends_on"][0]["satisfied"], true);
    world.ok("graph_history", json!({"node_id": "TASK-002"}));
    world.ok("graph_onboard", json!({}));
    world.ok(
        "graph_restructure",
        json!({"operations": [{"op": "merge", "source": "TASK-001", "target": "TASK-002"}]}),
    );
    world.assert_sound();
}
