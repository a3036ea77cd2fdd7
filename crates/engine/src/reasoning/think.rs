//! `branchmind_think_context`: the cards of a graph document, newest first.

use std::collections::BTreeMap;

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
    let others = match all.is_empty() {
        true => docs::others(tx, ws, &graph.place)?,
        false => Vec::new(),
    };
    Ok(fit_unpaged("cards", shown_cards, budget, |cards| {
        let mut answer = json!({
            "branch": graph.place.branch,
            "graph_doc": graph.place.doc,
            "stats": { "cards": all.len(), "by_type": by_type },
            "cards": cards,
            "truncated": more,
        });
        if !others.is_empty() {
            answer["documents"] = others.clone().into();
        }
        answer
    }))
}
