//! `update_record`: a record's next version, unless another session was there first.

use serde_json::{Map, Value, json};
use understory_model::error::{Code, Fault, Result};
use understory_model::{Id, Seq};
use understory_storage::items;
use understory_storage::sessions::{self, Session};

use super::create::{check_related, linked};
use super::others::ago;
use super::{event, fields, find_to_change, session, shape};
use crate::Work;
use crate::presence::is_live;
use crate::work::Edit;

/// What a caller wants changed; what is `None` stays.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    pub title: Option<String>,
    pub summary: Option<String>,
    pub body: Option<String>,
    pub related: Option<Vec<String>>,
    pub metadata: Option<Map<String, Value>>,
    pub force: bool,
}

pub fn check(wanted: &Wanted) -> Result<()> {
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
    if proposed(wanted).is_empty() {
        return Err(Fault::invalid("arguments", "nothing to change")
            .details(json!({ "allowed": ["title", "summary", "body", "related", "metadata"] }))
            .hint("Give at least one of title, summary, body, related, metadata."));
    }
    Ok(())
}

fn proposed(wanted: &Wanted) -> Map<String, Value> {
    let texts = [
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
    let (session, seen) = activated(work, id, handle)?;
    let before = work.thing(id)?.data.clone();
    let related = match &wanted.related {
        Some(related) => Some(linked(work, related, &fields::related(&before))?),
        None => None,
    };
    let stale = work
        .core
        .record(work.tx, id)?
        .is_some_and(|row| row.changed > seen);
    if stale && !wanted.force {
        return refused(work, id, &session, wanted);
    }
    let mut data = before;
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
    let overrode = work.thing(id)?.entity.version;
    let tick = Some(session::next_tick(work, session.project)?);
    let (action, data) = (event::UPDATED, Some(data));
    work.change(
        id,
        Edit {
            action,
            data,
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

pub fn whole(work: &mut Work<'_, '_>, id: Id) -> Result<Value> {
    let (thing, ws) = (work.thing(id)?.clone(), work.ws());
    shape::whole(work.tx, ws, &thing)
}

/// The session that holds a record, and the item up to which it knows that record.
pub fn activated(work: &mut Work<'_, '_>, id: Id, handle: &str) -> Result<(Session, Seq)> {
    let (ws, home) = (
        work.ws(),
        work.thing(id)?.entity.project.unwrap_or_default(),
    );
    if let Some(session) = session::current(work, home)?
        && let Some(lease) = sessions::lease(work.tx, ws, session.id, id)?
    {
        let seen = lease.seen.max(session.synced);
        return Ok((session, seen));
    }
    let message = format!("{handle} is not active in session {}", work.session);
    Err(Fault::new(Code::NotActivated, message)
        .details(json!({ "id": handle, "session_id": work.session }))
        .hint(format!("Call activate first: activate {handle}.")))
}

/// The record as it is, and what was proposed kept in the log: neither side is lost.
fn refused(work: &mut Work<'_, '_>, id: Id, session: &Session, wanted: &Wanted) -> Result<Value> {
    let (about, current) = (work.named(id)?, whole(work, id)?);
    let version = work.thing(id)?.entity.version;
    let message = changed_by(work, id, &about.handle, &session.name)?;
    let details = json!({ "proposed": proposed(wanted), "version": version });
    session::note_conflict(work, session.id, event::CONFLICT_DETECTED, about, details)?;
    Ok(json!({
        "record": current,
        "conflict": {
            "message": format!(
                "{message} Nothing was changed: show both versions to the user, then update with \
                 force: true."
            ),
            "other_version": current,
        },
    }))
}

/// Who changed a record last, besides a session.
pub fn changed_by(work: &mut Work<'_, '_>, id: Id, handle: &str, own: &str) -> Result<String> {
    let ws = work.ws();
    let last = items::of_entity(work.tx, ws, id, Seq::MAX, 20)?
        .into_iter()
        .find(|item| item.session != own);
    Ok(match last {
        Some(item) => {
            let alive = is_live(work.tx, ws, &item.session, work.now)?;
            let state = if alive { "alive" } else { "gone" };
            format!(
                "{handle} was changed by session {:?} of {:?} ({state}) at {}, {}, after this \
                 session last saw it.",
                item.session,
                item.actor,
                item.realized_at,
                ago(item.realized_at, work.now)
            )
        }
        None => format!("{handle} was changed after this session last saw it."),
    })
}
