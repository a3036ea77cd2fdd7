//! Conflicts of a graph merge: listed, shown, settled.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use understory_model::answer::{Fit, Shape, json_of};
use understory_model::budget::Drop;
use understory_model::error::{Code, Fault, Result};
use understory_model::nearest::nearest;
use understory_model::reasoning::{ConflictStatus, Resolution, VertexKind};
use understory_model::text::{quoted, quoted_list};
use understory_model::{Id, Seq, Time, Ws};
use understory_storage::vertices::{EDGE, NODE, Vertex};
use understory_storage::{Tx, conflicts, entities};

use super::apply::write;
use super::graph_merge::source;
use super::place::Place;
use super::shape::{self, Key, Pagination, Row, Version, Written, millis, seqs};
use super::vertex::{Graph, same, snapshot, state};
use crate::core::Thing;
use crate::projection::CONFLICT;
use crate::work::Edit;
use crate::{View, Work};

/// A conflict as its entity keeps it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Stored {
    pub kind: VertexKind,
    pub key: Key,
    /// The key in the document.
    pub vertex: String,
    pub from: String,
    pub into: String,
    pub doc: String,
    pub status: ConflictStatus,
    pub base: Option<Side>,
    pub theirs: Side,
    pub ours: Option<Side>,
    pub theirs_seq: Seq,
    pub created_at_ms: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolution: Option<Resolution>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolved_at_ms: Option<i64>,
}

/// A version as a conflict keeps it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Side {
    deleted: bool,
    last_seq: Seq,
    /// The value of the node or edge.
    #[serde(flatten)]
    state: Map<String, Value>,
}

pub fn side(vertex: &Vertex) -> Side {
    Side {
        deleted: vertex.deleted,
        last_seq: vertex.seq,
        state: state(vertex),
    }
}

impl Stored {
    pub fn of(thing: &Thing) -> Result<Stored> {
        serde_json::from_value(Value::Object(thing.data.clone())).map_err(|error| {
            let problem = format!("{} cannot be read: {error}", thing.entity.handle);
            Fault::new(Code::StoreCorrupt, problem).hint("Run `understory verify`.")
        })
    }

    /// What the entity keeps.
    pub fn data(&self) -> Result<Map<String, Value>> {
        match json_of(self)? {
            Value::Object(data) => Ok(data),
            _ => Ok(Map::new()),
        }
    }

    /// The same conflict, settled.
    #[must_use]
    pub fn settled(self, resolution: Resolution, now: Time) -> Stored {
        Stored {
            status: ConflictStatus::Resolved,
            resolution: Some(resolution),
            resolved_at_ms: Some(millis(now)),
            ..self
        }
    }

    fn shown(&self, side: &Side) -> Version {
        let written = Written {
            deleted: side.deleted,
            seq: side.last_seq,
            at: None,
        };
        Version::of(self.kind, &side.state, written)
    }
}

/// What a caller asks for.
#[derive(Debug, Clone)]
pub struct Asked {
    pub into: String,
    pub doc: String,
    pub status: Option<ConflictStatus>,
    pub cursor: Option<Id>,
    pub limit: i64,
}

/// The answer of `branchmind_graph_conflicts`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Conflicts {
    pub into: String,
    pub doc: String,
    /// The newest first.
    pub conflicts: Vec<Line>,
    pub pagination: Pagination<Id>,
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
    pub seq: Id,
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

pub fn list(tx: &mut Tx<'_>, ws: Ws, asked: &Asked) -> Result<Conflicts> {
    let before = asked.cursor.unwrap_or(Id::MAX);
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
            seq: thing.entity.id,
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

pub fn show(view: &mut View<'_, '_>, id: &str) -> Result<Shown> {
    let found = entities::by_handle(view.tx, view.ws, id)?;
    let Some(entity) = found.filter(|entity| entity.kind == CONFLICT) else {
        let near = entities::handles_near(view.tx, view.ws, Some(CONFLICT), id, 10)?;
        return Err(unknown(id, &near));
    };
    let thing = Thing::open(entity)?;
    let stored = Stored::of(&thing)?;
    let now = match stored.status {
        ConflictStatus::Open => Some(Sides::of(view.tx, view.ws, &stored)?),
        ConflictStatus::Resolved => None,
    };
    let conflict = Conflict {
        conflict_id: thing.entity.handle,
        kind: stored.kind,
        base: stored.base.as_ref().map(|side| stored.shown(side)),
        ours: stored.ours.as_ref().map(|side| stored.shown(side)),
        theirs: stored.shown(&stored.theirs),
        now: now
            .filter(|now| now.changed(&stored))
            .map(|now| now.shown()),
        status: stored.status,
        created_at_ms: stored.created_at_ms,
        resolution: stored.resolution,
        resolved_at_ms: stored.resolved_at_ms,
        key: stored.key,
        from: stored.from,
        into: stored.into,
        doc: stored.doc,
    };
    Ok(Shown {
        conflict,
        truncated: false,
    })
}

/// What the two branches of a conflict say of its key now.
pub struct Sides {
    ours: Option<Vertex>,
    theirs: Option<Vertex>,
}

impl Sides {
    pub fn of(tx: &mut Tx<'_>, ws: Ws, conflict: &Stored) -> Result<Sides> {
        let mut side = |branch: &str| {
            let place = Place {
                branch: branch.to_string(),
                doc: conflict.doc.clone(),
            };
            Graph::open(tx, ws, place)?.one(tx, &conflict.vertex)
        };
        Ok(Sides {
            ours: side(&conflict.into)?,
            theirs: side(&conflict.from)?,
        })
    }

    /// Whether both came to the same: then there is nothing to decide any more.
    pub fn agree(&self) -> bool {
        same(self.ours.as_ref(), self.theirs.as_ref())
    }

    /// Whether one of them was written since the conflict was found.
    fn changed(&self, conflict: &Stored) -> bool {
        let now = [&self.ours, &self.theirs].map(|side| side.as_ref().map(|vertex| vertex.seq));
        let ours = conflict.ours.as_ref().map(|side| side.last_seq);
        now != [ours, Some(conflict.theirs.last_seq)]
    }

    fn shown(&self) -> Now {
        Now {
            ours: self.ours.as_ref().map(snapshot),
            theirs: self.theirs.as_ref().map(snapshot),
            agree: self.agree(),
        }
    }
}

/// The fault for a conflict that does not exist.
pub fn unknown(id: &str, names: &[String]) -> Fault {
    let fault = Fault::new(Code::NotFound, format!("no conflict {}", quoted(id)));
    let near = nearest(id, names.iter().map(String::as_str), 3);
    match near.is_empty() {
        true => fault.hint("branchmind_graph_conflicts lists conflicts."),
        false => fault
            .hint(format!("Did you mean {}?", quoted_list(&near, " or ")))
            .detail("nearest", &near),
    }
}

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
    let found = work.core.by_handle(work.tx, id)?;
    let conflict = match found {
        Some(found) if work.thing(found)?.entity.kind == CONFLICT => found,
        _ => {
            let near = entities::handles_near(work.tx, ws, Some(CONFLICT), id, 10)?;
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
