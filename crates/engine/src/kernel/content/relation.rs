//! Relations that an item says by one of its fields: what a message answers, and what an entity
//! was derived from, is grouped with and was superseded by.
//!
//! Such a relation is named after the item and the field: `rel_<uuid>.replies_to`.

use understory_model::error::Result;
use understory_model::item::Item;
use understory_model::{Id, Seq, Ws};
use understory_storage::relations::Relation;
use understory_storage::{ReadTx, items, links, relations as rows};

use crate::kernel::versions::change_of;

/// Changes of an entity that are read at once to find the one that made a link.
const CHUNK: i64 = 200;

/// The field that says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Said {
    RepliesTo,
    DerivedFrom,
    Group,
    SupersededBy,
}

impl Said {
    const ALL: [Said; 4] = [
        Said::RepliesTo,
        Said::DerivedFrom,
        Said::Group,
        Said::SupersededBy,
    ];

    /// Its number among the relations of an item: those of its text count from 1, and 0 is the one
    /// that the item itself makes.
    pub fn number(self) -> i64 {
        match self {
            Said::RepliesTo => -1,
            Said::DerivedFrom => -2,
            Said::Group => -3,
            Said::SupersededBy => -4,
        }
    }

    pub fn of_number(n: i64) -> Option<Said> {
        Said::ALL.into_iter().find(|said| said.number() == n)
    }

    pub fn field(self) -> &'static str {
        match self {
            Said::RepliesTo => "replies_to",
            Said::DerivedFrom => DERIVED_FROM,
            Said::Group => GROUP,
            Said::SupersededBy => SUPERSEDED_BY,
        }
    }

    /// The kind of relation that it is.
    pub fn kind(self) -> &'static str {
        match self {
            Said::RepliesTo => "replies_to",
            Said::DerivedFrom => "derived_from",
            Said::Group => "groups_with",
            Said::SupersededBy => "supercedes",
        }
    }

    /// Whether it is a link between entities.
    pub fn is_link(self) -> bool {
        self != Said::RepliesTo
    }
}

/// The number that a field has in the name of a relation.
pub fn said_number(field: &str) -> Option<i64> {
    let said = Said::ALL.into_iter().find(|said| said.field() == field);
    said.map(Said::number)
}

/// The link that a change of an entity made, as the relation it is.
pub fn link_of(tx: &mut ReadTx<'_>, ws: Ws, item: &Item, n: i64) -> Result<Option<Relation>> {
    let said = Said::of_number(n).filter(|said| said.is_link());
    let (Some(said), Some(entity)) = (said, item.entity) else {
        return Ok(None);
    };
    let Some(delta) = change_of(item)? else {
        return Ok(None);
    };
    let link = delta
        .links
        .iter()
        .find(|link| link.relation == said.field() && !link.remove);
    let Some(link) = link else { return Ok(None) };
    let still = links::targets(tx, ws, entity, said.field())?;
    Ok(still
        .contains(&link.to.id)
        .then(|| relation(said, item, (entity, link.to.id))))
}

fn relation(said: Said, item: &Item, (entity, other): (Id, Id)) -> Relation {
    // What took an entity's place is the newer of the two, and the source.
    let (source, target) = match said {
        Said::SupersededBy => (other, entity),
        _ => (entity, other),
    };
    Relation {
        made: item.seq,
        n: said.number(),
        kind: said.kind().to_string(),
        source,
        source_type: "entity".to_string(),
        target,
        target_type: "entity".to_string(),
        fragment: None,
        inferred: false,
        found: Default::default(),
        place: None,
        fossil: !is_mutable(said.kind()),
        at: item.realized_at,
    }
}

/// The relations that leave an entity by what it or another says of itself.
pub fn links_from(tx: &mut ReadTx<'_>, ws: Ws, id: Id) -> Result<Vec<Relation>> {
    let mut found = own(tx, ws, id, &[Said::DerivedFrom, Said::Group])?;
    found.extend(of_others(tx, ws, id, &[Said::SupersededBy])?);
    Ok(found)
}

/// Those that reach it.
pub fn links_to(tx: &mut ReadTx<'_>, ws: Ws, id: Id) -> Result<Vec<Relation>> {
    let mut found = own(tx, ws, id, &[Said::SupersededBy])?;
    found.extend(of_others(tx, ws, id, &[Said::DerivedFrom, Said::Group])?);
    Ok(found)
}

