//! `branchmind_graph_conflict_resolve`: one side is chosen.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use understory_model::error::{Fault, Result};
use understory_model::reasoning::{ConflictStatus, Resolution, VertexKind};
use understory_storage::entities;
use understory_storage::vertices::{EDGE, NODE};

use super::conflict::{Side, Stored, unknown};
use super::graph_merge::source;
use super::place::Place;
use super::writing::write;
use crate::Work;
use crate::kernel::work::Edit;
use crate::kinds::CONFLICT;

/// The answer of `branchmind_graph_conflict_resolve`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Settled {
    pub conflict_id: String,
    pub status: ConflictStatus,
    /// Whether the merged branch's version was written.
    pub applied: bool,
}

/// Settles a conflict; settling it the same way again changes nothing.
pub fn resolve(work: &mut Work<'_, '_>, id: &str, resolution: Resolution) -> Result<Settled> {
    let ws = work.ws();
    let found = work.by_handle(id)?;
    let conflict = match found {
        Some(found) if work.thing(found)?.entity.kind == CONFLICT => found,
        _ => {
            let near = entities::handles_near(work.read()?, ws, Some(CONFLICT), id, 10)?;
            return Err(unknown(id, &near));
        }
    };
    let settled = |applied: bool| Settled {
        conflict_id: id.to_string(),
        status: ConflictStatus::Resolved,
        applied,
    };
    let stored = Stored::of(work.thing(conflict)?)?;
    if stored.status == ConflictStatus::Resolved {
        if stored.resolution == Some(resolution) {
            return Ok(settled(false));
        }
        let how = stored.resolution.map_or("", Resolution::name);
        return Err(Fault::conflict(format!("{id} was resolved already: {how}"))
            .hint("branchmind_graph_apply changes what is there now."));
    }
    let applied = resolution == Resolution::UseFrom;
    if applied {
        let place = Place {
            branch: stored.into.clone(),
            doc: stored.doc.clone(),
        };
        let kind = match stored.kind {
            VertexKind::Node => NODE,
            VertexKind::Edge => EDGE,
        };
        let (key, from) = (&stored.vertex, source(&stored.from, stored.theirs_seq));
        let Side { state, deleted, .. } = &stored.theirs;
        write(work, &place, (kind, key), state, *deleted, Some(&from))?;
    }
    let (action, data) = (
        "resolved",
        Some(stored.settled(resolution, work.now).data()?),
    );
    work.change(
        conflict,
        Edit {
            action,
            data,
            ..Edit::default()
        },
    )?;
    Ok(settled(applied))
}
