//! The log as a person reads it: one line an item, newest first or as it grows.

use serde::Serialize;
use serde_json::{Value, json};
use understory_model::canon::hex;
use understory_model::delta::Change;
use understory_model::error::Result;
use understory_model::id::{entity_name, item_name, parse_name};
use understory_model::item::{ENTITY_DELTA, EntityDelta, Item};
use understory_model::{Id, Seq};
use understory_storage::{entities, items, workspaces};

use crate::View;
use crate::graph::fields::{CLAIMED_AT, CLAIMED_BY};
use crate::graph::project;
use crate::view::{missing, no_such, projects};

/// One item, readable on its own.
#[derive(Debug, Clone, Serialize)]
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
    /// What it says in a line.
    pub text: String,
}

/// Which part of the log.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    pub entity: Option<Id>,
    pub project: Option<Id>,
    /// Newest first, before this place.
    pub before: Option<Seq>,
    pub most: i64,
}

pub fn newest(view: &mut View<'_, '_>, wanted: &Wanted) -> Result<Vec<Entry>> {
    let before = wanted.before.unwrap_or(i64::MAX);
    let found = match wanted.entity {
        Some(entity) => items::of_entity(view.tx, view.ws, entity, before, wanted.most)?,
        None => items::newest(view.tx, view.ws, wanted.project, before, wanted.most)?,
    };
    Ok(found.iter().map(entry).collect())
}

/// What came after a place, oldest first, and the place up to which it was looked for.
pub fn since(
    view: &mut View<'_, '_>,
    wanted: &Wanted,
    mut after: Seq,
) -> Result<(Vec<Entry>, Seq)> {
    let mut found = Vec::new();
    loop {
        let batch = items::after(view.tx, view.ws, after, wanted.most)?;
        let Some(last) = batch.last() else {
            return Ok((found, after));
        };
        after = last.seq;
        let meant = |item: &&Item| {
            wanted.entity.is_none_or(|id| item.entity == Some(id))
                && wanted.project.is_none_or(|id| item.project == Some(id))
        };
        found.extend(batch.iter().filter(meant).map(entry));
    }
}

/// The place of the newest item.
pub fn end(view: &mut View<'_, '_>) -> Result<Seq> {
    let head = workspaces::head(view.tx, view.ws, false)?;
    Ok(head.map_or(0, |head| head.seq))
}

/// A project by its name.
pub fn project(view: &mut View<'_, '_>, name: &str) -> Result<Id> {
    let handle = project::handle(name);
    match entities::by_handle(view.tx, view.ws, &handle)? {
        Some(entity) => Ok(entity.id),
        None => {
            let all = projects(view.tx, view.ws)?;
            let names = all
                .iter()
                .map(|(_, entity)| project::name_of(&entity.handle));
            Err(missing("project", name, names))
        }
    }
}

/// An entity that a person named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    pub id: Id,
    pub kind: String,
    pub handle: String,
}

/// An entity by its handle, by `entity_<uuid>`, or by any item that changed it. People type
/// `task-1` and mean `TASK-001`, and name a project by its name alone.
pub fn find(view: &mut View<'_, '_>, name: &str) -> Result<Found> {
    let mut entity = match parse_name(name) {
        Some(uuid) => match items::by_uuid(view.tx, view.ws, &uuid)?.and_then(|i| i.entity) {
            Some(id) => view.entity(id)?,
            None => None,
        },
        None => None,
    };
    for handle in meant(name) {
        if entity.is_none() {
            entity = entities::by_handle(view.tx, view.ws, &handle)?;
        }
    }
    match entity {
        Some(entity) => Ok(Found {
            id: entity.id,
            kind: entity.kind,
            handle: entity.handle,
        }),
        None => Err(no_such(view.tx, view.ws, "thing named", name)?),
    }
}

/// The handles that a name may stand for, the likeliest first.
fn meant(name: &str) -> Vec<String> {
    let upper = name.to_uppercase();
    let mut handles = vec![name.to_string(), upper.clone()];
    if let Some((prefix, number)) = upper.split_once('-')
        && let Ok(number) = number.parse::<u64>()
    {
        handles.push(format!("{prefix}-{number:03}"));
    }
    handles.push(project::handle(name));
    handles
}

