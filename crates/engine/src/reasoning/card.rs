//! `branchmind_think_card`: an explicit thought, kept in the trace and in the graph at once.

use serde_json::{Map, Value, json};
use understory_model::branch::visible;
use understory_model::canon::equal_values;
use understory_model::error::{Fault, Result};
use understory_model::limits;
use understory_model::nearest::nearest;
use understory_storage::vertices::Vertex;
use understory_storage::{entries, items};

use super::apply::{Edge, Node, normal_tags, write};
use super::lineage;
use super::notes::{Note, append};
use super::place::Place;
use super::vertex::{EDGE, Graph, NODE, node_key, state};
use crate::Work;

/// The types of card.
pub const TYPES: [&str; 8] = [
    "frame",
    "hypothesis",
    "question",
    "test",
    "evidence",
    "decision",
    "note",
    "update",
];

/// The fields of a card that have a meaning of their own.
const FIELDS: [&str; 7] = ["id", "type", "title", "text", "status", "tags", "meta"];

/// A card as it is kept.
#[derive(Debug, Clone)]
pub struct Card {
    pub node: Node,
    pub supports: Vec<String>,
    pub blocks: Vec<String>,
}

pub fn check_type(kind: &str) -> Result<()> {
    if TYPES.contains(&kind) {
        return Ok(());
    }
    let shown: String = kind.chars().take(40).collect();
    let near = nearest(kind, TYPES, 1);
    let near = near
        .first()
        .map_or(String::new(), |near| format!("Did you mean {near}? "));
    Err(
        Fault::invalid("type", format!("unknown card type {shown:?}"))
            .details(json!({ "supported_types": TYPES }))
            .hint(format!("{near}Use one of {}.", TYPES.join(", "))),
    )
}

/// Reads a card: an object, the same as text, or lines of `key: value`.
pub fn read(card: &Value, supports: Vec<String>, blocks: Vec<String>) -> Result<Card> {
    let mut fields = match card {
        Value::Object(fields) => fields.clone(),
        Value::String(text) => match serde_json::from_str::<Value>(text) {
            Ok(Value::Object(fields)) => fields,
            Ok(_) => return Err(unreadable()),
            Err(_) => lines(text)?,
        },
        _ => return Err(unreadable()),
    };
    if let Some(id) = fields.remove("card_id") {
        fields.entry("id").or_insert(id);
    }
    let mut meta = match fields.remove("meta") {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(meta)) => meta,
        Some(_) => return Err(Fault::invalid("card.meta", "must be an object")),
    };
    let unknown: Vec<String> = fields
        .keys()
        .filter(|name| !FIELDS.contains(&name.as_str()))
        .cloned()
        .collect();
    for name in unknown {
        if let Some(value) = fields.remove(&name) {
            meta.insert(name, value);
        }
    }
    let text = |name: &str| match fields.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(Fault::invalid(format!("card.{name}"), "must be a string")),
    };
    let kind = text("type")?.unwrap_or_default();
    let node = Node {
        id: text("id")?.unwrap_or_default(),
        title: text("title")?.filter(|title| !title.trim().is_empty()),
        text: text("text")?.filter(|text| !text.trim().is_empty()),
        status: Some(
            text("status")?
                .filter(|s| !s.is_empty())
                .unwrap_or_else(|| "open".into()),
        ),
        tags: Some(normal_tags(&tags(fields.get("tags"))?)),
        meta: Some(meta).filter(|meta| !meta.is_empty()),
        kind: kind.clone(),
    };
    check_card(&node)?;
    Ok(Card {
        node,
        supports: named("supports", supports)?,
        blocks: named("blocks", blocks)?,
    })
}

fn unreadable() -> Fault {
    Fault::invalid(
        "card",
        "must be an object, an object as JSON text, or lines of `key: value`",
    )
    .hint("branchmind_think_template gives a card to fill in.")
}

fn check_card(node: &Node) -> Result<()> {
    let under = |fault: Fault| fault.within("card");
    let hint = "branchmind_think_template gives a card to fill in.";
    if node.kind.is_empty() {
        let fault = Fault::required("type").details(json!({ "supported_types": TYPES }));
        return Err(under(fault.hint(hint)));
    }
    if node.id.is_empty() {
        return Err(under(Fault::required("id").hint(hint)));
    }
    check_type(&node.kind).map_err(under)?;
    node.check().map_err(under)?;
    if node.title.is_none() && node.text.is_none() {
        return Err(Fault::invalid("card", "title or text is required")
            .hint("Say what you think in title or text."));
    }
    Ok(())
}

fn tags(value: Option<&Value>) -> Result<Vec<String>> {
    match value {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::String(text)) => {
            let text = text.trim().trim_start_matches('[').trim_end_matches(']');
            Ok(text.split(',').map(|tag| tag.trim().to_string()).collect())
        }
        Some(Value::Array(tags)) => tags
            .iter()
            .map(|tag| tag.as_str().map(str::to_string))
            .collect::<Option<Vec<String>>>()
            .ok_or_else(|| Fault::invalid("card.tags", "must be an array of strings")),
        Some(_) => Err(Fault::invalid("card.tags", "must be an array of strings")),
    }
}

fn named(field: &str, ids: Vec<String>) -> Result<Vec<String>> {
    if ids.len() > limits::BATCH {
        let (count, most) = (ids.len(), limits::BATCH);
        return Err(Fault::invalid(
            field,
            format!("has {count} entries; at most {most} are allowed"),
        ));
    }
    for id in &ids {
        super::check_word(field, id)?;
    }
    let mut ids = ids;
    ids.sort();
    ids.dedup();
    Ok(ids)
}

