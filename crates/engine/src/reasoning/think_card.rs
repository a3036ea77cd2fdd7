//! `branchmind_think_card`: an explicit thought, kept in the trace and in the graph at once.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use understory_model::Seq;
use understory_model::answer::json_of;
use understory_model::branch::visible;
use understory_model::canon::equal_values;
use understory_model::error::{Fault, Result};
use understory_model::text::quoted;
use understory_storage::vertices::Vertex;
use understory_storage::{entries, items};

use super::card::Card;
use super::notes::{Note, append};
use super::place::Place;
use super::vertex::{EDGE, Graph, NODE, equal_states, node_key, state};
use super::writing::{Edge, Node, change, write};
use super::{RESERVED, copies, docs, lineage};
use crate::Work;

fn edges(card: &Card) -> Vec<Edge> {
    let edge = |rel: &str, to: &String| Edge {
        from: card.node.id.clone(),
        rel: rel.into(),
        to: to.clone(),
        meta: None,
    };
    let supports = card.supports.iter().map(|to| edge("supports", to));
    supports
        .chain(card.blocks.iter().map(|to| edge("blocks", to)))
        .collect()
}

/// The answer of `branchmind_think_card`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Inserted {
    pub branch: String,
    pub trace_doc: String,
    pub graph_doc: String,
    pub card_id: String,
    /// False for a card that was there already.
    pub inserted: bool,
    pub graph_applied: Written,
    /// The cards that an update gave its status to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub updated: Vec<String>,
    /// The last item that was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_seq: Option<Seq>,
    /// Said of a new document that has nearly the name of one that is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
}

/// What was written to the graph document.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Written {
    pub nodes_upserted: usize,
    pub edges_upserted: usize,
}

/// A card as the `meta` of its entry keeps it.
#[derive(Serialize)]
struct Stored<'a> {
    card: Map<String, Value>,
    supports: &'a [String],
    blocks: &'a [String],
    graph_doc: &'a str,
}

/// Keeps a card; the same card again changes nothing.
pub fn commit(
    work: &mut Work<'_, '_>,
    trace: &Place,
    graph: &Place,
    card: &Card,
) -> Result<Inserted> {
    let ws = work.ws();
    let whole = json_of(&Stored {
        card: card.node.state(),
        supports: &card.supports,
        blocks: &card.blocks,
        graph_doc: &graph.doc,
    })?;
    let mut answer = Inserted {
        branch: graph.branch.clone(),
        trace_doc: trace.doc.clone(),
        graph_doc: graph.doc.clone(),
        card_id: card.node.id.clone(),
        inserted: false,
        graph_applied: Written::default(),
        updated: Vec::new(),
        last_seq: None,
        warning: None,
    };
    let source = copies::source(&card.node.id);
    match kept(work, trace, &source)?.as_slice() {
        [] => {}
        some if some.iter().any(|there| equal_values(there, &whole)) => return Ok(answer),
        some => {
            return Err(other(
                card,
                some.iter().find_map(|there| elsewhere(there, &whole)),
            ));
        }
    }
    answer.warning = docs::near_miss(work.read()?, ws, graph)?;
    let view = Graph::open(work.read()?, ws, graph.clone())?;
    let (key, edges) = (node_key(&card.node.id), edges(card));
    let mut keys = vec![key.clone()];
    keys.extend(edges.iter().map(Edge::key));
    let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
    let mut there = view.latest(work.read()?, &keys)?;
    there.retain(|_, vertex| !vertex.deleted);
    let says_else = |vertex: &Vertex| !equal_states(state(vertex), card.node.state());
    if there.get(&key).is_some_and(says_else) {
        return Err(other(card, None));
    }
    let note = Note {
        title: Some(
            card.node
                .title
                .clone()
                .unwrap_or_else(|| card.node.id.clone()),
        ),
        format: Some("card".into()),
        meta: whole.as_object().cloned(),
        content: card.node.text.clone().unwrap_or_default(),
        source: Some(source),
        origin: None,
    };
    let mut last = append(work, trace, &note)?;
    let mut applied = Written::default();
    if !there.contains_key(&key) {
        last = write(work, graph, (NODE, &key), &card.node.state(), false, None)?;
        applied.nodes_upserted += 1;
    }
    for edge in &edges {
        if !there.contains_key(&edge.key()) {
            last = write(work, graph, (EDGE, &edge.key()), &edge.state(), false, None)?;
            applied.edges_upserted += 1;
        }
    }
    let updated = update(work, &view, card)?;
    if let Some((_, seq)) = updated.last() {
        last = *seq;
        applied.nodes_upserted += updated.len();
    }
    Ok(Inserted {
        inserted: true,
        graph_applied: applied,
        updated: updated.into_iter().map(|(id, _)| id).collect(),
        last_seq: Some(last),
        ..answer
    })
}

/// Gives the status of an update to the cards that it supports, as far as they are there.
fn update(work: &mut Work<'_, '_>, graph: &Graph, card: &Card) -> Result<Vec<(String, Seq)>> {
    let Some(status) = &card.closes else {
        return Ok(Vec::new());
    };
    let mut updated = Vec::new();
    for id in &card.supports {
        let reserved = RESERVED.iter().any(|prefix| id.starts_with(prefix));
        let there = graph.one(work.read()?, &node_key(id))?;
        let Some(there) = there.filter(|there| !there.deleted && !reserved) else {
            continue;
        };
        if state(&there).get("status").and_then(Value::as_str) != Some(status) {
            let node = Node {
                id: id.clone(),
                status: Some(status.clone()),
                ..Node::default()
            };
            updated.push((id.clone(), change(work, graph, &node)?));
        }
    }
    Ok(updated)
}

/// In which graph document a card is, where that is all in which it differs from another.
fn elsewhere(there: &Value, mine: &Value) -> Option<String> {
    let mut moved = there.clone();
    moved["graph_doc"] = mine["graph_doc"].clone();
    let doc = there["graph_doc"].as_str()?;
    equal_values(&moved, mine).then(|| doc.to_string())
}

fn other(card: &Card, elsewhere: Option<String>) -> Fault {
    let id = quoted(&card.node.id);
    if let Some(doc) = elsewhere {
        let message = format!("card {id} is in graph document {} already", quoted(&doc));
        return Fault::conflict(message)
            .detail("card_id", &card.node.id)
            .detail("graph_doc", &doc)
            .hint("branchmind_graph_apply puts a node of the same id into another document.");
    }
    Fault::conflict(format!(
        "card {id} is there already and says something else"
    ))
    .detail("card_id", &card.node.id)
    .hint(format!(
        "Keep what changed as a card of type update that supports {id}, or choose another id."
    ))
}

/// The cards that a trace shows under an id: those kept there, and those that came by a merge.
///
/// Entries that have the id are looked up first, on whatever branch: mostly there are none, and the
/// branch's line need not be known.
fn kept(work: &mut Work<'_, '_>, trace: &Place, source: &str) -> Result<Vec<Value>> {
    let ws = work.ws();
    let mut there = entries::of_source(work.read()?, ws, &trace.doc, source)?;
    if there.is_empty() {
        return Ok(Vec::new());
    }
    let seen = lineage::sources(work.read()?, ws, &trace.branch)?;
    there.retain(|(branch, seq)| visible(&seen, branch, *seq));
    let mut cards = Vec::new();
    for (_, seq) in there {
        let content = items::get(work.read()?, ws, seq)?.and_then(|item| item.content);
        let content: Option<Value> = content.and_then(|text| serde_json::from_str(&text).ok());
        cards.extend(content.map(|content| content["meta"].clone()));
    }
    Ok(cards)
}
