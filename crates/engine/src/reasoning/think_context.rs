//! `branchmind_think_context`: the cards of a graph document, newest first, and how they are
//! joined.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use understory_model::Ws;
use understory_model::answer::{Fit, Shape};
use understory_model::error::Result;
use understory_model::reasoning::CardType;
use understory_storage::ReadTx;
use understory_storage::vertices::Vertex;

use super::card::cards;
use super::docs;
use super::place::Place;
use super::shape::{EdgeKey, Node};
use super::vertex::{Graph, nodes, state};

/// The answer of `branchmind_think_context`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Context {
    pub branch: String,
    pub graph_doc: String,
    pub stats: Stats,
    /// The newest first.
    pub cards: Vec<Node>,
    /// The edges between the cards that are shown.
    pub edges: Vec<EdgeKey>,
    /// Other documents of the branch, where there are no cards.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub documents: Vec<String>,
    /// Whether there are more cards than are shown.
    pub truncated: bool,
}

/// How many cards there are.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Stats {
    pub cards: usize,
    pub by_type: BTreeMap<CardType, usize>,
}

impl Fit for Context {
    const SHAPE: Shape = Shape::UnpagedRows { list: "cards" };

    fn around(&self, kept: usize) -> Option<Context> {
        // An edge says nothing without its ends.
        let ids: HashSet<&str> = self.cards.iter().take(kept).map(|card| &*card.id).collect();
        let edges = self.edges.iter().filter(|edge| {
            let ends = [edge.from.as_str(), edge.to.as_str()];
            ends.iter().all(|end| ids.contains(end))
        });
        Some(Context {
            branch: self.branch.clone(),
            graph_doc: self.graph_doc.clone(),
            stats: self.stats.clone(),
            cards: Vec::new(),
            edges: edges.cloned().collect(),
            documents: self.documents.clone(),
            truncated: self.truncated,
        })
    }
}

pub fn context(tx: &mut ReadTx<'_>, ws: Ws, place: Place, limit: i64) -> Result<Context> {
    let graph = Graph::open(tx, ws, place)?;
    let all = cards(tx, &graph)?;
    let mut by_type: BTreeMap<CardType, usize> = BTreeMap::new();
    for (kind, _) in &all {
        *by_type.entry(*kind).or_default() += 1;
    }
    let stats = Stats {
        cards: all.len(),
        by_type,
    };
    let mut all: Vec<Vertex> = all.into_iter().map(|(_, card)| card).collect();
    all.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    let cards = nodes(tx, ws, &all)?;
    let ids: Vec<&str> = cards.iter().map(|card| card.id.as_str()).collect();
    let mut edges = graph.edges_between(tx, &ids)?;
    edges.retain(|edge| !edge.deleted);
    edges.sort_by_key(|edge| Reverse(edge.seq));
    let documents = if cards.is_empty() {
        docs::others(tx, ws, &graph.place)?
    } else {
        Vec::new()
    };
    Ok(Context {
        branch: graph.place.branch,
        graph_doc: graph.place.doc,
        truncated: stats.cards > cards.len(),
        stats,
        cards,
        edges: edges.iter().map(|edge| EdgeKey::of(&state(edge))).collect(),
        documents,
    })
}