/// An item whole, every column of it, by its place.
pub fn raw_at(view: &mut View<'_, '_>, seq: Seq) -> Result<Option<Value>> {
    let item = items::get(view.tx, view.ws, seq)?;
    item.map(|item| raw(view, &item)).transpose()
}

/// An item whole, by its name.
pub fn raw_named(view: &mut View<'_, '_>, name: &str) -> Result<Option<Value>> {
    let item = match parse_name(name) {
        Some(uuid) => items::by_uuid(view.tx, view.ws, &uuid)?,
        None => None,
    };
    item.map(|item| raw(view, &item)).transpose()
}

fn raw(view: &mut View<'_, '_>, item: &Item) -> Result<Value> {
    // An entity bears the uuid of the item that made it, which stands at the entity's own id.
    let entity = match item.entity {
        Some(id) => items::get(view.tx, view.ws, id)?.map(|made| entity_name(&made.uuid)),
        None => None,
    };
    let content = item
        .content
        .as_deref()
        .map(|text| serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_string())));
    Ok(json!({
        "seq": item.seq,
        "item": item_name(&item.uuid),
        "type": item.kind,
        "entity": entity,
        "realized_at": item.realized_at.to_string(),
        "canonical_at": item.canonical_at.to_string(),
        "actor": item.actor,
        "session": item.session,
        "cause": item.cause,
        "digest": hex(&item.digest),
        "chain": hex(&item.chain),
        "content": content,
    }))
}

pub fn entry(item: &Item) -> Entry {
    let delta = item
        .content
        .as_deref()
        .filter(|_| item.kind == ENTITY_DELTA)
        .and_then(|content| serde_json::from_str::<EntityDelta>(content).ok());
    Entry {
        seq: item.seq,
        at: item.realized_at.to_string(),
        actor: item.actor.clone(),
        session: item.session.clone(),
        kind: item.kind.clone(),
        item: item_name(&item.uuid),
        action: delta.as_ref().map(|delta| delta.action.clone()),
        handle: delta.as_ref().map(|delta| delta.handle.clone()),
        text: delta.as_ref().map(told).unwrap_or_default(),
    }
}

/// A change in a few words.
fn told(delta: &EntityDelta) -> String {
    let mut said: Vec<String> = Vec::new();
    if let Some(data) = &delta.data {
        let named = data.get("summary").or_else(|| data.get("name"));
        said.extend(named.and_then(Value::as_str).map(str::to_string));
    }
    let changes = delta.changes.iter();
    said.extend(changes.filter_map(|change| change_told(change, &delta.action)));
    if let Some(place) = &delta.place
        && delta.data.is_none()
    {
        said.extend(place.to.as_ref().map(|to| format!("under {}", to.handle)));
    }
    for link in &delta.links {
        let sign = if link.remove { "−" } else { "+" };
        said.push(format!("{sign}{} {}", link.relation, link.to.handle));
    }
    said.extend(delta.reason.iter().map(|reason| format!("({reason})")));
    let gone = delta.gone.as_ref().and_then(|gone| gone.into.as_ref());
    said.extend(gone.map(|into| format!("into {}", into.handle)));
    said.join("; ")
}

/// One change; none where the action says it already.
fn change_told(change: &Change, action: &str) -> Option<String> {
    let at: Vec<&str> = change.at.iter().map(String::as_str).collect();
    let field = match (action, at.as_slice()) {
        ("resolved", ["resolved"]) => return None,
        ("claimed", ["properties", CLAIMED_BY | CLAIMED_AT]) => return None,
        (_, ["evidence", ..]) => return change.after.as_ref().map(plain),
        (_, ["properties", rest @ ..]) => rest.join("."),
        _ => change.field(),
    };
    Some(match (&change.before, &change.after) {
        (None, Some(after)) => format!("{field} = {}", plain(after)),
        (Some(before), Some(after)) => format!("{field}: {} → {}", plain(before), plain(after)),
        (_, None) => format!("no {field}"),
    })
}

/// A value without the signs that only programs need.
fn plain(value: &Value) -> String {
    match (
        value.as_str(),
        value["type"].as_str(),
        value["ref"].as_str(),
    ) {
        (Some(text), ..) => text.to_string(),
        (_, Some(kind), Some(reference)) => format!("{kind} {reference}"),
        _ => value.to_string(),
    }
}