/// Lines of `key: value`; a line that goes on is indented.
fn lines(text: &str) -> Result<Map<String, Value>> {
    let mut fields: Map<String, Value> = Map::new();
    let mut last: Option<String> = None;
    for (at, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let goes_on = line.starts_with([' ', '\t']);
        if let (true, Some(name)) = (goes_on, &last)
            && let Some(Value::String(so_far)) = fields.get_mut(name)
        {
            so_far.push('\n');
            so_far.push_str(line.trim());
            continue;
        }
        let Some((name, value)) = line.split_once(':') else {
            return Err(
                Fault::invalid("card", format!("line {} must be `key: value`", at + 1))
                    .hint("Indent a line that goes on, or give the card as an object."),
            );
        };
        let name = name.trim().to_lowercase();
        if name.is_empty() {
            return Err(Fault::invalid(
                "card",
                format!("line {} has no key", at + 1),
            ));
        }
        fields.insert(name.clone(), value.trim().into());
        last = Some(name);
    }
    if fields.is_empty() {
        return Err(unreadable());
    }
    Ok(fields)
}

/// A skeleton of a card.
pub fn template(kind: &str) -> Value {
    let (title, text, meta) = match kind {
        "frame" => (
            "What is at stake",
            "The problem, its limits, what would count as done",
            json!({"constraints": []}),
        ),
        "hypothesis" => (
            "What may be true",
            "Why it may be, and what would refute it",
            json!({"confidence": 0.5}),
        ),
        "question" => ("What is not known", "Why the answer matters", json!({})),
        "test" => (
            "How to find out",
            "Steps, and what each outcome would mean",
            json!({"expected": ""}),
        ),
        "evidence" => (
            "What was seen",
            "Where, and how to see it again",
            json!({"ref": ""}),
        ),
        "decision" => (
            "What was chosen",
            "Why, and what was turned down",
            json!({"alternatives": []}),
        ),
        "update" => (
            "What changed",
            "What is now thought of an earlier card, and why",
            json!({"updates": ""}),
        ),
        _ => ("In short", "In full", json!({})),
    };
    json!({
        "id": format!("{kind}-1"),
        "type": kind,
        "title": title,
        "text": text,
        "status": "open",
        "tags": [],
        "meta": meta,
    })
}

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

/// Keeps a card; the same card again is no second one.
pub fn commit(work: &mut Work<'_, '_>, trace: &Place, graph: &Place, card: &Card) -> Result<Value> {
    let ws = work.ws();
    let whole = json!({
        "card": card.node.state(),
        "supports": card.supports,
        "blocks": card.blocks,
        "graph_doc": graph.doc,
    });
    let mut answer = json!({
        "branch": graph.branch,
        "trace_doc": trace.doc,
        "graph_doc": graph.doc,
        "card_id": card.node.id,
        "inserted": false,
        "graph_applied": { "nodes_upserted": 0, "edges_upserted": 0 },
    });
    let source = format!("card:{}", card.node.id);
    match kept(work, trace, &source)?.as_slice() {
        [] => {}
        some if some.iter().any(|there| equal_values(there, &whole)) => return Ok(answer),
        _ => return Err(other(card)),
    }
    let view = Graph::open(work.tx, ws, graph.clone())?;
    let (key, edges) = (node_key(&card.node.id), edges(card));
    let mut keys = vec![key.clone()];
    keys.extend(edges.iter().map(Edge::key));
    let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
    let mut there = view.latest(work.tx, &keys)?;
    there.retain(|_, vertex| !vertex.deleted);
    let mine = Value::Object(card.node.state());
    let says_else = |vertex: &Vertex| !equal_values(&Value::Object(state(vertex)), &mine);
    if there.get(&key).is_some_and(says_else) {
        return Err(other(card));
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
    let (mut nodes, mut linked) = (0, 0);
    if !there.contains_key(&key) {
        last = write(work, graph, (NODE, &key), &card.node.state(), false, None)?;
        nodes += 1;
    }
    for edge in &edges {
        if !there.contains_key(&edge.key()) {
            last = write(work, graph, (EDGE, &edge.key()), &edge.state(), false, None)?;
            linked += 1;
        }
    }
    answer["inserted"] = true.into();
    answer["graph_applied"] = json!({ "nodes_upserted": nodes, "edges_upserted": linked });
    answer["last_seq"] = last.into();
    Ok(answer)
}

fn other(card: &Card) -> Fault {
    let id = &card.node.id;
    Fault::conflict(format!(
        "card {id} is there already and says something else"
    ))
    .details(json!({ "card_id": id }))
    .hint(format!(
        "Keep what changed as a card of type update that supports {id}, or choose another id."
    ))
}

/// The cards that a trace shows under an id: those kept there, and those that came by a merge.
///
/// Entries that bear the id are looked up first, on whatever branch: mostly there are none, and the
/// branch's line need not be known.
fn kept(work: &mut Work<'_, '_>, trace: &Place, source: &str) -> Result<Vec<Value>> {
    let ws = work.ws();
    let mut there = entries::of_source(work.tx, ws, &trace.doc, source)?;
    if there.is_empty() {
        return Ok(Vec::new());
    }
    let seen = lineage::sources(work.tx, ws, &trace.branch)?;
    there.retain(|(branch, seq)| visible(&seen, branch, *seq));
    let mut cards = Vec::new();
    for (_, seq) in there {
        let content = items::get(work.tx, ws, seq)?.and_then(|item| item.content);
        let content: Option<Value> = content.and_then(|text| serde_json::from_str(&text).ok());
        cards.extend(content.map(|content| content["meta"].clone()));
    }
    Ok(cards)
}
