//! `branchmind_graph_apply`: nodes and edges written and deleted, all or none.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use understory_model::error::{Fault, Result};
use understory_model::fact::{Fact, GraphDelta};
use understory_model::text::{check_text, quoted};
use understory_model::{Seq, limits};

use super::place::Place;
use super::shape::millis;
use super::vertex::{EDGE, Graph, NODE, edge_key, node_key};
use super::{RESERVED, check_word};
use crate::Work;
use crate::graph::check_batch;

/// One operation.
#[derive(Debug, Clone)]
pub enum Op {
    Node(Node),
    /// Only the fields that are given change.
    Change(Node),
    DropNode {
        id: String,
    },
    Edge(Edge),
    DropEdge(Edge),
}

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
    fn check_fields(&self) -> Result<()> {
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

fn check_id(id: &str) -> Result<()> {
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

/// Names the operation in a fault.
fn at<T>(index: usize, result: Result<T>) -> Result<T> {
    result.map_err(|mut fault| {
        fault.message = format!("ops[{index}].{}", fault.message);
        let field = fault
            .details
            .as_ref()
            .and_then(|details| details["field"].as_str());
        let field = format!("ops[{index}].{}", field.unwrap_or_default());
        fault.detail("field", field.trim_end_matches('.'))
    })
}

pub fn check(ops: &[Op]) -> Result<()> {
    check_batch("ops", ops.len())?;
    for (index, op) in ops.iter().enumerate() {
        let checked = match op {
            Op::Node(node) => node.check(),
            Op::Change(node) if node.kind.is_empty() => node.check_fields(),
            Op::Change(node) => node.check(),
            Op::DropNode { id } => check_id(id),
            Op::Edge(edge) | Op::DropEdge(edge) => edge.check(),
        };
        at(index, checked)?;
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

/// The answer of `branchmind_graph_apply`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Applied {
    pub branch: String,
    pub doc: String,
    pub applied: Counts,
    /// The last item that was written.
    pub last_seq: Seq,
    /// When, in milliseconds since 1970.
    pub last_ts_ms: i64,
    /// Said of a new document that has nearly the name of one that is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
}

/// How much was written; edges that went with their nodes are counted too.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize, JsonSchema)]
pub struct Counts {
    pub nodes_upserted: i64,
    pub nodes_deleted: i64,
    pub edges_upserted: i64,
    pub edges_deleted: i64,
}

#[derive(Default)]
struct Done {
    counts: Counts,
    last: Seq,
}

pub fn apply(work: &mut Work<'_, '_>, place: &Place, ops: &[Op]) -> Result<Applied> {
    let ws = work.ws();
    let graph = Graph::open(work.tx, ws, place.clone())?;
    let warning = super::docs::near_miss(work.tx, ws, place)?;
    let mut done = Done::default();
    for (index, op) in ops.iter().enumerate() {
        match op {
            Op::Node(node) => {
                let key = node_key(&node.id);
                let written = write(work, place, (NODE, &key), &node.state(), false, None);
                done.last = at(index, written)?;
                done.counts.nodes_upserted += 1;
            }
            Op::Change(node) => {
                let written = change(work, &graph, node);
                done.last = at(index, written)?;
                done.counts.nodes_upserted += 1;
            }
            Op::Edge(edge) => {
                let written = write(work, place, (EDGE, &edge.key()), &edge.state(), false, None);
                done.last = at(index, written)?;
                done.counts.edges_upserted += 1;
            }
            Op::DropEdge(edge) => {
                let what = format!("edge {} {} {}", edge.from, edge.rel, edge.to);
                done.last = delete(work, &graph, (EDGE, &edge.key()), index, &what)?;
                done.counts.edges_deleted += 1;
            }
            Op::DropNode { id } => drop_node(work, &graph, id, index, &mut done)?,
        }
    }
    Ok(Applied {
        branch: place.branch.clone(),
        doc: place.doc.clone(),
        applied: done.counts,
        last_seq: done.last,
        last_ts_ms: millis(work.now),
        warning,
    })
}

/// Changes the fields of a node that are given, and leaves the others.
pub fn change(work: &mut Work<'_, '_>, graph: &Graph, node: &Node) -> Result<Seq> {
    work.flush()?;
    let key = node_key(&node.id);
    let there = graph.one(work.tx, &key)?.filter(|vertex| !vertex.deleted);
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

fn delete(
    work: &mut Work<'_, '_>,
    graph: &Graph,
    (kind, key): (&str, &str),
    index: usize,
    what: &str,
) -> Result<Seq> {
    work.flush()?;
    match graph.one(work.tx, key)?.filter(|vertex| !vertex.deleted) {
        Some(there) => {
            let state = super::vertex::state(&there);
            write(work, &graph.place, (kind, key), &state, true, None)
        }
        None => Err(
            Fault::not_found(format!("ops[{index}]: there is no {what}"))
                .detail("field", format!("ops[{index}]"))
                .hint("branchmind_graph_query shows what is there."),
        ),
    }
}

/// A node goes with its edges.
fn drop_node(
    work: &mut Work<'_, '_>,
    graph: &Graph,
    id: &str,
    index: usize,
    done: &mut Done,
) -> Result<()> {
    done.last = delete(
        work,
        graph,
        (NODE, &node_key(id)),
        index,
        &format!("node {id}"),
    )?;
    done.counts.nodes_deleted += 1;
    let mut edges = graph.edges_at(work.tx, id)?;
    edges.retain(|edge| !edge.deleted);
    edges.sort_by(|a, b| a.key.cmp(&b.key));
    for edge in edges {
        let state = super::vertex::state(&edge);
        done.last = write(work, &graph.place, (EDGE, &edge.key), &state, true, None)?;
        done.counts.edges_deleted += 1;
    }
    Ok(())
}
