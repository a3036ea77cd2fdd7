//! Entities of the garden: anything that is believed, version by version.
//!
//! Each change names the version that it was made from; one that was made from an older version is
//! refused with the current one. Entities of the other surfaces are changed by their own tools.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use understory_model::error::{Code, Fault, Result};
use understory_model::item::{LinkChange, Named};
use understory_model::text::{check_text, cut};
use understory_model::{Id, Seq, Time, Ws, limits};
use understory_storage::entities::Entity;
use understory_storage::{Tx, items, links};

use super::shape::EntityShape;
use super::{history, shape};
use crate::Work;
use crate::kinds::EntityKind;
use crate::names;
use crate::project;
use crate::projection::OWN_KINDS;
use crate::versions::delta_of;
use crate::work::{Create, Edit};

/// What an entity may point to, besides its value.
pub const GROUP: &str = "group_id";
pub const DERIVED_FROM: &str = "derived_from";
pub const SUPERSEDED_BY: &str = "superseded_by";
/// The action whose reason the server gives.
pub const REVERTED: &str = "reverted";

/// An entity to be made.
#[derive(Debug, Clone)]
pub struct New {
    pub kind: String,
    pub data: Map<String, Value>,
    pub group_id: Option<String>,
    pub derived_from: Option<String>,
    pub project: Option<String>,
}

pub fn check(new: &New) -> Result<()> {
    check_text("type", &new.kind, limits::NAME_CHARS, false)?;
    if OWN_KINDS.contains(&new.kind.as_str()) {
        let problem = format!("{} has tools of its own", new.kind);
        return Err(Fault::invalid("type", problem).hint("Use another name."));
    }
    check_data(&new.data)
}

fn check_data(data: &Map<String, Value>) -> Result<()> {
    match data.len() > limits::PROPERTIES {
        true => {
            let (count, most) = (data.len(), limits::PROPERTIES);
            let problem = format!("has {count} fields; at most {most} are allowed");
            Err(Fault::invalid("data", problem))
        }
        false if data.contains_key("") => {
            Err(Fault::invalid("data", "has a field whose name is empty"))
        }
        false => data.keys().try_for_each(|name| {
            check_text("data", name, limits::NAME_CHARS, false).map_err(|fault| {
                let shown = cut(name, 40);
                Fault::invalid(
                    "data",
                    format!("has a field {shown:?} whose {}", fault.message),
                )
            })
        }),
    }
}

pub fn create(work: &mut Work<'_, '_>, new: &New) -> Result<Changed> {
    let project = project::to_write(work, new.project.as_deref(), false)?;
    let scope = work.scope()?;
    let mut links = Vec::new();
    for (relation, named) in [(GROUP, &new.group_id), (DERIVED_FROM, &new.derived_from)] {
        if let Some(named) = named {
            let to = names::entity(work.tx, scope, relation, named)?;
            links.push(link(relation, to));
        }
    }
    let id = work.create(Create {
        kind: EntityKind::of(&new.kind),
        project: Some(project),
        data: new.data.clone(),
        links,
        ..Create::default()
    })?;
    shown(work, id)
}

fn link(relation: &str, to: Entity) -> LinkChange {
    LinkChange {
        relation: relation.to_string(),
        to: Named {
            id: to.id,
            handle: to.handle,
        },
        remove: false,
    }
}

/// The answer of the tools that make or change an entity.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Changed {
    pub entity: EntityShape,
    /// The change said what was so already; nothing was written.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unchanged: bool,
}

fn shown(work: &mut Work<'_, '_>, id: Id) -> Result<Changed> {
    let ws = work.ws();
    work.flush()?;
    let thing = work.thing(id)?.clone();
    Ok(Changed {
        entity: shape::entity_as(work.tx, ws, &thing)?,
        unchanged: false,
    })
}

/// The version that a change was made from, as its caller saw it.
#[derive(Debug, Clone)]
pub struct BasedOn {
    pub hash: String,
    pub version: Option<i64>,
}

/// What becomes of what an entity points to: nothing, another target, or none.
#[derive(Debug, Clone, Default)]
pub struct Relinked {
    pub group_id: Option<Option<String>>,
    pub derived_from: Option<Option<String>>,
}

pub fn update(
    work: &mut Work<'_, '_>,
    uuid: &str,
    data: &Map<String, Value>,
    relinked: &Relinked,
    based_on: &BasedOn,
    reason: Option<&str>,
) -> Result<Changed> {
    check_data(data)?;
    check_reason(reason)?;
    let id = find_to_change(work, uuid)?;
    let thing = work.thing(id)?.clone();
    check_current(&thing.entity, based_on)?;
    let mut next = thing.data.clone();
    for (field, value) in data {
        match value.is_null() {
            true => next.remove(field),
            false => next.insert(field.clone(), value.clone()),
        };
    }
    check_data(&next)?;
    let mut links = Vec::new();
    for (relation, to) in [
        (GROUP, &relinked.group_id),
        (DERIVED_FROM, &relinked.derived_from),
    ] {
        if let Some(to) = to {
            links.extend(relink(work, id, relation, to.as_deref())?);
        }
    }
    // What changes nothing is no version.
    if next == thing.data && links.is_empty() {
        return Ok(Changed {
            unchanged: true,
            ..shown(work, id)?
        });
    }
    work.change(
        id,
        Edit {
            action: "updated",
            data: Some(next),
            links,
            reason: reason.map(str::to_string),
            ..Edit::default()
        },
    )?;
    shown(work, id)
}

