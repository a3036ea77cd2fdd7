//! `get_record_history`: every change of a record, newest first, and what was proposed and refused.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use understory_model::answer::{Fit, Next, Shape};
use understory_model::budget::{Budget, Drop, chars_of};
use understory_model::error::Result;
use understory_model::id::item_name;
use understory_model::item::{EntityDelta, Item, Named};
use understory_model::merge::unified_diff;
use understory_model::page::Cursor;
use understory_model::record::{ActivityKind, Proposed, SessionDetails};
use understory_model::{Seq, Time};
use understory_storage::activity::{self, Wanted};

use super::activity::{after, cursor};
use super::find;
use crate::View;
use crate::kernel::content::record as stored;
use crate::kernel::core::Thing;
use crate::kernel::log::record::{changed_fields, moved, title};
use crate::kernel::versions::{self, delta_of};

const CURSOR: &str = "records.history";

/// What a history consists of.
const KINDS: [ActivityKind; 5] = [
    ActivityKind::RecordCreated,
    ActivityKind::RecordUpdated,
    ActivityKind::StateTransition,
    ActivityKind::ConflictDetected,
    ActivityKind::ConflictResolved,
];

/// The answer of `get_record_history`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct History {
    /// Newest first.
    pub history: Vec<Entry>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// The cursor of each entry.
    #[serde(skip)]
    cursors: Vec<String>,
}

/// A change of the record, or one that was refused.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Entry {
    pub timestamp: Time,
    pub session_id: String,
    pub agent: String,
    pub change_type: ActivityKind,
    /// The version that it made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<i64>,
    pub summary: String,
    /// What changed in the body, or would have, as a unified diff.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    /// The update that was refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proposed: Option<Proposed>,
    /// With `values`: what changed, or would have.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<FieldChange>,
    /// With `values`: the item that says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item: Option<String>,
}

/// A field before and after a change; null where it had no value.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct FieldChange {
    pub field: String,
    pub before: Option<Value>,
    pub after: Option<Value>,
}

/// What a caller asks for.
#[derive(Debug, Clone, Default)]
pub struct Asked {
    pub since: Option<Time>,
    pub limit: i64,
    pub cursor: Option<String>,
    /// Also what each field was and became.
    pub values: bool,
}

impl Fit for History {
    const SHAPE: Shape = Shape::Page {
        list: "history",
        drop: Drop::Last,
        cursor: "next_cursor",
    };

    fn cursor(&self, kept: usize) -> Option<Next> {
        Some(self.cursors.get(kept.checked_sub(1)?)?.clone().into())
    }
}

/// The changes of a record; the budget says how many are compared.
pub fn history(
    view: &mut View<'_, '_>,
    handle: &str,
    asked: &Asked,
    budget: &Budget,
) -> Result<History> {
    let limit = asked.limit;
    let before = match &asked.cursor {
        Some(from) => Cursor::decode(from, CURSOR)?.int(0)?,
        None => Seq::MAX,
    };
    let thing = find(view, handle)?;
    let wanted = Wanted {
        project: thing.entity.project.unwrap_or_default(),
        target: Some(thing.entity.id),
        kinds: &KINDS,
        except: None,
        after: after(view, asked.since)?,
        before,
        most: limit + 1,
    };
    let mut found = activity::newest(view.tx, view.ws, &wanted)?;
    let mut more = found.len() as i64 > limit;
    found.truncate(usize::try_from(limit).unwrap_or(0));
    let (mut history, mut cursors) = (Vec::new(), Vec::new());
    let mut size = 0;
    for (kind, item) in &found {
        // What cannot fit any more need not be compared: a diff of long bodies takes its time.
        if size > budget.chars {
            more = true;
            break;
        }
        let mut entry = entry(view, &thing, *kind, item)?;
        if asked.values {
            entry.item = Some(item_name(&item.uuid));
            entry.changes = changes(&delta_of(item)?);
        }
        size += chars_of(&entry);
        history.push(entry);
        cursors.push(cursor(CURSOR, item.seq));
    }
    Ok(History {
        history,
        next_cursor: cursors.last().filter(|_| more).cloned(),
        cursors,
    })
}

