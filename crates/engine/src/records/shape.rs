//! How records look in an answer.

use serde_json::{Map, Value, json};
use understory_model::error::Result;
use understory_model::{Time, Ws};
use understory_storage::records::Record;
use understory_storage::{Tx, entities};

use super::fields;
use crate::core::Thing;

/// A record whole.
pub fn record(thing: &Thing, parent: Option<&str>) -> Value {
    of(
        &thing.data,
        &thing.entity.handle,
        parent,
        (thing.entity.created_at, thing.entity.updated_at),
    )
}

/// A record whole, as it is or as it was.
pub fn of(
    data: &Map<String, Value>,
    handle: &str,
    parent: Option<&str>,
    (created, modified): (Time, Time),
) -> Value {
    let mut shown = Map::new();
    shown.insert("id".into(), handle.into());
    for field in ["type", "title", "summary", "body", "state"] {
        shown.insert(field.into(), fields::text(data, field).into());
    }
    shown.insert("parent_id".into(), parent.into());
    shown.insert("created".into(), created.to_string().into());
    shown.insert("modified".into(), modified.to_string().into());
    for field in ["reason", "resolved_by", "related", "metadata"] {
        if let Some(value) = data.get(field) {
            shown.insert(field.into(), value.clone());
        }
    }
    Value::Object(shown)
}

/// A record whole, with its parent's handle looked up.
pub fn whole(tx: &mut Tx<'_>, ws: Ws, thing: &Thing) -> Result<Value> {
    let parent = match thing.entity.parent {
        Some(parent) => entities::get(tx, ws, parent)?.map(|parent| parent.handle),
        None => None,
    };
    Ok(record(thing, parent.as_deref()))
}

/// A record as lists show it.
pub fn reference(record: &Record) -> Value {
    let brief: Value = serde_json::from_str(&record.brief).unwrap_or_default();
    let mut shown = json!({
        "id": record.handle,
        "type": record.kind,
        "title": brief["title"],
        "summary": brief["summary"],
        "state": record.state,
        "parent_id": record.parent,
        "children_count": record.children,
        "open_children_count": record.open_children,
    });
    if let Some(reason) = brief.get("reason") {
        shown["reason"] = reason.clone();
    }
    shown
}

pub fn references(records: &[Record]) -> Vec<Value> {
    records.iter().map(reference).collect()
}
