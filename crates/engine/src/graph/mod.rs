//! The graph surface: what to do next, claimed safely.
//!
//! One file a tool, named as it, and what they share: how a node is read
//! ([`crate::kernel::content::node`]) and shown ([`shape`]), which project is meant ([`project`]),
//! whose a node is ([`claim`]), where work would wait for itself ([`cycle`]), and why nothing is
//! next ([`why`]).

pub mod behind;
pub mod board;
pub mod claim;
pub mod connect;
pub mod context;
pub mod cycle;
pub mod history;
pub mod next;
pub mod onboard;
pub mod open;
pub mod picture;
pub mod plan;
pub mod project;
pub mod projection;
pub mod query;
pub mod restructure;
pub mod shape;
pub mod tree;
pub mod update;
pub mod why;

use understory_model::error::{Code, Fault, Result};
use understory_model::item::EntityDelta;
use understory_model::{Id, Seq, Ws};
use understory_storage::entities::{self, Entity};
use understory_storage::{ReadTx, items};

use crate::kernel::view::{Sought, no_such};
use crate::kinds::NODE;
use crate::{View, Work};

/// A node by its handle, for a read.
pub fn find(view: &mut View<'_, '_>, handle: &str) -> Result<Entity> {
    let found = entities::by_handle(view.tx, view.ws, handle)?;
    match found.filter(|entity| entity.kind == NODE) {
        Some(entity) if !entity.gone => Ok(entity),
        Some(entity) => Err(gone(view.tx, view.ws, &entity)?),
        None => Err(no_such(view.tx, view.ws, Sought::Node, handle)?),
    }
}

/// As [`find`], but the old name of a node that was merged away finds what it was merged into.
pub fn find_surviving(view: &mut View<'_, '_>, handle: &str) -> Result<Entity> {
    let found = entities::by_handle(view.tx, view.ws, handle)?;
    match found.filter(|entity| entity.kind == NODE) {
        Some(entity) if !entity.gone => Ok(entity),
        Some(entity) => match survivor(view.tx, view.ws, &entity)? {
            Some(survivor) => Ok(survivor),
            None => Err(gone(view.tx, view.ws, &entity)?),
        },
        None => Err(no_such(view.tx, view.ws, Sought::Node, handle)?),
    }
}

/// A node by its handle, for a write.
pub fn find_to_change(work: &mut Work<'_, '_>, handle: &str) -> Result<Id> {
    let found = match work.by_handle(handle)? {
        Some(id) => Some(work.thing(id)?.entity.clone()).filter(|entity| entity.kind == NODE),
        None => None,
    };
    match found {
        Some(entity) if !entity.gone => Ok(entity.id),
        Some(entity) => {
            let ws = work.ws();
            Err(gone(work.read()?, ws, &entity)?)
        }
        None => {
            let ws = work.ws();
            Err(no_such(work.read()?, ws, Sought::Node, handle)?)
        }
    }
}

/// Merges that an old name is followed through.
const MERGES: usize = 100;

/// The node that a merged node became, through any number of merges.
fn survivor(tx: &mut ReadTx<'_>, ws: Ws, gone: &Entity) -> Result<Option<Entity>> {
    let mut at = gone.clone();
    for _ in 0..MERGES {
        let last = items::of_entity(tx, ws, at.id, Seq::MAX, 1)?;
        let content = last.first().and_then(|item| item.content.as_deref());
        let delta: Option<EntityDelta> = content.and_then(|text| serde_json::from_str(text).ok());
        let into = delta
            .and_then(|delta| delta.gone)
            .and_then(|gone| gone.into);
        let Some(next) = into
            .map(|into| entities::get(tx, ws, into.id))
            .transpose()?
        else {
            return Ok(None);
        };
        match next {
            Some(next) if next.gone => at = next,
            found => return Ok(found),
        }
    }
    Ok(None)
}

/// The fault for the name of a node that was merged away.
fn gone(tx: &mut ReadTx<'_>, ws: Ws, entity: &Entity) -> Result<Fault> {
    let handle = &entity.handle;
    Ok(match survivor(tx, ws, entity)? {
        Some(into) => {
            let message = format!("{handle} was merged into {}", into.handle);
            Fault::new(Code::NotFound, message)
                .detail("merged_into", &into.handle)
                .hint(format!("Use {} instead.", into.handle))
        }
        None => Fault::new(Code::NotFound, format!("{handle} was merged away")).hint(format!(
            "graph_history of {handle} shows what became of it."
        )),
    })
}
