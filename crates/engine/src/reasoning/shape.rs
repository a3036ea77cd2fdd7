//! What the answers of this surface are made of: pages, entries, and the nodes and edges of graph
//! documents. Nothing here reads or writes the store.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use understory_model::reasoning::{EntryKind, VertexKind};
use understory_model::{Seq, Time};

/// Where a page of a longer list is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Pagination<C> {
    /// The cursor that was asked for.
    pub cursor: Option<C>,
    /// Whether there is another page after this one.
    pub has_more: bool,
    pub limit: i64,
    /// How many rows this page shows.
    pub count: usize,
    /// The cursor of the next page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<C>,
}

/// Which part of a list is asked for.
#[derive(Debug, Clone, Copy)]
pub struct Asked {
    /// Only what comes before this place, the newest first.
    pub cursor: Option<Seq>,
    pub limit: i64,
}

impl Pagination<Seq> {
    /// A page of rows whose places in the log are given in the order of the pages; `more` if there
    /// are rows after them.
    pub fn new(asked: Asked, seqs: &[Seq], more: bool) -> Pagination<Seq> {
        let page = Pagination {
            cursor: asked.cursor,
            has_more: more,
            limit: asked.limit,
            count: seqs.len(),
            next_cursor: None,
        };
        page.cut(seqs, seqs.len())
    }

    /// The same page when only its first `kept` rows are shown. Where none is shown, the next page
    /// begins with the first.
    #[must_use]
    pub fn cut(&self, seqs: &[Seq], kept: usize) -> Pagination<Seq> {
        let more = self.has_more || kept < seqs.len();
        let next = match kept.checked_sub(1) {
            Some(last) => seqs.get(last).copied(),
            None => seqs.first().map(|first| first.next()),
        };
        Pagination {
            has_more: more,
            count: kept,
            next_cursor: next.filter(|_| more),
            ..self.clone()
        }
    }
}

/// What has a place in the log.
pub trait Row {
    fn seq(&self) -> Seq;
}

/// The places of rows, in their order.
pub fn seqs<'r, R: Row + 'r>(rows: impl IntoIterator<Item = &'r R>) -> Vec<Seq> {
    rows.into_iter().map(Row::seq).collect()
}

/// An entry of a document. A copy that a merge made has the time and author of its original.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Entry {
    pub seq: Seq,
    pub ts: Time,
    pub branch: String,
    pub doc: String,
    pub kind: EntryKind,
    /// Who wrote it. Left out where the caller just did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Who merged it into this branch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merged_by: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merged_at: Option<Time>,
    /// The item of an event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
    /// Whatever its author added.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Map<String, Value>>,
    /// What it was made from: a card or a merged entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_event_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
}

impl Row for Entry {
    fn seq(&self) -> Seq {
        self.seq
    }
}

/// What identifies an edge.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EdgeKey {
    pub from: String,
    pub rel: String,
    pub to: String,
}

impl EdgeKey {
    pub fn of(state: &Map<String, Value>) -> EdgeKey {
        EdgeKey {
            from: text(state, "from").unwrap_or_default(),
            rel: text(state, "rel").unwrap_or_default(),
            to: text(state, "to").unwrap_or_default(),
        }
    }
}

/// What identifies a node, its id, or an edge.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Key {
    Node(String),
    Edge(EdgeKey),
}

/// A node of a graph document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Node {
    pub id: String,
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tags: Option<Vec<String>>,
    /// Whatever its author added.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Map<String, Value>>,
    pub deleted: bool,
    /// The item that wrote this version.
    pub last_seq: Seq,
    /// When, in milliseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_ts_ms: Option<i64>,
}

impl Node {
    pub fn of(state: &Map<String, Value>, written: Written) -> Node {
        let tags = state.get("tags").and_then(Value::as_array);
        let texts = |tags: &Vec<Value>| {
            let tags = tags.iter().filter_map(Value::as_str);
            tags.map(str::to_string).collect()
        };
        Node {
            id: text(state, "id").unwrap_or_default(),
            kind: text(state, "type"),
            title: text(state, "title"),
            text: text(state, "text"),
            status: text(state, "status"),
            tags: tags.map(texts),
            meta: meta(state),
            deleted: written.deleted,
            last_seq: written.seq,
            last_ts_ms: written.at.map(millis),
        }
    }
}

impl Row for Node {
    fn seq(&self) -> Seq {
        self.last_seq
    }
}

/// An edge of a graph document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Edge {
    pub from: String,
    pub rel: String,
    pub to: String,
    /// Whatever its author added.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Map<String, Value>>,
    pub deleted: bool,
    /// The item that wrote this version.
    pub last_seq: Seq,
    /// When, in milliseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_ts_ms: Option<i64>,
}

impl Edge {
    pub fn of(state: &Map<String, Value>, written: Written) -> Edge {
        let EdgeKey { from, rel, to } = EdgeKey::of(state);
        Edge {
            from,
            rel,
            to,
            meta: meta(state),
            deleted: written.deleted,
            last_seq: written.seq,
            last_ts_ms: written.at.map(millis),
        }
    }
}

/// Which version of a node or edge it is.
#[derive(Debug, Clone, Copy)]
pub struct Written {
    pub deleted: bool,
    pub seq: Seq,
    /// `None` where the time is not shown.
    pub at: Option<Time>,
}

/// A version of a node or of an edge.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Version {
    Edge(Edge),
    Node(Node),
}

impl Version {
    pub fn of(kind: VertexKind, state: &Map<String, Value>, written: Written) -> Version {
        match kind {
            VertexKind::Node => Version::Node(Node::of(state, written)),
            VertexKind::Edge => Version::Edge(Edge::of(state, written)),
        }
    }
}

fn text(state: &Map<String, Value>, field: &str) -> Option<String> {
    let text = state.get(field).and_then(Value::as_str);
    text.map(str::to_string)
}

fn meta(state: &Map<String, Value>) -> Option<Map<String, Value>> {
    state.get("meta").and_then(Value::as_object).cloned()
}

/// A moment in milliseconds since 1970.
pub fn millis(at: Time) -> i64 {
    at.0 / 1_000
}
