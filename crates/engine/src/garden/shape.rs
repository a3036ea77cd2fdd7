//! Items, entities and relations as the garden shows them.
//!
//! A message of a thread is shown to whoever may read that thread, and to nobody else; an audit event
//! to those who look after the workspace.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde_json::{Map, Value, json};
use understory_model::error::{Code, Fault, Result};
use understory_model::id::{entity_name, item_name, message_name};
use understory_model::item::{ENTITY_DELTA, EntityDelta, Item, Named};
use understory_model::text::cut;
use understory_model::{Caller, Id, Role, Seq, Ws};
use understory_storage::entities::{self, Entity};
use understory_storage::{Tx, items, links, relations, threads};
use uuid::Uuid;

use super::relations::Said;
use super::{CHANGES_ACK, Content, FOSSILIZED, UNDONE, content};
use crate::audit;
use crate::core::Thing;
use crate::log::{self, Known};
use crate::parts::parts;
use crate::projection::{LOG, RELATION, THREAD, WAKE};
use crate::purge::PURGED;
use crate::threads::{MESSAGE, READ_ACK, said};
use crate::versions::change_of;

/// Characters of a preview.
pub const PREVIEW: usize = 160;

/// What is needed to show some items: the names of what they point to, and what the caller may see.
pub struct Shapes {
    names: HashMap<Seq, Uuid>,
    /// Items that the caller may not read: of threads of others, and audit events.
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
        let (mut wanted, mut in_threads) = (Vec::new(), HashMap::new());
        let shown: Vec<&Item> = shown.into_iter().collect();
        let (mut said, mut hidden) = (Vec::new(), HashSet::new());
        for item in &shown {
            if item.kind != ENTITY_DELTA {
                said.push(item.seq);
            }
            wanted.extend(item.cause);
            wanted.extend(pointed_at(item));
            wanted.extend(item.entity);
            if let Some(content) = content(item) {
                wanted.extend(content.log);
                wanted.extend(content.replies_to);
            }
            if audit::is_audit(&item.kind) && !audit::may_read(caller.role) {
                hidden.insert(item.seq);
            }
            if let Some(thread) = thread_of(tx, ws, item)? {
                let said: &mut Vec<Seq> = in_threads.entry(thread).or_default();
                said.push(item.seq);
            }
        }
        let superseded = relations::superseded(tx, ws, &said)?;
        wanted.extend(superseded.values());
        wanted.sort_unstable();
        wanted.dedup();
        for (thread, said) in in_threads {
            if !may_read(tx, ws, caller, thread)? {
                hidden.extend(said);
            }
        }
        Ok(Shapes {
            names: items::uuids(tx, ws, &wanted)?,
            hidden,
            known: Known::of(tx, ws, &shown)?,
            superseded,
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
        let mut shape = json!({
            "uuid": item_name(&item.uuid),
            "_type": item.kind,
            "realized_at": item.realized_at.to_string(),
            "canonical_at": item.canonical_at.to_string(),
            "seq": item.seq,
            "actor": item.actor,
            "session": item.session,
        });
        if item.cause.is_some() {
            shape["caused_by"] = self.name(item.cause, item_name);
        }
        if let Some(by) = self.superseded.get(&item.seq) {
            shape["superseded_by"] = self.name(Some(*by), item_name);
        }
        let fields = match self.shows(item) {
            true => self.fields(item),
            false => json!({ "hidden": true }),
        };
        if let (Some(shape), Value::Object(fields)) = (shape.as_object_mut(), fields) {
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
        json!({
            "entity_uuid": self.name(item.entity, entity_name),
            "entity_type": delta.kind,
            "handle": delta.handle,
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

/// The thread that an item is about.
pub fn thread_of(tx: &mut Tx<'_>, ws: Ws, item: &Item) -> Result<Option<Id>> {
    #[derive(serde::Deserialize)]
    struct Kind {
        kind: String,
    }
    match item.kind.as_str() {
        MESSAGE | READ_ACK => Ok(item.entity),
        ENTITY_DELTA => {
            let text = item.content.as_deref().unwrap_or_default();
            let kind = serde_json::from_str::<Kind>(text).map(|of| of.kind);
            thread_behind(tx, ws, &kind.unwrap_or_default(), item.entity)
        }
        _ => Ok(None),
    }
}

/// The thread that an entity is, or is about.
fn thread_behind(tx: &mut Tx<'_>, ws: Ws, kind: &str, id: Option<Id>) -> Result<Option<Id>> {
    match (kind, id) {
        (THREAD, id) => Ok(id),
        (WAKE, Some(id)) => threads::woken_for(tx, ws, id),
        _ => Ok(None),
    }
}

/// Refuses an entity of a thread to whoever may not read that.
pub fn check_readable(tx: &mut Tx<'_>, ws: Ws, caller: &Caller, entity: &Entity) -> Result<()> {
    match thread_behind(tx, ws, &entity.kind, Some(entity.id))? {
        Some(thread) if !may_read(tx, ws, caller, thread)? => {
            let message = "you take no part in the thread that this belongs to";
            Err(Fault::new(Code::Forbidden, message)
                .hint("Its participants, an operator and an orchestrator read it."))
        }
        _ => Ok(()),
    }
}

/// Whether a caller may read what is said in a thread.
pub fn may_read(tx: &mut Tx<'_>, ws: Ws, caller: &Caller, thread: Id) -> Result<bool> {
    if caller.role != Role::Worker {
        return Ok(true);
    }
    let part = threads::participant(tx, ws, &caller.agent, thread)?;
    Ok(part.is_some_and(|part| part.member))
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
    if !entity.handle.starts_with("entity_") {
        shape["handle"] = entity.handle.clone().into();
    }
    if entity.kind == LOG {
        shape["log"] = log_of(tx, ws, entity.id)?;
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
    if check_readable(tx, ws, caller, &entity).is_err() {
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
