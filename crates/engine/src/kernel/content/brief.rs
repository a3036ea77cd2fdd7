//! Nodes of the graph in brief, as every surface names them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use understory_model::error::Result;
use understory_model::{Id, Ws};
use understory_storage::{ReadTx, entities};

use crate::kernel::content::node as fields;
use crate::kernel::core::Thing;

/// A node in a list of others.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Brief {
    pub id: String,
    pub summary: String,
}

impl Brief {
    pub fn of(thing: &Thing) -> Brief {
        Brief {
            id: thing.entity.handle.clone(),
            summary: fields::summary(&thing.data).to_string(),
        }
    }
}

/// Nodes in brief, in the given order.
pub fn briefs(tx: &mut ReadTx<'_>, ws: Ws, ids: &[Id]) -> Result<Vec<Brief>> {
    let mut shown = Vec::with_capacity(ids.len());
    for id in ids {
        if let Some(entity) = entities::get(tx, ws, *id)? {
            shown.push(Brief::of(&Thing::open(entity)?));
        }
    }
    Ok(shown)
}
