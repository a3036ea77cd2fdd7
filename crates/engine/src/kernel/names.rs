//! Which thing a name stands for: the one place that knows, for every surface.
//!
//! An id means the same in the whole workspace: `item_…`, `entity_…`, `uuid_…`, `rel_…`, `msg_…`, a
//! handle such as R001, a hash. A label belongs to a project: it means the artifact of the project
//! that is asked in, and one of another project only as `project/label` or by its `entity_…`.

use understory_model::error::{Fault, Result};
use understory_model::fragment::parse_anchor;
use understory_model::id::{parse_message, parse_name};
use understory_model::item::{ENTITY_DELTA, Item};
use understory_model::nearest::nearest;
use understory_model::refs::parse_lines;
use understory_model::text::{quoted, quoted_list};
use understory_model::{Caller, Id, Seq, Ws};
use understory_storage::entities::{self, Entity};
use understory_storage::{ReadTx, artifacts, items, relations};
use uuid::Uuid;

use crate::kernel::access::Reader;
use crate::kernel::content::relation::{Said, said_number};
use crate::kernel::log::spellings;
use crate::kernel::{artifact, parts, project};
use crate::kinds::{ARTIFACT, MESSAGE, RELATION};
use crate::{NO_WORKSPACE, View, Work};

/// Where a name is looked up, and for whom: the workspace, the project whose labels count, and the
/// caller, to whom nothing is named that it may not read. Without a project no label stands for
/// anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scope<'c> {
    pub ws: Ws,
    pub project: Option<Id>,
    pub caller: &'c Caller,
}

impl<'c> Scope<'c> {
    /// Where ids alone count.
    pub fn ids(ws: Ws, caller: &'c Caller) -> Scope<'c> {
        Scope {
            ws,
            project: None,
            caller,
        }
    }

    /// The scope of a text that was written in a project, or in none.
    pub fn of_text(self, project: Option<Id>) -> Scope<'c> {
        Scope {
            project: project.or(self.project),
            ..self
        }
    }
}

impl<'v> View<'v, '_> {
    /// Where names are looked up: the project named, else the caller's own.
    pub fn scope(&mut self, named: Option<&str>) -> Result<Scope<'v>> {
        let handle = project::handle(named.unwrap_or(self.project));
        let project = entities::by_handle(self.tx, self.ws, &handle)?;
        Ok(Scope {
            ws: self.ws,
            project: project.map(|project| project.id),
            caller: self.caller,
        })
    }
}

impl<'w> Work<'w, '_> {
    /// Where names are looked up: the project that the call names, else the caller's own.
    pub fn scope(&mut self) -> Result<Scope<'w>> {
        let named = self.project.as_deref().unwrap_or(&self.caller.project);
        let handle = project::handle(named);
        let project = self.by_handle(&handle)?;
        Ok(Scope {
            ws: self.ws(),
            project,
            caller: self.caller,
        })
    }
}

/// What a name stands for.
#[derive(Debug, Clone)]
pub enum Found {
    Item(Box<Item>),
    Entity(Box<Entity>),
    /// A relation by the item that says it and its number there.
    Relation(Seq, i64),
}

impl Found {
    /// The number by which it is known in core.
    pub fn id(&self) -> Id {
        match self {
            Found::Item(item) => Id::of(item.seq),
            Found::Entity(entity) => entity.id,
            Found::Relation(made, _) => Id::of(*made),
        }
    }

    /// What relations call it.
    pub fn type_name(&self) -> &'static str {
        match self {
            Found::Item(_) => "item",
            Found::Entity(entity) if entity.kind == ARTIFACT => "artifact",
            Found::Entity(_) | Found::Relation(..) => "entity",
        }
    }
}

/// The thing that a name stands for, or the fault that says that there is none.
pub fn find(tx: &mut ReadTx<'_>, scope: Scope<'_>, field: &str, name: &str) -> Result<Found> {
    match look(tx, scope, name)? {
        Some(found) => Ok(found),
        None => Err(nothing(tx, scope, field, name)?),
    }
}

