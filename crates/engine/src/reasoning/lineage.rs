//! What a branch sees: itself, and each of its ancestors up to a cutoff.
//!
//! A branch takes along what was there when it was made, and what its parent does afterwards is
//! never seen on it. So everything inherited is older than everything written on the branch
//! itself, and reading nearest first is reading newest first.

use understory_model::Ws;
use understory_model::branch::{self, Source};
use understory_model::error::Result;
use understory_storage::{Tx, branches};

/// Ancestors beyond this many are looked at only where they have something to show.
const MANY: usize = 8;

/// All that a branch sees, nearest first.
pub fn sources(tx: &mut Tx<'_>, ws: Ws, name: &str) -> Result<Vec<Source>> {
    let steps = branches::lineage(tx, ws, name)?;
    let steps = steps.into_iter().map(|step| (step.base, step.base_seq));
    Ok(branch::sources(name, steps))
}

/// What a branch sees of one document: itself, because it may be about to be written to, and the
/// sources that have something in it.
pub fn of_doc(
    tx: &mut Tx<'_>,
    ws: Ws,
    name: &str,
    has: impl Fn(&mut Tx<'_>, &Source) -> Result<bool>,
) -> Result<Vec<Source>> {
    let all = sources(tx, ws, name)?;
    if all.len() <= MANY {
        return Ok(all);
    }
    let mut kept = Vec::new();
    for source in all {
        if kept.is_empty() || has(tx, &source)? {
            kept.push(source);
        }
    }
    Ok(kept)
}
