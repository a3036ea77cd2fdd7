//! The log as a person reads it: one line an item, newest first or as it grows.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use understory_model::canon::hex;
use understory_model::error::Result;
use understory_model::fact::Fact;
use understory_model::id::{entity_name, item_name, parse_name};
use understory_model::item::{ENTITY_DELTA, EntityDelta, Item};
use understory_model::{Id, Seq, Time};
use understory_storage::records::{self, Record};
use understory_storage::{activity, items, timeline, workspaces};

use crate::View;
use crate::kernel::access::Reader;
use crate::kernel::content;
use crate::kernel::surface::Surface;
use crate::kinds::{ARTIFACT, TOOL_CALL};

pub mod audit;
mod entry;
mod find;
mod fold;
mod known;
pub mod record;
pub mod steps;
mod told;

pub use entry::entry;
pub use find::{Found, find, project, spellings};
pub use known::Known;

/// One item, readable on its own.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Entry {
    pub seq: Seq,
    pub at: String,
    pub actor: String,
    pub session: String,
    #[serde(rename = "type")]
    pub kind: String,
    pub item: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handle: Option<String>,
    /// What people call it, where the handle is not for them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What a session's event is about: the record that it activated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
    /// The branch and document that a note, or a node or edge of a graph document, stands in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub doc: Option<String>,
    /// The commit that it made, and why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
    /// What it says in a line.
    pub text: String,
}

/// Which part of the log.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    /// Its changes; of a record also what sessions did with it, of an artifact who read it.
    pub entity: Option<Id>,
    pub project: Option<Id>,
    /// What one agent or person did.
    pub actor: Option<String>,
    /// Without audit events, for those who may not read them.
    pub without_audit: bool,
    /// Only items of this type.
    pub kind: Option<String>,
    /// Only what belongs to this surface.
    pub surface: Option<Surface>,
    /// Only what the caller may read.
    pub readable: bool,
    /// From this place on.
    pub from: Option<Seq>,
    /// Newest first, before this place.
    pub before: Option<Seq>,
    pub most: i64,
}

pub fn newest(view: &mut View<'_, '_>, wanted: &Wanted) -> Result<Vec<Entry>> {
    let mut before = wanted.before.unwrap_or(Seq::MAX);
    let most = usize::try_from(wanted.most).unwrap_or(0);
    let mut entries = Vec::new();
    while entries.len() < most {
        let batch = chunk(view, wanted, before)?;
        let Some(last) = batch.last() else { break };
        before = last.seq;
        entries.extend(told_of(view, wanted, &batch)?);
    }
    entries.truncate(most);
    Ok(entries)
}

/// Stretches of the log that are gone through for one page of what is rare.
const STRETCHES: usize = 50;

/// A page of what is wanted, newest first, and the place before which the next begins. However rare it
/// is, a bounded part of the log is gone through, so that a page may hold less than there is.
pub fn page(view: &mut View<'_, '_>, wanted: &Wanted) -> Result<(Vec<Entry>, Option<Seq>)> {
    let mut before = wanted.before.unwrap_or(Seq::MAX);
    let from = wanted.from.unwrap_or(Seq::FIRST);
    let most = usize::try_from(wanted.most).unwrap_or(0);
    let mut entries = Vec::new();
    for _ in 0..STRETCHES {
        let batch = chunk(view, wanted, before)?;
        let Some(last) = batch.last().filter(|_| before > from) else {
            return Ok((entries, None));
        };
        before = last.seq;
        entries.extend(told_of(view, wanted, &batch)?);
        if entries.len() > most {
            entries.truncate(most);
            let next = entries.last().map(|entry: &Entry| entry.seq);
            return Ok((entries, next));
        }
    }
    Ok((entries, (before > from).then_some(before)))
}

/// The items of a stretch, newest first.
fn chunk(view: &mut View<'_, '_>, wanted: &Wanted, before: Seq) -> Result<Vec<Item>> {
    let (tx, ws, most) = (&mut *view.tx, view.ws, wanted.most.max(1));
    let mut found = match (wanted.entity, &wanted.actor) {
        (Some(id), _) => match records::get(tx, ws, id)? {
            Some(record) => about_record(view, &record, before, most)?,
            None => around_entity(view, id, before, most)?,
        },
        (None, actor) if actor.is_some() || wanted.kind.is_some() => {
            let of = timeline::Wanted {
                kind: wanted.kind.as_deref(),
                actor: actor.as_deref(),
                log: None,
                entity: None,
                project: None,
                from: wanted.from.unwrap_or(Seq(1)),
                before,
                most,
            };
            timeline::newest(tx, ws, &of)?
        }
        (None, _) => items::newest(tx, ws, wanted.project, before, most)?,
    };
    found.sort_by_key(|item| std::cmp::Reverse(item.seq));
    Ok(found)
}

