//! `create_record`: a new thought, under one that is active or on its own.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use understory_model::error::{Code, Fault, Result};
use understory_model::id::HandleKind;
use understory_model::item::{LinkChange, Named};
use understory_model::link::{RELATED, RESOLVED_BY};
use understory_model::record::{RecordData, RecordState};
use understory_model::text::quoted;
use understory_model::{Id, limits};
use understory_storage::sessions;

use super::seen::Versions;
use super::shape::{Echo, Record};
use super::{fields, find_to_change, session};
use crate::Work;
use crate::kernel::content::record as stored;
use crate::kernel::project;
use crate::kernel::work::Create;
use crate::kinds::EntityKind;

/// What a caller says of a new record beside its place; `create_record` and `create_records` take
/// the same fields.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct Fields {
    /// question, conclusion, note, or your own word
    #[serde(rename = "type")]
    pub kind: String,
    pub title: String,
    /// one or two sentences
    pub summary: String,
    #[schemars(extend("x-long" = true, "x-nul" = true))]
    pub body: String,
    /// default OPEN
    pub state: Option<RecordState>,
    /// for the state
    pub reason: Option<String>,
    /// what settled it, if RESOLVED
    pub resolved_by: Option<String>,
    /// ids of other records
    #[schemars(length(max = limits::LIST_LEN))]
    pub related: Option<Vec<String>>,
    pub metadata: Option<Map<String, Value>>,
}

/// A new record whose fields were checked.
#[derive(Debug, Clone)]
pub struct NewRecord {
    pub(super) parent: Option<String>,
    /// As it will be kept, except that what it names is not resolved to handles yet.
    data: RecordData,
}

impl NewRecord {
    pub fn new(parent: Option<String>, fields: Fields) -> Result<NewRecord> {
        fields::check_type(&fields.kind)?;
        fields::check_title(&fields.title)?;
        fields::check_summary(&fields.summary)?;
        fields::check_body(&fields.body)?;
        let state = fields.state.unwrap_or(RecordState::Open);
        if let Some(reason) = &fields.reason {
            fields::check_reason(reason)?;
        }
        fields::check_resolved_by(state, fields.resolved_by.as_deref())?;
        fields::check_related(fields.related.as_deref().unwrap_or_default())?;
        if let Some(metadata) = &fields.metadata {
            fields::check_metadata(metadata)?;
        }
        let data = RecordData {
            kind: fields.kind,
            title: fields.title,
            summary: fields.summary,
            body: fields.body,
            state,
            reason: fields.reason.filter(|text| !text.trim().is_empty()),
            resolved_by: fields.resolved_by,
            related: fields.related,
            metadata: fields.metadata,
            more: Map::new(),
        };
        Ok(NewRecord { parent, data })
    }

    pub(super) fn related(&self) -> &[String] {
        self.data.related()
    }

    pub(super) fn resolved_by(&self) -> Option<&str> {
        self.data.resolved_by.as_deref()
    }

    pub(super) fn state(&self) -> RecordState {
        self.data.state
    }
}

/// The answer of `create_record`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Created {
    pub record: Echo,
    pub auto_activated: bool,
}

pub fn create(
    work: &mut Work<'_, '_>,
    new: &NewRecord,
    session: Option<&str>,
    project: Option<&str>,
    seen: &Versions,
) -> Result<Created> {
    session::speak(work, session)?;
    let (home, parent) = place(work, new.parent.as_deref(), project, seen)?;
    let (related, mut links) = linked(work, new.related(), &[])?;
    if let Some(by) = new.resolved_by() {
        links.push(settled_by(work, None, home, by)?);
    }
    session::enter(work, home, None)?;
    let number = work.next_number(HandleKind::Record)?;
    let above = parent.as_ref().map(|parent| parent.handle.clone());
    let place = Place {
        handle: HandleKind::Record.handle(number),
        home,
        parent,
        related,
        resolved_by: new.data.resolved_by.clone(),
        links,
    };
    let id = make(work, new, place)?;
    Ok(Created {
        record: Record::of(work.thing(id)?, above.as_deref())?.into(),
        auto_activated: true,
    })
}

