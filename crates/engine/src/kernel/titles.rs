//! What things are called in one line, and how their names are written.

use serde_json::{Map, Value};
use understory_model::error::Result;
use understory_model::id::entity_name;
use understory_model::text::cut;
use understory_model::{Caller, Id, Ws};
use understory_storage::{ReadTx, entities, items};
use uuid::Uuid;

use crate::kernel::access::may_read_entity;
use crate::kernel::content::relation::Said;
use crate::kernel::core::Thing;
use crate::kinds::LOG;

/// Characters of a preview.
pub const PREVIEW: usize = 160;

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

/// `entity_<uuid>` of an entity.
pub fn uuid_of(tx: &mut ReadTx<'_>, ws: Ws, id: Id) -> Result<Option<String>> {
    let made = items::uuids_of(tx, ws, &[id])?;
    Ok(made.get(&id).map(entity_name))
}

/// `uuid_<uuid>` of a conversation.
pub fn log_of(tx: &mut ReadTx<'_>, ws: Ws, id: Id) -> Result<Option<String>> {
    let made = items::uuids_of(tx, ws, &[id])?;
    Ok(made.get(&id).map(log_name))
}

/// What a value is called by its own fields.
pub fn named(data: &Map<String, Value>) -> Option<String> {
    let fields = ["title", "name", "label", "summary", "description"];
    let told = fields.iter().find_map(|field| data.get(*field)?.as_str());
    told.filter(|told| !told.trim().is_empty())
        .map(|told| cut(told, PREVIEW))
}

/// A line that says what an entity is.
pub fn entity_text(tx: &mut ReadTx<'_>, ws: Ws, caller: &Caller, id: Id) -> Result<String> {
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

/// A value that has no name: its fields, as many as a line holds.
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
