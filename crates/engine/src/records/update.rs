//! `update_record`: a record's next version, unless another session was there first.

use serde_json::{Map, Value, json};
use understory_model::error::{Fault, Result};
use understory_model::item::Place;
use understory_model::text::quoted;
use understory_model::{Id, Seq, delta};
use understory_storage::items;
use understory_storage::records::{self, Record};

use super::create::{check_depth, check_related, linked, under};
use super::others::ago;
use super::seen::{Known, activated};
use super::{event, fields, find_to_change, session, shape};
use crate::Work;
use crate::presence::is_live;
use crate::work::Edit;

/// What a caller wants changed; what is `None` stays.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    /// A new parent, or none: a root.
    pub parent: Option<Option<String>>,
    pub kind: Option<String>,
    pub title: Option<String>,
    pub summary: Option<String>,
    pub body: Option<String>,
    pub related: Option<Vec<String>>,
    pub metadata: Option<Map<String, Value>>,
    pub force: bool,
}

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

pub fn check(wanted: &Wanted) -> Result<()> {
    if let Some(kind) = &wanted.kind {
        fields::check_type(kind)?;
    }
    if let Some(title) = &wanted.title {
        fields::check_title(title)?;
    }
    if let Some(summary) = &wanted.summary {
        fields::check_summary(summary)?;
    }
    if let Some(body) = &wanted.body {
        fields::check_body(body)?;
    }
    if let Some(related) = &wanted.related {
        check_related(related)?;
    }
    if let Some(metadata) = &wanted.metadata {
        fields::check_metadata(metadata)?;
    }
    if proposed(wanted).is_empty() && wanted.parent.is_none() {
        return Err(Fault::invalid("arguments", "nothing to change")
            .details(json!({ "allowed": CHANGEABLE }))
            .hint(format!("Give at least one of {}.", CHANGEABLE.join(", "))));
    }
    Ok(())
}

fn proposed(wanted: &Wanted) -> Map<String, Value> {
    let texts = [
        ("type", &wanted.kind),
        ("title", &wanted.title),
        ("summary", &wanted.summary),
        ("body", &wanted.body),
    ];
    let mut fields: Map<String, Value> = texts
        .into_iter()
        .filter_map(|(name, text)| Some((name.to_string(), text.clone()?.into())))
        .collect();
    if let Some(related) = &wanted.related {
        fields.insert("related".into(), related.clone().into());
    }
    if let Some(metadata) = &wanted.metadata {
        fields.insert("metadata".into(), metadata.clone().into());
    }
    fields
}

pub fn update(
    work: &mut Work<'_, '_>,
    handle: &str,
    wanted: &Wanted,
    named: Option<&str>,
) -> Result<Value> {
    session::speak(work, named)?;
    let id = find_to_change(work, handle)?;
    let known = activated(work, id, handle)?;
    let session = &known.session;
    let before = work.thing(id)?.data.clone();
    let related = match &wanted.related {
        Some(related) => Some(linked(work, related, &fields::related(&before))?),
        None => None,
    };
    let stale = known.is_behind(work.thing(id)?.entity.version);
    if stale && !wanted.force {
        return refused(work, id, &known, wanted);
    }
    let place = match &wanted.parent {
        Some(parent) => new_place(work, id, parent.as_deref())?,
        None => None,
    };
    let mut data = before.clone();
    data.extend(proposed(wanted));
    let links = match related {
        Some((related, links)) => {
            if related.is_empty() {
                data.remove("related");
            } else {
                data.insert("related".into(), related.into());
            }
            links
        }
        None => Vec::new(),
    };
    // What changes nothing is no version: it spends no tick and leaves no trace.
    if place.is_none() && links.is_empty() && delta::diff(&before, &data).is_empty() {
        return Ok(json!({ "record": whole(work, id)?, "unchanged": true }));
    }
    let overrode = work.thing(id)?.entity.version;
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
        let details = json!({ "overrode_version": overrode });
        session::note_conflict(work, session.id, event::CONFLICT_RESOLVED, about, details)?;
    }
    Ok(json!({ "record": whole(work, id)? }))
}

/// Where a record goes, if it is not there already: under an active record of its project that is
/// not below it.
fn new_place(work: &mut Work<'_, '_>, id: Id, parent: Option<&str>) -> Result<Option<Place>> {
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
        let path = |row: Option<&Record>| row.map_or(String::new(), |row| row.path.clone());
        let own = path(work.core.record(work.tx, id)?);
        if path(work.core.record(work.tx, to)?).starts_with(&own) {
            let problem = match to == id {
                true => format!("{handle} cannot be its own parent"),
                false => format!("{parent} is below {handle}"),
            };
            return Err(Fault::invalid("parent_id", problem)
                .hint("Move that one elsewhere first, or choose another parent."));
        }
        let depth = under(work, to, parent)?;
        work.flush()?;
        let ws = work.ws();
        let deepest = records::deepest(work.tx, ws, home.unwrap_or_default(), &own)?;
        let row = work.core.record(work.tx, id)?;
        let height = deepest.map_or(0, |deepest| deepest - row.map_or(0, |row| row.depth));
        check_depth(parent, depth + height)?;
    }
    let mut named = |id: Option<Id>| id.map(|id| work.named(id)).transpose();
    Ok(Some(Place {
        from: named(from)?,
        to: named(to)?,
    }))
}

pub fn whole(work: &mut Work<'_, '_>, id: Id) -> Result<Value> {
    let (thing, ws) = (work.thing(id)?.clone(), work.ws());
    shape::whole(work.tx, ws, &thing)
}

/// The record as it is, and what was proposed kept in the log: neither side is lost.
fn refused(work: &mut Work<'_, '_>, id: Id, known: &Known, wanted: &Wanted) -> Result<Value> {
    let (about, current) = (work.named(id)?, whole(work, id)?);
    let version = work.thing(id)?.entity.version;
    let (handle, session) = (about.handle.clone(), &known.session);
    let message = changed_by(work, id, &handle, known)?;
    let mut proposed = proposed(wanted);
    if let Some(parent) = &wanted.parent {
        proposed.insert("parent_id".into(), parent.clone().into());
    }
    let details = json!({ "proposed": proposed, "version": version });
    session::note_conflict(work, session.id, event::CONFLICT_DETECTED, about, details)?;
    Ok(json!({
        "record": current,
        "conflict": {
            "message": format!(
                "{message} Nothing was changed: show both versions to the user, then activate {handle} \
                 again, or update with force: true."
            ),
            "other_version": current,
        },
    }))
}

/// Who changed a record after a session last saw it, or that it never saw all of it.
pub fn changed_by(work: &mut Work<'_, '_>, id: Id, handle: &str, known: &Known) -> Result<String> {
    let ws = work.ws();
    let last = items::of_entity(work.tx, ws, id, Seq::MAX, 20)?
        .into_iter()
        .find(|item| item.session != known.session.name);
    Ok(match last {
        Some(item) if known.version > 0 => {
            let alive = is_live(work.tx, ws, &item.session, work.now)?;
            let state = if alive { "alive" } else { "gone" };
            format!(
                "{handle} was changed by session {} of {} ({state}) at {}, {}, after this \
                 session last saw it whole.",
                quoted(&item.session),
                quoted(&item.actor),
                item.realized_at,
                ago(item.realized_at, work.now)
            )
        }
        _ => format!(
            "{handle} was never shown whole to this session: activate it with a larger max_chars."
        ),
    })
}
