//! Items, entities and relations as the garden shows them.
//!
//! What the caller may not read (`access`) is never shown: neither an item, nor a name of one that
//! another item points to.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};
use understory_model::error::Result;
use understory_model::id::{entity_name, item_name, message_name};
use understory_model::item::{ENTITY_DELTA, Item};
use understory_model::text::cut;
use understory_model::{Caller, Id, Seq, Ws};
use understory_storage::entities::Entity;
use understory_storage::{ReadTx, items, links, relations};
use uuid::Uuid;

use crate::garden::shown::{
    Change, Fields, HiddenItem, Message, OwnFields, ShownItem, Step, changes,
};
use crate::kernel::access::Reader;
use crate::kernel::content::content;
use crate::kernel::content::message::said;
use crate::kernel::core::Thing;
use crate::kernel::log::{self, Known};
use crate::kernel::parts::parts;
use crate::kernel::titles::{PREVIEW, log_name, log_of, uuid_of};
use crate::kernel::versions::change_of;
use crate::kinds::{CHANGES_ACK, FOSSILIZED, LOG, MESSAGE, PURGED, RELATION, THREAD, UNDONE};

pub use crate::garden::shown::{EntityShape, ItemShape};

/// What is needed to show some items: the names of what they point to, and what the caller may see.
pub struct Shapes {
    names: HashMap<Id, Uuid>,
    /// Items that the caller may not read.
    hidden: HashSet<Seq>,
    known: Known,
    /// What took the place of an item, by that item.
    superseded: HashMap<Id, Id>,
}

impl Shapes {
    pub fn load<'i>(
        tx: &mut ReadTx<'_>,
        ws: Ws,
        caller: &Caller,
        shown: impl IntoIterator<Item = &'i Item>,
    ) -> Result<Shapes> {
        let (mut wanted, mut own) = (Vec::new(), Vec::new());
        let mut reader = Reader::new(caller);
        let (mut visible, mut hidden): (Vec<&Item>, HashSet<Seq>) = Default::default();
        for item in shown {
            if reader.item(tx, ws, item)? {
                visible.push(item)
            } else {
                hidden.insert(item.seq);
            }
        }
        let mut said = Vec::new();
        for item in &visible {
            if item.kind != ENTITY_DELTA {
                said.push(Id::of(item.seq));
            }
            wanted.extend(item.cause.map(Id::of));
            wanted.extend(pointed_at(item));
            // A change is read by those who may read what was changed.
            own.extend(item.entity);
            if let Some(content) = content(item) {
                wanted.extend(content.log);
                wanted.extend(content.replies_to.map(Id::of));
            }
        }
        let superseded = relations::superseded(tx, ws, &said)?;
        wanted.extend(superseded.values());
        wanted.sort_unstable();
        wanted.dedup();
        let mut wanted = reader.those(tx, ws, wanted)?;
        wanted.extend(own);
        wanted.sort_unstable();
        wanted.dedup();
        let names = items::uuids_of(tx, ws, &wanted)?;
        Ok(Shapes {
            hidden,
            known: Known::of(tx, ws, &visible)?,
            superseded: superseded
                .into_iter()
                .filter(|(_, by)| names.contains_key(by))
                .collect(),
            names,
        })
    }

    fn name(&self, id: Option<Id>, name: fn(&Uuid) -> String) -> Option<String> {
        self.names.get(&id?).map(name)
    }

    /// Whether the caller may see what an item says.
    pub fn shows(&self, item: &Item) -> bool {
        !self.hidden.contains(&item.seq)
    }

    /// An item with the fields of its type.
    pub fn item(&self, item: &Item) -> ItemShape {
        if !self.shows(item) {
            return ItemShape::Hidden(HiddenItem::of(item));
        }
        let superseded = self.superseded.get(&Id::of(item.seq)).copied();
        ItemShape::Shown(Box::new(ShownItem {
            uuid: item_name(&item.uuid),
            kind: item.kind.clone(),
            realized_at: item.realized_at,
            canonical_at: item.canonical_at,
            seq: item.seq,
            actor: item.actor.clone(),
            session: item.session.clone(),
            caused_by: self.name(item.cause.map(Id::of), item_name),
            superseded_by: self.name(superseded, item_name),
            fields: self.fields(item),
        }))
    }

    fn fields(&self, item: &Item) -> Fields {
        if item.kind == ENTITY_DELTA {
            return self.delta(item);
        }
        if let Some(said) = said(item).filter(|_| item.kind == MESSAGE && item.entity.is_some()) {
            return Fields::Message(Message {
                message_id: message_name(item.seq),
                thread: said.thread,
                description: said.body,
                sender: item.actor.clone(),
                fragments: parts(item),
                replies_to: said.in_reply_to.map(message_name),
                undone: said.undone,
                rendered: None,
            });
        }
        Fields::Own(match content(item) {
            Some(said) => OwnFields {
                replies_to: self.name(said.replies_to.map(Id::of), item_name),
                log: self.name(said.log, log_name),
                entity_uuid: self.name(item.entity, entity_name),
                undone: said.undone,
                fields: said.fields,
            },
            None => OwnFields {
                fields: self.server_fields(item),
                ..OwnFields::default()
            },
        })
    }

    /// The fields of what the server or another surface wrote down in its own words.
    fn server_fields(&self, item: &Item) -> Map<String, Value> {
        let mut fields = Map::new();
        if [UNDONE, CHANGES_ACK, FOSSILIZED, PURGED].contains(&item.kind.as_str()) {
            fields.insert("description".into(), self.text(item).into());
            if item.kind == UNDONE {
                let taken_back = pointed_at(item).first().copied();
                fields.insert("item".into(), self.name(taken_back, item_name).into());
            }
            return fields;
        }
        let said = item.content.as_deref();
        let data = said.and_then(|text| serde_json::from_str(text).ok());
        fields.insert("data".into(), data.unwrap_or_default());
        fields
    }

    /// An item as the change of its entity that it is.
    pub fn change(&self, item: &Item) -> ItemShape {
        let mut shape = self.item(item);
        if let ItemShape::Shown(shown) = &mut shape
            && item.kind != ENTITY_DELTA
        {
            shown.superseded_by = None;
            shown.fields = self.delta(item);
        }
        shape
    }

    fn delta(&self, item: &Item) -> Fields {
        let Ok(Some(delta)) = change_of(item) else {
            return Fields::Own(OwnFields::default());
        };
        let mut changes = changes(&delta);
        // The ends of a relation are numbers to the server and names to everybody else.
        if delta.kind == RELATION {
            for end in ["source", "target"] {
                let id = delta
                    .data
                    .as_ref()
                    .and_then(|data| data.get(end)?.as_i64())
                    .map(Id);
                if id.is_some() {
                    let name = self.name(id, item_name).into();
                    changes.fields.insert(end.into(), [Value::Null, name]);
                }
            }
        }
        changes.metadata = delta.details.filter(|_| delta.kind == THREAD);
        let handle = if delta.kind == LOG {
            self.name(item.entity, log_name).unwrap_or_default()
        } else {
            delta.handle
        };
        Fields::Change(Change {
            entity_uuid: self.name(item.entity, entity_name),
            entity_type: delta.kind,
            handle,
            action: delta.action,
            commit: delta.commit,
            parent: delta.parent,
            version: delta.version,
            changes,
        })
    }

    /// A line that says what an item is about.
    pub fn text(&self, item: &Item) -> String {
        if self.shows(item) {
            cut(&log::entry(item, &self.known).text, PREVIEW)
        } else {
            String::new()
        }
    }

    /// A step of a trace: readable on its own.
    pub fn step(&self, item: &Item) -> Step {
        let mut step = Step {
            uuid: item_name(&item.uuid),
            kind: item.kind.clone(),
            realized_at: item.realized_at,
            actor: item.actor.clone(),
            text: self.text(item),
            action: None,
            handle: None,
            name: None,
            commit: None,
            sender: None,
            reasoning: None,
            depth: None,
            parent: None,
            references: Vec::new(),
        };
        if !self.shows(item) {
            return step;
        }
        let entry = log::entry(item, &self.known);
        let fields = content(item).map(|content| content.fields);
        let sender = fields
            .as_ref()
            .and_then(|fields| fields.get("sender")?.as_str());
        step.action = entry.action;
        step.handle = entry.handle;
        step.name = entry.name;
        step.commit = entry.commit;
        step.sender = sender
            .filter(|sender| *sender != item.actor)
            .map(str::to_string);
        step.reasoning = entry.reasoning.map(|why| cut(&why, PREVIEW));
        step
    }
}

