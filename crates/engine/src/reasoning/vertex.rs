//! A graph document as one branch sees it: of each key the newest version that is visible.

use std::collections::HashMap;

use serde_json::{Map, Value};
use understory_model::branch::Source;
use understory_model::canon::equal_values;
use understory_model::error::Result;
use understory_model::reasoning::VertexKind;
use understory_model::{Seq, Time, Ws};
use understory_storage::branches::Made;
use understory_storage::entities::Entity;
use understory_storage::vertices::{self, Vertex, Wanted};
use understory_storage::{ReadTx, items};

use super::place::{self, Kind, Place};
use super::shape::{Edge, EdgeKey, Key, Node, Version, Written};
use super::{lineage, writing};
use crate::kernel::content::node as fields;
use crate::kernel::core::Thing;
use crate::kernel::versions;

pub use understory_storage::vertices::{EDGE, NODE};

/// Versions read at once by those who read all.
const CHUNK: usize = 256;

/// The key of a node.
pub fn node_key(id: &str) -> String {
    format!("n|{id}")
}

/// The key of an edge.
pub fn edge_key(from: &str, rel: &str, to: &str) -> String {
    format!("e|{from}|{rel}|{to}")
}

/// What a key stands for, as it is shown.
pub fn key_shown(key: &str) -> Key {
    let parts: Vec<&str> = key.split('|').collect();
    match parts.as_slice() {
        ["e", from, rel, to] => Key::Edge(EdgeKey {
            from: (*from).to_string(),
            rel: (*rel).to_string(),
            to: (*to).to_string(),
        }),
        _ => Key::Node(key.strip_prefix("n|").unwrap_or(key).to_string()),
    }
}

/// Whether a version is one of a node or of an edge.
pub fn kind(vertex: &Vertex) -> VertexKind {
    if vertex.kind == EDGE {
        VertexKind::Edge
    } else {
        VertexKind::Node
    }
}

/// The value of a version.
pub fn state(vertex: &Vertex) -> Map<String, Value> {
    serde_json::from_str(&vertex.data).unwrap_or_default()
}

/// Whether two versions mean the same; none at all means the same as a deleted one.
pub fn same(a: Option<&Vertex>, b: Option<&Vertex>) -> bool {
    let there = |vertex: Option<&Vertex>| vertex.filter(|vertex| !vertex.deleted).map(state);
    match (there(a), there(b)) {
        (None, None) => true,
        (Some(a), Some(b)) => equal_states(a, b),
        _ => false,
    }
}

/// Whether two values of nodes or edges mean the same: no tags are an empty list of them, and no
/// `meta` is an empty one.
pub fn equal_states(mut a: Map<String, Value>, mut b: Map<String, Value>) -> bool {
    for state in [&mut a, &mut b] {
        state.retain(|name, value| match name.as_str() {
            "tags" => value.as_array().is_none_or(|tags| !tags.is_empty()),
            "meta" => value.as_object().is_none_or(|meta| !meta.is_empty()),
            _ => true,
        });
    }
    equal_values(&Value::Object(a), &Value::Object(b))
}

/// Versions as they are shown.
pub fn versions(tx: &mut ReadTx<'_>, ws: Ws, all: &[Vertex]) -> Result<Vec<Version>> {
    let versions = written(tx, ws, all)?;
    let versions =
        versions.map(|(vertex, written)| Version::of(kind(vertex), &state(vertex), written));
    Ok(versions.collect())
}

/// Nodes as they are shown.
pub fn nodes(tx: &mut ReadTx<'_>, ws: Ws, all: &[Vertex]) -> Result<Vec<Node>> {
    let nodes = written(tx, ws, all)?;
    Ok(nodes
        .map(|(vertex, written)| Node::of(&state(vertex), written))
        .collect())
}

