//! What happened cannot be changed, and whoever changes it anyway is found out.

use serde_json::json;
use understory_model::{Caller, Seq};
use understory_testkit::{Raw, World, on_both};

/// The place that the tests change: in the middle of the log.
const AT: i64 = 5;

/// Two workspaces, so that a break has to be told apart.
pub fn fill(world: &World) {
    world.plan(&["a", "b", "c", "d"]);
    world.ok(
        "graph_update",
        json!({"updates": [{"node_id": "TASK-002", "resolved": true}]}),
    );
    world.ok(
        "graph_connect",
        json!({"edges": [{"from": "TASK-003", "to": "TASK-004", "type": "depends_on"}]}),
    );
    let other = Caller {
        workspace: "greenhouse".into(),
        ..World::caller("bob")
    };
    world
        .call_as(
            &other,
            "graph_plan",
            json!({"nodes": [{"ref": "a", "summary": "x"}]}),
        )
        .expect("planned");
    world.assert_sound();
}

/// Checks that the breaks are exactly at these places of the first workspace.
#[track_caller]
fn found_at(world: &World, places: &[i64], damage: &str) {
    let report = world
        .engine
        .verify(None, false, |_, _| {})
        .expect("verify looks at everything");
    assert!(!report.ok, "not found: {damage}");
    for proof in &report.workspaces {
        let mut seqs: Vec<i64> = proof.breaks.iter().map(|b| b.seq.0).collect();
        seqs.dedup();
        let expected: &[i64] = if proof.workspace == "garden-shed" {
            places
        } else {
            &[]
        };
        assert_eq!(seqs, expected, "{damage}: {:?}", proof.breaks);
        assert_eq!(proof.ok, expected.is_empty());
    }
    // With core compared too, the finding is the same, and nothing breaks off.
    let deep = world
        .engine
        .verify(None, true, |_, _| {})
        .expect("verify deep looks too");
    assert_eq!(deep.workspaces[0].breaks, report.workspaces[0].breaks);
}

/// Does each damage to a sound store, finds it, and takes it back.
fn each_is_found(world: &World, damages: &[(&[i64], String)]) {
    fill(world);
    let mut raw = world.backend.raw();
    raw.disarm();
    raw.run("CREATE TABLE kept AS SELECT * FROM soil_item")
        .expect("kept");
    for (places, damage) in damages {
        raw.run(damage)
            .unwrap_or_else(|error| panic!("{damage}: {error}"));
        found_at(world, places, damage);
        raw.run("DELETE FROM soil_item; INSERT INTO soil_item SELECT * FROM kept")
            .expect("back");
    }
    world.assert_sound();
}

/// Sets a column of the item in the middle.
fn in_the_middle(column: &str) -> (&'static [i64], String) {
    (
        &[AT],
        format!("UPDATE soil_item SET {column} WHERE ws = 1 AND seq = {AT}"),
    )
}

/// A blob of so many bytes, in either engine's spelling.
pub fn bytes(world: &World, count: usize) -> String {
    let hex = "07".repeat(count);
    if world.backend.is_sqlite() {
        format!("x'{hex}'")
    } else {
        format!("'\\x{hex}'::bytea")
    }
}

#[track_caller]
fn refused(raw: &mut Raw, sql: &str) {
    let error = raw.run(sql).expect_err(sql);
    assert!(error.contains("immutable"), "{sql}: {error}");
}

#[on_both]
fn the_database_refuses_to_change_soil(world: World) {
    fill(&world);
    let mut raw = world.backend.raw();
    refused(&mut raw, "UPDATE soil_item SET actor = 'eve' WHERE seq = 5");
    refused(&mut raw, "UPDATE soil_item SET content = NULL");
    refused(&mut raw, "DELETE FROM soil_item WHERE seq = 5");
    refused(&mut raw, "DELETE FROM soil_item");
    refused(&mut raw, "UPDATE soil_workspace SET name = 'eve'");
    refused(&mut raw, "DELETE FROM soil_workspace");
    if world.backend.is_sqlite() {
        let all = "INSERT OR REPLACE INTO soil_item SELECT * FROM soil_item WHERE seq = 5";
        refused(&mut raw, all);
        refused(
            &mut raw,
            "INSERT OR REPLACE INTO soil_workspace VALUES (1, 'eve', NULL, 0)",
        );
        refused(
            &mut raw,
            "INSERT OR REPLACE INTO soil_workspace VALUES (9, 'garden-shed', '', 0)",
        );
        refused(
            &mut raw,
            "UPDATE OR REPLACE soil_item SET seq = 4 WHERE seq = 5",
        );
    } else {
        refused(&mut raw, "TRUNCATE soil_item");
        refused(&mut raw, "TRUNCATE soil_workspace CASCADE");
        refused(
            &mut raw,
            "INSERT INTO soil_item SELECT * FROM soil_item WHERE seq = 5 \
            ON CONFLICT (ws, seq) DO UPDATE SET actor = 'eve'",
        );
    }
    world.assert_sound();
}

#[on_both]
fn a_change_of_any_column_is_found_where_it_is(world: World) {
    let (name, hash) = (bytes(&world, 16), bytes(&world, 32));
    let columns = [
        &format!("uuid = {name}"),
        "type = 'Note'",
        "project = 2",
        "project = NULL",
        "entity = 3",
        "entity = NULL",
        "realized_at = realized_at + 1",
        "realized_at = 0",
        "realized_at = 9000000000000000",
        "canonical_at = 7",
        "actor = 'eve'",
        "session = ''",
        "cause = 1",
        "cause = 0",
        &format!("digest = {hash}"),
        &format!("chain = {hash}"),
        "content = '{}'",
        "content = NULL",
        "content = content || ' '",
    ];
    each_is_found(&world, &columns.map(in_the_middle));
}

