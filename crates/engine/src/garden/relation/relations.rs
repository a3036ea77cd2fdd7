//! `garden_relations`: what a thing is related to, with a glimpse of the other end.
//!
//! One question for all of it: relations that somebody made, what texts mention, what `caused_by`
//! and `in_reply_to` say, and what an entity says of itself. An entity has those of all its items.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Number, Value};
use understory_model::answer::{Fit, Next, Shape};
use understory_model::error::{Fault, Result};
use understory_model::fade::{self, ONE};
use understory_model::id::{entity_name, item_name};
use understory_model::page::{Cursor, Key};
use understory_model::{Caller, Id, Seq, Time, Ws};
use understory_storage::relations::{End, Relation};
use understory_storage::{ReadTx, causes, entities, items, relations as rows, timeline};

use crate::View;
use crate::garden::page::Paging;
use crate::garden::relation::relate::check_kind;
use crate::garden::shape::{self, EntityShape, Shapes};
use crate::kernel::access::Reader;
use crate::kernel::checked::{Check, Checked};
use crate::kernel::content::relation::{
    TRIGGERS, is_mutable, links_from, links_to, one, triggered,
};
use crate::kernel::core::Thing;
use crate::kernel::names::{self, Found, Scope};
use crate::kernel::titles::{self, relation_name};
use crate::kinds::{LOG, RELATION};

pub use crate::kernel::content::relation::Said;
pub use crate::kernel::content::relation::link_of;
pub use crate::kernel::content::relation::said_number;

const CURSOR: &str = "garden.relations";
/// Relations looked at in one call: what is filtered out costs time too.
const LOOKED_AT: usize = 5_000;

/// What is asked for.
#[derive(Debug, Clone)]
pub struct Asked {
    pub of: String,
    pub kind: Option<String>,
    pub outgoing: bool,
    pub incoming: bool,
    /// The least confidence; what nobody doubted counts as certain.
    pub min_confidence: Option<f64>,
    /// The least strength; what does not fade counts as one.
    pub min_strength: Option<f64>,
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
            .detail("field", "direction")
            .detail("allowed", ["out", "in", "both"])),
    }
}

impl Check for Asked {
    fn check(&self) -> Result<()> {
        if let Some(kind) = &self.kind {
            check_kind(kind)?;
        }
        let least = [
            ("min_confidence", self.min_confidence),
            ("min_strength", self.min_strength),
        ];
        for (field, least) in least {
            if least.is_some_and(|least| !(0.0..=1.0).contains(&least)) {
                return Err(Fault::invalid(field, "must be between 0 and 1"));
            }
        }
        Ok(())
    }
}

/// The answer of `garden_relations`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Relations {
    pub relations: Vec<RelationShape>,
    #[serde(flatten)]
    pub paging: Paging,
}

impl Fit for Relations {
    const SHAPE: Shape = Shape::Pagination { list: "relations" };

    fn cursor(&self, kept: usize) -> Option<Next> {
        self.paging.cursor(kept)
    }
}

/// A relation, or the entity that one was which was taken back.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Shown {
    Relation(Box<RelationShape>),
    Entity(Box<EntityShape>),
}

/// How two things stand to each other.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct RelationShape {
    /// `rel_<uuid>`, with the number or field of what an item says.
    pub uuid: Option<String>,
    /// Such as triggers, replies_to or mentions.
    pub kind: String,
    pub source: Option<String>,
    /// item, entity, artifact or fragment.
    pub source_type: String,
    pub target: Option<String>,
    pub target_type: String,
    pub realized_at: Time,
    pub layer: Layer,
    /// The part of a message, or the line, that it leads to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fragment: Option<String>,
    /// The field of the text that says it, where in it in characters, and in which line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span: Option<(i64, i64)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<i64>,
    /// From 0 to 1, for what fades unless it is cited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strength: Option<f64>,
    /// From 0 to 1; null where nobody said.
    pub confidence: Option<Number>,
    /// What its author said of it; `inferred` where it was found in a text.
    pub metadata: Option<Map<String, Value>>,
    /// What stands at the other end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview: Option<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub removed: bool,
}

/// Where a relation is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Layer {
    /// It says what happened, or has faded: it stays.
    Soil,
    /// It may fade or be removed.
    Core,
}

/// A relation as a thing has it.
struct Seen {
    one: Relation,
    /// Whether it leaves the thing.
    outgoing: bool,
}

