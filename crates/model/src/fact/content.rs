//! Items of a conversation, and what their texts refer to.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{Id, Seq};

/// What an item of a conversation says.
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
    pub cited: Vec<Id>,
    /// Whether the rest was taken back.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub undone: bool,
}

/// A reference in a text, and what it meant when it was written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Mention {
    pub target: Id,
    /// `item`, `entity`, `artifact` or `fragment`.
    #[serde(rename = "type")]
    pub kind: String,
    /// In characters.
    pub span: (usize, usize),
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fragment: Option<String>,
}
