//! What an entity was at any place of the log, from its value now and its changes.

use serde_json::{Map, Value};
use understory_model::delta;
use understory_model::error::{Code, Fault, Result};
use understory_model::item::{ENTITY_DELTA, EntityDelta, Item};
use understory_model::{Id, Seq, Time, Ws};
use understory_storage::{Tx, items};

use crate::core::Thing;
use crate::garden::ARTIFACT_DELTA;
use crate::garden::artifact::delta::Delta;

/// Changes read at once.
const CHUNK: i64 = 200;

/// An entity as it was.
#[derive(Debug, Clone)]
pub struct Version {
    pub number: i64,
    /// The item that made it so.
    pub seq: Seq,
    pub data: Map<String, Value>,
    pub at: Time,
}

/// What an item says about its entity.
pub fn delta_of(item: &Item) -> Result<EntityDelta> {
    item.content
        .as_deref()
        .and_then(|content| serde_json::from_str(content).ok())
        .ok_or_else(|| {
            let message = format!("item {} cannot be read", item.seq);
            Fault::new(Code::StoreCorrupt, message).hint("Run `understory verify`.")
        })
}

/// The change of its entity that an item is: one by its fields, or a commit of an artifact. `None`
/// for what is only about an entity, as a message is about its thread.
pub fn change_of(item: &Item) -> Result<Option<EntityDelta>> {
    match item.kind.as_str() {
        ENTITY_DELTA => delta_of(item).map(Some),
        ARTIFACT_DELTA => Ok(Delta::of(item).and_then(|delta| delta.change())),
        _ => Ok(None),
    }
}

/// The entity after the last of its changes up to and including a place; `None` when it was made
/// later. Walked from whichever end is nearer.
pub fn at(tx: &mut Tx<'_>, ws: Ws, now: &Thing, upto: Seq) -> Result<Option<Version>> {
    let id = now.entity.id;
    let before = upto.saturating_add(1);
    let Some(last) = last_change(tx, ws, id, before)? else {
        return Ok(None);
    };
    let number = change_of(&last)?.map_or(0, |change| change.version);
    let data = if number * 2 < now.entity.version {
        forwards(tx, ws, now, last.seq)?
    } else {
        backwards(tx, ws, now, last.seq)?
    };
    Ok(Some(Version {
        number,
        seq: last.seq,
        data,
        at: last.realized_at,
    }))
}

/// The last change of an entity before a place. What is only about it, as a message is about its
/// thread, changes nothing.
fn last_change(tx: &mut Tx<'_>, ws: Ws, id: Id, mut before: Seq) -> Result<Option<Item>> {
    let mut most = 1;
    loop {
        let batch = items::of_entity(tx, ws, id, before, most)?;
        let Some(last) = batch.last() else {
            return Ok(None);
        };
        before = last.seq;
        for item in batch {
            if change_of(&item)?.is_some() {
                return Ok(Some(item));
            }
        }
        most = CHUNK;
    }
}

fn backwards(tx: &mut Tx<'_>, ws: Ws, now: &Thing, to: Seq) -> Result<Map<String, Value>> {
    let mut data = now.data.clone();
    let mut before = Seq::MAX;
    loop {
        let newer = items::of_entity(tx, ws, now.entity.id, before, CHUNK)?;
        for item in &newer {
            if item.seq <= to {
                return Ok(data);
            }
            if let Some(change) = change_of(item)? {
                delta::unapply(&mut data, &change.changes)?;
            }
            before = item.seq;
        }
        if newer.is_empty() {
            return Ok(data);
        }
    }
}

fn forwards(tx: &mut Tx<'_>, ws: Ws, now: &Thing, to: Seq) -> Result<Map<String, Value>> {
    let mut data = Map::new();
    let mut after = 0;
    loop {
        let older = items::of_entity_after(tx, ws, now.entity.id, after, CHUNK)?;
        for item in &older {
            if item.seq > to {
                return Ok(data);
            }
            after = item.seq;
            let Some(delta) = change_of(item)? else {
                continue;
            };
            match delta.data {
                Some(first) => data = first,
                None => delta::apply(&mut data, &delta.changes)?,
            }
        }
        if older.is_empty() {
            return Ok(data);
        }
    }
}
