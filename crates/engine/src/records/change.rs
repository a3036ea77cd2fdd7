//! One change of a record as a sync tells it: short values whole, long texts as a unified diff. A
//! change that is too long even so is shortened and says so, because half a change must not pass
//! for a whole one.

use serde::Serialize;
use serde_json::{Map, Value, json};
use understory_model::budget::chars;
use understory_model::error::Result;
use understory_model::item::{EntityDelta, Item};
use understory_model::merge::unified_diff;

use super::{event, fields};
use crate::versions::delta_of;

/// A text longer than this is told as a diff.
const LONG: usize = 400;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Created,
    StateChanged,
    Modified,
}

/// A change as the wire shows it.
#[derive(Debug, Clone, Serialize)]
pub struct Change {
    record_id: String,
    change_type: Kind,
    #[serde(skip_serializing_if = "Option::is_none")]
    old_value: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    new_value: Option<Value>,
    /// Long texts, each as a unified diff.
    #[serde(skip_serializing_if = "Map::is_empty")]
    diff: Map<String, Value>,
    by_session: String,
    by_agent: String,
    at_tick: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    resolved_by: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    shortened: bool,
}

/// A change, and what of it decides what was seen.
#[derive(Debug, Clone)]
pub struct Told {
    pub shown: Value,
    pub version: i64,
    pub tick: i64,
    /// Whether the answer shows all of the change.
    pub whole: bool,
}

/// Tells a change in at most so many characters, shortened where it must be.
pub fn told(kind: &str, item: &Item, most: usize) -> Result<Told> {
    let delta = delta_of(item)?;
    let (version, tick) = (delta.version, delta.tick.unwrap_or(0));
    let mut change = Change::of(kind, item, delta);
    let mut shown = json!(change);
    if chars(&shown) > most {
        change.shorten();
        shown = json!(change);
    }
    if chars(&shown) > most {
        change.leave_out_values();
        shown = json!(change);
    }
    Ok(Told {
        shown,
        version,
        tick,
        // Of a record that was made, only the head is told.
        whole: !change.shortened && change.change_type != Kind::Created,
    })
}

impl Change {
    fn of(kind: &str, item: &Item, delta: EntityDelta) -> Change {
        let mut change = Change {
            record_id: delta.handle.clone(),
            change_type: Kind::Modified,
            old_value: None,
            new_value: None,
            diff: Map::new(),
            by_session: item.session.clone(),
            by_agent: item.actor.clone(),
            at_tick: delta.tick.unwrap_or(0),
            resolved_by: None,
            reason: delta.reason.clone(),
            shortened: false,
        };
        match kind {
            event::RECORD_CREATED => change.created(&delta),
            event::STATE_TRANSITION => change.moved_on(&delta),
            _ => change.modified(&delta),
        }
        change
    }

    fn created(&mut self, delta: &EntityDelta) {
        let data = delta.data.clone().unwrap_or_default();
        self.change_type = Kind::Created;
        self.new_value = Some(json!({
            "type": fields::text(&data, "type"),
            "title": fields::text(&data, "title"),
            "state": fields::state(&data),
        }));
    }

    fn moved_on(&mut self, delta: &EntityDelta) {
        self.change_type = Kind::StateChanged;
        for change in &delta.changes {
            match change.field().as_str() {
                "state" => {
                    self.old_value.clone_from(&change.before);
                    self.new_value.clone_from(&change.after);
                }
                "resolved_by" => self.resolved_by.clone_from(&change.after),
                _ => {}
            }
        }
    }

    fn modified(&mut self, delta: &EntityDelta) {
        let (mut old, mut new) = (Map::new(), Map::new());
        for change in &delta.changes {
            let field = change.field();
            let (before, after) = (change.before.as_ref(), change.after.as_ref());
            if is_long(before) || is_long(after) {
                let name = |version: i64| format!("{} version {version}", delta.handle);
                let (from, to) = (name(delta.version - 1), name(delta.version));
                let diff = unified_diff(text(before), text(after), &from, &to);
                self.diff.insert(field, diff.into());
            } else {
                old.insert(field.clone(), before.cloned().into());
                new.insert(field, after.cloned().into());
            }
        }
        if let Some(place) = &delta.place {
            let handle = |side: &Option<understory_model::item::Named>| {
                Value::from(side.as_ref().map(|named| named.handle.clone()))
            };
            old.insert("parent_id".into(), handle(&place.from));
            new.insert("parent_id".into(), handle(&place.to));
        }
        (self.old_value, self.new_value) = (Some(old.into()), Some(new.into()));
    }

    /// Keeps the beginning of whatever is long.
    fn shorten(&mut self) {
        self.shortened = true;
        for side in [&mut self.old_value, &mut self.new_value] {
            if let Some(Value::Object(values)) = side {
                values.values_mut().for_each(shorten);
            }
        }
        self.diff.values_mut().for_each(shorten);
        if let Some(reason) = &mut self.reason {
            *reason = beginning(reason);
        }
    }

    fn leave_out_values(&mut self) {
        (self.old_value, self.new_value, self.reason) = (None, None, None);
        self.diff.clear();
    }
}

fn text(value: Option<&Value>) -> &str {
    value.and_then(Value::as_str).unwrap_or_default()
}

/// Whether a value is a text that is better told as a diff.
fn is_long(value: Option<&Value>) -> bool {
    text(value).chars().count() > LONG
}

fn shorten(value: &mut Value) {
    if let Value::String(text) = value {
        *text = beginning(text);
        return;
    }
    // Of a long list or object, the beginning of its JSON.
    let json = value.to_string();
    if json.chars().count() > LONG {
        *value = beginning(&json).into();
    }
}

fn beginning(text: &str) -> String {
    match text.char_indices().nth(LONG) {
        Some(_) => {
            let kept: String = text.chars().take(LONG - 1).collect();
            format!("{kept}…")
        }
        None => text.to_string(),
    }
}