/// The changes of an entity; of an artifact also who looked at it, as far back as they go.
fn around_entity(view: &mut View<'_, '_>, id: Id, before: Seq, most: i64) -> Result<Vec<Item>> {
    let mut found = items::of_entity(view.tx, view.ws, id, before, most)?;
    let is_artifact = view
        .entity(id)?
        .is_some_and(|entity| entity.kind == ARTIFACT);
    if !is_artifact {
        return Ok(found);
    }
    let oldest = if found.len() as i64 == most {
        found.last().map_or(Seq::FIRST, |item| item.seq)
    } else {
        Seq::FIRST
    };
    let calls = timeline::Wanted {
        kind: Some(TOOL_CALL),
        actor: None,
        log: None,
        entity: None,
        project: None,
        from: oldest,
        before,
        most: LOOKS,
    };
    let calls = timeline::newest(view.tx, view.ws, &calls)?;
    let name = items::uuids_of(view.tx, view.ws, &[id])?
        .get(&id)
        .map(entity_name);
    let here = calls
        .into_iter()
        .filter(|item| looks_at(item, name.as_deref()));
    found.extend(here);
    found.sort_by_key(|item| std::cmp::Reverse(item.seq));
    found.truncate(usize::try_from(most).unwrap_or(0));
    Ok(found)
}

/// Calls of tools that are gone through for those that look at an artifact.
const LOOKS: i64 = 1_000;

/// Whether an item says that somebody looked at an artifact.
fn looks_at(item: &Item, artifact: Option<&str>) -> bool {
    let Some(said) = content::content(item).filter(|_| item.kind == TOOL_CALL) else {
        return false;
    };
    let named = said
        .fields
        .get("params")
        .and_then(|params| params["artifact"].as_str());
    named.is_some() && named == artifact
}

/// The lines that items are told in, without those that only repeat another.
fn told_of(view: &mut View<'_, '_>, wanted: &Wanted, batch: &[Item]) -> Result<Vec<Entry>> {
    let fits = |item: &&Item| {
        wanted
            .actor
            .as_ref()
            .is_none_or(|actor| item.actor == *actor)
            && wanted.project.is_none_or(|id| item.project == Some(id))
            && !(wanted.without_audit && audit::is_audit(&item.kind))
            && wanted.from.is_none_or(|from| item.seq >= from)
            && wanted.kind.as_ref().is_none_or(|kind| item.kind == *kind)
            && wanted.surface.is_none_or(|surface| belongs(item, surface))
    };
    let kept = fold::folded(batch, wanted.entity.is_some());
    let mut kept: Vec<&Item> = kept.into_iter().filter(fits).collect();
    if wanted.readable {
        let mut reader = Reader::new(view.caller);
        let mut read = Vec::with_capacity(kept.len());
        for item in kept {
            if reader.item(view.tx, view.ws, item)? {
                read.push(item);
            }
        }
        kept = read;
    }
    let known = Known::of(view.tx, view.ws, &kept)?;
    Ok(kept.into_iter().map(|item| entry(item, &known)).collect())
}

fn belongs(item: &Item, surface: Surface) -> bool {
    let fact = Fact::read(item).unwrap_or(Fact::Opaque);
    Surface::of_item(item, &fact) == surface
}

/// A record's changes and what sessions did with it, newest first.
fn about_record(
    view: &mut View<'_, '_>,
    record: &Record,
    before: Seq,
    most: i64,
) -> Result<Vec<Item>> {
    let wanted = activity::Wanted {
        project: record.project,
        target: Some(record.id),
        kinds: &[],
        except: None,
        after: Seq::ZERO,
        before,
        most,
    };
    let found = activity::newest(view.tx, view.ws, &wanted)?;
    Ok(found.into_iter().map(|(_, item)| item).collect())
}

