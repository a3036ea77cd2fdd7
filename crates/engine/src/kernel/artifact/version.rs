//! A version of an artifact, made from the last one kept whole and the changes since.
//!
//! What a commit says changes by a purge alone, so versions may be remembered until the next: by
//! the proof of the commit's item, which no other log and no other place in one can have. Core is
//! never made from what is remembered.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use serde::{Deserialize, Serialize};
use understory_model::error::{Code, Fault, Result};
use understory_model::item::Hash;
use understory_model::lines::{self, Change, Line, Origin, Version};
use understory_model::{Id, Seq, Ws};
use understory_storage::{ReadTx, artifacts, purge};

use crate::kernel::content::artifact_delta::Delta;

/// Bytes of versions that are remembered, about.
const REMEMBERED: usize = 32 << 20;

/// The version at a commit; 0 stands for what was before the first.
pub fn at(tx: &mut ReadTx<'_>, ws: Ws, artifact: Id, commit: Seq) -> Result<Arc<Version>> {
    open(tx, ws, artifact, commit, Some(memory()))
}

/// As [`at`], from what is stored alone.
pub fn at_from_store(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    artifact: Id,
    commit: Seq,
) -> Result<Arc<Version>> {
    open(tx, ws, artifact, commit, None)
}

fn open(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    artifact: Id,
    commit: Seq,
    memory: Option<&Mutex<Memory>>,
) -> Result<Arc<Version>> {
    if commit == Seq::ZERO {
        return Ok(Arc::default());
    }
    let steps = artifacts::steps(tx, ws, artifact, commit)?;
    // What was remembered before a purge is not asked for any more.
    let purged = match memory {
        Some(_) => purge::last(tx, ws)?,
        None => Seq::ZERO,
    };
    let known = |chain: &Hash| memory.and_then(|memory| lock(memory).get(&(*chain, purged)));
    let mut base: Arc<Version> = Arc::default();
    let mut missing: Vec<Seq> = Vec::new();
    for step in &steps {
        if let Some(version) = known(&step.chain) {
            base = version;
            break;
        }
        if step.kept {
            let kept = artifacts::snapshot(tx, ws, artifact, step.seq)?;
            base = Arc::new(unpack(&kept.ok_or_else(not_in_core)?)?);
            break;
        }
        missing.push(step.seq);
    }
    let fresh = !missing.is_empty();
    let changes = artifacts::changes(tx, ws, artifact, &missing)?;
    if changes.len() != missing.len() {
        return Err(not_in_core());
    }
    for (seq, change) in changes {
        let change: Changed = serde_json::from_str(&change).map_err(|_| not_in_core())?;
        base = Arc::new(change.apply(Arc::unwrap_or_clone(base), seq)?);
    }
    let Some(last) = steps.first() else {
        return Err(not_in_core());
    };
    if let Some(memory) = memory
        && (fresh || last.kept)
    {
        lock(memory).put((last.chain, purged), base.clone());
    }
    Ok(base)
}

fn not_in_core() -> Fault {
    Fault::new(Code::StoreCorrupt, "a version of an artifact is not there")
        .hint("Run `understory verify`, then `understory rebuild`.")
}

/// What a commit did to the version before it, as core keeps it.
#[derive(Serialize, Deserialize)]
pub struct Changed {
    ops: String,
    texts: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    origins: Vec<Option<(Seq, usize)>>,
    newline: bool,
}

impl Changed {
    pub fn of(delta: Delta) -> Changed {
        Changed {
            ops: delta.ops,
            texts: delta.texts,
            origins: delta.origins,
            newline: delta.newline,
        }
    }

    pub fn pack(&self) -> Result<String> {
        serde_json::to_string(self)
            .map_err(|_| Fault::new(Code::Internal, "a change could not be written as JSON"))
    }

