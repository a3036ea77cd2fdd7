//! A graph document as one branch sees it: of each key the newest version that is visible.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value, json};
use understory_model::branch::Source;
use understory_model::canon::equal_values;
use understory_model::error::Result;
use understory_model::{Seq, Time, Ws};
use understory_storage::branches::Made;
use understory_storage::entities::Entity;
use understory_storage::vertices::{self, Vertex};
use understory_storage::{Tx, items};

use super::lineage;
use super::place::{self, Kind, Place};
use crate::core::Thing;
use crate::versions;

pub const NODE: &str = "node";
pub const EDGE: &str = "edge";

/// Versions read at once.
const CHUNK: i64 = 256;

/// The key of a node.
pub fn node_key(id: &str) -> String {
    format!("n|{id}")
}

/// The key of an edge.
pub fn edge_key(from: &str, rel: &str, to: &str) -> String {
    format!("e|{from}|{rel}|{to}")
}

/// The beginning of the keys of all edges that leave a node.
pub fn edges_from(id: &str) -> String {
    format!("e|{id}|")
}

/// What a key stands for, as it is shown.
pub fn key_shown(key: &str) -> Value {
    let parts: Vec<&str> = key.split('|').collect();
    match parts.as_slice() {
        ["n", id] => json!(id),
        ["e", from, rel, to] => json!({ "from": from, "rel": rel, "to": to }),
        _ => Value::Null,
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
        (Some(a), Some(b)) => equal_values(&Value::Object(a), &Value::Object(b)),
        _ => false,
    }
}

