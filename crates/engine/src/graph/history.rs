//! `graph_history`: who did what to a node, and why, newest first.

use serde_json::{Map, Value, json};
use understory_model::budget::Budget;
use understory_model::error::{Code, Fault, Result};
use understory_model::item::{EntityDelta, Item};
use understory_model::page::{Cursor, Key};
use understory_storage::{entities, items};

use crate::View;
use crate::view::{Sought, no_such};

const CURSOR: &str = "graph.history";

pub fn history(
    view: &mut View<'_, '_>,
    handle: &str,
    limit: i64,
    cursor: Option<&str>,
    budget: &Budget,
) -> Result<Value> {
    let before = match cursor {
        Some(cursor) => Cursor::decode(cursor, CURSOR)?.int(0)?,
        None => i64::MAX,
    };
    // History outlives the node: one that was merged away still tells its own.
    let Some(entity) =
        entities::by_handle(view.tx, view.ws, handle)?.filter(|entity| entity.kind == "node")
    else {
        return Err(no_such(view.tx, view.ws, Sought::Node, handle)?);
    };
    let mut found = items::of_entity(view.tx, view.ws, entity.id, before, limit + 1)?;
    let more = found.len() as i64 > limit;
    found.truncate(usize::try_from(limit).unwrap_or(0));
    let cursors: Vec<String> = found
        .iter()
        .map(|item| {
            Cursor {
                kind: CURSOR.into(),
                keys: vec![Key::Int(item.seq)],
            }
            .encode()
        })
        .collect();
    let events = found.iter().map(event).collect::<Result<Vec<Value>>>()?;
    let answer = json!({ "events": events });
    Ok(crate::view::page(
        answer,
        "events",
        (&cursors, more),
        budget,
    ))
}

fn event(item: &Item) -> Result<Value> {
    let delta: EntityDelta = item
        .content
        .as_deref()
        .and_then(|content| serde_json::from_str(content).ok())
        .ok_or_else(|| {
            Fault::new(
                Code::StoreCorrupt,
                format!("item {} cannot be read", item.seq),
            )
            .hint("Run `understory verify`.")
        })?;
    let mut event = Map::new();
    event.insert("timestamp".into(), item.realized_at.to_string().into());
    event.insert("agent".into(), item.actor.clone().into());
    event.insert("action".into(), delta.action.clone().into());
    event.insert("changes".into(), changes(&delta).into());
    if let Some(reason) = delta.reason {
        event.insert("reason".into(), reason.into());
    }
    if let Some(into) = delta.gone.and_then(|gone| gone.into) {
        event.insert("merged_into".into(), into.handle.into());
    }
    Ok(Value::Object(event))
}

fn changes(delta: &EntityDelta) -> Vec<Value> {
    let change = |field: &str, before: Value, after: Value| json!({ "field": field, "before": before, "after": after });
    let mut all = Vec::new();
    for (field, value) in delta
        .data
        .iter()
        .flatten()
        .filter(|(_, value)| !is_empty(value))
    {
        all.push(change(field, Value::Null, value.clone()));
    }
    for one in &delta.changes {
        let (before, after) = (one.before.clone(), one.after.clone());
        all.push(change(
            &one.field(),
            before.unwrap_or_default(),
            after.unwrap_or_default(),
        ));
    }
    if let Some(place) = &delta.place {
        let named = |place: &Option<understory_model::item::Named>| {
            place
                .as_ref()
                .map_or(Value::Null, |named| named.handle.clone().into())
        };
        all.push(change("parent", named(&place.from), named(&place.to)));
    }
    for link in &delta.links {
        let there = Value::from(link.to.handle.clone());
        all.push(if link.remove {
            change(&link.relation, there, Value::Null)
        } else {
            change(&link.relation, Value::Null, there)
        });
    }
    all
}

/// What a new node starts with anyway is not worth a line.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Bool(set) => !set,
        Value::Array(values) => values.is_empty(),
        Value::Object(map) => map.is_empty(),
        _ => false,
    }
}
