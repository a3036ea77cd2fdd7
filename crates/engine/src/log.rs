//! The log as a person reads it: one line an item, newest first or as it grows.

use serde::Serialize;
use serde_json::{Value, json};
use understory_model::canon::hex;
use understory_model::error::Result;
use understory_model::id::{HandleKind, entity_name, item_name, message_name, parse_name};
use understory_model::item::{ENTITY_DELTA, EntityDelta, Item};
use understory_model::{Id, Seq};
use understory_storage::records::{self, Record};
use understory_storage::{activity, entities, items, workspaces};

use crate::View;
use crate::garden::{self, ARTIFACT_CREATED, ARTIFACT_DELTA, FRAME_MOVED, UNDONE};
use crate::names;
use crate::project;
use crate::projection::{BRANCH, CHECKOUT_KIND, CONFLICT, PROJECT, RECORD};
use crate::reasoning::place::node_of_branch;
use crate::reasoning::{GRAPH_DELTA, NOTE_ENTRY};
use crate::revoked::{self, TOKEN_REVOKED};
use crate::threads::{MESSAGE, READ_ACK, said};
use crate::view::missing;

mod told;

/// What the handle of a branch begins with.
const BRANCH_PREFIX: &str = "branch:";

/// One item, readable on its own.
#[derive(Debug, Clone, Serialize)]
pub struct Entry {
    pub seq: Seq,
    pub at: String,
    pub actor: String,
    pub session: String,
    #[serde(rename = "type")]
    pub kind: String,
    pub item: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handle: Option<String>,
    /// What a session's event is about: the record that it activated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
    /// The branch and document that a note, or a node or edge of a graph document, stands in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub doc: Option<String>,
    /// What it says in a line.
    pub text: String,
}

/// Which part of the log.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    /// Its changes; of a record also what sessions did with it.
    pub entity: Option<Id>,
    pub project: Option<Id>,
    /// Newest first, before this place.
    pub before: Option<Seq>,
    pub most: i64,
}

pub fn newest(view: &mut View<'_, '_>, wanted: &Wanted) -> Result<Vec<Entry>> {
    let before = wanted.before.unwrap_or(i64::MAX);
    let found = match wanted.entity {
        Some(id) => match records::get(view.tx, view.ws, id)? {
            Some(record) => about_record(view, &record, before, wanted.most)?,
            None => items::of_entity(view.tx, view.ws, id, before, wanted.most)?,
        },
        None => items::newest(view.tx, view.ws, wanted.project, before, wanted.most)?,
    };
    Ok(found.iter().map(entry).collect())
}

/// A record's changes and what sessions did with it, newest first.
fn about_record(
    view: &mut View<'_, '_>,
    record: &Record,
    before: Seq,
    most: i64,
) -> Result<Vec<Item>> {
    let wanted = activity::Wanted {
        project: record.project,
        target: Some(record.id),
        kinds: &[],
        except: None,
        after: 0,
        before,
        most,
    };
    let found = activity::newest(view.tx, view.ws, &wanted)?;
    Ok(found.into_iter().map(|(_, item)| item).collect())
}

/// What came after a place, oldest first, and the place up to which it was looked for.
pub fn since(
    view: &mut View<'_, '_>,
    wanted: &Wanted,
    mut after: Seq,
) -> Result<(Vec<Entry>, Seq)> {
    let mut found = Vec::new();
    loop {
        let batch = items::after(view.tx, view.ws, after, wanted.most)?;
        let Some(last) = batch.last() else {
            return Ok((found, after));
        };
        after = last.seq;
        let meant = |item: &&Item| {
            wanted.entity.is_none_or(|id| concerns(item, id))
                && wanted.project.is_none_or(|id| item.project == Some(id))
        };
        found.extend(batch.iter().filter(meant).map(entry));
    }
}

/// Whether an item changes an entity, or is about it.
fn concerns(item: &Item, id: Id) -> bool {
    let about = || delta(item).and_then(|delta| delta.about);
    item.entity == Some(id) || about().is_some_and(|about| about.id == id)
}

/// The place of the newest item.
pub fn end(view: &mut View<'_, '_>) -> Result<Seq> {
    let head = workspaces::head(view.tx, view.ws, false)?;
    Ok(head.map_or(0, |head| head.seq))
}