pub fn relations(
    view: &mut View<'_, '_>,
    scope: Scope<'_>,
    asked: &Checked<Asked>,
) -> Result<Relations> {
    let caller = view.caller;
    let (tx, ws) = (&mut *view.tx, view.ws);
    let found = if asked.of.contains('#') {
        Found::Item(Box::new(names::item(tx, scope, "of", &asked.of)?))
    } else {
        names::find(tx, scope, "of", &asked.of)?
    };
    let mut after = match &asked.cursor {
        Some(cursor) => {
            let cursor = Cursor::decode(cursor, CURSOR)?;
            (cursor.int(0)?, cursor.int(1)?)
        }
        None => (Seq::ZERO, i64::MIN),
    };
    let most = usize::try_from(asked.limit).unwrap_or(0);
    let (mut shown, mut cursors, mut looked) = (Vec::new(), Vec::new(), 0);
    let mut reader = Reader::new(caller);
    // Where to go on when much was looked at and little of it is wanted.
    let mut on = None;
    let more = loop {
        let batch = collect(tx, ws, &found, asked, after)?;
        let whole = batch.len() > most;
        let Some(last) = batch.last() else {
            break false;
        };
        after = (last.one.made, last.one.n);
        looked += batch.len();
        for seen in batch {
            if !reader.relation(tx, ws, &seen.one)? {
                continue;
            }
            let mut shape = shape_of(tx, ws, view.now, &seen.one)?;
            if !passes(&shape, asked) {
                continue;
            }
            let one = &seen.one;
            let (other, kind) = if seen.outgoing {
                (one.target, &one.target_type)
            } else {
                (one.source, &one.source_type)
            };
            shape.preview = Some(preview(tx, ws, caller, other, kind)?);
            let keys = vec![Key::from(one.made), Key::Int(one.n)];
            cursors.push(Cursor::new(CURSOR, keys).encode());
            shown.push(shape);
        }
        if shown.len() > most {
            break true;
        }
        if !whole {
            break false;
        }
        if looked >= LOOKED_AT {
            let keys = vec![Key::from(after.0), Key::Int(after.1)];
            on = Some(Cursor::new(CURSOR, keys).encode());
            break false;
        }
    };
    shown.truncate(most);
    cursors.truncate(most);
    Ok(Relations {
        relations: shown,
        paging: match on {
            Some(place) => Paging::going_on(cursors, place),
            None => Paging::new(cursors, more),
        },
    })
}

/// Whether a relation is as sure and as strong as asked.
fn passes(shape: &RelationShape, asked: &Asked) -> bool {
    let least = |value: Option<f64>, least: Option<f64>| {
        least.is_none_or(|least| value.unwrap_or(1.0) >= least)
    };
    let confidence = shape.confidence.as_ref().and_then(Number::as_f64);
    least(confidence, asked.min_confidence) && least(shape.strength, asked.min_strength)
}

/// The next relations of a thing after a place, in order, one more than wanted.
fn collect(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    found: &Found,
    asked: &Asked,
    after: (Seq, i64),
) -> Result<Vec<Seen>> {
    let (id, kind) = (found.id(), asked.kind.as_deref());
    let most = asked.limit + 1;
    let page = (after, most);
    let entity = matches!(found, Found::Entity(_));
    let mut there: Vec<Seen> = Vec::new();
    let sides = [
        (asked.outgoing, End::Source, true),
        (asked.incoming, End::Target, false),
    ];
    for (_, end, outgoing) in sides.into_iter().filter(|(wanted, ..)| *wanted) {
        let mut some = rows::of(tx, ws, id, end, kind, page)?;
        if entity {
            some.extend(rows::of_items(tx, ws, id, end, kind, page)?);
            some.extend(match end {
                End::Source => links_from(tx, ws, id)?,
                End::Target => links_to(tx, ws, id)?,
            });
        }
        if kind.is_none_or(|kind| kind == TRIGGERS) {
            some.extend(triggers(tx, ws, found, end, (after.0 - 1, most))?);
        }
        some.retain(|one| (one.made, one.n) > after);
        some.retain(|one| kind.is_none_or(|kind| kind == one.kind));
        there.extend(some.into_iter().map(|one| Seen { one, outgoing }));
    }
    there.sort_by_key(|seen| (seen.one.made, seen.one.n));
    there.dedup_by_key(|seen| (seen.one.made, seen.one.n));
    there.truncate(usize::try_from(most).unwrap_or(0));
    Ok(there)
}

/// What `caused_by` said of a thing, or of the items that are about it.
fn triggers(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    found: &Found,
    end: End,
    (after, most): (Seq, i64),
) -> Result<Vec<Relation>> {
    let effects = match (found, end) {
        (Found::Entity(entity), End::Source) => causes::led_to(tx, ws, entity.id, after, most)?,
        (Found::Entity(entity), End::Target) => causes::caused(tx, ws, entity.id, after, most)?,
        (_, End::Source) => timeline::effects(tx, ws, found.id().seq(), after, most)?,
        (Found::Item(item), End::Target) if item.cause.is_some() => vec![item.as_ref().clone()],
        _ => Vec::new(),
    };
    Ok(effects.iter().map(triggered).collect())
}

