//! The garden surface: everything that happened on one timeline, with its cause; what is believed,
//! version by version; and the conversations in which it came about.
//!
//! What is said here is items, never changed afterwards. Entities of every surface can be read
//! here, and only those that were made here can be changed here: each surface guards its own.

pub mod artifact;
pub mod changes;
pub mod closing;
pub mod collapse;
pub mod conversation;
pub mod entity;
pub mod fork;
pub mod fossil;
pub mod frame;
pub mod get;
pub mod history;
pub mod item;
pub mod listed;
pub mod logs;
pub mod page;
pub mod reader;
pub mod refs;
pub mod relate;
pub mod relations;
pub mod reopen;
mod said;
pub mod shape;
pub mod shown;
pub mod stack;
pub mod system;
pub mod timeline;
pub mod trace;
pub mod undo;
pub mod why;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use understory_model::item::Item;
use understory_model::{Id, Seq};

pub const NOTE: &str = "Note";
pub const TOOL_CALL: &str = "ToolCall";
pub const SYSTEM_EVENT: &str = "SystemEvent";
pub const ARTIFACT_CREATED: &str = "ArtifactCreated";
pub const ARTIFACT_DELTA: &str = "ArtifactDelta";
/// Says that the content of an earlier item was taken back.
pub const UNDONE: &str = "Undone";
/// Says that an agent has dealt with changes up to a place.
pub const CHANGES_ACK: &str = "ChangesAck";
/// Says which relations moved between core and soil.
pub const FOSSILIZED: &str = "Fossilized";
/// Says that a person took back what texts were taken to mention.
pub const CORRECTED: &str = "Corrected";
/// Says where a participant now stands.
pub const FRAME_MOVED: &str = "FrameMoved";

/// Item types that the server alone writes.
pub const OWN_TYPES: [&str; 16] = [
    "Item",
    "EntityDelta",
    "NoteEntry",
    "GraphDelta",
    "ReadAck",
    "TokenRevoked",
    crate::audit::AUDIT_EVENT,
    ARTIFACT_CREATED,
    ARTIFACT_DELTA,
    UNDONE,
    CHANGES_ACK,
    FOSSILIZED,
    CORRECTED,
    FRAME_MOVED,
    SYSTEM_EVENT,
    crate::purge::PURGED,
];

/// What an item of the garden says, as it stands in the log.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Content {
    /// The conversation that it stands in.
    #[serde(default)]
    pub log: Option<Id>,
    /// The item that it answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replies_to: Option<Seq>,
    /// The fields of its type.
    pub fields: Map<String, Value>,
    /// What its text refers to, resolved when it was written: a replay must not depend on what was
    /// erased or made since.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mentions: Vec<Mention>,
    /// Things that a text cited before it was taken back: they were strengthened then, and a replay
    /// must come to the same strengths.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cited: Vec<Seq>,
    /// Whether the rest was taken back.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub undone: bool,
}

/// A reference in a text, and what it meant when it was written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Mention {
    pub target: Seq,
    /// `item`, `entity`, `artifact` or `fragment`.
    #[serde(rename = "type")]
    pub kind: String,
    /// In characters.
    pub span: (usize, usize),
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fragment: Option<String>,
}

/// What an item of the garden says; `None` for those of other surfaces.
pub fn content(item: &Item) -> Option<Content> {
    serde_json::from_str(item.content.as_deref()?).ok()
}
