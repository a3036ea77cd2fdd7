//! `garden_relations`: what a thing is related to, whoever said so, with a glimpse of the other end.

use serde_json::{Map, Value, json};
use understory_model::budget::Budget;
use understory_model::error::{Fault, Result};
use understory_model::fade::{self, ONE};
use understory_model::id::{entity_name, item_name};
use understory_model::item::Item;
use understory_model::page::{Cursor, Key};
use understory_model::{Caller, Id, Seq, Time, Ws};
use understory_storage::entities;
use understory_storage::relations::{self as rows, End, Relation};
use understory_storage::{Tx, items, timeline};

use super::name::{self, Found};
use super::relate::{TRIGGERS, is_mutable};
use super::shape::{self, Shapes, relation_name};
use super::timeline::paged;
use crate::View;
use crate::core::Thing;
use crate::projection::LOG;

const CURSOR: &str = "garden.relations";

/// What is asked for.
#[derive(Debug, Clone)]
pub struct Asked {
    pub of: String,
    pub kind: Option<String>,
    pub outgoing: bool,
    pub incoming: bool,
    pub cursor: Option<String>,
    pub limit: i64,
}

/// Which directions a caller wants, outgoing and incoming.
pub fn directions(named: Option<&str>) -> Result<(bool, bool)> {
    match named {
        None | Some("both") => Ok((true, true)),
        Some("out") => Ok((true, false)),
        Some("in") => Ok((false, true)),
        Some(_) => Err(Fault::invalid("direction", "must be one of out, in, both")
            .details(json!({ "field": "direction", "allowed": ["out", "in", "both"] }))),
    }
}

pub fn relations(
    view: &mut View<'_, '_>,
    caller: &Caller,
    asked: &Asked,
    budget: &Budget,
) -> Result<Value> {
    let (tx, ws) = (&mut *view.tx, view.ws);
    let bare = asked
        .of
        .split_once('#')
        .map_or(asked.of.as_str(), |(item, _)| item);
    let found = name::find(tx, ws, "of", bare)?;
    let after = match &asked.cursor {
        Some(cursor) => {
            let cursor = Cursor::decode(cursor, CURSOR)?;
            (cursor.int(0)?, cursor.int(1)?)
        }
        None => (0, -1),
    };
    let mut there = collect(tx, ws, &found, asked, after)?;
    there.sort_by_key(|one| (one.made, one.n));
    there.dedup_by_key(|one| (one.made, one.n));
    let most = usize::try_from(asked.limit).unwrap_or(0);
    let more = there.len() > most;
    there.truncate(most);
    let cursor =
        |one: &Relation| Cursor::new(CURSOR, vec![Key::Int(one.made), Key::Int(one.n)]).encode();
    let cursors: Vec<String> = there.iter().map(cursor).collect();
    let mut shown = Vec::with_capacity(there.len());
    for one in &there {
        let mut shape = shape_of(tx, ws, view.now, one)?;
        let (other, kind) = match one.source == found.id() {
            true => (one.target, &one.target_type),
            false => (one.source, &one.source_type),
        };
        shape["preview"] = preview(tx, ws, caller, other, kind)?.into();
        shown.push(shape);
    }
    let answer = json!({ "relations": shown });
    Ok(paged(answer, "relations", (&cursors, more), budget))
}

fn collect(
    tx: &mut Tx<'_>,
    ws: Ws,
    found: &Found,
    asked: &Asked,
    after: (Seq, i64),
) -> Result<Vec<Relation>> {
    let (id, kind, page) = (found.id(), asked.kind.as_deref(), (after, asked.limit + 1));
    let causes = kind.is_none_or(|kind| kind == TRIGGERS);
    let mut there = Vec::new();
    if asked.outgoing {
        there.extend(rows::of(tx, ws, id, End::Source, kind, page)?);
        if causes {
            let effects = timeline::effects(tx, ws, id, after.0, asked.limit + 1)?;
            there.extend(effects.iter().map(triggered));
        }
    }
    if asked.incoming {
        there.extend(rows::of(tx, ws, id, End::Target, kind, page)?);
        if causes && let Found::Item(item) = found {
            let own = item.cause.map(|_| triggered(item));
            there.extend(own.filter(|one| (one.made, one.n) > after));
        }
    }
    Ok(there)
}