#[on_both]
fn a_row_that_cannot_be_read_is_found_where_it_is(world: World) {
    let short = bytes(&world, 3);
    let columns = ["uuid", "digest", "chain"];
    each_is_found(
        &world,
        &columns.map(|column| in_the_middle(&format!("{column} = {short}"))),
    );
}

#[on_both]
fn a_missing_row_is_found_where_it_was(world: World) {
    let gone = |at: &'static [i64], which: &str| {
        (
            at,
            format!("DELETE FROM soil_item WHERE ws = 1 AND {which}"),
        )
    };
    each_is_found(
        &world,
        &[
            gone(&[5], "seq = 5"),
            gone(&[1], "seq = 1"),
            gone(&[7], "seq >= 7"),
            gone(&[8], "seq = 8"),
            gone(&[1], "seq > 0"),
            gone(&[3, 6], "seq IN (3, 6)"),
            (
                &[5, 9, 99],
                "UPDATE soil_item SET seq = 99 WHERE ws = 1 AND seq = 5".into(),
            ),
        ],
    );
}

#[on_both]
fn rows_that_traded_their_content_are_both_found(world: World) {
    let trade = |columns: &str| -> (&'static [i64], String) {
        let set = |other: i64| {
            let from = |column: &str| {
                format!("{column} = (SELECT {column} FROM kept WHERE ws = 1 AND seq = {other})")
            };
            columns.split(' ').map(from).collect::<Vec<_>>().join(", ")
        };
        let (four, six) = (set(4), set(6));
        (
            &[4, 6],
            format!(
                "UPDATE soil_item SET {six} WHERE ws = 1 AND seq = 4; \
             UPDATE soil_item SET {four} WHERE ws = 1 AND seq = 6"
            ),
        )
    };
    each_is_found(
        &world,
        &[
            trade("content"),
            trade("content digest"),
            trade("actor content digest"),
        ],
    );
}

#[on_both]
fn a_forged_row_is_found(world: World) {
    let name = bytes(&world, 16);
    let forged = |ws: i64, seq: i64| {
        format!(
            "INSERT INTO soil_item SELECT {ws}, {seq}, {name}, type, project, entity, \
            realized_at, canonical_at, 'eve', session, cause, digest, chain, content \
            FROM soil_item WHERE ws = 1 AND seq = 8"
        )
    };
    each_is_found(
        &world,
        &[
            (&[9], forged(1, 9)),
            (&[9, 20], forged(1, 20)),
            (&[0], forged(1, 0)),
            (&[-4], forged(1, -4)),
        ],
    );
    world
        .backend
        .raw()
        .run(&forged(77, 3))
        .expect("nothing forbids to add");
    let report = world
        .engine
        .verify(None, false, |_, _| {})
        .expect("verified");
    let stray = report.workspaces.last().expect("a proof");
    assert_eq!(
        (report.ok, stray.workspace.as_str(), stray.breaks[0].seq),
        (false, "#77", Seq(3))
    );
}

#[on_both]
fn a_renamed_workspace_is_found(world: World) {
    fill(&world);
    let mut raw = world.backend.raw();
    let off = if world.backend.is_sqlite() {
        "DROP TRIGGER soil_workspace_no_update"
    } else {
        "ALTER TABLE soil_workspace DISABLE TRIGGER ALL"
    };
    raw.run(off).expect("off");
    raw.run("UPDATE soil_workspace SET name = 'shed' WHERE ws = 1")
        .expect("renamed");
    let report = world
        .engine
        .verify(Some("shed"), false, |_, _| {})
        .expect("verified");
    assert_eq!(
        report.workspaces[0].breaks[0].seq,
        Seq(1),
        "the chain starts from the name"
    );
    let missing = world.engine.verify(Some("garden-shed"), false, |_, _| {});
    assert!(missing.is_err_and(|fault| fault.message.contains("garden-shed")));
}

#[on_both]
fn a_change_of_core_is_found_by_a_replay(world: World) {
    fill(&world);
    let mut raw = world.backend.raw();
    for (table, damage) in [
        (
            "core_entity",
            "UPDATE core_entity SET data = '{}' WHERE handle = 'TASK-003'",
        ),
        (
            "core_node",
            "UPDATE core_node SET standing = 1 - standing WHERE id = 3",
        ),
        ("core_link", "DELETE FROM core_link"),
        (
            "core_key",
            "INSERT INTO core_key VALUES (1, 'area', 'x', 3)",
        ),
        (
            "core_counter",
            "UPDATE core_counter SET last = 3 WHERE name LIKE 'TASK%'",
        ),
        ("core_project", "UPDATE core_project SET actionable = 99"),
    ] {
        raw.run(damage).expect(damage);
        let report = world.verify();
        assert!(
            !report.ok && report.workspaces.iter().all(|proof| proof.ok),
            "{damage}"
        );
        assert_eq!(report.core, Some(vec![table.to_string()]), "{damage}");
        world.engine.rebuild(|_, _| {}).expect("rebuilt");
        world.assert_sound();
    }
    raw.run("UPDATE core_head SET seq = seq - 1 WHERE ws = 1")
        .expect("changed");
    assert!(!world.verify().ok);
    world.engine.rebuild(|_, _| {}).expect("rebuilt");
    world.assert_sound();
}
