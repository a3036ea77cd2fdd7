//! `get_recent_activity`: what happened in a project, newest first.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use understory_model::answer::{Fit, Next, Shape};
use understory_model::budget::Drop;
use understory_model::error::Result;
use understory_model::item::{EntityDelta, Item};
use understory_model::page::{Cursor, Key};
use understory_model::record::{ActivityKind, SessionDetails};
use understory_model::{Id, Seq, Time};
use understory_storage::activity::{self, Wanted};
use understory_storage::{items, workspaces};

use super::{find, project};
use crate::View;
use crate::kernel::content::session_event as event;
use crate::kernel::log::record::{changed_fields, moved, title};
use crate::kernel::versions::delta_of;

const CURSOR: &str = "records.activity";

/// What a caller asks for.
#[derive(Debug, Clone, Default)]
pub struct Asked {
    pub since: Option<Time>,
    pub types: Vec<ActivityKind>,
    pub record: Option<String>,
    pub limit: i64,
    pub cursor: Option<String>,
}

/// The answer of `get_recent_activity`.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct RecentActivity {
    /// Newest first.
    pub activity: Vec<Entry>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// The cursor of each entry.
    #[serde(skip)]
    cursors: Vec<String>,
}

/// What happened.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Entry {
    pub timestamp: Time,
    #[serde(rename = "type")]
    pub kind: ActivityKind,
    pub session_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub record_id: Option<String>,
    pub summary: String,
    pub details: Details,
}

/// Who did it, why, and what else the log keeps of it.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Details {
    pub agent: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tick: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    #[serde(flatten)]
    pub more: SessionDetails,
}

impl Fit for RecentActivity {
    const SHAPE: Shape = Shape::Page {
        list: "activity",
        drop: Drop::Last,
        cursor: "next_cursor",
    };

    fn cursor(&self, kept: usize) -> Option<Next> {
        Some(self.cursors.get(kept.checked_sub(1)?)?.clone().into())
    }
}

pub fn recent(
    view: &mut View<'_, '_>,
    named: Option<&str>,
    asked: &Asked,
) -> Result<RecentActivity> {
    super::list::check_length("types", asked.types.len())?;
    let before = match &asked.cursor {
        Some(cursor) => Cursor::decode(cursor, CURSOR)?.int(0)?,
        None => Seq::MAX,
    };
    let (home, target) = match &asked.record {
        Some(record) => {
            let thing = find(view, record)?;
            project::check_holds(view, named, &thing)?;
            (thing.entity.project, Some(thing.entity.id))
        }
        None => (project::find(view, named)?.map(|(home, _)| home.id), None),
    };
    let Some(home) = home else {
        return Ok(RecentActivity::default());
    };
    let after = after(view, asked.since)?;
    let wanted = Wanted {
        project: home,
        target,
        kinds: &asked.types,
        except: None,
        after,
        before,
        most: asked.limit + 1,
    };
    let mut found = activity::newest(view.tx, view.ws, &wanted)?;
    let more = found.len() as i64 > asked.limit;
    found.truncate(usize::try_from(asked.limit).unwrap_or(0));
    let cursors: Vec<String> = found
        .iter()
        .map(|(_, item)| cursor(CURSOR, item.seq))
        .collect();
    Ok(RecentActivity {
        activity: found.iter().map(entry).collect::<Result<_>>()?,
        next_cursor: cursors.last().filter(|_| more).cloned(),
        cursors,
    })
}

pub fn cursor(kind: &str, seq: Seq) -> String {
    Cursor::new(kind, vec![Key::from(seq)]).encode()
}

/// The place after which everything happened at or after a moment.
pub fn after(view: &mut View<'_, '_>, since: Option<Time>) -> Result<Seq> {
    let Some(since) = since else {
        return Ok(Seq::ZERO);
    };
    let end = workspaces::head(view.tx, view.ws, false)?.map_or(Seq::ZERO, |head| head.seq);
    Ok(items::first_at(view.tx, view.ws, since, end)? - 1)
}

/// The newest few of a project.
pub fn newest(view: &mut View<'_, '_>, home: Id, most: i64) -> Result<Vec<Entry>> {
    let wanted = Wanted {
        project: home,
        target: None,
        kinds: &[],
        except: None,
        after: Seq::ZERO,
        before: Seq::MAX,
        most,
    };
    activity::newest(view.tx, view.ws, &wanted)?
        .iter()
        .map(entry)
        .collect()
}

fn entry((kind, item): &(ActivityKind, Item)) -> Result<Entry> {
    let delta = delta_of(item)?;
    let details = SessionDetails::read(delta.details.as_ref());
    Ok(Entry {
        timestamp: item.realized_at,
        kind: *kind,
        session_id: item.session.clone(),
        record_id: record_of(&delta),
        summary: told(*kind, &delta, &details),
        details: Details {
            agent: item.actor.clone(),
            tick: delta.tick,
            reason: delta.reason,
            more: SessionDetails {
                // It can be as long as a record; the record's history shows it.
                proposed: None,
                ..details
            },
        },
    })
}

fn record_of(delta: &EntityDelta) -> Option<String> {
    if delta.kind == crate::kinds::RECORD {
        return Some(delta.handle.clone());
    }
    let about = delta.about.as_ref()?;
    (delta.action != event::BRANCHED).then(|| about.handle.clone())
}

/// What happened in a line.
fn told(kind: ActivityKind, delta: &EntityDelta, details: &SessionDetails) -> String {
    let about = record_of(delta).unwrap_or_default();
    let reason = delta.reason.as_deref().unwrap_or_default();
    match kind {
        ActivityKind::RecordCreated => format!("{about} created: {}", title(delta)),
        ActivityKind::RecordUpdated => {
            format!("{about} updated: {}", changed_fields(delta).join(", "))
        }
        ActivityKind::StateTransition => format!("{about} {}", moved(delta)),
        ActivityKind::Activation => format!("{about} activated"),
        ActivityKind::ConflictDetected => format!("conflict on {about}"),
        ActivityKind::ConflictResolved if details.is_empty() => {
            format!("conflict on {about} settled")
        }
        ActivityKind::ConflictResolved => format!("conflict on {about} overridden"),
        ActivityKind::SessionStarted if delta.action == event::RESUMED => "session resumed".into(),
        ActivityKind::SessionStarted => "session started".into(),
        ActivityKind::SessionBranched => {
            let from = details.parent_session.as_deref().unwrap_or_default();
            format!("session branched from {from}")
        }
        ActivityKind::SessionSaved if reason.is_empty() => "session saved".into(),
        ActivityKind::SessionSaved => format!("session saved: {reason}"),
        ActivityKind::SessionClosed if delta.action == event::ENDED => "session ended".into(),
        ActivityKind::SessionClosed if reason.is_empty() => "session closed".into(),
        ActivityKind::SessionClosed => format!("session closed: {reason}"),
    }
}
