//! Entities of the garden: anything that is believed, version by version.
//!
//! Each change names the version that it was made from; one that was made from an older version is
//! refused with the current one. Entities of the other surfaces are changed by their own tools.

pub mod changes;
pub mod changes_ack;
pub mod create;
pub mod history;
pub mod list;
pub mod revert;
pub mod supersede;
pub mod update;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use understory_model::error::{Code, Fault, Result};
use understory_model::item::{LinkChange, Named};
use understory_model::text::{check_text, cut};
use understory_model::{Id, Seq, Time, Ws, limits};
use understory_storage::entities::Entity;
use understory_storage::{ReadTx, items, links};

use crate::Work;
use crate::garden::shape::{self, EntityShape};
use crate::kernel::names;
use crate::kernel::versions::delta_of;
use crate::kinds::EntityKind;

fn check_data(data: &Map<String, Value>) -> Result<()> {
    if data.len() > limits::PROPERTIES {
        let (count, most) = (data.len(), limits::PROPERTIES);
        let problem = format!("has {count} fields; at most {most} are allowed");
        Err(Fault::invalid("data", problem))
    } else if data.contains_key("") {
        Err(Fault::invalid("data", "has a field whose name is empty"))
    } else {
        data.keys().try_for_each(|name| {
            check_text("data", name, limits::NAME_CHARS, false).map_err(|fault| {
                let shown = cut(name, 40);
                Fault::invalid(
                    "data",
                    format!("has a field {shown:?} whose {}", fault.message),
                )
            })
        })
    }
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
    let thing = work.thing(id)?.clone();
    Ok(Changed {
        entity: shape::entity_as(work.read()?, ws, &thing)?,
        unchanged: false,
    })
}

/// The version that a change was made from, as its caller saw it.
#[derive(Debug, Clone)]
pub struct BasedOn {
    pub hash: String,
    pub version: Option<i64>,
}

fn links_of(work: &mut Work<'_, '_>, id: Id, relation: &str) -> Result<Vec<Id>> {
    let ws = work.ws();
    links::targets(work.read()?, ws, id, relation)
}

fn check_reason(reason: Option<&str>) -> Result<()> {
    reason.map_or(Ok(()), |reason| {
        check_text("reason", reason, limits::TEXT_CHARS, true)
    })
}

/// An entity that the garden may change.
fn find_to_change(work: &mut Work<'_, '_>, uuid: &str) -> Result<Id> {
    let scope = work.scope()?;
    let entity = names::entity(work.read()?, scope, "uuid", uuid)?;
    if EntityKind::of(&entity.kind).is_own() {
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

/// When an entity was superseded.
pub fn superseded_at(tx: &mut ReadTx<'_>, ws: Ws, id: Id) -> Result<Option<Time>> {
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