/// The links that lead from an entity to another target, or to none any more.
fn relink(
    work: &mut Work<'_, '_>,
    id: Id,
    relation: &str,
    to: Option<&str>,
) -> Result<Vec<LinkChange>> {
    let scope = work.scope()?;
    let to = match to {
        Some(named) => Some(names::entity(work.tx, scope, relation, named)?),
        None => None,
    };
    if to.as_ref().is_some_and(|to| to.id == id) {
        return Err(Fault::invalid(relation, "is the entity itself"));
    }
    let mut links = Vec::new();
    for there in links_of(work, id, relation)? {
        if to.as_ref().is_some_and(|to| to.id == there) {
            return Ok(Vec::new());
        }
        links.push(LinkChange {
            relation: relation.to_string(),
            to: work.named(there)?,
            remove: true,
        });
    }
    links.extend(to.map(|to| link(relation, to)));
    Ok(links)
}

fn links_of(work: &mut Work<'_, '_>, id: Id, relation: &str) -> Result<Vec<Id>> {
    let ws = work.ws();
    links::targets(work.tx, ws, id, relation)
}

fn check_reason(reason: Option<&str>) -> Result<()> {
    reason.map_or(Ok(()), |reason| {
        check_text("reason", reason, limits::TEXT_CHARS, true)
    })
}

/// An entity that the garden may change.
fn find_to_change(work: &mut Work<'_, '_>, uuid: &str) -> Result<Id> {
    let scope = work.scope()?;
    let entity = names::entity(work.tx, scope, "uuid", uuid)?;
    if OWN_KINDS.contains(&entity.kind.as_str()) {
        let shown = format!("{} is a {}", entity.handle, entity.kind);
        return Err(Fault::new(
            Code::Immutable,
            format!("{shown}, which the garden only reads"),
        )
        .hint("Change it with the tools of its own surface."));
    }
    Ok(entity.id)
}

fn check_current(entity: &Entity, based_on: &BasedOn) -> Result<()> {
    // The hash says which state was seen; a version number beside it says nothing more.
    if entity.hash == based_on.hash {
        return Ok(());
    }
    let message = format!(
        "based_on_hash is not the hash of version {}, where the entity stands",
        entity.version
    );
    Err(Fault::conflict(message)
        .detail("current_hash", &entity.hash)
        .detail("current_version", entity.version)
        .detail("client_hash", &based_on.hash)
        .detail("client_version", based_on.version)
        .hint("Read it again, and make the change from there."))
}

/// Gives an entity the value that it had.
pub fn revert(
    work: &mut Work<'_, '_>,
    uuid: &str,
    to: &Value,
    based_on: &BasedOn,
) -> Result<Changed> {
    let id = find_to_change(work, uuid)?;
    let thing = work.thing(id)?.clone();
    check_current(&thing.entity, based_on)?;
    let ws = work.ws();
    let version = history::at(work.tx, ws, &thing, "to", to)?;
    work.change(
        id,
        Edit {
            action: REVERTED,
            data: Some(version.data),
            reason: Some(format!("as it was in version {}", version.number)),
            ..Edit::default()
        },
    )?;
    shown(work, id)
}

/// Says that another entity took an entity's place.
pub fn supersede(work: &mut Work<'_, '_>, uuid: &str, by: &str) -> Result<Changed> {
    let id = find_to_change(work, uuid)?;
    let (ws, scope) = (work.ws(), work.scope()?);
    let other = names::entity(work.tx, scope, "by", by)?;
    if other.id == id {
        return Err(Fault::invalid("by", "is the entity itself"));
    }
    if let Some(there) = links::targets(work.tx, ws, id, SUPERSEDED_BY)?.first() {
        let there = work.named(*there)?.handle;
        return Err(
            Fault::conflict(format!("it was superseded by {} before", cut(&there, 80)))
                .detail("superseded_by", &there),
        );
    }
    check_no_circle(work, id, other.id)?;
    work.change(
        id,
        Edit {
            action: "superseded",
            links: vec![link(SUPERSEDED_BY, other)],
            ..Edit::default()
        },
    )?;
    shown(work, id)
}

/// Following what superseded what must not lead back.
fn check_no_circle(work: &mut Work<'_, '_>, from: Id, to: Id) -> Result<()> {
    let ws = work.ws();
    let mut at = Some(to);
    for _ in 0..limits::BATCH {
        match at {
            None => return Ok(()),
            Some(id) if id == from => break,
            Some(id) => {
                at = links::targets(work.tx, ws, id, SUPERSEDED_BY)?
                    .first()
                    .copied()
            }
        }
    }
    Err(Fault::conflict(
        "this would close a circle: it superseded that one itself",
    ))
}

/// When an entity was superseded.
pub fn superseded_at(tx: &mut Tx<'_>, ws: Ws, id: Id) -> Result<Option<Time>> {
    let mut before = Seq::MAX;
    loop {
        let batch = items::of_entity(tx, ws, id, before, 50)?;
        let Some(last) = batch.last() else {
            return Ok(None);
        };
        before = last.seq;
        for item in &batch {
            if delta_of(item)?.action == "superseded" {
                return Ok(Some(item.realized_at));
            }
        }
    }
}
