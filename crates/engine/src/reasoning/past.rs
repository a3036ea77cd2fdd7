//! The versions of one node that a branch shows, only to look at.

use serde::{Deserialize, Serialize};
use understory_model::error::Result;
use understory_model::{Seq, Time};
use understory_storage::vertices::Vertex;
use understory_storage::{items, vertices};

use super::place::Place;
use super::shape::{Node, Written};
use super::vertex::{Graph, node_key, state};
use crate::View;

/// A node as it was written once.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Past {
    pub node: Node,
    /// The branch on which it was written.
    pub branch: String,
    pub agent: String,
    pub at: Time,
    /// The branch that it was merged from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merged_from: Option<String>,
}

/// The versions of a node that a branch shows, the newest first and at most this many.
pub fn of_node(view: &mut View<'_, '_>, place: Place, id: &str, most: usize) -> Result<Vec<Past>> {
    let graph = Graph::open(view.tx, view.ws, place)?;
    let key = node_key(id);
    let mut found: Vec<Vertex> = Vec::new();
    for source in &graph.sources {
        let left = most - found.len();
        if left == 0 {
            break;
        }
        let doc = &graph.place.doc;
        let some = vertices::versions(view.tx, view.ws, doc, source, &key, left as i64)?;
        found.extend(some);
    }
    let mut past = Vec::with_capacity(found.len());
    for vertex in found {
        past.extend(version(view, vertex)?);
    }
    Ok(past)
}

fn version(view: &mut View<'_, '_>, vertex: Vertex) -> Result<Option<Past>> {
    let Some(item) = items::get(view.tx, view.ws, vertex.seq)? else {
        return Ok(None);
    };
    let (deleted, seq): (bool, Seq) = (vertex.deleted, vertex.seq);
    let at = Some(item.realized_at);
    Ok(Some(Past {
        node: Node::of(&state(&vertex), Written { deleted, seq, at }),
        branch: vertex.branch,
        agent: item.actor,
        at: item.realized_at,
        merged_from: vertex.giver,
    }))
}
