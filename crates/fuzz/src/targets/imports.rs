//! Files from elsewhere that may be damaged: a store. Key files and key sets are in `tokens`,
//! checkpoints in `checkpoints`, settings files in `settings`, cards in `cards`.
//!
//! An input is how a whole file was damaged, a line each: `flip 100 255` changes a byte, `zero 4096
//! 512` and `copy 0 8192 512` a stretch, `cut 5000` the length; `wal 64` puts this many bytes of
//! nothing beside it; `raw` stands before bytes that are the whole file. Another kind of file gets
//! a word of its own here (an export) and an arm in [`Imports::damaged`].

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;
use tempfile::TempDir;
use understory_engine::{Engine, Options};
use understory_model::{Code, Fault};
use understory_testkit::World;

use super::stage::{Stage, caller};
use crate::chance::Chance;
use crate::target::{On, Outcome, Target, check, shape, text};

pub struct Imports {
    folder: TempDir,
    whole: Vec<u8>,
}

impl Imports {
    pub fn new() -> Imports {
        let stage = Stage::new(On::Sqlite);
        stage.world.engine.close();
        let file = stage.world.backend.file();
        let whole = fs::read(&file).expect("the store's file");
        assert!(whole.len() > 50_000, "the file holds what was written");
        Imports {
            folder: tempfile::tempdir().expect("a temporary folder"),
            whole,
        }
    }

    /// The file, and what lies beside it.
    fn damaged(&self, input: &[u8]) -> (Vec<u8>, Option<Vec<u8>>) {
        if let Some(raw) = input.strip_prefix(b"raw\n") {
            return (raw.to_vec(), None);
        }
        let (mut file, mut wal) = (self.whole.clone(), None);
        for line in text(input).lines() {
            let mut words = line.split_whitespace();
            let (word, mut numbers) = (
                words.next(),
                words.filter_map(|word| word.parse::<usize>().ok()),
            );
            let mut next = || numbers.next().unwrap_or(0);
            let length = file.len().max(1);
            match word {
                Some("flip") => {
                    let (at, bits) = (next() % length, next().to_le_bytes()[0]);
                    if let Some(byte) = file.get_mut(at) {
                        *byte ^= bits;
                    }
                }
                Some("zero") => {
                    let (at, count) = (next() % length, next());
                    file.iter_mut()
                        .skip(at)
                        .take(count)
                        .for_each(|byte| *byte = 0);
                }
                Some("copy") => {
                    let (from, to, count) = (next() % length, next() % length, next());
                    let count = count.min(length - from.max(to));
                    let end = (from + count).min(file.len());
                    file.copy_within(from.min(end)..end, to);
                }
                Some("cut") => file.truncate(next() % length),
                Some("wal") => wal = Some(vec![0x37; next() % 100_000]),
                _ => {}
            }
        }
        (file, wal)
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("x.db")
    }
}

/// Everything that a person might do with such a file.
fn used(path: &Path) -> Outcome {
    let path = path.to_string_lossy();
    let engine = match Engine::open(&path, Options::default()) {
        Ok(engine) => engine,
        Err(fault) => return told("open", &fault),
    };
    let mut way = String::new();
    let ada = caller("ada");
    for (tool, args) in [
        ("graph_query", json!({})),
        ("list_records", json!({})),
        ("garden_timeline", json!({"limit": 50})),
        ("search", json!({"query": "clock"})),
        ("read_messages", json!({"thread_id": "th_001"})),
        (
            "graph_plan",
            json!({"nodes": [{"ref": "n", "summary": "New"}]}),
        ),
        (
            "create_record",
            json!({"parent_id": null, "type": "note", "title": "t", "summary": "s", "body": "b"}),
        ),
    ] {
        match World::call_on(&engine, &ada, tool, args) {
            Ok(_) => way.push('.'),
            Err(fault) => way.push_str(&told(tool, &fault)?),
        }
    }
    match engine.verify(None, true, |_, _| {}) {
        Ok(report) => way.push(if report.ok { '.' } else { 'x' }),
        Err(fault) => way.push_str(&told("verify", &fault)?),
    }
    match engine.rebuild(|_, _| {}) {
        Ok(_) => way.push('.'),
        Err(fault) => way.push_str(&told("rebuild", &fault)?),
    }
    engine.close();
    Ok(way)
}

/// A damaged store is told as such, never as an error of this program.
fn told(what: &str, fault: &Fault) -> Outcome {
    check(fault.code != Code::Internal, || {
        format!("{what}: {fault:?}")
    })?;
    check(!fault.message.is_empty(), || format!("{what}: {fault:?}"))?;
    Ok(format!(
        "{what} {} {}",
        fault.code.wire(),
        shape(&fault.message)
    ))
}

impl Target for Imports {
    fn run(&mut self, input: &[u8]) -> Outcome {
        let (file, wal) = self.damaged(input);
        let failed = |error: std::io::Error| error.to_string();
        let folder = self.folder.path();
        for old in fs::read_dir(folder).map_err(failed)? {
            fs::remove_file(old.map_err(failed)?.path()).map_err(failed)?;
        }
        fs::write(self.path(), file).map_err(failed)?;
        if let Some(wal) = wal {
            fs::write(folder.join("x.db-wal"), wal).map_err(failed)?;
        }
        used(&self.path())
    }

    fn make(&mut self, chance: &mut Chance, _: &[Vec<u8>]) -> Vec<u8> {
        if chance.one_in(40) {
            let mut raw = b"raw\n".to_vec();
            raw.extend((0..chance.below(300)).map(|_| chance.byte()));
            return raw;
        }
        let length = self.whole.len();
        let mut lines = Vec::new();
        for _ in 0..=chance.few(6) {
            // The head of a page is where most is decided.
            let page = chance.below(length / 4096 + 1) * 4096;
            let at = match chance.below(3) {
                0 => chance.below(100),
                1 => page + chance.below(100),
                _ => chance.below(length),
            };
            lines.push(match chance.below(12) {
                0 => format!("zero {at} {}", chance.below(5_000)),
                1 => format!("copy {} {at} {}", chance.below(length), chance.below(5_000)),
                2 if chance.one_in(4) => format!("cut {}", chance.below(length)),
                3 if chance.one_in(4) => format!("wal {}", chance.below(50_000)),
                _ => format!("flip {at} {}", 1 + chance.below(255)),
            });
        }
        lines.join("\n").into_bytes()
    }
}
