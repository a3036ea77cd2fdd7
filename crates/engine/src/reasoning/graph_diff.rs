//! `branchmind_graph_diff`: how a graph document differs between two branches.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use understory_model::answer::{Fit, Shape};
use understory_model::branch::{Source, unseen, visible};
use understory_model::budget::Drop;
use understory_model::error::Result;
use understory_model::{Seq, Ws};
use understory_storage::ReadTx;
use understory_storage::vertices::{self, Vertex, Wanted};

use super::place::Place;
use super::shape::{Asked, Edge, EdgeKey, Node, Pagination, Row, Version, seqs};
use super::vertex::{EDGE, Graph, NODE, same, versions};

/// Keys compared at once: the upper bound, and the lower bound where few are left to find.
const CHUNK: usize = 256;
const FEW: usize = 16;

/// The answer of `branchmind_graph_diff`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct GraphDiff {
    pub from: String,
    pub to: String,
    pub doc: String,
    /// The newest first.
    pub changes: Vec<Change>,
    pub pagination: Pagination<Seq>,
    pub truncated: bool,
}

/// A node or edge as branch `to` shows it.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Change {
    Node { id: String, to: Node },
    Edge { key: EdgeKey, to: Edge },
}

impl From<Version> for Change {
    fn from(version: Version) -> Change {
        match version {
            Version::Node(node) => Change::Node {
                id: node.id.clone(),
                to: node,
            },
            Version::Edge(edge) => Change::Edge {
                key: EdgeKey {
                    from: edge.from.clone(),
                    rel: edge.rel.clone(),
                    to: edge.to.clone(),
                },
                to: edge,
            },
        }
    }
}

impl Row for Change {
    fn seq(&self) -> Seq {
        match self {
            Change::Node { to, .. } => to.last_seq,
            Change::Edge { to, .. } => to.last_seq,
        }
    }
}

impl Fit for GraphDiff {
    const SHAPE: Shape = Shape::Around {
        list: "changes",
        drop: Drop::Last,
    };

    fn around(&self, kept: usize) -> Option<GraphDiff> {
        Some(GraphDiff {
            from: self.from.clone(),
            to: self.to.clone(),
            doc: self.doc.clone(),
            changes: Vec::new(),
            pagination: self.pagination.cut(&seqs(&self.changes), kept),
            truncated: self.truncated,
        })
    }
}

pub fn diff(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    (from, to, doc): (&str, &str, &str),
    asked: Asked,
) -> Result<GraphDiff> {
    let open = |tx: &mut ReadTx<'_>, branch: &str| {
        let place = Place {
            branch: branch.to_string(),
            doc: doc.to_string(),
        };
        Graph::open(tx, ws, place)
    };
    let (here, there) = (open(tx, from)?, open(tx, to)?);
    let most = usize::try_from(asked.limit).unwrap_or(usize::MAX);
    let before = asked.cursor.unwrap_or(Seq::MAX);
    let mut found = changed(tx, (&here, &there), before, most.saturating_add(1))?;
    let more = found.len() > most;
    found.truncate(most);
    let versions = versions(tx, ws, &found)?.into_iter();
    let changes: Vec<Change> = versions.map(Change::from).collect();
    Ok(GraphDiff {
        from: from.to_string(),
        to: to.to_string(),
        doc: doc.to_string(),
        pagination: Pagination::new(asked, &seqs(&changes), more),
        changes,
        truncated: false,
    })
}

/// What `there` shows that differs from what `here` shows, before a place, newest first.
fn changed(
    tx: &mut ReadTx<'_>,
    (here, there): (&Graph, &Graph),
    before: Seq,
    most: usize,
) -> Result<Vec<Vertex>> {
    // What only `there` sees was written after all that both see, so the rest waits until it ends.
    let mut found = news(tx, (here, there), before, most)?;
    if found.len() < most {
        found.extend(left(tx, (here, there), before)?);
    }
    if let Some(key) = there.own_key()
        && let Some(own) = there.one(tx, &key)?.filter(|own| own.seq < before)
        && !same(here.one(tx, &key)?.as_ref(), Some(&own))
    {
        let at = found.partition_point(|vertex| vertex.seq > own.seq);
        found.insert(at, own);
    }
    found.truncate(most);
    Ok(found)
}

fn both(after: Seq, before: Seq) -> Wanted<'static> {
    Wanted {
        kinds: &[NODE, EDGE],
        deleted: true,
        after,
        before,
    }
}

/// Of versions that `there` sees and `here` does not, those that differ, newest first.
fn news(
    tx: &mut ReadTx<'_>,
    (here, there): (&Graph, &Graph),
    before: Seq,
    most: usize,
) -> Result<Vec<Vertex>> {
    let mut found = Vec::new();
    for part in unseen(&here.sources, &there.sources) {
        let mut sources = there.sources.iter();
        let nearer = sources.position(|source| source.branch == part.branch);
        let nearer = &there.sources[..nearer.unwrap_or_default()];
        let source = Source {
            branch: part.branch,
            cutoff: part.upto,
        };
        let mut wanted = both(part.after, before);
        while found.len() < most {
            let (ws, doc) = (there.ws, &there.place.doc);
            let size = (most - found.len()).clamp(FEW, CHUNK);
            let source = (&source, nearer);
            let chunk = vertices::newest(tx, ws, doc, source, &wanted, size as i64)?;
            let whole = chunk.len() == size;
            wanted.before = chunk.last().map_or(Seq::ZERO, |last| last.seq);
            let keys: Vec<&str> = chunk.iter().map(|vertex| vertex.key.as_str()).collect();
            let ours = here.latest(tx, &keys)?;
            let differs = |theirs: &Vertex| !same(ours.get(&theirs.key), Some(theirs));
            found.extend(chunk.into_iter().filter(differs));
            if !whole {
                break;
            }
        }
    }
    Ok(found)
}

/// Of versions that both see and `here` has left behind, those that differ, newest first.
///
/// They come in no order that a page could follow: all keys that only `here` changed are looked at.
fn left(tx: &mut ReadTx<'_>, (here, there): (&Graph, &Graph), before: Seq) -> Result<Vec<Vertex>> {
    let mut keys = BTreeSet::new();
    for part in unseen(&there.sources, &here.sources) {
        let source = Source {
            branch: part.branch,
            cutoff: part.upto,
        };
        let mut wanted = both(part.after, Seq::MAX);
        loop {
            let (ws, doc, size) = (here.ws, &here.place.doc, CHUNK as i64);
            let chunk = vertices::newest(tx, ws, doc, (&source, &[]), &wanted, size)?;
            let whole = chunk.len() == CHUNK;
            wanted.before = chunk.last().map_or(Seq::ZERO, |last| last.seq);
            keys.extend(chunk.into_iter().map(|vertex| vertex.key));
            if !whole {
                break;
            }
        }
    }
    let keys: Vec<String> = keys.into_iter().collect();
    let mut found = Vec::new();
    for some in keys.chunks(CHUNK) {
        let some: Vec<&str> = some.iter().map(String::as_str).collect();
        let ours = here.latest(tx, &some)?;
        let theirs = there.latest(tx, &some)?.into_values();
        found.extend(theirs.filter(|theirs| {
            theirs.seq < before
                && visible(&here.sources, &theirs.branch, theirs.seq)
                && !same(ours.get(&theirs.key), Some(theirs))
        }));
    }
    found.sort_by_key(|vertex| Reverse(vertex.seq));
    Ok(found)
}
