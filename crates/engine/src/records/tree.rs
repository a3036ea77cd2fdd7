//! A project's records as a tree, only to look at: in the order of the tree, a page at a
//! time, each with what leads to it.

use std::collections::BTreeMap;

use serde::Serialize;
use understory_model::Id;
use understory_model::error::Result;
use understory_model::id::path_ids;
use understory_model::record::RecordState;
use understory_storage::records::{self, From, Record, Wanted};
use understory_storage::sessions;

use super::shape::Reference;
use super::{find, project};
use crate::View;

/// Activations that are looked at.
const HOLDING: i64 = 10_000;

/// Which part of the tree.
#[derive(Debug, Clone, Default)]
pub struct Asked {
    /// This record and what is below it; without one the whole project.
    pub top: Option<String>,
    /// Only these states; any where empty.
    pub states: Vec<RecordState>,
    /// Only what follows this record.
    pub after: Option<String>,
    /// This many levels, or all.
    pub levels: Option<i64>,
    pub most: i64,
}

/// A part of a tree.
#[derive(Debug, Default, Serialize)]
pub struct Tree {
    /// In the order of the tree.
    pub records: Vec<Branch>,
    /// Where there are more, the last of these.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_after: Option<String>,
}

/// A record in its place.
#[derive(Debug, Serialize)]
pub struct Branch {
    #[serde(flatten)]
    pub record: Reference,
    pub depth: i64,
    /// It is there only because it leads to another.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub context: bool,
    /// The sessions in which it is active.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub active_in: Vec<String>,
}

/// What a record hangs from, the root first.
pub fn above(view: &mut View<'_, '_>, handle: &str) -> Result<Vec<Reference>> {
    let row = row(view, handle)?;
    let mut above = Vec::new();
    for id in path_ids(&row.path).unwrap_or_default() {
        if id != row.id
            && let Some(found) = records::get(view.tx, view.ws, id)?
        {
            above.push(Reference::of(&found));
        }
    }
    Ok(above)
}

/// The records that are asked for, and what they hang from.
pub fn tree(view: &mut View<'_, '_>, asked: &Asked) -> Result<Tree> {
    let top = match &asked.top {
        Some(handle) => Some(row(view, handle)?),
        None => None,
    };
    let home = match &top {
        Some(top) => Some(top.project),
        None => project::find(view, None)?.map(|(home, _)| home.id),
    };
    let Some(home) = home else {
        return Ok(Tree::default());
    };
    let after = match &asked.after {
        Some(handle) => row(view, handle)?.path,
        None => String::new(),
    };
    let from = match &top {
        Some(top) => From::Below(top.id, &top.path),
        None => From::Roots,
    };
    let wanted = Wanted {
        project: home,
        from,
        levels: asked.levels,
        states: &asked.states,
        types: &[],
        keys: &[],
        after: &after,
        most: asked.most + 1,
    };
    let mut found = records::list(view.tx, view.ws, &wanted)?;
    let more = found.len() as i64 > asked.most;
    found.truncate(usize::try_from(asked.most).unwrap_or(usize::MAX));
    let next = found
        .last()
        .filter(|_| more)
        .map(|last| last.handle.clone());
    let mut holders: BTreeMap<Id, Vec<String>> = BTreeMap::new();
    for (record, session) in sessions::holding(view.tx, view.ws, home, HOLDING)? {
        holders.entry(record).or_default().push(session);
    }
    Ok(Tree {
        records: with_context(view, found, top.as_ref(), &holders)?,
        next_after: next,
    })
}

fn row(view: &mut View<'_, '_>, handle: &str) -> Result<Record> {
    let id = find(view, handle)?.entity.id;
    let found = records::get(view.tx, view.ws, id)?;
    found.ok_or_else(|| super::nothing_yet(handle))
}

/// The records, and between them and the top what they hang from.
fn with_context(
    view: &mut View<'_, '_>,
    found: Vec<Record>,
    top: Option<&Record>,
    holders: &BTreeMap<Id, Vec<String>>,
) -> Result<Vec<Branch>> {
    // By path, which is the order of the tree.
    let mut shown: BTreeMap<String, (Record, bool)> = BTreeMap::new();
    let mut known: Vec<Id> = Vec::new();
    if let Some(top) = top {
        known.push(top.id);
        shown.insert(top.path.clone(), (top.clone(), false));
    }
    known.extend(found.iter().map(|record| record.id));
    known.sort_unstable();
    let from = top.map_or(0, |top| top.depth);
    for record in found {
        let above = path_ids(&record.path).unwrap_or_default();
        for id in above {
            if let Err(place) = known.binary_search(&id)
                && let Some(ancestor) = records::get(view.tx, view.ws, id)?
            {
                known.insert(place, id);
                if ancestor.depth >= from {
                    shown.insert(ancestor.path.clone(), (ancestor, true));
                }
            }
        }
        shown.insert(record.path.clone(), (record, false));
    }
    Ok(shown
        .values()
        .map(|(record, context)| Branch {
            record: Reference::of(record),
            depth: record.depth - from,
            context: *context,
            active_in: holders.get(&record.id).cloned().unwrap_or_default(),
        })
        .collect())
}