/// The things that an item names by their numbers.
fn pointed_at(item: &Item) -> Vec<Id> {
    #[derive(serde::Deserialize, Default)]
    #[serde(default)]
    struct Numbers {
        item: Option<Seq>,
        kind: Option<String>,
        data: Map<String, Value>,
    }
    if ![ENTITY_DELTA, UNDONE].contains(&item.kind.as_str()) {
        return Vec::new();
    }
    let text = item.content.as_deref().unwrap_or_default();
    let said: Numbers = serde_json::from_str(text).unwrap_or_default();
    let ends = ["source", "target"].map(|end| said.data.get(end).and_then(Value::as_i64).map(Id));
    match said.kind.as_deref() {
        Some(RELATION) => ends.into_iter().flatten().collect(),
        _ => said.item.into_iter().map(Id::of).collect(),
    }
}

/// An entity with its chain and value.
pub fn entity(tx: &mut ReadTx<'_>, ws: Ws, entity: Entity) -> Result<EntityShape> {
    let thing = Thing::open(entity)?;
    entity_as(tx, ws, &thing)
}

/// As [`entity`], of one that is open already.
pub fn entity_as(tx: &mut ReadTx<'_>, ws: Ws, thing: &Thing) -> Result<EntityShape> {
    let entity = &thing.entity;
    let mut shape = EntityShape {
        uuid: uuid_of(tx, ws, entity.id)?,
        kind: entity.kind.clone(),
        handle: Some(&entity.handle)
            .filter(|handle| entity.kind != LOG && !handle.starts_with("entity_"))
            .cloned(),
        hash: entity.hash.clone(),
        previous_hash: entity.previous_hash.clone(),
        version: entity.version,
        created_at: entity.created_at,
        updated_at: entity.updated_at,
        created_by: entity.created_by.clone(),
        data: thing.data.clone(),
        gone: entity.gone,
        ..EntityShape::default()
    };
    if entity.kind == LOG {
        shape.log = log_of(tx, ws, entity.id)?;
    }
    let mut target = |relation: &str| -> Result<Option<String>> {
        match links::targets(tx, ws, entity.id, relation)?.first() {
            Some(target) => uuid_of(tx, ws, *target),
            None => Ok(None),
        }
    };
    shape.group_id = target(crate::kernel::content::relation::GROUP)?;
    shape.derived_from = target(crate::kernel::content::relation::DERIVED_FROM)?;
    shape.superseded_by = target(crate::kernel::content::relation::SUPERSEDED_BY)?;
    if shape.superseded_by.is_some() {
        shape.superseded_at = crate::garden::entity::superseded_at(tx, ws, entity.id)?;
    }
    Ok(shape)
}