/// Edges as they are shown.
pub fn edges(tx: &mut ReadTx<'_>, ws: Ws, all: &[Vertex]) -> Result<Vec<Edge>> {
    let edges = written(tx, ws, all)?;
    Ok(edges
        .map(|(vertex, written)| Edge::of(&state(vertex), written))
        .collect())
}

/// Versions, each with when it was written.
fn written<'v>(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    all: &'v [Vertex],
) -> Result<impl Iterator<Item = (&'v Vertex, Written)>> {
    let seqs: Vec<Seq> = all.iter().map(|vertex| vertex.seq).collect();
    let times = items::times(tx, ws, &seqs)?;
    Ok(all.iter().map(move |vertex| {
        let at = times.get(&vertex.seq).copied().unwrap_or(Time::ZERO);
        let written = Written {
            deleted: vertex.deleted,
            seq: vertex.seq,
            at: Some(at),
        };
        (vertex, written)
    }))
}

/// A version without its time.
pub fn snapshot(vertex: &Vertex) -> Version {
    let written = Written {
        deleted: vertex.deleted,
        seq: vertex.seq,
        at: None,
    };
    Version::of(kind(vertex), &state(vertex), written)
}

/// The graph node that a document belongs to, as a node of that document.
struct Own {
    key: String,
    thing: Thing,
    /// How much of its life the branch sees.
    cutoff: Seq,
}

/// A graph document of a branch.
pub struct Graph {
    pub ws: Ws,
    pub place: Place,
    pub sources: Vec<Source>,
    own: Option<Own>,
}

impl Graph {
    pub fn open(tx: &mut ReadTx<'_>, ws: Ws, place: Place) -> Result<Graph> {
        let node = match place::node_of_doc(&place.doc) {
            Some((handle, Kind::Graph)) => place::node(tx, ws, handle)?,
            _ => None,
        };
        let home = node.as_ref().map(|node| place::canonical(&node.handle));
        let document = (place.branch.as_str(), place.doc.as_str());
        let sources = lineage::of_doc(tx, ws, document, Made::OfVertices, home.as_deref())?;
        let own = match node {
            Some(node) => own(node, &sources)?,
            None => None,
        };
        Ok(Graph {
            ws,
            place,
            sources,
            own,
        })
    }

    /// The same document as it was at a place in the log.
    pub fn upto(&self, seq: Seq) -> Graph {
        let cut = |source: &Source| Source {
            branch: source.branch.clone(),
            cutoff: source.cutoff.min(seq),
        };
        Graph {
            ws: self.ws,
            place: self.place.clone(),
            sources: self.sources.iter().map(cut).collect(),
            own: self.own.as_ref().map(|own| Own {
                key: own.key.clone(),
                thing: own.thing.clone(),
                cutoff: own.cutoff.min(seq),
            }),
        }
    }

    /// The newest visible versions of some keys, deleted ones too.
    pub fn latest(&self, tx: &mut ReadTx<'_>, keys: &[&str]) -> Result<HashMap<String, Vertex>> {
        let mut found = vertices::latest(tx, self.ws, &self.place.doc, &self.sources, keys)?;
        if let Some(own) = &self.own
            && keys.contains(&own.key.as_str())
            && let Some(vertex) = self.own_version(tx)?
        {
            found.insert(own.key.clone(), vertex);
        }
        Ok(found)
    }

    pub fn one(&self, tx: &mut ReadTx<'_>, key: &str) -> Result<Option<Vertex>> {
        Ok(self.latest(tx, &[key])?.remove(key))
    }

