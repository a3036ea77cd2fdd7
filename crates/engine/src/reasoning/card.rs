//! Thinking cards: their types, how one is read, and those of a graph document.

use serde_json::{Map, Value};
use understory_model::error::{Fault, Result};
use understory_model::limits;
use understory_model::nearest::nearest;
use understory_model::reasoning::CardType;
use understory_storage::ReadTx;
use understory_storage::vertices::Vertex;

use super::card_text;
use super::vertex::{Graph, NODE, state};
use super::writing::{Node, normal_tags};

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

/// The cards of a graph, newest first, each with its type.
pub fn cards(tx: &mut ReadTx<'_>, graph: &Graph) -> Result<Vec<(CardType, Vertex)>> {
    let nodes = graph.all(tx, NODE)?.into_iter();
    Ok(nodes
        .filter_map(|node| Some((card_type(&node)?, node)))
        .collect())
}

/// The type of a card; `None` for other nodes.
fn card_type(vertex: &Vertex) -> Option<CardType> {
    let state = state(vertex);
    CardType::parse(state.get("type").and_then(Value::as_str)?)
}
