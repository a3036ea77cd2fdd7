//! Quotas of a workspace: what goes beyond one is refused and leaves no trace, what takes away is not,
//! and whoever asks where they stand is told before it is reached.

use serde_json::{Value, json};
use understory_engine::kernel::quota::Quotas;
use understory_engine::{Engine, Options};
use understory_model::{Code, Fault};
use understory_testkit::{World, on_both};

fn limited(world: &World, quotas: Quotas) -> Engine {
    let options = Options {
        quotas,
        ..world.options()
    };
    Engine::open(&world.backend.store(), options).expect("the store opens")
}

fn note(world: &World, engine: &Engine, text: &str) -> Result<Value, Fault> {
    let args = json!({"type": "Note", "description": text});
    World::call_on(engine, &world.caller, "garden_add", args)
}

fn said(world: &World, engine: &Engine, tool: &str) -> Value {
    let answer = World::call_on(engine, &world.caller, tool, json!({})).expect(tool);
    answer.get("quota").cloned().unwrap_or(Value::Null)
}

#[on_both]
fn items_beyond_the_quota_are_refused_and_leave_no_trace(world: World) {
    note(&world, &world.engine, "first").unwrap();
    let max = world.head() + 20;
    let engine = limited(
        &world,
        Quotas {
            items: Some(max),
            ..Quotas::default()
        },
    );
    let mut last = Value::Null;
    while world.head() < max {
        let near = world.head() >= max - max / 10;
        let told = json!({"items": {"used": world.head(), "max": max}});
        for tool in ["graph_onboard", "get_project_overview"] {
            assert_eq!(
                said(&world, &engine, tool),
                if near { told.clone() } else { Value::Null },
                "{tool}"
            );
        }
        last = note(&world, &engine, "more").unwrap();
    }
    let fault = note(&world, &engine, "too many").unwrap_err();
    assert_eq!(
        (fault.code, fault.code.status()),
        (Code::QuotaExceeded, 507)
    );
    assert_eq!(
        fault.details.unwrap(),
        json!({"quota": "items", "used": max + 1, "max": max})
    );
    assert_eq!(world.head(), max);
    let nodes = json!({"nodes": [{"ref": "a", "summary": "A"}]});
    assert_eq!(
        World::call_on(&engine, &world.caller, "graph_plan", nodes)
            .unwrap_err()
            .code,
        Code::QuotaExceeded
    );
    assert_eq!(world.head(), max);
    World::call_on(
        &engine,
        &world.caller,
        "garden_undo",
        json!({"item": last["item"]["uuid"]}),
    )
    .expect("what takes away is done");
    let plenty = limited(
        &world,
        Quotas {
            items: Some(max * 2),
            ..Quotas::default()
        },
    );
    note(&world, &plenty, "a raised quota is enough").unwrap();
    world.assert_sound();
}

#[on_both]
fn bytes_are_counted_over_all_items_and_a_lost_count_is_made_again(world: World) {
    let text = "x".repeat(10_000);
    for _ in 0..5 {
        note(&world, &world.engine, &text).unwrap();
    }
    let quotas = Quotas {
        bytes: Some(200_000),
        ..Quotas::default()
    };
    let engine = limited(&world, quotas);
    let mut taken = 5;
    while note(&world, &engine, &text).is_ok() {
        taken += 1;
        assert!(taken < 20, "20 of them are more than the quota");
    }
    assert!(
        taken >= 18,
        "{taken}: what was written before counts, and nothing twice"
    );
    note(&world, &engine, "small ones still fit").unwrap();
    for _ in 0..70 {
        note(&world, &world.engine, "x").unwrap();
    }
    // Long enough ago that the count is kept; then it is of a log that was derived again.
    note(&world, &engine, "x").unwrap();
    world.engine.rebuild(|_, _| {}).unwrap();
    let fault = note(&world, &engine, &text).unwrap_err();
    assert_eq!(fault.code, Code::QuotaExceeded);
    let used = said(&world, &engine, "graph_onboard")["bytes"]["used"]
        .as_i64()
        .unwrap();
    assert!((180_000..200_000).contains(&used), "{used}");
    world.assert_sound();
}

#[on_both]
fn threads_are_counted_by_workspace(world: World) {
    let engine = limited(
        &world,
        Quotas {
            threads: Some(2),
            ..Quotas::default()
        },
    );
    let begin = |caller| {
        let args = json!({"title": "T", "participants": ["bob"]});
        World::call_on(&engine, caller, "create_thread", args)
    };
    begin(&world.caller).unwrap();
    begin(&world.caller).unwrap();
    let fault = begin(&world.caller).unwrap_err();
    assert_eq!(
        fault.message,
        "the workspace may have 2 threads and would have 3: nothing was written"
    );
    note(&world, &engine, "notes have no quota").unwrap();
    let mut other = World::caller("ada");
    other.workspace = "another".into();
    begin(&other).unwrap();
}
