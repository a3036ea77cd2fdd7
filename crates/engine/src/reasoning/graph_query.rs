//! `branchmind_graph_query`: what a graph document shows.

use std::cmp::Reverse;
use std::collections::HashSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use understory_model::answer::{Fit, Shape};
use understory_model::budget::Drop;
use understory_model::error::Result;
use understory_model::text::fold;
use understory_model::{Seq, Ws};
use understory_storage::ReadTx;
use understory_storage::vertices::{Vertex, Wanted};

use super::place::Place;
use super::shape::{self, Edge, Node, Pagination, seqs};
use super::vertex::{self, Graph, NODE, node_key, state};
use super::writing::normal_tags;
use super::{check_word, docs};

/// Nodes that are read at once while a filter is looked for.
const CHUNK: usize = 64;

/// The same where few match: the upper bound.
const LARGEST: usize = 1_024;

/// What a caller asks for.
#[derive(Debug, Clone, Default)]
pub struct Asked {
    pub ids: Option<Vec<String>>,
    pub types: Vec<String>,
    pub status: Option<String>,
    pub tags_any: Vec<String>,
    pub tags_all: Vec<String>,
    pub text: Option<String>,
    pub include_deleted: bool,
    pub include_edges: bool,
    pub edges_limit: i64,
    pub cursor: Option<Seq>,
    pub limit: i64,
}

impl Asked {
    /// Whether it seeks some nodes among others.
    fn filters(&self) -> bool {
        let lists = [&self.types, &self.tags_any, &self.tags_all];
        let texts = [&self.status, &self.text];
        lists.iter().any(|list| !list.is_empty()) || texts.iter().any(|text| text.is_some())
    }

    fn fits(&self, vertex: &Vertex) -> bool {
        if vertex.deleted && !self.include_deleted {
            return false;
        }
        let state = state(vertex);
        let text = |field: &str| state.get(field).and_then(Value::as_str).unwrap_or_default();
        if !self.types.is_empty() && !self.types.iter().any(|kind| kind == text("type")) {
            return false;
        }
        if self
            .status
            .as_deref()
            .is_some_and(|status| status != text("status"))
        {
            return false;
        }
        self.tags_fit(&state) && self.text_fits(text("title"), text("text"), text("id"))
    }

    fn tags_fit(&self, state: &Map<String, Value>) -> bool {
        let tags: Vec<&str> = state
            .get("tags")
            .and_then(Value::as_array)
            .map(|tags| tags.iter().filter_map(Value::as_str).collect())
            .unwrap_or_default();
        let (any, all) = (normal_tags(&self.tags_any), normal_tags(&self.tags_all));
        (any.is_empty() || any.iter().any(|tag| tags.contains(&tag.as_str())))
            && all.iter().all(|tag| tags.contains(&tag.as_str()))
    }

    fn text_fits(&self, title: &str, text: &str, id: &str) -> bool {
        let Some(sought) = &self.text else {
            return true;
        };
        let sought = fold(sought);
        [title, text, id]
            .iter()
            .any(|field| fold(field).contains(&sought))
    }
}

/// The answer of `branchmind_graph_query`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Slice {
    pub branch: String,
    pub doc: String,
    /// The newest first.
    pub nodes: Vec<Node>,
    /// The edges between the nodes that are shown, the newest first.
    pub edges: Vec<Edge>,
    pub pagination: Pagination<Seq>,
    /// Where this document is empty: others that the branch has.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub documents: Vec<String>,
    /// Whether something was left out, other than to the next page.
    pub truncated: bool,
}

impl Fit for Slice {
    const SHAPE: Shape = Shape::Around {
        list: "nodes",
        drop: Drop::Last,
    };

    fn around(&self, kept: usize) -> Option<Slice> {
        let ids: HashSet<&str> = self.nodes.iter().take(kept).map(|node| &*node.id).collect();
        let edges = self.edges.iter().filter(|edge| {
            let ends = [edge.from.as_str(), edge.to.as_str()];
            ends.iter().all(|end| ids.contains(end))
        });
        Some(Slice {
            branch: self.branch.clone(),
            doc: self.doc.clone(),
            nodes: Vec::new(),
            edges: edges.cloned().collect(),
            pagination: self.pagination.cut(&seqs(&self.nodes), kept),
            documents: self.documents.clone(),
            truncated: self.truncated,
        })
    }
}