/// As [`find`], where an unknown name is not an error. What the caller may not read is as
/// nothing.
pub fn look(tx: &mut ReadTx<'_>, scope: Scope<'_>, name: &str) -> Result<Option<Found>> {
    let Some(found) = look_for_anybody(tx, scope, name)? else {
        return Ok(None);
    };
    let may = Reader::new(scope.caller).found(tx, scope.ws, &found)?;
    Ok(Some(found).filter(|_| may))
}

fn look_for_anybody(tx: &mut ReadTx<'_>, scope: Scope<'_>, name: &str) -> Result<Option<Found>> {
    let ws = scope.ws;
    if let Some(uuid) = name.strip_prefix("rel_") {
        return relation(tx, ws, uuid);
    }
    if let Some(seq) = parse_message(name) {
        let item = items::get(tx, ws, seq)?.filter(|item| item.kind == MESSAGE);
        return Ok(item.map(|item| Found::Item(Box::new(item))));
    }
    if let Some(uuid) = parse_name(name) {
        let item = items::by_uuid(tx, ws, &uuid)?;
        return if name.starts_with("item_") {
            Ok(item.map(|item| Found::Item(Box::new(item))))
        } else {
            made_by(tx, ws, item)
        };
    }
    if let Some(uuid) = name
        .strip_prefix("uuid_")
        .and_then(|uuid| Uuid::try_parse(uuid).ok())
    {
        let item = items::by_uuid(tx, ws, &uuid)?;
        return made_by(tx, ws, item);
    }
    for handle in spellings(name) {
        if let Some(entity) = entities::by_handle(tx, ws, &handle)? {
            return Ok(Some(Found::Entity(Box::new(entity))));
        }
    }
    in_artifacts(tx, scope, name)
}

/// An artifact by its label, or the commit that wrote some of its lines, the last where they are
/// several.
fn in_artifacts(tx: &mut ReadTx<'_>, scope: Scope<'_>, name: &str) -> Result<Option<Found>> {
    if let Some(id) = artifact_id(tx, scope, name)? {
        let entity = entities::get(tx, scope.ws, id)?;
        return Ok(entity.map(|entity| Found::Entity(Box::new(entity))));
    }
    let Some(lines) = parse_lines(name) else {
        return Ok(None);
    };
    match artifact::lines_at(tx, scope, &lines)? {
        Some(lines) => {
            let item = items::get(tx, scope.ws, lines.newest().by.seq)?;
            Ok(item.map(|item| Found::Item(Box::new(item))))
        }
        None => Ok(None),
    }
}

/// The artifact that a name stands for: `entity_<uuid>`, a label that it has or had in the
/// project, or `project/label`.
pub fn artifact_id(tx: &mut ReadTx<'_>, scope: Scope<'_>, name: &str) -> Result<Option<Id>> {
    let ws = scope.ws;
    if let Some(uuid) = parse_name(name) {
        let made = items::by_uuid(tx, ws, &uuid)?;
        let id = made.and_then(|item| item.entity.filter(|id| *id == Id::of(item.seq)));
        let entity = match id {
            Some(id) => entities::get(tx, ws, id)?,
            None => None,
        };
        let entity = entity.filter(|entity| entity.kind == ARTIFACT);
        return Ok(entity.map(|entity| entity.id));
    }
    if name.contains('\0') {
        return Ok(None);
    }
    let (project, label) = match name.rsplit_once('/') {
        Some((project, label)) => {
            let project = entities::by_handle(tx, ws, &project::handle(project))?;
            (project.map(|project| project.id), label)
        }
        None => (scope.project, name),
    };
    let found = match project {
        Some(project) => artifacts::by_label(tx, ws, project, label)?,
        None => None,
    };
    Ok(found.map(|(id, _)| id))
}