/// One relation by its name; one that was taken back is shown as the entity that it was.
pub fn shown(tx: &mut ReadTx<'_>, ws: Ws, now: Time, made: Seq, n: i64) -> Result<Option<Shown>> {
    if let Some(one) = one(tx, ws, made, n)? {
        let shape = shape_of(tx, ws, now, &one)?;
        return Ok(Some(Shown::Relation(Box::new(shape))));
    }
    let relation = entities::get(tx, ws, Id::of(made))?.filter(|made| made.kind == RELATION);
    match relation.filter(|_| n == 0) {
        Some(entity) => {
            let shape = shape::entity(tx, ws, entity)?;
            Ok(Some(Shown::Entity(Box::new(shape))))
        }
        None => Ok(None),
    }
}

fn shape_of(tx: &mut ReadTx<'_>, ws: Ws, now: Time, one: &Relation) -> Result<RelationShape> {
    let made = items::uuids(tx, ws, &[one.made])?;
    // What an entity says of itself stays as long as it says so.
    let fading = is_mutable(&one.kind) && one.n >= 0;
    let strength = if fading {
        Some(strength(tx, ws, one, now)? as f64 / ONE as f64)
    } else {
        None
    };
    let said = said_of(tx, ws, one)?;
    let place = one.place.as_ref();
    Ok(RelationShape {
        uuid: made.get(&one.made).map(|uuid| relation_name(uuid, one.n)),
        kind: one.kind.clone(),
        source: name_of(tx, ws, one.source, &one.source_type)?,
        source_type: one.source_type.clone(),
        target: name_of(tx, ws, one.target, &one.target_type)?,
        target_type: one.target_type.clone(),
        realized_at: one.at,
        layer: if one.fossil || !fading {
            Layer::Soil
        } else {
            Layer::Core
        },
        fragment: one.fragment.clone(),
        field: place.map(|place| place.field.clone()),
        span: place.map(|place| place.span),
        line: place.and_then(|place| place.line),
        strength,
        confidence: said.confidence,
        metadata: if one.inferred {
            Some(Map::from_iter([("inferred".to_string(), true.into())]))
        } else {
            said.metadata
        },
        preview: None,
        removed: false,
    })
}

/// What the author of a relation said of it.
fn said_of(tx: &mut ReadTx<'_>, ws: Ws, one: &Relation) -> Result<Remarks> {
    if one.inferred || one.n != 0 || one.kind == TRIGGERS && one.made == one.target.seq() {
        return Ok(Remarks::default());
    }
    let thing = entities::get(tx, ws, Id::of(one.made))?
        .map(Thing::open)
        .transpose()?;
    Ok(thing
        .and_then(|thing| Remarks::deserialize(&thing.data).ok())
        .unwrap_or_default())
}

#[derive(Default, Deserialize)]
struct Remarks {
    confidence: Option<Number>,
    metadata: Option<Map<String, Value>>,
}

/// How strong a relation is: as it was made, or as what it joins was cited since, whichever is
/// more.
pub fn strength(tx: &mut ReadTx<'_>, ws: Ws, one: &Relation, now: Time) -> Result<i64> {
    let mut strongest = fade::faded(ONE, one.at, now);
    for end in [one.source, one.target] {
        if let Some((strength, at)) = rows::touch(tx, ws, end)? {
            strongest = strongest.max(fade::faded(strength, at, now));
        }
    }
    Ok(strongest)
}

/// The name of a thing by its number.
pub fn name_of(tx: &mut ReadTx<'_>, ws: Ws, id: Id, kind: &str) -> Result<Option<String>> {
    let uuids = items::uuids_of(tx, ws, &[id])?;
    let Some(uuid) = uuids.get(&id) else {
        return Ok(None);
    };
    Ok(Some(match kind {
        "item" | "fragment" => item_name(uuid),
        _ => {
            if entities::get(tx, ws, id)?.is_some_and(|entity| entity.kind == LOG) {
                titles::log_name(uuid)
            } else {
                entity_name(uuid)
            }
        }
    }))
}

fn preview(tx: &mut ReadTx<'_>, ws: Ws, caller: &Caller, id: Id, kind: &str) -> Result<String> {
    if kind == "entity" || kind == "artifact" {
        return titles::entity_text(tx, ws, caller, id);
    }
    match items::get(tx, ws, id.seq())? {
        Some(item) => Ok(Shapes::load(tx, ws, caller, [&item])?.text(&item)),
        None => Ok(String::new()),
    }
}
