//! What a branch sees: itself, and each of its ancestors up to a cutoff.
//!
//! A branch takes along what was there when it was made, and what its parent does afterwards is
//! never seen on it. So everything inherited is older than everything written on the branch
//! itself, and reading nearest first is reading newest first. And what it inherits never changes:
//! of a long line it is found once in a process.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};

use understory_model::Ws;
use understory_model::branch::{self, Source};
use understory_model::error::Result;
use understory_storage::branches::{self, Made};
use understory_storage::{ReadTx, items};

/// Ancestors beyond this many are looked at only where they have something to show.
const MANY: usize = 8;

/// Ancestors that are remembered at most, of all branches and documents.
const REMEMBERED: usize = 10_000;

/// The link of the chain that made a branch: it covers everything that the branch inherits, so what
/// is remembered for it holds in any store and transaction where it is found. Beside it the
/// document, what that is made of, and the branch that it belongs to.
type Key = ([u8; 32], String, Made, Option<String>);

static INHERITED: LazyLock<Mutex<HashMap<Key, Vec<Source>>>> = LazyLock::new(Mutex::default);

/// All that a branch sees, nearest first.
pub fn sources(tx: &mut ReadTx<'_>, ws: Ws, name: &str) -> Result<Vec<Source>> {
    let steps = branches::lineage(tx, ws, name, i64::MAX)?;
    let steps = steps.into_iter().map(|step| (step.base, step.base_seq));
    Ok(branch::sources(name, steps))
}

/// What a branch sees of one document: of a long line only itself, those that have something in
/// the document, and the branch that the document belongs to.
pub fn of_doc(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    (name, doc): (&str, &str),
    made: Made,
    owner: Option<&str>,
) -> Result<Vec<Source>> {
    let near = branches::lineage(tx, ws, name, MANY as i64)?;
    let first = match near.first() {
        Some(first) if near.len() >= MANY => first.id,
        _ => {
            let steps = near.into_iter().map(|step| (step.base, step.base_seq));
            return Ok(branch::sources(name, steps));
        }
    };
    // What made the branch may not be in the log yet: then nothing is remembered.
    let key = items::get(tx, ws, first.seq())?.map(|item| {
        let owner = owner.map(str::to_string);
        (item.chain, doc.to_string(), made, owner)
    });
    let mut sources = branch::sources(name, []);
    if let Some(known) = key.as_ref().and_then(remembered) {
        sources.extend(known);
        return Ok(sources);
    }
    let found = branches::inherited(tx, ws, (name, doc), made, owner.unwrap_or_default())?;
    let found = found
        .into_iter()
        .map(|(branch, cutoff)| Source { branch, cutoff });
    sources.extend(found);
    if let Some(key) = key {
        remember(key, sources[1..].to_vec());
    }
    Ok(sources)
}

fn remembered(key: &Key) -> Option<Vec<Source>> {
    let known = INHERITED.lock().unwrap_or_else(PoisonError::into_inner);
    known.get(key).cloned()
}

fn remember(key: Key, sources: Vec<Source>) {
    let mut known = INHERITED.lock().unwrap_or_else(PoisonError::into_inner);
    let held: usize = known.values().map(|sources| sources.len() + 1).sum();
    if held + sources.len() >= REMEMBERED {
        known.clear();
    }
    known.insert(key, sources);
}
