//! `branchmind_graph_conflict_show`: one conflict, with all its sides.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use understory_model::answer::{Fit, Shape};
use understory_model::error::Result;
use understory_model::reasoning::{ConflictStatus, Resolution, VertexKind};
use understory_storage::entities;

use super::conflict::{Sides, Stored, unknown};
use super::shape::{Key, Version};
use super::vertex::snapshot;
use crate::View;
use crate::kernel::core::Thing;
use crate::kinds::CONFLICT;

/// The answer of `branchmind_graph_conflict_show`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Shown {
    pub conflict: Conflict,
    pub truncated: bool,
}

impl Fit for Shown {
    const SHAPE: Shape = Shape::Whole;
}

/// A conflict: what both branches had, and what each of them says when it was found.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Conflict {
    pub conflict_id: String,
    pub kind: VertexKind,
    pub key: Key,
    /// The branch that was merged.
    pub from: String,
    pub into: String,
    pub doc: String,
    pub status: ConflictStatus,
    /// What both had last; null if that is nothing.
    pub base: Option<Version>,
    /// What `into` says; null if that is nothing.
    pub ours: Option<Version>,
    /// What `from` says.
    pub theirs: Version,
    pub created_at_ms: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolution: Option<Resolution>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolved_at_ms: Option<i64>,
    /// What they say now, where that changed since.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub now: Option<Now>,
}

/// What the branches of a conflict say now.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Now {
    pub ours: Option<Version>,
    pub theirs: Option<Version>,
    /// Both say the same: the next merge closes the conflict.
    pub agree: bool,
}

impl Now {
    fn of(sides: &Sides) -> Now {
        Now {
            ours: sides.ours.as_ref().map(snapshot),
            theirs: sides.theirs.as_ref().map(snapshot),
            agree: sides.agree(),
        }
    }
}

pub fn show(view: &mut View<'_, '_>, id: &str) -> Result<Shown> {
    let found = entities::by_handle(view.tx, view.ws, id)?;
    let Some(entity) = found.filter(|entity| entity.kind == CONFLICT) else {
        let near = entities::handles_near(view.tx, view.ws, Some(CONFLICT), id, 10)?;
        return Err(unknown(id, &near));
    };
    Ok(Shown {
        conflict: shown(view, &Thing::open(entity)?)?,
        truncated: false,
    })
}

/// A conflict with all its sides.
pub fn shown(view: &mut View<'_, '_>, thing: &Thing) -> Result<Conflict> {
    let stored = Stored::of(thing)?;
    let now = match stored.status {
        ConflictStatus::Open => Some(Sides::of(view.tx, view.ws, &stored)?),
        ConflictStatus::Resolved => None,
    };
    Ok(Conflict {
        conflict_id: thing.entity.handle.clone(),
        kind: stored.kind,
        base: stored.base.as_ref().map(|side| stored.shown(side)),
        ours: stored.ours.as_ref().map(|side| stored.shown(side)),
        theirs: stored.shown(&stored.theirs),
        now: now
            .filter(|now| now.changed(&stored))
            .map(|now| Now::of(&now)),
        status: stored.status,
        created_at_ms: stored.created_at_ms,
        resolution: stored.resolution,
        resolved_at_ms: stored.resolved_at_ms,
        key: stored.key,
        from: stored.from,
        into: stored.into,
        doc: stored.doc,
    })
}
