//! Disks that are full or cannot be written. They need root; on a build machine (`CI`) they must run.

use std::fs;
use std::process::Command;

use serde_json::json;
use understory_model::{Code, Seq};
use understory_testkit::World;

use crate::stores::{closed_store, open, plan, reads, unavailable};

/// Ends a test that cannot run here, unless this is a build machine, where that would go unnoticed.
fn skip(reason: &str) {
    assert!(std::env::var_os("CI").is_none(), "cannot run: {reason}");
    eprintln!("skipped: {reason}");
}

/// A small disk of its own, where the test may mount one.
struct Disk(tempfile::TempDir);

impl Disk {
    fn of(size: &str) -> Option<Disk> {
        let disk = Disk(tempfile::tempdir().expect("a folder"));
        if disk.mount(&["-t", "tmpfs", "-o", size, "tmpfs"]) {
            return Some(disk);
        }
        skip("mounting a small disk needs root");
        None
    }

    fn mount(&self, words: &[&str]) -> bool {
        let done = Command::new("mount")
            .args(words)
            .arg(self.0.path())
            .output();
        done.is_ok_and(|done| done.status.success())
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0.path()).output();
    }
}

#[test]
fn a_full_disk_loses_nothing_acknowledged() {
    let Some(disk) = Disk::of("size=3m") else {
        return;
    };
    let (path, ballast) = (
        disk.0.path().join("understory.db"),
        disk.0.path().join("ballast"),
    );
    fs::write(&ballast, vec![7; 1 << 20]).expect("room yet");
    let engine = open(&path).expect("opened");
    let (mut acks, text) = (Vec::new(), "long ".repeat(300));
    let full = loop {
        match plan(&engine, &text) {
            Ok(handle) => acks.push(handle),
            Err(fault) => break fault,
        }
        assert!(acks.len() < 3_000, "the disk never fills");
    };
    assert_eq!(full.code, Code::StoreUnavailable, "{full:?}");
    assert!(full.message.contains("disk"), "{full:?}");
    for _ in 0..5 {
        assert!(plan(&engine, &text).is_err());
        let seen = World::call_on(&engine, &World::caller("ada"), "graph_query", json!({}));
        assert_eq!(seen.expect("reads go on")["total"], acks.len() + 1);
    }
    fs::remove_file(&ballast).expect("freed");
    for _ in 0..5 {
        acks.push(plan(&engine, "short").expect("there is room again"));
    }
    engine.close();
    let engine = open(&path).expect("opened again");
    let report = engine.verify(None, true, |_, _| {}).expect("verified");
    assert!(report.ok, "{report:?}");
    assert_eq!(
        engine.head(&World::caller("ada")),
        Ok(Seq(acks.len() as i64 + 2))
    );
}

#[test]
fn a_read_only_folder_can_be_read() {
    for closed in [true, false] {
        let Some(disk) = Disk::of("size=8m") else {
            return;
        };
        let path = disk.0.path().join("understory.db");
        let elsewhere = tempfile::tempdir().expect("a folder");
        let made = elsewhere.path().join("understory.db");
        let engine = open(&made).expect("opened");
        plan(&engine, "first").expect("planned");
        // Copied while open, the newest writes are in the write-ahead log alone.
        if closed {
            engine.close();
            fs::copy(&made, &path).expect("copied");
        } else {
            for ending in ["", "-wal"] {
                let name = format!("understory.db{ending}");
                let (from, to) = (elsewhere.path().join(&name), disk.0.path().join(&name));
                fs::copy(from, to).expect("copied");
            }
        }
        if !disk.mount(&["-o", "remount,ro"]) {
            skip("the disk cannot be made read-only");
            return;
        }
        if !closed {
            // Without its log the store would be shown as it once was.
            let fault = open(&path).err().expect("it needs a folder to write in");
            assert_eq!(fault.code, Code::StoreUnavailable, "{fault:?}");
            assert!(fault.hint.unwrap_or_default().contains("-wal"));
            continue;
        }
        let engine = open(&path).expect("a read-only store opens");
        for (tool, args) in reads() {
            World::call_on(&engine, &World::caller("ada"), tool, args).expect(tool);
        }
        assert!(engine.verify(None, true, |_, _| {}).expect("verified").ok);
        unavailable(plan(&engine, "second"), "nothing was written");
        assert_eq!(engine.head(&World::caller("ada")), Ok(Seq(3)));
    }
}

/// The superuser is not stopped by permissions, but by a file that is marked immutable.
#[test]
fn a_read_only_file_can_be_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = closed_store(folder.path());
    let mark = |sign: &str| Command::new("chattr").arg(sign).arg(&path).output();
    if !mark("+i").is_ok_and(|done| done.status.success()) {
        skip("no file can be marked immutable here");
        return;
    }
    let engine = open(&path);
    let read = engine
        .as_ref()
        .map(|engine| engine.head(&World::caller("ada")));
    let written = engine.as_ref().map(|engine| plan(engine, "second"));
    assert!(mark("-i").is_ok_and(|done| done.status.success()));
    assert_eq!(read.expect("opened"), Ok(Seq(3)));
    unavailable(written.expect("opened"), "read-only: nothing was written");
    assert_eq!(
        plan(&open(&path).expect("opened"), "second"),
        Ok("TASK-002".into())
    );
}
