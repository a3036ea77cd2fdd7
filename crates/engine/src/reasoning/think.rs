//! `branchmind_think_context`: the cards of a graph document, newest first, and how they are joined.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};

use serde_json::{Value, json};
use understory_model::Ws;
use understory_model::budget::{Budget, fit_unpaged};
use understory_model::error::Result;
use understory_storage::Tx;
use understory_storage::vertices::Vertex;

use super::card::TYPES;
use super::docs;
use super::place::Place;
use super::vertex::{Graph, NODE, shown, state};

/// The cards of a graph, newest first.
pub fn cards(tx: &mut Tx<'_>, graph: &Graph) -> Result<Vec<Vertex>> {
    let mut nodes = graph.all(tx, NODE)?;
    nodes.retain(|node| TYPES.contains(&kind(node).as_str()));
    Ok(nodes)
}

pub fn kind(vertex: &Vertex) -> String {
    let state = state(vertex);
    state
        .get("type")
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_string()
}

/// An edge by its ends and how it joins them.
fn ends(edge: &Vertex) -> Value {
    let state = state(edge);
    let field = |name: &str| state.get(name).cloned().unwrap_or_default();
    json!({ "from": field("from"), "rel": field("rel"), "to": field("to") })
}

pub fn context(
    tx: &mut Tx<'_>,
    ws: Ws,
    place: Place,
    limit: i64,
    budget: &Budget,
) -> Result<Value> {
    let graph = Graph::open(tx, ws, place)?;
    let all = cards(tx, &graph)?;
    let mut by_type: BTreeMap<String, usize> = BTreeMap::new();
    for card in &all {
        *by_type.entry(kind(card)).or_default() += 1;
    }
    let most = usize::try_from(limit).unwrap_or(usize::MAX);
    let shown_cards = shown(tx, ws, &all[..most.min(all.len())])?;
    let more = all.len() > most;
    let ids: Vec<&str> = shown_cards
        .iter()
        .filter_map(|card| card["id"].as_str())
        .collect();
    let mut edges = graph.edges_between(tx, &ids)?;
    edges.retain(|edge| !edge.deleted);
    edges.sort_by_key(|edge| Reverse(edge.seq));
    let edges: Vec<Value> = edges.iter().map(ends).collect();
    let others = match all.is_empty() {
        true => docs::others(tx, ws, &graph.place)?,
        false => Vec::new(),
    };
    Ok(fit_unpaged("cards", shown_cards, budget, |cards| {
        // An edge says nothing without its ends.
        let kept: HashSet<&str> = cards
            .iter()
            .filter_map(|card| card["id"].as_str())
            .collect();
        let has = |end: &Value| end.as_str().is_some_and(|id| kept.contains(id));
        let between = edges.iter();
        let between = between.filter(|edge| has(&edge["from"]) && has(&edge["to"]));
        let between: Vec<&Value> = between.collect();
        let mut answer = json!({
            "branch": graph.place.branch,
            "graph_doc": graph.place.doc,
            "stats": { "cards": all.len(), "by_type": by_type },
            "cards": cards,
            "edges": between,
            "truncated": more,
        });
        if !others.is_empty() {
            answer["documents"] = others.clone().into();
        }
        answer
    }))
}
