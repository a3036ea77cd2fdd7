//! `graph_history`: who did what to a node, and why, newest first.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use understory_model::answer::{Fit, Next, Shape};
use understory_model::budget::Drop;
use understory_model::error::{Code, Fault, Result};
use understory_model::item::{EntityDelta, Item, Named};
use understory_model::page::{Cursor, Key};
use understory_model::{Seq, Time};
use understory_storage::{entities, items};

use crate::View;
use crate::kernel::view::{Sought, no_such};

const CURSOR: &str = "graph.history";

/// The answer of `graph_history`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct History {
    /// Newest first.
    pub events: Vec<Event>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// The cursor of each event.
    #[serde(skip)]
    pub cursors: Vec<String>,
}

/// What somebody did to a node.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Event {
    pub timestamp: Time,
    pub agent: String,
    /// created, updated, claimed, released, resolved, reopened, moved, merged or dropped.
    pub action: String,
    pub changes: Vec<Change>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merged_into: Option<String>,
}

/// A field, or an edge by its type, before and after; null where it was not there.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Change {
    pub field: String,
    pub before: Value,
    pub after: Value,
}

impl Change {
    fn new(field: &str, before: impl Into<Value>, after: impl Into<Value>) -> Change {
        Change {
            field: field.to_string(),
            before: before.into(),
            after: after.into(),
        }
    }
}

impl Fit for History {
    const SHAPE: Shape = Shape::Page {
        list: "events",
        drop: Drop::Last,
        cursor: "next_cursor",
    };

    fn cursor(&self, kept: usize) -> Option<Next> {
        Some(self.cursors.get(kept.checked_sub(1)?)?.clone().into())
    }
}

pub fn history(
    view: &mut View<'_, '_>,
    handle: &str,
    limit: i64,
    cursor: Option<&str>,
) -> Result<History> {
    let before = match cursor {
        Some(cursor) => Cursor::decode(cursor, CURSOR)?.int(0)?,
        None => Seq::MAX,
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
                keys: vec![Key::from(item.seq)],
            }
            .encode()
        })
        .collect();
    Ok(History {
        events: found.iter().map(event).collect::<Result<_>>()?,
        next_cursor: cursors.last().filter(|_| more).cloned(),
        cursors,
    })
}

fn event(item: &Item) -> Result<Event> {
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
    Ok(Event {
        timestamp: item.realized_at,
        agent: item.actor.clone(),
        changes: changes(&delta),
        action: delta.action,
        reason: delta.reason,
        merged_into: delta
            .gone
            .and_then(|gone| gone.into)
            .map(|into| into.handle),
    })
}

fn changes(delta: &EntityDelta) -> Vec<Change> {
    let mut all = Vec::new();
    for (field, value) in delta
        .data
        .iter()
        .flatten()
        .filter(|(_, value)| !is_empty(value))
    {
        all.push(Change::new(field, Value::Null, value.clone()));
    }
    for one in &delta.changes {
        all.push(Change::new(
            &one.field(),
            one.before.clone(),
            one.after.clone(),
        ));
    }
    if let Some(place) = &delta.place {
        let named = |place: &Option<Named>| place.as_ref().map(|named| named.handle.clone());
        all.push(Change::new("parent", named(&place.from), named(&place.to)));
    }
    for link in &delta.links {
        let there = link.to.handle.clone();
        all.push(if link.remove {
            Change::new(&link.relation, there, Value::Null)
        } else {
            Change::new(&link.relation, Value::Null, there)
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
