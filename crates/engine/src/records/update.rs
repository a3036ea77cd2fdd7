//! `update_record`: a record's next version, unless another session was there first.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use understory_model::error::{Fault, Result};
use understory_model::item::Place;
use understory_model::record::{Proposed, RecordData, SessionDetails};
use understory_model::text::quoted;
use understory_model::{Id, Seq, delta};
use understory_storage::items;
use understory_storage::records::{self, Record as Row};

use super::conflicts;
use super::create::{check_depth, linked, under};
use super::others::ago;
use super::seen::{Known, Versions, known};
use super::shape::{Echo, Record};
use super::{fields, find_to_change, session};
use crate::Work;
use crate::kernel::alive::is_live;
use crate::kernel::content::{record as stored, session_event as event};
use crate::kernel::work::Edit;

/// An update whose values were checked.
#[derive(Debug, Clone)]
pub struct Update(Proposed);

/// What an update can change.
const CHANGEABLE: [&str; 7] = [
    "title",
    "summary",
    "body",
    "related",
    "metadata",
    "type",
    "parent_id",
];

impl TryFrom<Proposed> for Update {
    type Error = Fault;

    fn try_from(proposed: Proposed) -> Result<Update> {
        if let Some(kind) = &proposed.kind {
            fields::check_type(kind)?;
        }
        if let Some(title) = &proposed.title {
            fields::check_title(title)?;
        }
        if let Some(summary) = &proposed.summary {
            fields::check_summary(summary)?;
        }
        if let Some(body) = &proposed.body {
            fields::check_body(body)?;
        }
        if let Some(related) = &proposed.related {
            fields::check_related(related)?;
        }
        if let Some(metadata) = &proposed.metadata {
            fields::check_metadata(metadata)?;
        }
        if proposed.names().is_empty() {
            return Err(Fault::invalid("arguments", "nothing to change")
                .detail("allowed", &CHANGEABLE[..])
                .hint(format!("Give at least one of {}.", CHANGEABLE.join(", "))));
        }
        Ok(Update(proposed))
    }
}

/// The answer of `update_record`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Updated {
    pub record: Echo,
    /// Already so; no new version.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unchanged: bool,
    /// Another session was there first, and nothing was changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conflict: Option<Conflict>,
}

/// Who was there first, and what it wrote.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Conflict {
    pub message: String,
    /// The agent that wrote the other version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    pub other_version: Record,
}

/// The value after an update; what is not proposed stays.
fn updated(mut data: RecordData, proposed: &Proposed) -> RecordData {
    let texts = [
        (&mut data.kind, &proposed.kind),
        (&mut data.title, &proposed.title),
        (&mut data.summary, &proposed.summary),
        (&mut data.body, &proposed.body),
    ];
    for (field, new) in texts {
        if let Some(new) = new {
            field.clone_from(new);
        }
    }
    if let Some(metadata) = &proposed.metadata {
        data.metadata = Some(metadata.clone());
    }
    data
}

pub fn update(
    work: &mut Work<'_, '_>,
    handle: &str,
    Update(proposed): &Update,
    force: bool,
    named: Option<&str>,
    seen: &Versions,
) -> Result<Updated> {
    session::speak(work, named)?;
    let id = find_to_change(work, handle)?;
    let known = known(work, id, handle, seen)?;
    let session = &known.session;
    let thing = work.thing(id)?;
    let (before, version) = (thing.data.clone(), thing.entity.version);
    let data = stored::opened(thing)?;
    let related = match &proposed.related {
        Some(related) => Some(linked(work, related, data.related())?),
        None => None,
    };
    let stale = known.is_behind(version);
    if stale && !force {
        return refused(work, id, &known, proposed);
    }
    let place = match &proposed.parent_id {
        Some(parent) => new_place(work, id, parent.as_deref(), seen)?,
        None => None,
    };
    let mut data = updated(data, proposed);
    let links = match related {
        Some((related, links)) => {
            data.related = Some(related).filter(|related| !related.is_empty());
            links
        }
        None => Vec::new(),
    };
    let data = data.fields()?;
    // An update that changes nothing makes no version, takes no tick and leaves no trace.
    if place.is_none() && links.is_empty() && delta::diff(&before, &data).is_empty() {
        conflicts::settle(work, session.id, id)?;
        return Ok(Updated {
            record: whole(work, id)?.into(),
            unchanged: true,
            conflict: None,
        });
    }
    let tick = Some(session::next_tick(work, session.project)?);
    let (action, data) = (event::UPDATED, Some(data));
    work.change(
        id,
        Edit {
            action,
            data,
            place,
            links,
            tick,
            ..Edit::default()
        },
    )?;
    if stale {
        let about = work.named(id)?;
        let details = SessionDetails {
            overrode_version: Some(version),
            ..SessionDetails::default()
        };
        session::note_conflict(work, session.id, event::CONFLICT_RESOLVED, about, &details)?;
    }
    conflicts::settle(work, session.id, id)?;
    Ok(Updated {
        record: whole(work, id)?.into(),
        unchanged: false,
        conflict: None,
    })
}