/// What an entity says of itself.
fn own(tx: &mut ReadTx<'_>, ws: Ws, id: Id, fields: &[Said]) -> Result<Vec<Relation>> {
    let mut found = Vec::new();
    for said in fields {
        for other in links::targets(tx, ws, id, said.field())? {
            found.extend(made(tx, ws, *said, (id, other))?);
        }
    }
    Ok(found)
}

/// What others say of themselves that is about an entity.
fn of_others(tx: &mut ReadTx<'_>, ws: Ws, id: Id, fields: &[Said]) -> Result<Vec<Relation>> {
    let mut found = Vec::new();
    for said in fields {
        for other in links::sources(tx, ws, id, said.field())? {
            found.extend(made(tx, ws, *said, (other, id))?);
        }
    }
    Ok(found)
}

/// A link with the change that made it: mostly the one that made its entity.
fn made(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    said: Said,
    (entity, other): (Id, Id),
) -> Result<Option<Relation>> {
    let says = |item: &Item| -> Result<bool> {
        let delta = change_of(item)?;
        let links = delta.map(|delta| delta.links).unwrap_or_default();
        let it = |link: &understory_model::item::LinkChange| {
            link.relation == said.field() && link.to.id == other && !link.remove
        };
        Ok(links.iter().any(it))
    };
    if let Some(item) = items::get(tx, ws, entity.seq())?
        && says(&item)?
    {
        return Ok(Some(relation(said, &item, (entity, other))));
    }
    let mut before = Seq::MAX;
    loop {
        let batch = items::of_entity(tx, ws, entity, before, CHUNK)?;
        let Some(last) = batch.last() else {
            return Ok(None);
        };
        before = last.seq;
        for item in &batch {
            if says(item)? {
                return Ok(Some(relation(said, item, (entity, other))));
            }
        }
    }
}

/// What stands at an end of a relation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndType {
    Item,
    Entity,
    Artifact,
    Fragment,
}

impl EndType {
    pub fn name(self) -> &'static str {
        match self {
            EndType::Item => "item",
            EndType::Entity => "entity",
            EndType::Artifact => "artifact",
            EndType::Fragment => "fragment",
        }
    }
}

/// What `caused_by` said of an item, as the relation it is.
pub fn triggered(effect: &Item) -> Relation {
    Relation {
        made: effect.seq,
        n: 0,
        kind: TRIGGERS.to_string(),
        source: Id::of(effect.cause.unwrap_or_default()),
        source_type: "item".to_string(),
        target: Id::of(effect.seq),
        target_type: "item".to_string(),
        fragment: None,
        inferred: false,
        found: Default::default(),
        place: None,
        fossil: true,
        at: effect.realized_at,
    }
}

/// The relation that an item says by this number: by a row of its own, a field, or its cause.
pub fn one(tx: &mut ReadTx<'_>, ws: Ws, made: Seq, n: i64) -> Result<Option<Relation>> {
    if let Some(one) = rows::get(tx, ws, made, n)? {
        return Ok(Some(one));
    }
    let Some(item) = items::get(tx, ws, made)? else {
        return Ok(None);
    };
    let said = link_of(tx, ws, &item, n)?;
    let caused = item.cause.is_some() && n == 0;
    Ok(said.or_else(|| caused.then(|| triggered(&item))))
}

pub const TRIGGERS: &str = "triggers";
pub const CONTINUES: &str = "continues";
pub const SUPERCEDES: &str = "supercedes";
pub const MENTIONS: &str = "mentions";

/// Every kind, and whether somebody may change their mind about it.
pub const KINDS: [(&str, bool); 8] = [
    (TRIGGERS, false),
    (SUPERCEDES, false),
    ("replies_to", false),
    (CONTINUES, false),
    ("contains", false),
    (MENTIONS, true),
    ("derived_from", true),
    ("groups_with", true),
];

/// Whether relations of a kind can be removed and can fade.
pub fn is_mutable(kind: &str) -> bool {
    KINDS.contains(&(kind, true))
}

/// What an entity may point to, besides its value.
pub const GROUP: &str = "group_id";
pub const DERIVED_FROM: &str = "derived_from";
pub const SUPERSEDED_BY: &str = "superseded_by";
/// The action whose reason the server gives.
pub const REVERTED: &str = "reverted";