fn entry(view: &mut View<'_, '_>, thing: &Thing, kind: ActivityKind, item: &Item) -> Result<Entry> {
    let delta = delta_of(item)?;
    let details = SessionDetails::read(delta.details.as_ref());
    let mut entry = Entry {
        timestamp: item.realized_at,
        session_id: item.session.clone(),
        agent: item.actor.clone(),
        change_type: kind,
        version: ActivityKind::CHANGES
            .contains(&kind)
            .then_some(delta.version),
        summary: told(kind, &delta, &details),
        diff: body_diff(&delta),
        proposed: None,
        changes: Vec::new(),
        item: None,
    };
    if kind == ActivityKind::ConflictDetected
        && let Some(proposed) = details.proposed
    {
        if let Some(body) = &proposed.body {
            let handle = &thing.entity.handle;
            let there = match versions::at(view.tx, view.ws, thing, item.seq)? {
                Some(version) => stored::read(&version.data, handle)?.body,
                None => String::new(),
            };
            entry.diff = Some(unified_diff(&there, body, "there", "proposed"));
        }
        entry.proposed = Some(proposed);
    }
    Ok(entry)
}

fn told(kind: ActivityKind, delta: &EntityDelta, details: &SessionDetails) -> String {
    match kind {
        ActivityKind::RecordCreated => format!("created: {}", title(delta)),
        ActivityKind::RecordUpdated => format!("changed {}", changed_fields(delta).join(", ")),
        ActivityKind::StateTransition => moved(delta),
        ActivityKind::ConflictDetected => match (&details.proposed, details.to_state) {
            (Some(proposed), _) => format!(
                "an update of {} met a newer version and was refused",
                proposed.names().join(", ")
            ),
            (None, Some(state)) => {
                format!("a change to {state} met a newer state and was refused")
            }
            (None, None) => "activated while active in another session".into(),
        },
        ActivityKind::ConflictResolved if details.is_empty() => {
            "a refused update was settled".into()
        }
        ActivityKind::ConflictResolved
        | ActivityKind::Activation
        | ActivityKind::SessionStarted
        | ActivityKind::SessionSaved
        | ActivityKind::SessionClosed
        | ActivityKind::SessionBranched => match details.overrode_version {
            Some(version) => format!("version {version} was overridden"),
            None => "activated in spite of another session".into(),
        },
    }
}

/// Each field that a change set, without the fields that say how it is kept.
fn changes(delta: &EntityDelta) -> Vec<FieldChange> {
    let fields = delta.changes.iter().map(|change| FieldChange {
        field: change.field(),
        before: change.before.clone(),
        after: change.after.clone(),
    });
    let handle = |side: &Option<Named>| side.as_ref().map(|named| named.handle.clone().into());
    let moved = delta.place.iter().filter(|_| delta.data.is_none());
    let moved = moved.map(|place| FieldChange {
        field: "parent_id".into(),
        before: handle(&place.from),
        after: handle(&place.to),
    });
    fields.chain(moved).collect()
}

/// What changed in the body, as a unified diff.
fn body_diff(delta: &EntityDelta) -> Option<String> {
    let change = delta
        .changes
        .iter()
        .find(|change| change.field() == "body")?;
    let side = |side: &Option<Value>| {
        let text = side.as_ref().and_then(Value::as_str);
        text.unwrap_or_default().to_string()
    };
    let (old, new) = (delta.version - 1, delta.version);
    let (before, after) = (side(&change.before), side(&change.after));
    let name = |version: i64| format!("{} version {version}", delta.handle);
    Some(unified_diff(&before, &after, &name(old), &name(new)))
}