pub fn query(tx: &mut ReadTx<'_>, ws: Ws, place: Place, asked: &Asked) -> Result<Slice> {
    let graph = Graph::open(tx, ws, place)?;
    let (found, more) = match &asked.ids {
        Some(ids) => by_id(tx, &graph, asked, ids)?,
        None => newest(tx, &graph, asked)?,
    };
    let nodes = vertex::nodes(tx, ws, &found)?;
    let (edges, truncated) = if asked.include_edges {
        edges(tx, &graph, &nodes, asked)?
    } else {
        (Vec::new(), false)
    };
    let documents = if nodes.is_empty() && asked.cursor.is_none() && !asked.filters() {
        docs::others(tx, ws, &graph.place)?
    } else {
        Vec::new()
    };
    let page = shape::Asked {
        cursor: asked.cursor,
        limit: asked.limit,
    };
    Ok(Slice {
        branch: graph.place.branch,
        doc: graph.place.doc,
        pagination: Pagination::new(page, &seqs(&nodes), more),
        nodes,
        edges,
        documents,
        truncated,
    })
}

fn by_id(
    tx: &mut ReadTx<'_>,
    graph: &Graph,
    asked: &Asked,
    ids: &[String],
) -> Result<(Vec<Vertex>, bool)> {
    // No node has an id that is not valid.
    let ids = ids.iter().filter(|id| check_word("ids", id).is_ok());
    let keys: Vec<String> = ids.map(|id| node_key(id)).collect();
    let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
    let before = asked.cursor.unwrap_or(Seq::MAX);
    let mut found: Vec<Vertex> = graph
        .latest(tx, &keys)?
        .into_values()
        .filter(|vertex| vertex.seq < before && asked.fits(vertex))
        .collect();
    found.sort_by_key(|vertex| Reverse(vertex.seq));
    let most = usize::try_from(asked.limit).unwrap_or(usize::MAX);
    let more = found.len() > most;
    found.truncate(most);
    Ok((found, more))
}

fn newest(tx: &mut ReadTx<'_>, graph: &Graph, asked: &Asked) -> Result<(Vec<Vertex>, bool)> {
    let most = usize::try_from(asked.limit).unwrap_or(usize::MAX);
    // Where nothing is sought, a page is what is shown and one more.
    let mut size = if asked.filters() {
        most.saturating_add(1).max(CHUNK)
    } else {
        most.saturating_add(1)
    };
    let mut wanted = Wanted {
        kinds: &[NODE],
        deleted: asked.include_deleted,
        after: Seq::ZERO,
        before: asked.cursor.unwrap_or(Seq::MAX),
    };
    let mut found = Vec::new();
    loop {
        let chunk = graph.page(tx, &wanted, size)?;
        let whole = chunk.len() == size;
        wanted.before = chunk.last().map_or(Seq::ZERO, |last| last.seq);
        for vertex in chunk {
            if asked.fits(&vertex) {
                if found.len() == most {
                    return Ok((found, true));
                }
                found.push(vertex);
            }
        }
        if !whole {
            return Ok((found, false));
        }
        size = (size * 2).min(LARGEST);
    }
}

/// The edges between the nodes that are shown, newest first.
fn edges(
    tx: &mut ReadTx<'_>,
    graph: &Graph,
    nodes: &[Node],
    asked: &Asked,
) -> Result<(Vec<Edge>, bool)> {
    let most = usize::try_from(asked.edges_limit).unwrap_or(usize::MAX);
    let ids: Vec<&str> = nodes.iter().map(|node| node.id.as_str()).collect();
    let mut found = graph.edges_between(tx, &ids)?;
    found.retain(|edge| !edge.deleted || asked.include_deleted);
    found.sort_by_key(|vertex| Reverse(vertex.seq));
    let cut = found.len() > most;
    found.truncate(most);
    Ok((vertex::edges(tx, graph.ws, &found)?, cut))
}
