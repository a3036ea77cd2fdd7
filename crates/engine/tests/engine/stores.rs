//! Stores that are missing, damaged, replaced or somebody else's.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use understory_engine::{Engine, Options};
use understory_model::{Code, Fault, Seq};
use understory_testkit::{Backend, World};

use crate::common::{assert_gapless, created, soil};

pub fn open(path: &Path) -> Result<Engine, Fault> {
    Engine::open(&path.to_string_lossy(), Options::default())
}

pub fn plan(engine: &Engine, summary: &str) -> Result<String, Fault> {
    let args = json!({"nodes": [{"ref": "a", "summary": summary}]});
    let answer = World::call_on(engine, &World::caller("ada"), "graph_plan", args)?;
    Ok(answer["created"][0]["id"]
        .as_str()
        .expect("an id")
        .to_string())
}

/// Every read tool.
pub fn reads() -> [(&'static str, Value); 5] {
    [
        ("graph_query", json!({})),
        ("graph_next", json!({})),
        ("graph_open", json!({})),
        ("graph_onboard", json!({})),
        ("graph_context", json!({"node_id": "TASK-001"})),
    ]
}

#[track_caller]
pub fn unavailable<T: std::fmt::Debug>(result: Result<T, Fault>, said: &str) {
    let fault = result.expect_err("not to be had");
    assert_eq!(fault.code, Code::StoreUnavailable, "{fault}");
    assert!(fault.message.contains(said), "{fault}");
    assert!(fault.hint.is_some(), "{fault}");
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut all: Vec<_> = fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    all.sort();
    all
}

/// A store with one node, closed, and its file.
pub fn closed_store(folder: &Path) -> PathBuf {
    let path = folder.join("understory.db");
    let engine = open(&path).expect("opened");
    plan(&engine, "first").expect("planned");
    engine.close();
    path
}

#[test]
fn a_missing_store_reads_as_empty_and_is_not_made() {
    let folder = tempfile::tempdir().expect("a folder");
    for path in [
        folder.path().join("none.db"),
        folder.path().join("no/such/none.db"),
    ] {
        let engine = open(&path).expect("nothing is wrong yet");
        for (tool, args) in reads() {
            let answer = World::call_on(&engine, &World::caller("ada"), tool, args);
            match tool {
                "graph_context" => assert_eq!(answer.expect_err("none").code, Code::NotFound),
                _ => drop(answer.expect("an answer")),
            }
        }
        assert!(
            engine
                .verify(None, true, |_, _| {})
                .expect("nothing to prove")
                .ok
        );
        assert_eq!(
            files(folder.path()),
            [] as [PathBuf; 0],
            "a read made something"
        );
    }
    let path = folder.path().join("no/such/none.db");
    let engine = open(&path).expect("opened");
    assert_eq!(
        plan(&engine, "first"),
        Ok("TASK-001".into()),
        "a write makes folder and file"
    );
}

#[test]
fn an_empty_file_is_an_empty_store() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("empty.db");
    fs::write(&path, "").expect("written");
    let engine = open(&path).expect("opened");
    assert_eq!(engine.head(&World::caller("ada")), Ok(Seq::ZERO));
    assert_eq!(
        fs::metadata(&path).expect("there").len(),
        0,
        "a read filled it"
    );
    assert_eq!(plan(&engine, "first"), Ok("TASK-001".into()));
}

#[test]
fn a_folder_is_not_a_store() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("inner");
    fs::create_dir(&path).expect("made");
    unavailable(open(&path).map(drop), "is a folder");
    let blind = Engine::open_unchecked(&path.to_string_lossy(), Options::default());
    unavailable(plan(&blind, "first"), "is a folder");
    assert_eq!(files(folder.path()), [path], "something was left beside it");
}

#[test]
fn files_of_others_are_left_as_they_are() {
    let folder = tempfile::tempdir().expect("a folder");
    let noise = folder.path().join("noise.db");
    fs::write(
        &noise,
        (0..9_000u32)
            .map(|n| (n * 37 % 251) as u8)
            .collect::<Vec<_>>(),
    )
    .expect("written");
    let text = folder.path().join("text.db");
    fs::write(&text, "dear diary").expect("written");
    let backend = Backend::sqlite();
    backend
        .raw()
        .run("CREATE TABLE recipe (name TEXT); INSERT INTO recipe VALUES ('soup')")
        .expect("made");
    for (path, said) in [
        (noise, "not an Understory store"),
        (text, "not an Understory store"),
        (backend.file(), "of another program"),
    ] {
        let before = fs::read(&path).expect("readable");
        unavailable(open(&path).map(drop), said);
        let blind = Engine::open_unchecked(&path.to_string_lossy(), Options::default());
        unavailable(blind.head(&World::caller("ada")), said);
        unavailable(plan(&blind, "first"), said);
        unavailable(blind.rebuild(|_, _| {}), said);
        drop(blind);
        assert_eq!(
            fs::read(&path).expect("readable"),
            before,
            "{} was touched",
            path.display()
        );
    }
}