/// Where a record goes, if it is not there already: under an active record of its project that is
/// not below it.
fn new_place(
    work: &mut Work<'_, '_>,
    id: Id,
    parent: Option<&str>,
    seen: &Versions,
) -> Result<Option<Place>> {
    let thing = work.thing(id)?;
    let (handle, home) = (thing.entity.handle.clone(), thing.entity.project);
    let from = thing.entity.parent;
    let to = match parent {
        Some(parent) => Some(find_to_change(work, parent)?),
        None => None,
    };
    if from == to {
        return Ok(None);
    }
    if let (Some(to), Some(parent)) = (to, parent) {
        if work.thing(to)?.entity.project != home {
            return Err(
                Fault::invalid("parent_id", format!("{parent} is in another project"))
                    .hint("A record stays in its project: choose a parent there."),
            );
        }
        let path = |row: Option<&Row>| row.map_or(String::new(), |row| row.path.clone());
        let own = path(work.record(id)?);
        if path(work.record(to)?).starts_with(&own) {
            let problem = if to == id {
                format!("{handle} cannot be its own parent")
            } else {
                format!("{parent} is below {handle}")
            };
            return Err(Fault::invalid("parent_id", problem)
                .hint("Move that one elsewhere first, or choose another parent."));
        }
        let depth = under(work, to, parent, seen)?;
        let ws = work.ws();
        let deepest = records::deepest(work.read()?, ws, home.unwrap_or_default(), &own)?;
        let row = work.record(id)?;
        let height = deepest.map_or(0, |deepest| deepest - row.map_or(0, |row| row.depth));
        check_depth(parent, depth + height)?;
    }
    let mut named = |id: Option<Id>| id.map(|id| work.named(id)).transpose();
    Ok(Some(Place {
        from: named(from)?,
        to: named(to)?,
    }))
}

pub fn whole(work: &mut Work<'_, '_>, id: Id) -> Result<Record> {
    let (thing, ws) = (work.thing(id)?.clone(), work.ws());
    Record::placed(work.read()?, ws, &thing)
}

/// The record as it is, and what was proposed kept in the log: neither side is lost.
fn refused(work: &mut Work<'_, '_>, id: Id, known: &Known, proposed: &Proposed) -> Result<Updated> {
    let (about, current) = (work.named(id)?, whole(work, id)?);
    let version = work.thing(id)?.entity.version;
    let (handle, session) = (about.handle.clone(), &known.session);
    let (message, by) = changed_by(work, id, &handle, known)?;
    let details = SessionDetails {
        proposed: Some(proposed.clone()),
        version: Some(version),
        saw: Some(known.version).filter(|saw| *saw > 0),
        ..SessionDetails::default()
    };
    session::note_conflict(work, session.id, event::CONFLICT_DETECTED, about, &details)?;
    Ok(Updated {
        record: current.clone().into(),
        unchanged: false,
        conflict: Some(Conflict {
            message: format!(
                "{message} Nothing was changed: show both versions to the user, then activate {handle} \
                 again, or update with force: true."
            ),
            by,
            other_version: current,
        }),
    })
}

/// Says who changed a record after a session last saw it, or that it never saw all of it; and who that was.
pub fn changed_by(
    work: &mut Work<'_, '_>,
    id: Id,
    handle: &str,
    known: &Known,
) -> Result<(String, Option<String>)> {
    let ws = work.ws();
    let last = items::of_entity(work.read()?, ws, id, Seq::MAX, 20)?
        .into_iter()
        .find(|item| item.session != known.session.name);
    let Some(item) = last.filter(|_| known.version > 0) else {
        let message = format!(
            "{handle} was never shown whole to this session: activate it with a larger max_chars."
        );
        return Ok((message, None));
    };
    let now = work.now;
    let alive = is_live(work.read()?, ws, &item.session, now)?;
    let state = if alive { "alive" } else { "gone" };
    let message = format!(
        "{handle} was changed by session {} of {} ({state}) at {}, {}, after this session last saw it whole.",
        quoted(&item.session),
        quoted(&item.actor),
        item.realized_at,
        ago(item.realized_at, now)
    );
    Ok((message, Some(item.actor)))
}
