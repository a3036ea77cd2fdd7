//! `create_record`: a new thought, under one that is active or on its own.

use serde_json::{Map, Value, json};
use understory_model::error::{Code, Fault, Result};
use understory_model::id::HandleKind;
use understory_model::item::{LinkChange, Named};
use understory_model::limits;
use understory_model::link::RELATED;
use understory_storage::sessions;

use super::{fields, find_to_change, session, shape};
use crate::projection::RECORD;
use crate::work::Create;
use crate::{Work, project};

/// What a caller says of a new record.
#[derive(Debug, Clone)]
pub struct NewRecord {
    pub parent: Option<String>,
    pub kind: String,
    pub title: String,
    pub summary: String,
    pub body: String,
    pub state: String,
    pub related: Vec<String>,
    pub metadata: Option<Map<String, Value>>,
}

pub fn check(new: &NewRecord) -> Result<()> {
    fields::check_type(&new.kind)?;
    fields::check_title(&new.title)?;
    fields::check_summary(&new.summary)?;
    fields::check_body(&new.body)?;
    fields::check_state("state", &new.state)?;
    check_related(&new.related)?;
    match &new.metadata {
        Some(metadata) => fields::check_metadata(metadata),
        None => Ok(()),
    }
}

pub fn check_related(related: &[String]) -> Result<()> {
    if related.len() > limits::LIST_LEN {
        let problem = format!(
            "has {} entries; at most {} fit",
            related.len(),
            limits::LIST_LEN
        );
        return Err(Fault::invalid("related", problem));
    }
    Ok(())
}

pub fn create(
    work: &mut Work<'_, '_>,
    new: &NewRecord,
    session: Option<&str>,
    project: Option<&str>,
) -> Result<Value> {
    session::speak(work, session)?;
    let (home, parent) = place(work, new, project)?;
    let (related, links) = linked(work, &new.related, &[])?;
    if new.state == fields::RESOLVED {
        return Err(Fault::invalid("state", "a record cannot begin RESOLVED")
            .hint("Create it OPEN, then transition it with resolved_by."));
    }
    session::enter(work, home, None)?;
    let mut data = Map::new();
    data.insert("type".into(), new.kind.clone().into());
    data.insert("title".into(), new.title.clone().into());
    data.insert("summary".into(), new.summary.clone().into());
    data.insert("body".into(), new.body.clone().into());
    data.insert("state".into(), new.state.clone().into());
    if !related.is_empty() {
        data.insert("related".into(), related.into());
    }
    if let Some(metadata) = &new.metadata {
        data.insert("metadata".into(), Value::Object(metadata.clone()));
    }
    let number = work.core.next_number(work.tx, HandleKind::Record)?;
    let tick = Some(session::next_tick(work, home)?);
    let id = work.create(Create {
        kind: RECORD,
        handle: HandleKind::Record.handle(number),
        project: Some(home),
        parent: parent.clone(),
        data,
        links,
        tick,
    })?;
    let record = shape::record(
        work.thing(id)?,
        parent.as_ref().map(|at| at.handle.as_str()),
    );
    Ok(json!({ "record": record, "auto_activated": true }))
}

/// The project and the parent of a new record. A parent must be active, and not too deep.
fn place(
    work: &mut Work<'_, '_>,
    new: &NewRecord,
    named: Option<&str>,
) -> Result<(understory_model::Id, Option<Named>)> {
    let Some(parent) = &new.parent else {
        return Ok((project::to_write(work, named, false)?, None));
    };
    let id = find_to_change(work, parent)?;
    let home = work.thing(id)?.entity.project.unwrap_or_default();
    if let Some(named) = named
        && work.core.by_handle(work.tx, &project::handle(named))? != Some(home)
    {
        return Err(
            Fault::invalid("project_id", format!("{parent} is not in {named}"))
                .hint("Leave project_id out: a record lives where its parent does."),
        );
    }
    let ws = work.ws();
    let lease = match session::current(work, home)? {
        Some(session) => sessions::lease(work.tx, ws, session.id, id)?,
        None => None,
    };
    if lease.is_none() {
        let message = format!("{parent} is not active in session {}", work.session);
        return Err(Fault::new(Code::ParentNotActivated, message)
            .details(json!({ "parent_id": parent, "session_id": work.session }))
            .hint(format!("Activate the parent first: activate {parent}.")));
    }
    let depth = work
        .core
        .record(work.tx, id)?
        .map_or(0, |row| row.depth + 1);
    if depth >= limits::RECORD_DEPTH {
        let message = format!(
            "{parent} is at level {depth}; there are at most {}",
            limits::RECORD_DEPTH
        );
        return Err(Fault::new(Code::DepthExceeded, message)
            .details(json!({ "limit": limits::RECORD_DEPTH }))
            .hint("Consider flattening: put the record higher up and relate it to this one."));
    }
    Ok((home, Some(work.named(id)?)))
}

/// The related records, each once, and what of their links changes. All must exist.
pub fn linked(
    work: &mut Work<'_, '_>,
    related: &[String],
    before: &[String],
) -> Result<(Vec<String>, Vec<LinkChange>)> {
    let mut now: Vec<String> = Vec::new();
    let mut links = Vec::new();
    let relation = || RELATED.to_string();
    for handle in related {
        let to = find_to_change(work, handle)?;
        if now.contains(handle) {
            continue;
        }
        now.push(handle.clone());
        if !before.contains(handle) {
            links.push(LinkChange {
                relation: relation(),
                to: work.named(to)?,
                remove: false,
            });
        }
    }
    for handle in before.iter().filter(|handle| !now.contains(handle)) {
        let to = find_to_change(work, handle)?;
        links.push(LinkChange {
            relation: relation(),
            to: work.named(to)?,
            remove: true,
        });
    }
    Ok((now, links))
}
