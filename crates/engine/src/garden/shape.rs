//! Items, entities and relations as the garden shows them.
//!
//! What the caller may not read (`access`) is never shown: neither an item, nor a name of one that
//! another item points to.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde_json::{Map, Value, json};
use understory_model::error::Result;
use understory_model::id::{entity_name, item_name, message_name};
use understory_model::item::{ENTITY_DELTA, EntityDelta, Item, Named};
use understory_model::text::cut;
use understory_model::{Caller, Id, Seq, Ws};
use understory_storage::entities::{self, Entity};
use understory_storage::{Tx, items, links, relations};
use uuid::Uuid;

use super::relations::Said;
use super::{CHANGES_ACK, Content, FOSSILIZED, UNDONE, content};
use crate::access::{Reader, may_read_entity};
use crate::core::Thing;
use crate::log::{self, Known};
use crate::parts::parts;
use crate::projection::{LOG, RELATION, THREAD};
use crate::purge::PURGED;
use crate::threads::{MESSAGE, said};
use crate::versions::change_of;

/// Characters of a preview.
pub const PREVIEW: usize = 160;

/// What is needed to show some items: the names of what they point to, and what the caller may see.
pub struct Shapes {
    names: HashMap<Seq, Uuid>,
    /// Items that the caller may not read.
    hidden: HashSet<Seq>,
    known: Known,
    /// What took the place of an item, by that item.
    superseded: HashMap<Seq, Seq>,
}