/// The entity that an item made.
fn made_by(tx: &mut ReadTx<'_>, ws: Ws, item: Option<Item>) -> Result<Option<Found>> {
    let Some(item) =
        item.filter(|item| item.kind == ENTITY_DELTA && item.entity == Some(Id::of(item.seq)))
    else {
        return Ok(None);
    };
    let entity = entities::get(tx, ws, Id::of(item.seq))?;
    Ok(entity.map(|entity| Found::Entity(Box::new(entity))))
}

/// `<uuid>` of the item that made a relation or was caused, `<uuid>.<n>` for what a text says,
/// `<uuid>.<word>` for what a field of the item says.
fn relation(tx: &mut ReadTx<'_>, ws: Ws, name: &str) -> Result<Option<Found>> {
    let (uuid, n) = match name.split_once('.') {
        Some((uuid, n)) => match said_number(n).or_else(|| n.parse().ok().filter(|n| *n > 0)) {
            Some(n) => (uuid, n),
            None => return Ok(None),
        },
        None => (name, 0),
    };
    let item = match Uuid::try_parse(uuid) {
        Ok(uuid) => items::by_uuid(tx, ws, &uuid)?,
        Err(_) => None,
    };
    let Some(item) = item else { return Ok(None) };
    let there = match n {
        0 => {
            let made = entities::get(tx, ws, Id::of(item.seq))?;
            item.cause.is_some() || made.is_some_and(|made| made.kind == RELATION)
        }
        n if Said::of_number(n).is_some_and(Said::is_link) => {
            crate::kernel::content::relation::link_of(tx, ws, &item, n)?.is_some()
        }
        n => relations::get(tx, ws, item.seq, n)?.is_some(),
    };
    Ok(there.then_some(Found::Relation(item.seq, n)))
}

/// An entity by any of its names.
pub fn entity(tx: &mut ReadTx<'_>, scope: Scope<'_>, field: &str, name: &str) -> Result<Entity> {
    match find(tx, scope, field, name)? {
        Found::Entity(entity) => Ok(*entity),
        Found::Relation(made, 0) => {
            let entity =
                entities::get(tx, scope.ws, Id::of(made))?.filter(|made| made.kind == RELATION);
            entity.ok_or_else(|| no_entity(field))
        }
        _ => Err(no_entity(field)),
    }
}

fn no_entity(field: &str) -> Fault {
    Fault::invalid(field, "is not an entity").hint("Name it as entity_<uuid> or by its handle.")
}

/// An item by its name; a part of a message stands for the message.
pub fn item(tx: &mut ReadTx<'_>, scope: Scope<'_>, field: &str, name: &str) -> Result<Item> {
    if name.contains('#') {
        let part = match parse_anchor(name) {
            Some(anchor) => parts::anchored(tx, scope, &anchor)?,
            None => None,
        };
        return match part {
            Some(part) => Ok(part.item),
            None => Err(nothing(tx, scope, field, name)?),
        };
    }
    match find(tx, scope, field, name)? {
        Found::Item(item) => Ok(*item),
        Found::Entity(entity) => last_change(tx, scope.ws, &entity),
        Found::Relation(made, _) => items::get(tx, scope.ws, made)?
            .ok_or_else(|| Fault::invalid(field, "is not an item").hint("Name it as item_<uuid>.")),
    }
}

/// An entity stands for what last changed it.
fn last_change(tx: &mut ReadTx<'_>, ws: Ws, entity: &Entity) -> Result<Item> {
    let last = items::of_entity(tx, ws, entity.id, Seq::MAX, 1)?.pop();
    last.ok_or_else(|| Fault::not_found(format!("nothing is known of {}", entity.handle)))
}

/// The item that a write says it was caused by.
pub fn cause(work: &mut Work<'_, '_>, name: &str) -> Result<Seq> {
    let scope = work.scope()?;
    Ok(item(work.read()?, scope, "caused_by", name)?.seq)
}

