//! A store of an earlier version of soil: the first write brings it on, and nothing is lost.

use serde_json::json;
use understory_testkit::{Backend, World, on_both};

/// What version 1 had otherwise, in the words of either database.
fn to_version_1(backend: &Backend) {
    let mut raw = backend.raw();
    let own: &[&str] = match backend.is_sqlite() {
        true => &[
            "DROP TRIGGER soil_item_no_update",
            "DROP TABLE soil_erased",
            "CREATE TRIGGER soil_item_no_update BEFORE UPDATE ON soil_item \
             BEGIN SELECT RAISE(ABORT, 'soil is immutable: an item cannot be changed'); END",
        ],
        false => &[
            "DROP TRIGGER soil_item_erase ON soil_item",
            "DROP TRIGGER soil_item_refuse ON soil_item",
            "DROP TABLE soil_erased",
            "DROP FUNCTION understory_erase",
            "DROP FUNCTION understory_erasable",
            "DROP FUNCTION understory_erase_more",
            "CREATE TRIGGER soil_item_refuse BEFORE UPDATE OR DELETE ON soil_item \
             FOR EACH ROW EXECUTE FUNCTION understory_refuse()",
        ],
    };
    let both = [
        "DROP INDEX soil_item_type",
        "DROP INDEX soil_item_actor",
        "DROP INDEX soil_item_cause",
        "DROP INDEX soil_item_canonical",
        "UPDATE soil_meta SET value = '1' WHERE key = 'version'",
        "UPDATE core_meta SET value = '3' WHERE key = 'version'",
    ];
    for sql in own.iter().chain(&both) {
        raw.run(sql)
            .unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
}

/// What version 2 had otherwise: nobody could purge.
fn to_version_2(backend: &Backend) {
    let mut raw = backend.raw();
    let own: &[&str] = match backend.is_sqlite() {
        true => &[
            "DROP TRIGGER soil_erased_no_update",
            "CREATE TRIGGER soil_erased_no_update BEFORE UPDATE ON soil_erased \
             BEGIN SELECT RAISE(ABORT, 'soil is immutable: what was taken back stays so'); END",
        ],
        false => &[
            "DROP TRIGGER soil_erased_more ON soil_erased",
            "DROP TRIGGER soil_erased_refuse ON soil_erased",
            "CREATE TRIGGER soil_erased_refuse BEFORE UPDATE OR DELETE ON soil_erased \
             FOR EACH ROW EXECUTE FUNCTION understory_refuse()",
        ],
    };
    let both = ["UPDATE soil_meta SET value = '2' WHERE key = 'version'"];
    for sql in own.iter().chain(&both) {
        raw.run(sql)
            .unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
}

#[on_both]
fn what_was_written_before_can_be_purged(world: World) {
    let said = world.ok(
        "garden_add",
        json!({"type": "Note", "description": "zanzibarquux"}),
    );
    world.engine.close();
    to_version_2(&world.backend);
    let engine = world.another();
    let operator = understory_model::Caller {
        role: understory_model::Role::Operator,
        ..World::caller("olga")
    };
    let asked = |text: &str| understory_engine::system::purge::Asked {
        texts: vec![text.into()],
        reason: "a leak".into(),
        ..Default::default()
    };
    for text in ["zanzibar", "quux"] {
        engine.purge(&operator, asked(text), |_, _| {}).unwrap();
    }
    let got = World::call_on(
        &engine,
        &world.caller,
        "garden_get",
        json!({"id": said["item"]["uuid"]}),
    );
    assert_eq!(got.unwrap()["item"]["description"], "[erased][erased]");
    let report = engine.verify(None, true, |_, _| {}).unwrap();
    assert!(report.ok, "{report:?}");
}

#[on_both]
fn the_first_write_migrates(world: World) {
    world.plan(&["A"]);
    let proof = world.verify().workspaces[0].head.clone();
    world.engine.close();
    to_version_1(&world.backend);
    let engine = world.another();
    let call = |tool: &str, args| World::call_on(&engine, &world.caller, tool, args);
    let fault = call("graph_query", json!({})).unwrap_err();
    assert!(fault.hint.unwrap().contains("rebuild"), "no read migrates");
    let added = call(
        "garden_add",
        json!({"type": "Note", "description": "hello"}),
    )
    .unwrap();
    let seen = call("graph_query", json!({})).unwrap();
    assert!(seen.to_string().contains("TASK-001"));
    let undone = call("garden_undo", json!({"item": added["item"]["uuid"]}));
    assert!(undone.is_ok(), "{undone:?}");
    let report = engine.verify(None, true, |_, _| {}).unwrap();
    assert!(report.ok, "{report:?}");
    assert_ne!(report.workspaces[0].head, proof);
    let mut raw = world.backend.raw();
    assert_eq!(
        raw.number("SELECT COUNT(*) FROM soil_meta WHERE value = '3'"),
        1
    );
    assert!(raw.run("UPDATE soil_item SET actor = 'eve'").is_err());
}
