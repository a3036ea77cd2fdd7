//! One change of a record as a sync tells it: short values whole, long texts as a unified diff. A
//! change that is too long even so is shortened and says so, because half a change must not pass
//! for a whole one.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use understory_model::budget::chars_of;
use understory_model::error::Result;
use understory_model::item::{EntityDelta, Item, Named};
use understory_model::merge::unified_diff;
use understory_model::record::{ActivityKind, RecordData, RecordState};

use crate::kernel::versions::delta_of;

/// A text longer than this is told as a diff.
const LONG: usize = 400;

/// What was done to the record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ChangeType {
    Created,
    StateChanged,
    Modified,
}

/// A change as the wire shows it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Change {
    pub record_id: String,
    pub change_type: ChangeType,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old_value: Option<Side>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new_value: Option<Side>,
    /// Long texts, each as a unified diff.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub diff: BTreeMap<String, String>,
    pub by_session: String,
    pub by_agent: String,
    pub at_tick: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolved_by: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Only the beginning is told, which does not count as seen.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shortened: bool,
}

/// One side of a change.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Side {
    /// Of a change of state.
    State(RecordState),
    /// Of a record that was made, its head.
    Made {
        #[serde(rename = "type")]
        kind: String,
        title: String,
        state: RecordState,
    },
    /// Of a modified record, each changed field; null where it was not there.
    Fields(Map<String, Value>),
}

/// A change, and what of it decides what was seen.
#[derive(Debug, Clone)]
pub struct Told {
    pub shown: Change,
    pub version: i64,
    pub tick: i64,
    /// Whether the answer shows all of the change.
    pub whole: bool,
}

/// Tells a change in at most this many characters, shortened where it must be.
pub fn told(kind: ActivityKind, item: &Item, most: usize) -> Result<Told> {
    let delta = delta_of(item)?;
    let (version, tick) = (delta.version, delta.tick.unwrap_or(0));
    let mut change = Change::of(kind, item, delta);
    if chars_of(&change) > most {
        change.shorten();
    }
    if chars_of(&change) > most {
        change.leave_out_values();
    }
    Ok(Told {
        version,
        tick,
        // Of a record that was made, only the head is told.
        whole: !change.shortened && change.change_type != ChangeType::Created,
        shown: change,
    })
}

impl Change {
    fn of(kind: ActivityKind, item: &Item, delta: EntityDelta) -> Change {
        let mut change = Change {
            record_id: delta.handle.clone(),
            change_type: ChangeType::Modified,
            old_value: None,
            new_value: None,
            diff: BTreeMap::new(),
            by_session: item.session.clone(),
            by_agent: item.actor.clone(),
            at_tick: delta.tick.unwrap_or(0),
            resolved_by: None,
            reason: delta.reason.clone(),
            shortened: false,
        };
        match kind {
            ActivityKind::RecordCreated => change.created(&delta),
            ActivityKind::StateTransition => change.moved_on(&delta),
            ActivityKind::RecordUpdated
            | ActivityKind::SessionStarted
            | ActivityKind::SessionSaved
            | ActivityKind::SessionClosed
            | ActivityKind::SessionBranched
            | ActivityKind::Activation
            | ActivityKind::ConflictDetected
            | ActivityKind::ConflictResolved => change.modified(&delta),
        }
        change
    }

    fn created(&mut self, delta: &EntityDelta) {
        self.change_type = ChangeType::Created;
        let data = delta.data.as_ref().and_then(RecordData::read);
        self.new_value = data.map(|data| Side::Made {
            kind: data.kind,
            title: data.title,
            state: data.state,
        });
    }

    fn moved_on(&mut self, delta: &EntityDelta) {
        self.change_type = ChangeType::StateChanged;
        let word = |side: &Option<Value>| Some(side.as_ref()?.as_str()?.to_string());
        let state = |side: &Option<Value>| RecordState::parse(&word(side)?).map(Side::State);
        for change in &delta.changes {
            match change.field().as_str() {
                "state" => {
                    self.old_value = state(&change.before);
                    self.new_value = state(&change.after);
                }
                "resolved_by" => self.resolved_by = word(&change.after),
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
                self.diff.insert(field, diff);
            } else {
                old.insert(field.clone(), before.cloned().into());
                new.insert(field, after.cloned().into());
            }
        }
        if let Some(place) = &delta.place {
            let handle =
                |side: &Option<Named>| Value::from(side.as_ref().map(|named| named.handle.clone()));
            old.insert("parent_id".into(), handle(&place.from));
            new.insert("parent_id".into(), handle(&place.to));
        }
        (self.old_value, self.new_value) = (Some(Side::Fields(old)), Some(Side::Fields(new)));
    }

    /// Keeps the beginning of whatever is long.
    fn shorten(&mut self) {
        self.shortened = true;
        for side in [&mut self.old_value, &mut self.new_value] {
            match side {
                Some(Side::Fields(values)) => values.values_mut().for_each(shorten),
                Some(Side::Made { kind, title, .. }) => {
                    *kind = beginning(kind);
                    *title = beginning(title);
                }
                Some(Side::State(_)) | None => {}
            }
        }
        for diff in self.diff.values_mut() {
            *diff = beginning(diff);
        }
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
