//! Which thing a caller means: by its uuid, its handle, its place in a thread, or its label.

use understory_model::error::{Fault, Result};
use understory_model::id::{parse_message, parse_name};
use understory_model::item::{ENTITY_DELTA, Item};
use understory_model::{Id, Seq, Ws};
use understory_storage::entities::{self, Entity};
use understory_storage::{Tx, items};
use uuid::Uuid;

use super::artifact;
use crate::Work;
use crate::log::spellings;
use crate::projection::RELATION;
use crate::threads::MESSAGE;
use crate::view::{Sought, no_such};

/// What a name stands for.
#[derive(Debug, Clone)]
pub enum Found {
    Item(Box<Item>),
    Entity(Box<Entity>),
    /// A relation by its item and its number there.
    Relation(Seq, i64),
}

impl Found {
    /// The number by which it is known in core.
    pub fn id(&self) -> Id {
        match self {
            Found::Item(item) => item.seq,
            Found::Entity(entity) => entity.id,
            Found::Relation(made, _) => *made,
        }
    }

    /// What relations call it.
    pub fn type_name(&self) -> &'static str {
        match self {
            Found::Item(_) => "item",
            Found::Entity(entity) if entity.kind == "artifact" => "artifact",
            Found::Entity(_) | Found::Relation(..) => "entity",
        }
    }
}

/// The thing that a name stands for, or the fault that says that there is none.
pub fn find(tx: &mut Tx<'_>, ws: Ws, field: &str, name: &str) -> Result<Found> {
    match look(tx, ws, name)? {
        Some(found) => Ok(found),
        None => {
            let fault = no_such(tx, ws, Sought::Anything, name)?;
            let mut details = fault
                .details
                .clone()
                .unwrap_or_else(|| serde_json::json!({}));
            details["field"] = field.into();
            Err(fault.details(details))
        }
    }
}

/// As [`find`], where a name that stands for nothing is no fault.
pub fn look(tx: &mut Tx<'_>, ws: Ws, name: &str) -> Result<Option<Found>> {
    if let Some(uuid) = name.strip_prefix("rel_") {
        return relation(tx, ws, uuid);
    }
    if let Some(seq) = parse_message(name) {
        let item = items::get(tx, ws, seq)?.filter(|item| item.kind == MESSAGE);
        return Ok(item.map(|item| Found::Item(Box::new(item))));
    }
    if let Some(uuid) = parse_name(name) {
        let item = items::by_uuid(tx, ws, &uuid)?;
        return match name.starts_with("item_") {
            true => Ok(item.map(|item| Found::Item(Box::new(item)))),
            false => made_by(tx, ws, item),
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
    in_artifacts(tx, ws, name)
}

/// An artifact by its label, or the commit that wrote one of its lines: `label:line[@commit]`.
fn in_artifacts(tx: &mut Tx<'_>, ws: Ws, name: &str) -> Result<Option<Found>> {
    if let Some(id) = artifact::look(tx, ws, None, name)? {
        let entity = entities::get(tx, ws, id)?;
        return Ok(entity.map(|entity| Found::Entity(Box::new(entity))));
    }
    let Some(line) = artifact::parse_line(name) else {
        return Ok(None);
    };
    match artifact::line(tx, ws, None, line)? {
        Some(line) => {
            let item = items::get(tx, ws, line.by.seq)?;
            Ok(item.map(|item| Found::Item(Box::new(item))))
        }
        None => Ok(None),
    }
}

/// The entity that an item made.
fn made_by(tx: &mut Tx<'_>, ws: Ws, item: Option<Item>) -> Result<Option<Found>> {
    let Some(item) = item.filter(|item| item.kind == ENTITY_DELTA && item.entity == Some(item.seq))
    else {
        return Ok(None);
    };
    let entity = entities::get(tx, ws, item.seq)?;
    Ok(entity.map(|entity| Found::Entity(Box::new(entity))))
}

/// `<uuid>` of the item that made a relation or was caused, or `<uuid>.<n>` for what a text says.
fn relation(tx: &mut Tx<'_>, ws: Ws, name: &str) -> Result<Option<Found>> {
    let (uuid, n) = match name.split_once('.') {
        Some((uuid, n)) => (uuid, n.parse().unwrap_or(-1)),
        None => (name, 0),
    };
    let item = match Uuid::try_parse(uuid) {
        Ok(uuid) => items::by_uuid(tx, ws, &uuid)?,
        Err(_) => None,
    };
    let Some(item) = item else { return Ok(None) };
    let there = match n {
        0 => {
            let made = entities::get(tx, ws, item.seq)?;
            item.cause.is_some() || made.is_some_and(|made| made.kind == RELATION)
        }
        n => understory_storage::relations::get(tx, ws, item.seq, n)?.is_some(),
    };
    Ok(there.then_some(Found::Relation(item.seq, n)))
}

/// An entity by any of its names.
pub fn entity(tx: &mut Tx<'_>, ws: Ws, field: &str, name: &str) -> Result<Entity> {
    match find(tx, ws, field, name)? {
        Found::Entity(entity) => Ok(*entity),
        Found::Relation(made, 0) => {
            let entity = entities::get(tx, ws, made)?.filter(|made| made.kind == RELATION);
            entity.ok_or_else(|| no_entity(field))
        }
        _ => Err(no_entity(field)),
    }
}

fn no_entity(field: &str) -> Fault {
    Fault::invalid(field, "must name an entity").hint("Name it as entity_<uuid> or by its handle.")
}

/// An item by its name; a part of a message stands for the message.
pub fn item(tx: &mut Tx<'_>, ws: Ws, field: &str, name: &str) -> Result<Item> {
    let bare = name.split_once('#').map_or(name, |(item, _)| item);
    match find(tx, ws, field, bare)? {
        Found::Item(item) => Ok(*item),
        Found::Entity(entity) => last_change(tx, ws, &entity),
        Found::Relation(made, _) => items::get(tx, ws, made)?.ok_or_else(|| no_item(field)),
    }
}

fn no_item(field: &str) -> Fault {
    Fault::invalid(field, "must name an item").hint("Name it as item_<uuid>.")
}

/// An entity stands for what last changed it.
fn last_change(tx: &mut Tx<'_>, ws: Ws, entity: &Entity) -> Result<Item> {
    let last = items::of_entity(tx, ws, entity.id, Seq::MAX, 1)?.pop();
    last.ok_or_else(|| Fault::not_found(format!("nothing is known of {}", entity.handle)))
}

/// The item that a write says it was caused by.
pub fn cause(work: &mut Work<'_, '_>, name: &str) -> Result<Seq> {
    let ws = work.ws();
    Ok(item(work.tx, ws, "caused_by", name)?.seq)
}
