//! A log is held against what is known of it from elsewhere, and no rebuild hides that it was cut.

use serde_json::json;
use understory_engine::Engine;
use understory_engine::system::verify::{Break, Expected};
use understory_model::item::genesis;
use understory_model::{Caller, Code, Role, Seq};
use understory_testkit::{Backend, World, on_both};

use crate::tamper::{bytes, fill};

/// The end of the first workspace's log, as somebody elsewhere would keep it.
fn kept(world: &World) -> Expected {
    let report = world.engine.verify(Some("garden-shed"), false, |_, _| {});
    let proof = report.expect("verified").workspaces.remove(0);
    let bytes: Vec<u8> = (0..32)
        .map(|at| u8::from_str_radix(&proof.head[2 * at..2 * at + 2], 16).expect("hex"))
        .collect();
    Expected {
        workspace: proof.workspace,
        seq: Some(Seq(proof.items)),
        link: bytes.try_into().expect("32 bytes"),
    }
}

/// Puts the log of another store's first workspace, with its head, in the place of this one's.
fn copy_log(from: &World, to: &World) {
    let mut raw = to.backend.raw();
    let other = match &from.backend {
        Backend::Sqlite { .. } => {
            let file = from.backend.file();
            raw.run(&format!("ATTACH '{}' AS forged", file.display()))
                .expect("attached");
            "forged"
        }
        Backend::Postgres { schema, .. } => schema.as_str(),
    };
    for table in ["soil_item", "core_head"] {
        let copy = format!("INSERT INTO {table} SELECT * FROM {other}.{table} WHERE ws = 1");
        raw.run(&copy).expect(table);
    }
}

/// The breaks of a proof against what was kept.
fn against(world: &World, expected: &[Expected]) -> Vec<(String, Seq, String)> {
    let report = world
        .engine
        .verify_against(None, false, expected, |_, _| {});
    let report = report.expect("verified");
    let all = report.workspaces.iter();
    let breaks: Vec<_> = all
        .flat_map(|proof| {
            let named = |b: &Break| (proof.workspace.clone(), b.seq, b.what.clone());
            proof.breaks.iter().map(named).collect::<Vec<_>>()
        })
        .collect();
    assert_eq!(report.ok, breaks.is_empty());
    breaks
}

/// Refuses to rebuild, and leaves everything as it was: a proof still tells.
#[track_caller]
fn rebuild_refused(world: &World, said: &str) {
    let before = world
        .engine
        .verify(None, false, |_, _| {})
        .expect("verified");
    assert!(!before.ok);
    let fault = world
        .engine
        .rebuild(|_, _| {})
        .expect_err("a damaged log is refused");
    assert_eq!(fault.code, Code::StoreCorrupt);
    assert!(
        fault.message.contains("garden-shed") && fault.message.contains(said),
        "{fault}"
    );
    let after = world
        .engine
        .verify(None, false, |_, _| {})
        .expect("verified");
    assert_eq!(before.workspaces[0].breaks, after.workspaces[0].breaks);
}

#[on_both]
fn a_log_must_hold_what_is_known_of_it(world: World) {
    fill(&world);
    let point = kept(&world);
    assert_eq!(against(&world, std::slice::from_ref(&point)), []);
    // It goes on, and still holds it.
    world.plan(&["e"]);
    let anywhere = Expected {
        seq: None,
        ..point.clone()
    };
    let begin = Expected {
        seq: Some(Seq::ZERO),
        link: genesis("garden-shed"),
        ..point.clone()
    };
    assert_eq!(
        against(&world, &[point.clone(), anywhere.clone(), begin]),
        []
    );
    let found = against(
        &world,
        &[
            Expected {
                seq: Some(Seq(3)),
                ..point.clone()
            },
            Expected {
                seq: Some(Seq(99)),
                ..point.clone()
            },
            Expected {
                seq: None,
                link: [7; 32],
                ..point.clone()
            },
            Expected {
                workspace: "nowhere".into(),
                ..point.clone()
            },
        ],
    );
    let places: Vec<_> = found
        .iter()
        .map(|(name, seq, _)| (name.as_str(), *seq))
        .collect();
    let end = Seq(world.head());
    assert_eq!(
        places,
        [
            ("garden-shed", Seq(3)),
            ("garden-shed", end + 1),
            ("garden-shed", end),
            ("nowhere", Seq(8))
        ],
        "{found:?}"
    );
}