    /// The version that it makes of the one before.
    pub fn apply(&self, parent: Version, commit: Seq) -> Result<Version> {
        let ops = lines::parse(&self.ops).map_err(|_| not_in_core())?;
        let texts: Vec<Arc<str>> = self.texts.iter().map(|text| text.as_str().into()).collect();
        let origins: Vec<Option<Origin>> = self
            .origins
            .iter()
            .map(|origin| origin.map(|(commit, line)| Origin { commit, line }))
            .collect();
        let change = Change {
            commit,
            ops: &ops,
            texts: &texts,
            origins: &origins,
            ended: self.newline,
        };
        lines::apply_to(parent, &change).map_err(|_| not_in_core())
    }
}

/// A version as it is kept.
#[derive(Serialize, Deserialize)]
struct Kept<'k> {
    newline: bool,
    texts: Vec<Cow<'k, str>>,
    /// Commit, line, and how many lines in a row came from there.
    origins: Vec<(Seq, usize, usize)>,
}

pub fn pack(version: &Version) -> Result<String> {
    let mut origins: Vec<(Seq, usize, usize)> = Vec::new();
    for Line { origin, .. } in &version.lines {
        match origins.last_mut() {
            Some((commit, line, count))
                if *commit == origin.commit && *line + *count == origin.line =>
            {
                *count += 1;
            }
            _ => origins.push((origin.commit, origin.line, 1)),
        }
    }
    let texts = version.lines.iter().map(|line| Cow::Borrowed(&*line.text));
    let kept = Kept {
        newline: version.ended,
        texts: texts.collect(),
        origins,
    };
    serde_json::to_string(&kept)
        .map_err(|_| Fault::new(Code::Internal, "a version could not be written as JSON"))
}

fn unpack(data: &str) -> Result<Version> {
    let kept: Kept<'_> = serde_json::from_str(data).map_err(|_| not_in_core())?;
    let origins = kept.origins.iter().flat_map(|(commit, line, count)| {
        (*line..line.saturating_add(*count)).map(|line| Origin {
            commit: *commit,
            line,
        })
    });
    let lines = kept.texts.iter().map(|text| Arc::from(&**text));
    let lines = lines.zip(origins);
    let lines: Vec<Line> = lines.map(|(text, origin)| Line { text, origin }).collect();
    if lines.len() == kept.texts.len() {
        Ok(Version {
            lines,
            ended: kept.newline,
        })
    } else {
        Err(not_in_core())
    }
}

/// The proof of a commit's item, and the last purge before it was read.
type Known = (Hash, Seq);

/// Versions that were opened lately.
#[derive(Default)]
struct Memory {
    versions: HashMap<Known, (Arc<Version>, u64)>,
    /// By when each was last wanted.
    order: BTreeMap<u64, Known>,
    turn: u64,
    bytes: usize,
}

impl Memory {
    fn get(&mut self, chain: &Known) -> Option<Arc<Version>> {
        self.turn += 1;
        let (version, turn) = self.versions.get_mut(chain)?;
        self.order.remove(turn);
        *turn = self.turn;
        self.order.insert(self.turn, *chain);
        Some(version.clone())
    }

    fn put(&mut self, chain: Known, version: Arc<Version>) {
        if self.get(&chain).is_some() {
            return;
        }
        self.bytes += weight(&version);
        self.order.insert(self.turn, chain);
        self.versions.insert(chain, (version, self.turn));
        while self.bytes > REMEMBERED
            && let Some((_, oldest)) = self.order.pop_first()
        {
            if let Some((version, _)) = self.versions.remove(&oldest) {
                self.bytes -= weight(&version);
            }
        }
    }
}

/// Versions share their texts, so this is more than they take.
fn weight(version: &Version) -> usize {
    version.bytes() + version.lines.len() * 64 + 256
}

fn memory() -> &'static Mutex<Memory> {
    static MEMORY: OnceLock<Mutex<Memory>> = OnceLock::new();
    MEMORY.get_or_init(Mutex::default)
}

/// What a panic elsewhere left behind is whole: every change of it is one call.
fn lock(memory: &Mutex<Memory>) -> std::sync::MutexGuard<'_, Memory> {
    memory.lock().unwrap_or_else(PoisonError::into_inner)
}
