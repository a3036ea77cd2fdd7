//! A plan or task as reasoning shows it: what it is, and where it is in its life.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use understory_model::error::Result;
use understory_model::{Id, Seq, Time};
use understory_storage::{entities, items, nodes};

use super::place::{Documents, Reference};
use crate::View;
use crate::kernel::content::node as fields;
use crate::kernel::core::Thing;
use crate::kernel::versions::delta_of;
use crate::kernel::view::{Sought, no_such};

/// Changes that are looked through for the one that ended a node.
const LOOKED_AT: i64 = 50;

/// A plan or task.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Target {
    pub id: String,
    pub summary: String,
    pub resolved: bool,
    pub state: State,
    pub rev: i64,
    pub updated_at: Time,
    /// The state that its owner defined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_state: Option<Value>,
}

/// Where everything is read from: the last to go.
#[derive(Serialize)]
pub(super) struct Where<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<&'a Target>,
    pub reasoning_ref: &'a Documents,
    pub truncated: bool,
}

/// The plan or task of a reference.
pub(super) fn brief(view: &mut View<'_, '_>, reference: &Reference) -> Result<Target> {
    let Some(entity) = entities::get(view.tx, view.ws, reference.id)? else {
        return Err(no_such(view.tx, view.ws, Sought::Node, &reference.handle)?);
    };
    let thing = Thing::open(entity)?;
    let own = thing.data.get("state").filter(|own| !own.is_null());
    Ok(Target {
        summary: fields::summary(&thing.data).to_string(),
        resolved: fields::resolved(&thing.data),
        state: state(view, &thing)?,
        rev: thing.entity.version,
        updated_at: thing.entity.updated_at,
        node_state: own.cloned(),
        id: thing.entity.handle,
    })
}

/// Where a node stands in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum State {
    Open,
    Blocked,
    Resolved,
    Dropped,
    Merged,
}

fn state(view: &mut View<'_, '_>, thing: &Thing) -> Result<State> {
    let id = thing.entity.id;
    if thing.entity.gone {
        return Ok(State::Merged);
    }
    let node = nodes::get(view.tx, view.ws, id)?;
    Ok(match node {
        Some(node) if node.resolved => match ended_by(view, id)?.as_deref() {
            Some("dropped") => State::Dropped,
            _ => State::Resolved,
        },
        Some(node) if node.open_deps > 0 => State::Blocked,
        _ => State::Open,
    })
}

/// What resolved a node: the last of its changes that can.
fn ended_by(view: &mut View<'_, '_>, id: Id) -> Result<Option<String>> {
    for item in items::of_entity(view.tx, view.ws, id, Seq::MAX, LOOKED_AT)? {
        let action = delta_of(&item)?.action;
        if ["dropped", "resolved"].contains(&action.as_str()) {
            return Ok(Some(action));
        }
    }
    Ok(None)
}
