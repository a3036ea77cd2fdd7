//! `branchmind_graph_validate`: edges of a graph document that lead to no node.

use std::collections::HashSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use understory_model::Ws;
use understory_model::answer::{Fit, Shape};
use understory_model::error::Result;
use understory_storage::ReadTx;

use super::place::Place;
use super::shape::EdgeKey;
use super::vertex::{EDGE, Graph, NODE, node_key, state};

/// The answer of `branchmind_graph_validate`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Validation {
    pub branch: String,
    pub doc: String,
    /// Whether nothing is wrong.
    pub ok: bool,
    pub stats: Stats,
    pub errors: Vec<Problem>,
    /// How many there are, where not all are shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub errors_count: Option<usize>,
    pub truncated: bool,
    /// How many errors there are.
    #[serde(skip)]
    all: usize,
}

/// How much was looked at.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
pub struct Stats {
    pub nodes: usize,
    pub edges: usize,
}

/// What is wrong with an edge.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Problem {
    pub code: ProblemCode,
    pub message: String,
    pub key: EdgeKey,
    /// The id of the node that is not there.
    pub missing: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ProblemCode {
    /// One of its nodes is not there.
    DanglingEdge,
}

impl Fit for Validation {
    const SHAPE: Shape = Shape::UnpagedRows { list: "errors" };

    fn around(&self, kept: usize) -> Option<Validation> {
        Some(Validation {
            branch: self.branch.clone(),
            doc: self.doc.clone(),
            errors: Vec::new(),
            errors_count: (kept < self.all).then_some(self.all),
            ..*self
        })
    }
}

pub fn validate(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    place: Place,
    max_errors: usize,
) -> Result<Validation> {
    let graph = Graph::open(tx, ws, place)?;
    let nodes = graph.all(tx, NODE)?;
    let edges = graph.all(tx, EDGE)?;
    let keys: HashSet<&str> = nodes.iter().map(|node| node.key.as_str()).collect();
    let mut errors = Vec::new();
    let mut all = 0;
    for edge in &edges {
        let key = EdgeKey::of(&state(edge));
        for (end, id) in [("from", &key.from), ("to", &key.to)] {
            if keys.contains(node_key(id).as_str()) {
                continue;
            }
            all += 1;
            if errors.len() < max_errors {
                errors.push(Problem {
                    code: ProblemCode::DanglingEdge,
                    message: format!("{end} leads to no node"),
                    key: key.clone(),
                    missing: id.clone(),
                });
            }
        }
    }
    let truncated = errors.len() < all;
    Ok(Validation {
        branch: graph.place.branch,
        doc: graph.place.doc,
        ok: all == 0,
        stats: Stats {
            nodes: nodes.len(),
            edges: edges.len(),
        },
        errors,
        errors_count: truncated.then_some(all),
        truncated,
        all,
    })
}