/// One item in a line, by its place.
pub fn at(view: &mut View<'_, '_>, seq: Seq) -> Result<Option<Entry>> {
    let Some(item) = items::get(view.tx, view.ws, seq)? else {
        return Ok(None);
    };
    let known = Known::of(view.tx, view.ws, &[&item])?;
    Ok(Some(entry(&item, &known)))
}

/// Items by their names, in their order.
pub fn named(view: &mut View<'_, '_>, names: &[&str]) -> Result<Vec<Entry>> {
    let mut found = Vec::with_capacity(names.len());
    for uuid in names.iter().filter_map(|name| parse_name(name)) {
        found.extend(items::by_uuid(view.tx, view.ws, &uuid)?);
    }
    let shown: Vec<&Item> = found.iter().collect();
    let known = Known::of(view.tx, view.ws, &shown)?;
    Ok(found.iter().map(|item| entry(item, &known)).collect())
}

/// What came after a place, oldest first, and the place up to which it was looked for.
pub fn since(
    view: &mut View<'_, '_>,
    wanted: &Wanted,
    mut after: Seq,
) -> Result<(Vec<Entry>, Seq)> {
    let mut found = Vec::new();
    let name = match wanted.entity {
        Some(id) => items::uuids_of(view.tx, view.ws, &[id])?
            .get(&id)
            .map(entity_name),
        None => None,
    };
    loop {
        let mut batch = items::after(view.tx, view.ws, after, wanted.most)?;
        let Some(last) = batch.last() else {
            return Ok((found, after));
        };
        after = last.seq;
        batch.retain(|item| {
            let about = |id: Id| concerns(item, id) || looks_at(item, name.as_deref());
            wanted.entity.is_none_or(about)
        });
        found.extend(told_of(view, wanted, &batch)?);
    }
}

/// Whether an item changes an entity, or is about it.
fn concerns(item: &Item, id: Id) -> bool {
    let about = || delta(item).and_then(|delta| delta.about);
    item.entity == Some(id) || about().is_some_and(|about| about.id == id)
}

/// The place of the newest item.
pub fn end(view: &mut View<'_, '_>) -> Result<Seq> {
    let head = workspaces::head(view.tx, view.ws, false)?;
    Ok(head.map_or(Seq::ZERO, |head| head.seq))
}

/// An item whole, every column of it.
#[derive(Debug, Clone, Serialize)]
pub struct Raw {
    pub seq: Seq,
    /// `item_<uuid>`.
    pub item: String,
    #[serde(rename = "type")]
    pub kind: String,
    /// `entity_<uuid>`.
    pub entity: Option<String>,
    pub realized_at: Time,
    pub canonical_at: Time,
    pub actor: String,
    pub session: String,
    pub cause: Option<Seq>,
    pub digest: String,
    pub chain: String,
    /// As it was written; nothing where it was erased.
    pub content: Option<Value>,
}

/// An item whole, by its place.
pub fn raw_at(view: &mut View<'_, '_>, seq: Seq) -> Result<Option<Raw>> {
    let item = items::get(view.tx, view.ws, seq)?;
    item.map(|item| raw(view, &item)).transpose()
}

/// An item whole, by its name.
pub fn raw_named(view: &mut View<'_, '_>, name: &str) -> Result<Option<Raw>> {
    let item = match parse_name(name) {
        Some(uuid) => items::by_uuid(view.tx, view.ws, &uuid)?,
        None => None,
    };
    item.map(|item| raw(view, &item)).transpose()
}

fn raw(view: &mut View<'_, '_>, item: &Item) -> Result<Raw> {
    // An entity has the uuid of the item that made it, which stands at the entity's own id.
    let entity = match item.entity {
        Some(id) => items::get(view.tx, view.ws, id.seq())?.map(|made| entity_name(&made.uuid)),
        None => None,
    };
    let content = item
        .content
        .as_deref()
        .map(|text| serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_string())));
    Ok(Raw {
        seq: item.seq,
        item: item_name(&item.uuid),
        kind: item.kind.clone(),
        entity,
        realized_at: item.realized_at,
        canonical_at: item.canonical_at,
        actor: item.actor.clone(),
        session: item.session.clone(),
        cause: item.cause,
        digest: hex(&item.digest),
        chain: hex(&item.chain),
        content,
    })
}

fn delta(item: &Item) -> Option<EntityDelta> {
    let content = item.content.as_deref();
    let content = content.filter(|_| item.kind == ENTITY_DELTA)?;
    serde_json::from_str(content).ok()
}