/// A project by its name.
pub fn project(view: &mut View<'_, '_>, name: &str) -> Result<Id> {
    let handle = project::handle(name);
    match entities::by_handle(view.tx, view.ws, &handle)? {
        Some(entity) => Ok(entity.id),
        None => {
            let all = project::all(view.tx, view.ws)?;
            let names = all
                .iter()
                .map(|(_, entity)| project::name_of(&entity.handle));
            Err(missing("project", name, names))
        }
    }
}

/// An entity that a person named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    pub id: Id,
    pub kind: String,
    pub handle: String,
}

impl Found {
    pub fn is_record(&self) -> bool {
        self.kind == RECORD
    }

    pub fn is_conflict(&self) -> bool {
        self.kind == CONFLICT
    }

    pub fn is_checkout(&self) -> bool {
        self.kind == CHECKOUT_KIND
    }

    /// The name of a branch, if it is one that was made.
    pub fn branch(&self) -> Option<&str> {
        self.handle
            .strip_prefix(BRANCH_PREFIX)
            .filter(|_| self.kind == BRANCH)
    }

    /// The name of a project, if it is one.
    pub fn project(&self) -> Option<&str> {
        (self.kind == PROJECT).then(|| project::name_of(&self.handle))
    }
}

/// An entity by its handle, by `entity_<uuid>`, or by any item that changed it. People type
/// `task-1` or `r1` and mean `TASK-001` or `R001`, and name a project or a branch by its name
/// alone.
pub fn find(view: &mut View<'_, '_>, name: &str) -> Result<Found> {
    let mut entity = match parse_name(name) {
        Some(uuid) => match items::by_uuid(view.tx, view.ws, &uuid)?.and_then(|i| i.entity) {
            Some(id) => view.entity(id)?,
            None => None,
        },
        None => None,
    };
    for handle in meant(name) {
        if entity.is_none() {
            entity = entities::by_handle(view.tx, view.ws, &handle)?;
        }
    }
    let scope = view.scope(None)?;
    if entity.is_none()
        && let Some(names::Found::Entity(found)) = names::look(view.tx, scope, name)?
    {
        entity = Some(*found);
    }
    match entity {
        Some(entity) => Ok(Found {
            id: entity.id,
            kind: entity.kind,
            handle: entity.handle,
        }),
        None => Err(names::nothing(view.tx, scope, "id", name)?),
    }
}

/// The handles that a name may stand for, the likeliest first.
fn meant(name: &str) -> Vec<String> {
    let mut handles = spellings(name);
    handles.push(project::handle(name));
    handles.push(format!("{BRANCH_PREFIX}{name}"));
    handles.extend(node_of_branch(name).map(str::to_string));
    handles
}

/// A handle as people type it, and as it is: `task-1` is `TASK-001`, `r1` is `R001`, `TH_1` is
/// `th_001`.
pub fn spellings(name: &str) -> Vec<String> {
    let upper = name.to_uppercase();
    let mut handles = vec![name.to_string(), upper.clone()];
    for kind in HandleKind::ALL {
        let prefix = kind.prefix().to_uppercase();
        let digits = upper.strip_prefix(&prefix).unwrap_or_default();
        if digits.bytes().all(|byte| byte.is_ascii_digit())
            && let Ok(number) = digits.parse()
        {
            handles.push(kind.handle(number));
        }
    }
    handles
}

/// An item whole, every column of it, by its place.
pub fn raw_at(view: &mut View<'_, '_>, seq: Seq) -> Result<Option<Value>> {
    let item = items::get(view.tx, view.ws, seq)?;
    item.map(|item| raw(view, &item)).transpose()
}

/// An item whole, by its name.
pub fn raw_named(view: &mut View<'_, '_>, name: &str) -> Result<Option<Value>> {
    let item = match parse_name(name) {
        Some(uuid) => items::by_uuid(view.tx, view.ws, &uuid)?,
        None => None,
    };
    item.map(|item| raw(view, &item)).transpose()
}

fn raw(view: &mut View<'_, '_>, item: &Item) -> Result<Value> {
    // An entity bears the uuid of the item that made it, which stands at the entity's own id.
    let entity = match item.entity {
        Some(id) => items::get(view.tx, view.ws, id)?.map(|made| entity_name(&made.uuid)),
        None => None,
    };
    let content = item
        .content
        .as_deref()
        .map(|text| serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_string())));
    Ok(json!({
        "seq": item.seq,
        "item": item_name(&item.uuid),
        "type": item.kind,
        "entity": entity,
        "realized_at": item.realized_at.to_string(),
        "canonical_at": item.canonical_at.to_string(),
        "actor": item.actor,
        "session": item.session,
        "cause": item.cause,
        "digest": hex(&item.digest),
        "chain": hex(&item.chain),
        "content": content,
    }))
}

