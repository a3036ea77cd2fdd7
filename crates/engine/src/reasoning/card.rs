//! `branchmind_think_card`: an explicit thought, kept in the trace and in the graph at once.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use understory_model::answer::{Fit, Shape, json_of};
use understory_model::branch::visible;
use understory_model::canon::equal_values;
use understory_model::error::{Fault, Result};
use understory_model::nearest::nearest;
use understory_model::reasoning::CardType;
use understory_model::text::quoted;
use understory_model::{Seq, limits};
use understory_storage::vertices::Vertex;
use understory_storage::{entries, items};

use super::apply::{Edge, Node, change, normal_tags, write};
use super::notes::{Note, append};
use super::place::Place;
use super::vertex::{EDGE, Graph, NODE, equal_states, node_key, state};
use super::{RESERVED, card_text, copies, docs, lineage};
use crate::Work;

/// The names of the types of card.
pub const TYPES: [&str; 8] = {
    let mut names = [""; 8];
    let mut at = 0;
    while at < names.len() {
        names[at] = CardType::ALL[at].name();
        at += 1;
    }
    names
};

/// The fields of a card that have a meaning of their own.
const FIELDS: [&str; 7] = ["id", "type", "title", "text", "status", "tags", "meta"];

/// A card as it is kept.
#[derive(Debug, Clone)]
pub struct Card {
    pub node: Node,
    pub supports: Vec<String>,
    pub blocks: Vec<String>,
    /// The status that an update gives to the cards it supports.
    pub closes: Option<String>,
}

/// A type of card, as a caller names it.
pub fn check_type(kind: &str) -> Result<CardType> {
    if let Some(kind) = CardType::parse(kind) {
        return Ok(kind);
    }
    let shown: String = kind.chars().take(40).collect();
    let near = nearest(kind, TYPES, 1);
    let near = near
        .first()
        .map_or(String::new(), |near| format!("Did you mean {near}? "));
    Err(
        Fault::invalid("type", format!("unknown card type {shown:?}"))
            .detail("supported_types", TYPES)
            .hint(format!("{near}Use one of {}.", TYPES.join(", "))),
    )
}

/// Reads a card. Cards that it names as supported or blocked in itself count like those named
/// beside it.
pub fn read(card: &Value, supports: Vec<String>, blocks: Vec<String>) -> Result<Card> {
    let mut fields = card_text::fields(card)?;
    if let Some(id) = fields.remove("card_id") {
        fields.entry("id").or_insert(id);
    }
    let mut linked = |name: &str, mut ids: Vec<String>| {
        ids.extend(card_text::list(name, fields.remove(name).as_ref())?);
        named(name, ids)
    };
    let (supports, blocks) = (linked("supports", supports)?, linked("blocks", blocks)?);
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
    let status = text("status")?.filter(|status| !status.trim().is_empty());
    let kind = text("type")?.unwrap_or_default();
    let closes = status.clone().filter(|_| kind == CardType::Update.name());
    let node = Node {
        id: text("id")?.unwrap_or_default(),
        title: text("title")?.filter(|title| !title.trim().is_empty()),
        text: text("text")?.filter(|text| !text.trim().is_empty()),
        status: Some(status.unwrap_or_else(|| "open".into())),
        tags: Some(normal_tags(&card_text::list("tags", fields.get("tags"))?)),
        meta: Some(meta).filter(|meta| !meta.is_empty()),
        kind,
    };
    check_card(&node)?;
    Ok(Card {
        node,
        supports,
        blocks,
        closes,
    })
}

fn check_card(node: &Node) -> Result<()> {
    let under = |fault: Fault| fault.within("card");
    let hint = "branchmind_think_template gives a card to fill in.";
    if node.kind.is_empty() {
        let fault = Fault::required("type").detail("supported_types", TYPES);
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

/// The answer of `branchmind_think_template`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Template {
    #[serde(rename = "type")]
    pub kind: CardType,
    pub supported_types: Vec<CardType>,
    /// The card to fill in.
    pub template: Skeleton,
    pub truncated: bool,
}

impl Fit for Template {
    const SHAPE: Shape = Shape::Whole;
}

/// A card to fill in.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Skeleton {
    pub id: String,
    #[serde(rename = "type")]
    pub kind: CardType,
    pub title: String,
    pub text: String,
    pub status: String,
    pub tags: Vec<String>,
    pub meta: Map<String, Value>,
}

/// A skeleton of a card.
pub fn template(kind: CardType) -> Template {
    let none = |name: &str| Some((name.to_string(), Value::Array(Vec::new())));
    let (title, text, meta) = match kind {
        CardType::Frame => (
            "What is at stake",
            "The problem, its limits, what would count as done",
            none("constraints"),
        ),
        CardType::Hypothesis => (
            "What may be true",
            "Why it may be, and what would refute it",
            Some(("confidence".into(), 0.5.into())),
        ),
        CardType::Question => ("What is not known", "Why the answer matters", None),
        CardType::Test => (
            "How to find out",
            "Steps, and what each outcome would mean",
            Some(("expected".into(), "".into())),
        ),
        CardType::Evidence => (
            "What was seen",
            "Where, and how to see it again",
            Some(("ref".into(), "".into())),
        ),
        CardType::Decision => (
            "What was chosen",
            "Why, and what was turned down",
            none("alternatives"),
        ),
        CardType::Update => (
            "What changed",
            "What is now thought of the cards it supports, and why; its status becomes theirs",
            None,
        ),
        CardType::Note => ("In short", "In full", None),
    };
    let status = match kind {
        CardType::Update => "resolved",
        _ => "open",
    };
    Template {
        kind,
        supported_types: CardType::ALL.into(),
        template: Skeleton {
            id: format!("{}-1", kind.name()),
            kind,
            title: title.into(),
            text: text.into(),
            status: status.into(),
            tags: Vec::new(),
            meta: meta.into_iter().collect(),
        },
        truncated: false,
    }
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
    answer.warning = docs::near_miss(work.tx, ws, graph)?;
    let view = Graph::open(work.tx, ws, graph.clone())?;
    let (key, edges) = (node_key(&card.node.id), edges(card));
    let mut keys = vec![key.clone()];
    keys.extend(edges.iter().map(Edge::key));
    let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
    let mut there = view.latest(work.tx, &keys)?;
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
    work.flush()?;
    let mut updated = Vec::new();
    for id in &card.supports {
        let reserved = RESERVED.iter().any(|prefix| id.starts_with(prefix));
        let there = graph.one(work.tx, &node_key(id))?;
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