/// Where a new record goes and what it is linked to, every name in it resolved to a handle.
pub(super) struct Place {
    pub handle: String,
    pub home: Id,
    pub parent: Option<Named>,
    pub related: Vec<String>,
    pub resolved_by: Option<String>,
    pub links: Vec<LinkChange>,
}

/// Writes one record, which counts as one tick of its project.
pub(super) fn make(work: &mut Work<'_, '_>, new: &NewRecord, place: Place) -> Result<Id> {
    let related = Some(place.related).filter(|related| !related.is_empty());
    let resolved_by = place.resolved_by.filter(|by| !by.trim().is_empty());
    let data = RecordData {
        related,
        resolved_by,
        ..new.data.clone()
    };
    let tick = Some(session::next_tick(work, place.home)?);
    work.create(Create {
        kind: EntityKind::Record,
        handle: place.handle,
        project: Some(place.home),
        parent: place.parent,
        data: data.fields()?,
        links: place.links,
        tick,
    })
}

/// The project and the parent of a new record. A parent must be active, and not too deep.
pub(super) fn place(
    work: &mut Work<'_, '_>,
    parent: Option<&str>,
    named: Option<&str>,
    seen: &Versions,
) -> Result<(Id, Option<Named>)> {
    let Some(parent) = parent else {
        return Ok((project::to_write(work, named, false)?, None));
    };
    let id = find_to_change(work, parent)?;
    let home = work.thing(id)?.entity.project.unwrap_or_default();
    if let Some(named) = named
        && work.by_handle(&project::handle(named))? != Some(home)
    {
        return Err(super::project::not_in(parent, named));
    }
    let depth = under(work, id, parent, seen)?;
    check_depth(parent, depth)?;
    Ok((home, Some(work.named(id)?)))
}

/// The level that a record has under this parent, which must be active, or named with the version seen.
pub fn under(work: &mut Work<'_, '_>, parent: Id, handle: &str, seen: &Versions) -> Result<i64> {
    if seen.of(work, parent, handle)?.is_some() {
        return Ok(work.record(parent)?.map_or(0, |row| row.depth + 1));
    }
    let (ws, home) = (
        work.ws(),
        work.thing(parent)?.entity.project.unwrap_or_default(),
    );
    let lease = match session::current(work, home)? {
        Some(session) => sessions::lease(work.read()?, ws, session.id, parent)?,
        None => None,
    };
    if lease.is_none() {
        let message = format!(
            "{handle} is not active in session {}",
            quoted(&work.session)
        );
        return Err(Fault::new(Code::ParentNotActivated, message)
            .detail("parent_id", handle)
            .detail("session_id", work.session.as_str())
            .hint(format!("Activate the parent first: activate {handle}.")));
    }
    Ok(work.record(parent)?.map_or(0, |row| row.depth + 1))
}

/// Refuses a level beyond the last.
pub fn check_depth(parent: &str, depth: i64) -> Result<()> {
    if depth < limits::RECORD_DEPTH {
        return Ok(());
    }
    let message = format!(
        "{parent} is too deep: that would be level {}, and there are at most {}",
        depth + 1,
        limits::RECORD_DEPTH
    );
    Err(Fault::new(Code::DepthExceeded, message)
        .detail("limit", limits::RECORD_DEPTH)
        .hint("Consider flattening: put the record higher up and relate it to this one."))
}

/// The link to what settled a record of a project: another record of it that was not discarded.
pub fn settled_by(
    work: &mut Work<'_, '_>,
    settled: Option<Id>,
    home: Id,
    by: &str,
) -> Result<LinkChange> {
    let id = find_to_change(work, by)?;
    let thing = work.thing(id)?;
    let problem = if settled == Some(id) {
        Some(format!("{by} cannot resolve itself"))
    } else if thing.entity.project != Some(home) {
        Some(format!("{by} is in another project"))
    } else if stored::opened(thing)?.state == RecordState::Discarded {
        Some(format!("{by} was discarded"))
    } else {
        None
    };
    match problem {
        Some(problem) => Err(Fault::invalid("resolved_by", problem)
            .hint("Name the record that holds the answer; create it if there is none.")),
        None => Ok(LinkChange {
            relation: RESOLVED_BY.to_string(),
            to: work.named(id)?,
            remove: false,
        }),
    }
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