fn delta(item: &Item) -> Option<EntityDelta> {
    let content = item.content.as_deref();
    let content = content.filter(|_| item.kind == ENTITY_DELTA)?;
    serde_json::from_str(content).ok()
}

pub fn entry(item: &Item) -> Entry {
    let bare = Entry {
        seq: item.seq,
        at: item.realized_at.to_string(),
        actor: item.actor.clone(),
        session: item.session.clone(),
        kind: item.kind.clone(),
        item: item_name(&item.uuid),
        action: None,
        handle: None,
        about: None,
        branch: None,
        doc: None,
        text: String::new(),
    };
    match item.kind.as_str() {
        NOTE_ENTRY | GRAPH_DELTA => written(item, bare),
        READ_ACK => in_thread(item, bare),
        MESSAGE if item.entity.is_some() => in_thread(item, bare),
        TOKEN_REVOKED => Entry {
            action: Some("revoked".to_string()),
            text: revoked::told(item),
            ..bare
        },
        ENTITY_DELTA => changed(item, bare),
        UNDONE => Entry {
            action: Some("undone".to_string()),
            ..bare
        },
        ARTIFACT_CREATED | ARTIFACT_DELTA => of_artifact(item, bare),
        _ => in_garden(item, bare),
    }
}

/// What was added to the timeline.
fn in_garden(item: &Item, bare: Entry) -> Entry {
    let Some(said) = garden::content(item) else {
        return bare;
    };
    if item.kind == FRAME_MOVED {
        return Entry {
            action: Some("moved".to_string()),
            text: told::of_frame(&said.fields),
            ..bare
        };
    }
    let action = match item.kind.as_str() {
        _ if said.undone => "undone",
        MESSAGE => "said",
        garden::NOTE => "noted",
        garden::TOOL_CALL => "called",
        _ => "added",
    };
    Entry {
        action: Some(action.to_string()),
        text: told::of_item(&said.fields),
        ..bare
    }
}

/// What became of an artifact.
fn of_artifact(item: &Item, bare: Entry) -> Entry {
    let Some(said) = garden::content(item) else {
        return bare;
    };
    let (action, text) = told::of_commit(&said.fields);
    let label = said.fields.get("label").and_then(Value::as_str);
    Entry {
        action: Some(action.to_string()),
        handle: label.map(str::to_string),
        text,
        ..bare
    }
}

/// A change of an entity.
fn changed(item: &Item, bare: Entry) -> Entry {
    let Some(delta) = delta(item) else {
        return bare;
    };
    Entry {
        text: told::told(&delta),
        about: delta.about.map(|about| about.handle),
        action: Some(delta.action),
        handle: Some(delta.handle),
        ..bare
    }
}

/// What was written into a document of a branch.
fn written(item: &Item, bare: Entry) -> Entry {
    let content = item.content.as_deref();
    let Some(said) = content.and_then(|text| serde_json::from_str::<Value>(text).ok()) else {
        return bare;
    };
    let text = |field: &str| said[field].as_str().map(str::to_string);
    let (action, told) = match item.kind.as_str() {
        NOTE_ENTRY => ("noted", told::of_note(&said)),
        _ if said["deleted"] == true => ("deleted", told::of_vertex(&said)),
        _ => ("upserted", told::of_vertex(&said)),
    };
    Entry {
        action: Some(action.to_string()),
        branch: text("branch"),
        doc: text("doc"),
        text: told,
        ..bare
    }
}

/// What was said or read in a thread.
fn in_thread(item: &Item, bare: Entry) -> Entry {
    let content = item.content.as_deref();
    let content = content.and_then(|text| serde_json::from_str::<Value>(text).ok());
    let content = content.unwrap_or_default();
    let thread = content["thread"].as_str().map(str::to_string);
    let up_to = content["n"].as_i64().unwrap_or_default();
    match said(item).filter(|_| item.kind == MESSAGE) {
        Some(said) => Entry {
            action: Some("posted".to_string()),
            handle: Some(message_name(item.seq)),
            about: thread,
            text: told::of_message(&said),
            ..bare
        },
        None => Entry {
            action: Some("read".to_string()),
            handle: thread,
            text: format!("up to #{up_to}"),
            ..bare
        },
    }
}
