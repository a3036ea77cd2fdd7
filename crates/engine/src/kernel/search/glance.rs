//! What a thing is in one line: for completing its name, for a preview of it, and beside what a search
//! found.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use understory_model::error::Result;
use understory_model::item::Item;
use understory_model::refs::{is_fragment_id, parse_lines};
use understory_model::text::cut;
use understory_model::{Id, Time};
use understory_storage::nodes::{self, Standing};
use understory_storage::{entities, items, threads};

use super::candidates::{self, Candidate};
use crate::View;
use crate::kernel::access::Reader;
use crate::kernel::content::{message, node, record};
use crate::kernel::core::Thing;
use crate::kernel::names::{self, Found};
use crate::kernel::titles::PREVIEW;
use crate::kernel::{artifact, parts};
use crate::kinds::EntityKind;

/// What sort of thing it is, as far as people tell them apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Sort {
    Task,
    Record,
    Thread,
    Message,
    Document,
    /// Of a document.
    Line,
    Conversation,
    Proposal,
    Reasoning,
    Wake,
    /// Part of what was said.
    Part,
    Project,
    Agent,
    /// Anything else in the log.
    Item,
}

/// A thing in one line.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Glance {
    /// How a text refers to it.
    pub name: String,
    pub sort: Sort,
    pub title: String,
    /// Where it stands, in words: `ready`, `done`, `open`, `disputed`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// Who made or wrote it, or has it in hand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Time>,
    /// Of a message, its thread and its number there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<i64>,
}

impl Glance {
    pub fn new(name: impl Into<String>, sort: Sort, title: impl AsRef<str>) -> Glance {
        Glance {
            name: name.into(),
            sort,
            title: cut(title.as_ref().trim(), PREVIEW),
            state: None,
            by: None,
            at: None,
            thread: None,
            number: None,
        }
    }
}

/// What has a name; nothing for what is not there, or may not be read.
pub fn glance(view: &mut View<'_, '_>, name: &str) -> Result<Option<Glance>> {
    let scope = view.scope(None)?;
    if let Some(lines) = parse_lines(name) {
        if let Some(found) = artifact::lines_at(view.tx, scope, &lines)? {
            return Ok(Some(of_line(view, name, &found)?));
        }
        return Ok(None);
    }
    if is_fragment_id(name) {
        let part = parts::newest(view.tx, scope, name)?;
        return Ok(part.map(|part| of_part(name, &part.content, &part.item)));
    }
    let id = match names::look(view.tx, scope, name)? {
        Some(Found::Entity(entity)) => entity.id,
        Some(Found::Item(item)) => Id::of(item.seq),
        Some(Found::Relation(..)) | None => return Ok(None),
    };
    of_id(view, id)
}

pub(super) fn of_part(name: &str, content: &str, item: &Item) -> Glance {
    Glance {
        by: Some(item.actor.clone()),
        at: Some(item.realized_at),
        ..Glance::new(name, Sort::Part, content)
    }
}

fn of_line(view: &mut View<'_, '_>, name: &str, found: &artifact::LinesAt) -> Result<Glance> {
    let newest = found.newest();
    let item = items::get(view.tx, view.ws, newest.by.seq)?;
    let text: Vec<&str> = found
        .lines
        .iter()
        .map(|line| line.content.as_str())
        .collect();
    Ok(Glance {
        by: item.as_ref().map(|item| item.actor.clone()),
        at: item.map(|item| item.realized_at),
        ..Glance::new(name, Sort::Line, text.join(" "))
    })
}

/// The thing with this number, if it may be read.
pub(super) fn of_id(view: &mut View<'_, '_>, id: Id) -> Result<Option<Glance>> {
    Ok(of_ids(view, &[id])?.into_iter().next())
}