    /// The newest visible versions between two places, newest first: of nodes, of edges, or of
    /// both.
    pub fn page(
        &self,
        tx: &mut ReadTx<'_>,
        wanted: &Wanted<'_>,
        most: usize,
    ) -> Result<Vec<Vertex>> {
        let mut found: Vec<Vertex> = Vec::new();
        for (at, source) in self.sources.iter().enumerate() {
            if found.len() >= most {
                break;
            }
            // What a nearer branch has hides what was inherited.
            let source = (source, &self.sources[..at]);
            let left = (most - found.len()) as i64;
            let doc = &self.place.doc;
            found.extend(vertices::newest(tx, self.ws, doc, source, wanted, left)?);
        }
        if wanted.kinds.contains(&NODE)
            && let Some(own) = self.own_version(tx)?
            && (own.seq > wanted.after && own.seq < wanted.before)
            && (wanted.deleted || !own.deleted)
        {
            let at = found.partition_point(|vertex| vertex.seq > own.seq);
            found.insert(at, own);
        }
        found.truncate(most);
        Ok(found)
    }

    /// Edges between some nodes, deleted ones too, in no order.
    pub fn edges_between(&self, tx: &mut ReadTx<'_>, ids: &[&str]) -> Result<Vec<Vertex>> {
        let doc = &self.place.doc;
        let keys = vertices::keys_between(tx, self.ws, doc, &self.sources, ids)?;
        self.all_of(tx, &keys)
    }

    /// Edges that leave or reach a node, deleted ones too, in no order.
    pub fn edges_at(&self, tx: &mut ReadTx<'_>, id: &str) -> Result<Vec<Vertex>> {
        let doc = &self.place.doc;
        let keys = vertices::keys_at(tx, self.ws, doc, &self.sources, id)?;
        self.all_of(tx, &keys)
    }

    fn all_of(&self, tx: &mut ReadTx<'_>, keys: &[String]) -> Result<Vec<Vertex>> {
        let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
        Ok(self.latest(tx, &keys)?.into_values().collect())
    }

    /// Every visible version, newest first, without those that were deleted.
    pub fn all(&self, tx: &mut ReadTx<'_>, kind: &'static str) -> Result<Vec<Vertex>> {
        let mut wanted = Wanted {
            kinds: &[kind],
            deleted: false,
            after: Seq::ZERO,
            before: Seq::MAX,
        };
        let mut all = Vec::new();
        loop {
            let chunk = self.page(tx, &wanted, CHUNK)?;
            let whole = chunk.len() == CHUNK;
            wanted.before = chunk.last().map_or(Seq::ZERO, |last| last.seq);
            all.extend(chunk);
            if !whole {
                return Ok(all);
            }
        }
    }

    /// The key of the node that the document belongs to.
    pub fn own_key(&self) -> Option<String> {
        self.own.as_ref().map(|own| own.key.clone())
    }

    /// The node that the document belongs to, as the branch sees it.
    fn own_version(&self, tx: &mut ReadTx<'_>) -> Result<Option<Vertex>> {
        let Some(own) = &self.own else {
            return Ok(None);
        };
        let Some(version) = versions::at(tx, self.ws, &own.thing, own.cutoff)? else {
            return Ok(None);
        };
        let status = if fields::resolved(&version.data) {
            "resolved"
        } else {
            "open"
        };
        let node = writing::Node {
            id: format!("task:{}", own.thing.entity.handle),
            kind: "task".into(),
            title: Some(fields::summary(&version.data).to_string()),
            status: Some(status.into()),
            ..writing::Node::default()
        };
        Ok(Some(Vertex {
            branch: place::canonical(&own.thing.entity.handle),
            doc: self.place.doc.clone(),
            key: own.key.clone(),
            seq: version.seq,
            kind: NODE.into(),
            target: None,
            deleted: own.thing.entity.gone && own.cutoff == Seq::MAX,
            giver: None,
            data: Value::Object(node.state()).to_string(),
        }))
    }
}

fn own(entity: Entity, sources: &[Source]) -> Result<Option<Own>> {
    let home = place::canonical(&entity.handle);
    let Some(source) = sources.iter().find(|source| source.branch == home) else {
        return Ok(None);
    };
    Ok(Some(Own {
        key: node_key(&format!("task:{}", entity.handle)),
        thing: Thing::open(entity)?,
        cutoff: source.cutoff,
    }))
}