/// What `caused_by` said of an item, as the relation it is.
fn triggered(effect: &Item) -> Relation {
    Relation {
        made: effect.seq,
        n: 0,
        kind: TRIGGERS.to_string(),
        source: effect.cause.unwrap_or_default(),
        source_type: "item".to_string(),
        target: effect.seq,
        target_type: "item".to_string(),
        fragment: None,
        inferred: false,
        fossil: true,
        at: effect.realized_at,
    }
}

/// One relation by its name.
pub fn shown(tx: &mut Tx<'_>, ws: Ws, now: Time, made: Seq, n: i64) -> Result<Value> {
    if let Some(one) = rows::get(tx, ws, made, n)? {
        return shape_of(tx, ws, now, &one);
    }
    if let Some(entity) = entities::get(tx, ws, made)? {
        return shape::entity(tx, ws, entity);
    }
    match items::get(tx, ws, made)? {
        Some(effect) => shape_of(tx, ws, now, &triggered(&effect)),
        None => Ok(Value::Null),
    }
}

fn shape_of(tx: &mut Tx<'_>, ws: Ws, now: Time, one: &Relation) -> Result<Value> {
    let made = items::uuids(tx, ws, &[one.made])?;
    let uuid = made.get(&one.made).map(|uuid| relation_name(uuid, one.n));
    let fading = is_mutable(&one.kind);
    let mut shape = json!({
        "uuid": uuid,
        "kind": one.kind,
        "source": name_of(tx, ws, one.source, &one.source_type)?,
        "source_type": one.source_type,
        "target": name_of(tx, ws, one.target, &one.target_type)?,
        "target_type": one.target_type,
        "realized_at": one.at.to_string(),
        "layer": if one.fossil || !fading { "soil" } else { "core" },
    });
    if let Some(fragment) = &one.fragment {
        shape["fragment"] = fragment.clone().into();
    }
    if fading {
        let strength = strength(tx, ws, one, now)?;
        shape["strength"] = (strength as f64 / ONE as f64).into();
    }
    let said = said_of(tx, ws, one)?;
    shape["confidence"] = said.get("confidence").cloned().unwrap_or_default();
    shape["metadata"] = match one.inferred {
        true => json!({ "inferred": true }),
        false => said.get("metadata").cloned().unwrap_or_default(),
    };
    Ok(shape)
}

/// What whoever made a relation said of it.
fn said_of(tx: &mut Tx<'_>, ws: Ws, one: &Relation) -> Result<Map<String, Value>> {
    if one.inferred || one.kind == TRIGGERS && one.made == one.target {
        return Ok(Map::new());
    }
    let entity = entities::get(tx, ws, one.made)?;
    Ok(entity
        .map(Thing::open)
        .transpose()?
        .map(|thing| thing.data)
        .unwrap_or_default())
}

/// How strong a relation is: as it was made, or as what it joins was cited since, whichever is more.
pub fn strength(tx: &mut Tx<'_>, ws: Ws, one: &Relation, now: Time) -> Result<i64> {
    let mut strongest = fade::faded(ONE, one.at, now);
    for end in [one.source, one.target] {
        if let Some((strength, at)) = rows::touch(tx, ws, end)? {
            strongest = strongest.max(fade::faded(strength, at, now));
        }
    }
    Ok(strongest)
}

/// The name of a thing by its number.
pub fn name_of(tx: &mut Tx<'_>, ws: Ws, id: Id, kind: &str) -> Result<Value> {
    let uuids = items::uuids(tx, ws, &[id])?;
    let Some(uuid) = uuids.get(&id) else {
        return Ok(Value::Null);
    };
    Ok(match kind {
        "item" | "fragment" => item_name(uuid).into(),
        _ => match entities::get(tx, ws, id)?.is_some_and(|entity| entity.kind == LOG) {
            true => shape::log_name(uuid).into(),
            false => entity_name(uuid).into(),
        },
    })
}

fn preview(tx: &mut Tx<'_>, ws: Ws, caller: &Caller, id: Id, kind: &str) -> Result<String> {
    if kind == "entity" || kind == "artifact" {
        return shape::entity_text(tx, ws, caller, id);
    }
    match items::get(tx, ws, id)? {
        Some(item) => Ok(Shapes::load(tx, ws, caller, [&item])?.text(&item)),
        None => Ok(String::new()),
    }
}