#[test]
fn a_store_of_a_newer_version_is_left_as_it_is() {
    let world = World::new(Backend::sqlite());
    world.plan(&["a"]);
    world.engine.close();
    world
        .backend
        .raw()
        .run("UPDATE soil_meta SET value = '99' WHERE key = 'version'")
        .expect("raised");
    let before = fs::read(world.backend.file()).expect("readable");
    unavailable(open(&world.backend.file()).map(drop), "newer Understory");
    let blind = Engine::open_unchecked(&world.backend.store(), Options::default());
    unavailable(plan(&blind, "b"), "newer Understory");
    unavailable(blind.rebuild(|_, _| {}), "newer Understory");
    drop(blind);
    assert_eq!(fs::read(world.backend.file()).expect("readable"), before);
}

#[test]
fn a_store_that_was_replaced_is_noticed() {
    let world = World::new(Backend::sqlite());
    world.plan(&["a", "b"]);
    let moved = world.backend.file().with_extension("moved");
    for ending in ["", "-wal", "-shm"] {
        let from = format!("{}{ending}", world.backend.store());
        fs::rename(&from, format!("{}{ending}", moved.display())).expect("moved");
    }
    assert_eq!(world.head(), 0, "the store is gone");
    assert_eq!(world.plan(&["c"]), ["TASK-001"], "and a new one begins");
    assert_eq!(world.head(), 3);
    world.assert_sound();
    let old = open(&moved).expect("the old one is whole");
    assert_eq!(old.head(&world.caller), Ok(Seq(4)));
}

/// Damage in any page is found, and nothing panics.
#[test]
fn a_damaged_file_is_a_clear_fault() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = closed_store(folder.path());
    let whole = fs::read(&path).expect("readable");
    let pages = whole.len() / 4_096;
    for page in 0..pages {
        let mut bytes = whole.clone();
        bytes[page * 4_096..(page + 1) * 4_096].fill(0xa5);
        found_damaged(&path, &bytes, page);
    }
    for length in [100, 1_000, 4_096, whole.len() / 2, whole.len() - 4_096] {
        found_damaged(&path, &whole[..length], length);
    }
}

fn found_damaged(path: &Path, bytes: &[u8], place: usize) {
    for ending in ["-wal", "-shm"] {
        let _ = fs::remove_file(format!("{}{ending}", path.display()));
    }
    fs::write(path, bytes).expect("written");
    let clear = |fault: &Fault| {
        let codes = [Code::StoreCorrupt, Code::StoreUnavailable];
        assert!(codes.contains(&fault.code), "at {place}: {fault}");
    };
    let engine = match open(path) {
        Ok(engine) => engine,
        Err(fault) => return clear(&fault),
    };
    for (tool, args) in reads() {
        if let Err(fault) = World::call_on(&engine, &World::caller("ada"), tool, args) {
            let missing = fault.code == Code::NotFound;
            assert!(
                missing || [Code::StoreCorrupt, Code::StoreUnavailable].contains(&fault.code),
                "at {place}: {tool} {fault}"
            );
        }
    }
    let proof = engine.verify(None, true, |_, _| {});
    let written = plan(&engine, "more");
    if let Err(fault) = &written {
        clear(fault);
    }
    // A page of an index or of live alone is not soil's, nor core's: writing meets it, or nobody.
    if let Err(fault) = &proof {
        clear(fault);
    }
}

#[test]
fn a_backup_is_a_store() {
    let world = World::new(Backend::sqlite());
    let to = world.backend.file().with_extension("copy");
    assert_eq!(
        world.engine.backup(&to, |_, _| {}),
        Ok(false),
        "nothing to copy yet"
    );
    world.plan(&["a", "b"]);
    assert_eq!(world.engine.backup(&to, |_, _| {}), Ok(true));
    world.plan(&["later"]);
    let copy = World::new(Backend::sqlite());
    fs::copy(&to, copy.backend.file()).expect("copied");
    assert_eq!(copy.head(), 4);
    copy.assert_sound();
    assert_gapless(&soil(&copy, 1));
    assert_eq!(created(&soil(&copy, 1)).len(), 4);
}
