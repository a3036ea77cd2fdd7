//! Disks that are full or cannot be written; where no disk can be mounted, the tests say so.

use std::fs;
use std::process::Command;

use serde_json::json;
use understory_model::Code;
use understory_testkit::World;

use crate::stores::{closed_store, open, plan, reads, unavailable};

/// A small disk of its own, where the test may mount one.
struct Disk(tempfile::TempDir);

impl Disk {
    fn of(size: &str) -> Option<Disk> {
        let disk = Disk(tempfile::tempdir().expect("a folder"));
        if disk.mount(&["-t", "tmpfs", "-o", size, "tmpfs"]) {
            return Some(disk);
        }
        eprintln!("skipped: mounting a small disk needs root");
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
        Ok(acks.len() as i64 + 2)
    );
}

#[test]
fn a_read_only_folder_can_be_read() {
    for closed in [true, false] {
        let Some(disk) = Disk::of("size=8m") else {
            return;
        };
        let path = disk.0.path().join("understory.db");
        let engine = open(&path).expect("opened");
        plan(&engine, "first").expect("planned");
        // Left open, the newest writes are in the write-ahead log alone.
        if closed {
            engine.close();
        } else {
            std::mem::forget(engine);
            for ending in ["", "-wal"] {
                let from = format!("{}{ending}", path.display());
                fs::copy(&from, from.replace("understory.db", "copy.db")).expect("copied");
            }
        }
        let path = if closed {
            path
        } else {
            disk.0.path().join("copy.db")
        };
        if !disk.mount(&["-o", "remount,ro"]) {
            eprintln!("skipped: the disk cannot be made read-only");
            return;
        }
        let engine = open(&path).expect("a read-only store opens");
        for (tool, args) in reads() {
            World::call_on(&engine, &World::caller("ada"), tool, args).expect(tool);
        }
        assert!(engine.verify(None, true, |_, _| {}).expect("verified").ok);
        unavailable(plan(&engine, "second"), "nothing was written");
        assert_eq!(
            engine.head(&World::caller("ada")),
            Ok(3),
            "closed: {closed}"
        );
    }
}

/// The superuser is not stopped by permissions, but by a file that is marked immutable.
#[test]
fn a_read_only_file_can_be_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = closed_store(folder.path());
    let mark = |sign: &str| Command::new("chattr").arg(sign).arg(&path).output();
    if !mark("+i").is_ok_and(|done| done.status.success()) {
        eprintln!("skipped: no file can be marked immutable here");
        return;
    }
    let engine = open(&path);
    let read = engine
        .as_ref()
        .map(|engine| engine.head(&World::caller("ada")));
    let written = engine.as_ref().map(|engine| plan(engine, "second"));
    assert!(mark("-i").is_ok_and(|done| done.status.success()));
    assert_eq!(read.expect("opened"), Ok(3));
    unavailable(written.expect("opened"), "read-only: nothing was written");
    assert_eq!(
        plan(&open(&path).expect("opened"), "second"),
        Ok("TASK-002".into())
    );
}
