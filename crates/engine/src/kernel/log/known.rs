//! What a line of the log needs beside its item: what people call the things that it names, and
//! which words a commit replaced.

use std::collections::HashMap;

use understory_model::error::Result;
use understory_model::fact::Fact;
use understory_model::id::message_name;
use understory_model::item::Item;
use understory_model::lines::{Op, parse};
use understory_model::{Id, Seq, Ws};
use understory_storage::entities::{self, Entity};
use understory_storage::{ReadTx, artifacts, items};

use crate::kernel::content::artifact_delta::Delta;
use crate::kernel::content::call::quoted;
use crate::kernel::core::Thing;
use crate::kernel::log::told;
use crate::kernel::titles::{fields_told, log_told, named};
use crate::kernel::{artifact, project};
use crate::kinds::{ARTIFACT_DELTA, EntityKind, MESSAGE};

/// Commits of one answer whose old words are looked up.
const COMMITS: usize = 20;

/// Names and old words, by the numbers that items name them with.
#[derive(Debug, Clone, Default)]
pub struct Known {
    names: HashMap<Id, String>,
    /// The lines that a commit replaced or took away, by their number before it.
    before: HashMap<Seq, HashMap<usize, String>>,
}

impl Known {
    pub fn of(tx: &mut ReadTx<'_>, ws: Ws, shown: &[&Item]) -> Result<Known> {
        let mut known = Known::default();
        let mut wanted: Vec<Id> = shown.iter().flat_map(|item| named_by(item)).collect();
        wanted.sort_unstable();
        wanted.dedup();
        let found = entities::some(tx, ws, &wanted)?;
        let labels = artifacts::labels(tx, ws, &wanted)?;
        wanted.retain(|id| !found.contains_key(id));
        for (id, entity) in found {
            let name = match labels.get(&id) {
                Some(label) => label.clone(),
                None => called(entity)?,
            };
            known.names.insert(id, name);
        }
        let wanted: Vec<Seq> = wanted.into_iter().map(Id::seq).collect();
        for item in items::some(tx, ws, &wanted)? {
            known.names.insert(Id::of(item.seq), said(&item));
        }
        let commits = shown.iter().filter(|item| item.kind == ARTIFACT_DELTA);
        for item in commits.take(COMMITS) {
            let old = replaced(tx, ws, item)?;
            known.before.insert(item.seq, old);
        }
        Ok(known)
    }

    /// What people call a thing; nothing where it was not asked for or is not there.
    pub fn name(&self, id: Option<Id>) -> Option<&str> {
        self.names.get(&id?).map(String::as_str)
    }

    pub fn line(&self, commit: Seq, at: usize) -> Option<&str> {
        self.before.get(&commit)?.get(&at).map(String::as_str)
    }
}

/// The things that a line about an item names.
fn named_by(item: &Item) -> Vec<Id> {
    match Fact::read(item) {
        Ok(Fact::FrameMoved(moved)) => vec![moved.frame.log],
        Ok(Fact::Undone(undone)) => vec![Id::of(undone.item)],
        Ok(Fact::Entity(delta)) => {
            let mut ids: Vec<Id> = item.entity.into_iter().collect();
            match EntityKind::of(&delta.kind) {
                EntityKind::Log => {
                    let above = delta.place.and_then(|place| place.to);
                    ids.extend(above.map(|above| above.id));
                }
                EntityKind::Relation => {
                    let end = |name: &str| delta.data.as_ref()?.get(name)?.as_i64().map(Id);
                    ids.extend(["source", "target"].iter().filter_map(|name| end(name)));
                }
                EntityKind::Artifact | EntityKind::Callers(_) => {}
                // Their handles are what people call them.
                EntityKind::Node
                | EntityKind::Project
                | EntityKind::Record
                | EntityKind::Session
                | EntityKind::Branch
                | EntityKind::Conflict
                | EntityKind::Thread
                | EntityKind::Wake
                | EntityKind::Proposal
                | EntityKind::Checkout => return Vec::new(),
            }
            ids
        }
        _ => Vec::new(),
    }
}

/// What people call an entity.
fn called(entity: Entity) -> Result<String> {
    let thing = Thing::open(entity)?;
    let handle = &thing.entity.handle;
    Ok(match EntityKind::of(&thing.entity.kind) {
        EntityKind::Log => format!("“{}”", log_told(&thing)),
        EntityKind::Project => project::name_of(handle).to_string(),
        EntityKind::Relation => "a relation".to_string(),
        EntityKind::Session => format!(
            "session {}",
            handle.splitn(3, ':').nth(2).unwrap_or_default()
        ),
        EntityKind::Node
        | EntityKind::Record
        | EntityKind::Branch
        | EntityKind::Conflict
        | EntityKind::Thread
        | EntityKind::Wake
        | EntityKind::Artifact
        | EntityKind::Proposal
        | EntityKind::Checkout => handle.clone(),
        EntityKind::Callers(kind) => match named(&thing.data) {
            Some(name) => format!("{kind} {}", quoted(&name)),
            None if thing.data.is_empty() => format!("{kind} without data"),
            None => format!("{kind} {}", quoted(&fields_told(&thing.data))),
        },
    })
}

/// What people call an item: a message of a thread by its number, for not everybody may read it.
fn said(item: &Item) -> String {
    if item.kind == MESSAGE && item.entity.is_some() {
        return message_name(item.seq);
    }
    let told = crate::kernel::log::entry(item, &Known::default()).text;
    if told.is_empty() {
        format!("a {}", item.kind)
    } else {
        format!("{} {}", item.kind, quoted(&told))
    }
}

/// The words that a commit replaced or took away.
fn replaced(tx: &mut ReadTx<'_>, ws: Ws, item: &Item) -> Result<HashMap<usize, String>> {
    let mut old = HashMap::new();
    let (Some(delta), Some(artifact)) = (Delta::of(item), item.entity) else {
        return Ok(old);
    };
    let lost: Vec<usize> = parse(&delta.ops)
        .unwrap_or_default()
        .iter()
        .filter_map(|op| match op {
            Op::Remove { at } | Op::Replace { at, .. } => Some(*at),
            _ => None,
        })
        .take(told::CHANGES)
        .collect();
    let Some(parent) = delta
        .parent
        .hashes()
        .first()
        .copied()
        .filter(|_| !lost.is_empty())
    else {
        return Ok(old);
    };
    let Some(parent) = artifacts::by_hash(tx, ws, artifact, parent, 1)?.pop() else {
        return Ok(old);
    };
    let version = artifact::at(tx, ws, artifact, parent.seq)?;
    for at in lost {
        if let Some(line) = at.checked_sub(1).and_then(|at| version.lines.get(at)) {
            old.insert(at, line.bare().to_string());
        }
    }
    Ok(old)
}