impl Shapes {
    pub fn load<'i>(
        tx: &mut Tx<'_>,
        ws: Ws,
        caller: &Caller,
        shown: impl IntoIterator<Item = &'i Item>,
    ) -> Result<Shapes> {
        let (mut wanted, mut own) = (Vec::new(), Vec::new());
        let mut reader = Reader::new(caller);
        let (mut visible, mut hidden): (Vec<&Item>, HashSet<Seq>) = Default::default();
        for item in shown {
            match reader.item(tx, ws, item)? {
                true => visible.push(item),
                false => drop(hidden.insert(item.seq)),
            }
        }
        let mut said = Vec::new();
        for item in &visible {
            if item.kind != ENTITY_DELTA {
                said.push(item.seq);
            }
            wanted.extend(item.cause);
            wanted.extend(pointed_at(item));
            // Whoever reads a change reads what was changed.
            own.extend(item.entity);
            if let Some(content) = content(item) {
                wanted.extend(content.log);
                wanted.extend(content.replies_to);
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
        let names = items::uuids(tx, ws, &wanted)?;
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

    fn name(&self, seq: Option<Seq>, name: fn(&Uuid) -> String) -> Value {
        let uuid = seq.and_then(|seq| self.names.get(&seq));
        uuid.map_or(Value::Null, |uuid| name(uuid).into())
    }

    /// Whether the caller may see what an item says.
    pub fn shows(&self, item: &Item) -> bool {
        !self.hidden.contains(&item.seq)
    }

    /// An item with the fields of its type.
    pub fn item(&self, item: &Item) -> Value {
        if !self.shows(item) {
            return hidden(item);
        }
        let mut shape = json!({
            "uuid": item_name(&item.uuid),
            "_type": item.kind,
            "realized_at": item.realized_at.to_string(),
            "canonical_at": item.canonical_at.to_string(),
            "seq": item.seq,
            "actor": item.actor,
            "session": item.session,
        });
        let cause = self.name(item.cause, item_name);
        if !cause.is_null() {
            shape["caused_by"] = cause;
        }
        if let Some(by) = self.superseded.get(&item.seq) {
            shape["superseded_by"] = self.name(Some(*by), item_name);
        }
        if let (Some(shape), Value::Object(fields)) = (shape.as_object_mut(), self.fields(item)) {
            shape.extend(fields);
        }
        shape
    }

    fn fields(&self, item: &Item) -> Value {
        if item.kind == ENTITY_DELTA {
            return self.delta(item);
        }
        if let Some(said) = said(item).filter(|_| item.kind == MESSAGE && item.entity.is_some()) {
            let mut shape = json!({
                "message_id": message_name(item.seq),
                "thread": said.thread,
                "description": said.body,
                "sender": item.actor,
                "fragments": parts(item),
            });
            if let Some(answered) = said.in_reply_to {
                shape["replies_to"] = message_name(answered).into();
            }
            mark_undone(&mut shape, said.undone);
            return shape;
        }
        match content(item) {
            Some(said) => {
                let log = self.name(said.log, log_name);
                let answered = self.name(said.replies_to, item_name);
                let Content { fields, undone, .. } = said;
                let mut shape = Value::Object(fields);
                if !answered.is_null() {
                    shape["replies_to"] = answered;
                }
                if !log.is_null() {
                    shape["log"] = log;
                }
                if item.entity.is_some() {
                    shape["entity_uuid"] = self.name(item.entity, entity_name);
                }
                mark_undone(&mut shape, undone);
                shape
            }
            None if [UNDONE, CHANGES_ACK, FOSSILIZED, PURGED].contains(&item.kind.as_str()) => {
                let mut shape = json!({ "description": self.text(item) });
                if item.kind == UNDONE {
                    shape["item"] = self.name(pointed_at(item).first().copied(), item_name);
                }
                shape
            }
            // What another surface wrote down in its own words.
            None => {
                let data = item
                    .content
                    .as_deref()
                    .and_then(|text| serde_json::from_str(text).ok());
                json!({ "data": data.unwrap_or(Value::Null) })
            }
        }
    }

    /// An item as the change of its entity that it is.
    pub fn change(&self, item: &Item) -> Value {
        let mut shape = self.item(item);
        if let (Some(shape), true, Value::Object(fields)) = (
            shape.as_object_mut(),
            self.shows(item) && item.kind != ENTITY_DELTA,
            self.delta(item),
        ) {
            shape.retain(|name, _| BASIC.contains(&name.as_str()));
            shape.extend(fields);
        }
        shape
    }

    fn delta(&self, item: &Item) -> Value {
        let Ok(Some(delta)) = change_of(item) else {
            return json!({});
        };
        let mut changes = changes(&delta);
        // The ends of a relation are numbers to the server and names to everybody else.
        if delta.kind == RELATION {
            for end in ["source", "target"] {
                let id = delta.data.as_ref().and_then(|data| data.get(end)?.as_i64());
                if let Some(id) = id {
                    changes["fields"][end] = json!([null, self.name(Some(id), item_name)]);
                }
            }
        }
        if let Some(metadata) = delta.details.filter(|_| delta.kind == THREAD) {
            changes["metadata"] = metadata;
        }
        let handle = match delta.kind.as_str() {
            LOG => self.name(item.entity, log_name),
            _ => delta.handle.into(),
        };
        json!({
            "entity_uuid": self.name(item.entity, entity_name),
            "entity_type": delta.kind,
            "handle": handle,
            "action": delta.action,
            "commit": delta.commit,
            "parent": delta.parent,
            "version": delta.version,
            "changes": changes,
        })
    }

    /// A line that says what an item is about.
    pub fn text(&self, item: &Item) -> String {
        match self.shows(item) {
            true => cut(&log::entry(item, &self.known).text, PREVIEW),
            false => String::new(),
        }
    }

    /// A step of a trace: readable on its own.
    pub fn step(&self, item: &Item) -> Value {
        let entry = log::entry(item, &self.known);
        let mut step = json!({
            "uuid": item_name(&item.uuid),
            "_type": item.kind,
            "realized_at": item.realized_at.to_string(),
            "actor": item.actor,
            "text": self.text(item),
        });
        let fields = content(item)
            .map(|content| content.fields)
            .unwrap_or_default();
        let said = |field: &str| {
            fields
                .get(field)
                .and_then(Value::as_str)
                .map(str::to_string)
        };
        // Who said it, where somebody else wrote it down, and why a commit was made.
        let sender = said("sender").filter(|sender| *sender != item.actor);
        let told = [
            ("action", entry.action),
            ("handle", entry.handle),
            ("name", entry.name),
            ("commit", entry.commit),
            ("sender", sender),
            ("reasoning", entry.reasoning.map(|why| cut(&why, PREVIEW))),
        ];
        for (field, value) in told {
            if let Some(value) = value.filter(|_| self.shows(item)) {
                step[field] = value.into();
            }
        }
        step
    }
}

/// What is told of an item that the caller may not read: its place and when, so that the numbers of
/// a timeline have no gap.
fn hidden(item: &Item) -> Value {
    json!({
        "_type": "hidden",
        "seq": item.seq,
        "realized_at": item.realized_at.to_string(),
        "hidden": true,
    })
}

/// The things that an item names by their numbers.
fn pointed_at(item: &Item) -> Vec<Seq> {
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
    let ends = ["source", "target"].map(|end| said.data.get(end).and_then(Value::as_i64));
    match said.kind.as_deref() {
        Some(RELATION) => ends.into_iter().flatten().collect(),
        _ => said.item.into_iter().collect(),
    }
}

/// What every item has, whatever its type.
const BASIC: [&str; 8] = [
    "uuid",
    "_type",
    "realized_at",
    "canonical_at",
    "seq",
    "actor",
    "session",
    "caused_by",
];

/// All that a change changed, each field with what it was and what it is. What was not there, or is
/// not there any more, is listed too: a null may be a value.
fn changes(delta: &EntityDelta) -> Value {
    let (mut fields, mut added, mut removed) = (Map::new(), Vec::new(), Vec::new());
    for (field, value) in delta.data.iter().flatten() {
        fields.insert(escaped(field), json!([null, value]));
    }
    for change in &delta.changes {
        let at: Vec<String> = change.at.iter().map(|key| escaped(key)).collect();
        let at = at.join(".");
        if change.before.is_none() {
            added.push(at.clone());
        }
        if change.after.is_none() {
            removed.push(at.clone());
        }
        fields.insert(at, json!([change.before, change.after]));
    }
    if let Some(place) = &delta.place {
        let handle = |named: &Option<Named>| named.as_ref().map(|named| named.handle.clone());
        let moved = json!([handle(&place.from), handle(&place.to)]);
        fields.insert("parent".into(), moved);
    }
    let mut links: BTreeMap<&str, (Vec<&str>, Vec<&str>)> = BTreeMap::new();
    for link in &delta.links {
        let (gone, come) = links.entry(&link.relation).or_default();
        match link.remove {
            true => gone.push(&link.to.handle),
            false => come.push(&link.to.handle),
        }
    }
    for (relation, (gone, come)) in links {
        fields.insert(relation.to_string(), json!([few(&gone), few(&come)]));
    }
    if let Some(gone) = &delta.gone {
        let into = gone.into.as_ref().map(|into| into.handle.clone());
        fields.insert("gone".into(), json!([false, true]));
        if let Some(into) = into {
            fields.insert("gone_into".into(), json!([null, into]));
        }
    }
    let mut told = json!({ "fields": fields });
    for (name, list) in [("added", added), ("removed", removed)] {
        if !list.is_empty() {
            told[name] = list.into();
        }
    }
    if let Some(reason) = &delta.reason {
        told["reason"] = reason.clone().into();
    }
    told
}

/// A key of a path, told from the points between keys.
fn escaped(key: &str) -> String {
    key.replace('\\', "\\\\").replace('.', "\\.")
}

/// None, one, or a list of names.
fn few(names: &[&str]) -> Value {
    match names {
        [] => Value::Null,
        [one] => json!(one),
        some => json!(some),
    }
}

fn mark_undone(shape: &mut Value, undone: bool) {
    if undone {
        shape["undone"] = true.into();
    }
}

/// `uuid_<uuid>`: how a text refers to a conversation.
pub fn log_name(uuid: &Uuid) -> String {
    format!("uuid_{}", uuid.hyphenated())
}

/// `rel_<uuid>`, with the number of what a text says or the field that says it.
pub fn relation_name(uuid: &Uuid, n: i64) -> String {
    match (n, Said::of_number(n)) {
        (0, _) => format!("rel_{}", uuid.hyphenated()),
        (_, Some(said)) => format!("rel_{}.{}", uuid.hyphenated(), said.field()),
        (n, None) => format!("rel_{}.{n}", uuid.hyphenated()),
    }
}

/// An entity with its chain and value.
pub fn entity(tx: &mut Tx<'_>, ws: Ws, entity: Entity) -> Result<Value> {
    let thing = Thing::open(entity)?;
    entity_as(tx, ws, &thing)
}

/// As [`entity`], of one that is open already.
pub fn entity_as(tx: &mut Tx<'_>, ws: Ws, thing: &Thing) -> Result<Value> {
    let (entity, data) = (&thing.entity, &thing.data);
    let mut shape = json!({
        "uuid": uuid_of(tx, ws, entity.id)?,
        "type": entity.kind,
        "hash": entity.hash,
        "previous_hash": entity.previous_hash,
        "version": entity.version,
        "created_at": entity.created_at.to_string(),
        "updated_at": entity.updated_at.to_string(),
        "created_by": entity.created_by,
        "data": data,
    });
    if entity.kind == LOG {
        shape["log"] = log_of(tx, ws, entity.id)?;
    } else if !entity.handle.starts_with("entity_") {
        shape["handle"] = entity.handle.clone().into();
    }
    for relation in [super::entity::GROUP, super::entity::DERIVED_FROM] {
        if let Some(target) = links::targets(tx, ws, entity.id, relation)?.first() {
            shape[relation] = uuid_of(tx, ws, *target)?;
        }
    }
    if let Some(by) = links::targets(tx, ws, entity.id, super::entity::SUPERSEDED_BY)?.first() {
        shape["superseded_by"] = uuid_of(tx, ws, *by)?;
        shape["superseded_at"] = super::entity::superseded_at(tx, ws, entity.id)?;
    }
    if entity.gone {
        shape["gone"] = true.into();
    }
    Ok(shape)
}

/// `entity_<uuid>` of an entity.
pub fn uuid_of(tx: &mut Tx<'_>, ws: Ws, id: Id) -> Result<Value> {
    let made = items::uuids(tx, ws, &[id])?;
    Ok(made
        .get(&id)
        .map_or(Value::Null, |uuid| entity_name(uuid).into()))
}

/// `uuid_<uuid>` of a conversation.
pub fn log_of(tx: &mut Tx<'_>, ws: Ws, id: Id) -> Result<Value> {
    let made = items::uuids(tx, ws, &[id])?;
    Ok(made
        .get(&id)
        .map_or(Value::Null, |uuid| log_name(uuid).into()))
}

/// What a value is called by its own fields.
pub fn named(data: &Map<String, Value>) -> Option<String> {
    let fields = ["title", "name", "label", "summary", "description"];
    let told = fields.iter().find_map(|field| data.get(*field)?.as_str());
    told.filter(|told| !told.trim().is_empty())
        .map(|told| cut(told, PREVIEW))
}

/// A line that says what an entity is.
pub fn entity_text(tx: &mut Tx<'_>, ws: Ws, caller: &Caller, id: Id) -> Result<String> {
    let Some(entity) = entities::get(tx, ws, id)? else {
        return Ok(String::new());
    };
    if !may_read_entity(tx, ws, caller, &entity)? {
        return Ok(String::new());
    }
    let thing = Thing::open(entity)?;
    if thing.entity.kind == LOG {
        return Ok(log_told(&thing));
    }
    Ok(named(&thing.data).unwrap_or_else(|| cut(&fields_told(&thing.data), PREVIEW)))
}

/// A conversation in a line: what it is called, else what came of it, else who began it.
pub fn log_told(log: &Thing) -> String {
    let title = log.data.get("title").and_then(Value::as_str);
    let summary = log
        .data
        .get("summary")
        .and_then(|told| told["content"].as_str());
    match title.or(summary) {
        Some(told) => cut(told, PREVIEW),
        None if log.entity.parent.is_none() => "the first conversation".to_string(),
        None => format!("a conversation that {} began", log.entity.created_by),
    }
}

/// A value that bears no name: its fields, as many as a line holds.
pub fn fields_told(data: &Map<String, Value>) -> String {
    let plain = |value: &Value| {
        value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_string)
    };
    let told = data.iter().filter(|(_, value)| !value.is_null());
    let told = told.map(|(name, value)| format!("{name}: {}", plain(value)));
    told.collect::<Vec<_>>().join(", ")
}
