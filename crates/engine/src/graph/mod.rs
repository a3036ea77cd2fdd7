//! The graph surface: what to do next, claimed safely.
//!
//! One file a tool, named as it, and what they share: how a node is read ([`fields`]) and shown
//! ([`shape`]), which project is meant ([`project`]), and where a circle would close ([`cycle`]).

pub mod connect;
pub mod context;
pub mod cycle;
pub mod fields;
pub mod history;
pub mod next;
pub mod onboard;
pub mod open;
pub mod plan;
pub mod project;
pub mod query;
pub mod restructure;
pub mod shape;
pub mod update;

use understory_model::Id;
use understory_model::error::{Code, Fault, Result};
use understory_storage::entities::{self, Entity};

use crate::view::{Sought, no_such};
use crate::{View, Work};

/// A node by its handle, for a read.
pub fn find(view: &mut View<'_, '_>, handle: &str) -> Result<Entity> {
    let found = entities::by_handle(view.tx, view.ws, handle)?;
    match found.filter(|entity| entity.kind == "node") {
        Some(entity) if !entity.gone => Ok(entity),
        Some(entity) => Err(gone(&entity.handle)),
        None => Err(no_such(view.tx, view.ws, Sought::Node, handle)?),
    }
}

/// A node by its handle, for a write.
pub fn find_to_change(work: &mut Work<'_, '_>, handle: &str) -> Result<Id> {
    if let Some(id) = work.core.by_handle(work.tx, handle)? {
        let entity = &work.thing(id)?.entity;
        if entity.kind == "node" {
            return if entity.gone {
                Err(gone(handle))
            } else {
                Ok(id)
            };
        }
    }
    let ws = work.ws();
    work.flush()?;
    Err(no_such(work.tx, ws, Sought::Node, handle)?)
}

fn gone(handle: &str) -> Fault {
    Fault::new(
        Code::NotFound,
        format!("{handle} was merged into another node"),
    )
    .hint("graph_history of it says into which; use that one.")
}

/// Names the position of a fault within a batch.
pub(crate) fn at<T>(place: impl std::fmt::Display, result: Result<T>) -> Result<T> {
    result.map_err(|mut fault| {
        fault.message = format!("{place}: {}", fault.message);
        fault.details(serde_json::json!({ "field": place.to_string() }))
    })
}

/// Refuses a batch that is empty or too large.
pub(crate) fn check_batch(field: &str, count: usize) -> Result<()> {
    use understory_model::limits::BATCH;
    if count == 0 {
        return Err(Fault::invalid(field, "must have at least 1 entry"));
    }
    if count > BATCH {
        return Err(Fault::invalid(
            field,
            format!("has {count} entries; at most {BATCH} are allowed"),
        )
        .hint("Split it into several calls."));
    }
    Ok(())
}
