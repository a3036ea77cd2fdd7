//! Conflicts of a graph merge: how they are kept, and what their branches say now.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use understory_model::answer::fields_of;
use understory_model::error::{Code, Fault, Result};
use understory_model::nearest::nearest;
use understory_model::reasoning::{ConflictStatus, Resolution, VertexKind};
use understory_model::text::{quoted, quoted_list};
use understory_model::{Seq, Time, Ws};
use understory_storage::ReadTx;
use understory_storage::vertices::Vertex;

use super::place::Place;
use super::shape::{Key, Version, Written, millis};
use super::vertex::{Graph, same, state};
use crate::kernel::core::Thing;

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
    pub deleted: bool,
    pub last_seq: Seq,
    /// The value of the node or edge.
    #[serde(flatten)]
    pub state: Map<String, Value>,
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
        fields_of(self)
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

    /// One of its sides as it is shown.
    pub fn shown(&self, side: &Side) -> Version {
        let written = Written {
            deleted: side.deleted,
            seq: side.last_seq,
            at: None,
        };
        Version::of(self.kind, &side.state, written)
    }
}

/// What the two branches of a conflict say of its key now.
pub struct Sides {
    pub ours: Option<Vertex>,
    pub theirs: Option<Vertex>,
}

impl Sides {
    pub fn of(tx: &mut ReadTx<'_>, ws: Ws, conflict: &Stored) -> Result<Sides> {
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
    pub fn changed(&self, conflict: &Stored) -> bool {
        let now = [&self.ours, &self.theirs].map(|side| side.as_ref().map(|vertex| vertex.seq));
        let ours = conflict.ours.as_ref().map(|side| side.last_seq);
        now != [ours, Some(conflict.theirs.last_seq)]
    }
}

/// The fault for a conflict that does not exist.
pub fn unknown(id: &str, names: &[String]) -> Fault {
    let fault = Fault::new(Code::NotFound, format!("no conflict {}", quoted(id)));
    let near = nearest(id, names.iter().map(String::as_str), 3);
    if near.is_empty() {
        fault.hint("branchmind_graph_conflicts lists conflicts.")
    } else {
        fault
            .hint(format!("Did you mean {}?", quoted_list(&near, " or ")))
            .detail("nearest", &near)
    }
}