/// A version as it is shown.
pub fn shown(tx: &mut Tx<'_>, ws: Ws, vertex: &Vertex) -> Result<Value> {
    let mut shown = state(vertex);
    shown.insert("deleted".into(), vertex.deleted.into());
    shown.insert("last_seq".into(), vertex.seq.into());
    let at = items::time_of(tx, ws, vertex.seq)?.unwrap_or(Time::ZERO);
    shown.insert("last_ts_ms".into(), (at.0 / 1_000).into());
    Ok(Value::Object(shown))
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
    pub fn open(tx: &mut Tx<'_>, ws: Ws, place: Place) -> Result<Graph> {
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
    pub fn latest(&self, tx: &mut Tx<'_>, keys: &[&str]) -> Result<HashMap<String, Vertex>> {
        let mut found = latest_in(tx, self.ws, &self.place.doc, &self.sources, keys)?;
        if let Some(own) = &self.own
            && keys.contains(&own.key.as_str())
            && let Some(vertex) = self.own_version(tx)?
        {
            found.insert(own.key.clone(), vertex);
        }
        Ok(found)
    }

    pub fn one(&self, tx: &mut Tx<'_>, key: &str) -> Result<Option<Vertex>> {
        Ok(self.latest(tx, &[key])?.remove(key))
    }

    /// The newest visible versions before a place, newest first: of nodes, of edges, or of both.
    pub fn page(
        &self,
        tx: &mut Tx<'_>,
        kind: Option<&str>,
        before: Seq,
        most: usize,
    ) -> Result<Vec<Vertex>> {
        let mut found: Vec<Vertex> = Vec::new();
        for (at, source) in self.sources.iter().enumerate() {
            let mut below = before;
            while found.len() < most {
                let place = (source.branch.as_str(), self.place.doc.as_str());
                let range = (source.cutoff, below);
                let chunk = vertices::newest(tx, self.ws, place, kind, range, CHUNK)?;
                let Some(last) = chunk.last() else { break };
                below = last.seq;
                let whole = chunk.len() as i64 == CHUNK;
                // What a nearer branch changed hides what was inherited.
                let keys: Vec<&str> = chunk.iter().map(|vertex| vertex.key.as_str()).collect();
                let nearer = &self.sources[..at];
                let hidden: HashSet<String> =
                    latest_in(tx, self.ws, &self.place.doc, nearer, &keys)?
                        .into_keys()
                        .collect();
                found.extend(
                    chunk
                        .into_iter()
                        .filter(|vertex| !hidden.contains(&vertex.key)),
                );
                if !whole {
                    break;
                }
            }
        }
        if kind != Some(EDGE)
            && let Some(own) = self.own_version(tx)?
            && own.seq < before
        {
            let at = found.partition_point(|vertex| vertex.seq > own.seq);
            found.insert(at, own);
        }
        found.truncate(most);
        Ok(found)
    }

    /// The keys of visible edges that leave a node, deleted ones too.
    pub fn keys_from(&self, tx: &mut Tx<'_>, id: &str, most: i64) -> Result<Vec<String>> {
        let mut keys = Vec::new();
        for source in &self.sources {
            let place = (source.branch.as_str(), self.place.doc.as_str());
            let prefix = edges_from(id);
            keys.extend(vertices::keys_from(
                tx,
                self.ws,
                place,
                &prefix,
                source.cutoff,
                most,
            )?);
        }
        keys.sort();
        keys.dedup();
        Ok(keys)
    }

    /// The keys of visible edges that leave or reach a node, deleted ones too.
    pub fn keys_at(&self, tx: &mut Tx<'_>, id: &str) -> Result<Vec<String>> {
        let mut keys = self.keys_from(tx, id, i64::MAX)?;
        for source in &self.sources {
            let place = (source.branch.as_str(), self.place.doc.as_str());
            keys.extend(vertices::keys_to(tx, self.ws, place, id, source.cutoff)?);
        }
        keys.sort();
        keys.dedup();
        Ok(keys)
    }

    /// Every visible version, newest first, without those that were deleted.
    pub fn all(&self, tx: &mut Tx<'_>, kind: &str) -> Result<Vec<Vertex>> {
        let found = self.page(tx, Some(kind), Seq::MAX, usize::MAX)?;
        Ok(found.into_iter().filter(|vertex| !vertex.deleted).collect())
    }

    /// The key of the node that the document belongs to.
    pub fn own_key(&self) -> Option<String> {
        self.own.as_ref().map(|own| own.key.clone())
    }

    /// The node that the document belongs to, as the branch sees it.
    fn own_version(&self, tx: &mut Tx<'_>) -> Result<Option<Vertex>> {
        let Some(own) = &self.own else {
            return Ok(None);
        };
        let Some(version) = versions::at(tx, self.ws, &own.thing, own.cutoff)? else {
            return Ok(None);
        };
        let resolved = version.data.get("resolved") == Some(&Value::Bool(true));
        let state = json!({
            "id": format!("task:{}", own.thing.entity.handle),
            "type": "task",
            "title": version.data.get("summary"),
            "status": if resolved { "resolved" } else { "open" },
        });
        Ok(Some(Vertex {
            branch: place::canonical(&own.thing.entity.handle),
            doc: self.place.doc.clone(),
            key: own.key.clone(),
            seq: version.seq,
            kind: NODE.into(),
            target: None,
            deleted: own.thing.entity.gone && own.cutoff == Seq::MAX,
            source: None,
            data: state.to_string(),
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

fn latest_in(
    tx: &mut Tx<'_>,
    ws: Ws,
    doc: &str,
    sources: &[Source],
    keys: &[&str],
) -> Result<HashMap<String, Vertex>> {
    let mut found: HashMap<String, Vertex> = HashMap::new();
    for source in sources {
        let left: Vec<&str> = keys
            .iter()
            .copied()
            .filter(|key| !found.contains_key(*key))
            .collect();
        if left.is_empty() {
            break;
        }
        let place = (source.branch.as_str(), doc);
        for vertex in vertices::latest(tx, ws, place, source.cutoff, &left)? {
            found.insert(vertex.key.clone(), vertex);
        }
    }
    Ok(found)
}
