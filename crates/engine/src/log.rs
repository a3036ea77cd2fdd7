//! The log as a person reads it: one line an item, newest first or as it grows.

use serde::Serialize;
use serde_json::Value;
use understory_model::error::Result;
use understory_model::id::item_name;
use understory_model::item::{ENTITY_DELTA, EntityDelta, Item};
use understory_model::{Id, Seq};
use understory_storage::items;

use crate::View;

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

/// What came after a place, oldest first.
pub fn since(view: &mut View<'_, '_>, after: Seq, most: i64) -> Result<Vec<Entry>> {
    Ok(items::after(view.tx, view.ws, after, most)?.iter().map(entry).collect())
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
    for change in &delta.changes {
        let before = change.before.as_ref().map_or("–".into(), Value::to_string);
        let after = change.after.as_ref().map_or("–".into(), Value::to_string);
        said.push(match &change.before {
            None => format!("{} = {after}", change.field()),
            Some(_) => format!("{}: {before} → {after}", change.field()),
        });
    }
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