/// Labels that are compared with an unknown one.
const NEAR: i64 = 1_000;
/// Handles that are compared with an unknown one.
const HANDLES: i64 = 20;

/// The fault for an unknown name, with what may help to find the one that was meant.
pub fn nothing(tx: &mut ReadTx<'_>, scope: Scope<'_>, field: &str, name: &str) -> Result<Fault> {
    let (ws, shown) = (scope.ws, quoted(name));
    if let Some(lines) = parse_lines(name)
        && let Some(id) = artifact_id(tx, scope, lines.label)?
    {
        let found = artifact::load(tx, ws, id)?;
        return artifact::no_lines(tx, ws, &found, &lines, field);
    }
    let fault = Fault::not_found(format!("nothing is called {shown}"));
    if ws == NO_WORKSPACE {
        return Ok(nothing_yet(field, name));
    }
    let told = |fault: Fault, hint: &str| Ok(fault.detail("field", field).hint(hint));
    if name.contains('#') || name.starts_with('^') {
        return told(
            fault,
            "A part of a message is named item_<uuid>#^a7f, a range item_<uuid>#^a7f:^b2e.",
        );
    }
    if ["item_", "msg_", "rel_", "uuid_", "entity_"]
        .iter()
        .any(|prefix| name.starts_with(prefix))
    {
        return told(
            fault,
            "Nothing has this id here: `search` and garden_timeline show the ids that exist.",
        );
    }
    let label = parse_lines(name).map_or(name, |lines| lines.label);
    if let Some(project) = elsewhere(tx, scope, label)? {
        let (full, label) = (quoted(&format!("{project}/{name}")), quoted(label));
        let project = quoted(&project);
        let hint =
            format!("Project {project} has a {label}: name it {full}, or give project {project}.");
        return told(fault, &hint);
    }
    let near = entities::handles_near(tx, ws, None, name, HANDLES)?;
    let mut near = readable(tx, scope, near)?;
    if let Some(project) = scope.project {
        near.extend(artifacts::some_labels(tx, ws, project, NEAR)?);
    }
    let near = nearest(label, near.iter().map(String::as_str), 3);
    if near.is_empty() {
        return told(
            fault,
            "`search` finds things by words or by a handle; garden_artifact_list lists artifacts.",
        );
    }
    let hint = format!("Did you mean {}?", quoted_list(&near, " or "));
    Ok(fault
        .detail("field", field)
        .detail("nearest", &near)
        .hint(hint))
}

/// Those of some handles whose things the caller may read.
pub fn readable(
    tx: &mut ReadTx<'_>,
    scope: Scope<'_>,
    handles: Vec<String>,
) -> Result<Vec<String>> {
    let mut reader = Reader::new(scope.caller);
    let mut kept = Vec::with_capacity(handles.len());
    for handle in handles {
        if let Some(entity) = entities::by_handle(tx, scope.ws, &handle)?
            && reader.entity(tx, scope.ws, &entity)?
        {
            kept.push(handle);
        }
    }
    Ok(kept)
}

/// Another project that has an artifact of this label.
fn elsewhere(tx: &mut ReadTx<'_>, scope: Scope<'_>, label: &str) -> Result<Option<String>> {
    if label.contains(['\0', '/']) {
        return Ok(None);
    }
    let projects = artifacts::projects_with(tx, scope.ws, label)?;
    let other = projects.into_iter().find(|id| Some(*id) != scope.project);
    let entity = match other {
        Some(id) => entities::get(tx, scope.ws, id)?,
        None => None,
    };
    Ok(entity.map(|entity| project::name_of(&entity.handle).to_string()))
}

/// The fault for a name where nothing is yet.
pub fn nothing_yet(field: &str, name: &str) -> Fault {
    Fault::not_found(format!("nothing is called {}", quoted(name)))
        .detail("field", field)
        .hint("Nothing was written in this workspace yet.")
}