#[on_both]
fn a_chain_that_was_written_anew_is_found_by_what_was_kept(world: World) {
    fill(&world);
    let point = kept(&world);
    // Whoever can write the file makes a whole new log that proves by itself.
    let mut raw = world.backend.raw();
    raw.disarm();
    for (table, of) in [("soil_item", "soil"), ("core_head", "core")] {
        raw.run(&format!("DELETE FROM {table} WHERE ws = 1"))
            .expect(of);
    }
    let forged = World::new(world.backend.another());
    forged.plan(&["x", "b", "c", "d", "e", "f", "g"]);
    copy_log(&forged, &world);
    let report = world
        .engine
        .verify(None, false, |_, _| {})
        .expect("verified");
    assert!(report.ok, "the forged chain proves by itself: {report:?}");
    let found = against(&world, std::slice::from_ref(&point));
    let [(name, seq, what)] = found.as_slice() else {
        panic!("{found:?}")
    };
    assert_eq!((name.as_str(), *seq), ("garden-shed", Seq(8)));
    assert!(what.contains("rewritten"), "{what}");
}

#[on_both]
fn a_rebuild_does_not_make_a_cut_log_look_whole(world: World) {
    fill(&world);
    let point = kept(&world);
    let mut raw = world.backend.raw();
    raw.disarm();
    raw.run("DELETE FROM soil_item WHERE ws = 1 AND seq = 8")
        .expect("cut");
    rebuild_refused(&world, "#8: is missing: the log went on to 8");
    // Nor does the replay that another version makes by itself.
    raw.run("UPDATE core_meta SET value = '0' WHERE key = 'version'")
        .expect("stale");
    let other = Engine::open_unchecked(&world.backend.store(), world.options());
    let caller = World::caller("ada");
    let write = World::call_on(
        &other,
        &caller,
        "graph_plan",
        json!({"nodes": [{"ref": "z", "summary": "z"}]}),
    );
    assert_eq!(write.expect_err("refused").code, Code::StoreCorrupt);
    assert!(other.rebuild(|_, _| {}).is_err());
    // On somebody's word it goes on, and the log says on whose.
    let accepted = other
        .rebuild_accepting_damage(&caller, |_, _| {})
        .expect("accepted");
    assert_eq!(accepted.len(), 1);
    assert_eq!(
        (accepted[0].workspace.as_str(), accepted[0].breaks[0].seq),
        ("garden-shed", Seq(8))
    );
    world.assert_sound();
    let shown = world
        .call_as(
            &Caller {
                role: Role::Auditor,
                ..caller.clone()
            },
            "garden_timeline",
            json!({"types": ["AuditEvent"]}),
        )
        .expect("shown");
    let item = &shown["items"][0];
    assert_eq!(
        (&item["actor"], &item["data"]["event"]),
        (&json!("ada"), &json!("damage_accepted"))
    );
    assert_eq!(item["data"]["breaks"][0]["seq"], 8);
    assert_eq!(
        against(&world, std::slice::from_ref(&point)).len(),
        1,
        "what was kept still tells"
    );
    other.rebuild(|_, _| {}).expect("sound again");
}

#[on_both]
fn a_rebuild_refuses_a_changed_log_and_a_lost_head(world: World) {
    fill(&world);
    let mut raw = world.backend.raw();
    raw.disarm();
    raw.run("CREATE TABLE kept AS SELECT * FROM soil_item")
        .expect("kept");
    raw.run("UPDATE soil_item SET actor = 'eve' WHERE ws = 1 AND seq = 5")
        .expect("changed");
    rebuild_refused(&world, "#5: it does not follow");
    raw.run("DELETE FROM soil_item; INSERT INTO soil_item SELECT * FROM kept")
        .expect("back");
    // A head that is behind is core's fault, and mended.
    raw.run("UPDATE core_head SET seq = seq - 2 WHERE ws = 1")
        .expect("lowered");
    world.engine.rebuild(|_, _| {}).expect("rebuilt");
    world.assert_sound();
    // One that knows another chain, or none, is not.
    let hash = bytes(&world, 32);
    raw.run(&format!("UPDATE core_head SET chain = {hash} WHERE ws = 1"))
        .expect("changed");
    rebuild_refused(&world, "#8: the head that core knew is not in the log");
    raw.run("DELETE FROM core_head WHERE ws = 1").expect("lost");
    rebuild_refused(&world, "#8: core does not know the log's head");
    let caller = World::caller("ada");
    world
        .engine
        .rebuild_accepting_damage(&caller, |_, _| {})
        .expect("accepted");
    world.assert_sound();
}
