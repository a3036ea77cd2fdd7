//! Updates of records that were refused and that nobody settled yet: both versions exist, and somebody
//! has to choose.
//!
//! A refused update is settled by a change that names it as its cause, even one that leaves the record
//! as it is, and by whoever was refused, with another change of the record. It asks for nothing any more
//! where the record has come to say what it proposed.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use understory_model::error::Result;
use understory_model::id::item_name;
use understory_model::item::Item;
use understory_model::record::{ActivityKind, Proposed, RecordData, SessionDetails};
use understory_model::{Id, Seq, Time};
use understory_storage::activity::{self, Wanted};
use understory_storage::{entities, items};

use super::{find, project, session};
use crate::kernel::content::{record as stored, session_event as event};
use crate::kernel::core::Thing;
use crate::kernel::versions::delta_of;
use crate::{View, Work};

/// Conflicts of a project, or of a record, that are looked at: the newest.
const LOOKED_AT: i64 = 200;
/// Refused updates among them that are shown.
const SHOWN: usize = 50;
/// Changes of a record after a refusal among which one by the refused is looked for.
const LATER: i64 = 50;

const KINDS: [ActivityKind; 2] = [
    ActivityKind::ConflictDetected,
    ActivityKind::ConflictResolved,
];

/// An update that was refused, because the record had moved on.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Refused {
    /// The item of the refusal, which a change that settles it names in `caused_by`.
    pub item: String,
    pub record: String,
    pub title: String,
    pub agent: String,
    pub session_id: String,
    pub at: Time,
    /// The version that it began from; absent where that was not kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub saw: Option<i64>,
    /// The version that was in force.
    pub version: i64,
    pub proposed: Proposed,
}

/// The open ones of a project, the newest first.
pub fn open(view: &mut View<'_, '_>, named: Option<&str>) -> Result<Vec<Refused>> {
    let Some((home, _)) = project::find(view, named)? else {
        return Ok(Vec::new());
    };
    unsettled(view, home.id, None)
}

/// The open ones of a record, the newest first.
pub fn of_record(view: &mut View<'_, '_>, handle: &str) -> Result<Vec<Refused>> {
    let thing = find(view, handle)?;
    let home = thing.entity.project.unwrap_or_default();
    unsettled(view, home, Some(thing.entity.id))
}

fn unsettled(view: &mut View<'_, '_>, project: Id, target: Option<Id>) -> Result<Vec<Refused>> {
    let wanted = Wanted {
        project,
        target,
        kinds: &KINDS,
        except: None,
        after: Seq::ZERO,
        before: Seq::MAX,
        most: LOOKED_AT,
    };
    let found = activity::newest(view.tx, view.ws, &wanted)?;
    let resolved = found
        .iter()
        .filter(|(kind, _)| *kind == ActivityKind::ConflictResolved);
    let settled: BTreeSet<Seq> = resolved.filter_map(|(_, item)| item.cause).collect();
    let mut open = Vec::new();
    for (kind, item) in &found {
        if *kind != ActivityKind::ConflictDetected || settled.contains(&item.seq) {
            continue;
        }
        if let Some(refused) = waits(view, item)? {
            open.push(refused);
        }
        if open.len() == SHOWN {
            break;
        }
    }
    Ok(open)
}

/// The refused update that an item is about, unless nothing is left to choose.
fn waits(view: &mut View<'_, '_>, item: &Item) -> Result<Option<Refused>> {
    let (Some((id, details)), (tx, ws)) = (refusal(item)?, (&mut *view.tx, view.ws)) else {
        return Ok(None);
    };
    let Some(proposed) = details.proposed else {
        return Ok(None);
    };
    let later = items::of_entity_after(tx, ws, id, item.seq, LATER)?;
    if later.iter().any(|change| change.actor == item.actor) {
        return Ok(None);
    }
    let Some(entity) = entities::get(tx, ws, id)? else {
        return Ok(None);
    };
    let parent = match entity.parent {
        Some(parent) => entities::get(tx, ws, parent)?.map(|parent| parent.handle),
        None => None,
    };
    let thing = Thing::open(entity)?;
    let data = stored::opened(&thing)?;
    if says(&data, parent, &proposed) {
        return Ok(None);
    }
    Ok(Some(Refused {
        item: item_name(&item.uuid),
        record: thing.entity.handle,
        title: data.title,
        agent: item.actor.clone(),
        session_id: item.session.clone(),
        at: item.realized_at,
        saw: details.saw,
        version: details.version.unwrap_or_default(),
        proposed,
    }))
}

/// The record that a refused update was about, and what the log keeps of it.
fn refusal(item: &Item) -> Result<Option<(Id, SessionDetails)>> {
    // What was erased asks for nothing.
    if item.content.is_none() {
        return Ok(None);
    }
    let delta = delta_of(item)?;
    if delta.action != event::CONFLICT_DETECTED {
        return Ok(None);
    }
    let details = SessionDetails::read(delta.details.as_ref());
    let about = delta.about.map(|about| about.id);
    Ok(about
        .filter(|_| details.proposed.is_some())
        .map(|about| (about, details)))
}

/// Whether a record says all that an update proposed.
fn says(data: &RecordData, parent: Option<String>, proposed: &Proposed) -> bool {
    let same =
        |wanted: &Option<String>, is: &str| wanted.as_deref().is_none_or(|wanted| wanted == is);
    same(&proposed.kind, &data.kind)
        && same(&proposed.title, &data.title)
        && same(&proposed.summary, &data.summary)
        && same(&proposed.body, &data.body)
        && proposed
            .related
            .as_deref()
            .is_none_or(|related| related == data.related())
        && proposed
            .metadata
            .as_ref()
            .is_none_or(|metadata| Some(metadata) == data.metadata.as_ref())
        && proposed
            .parent_id
            .as_ref()
            .is_none_or(|wanted| *wanted == parent)
}

/// Notes that this write settles the refused update of a record that it names as its cause, if it does.
pub fn settle(work: &mut Work<'_, '_>, session: Id, record: Id) -> Result<()> {
    let (Some(cause), ws) = (work.cause(), work.ws()) else {
        return Ok(());
    };
    let Some(item) = items::get(work.read()?, ws, cause)? else {
        return Ok(());
    };
    if item.entity.is_none() {
        return Ok(());
    }
    if !matches!(refusal(&item), Ok(Some((about, _))) if about == record) {
        return Ok(());
    }
    let about = work.named(record)?;
    let details = SessionDetails::default();
    session::note_conflict(work, session, event::CONFLICT_RESOLVED, about, &details)
}
