//! `garden_entity_history`: every change of an entity of any surface, and what it was at any hash,
//! version or moment.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use understory_model::answer::{Fit, Next, Shape};
use understory_model::error::{Fault, Result};
use understory_model::item::Item;
use understory_model::page::{Cursor, Key};
use understory_model::text::cut;
use understory_model::{Id, Seq, Time, Ws};
use understory_storage::{ReadTx, items};

use crate::View;
use crate::garden::page::Paging;
use crate::garden::shape::{self, EntityShape, ItemShape, Shapes};
use crate::kernel::core::Thing;
use crate::kernel::names::{self, Scope};
use crate::kernel::versions::{self, Version, change_of};

const CURSOR: &str = "garden.history";
/// Changes read at once.
const CHUNK: i64 = 200;

/// What is asked for.
#[derive(Debug, Clone)]
pub struct Asked {
    pub uuid: String,
    pub at: Option<Value>,
    pub cursor: Option<String>,
    pub limit: i64,
}

/// The answer of `garden_entity_history`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct History {
    /// Its changes, newest first.
    pub deltas: Vec<ItemShape>,
    /// The entity as it was at `at`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entity: Option<EntityShape>,
    #[serde(flatten)]
    pub paging: Paging,
}

impl Fit for History {
    const SHAPE: Shape = Shape::Pagination { list: "deltas" };

    fn cursor(&self, kept: usize) -> Option<Next> {
        self.paging.cursor(kept)
    }
}

pub fn history(view: &mut View<'_, '_>, scope: Scope<'_>, asked: &Asked) -> Result<History> {
    let caller = view.caller;
    let (tx, ws) = (&mut *view.tx, view.ws);
    let entity = names::entity(tx, scope, "uuid", &asked.uuid)?;
    let thing = Thing::open(entity)?;
    let was = match &asked.at {
        Some(at) if !at.is_null() => Some(at_shape(tx, ws, &thing, at)?),
        _ => None,
    };
    let before = match &asked.cursor {
        Some(cursor) => Cursor::decode(cursor, CURSOR)?.int(0)?,
        None => Seq::MAX,
    };
    let mut found = deltas(tx, ws, thing.entity.id, before, asked.limit + 1)?;
    let most = usize::try_from(asked.limit).unwrap_or(0);
    let more = found.len() > most;
    found.truncate(most);
    let cursor = |item: &Item| Cursor::new(CURSOR, vec![Key::from(item.seq)]).encode();
    let cursors = found.iter().map(cursor).collect();
    let shapes = Shapes::load(tx, ws, caller, &found)?;
    Ok(History {
        deltas: found.iter().map(|item| shapes.change(item)).collect(),
        entity: was,
        paging: Paging::new(cursors, more),
    })
}

/// Changes of an entity, newest first; what else is about it is passed over.
fn deltas(tx: &mut ReadTx<'_>, ws: Ws, id: Id, mut before: Seq, most: i64) -> Result<Vec<Item>> {
    let mut found = Vec::new();
    let most = usize::try_from(most).unwrap_or(0);
    while found.len() < most {
        let batch = items::of_entity(tx, ws, id, before, CHUNK)?;
        let Some(last) = batch.last() else { break };
        before = last.seq;
        for item in batch {
            if change_of(&item)?.is_some() {
                found.push(item);
            }
        }
    }
    found.truncate(most);
    Ok(found)
}

/// An entity as it was, with the hash that it had.
fn at_shape(tx: &mut ReadTx<'_>, ws: Ws, thing: &Thing, at: &Value) -> Result<EntityShape> {
    let version = self::at(tx, ws, thing, "at", at)?;
    let item = items::get(tx, ws, version.seq)?;
    let delta = match &item {
        Some(item) => change_of(item)?,
        None => None,
    };
    let mut was = thing.clone();
    was.data = version.data;
    was.entity.version = version.number;
    was.entity.updated_at = version.at;
    if let Some(delta) = delta {
        was.entity.hash = delta.commit;
        was.entity.previous_hash = delta.parent;
    }
    shape::entity_as(tx, ws, &was)
}

/// The version that a number, a hash or a moment stands for.
pub fn at(tx: &mut ReadTx<'_>, ws: Ws, thing: &Thing, field: &str, at: &Value) -> Result<Version> {
    let seq = match at {
        Value::Number(number) => number.as_i64().map(Wanted::Number),
        Value::String(text) => text
            .parse::<i64>()
            .ok()
            .filter(|_| text.len() < 10)
            .map_or_else(
                || {
                    if is_hash(text) {
                        Some(Wanted::Hash(text.clone()))
                    } else {
                        Time::parse(field, text).ok().map(Wanted::Moment)
                    }
                },
                |number| Some(Wanted::Number(number)),
            ),
        _ => None,
    };
    let Some(wanted) = seq else {
        return Err(
            Fault::invalid(field, "must be a version number, a hash or a time").hint(
                "A number is a version, a text a hash or a time such as 2026-02-17T12:00:00Z.",
            ),
        );
    };
    let none = || {
        let shown = cut(&at.to_string(), 80);
        Fault::not_found(format!("the entity was never at {shown}"))
            .hint("garden_entity_history lists its versions and their hashes.")
    };
    let place = place(tx, ws, thing, &wanted)?.ok_or_else(none)?;
    versions::at(tx, ws, thing, place)?.ok_or_else(none)
}

enum Wanted {
    Number(i64),
    Hash(String),
    Moment(Time),
}

fn is_hash(text: &str) -> bool {
    (7..=64).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_hexdigit())
}

/// The place of the change that made the version.
fn place(tx: &mut ReadTx<'_>, ws: Ws, thing: &Thing, wanted: &Wanted) -> Result<Option<Seq>> {
    let mut before = Seq::MAX;
    loop {
        let batch = items::of_entity(tx, ws, thing.entity.id, before, CHUNK)?;
        let Some(last) = batch.last() else {
            return Ok(None);
        };
        before = last.seq;
        for item in &batch {
            let Some(change) = change_of(item)? else {
                continue;
            };
            let met = match wanted {
                Wanted::Moment(moment) => item.realized_at <= *moment,
                Wanted::Number(number) => change.version == *number,
                Wanted::Hash(hash) => change.commit.starts_with(hash.as_str()),
            };
            if met {
                return Ok(Some(item.seq));
            }
        }
    }
}
