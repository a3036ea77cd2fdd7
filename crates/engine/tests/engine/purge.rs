//! A purge that fails at any statement has erased nothing, and can be made again.

use serde_json::json;
use understory_engine::system::purge::Asked;
use understory_model::{Caller, Role};
use understory_testkit::{World, on_both};

use crate::common::{core_in, soil_in, store};
use crate::faults::{clear, proved, same_kind, trapped};

#[on_both]
fn a_fault_at_any_statement_of_a_purge(world: World) {
    // A server takes its time to make tables, so not every statement is tried there.
    let step = if world.backend.is_sqlite() { 1 } else { 5 };
    let (world, trap) = trapped(same_kind(world));
    let operator = Caller {
        role: Role::Operator,
        ..World::caller("olga")
    };
    world.plan(&["one", "two"]);
    world.ok(
        "graph_update",
        json!({"updates": [{"node_id": "TASK-001", "summary": "zanzibarquux one"}]}),
    );
    world.ok(
        "garden_artifact_create",
        json!({"label": "d", "content": "one\nzanzibarquux\n"}),
    );
    world.ok(
        "garden_add",
        json!({"type": "Note", "description": "zanzibarquux too", "idempotency_key": "k"}),
    );
    let asked = || Asked {
        texts: vec!["zanzibarquux".into()],
        reason: "a leak".into(),
        ..Asked::default()
    };
    let past = store(&world.backend);
    for n in (1..).step_by(step) {
        assert!(n < 2_000, "a purge never ends");
        let (items, before) = (soil_in(&past, 1), core_in(&past));
        trap.set(n);
        let first = world.engine.purge(&operator, asked(), |_, _| {});
        trap.lift();
        if !trap.sprung() {
            first.expect("a purge without a fault");
            assert!(n > 40, "a purge has more statements than {n}");
            break;
        }
        clear(&first.expect_err("a statement failed"));
        assert_eq!(soil_in(&past, 1), items, "statement {n}: soil was changed");
        assert_eq!(core_in(&past), before, "statement {n}: core was changed");
        if n % 16 == 0 {
            proved(&world);
        }
    }
    proved(&world);
}
