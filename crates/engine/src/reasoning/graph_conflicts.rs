//! `branchmind_graph_conflicts`: the conflicts of merges into a graph document.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use understory_model::answer::{Fit, Shape};
use understory_model::budget::Drop;
use understory_model::error::Result;
use understory_model::reasoning::{ConflictStatus, VertexKind};
use understory_model::{Id, Seq, Ws};
use understory_storage::{ReadTx, conflicts, entities};

use super::conflict::Stored;
use super::conflict_show;
use super::shape::{self, Key, Pagination, Row, seqs};
use crate::View;
use crate::kernel::core::Thing;

/// What a caller asks for.
#[derive(Debug, Clone)]
pub struct Asked {
    pub into: String,
    pub doc: String,
    pub status: Option<ConflictStatus>,
    pub cursor: Option<Seq>,
    pub limit: i64,
}

/// The answer of `branchmind_graph_conflicts`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Conflicts {
    pub into: String,
    pub doc: String,
    /// The newest first.
    pub conflicts: Vec<Line>,
    pub pagination: Pagination<Seq>,
    pub truncated: bool,
}

/// A conflict in a list of others.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Line {
    pub conflict_id: String,
    pub kind: VertexKind,
    pub key: Key,
    /// The branch that was merged.
    pub from: String,
    pub status: ConflictStatus,
    pub created_at_ms: i64,
    pub seq: Seq,
}

impl Row for Line {
    fn seq(&self) -> Seq {
        self.seq
    }
}

impl Fit for Conflicts {
    const SHAPE: Shape = Shape::Around {
        list: "conflicts",
        drop: Drop::Last,
    };

    fn around(&self, kept: usize) -> Option<Conflicts> {
        Some(Conflicts {
            into: self.into.clone(),
            doc: self.doc.clone(),
            conflicts: Vec::new(),
            pagination: self.pagination.cut(&seqs(&self.conflicts), kept),
            truncated: self.truncated,
        })
    }
}

pub fn list(tx: &mut ReadTx<'_>, ws: Ws, asked: &Asked) -> Result<Conflicts> {
    let before = asked.cursor.map_or(Id::MAX, Id::of);
    let place = (asked.into.as_str(), asked.doc.as_str());
    let open = asked.status.map(|status| status == ConflictStatus::Open);
    let mut found = conflicts::list(tx, ws, place, open, before, asked.limit + 1)?;
    let more = found.len() as i64 > asked.limit;
    found.truncate(usize::try_from(asked.limit).unwrap_or(usize::MAX));
    let mut conflicts = Vec::with_capacity(found.len());
    for entity in found {
        let thing = Thing::open(entity)?;
        let stored = Stored::of(&thing)?;
        conflicts.push(Line {
            kind: stored.kind,
            key: stored.key,
            from: stored.from,
            status: stored.status,
            created_at_ms: stored.created_at_ms,
            seq: thing.entity.id.seq(),
            conflict_id: thing.entity.handle,
        });
    }
    let page = shape::Asked {
        cursor: asked.cursor,
        limit: asked.limit,
    };
    Ok(Conflicts {
        into: asked.into.clone(),
        doc: asked.doc.clone(),
        pagination: Pagination::new(page, &seqs(&conflicts), more),
        conflicts,
        truncated: false,
    })
}

/// Branches that are looked at for open conflicts.
const DESTINATIONS: usize = 50;

/// Open conflicts of whatever branch and document, the newest first.
pub fn everywhere(view: &mut View<'_, '_>, most: usize) -> Result<Vec<conflict_show::Conflict>> {
    let mut ids = Vec::new();
    for into in conflicts::destinations(view.tx, view.ws, DESTINATIONS)? {
        let room = i64::try_from(most).unwrap_or(i64::MAX);
        ids.extend(conflicts::open_into(view.tx, view.ws, &into, room)?);
    }
    ids.sort_unstable_by(|a, b| b.cmp(a));
    ids.truncate(most);
    let mut found = Vec::with_capacity(ids.len());
    for id in ids {
        if let Some(entity) = entities::get(view.tx, view.ws, id)? {
            found.push(conflict_show::shown(view, &Thing::open(entity)?)?);
        }
    }
    Ok(found)
}
