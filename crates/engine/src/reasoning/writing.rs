//! Nodes and edges of a graph document as they are checked and written.

use serde_json::{Map, Value};
use understory_model::error::{Fault, Result};
use understory_model::fact::{Fact, GraphDelta};
use understory_model::text::{check_text, quoted};
use understory_model::{Seq, limits};

use super::place::Place;
use super::vertex::{Graph, NODE, edge_key, node_key};
use super::{RESERVED, check_word};
use crate::Work;

#[derive(Debug, Clone, Default)]
pub struct Node {
    pub id: String,
    pub kind: String,
    pub title: Option<String>,
    pub text: Option<String>,
    pub status: Option<String>,
    pub tags: Option<Vec<String>>,
    pub meta: Option<Map<String, Value>>,
}

#[derive(Debug, Clone, Default)]
pub struct Edge {
    pub from: String,
    pub rel: String,
    pub to: String,
    pub meta: Option<Map<String, Value>>,
}

/// Tags in lower case, each once, in order.
pub fn normal_tags(tags: &[String]) -> Vec<String> {
    let mut normal: Vec<String> = tags
        .iter()
        .map(|tag| tag.trim().to_lowercase())
        .filter(|tag| !tag.is_empty())
        .collect();
    normal.sort();
    normal.dedup();
    normal
}

impl Node {
    pub fn check(&self) -> Result<()> {
        check_id(&self.id)?;
        check_word("type", &self.kind)?;
        self.check_fields()
    }

    /// As [`Node::check`], without a type.
    pub fn check_fields(&self) -> Result<()> {
        check_id(&self.id)?;
        let texts = [
            ("title", &self.title, limits::LINE_CHARS),
            ("text", &self.text, limits::TEXT_CHARS),
            ("status", &self.status, limits::NAME_CHARS),
        ];
        for (field, text, most) in texts {
            if let Some(text) = text {
                check_text(field, text, most, true)?;
            }
        }
        for tag in self.tags.iter().flatten() {
            check_text("tags", tag, limits::NAME_CHARS, true)?;
        }
        check_meta(self.meta.as_ref())
    }

    pub fn state(&self) -> Map<String, Value> {
        let mut state = Map::new();
        state.insert("id".into(), self.id.clone().into());
        if !self.kind.is_empty() {
            state.insert("type".into(), self.kind.clone().into());
        }
        for (field, text) in [
            ("title", &self.title),
            ("text", &self.text),
            ("status", &self.status),
        ] {
            if let Some(text) = text {
                state.insert(field.into(), text.clone().into());
            }
        }
        if let Some(tags) = &self.tags {
            state.insert("tags".into(), normal_tags(tags).into());
        }
        if let Some(meta) = &self.meta {
            state.insert("meta".into(), meta.clone().into());
        }
        state
    }
}

/// An id that a caller may write to.
pub fn check_id(id: &str) -> Result<()> {
    check_word("id", id)?;
    match RESERVED.iter().find(|prefix| id.starts_with(*prefix)) {
        Some(prefix) => Err(Fault::invalid(
            "id",
            format!("ids that begin with {prefix} are the server's"),
        )
        .hint("Choose another id; link to that node with an edge.")),
        None => Ok(()),
    }
}

impl Edge {
    pub fn check(&self) -> Result<()> {
        check_word("from", &self.from)?;
        check_word("rel", &self.rel)?;
        check_word("to", &self.to)?;
        check_meta(self.meta.as_ref())
    }

    pub fn key(&self) -> String {
        edge_key(&self.from, &self.rel, &self.to)
    }

    pub fn state(&self) -> Map<String, Value> {
        let mut state = Map::new();
        for (field, text) in [("from", &self.from), ("rel", &self.rel), ("to", &self.to)] {
            state.insert(field.into(), text.clone().into());
        }
        if let Some(meta) = &self.meta {
            state.insert("meta".into(), meta.clone().into());
        }
        state
    }
}

fn check_meta(meta: Option<&Map<String, Value>>) -> Result<()> {
    let size = meta.map_or(0, |meta| {
        serde_json::to_string(meta).map_or(usize::MAX, |text| text.len())
    });
    if size > limits::METADATA_BYTES {
        let most = limits::METADATA_BYTES;
        return Err(Fault::invalid(
            "meta",
            format!("has {size} bytes; at most {most} are allowed"),
        ));
    }
    Ok(())
}

/// Writes one version.
pub fn write(
    work: &mut Work<'_, '_>,
    place: &Place,
    (kind, key): (&str, &str),
    state: &Map<String, Value>,
    deleted: bool,
    source: Option<&str>,
) -> Result<Seq> {
    let (size, most) = (
        place.branch.len() + place.doc.len() + key.len(),
        limits::VERTEX_BYTES,
    );
    if size > most {
        let problem =
            format!("has {size} bytes with its branch and document; at most {most} are allowed");
        return Err(Fault::invalid(kind, problem).hint("Choose shorter ids."));
    }
    let delta = GraphDelta {
        branch: place.branch.clone(),
        deleted,
        doc: place.doc.clone(),
        key: key.to_string(),
        kind: kind.to_string(),
        source: source.map(str::to_string),
        state: state.clone(),
    };
    work.note(None, Fact::GraphDelta(Box::new(delta)))
}

/// Changes the fields of a node that are given, and leaves the others.
pub fn change(work: &mut Work<'_, '_>, graph: &Graph, node: &Node) -> Result<Seq> {
    let key = node_key(&node.id);
    let there = graph
        .one(work.read()?, &key)?
        .filter(|vertex| !vertex.deleted);
    let Some(there) = there else {
        return Err(
            Fault::not_found(format!("id: there is no node {}", quoted(&node.id)))
                .detail("field", "id")
                .hint("node_upsert makes one."),
        );
    };
    let mut state = super::vertex::state(&there);
    state.extend(node.state());
    write(work, &graph.place, (NODE, &key), &state, false, None)
}
