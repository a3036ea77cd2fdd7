//! Entries of documents, and versions of the nodes and edges of graphs.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::Seq;

/// An entry of a document on a branch.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct NoteEntry {
    pub branch: String,
    #[serde(default)]
    pub content: String,
    pub doc: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
    pub kind: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Map<String, Value>>,
    /// The entry that it copies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Seq>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_event_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
}

/// A version of a node or an edge in a graph document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GraphDelta {
    pub branch: String,
    #[serde(default)]
    pub deleted: bool,
    pub doc: String,
    pub key: String,
    /// `node` or `edge`.
    pub kind: String,
    /// Where it comes from, such as `merge:<branch>:<seq>`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    pub state: Map<String, Value>,
}
