//! What an entity was at any place of the log, from its value now and its changes.

use serde_json::{Map, Value};
use understory_model::error::{Code, Fault, Result};
use understory_model::item::{EntityDelta, Item};
use understory_model::{Id, Seq, Time, Ws, delta};
use understory_storage::{ReadTx, items};

use crate::kernel::content::artifact_delta::Delta;
use crate::kernel::core::Thing;
use crate::kinds::ItemKind;

/// Changes read at once.
const CHUNK: i64 = 200;

/// An entity as it was.
#[derive(Debug, Clone)]
pub struct Version {
    pub number: i64,
    /// The item that made it so.
    pub seq: Seq,
    pub data: Map<String, Value>,
    /// What it hung from.
    pub parent: Option<Id>,
    pub at: Time,
}

impl Version {
    /// An entity as it is.
    pub fn now(thing: &Thing) -> Version {
        Version {
            number: thing.entity.version,
            seq: Seq::MAX,
            data: thing.data.clone(),
            parent: thing.entity.parent,
            at: thing.entity.updated_at,
        }
    }
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
    match ItemKind::of(&item.kind) {
        ItemKind::EntityDelta => delta_of(item).map(Some),
        ItemKind::ArtifactDelta => Ok(Delta::of(item).and_then(|delta| delta.change())),
        _ => Ok(None),
    }
}

/// The entity after the last of its changes up to and including a place; `None` when it was made
/// later. Walked from whichever end is nearer.
pub fn at(tx: &mut ReadTx<'_>, ws: Ws, now: &Thing, upto: Seq) -> Result<Option<Version>> {
    let id = now.entity.id;
    let before = upto.next();
    let Some(last) = last_change(tx, ws, id, before)? else {
        return Ok(None);
    };
    let number = change_of(&last)?.map_or(0, |change| change.version);
    let (data, parent) = if number * 2 < now.entity.version {
        forwards(tx, ws, now, last.seq)?
    } else {
        backwards(tx, ws, now, last.seq)?
    };
    Ok(Some(Version {
        number,
        seq: last.seq,
        data,
        parent,
        at: last.realized_at,
    }))
}

/// The entity in one of its versions; `None` when it never had this many.
pub fn numbered(tx: &mut ReadTx<'_>, ws: Ws, now: &Thing, number: i64) -> Result<Option<Version>> {
    if number < 1 || number > now.entity.version {
        return Ok(None);
    }
    let mut before = Seq::MAX;
    loop {
        let newer = items::of_entity(tx, ws, now.entity.id, before, CHUNK)?;
        for item in &newer {
            if change_of(item)?.is_some_and(|change| change.version == number) {
                return at(tx, ws, now, item.seq);
            }
        }
        match newer.last() {
            Some(last) => before = last.seq,
            None => return Ok(None),
        }
    }
}

/// The last change of an entity before a place. What is only about it, as a message is about its
/// thread, changes nothing.
fn last_change(tx: &mut ReadTx<'_>, ws: Ws, id: Id, mut before: Seq) -> Result<Option<Item>> {
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

/// A value, and what its entity hung from.
type Placed = (Map<String, Value>, Option<Id>);

fn backwards(tx: &mut ReadTx<'_>, ws: Ws, now: &Thing, to: Seq) -> Result<Placed> {
    let (mut data, mut parent) = (now.data.clone(), now.entity.parent);
    let mut before = Seq::MAX;
    loop {
        let newer = items::of_entity(tx, ws, now.entity.id, before, CHUNK)?;
        for item in &newer {
            if item.seq <= to {
                return Ok((data, parent));
            }
            if let Some(change) = change_of(item)? {
                delta::unapply(&mut data, &change.changes)?;
                if let Some(place) = change.place {
                    parent = place.from.map(|from| from.id);
                }
            }
            before = item.seq;
        }
        if newer.is_empty() {
            return Ok((data, parent));
        }
    }
}

fn forwards(tx: &mut ReadTx<'_>, ws: Ws, now: &Thing, to: Seq) -> Result<Placed> {
    let (mut data, mut parent) = (Map::new(), None);
    let mut after = Seq::ZERO;
    loop {
        let older = items::of_entity_after(tx, ws, now.entity.id, after, CHUNK)?;
        for item in &older {
            if item.seq > to {
                return Ok((data, parent));
            }
            after = item.seq;
            let Some(delta) = change_of(item)? else {
                continue;
            };
            match delta.data {
                Some(first) => data = first,
                None => delta::apply(&mut data, &delta.changes)?,
            }
            if let Some(place) = delta.place {
                parent = place.to.map(|to| to.id);
            }
        }
        if older.is_empty() {
            return Ok((data, parent));
        }
    }
}