/// Those of some things that may be read, in this order.
pub(super) fn of_ids(view: &mut View<'_, '_>, ids: &[Id]) -> Result<Vec<Glance>> {
    let mut reader = Reader::new(view.caller);
    let found = candidates::load(view, &mut reader, ids)?;
    let mut things = entities::some(view.tx, view.ws, ids)?;
    let mut told = Vec::with_capacity(found.len());
    for id in ids {
        // What was written and why it was have one number; the first is what it is.
        let Some(candidate) = found.iter().find(|candidate| candidate.id == *id) else {
            continue;
        };
        match things.remove(id) {
            Some(entity) => told.push(of_thing(view, candidate, &Thing::open(entity)?)?),
            None => told.extend(of_item(view, candidate, *id)?),
        }
    }
    Ok(told)
}

fn of_thing(view: &mut View<'_, '_>, candidate: &Candidate, thing: &Thing) -> Result<Glance> {
    let entity = &thing.entity;
    let title = match candidate.title.is_empty() {
        true => &candidate.rest,
        false => &candidate.title,
    };
    let base = |sort| Glance {
        by: Some(entity.created_by.clone()),
        at: Some(entity.updated_at),
        ..Glance::new(candidate.handle.clone(), sort, title)
    };
    Ok(match EntityKind::of(&entity.kind) {
        EntityKind::Node => {
            let (state, by) = of_task(view, thing)?;
            Glance {
                state: Some(state.to_owned()),
                by: by.or_else(|| Some(entity.created_by.clone())),
                ..base(Sort::Task)
            }
        }
        EntityKind::Record => Glance {
            state: Some(record::opened(thing)?.state.as_str().to_lowercase()),
            ..base(Sort::Record)
        },
        EntityKind::Thread => {
            let row = threads::get(view.tx, view.ws, entity.id)?;
            let state = row.map(|row| match row.open_findings {
                0 => row.status.as_str().to_owned(),
                _ => "disputed".to_owned(),
            });
            Glance {
                state,
                ..base(Sort::Thread)
            }
        }
        EntityKind::Artifact => base(Sort::Document),
        EntityKind::Log => base(Sort::Conversation),
        EntityKind::Proposal => base(Sort::Proposal),
        EntityKind::Branch | EntityKind::Conflict | EntityKind::Checkout => base(Sort::Reasoning),
        EntityKind::Wake => base(Sort::Wake),
        EntityKind::Project => base(Sort::Project),
        EntityKind::Session | EntityKind::Relation | EntityKind::Callers(_) => base(Sort::Item),
    })
}

/// Where a task stands, and who has it in hand.
fn of_task(view: &mut View<'_, '_>, thing: &Thing) -> Result<(&'static str, Option<String>)> {
    let Some(row) = nodes::get(view.tx, view.ws, thing.entity.id)? else {
        return Ok(("gone", None));
    };
    let claimed = Some(row.claimed_by).filter(|by| !by.is_empty());
    Ok(match row.standing {
        Standing::Resolved if node::dropped(&thing.data) => ("dropped", None),
        Standing::Resolved => ("done", Some(row.resolved_by).filter(|by| !by.is_empty())),
        _ if claimed.is_some() => ("claimed", claimed),
        Standing::Ready => ("ready", None),
        Standing::Waiting => ("waits", None),
    })
}

fn of_item(view: &mut View<'_, '_>, candidate: &Candidate, id: Id) -> Result<Option<Glance>> {
    let Some(item) = items::get(view.tx, view.ws, id.seq())? else {
        return Ok(None);
    };
    let sort = match (candidate.surface, candidate.kind.as_str()) {
        ("threads", _) => Sort::Message,
        ("reasoning", _) => Sort::Reasoning,
        _ => Sort::Item,
    };
    let title = match candidate.title.is_empty() || candidate.lines.is_some() {
        true => &candidate.rest,
        false => &candidate.title,
    };
    let mut told = Glance {
        by: Some(item.actor.clone()),
        at: Some(item.realized_at),
        ..Glance::new(candidate.handle.clone(), sort, title)
    };
    if let (Sort::Message, Some(thread), Some(said)) = (sort, item.entity, message::said(&item)) {
        let thread = entities::get(view.tx, view.ws, thread)?;
        told.thread = thread.map(|thread| thread.handle);
        told.number = Some(said.n);
        // What stands beside its words is not what it says.
        told.title = cut(said.body.trim(), PREVIEW);
    }
    Ok(Some(told))
}
