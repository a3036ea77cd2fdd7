//! Facts that say one thing about others: read, undone, dealt with, moved, corrected, erased.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Id, Seq};

/// Somebody has read a thread up to a message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReadAck {
    /// The changes of the thread that were seen; none before they were counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changes: Option<i64>,
    /// The number of the last message that was read.
    pub n: i64,
    /// The handle of the thread.
    pub thread: String,
}

/// A token, or the tokens of a session, are refused from now on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenRevoked {
    pub kind: Revoked,
    pub name: String,
}

/// What was revoked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Revoked {
    /// The one token with this `jti`.
    Token,
    /// Every token of the session that was issued until then.
    Session,
}

impl Revoked {
    pub fn as_str(self) -> &'static str {
        match self {
            Revoked::Token => "token",
            Revoked::Session => "session",
        }
    }
}

/// The content of an earlier item was taken back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Undone {
    pub item: Seq,
    /// What stands in its place.
    #[serde(default)]
    pub remains: Value,
}

/// An agent has dealt with changes up to a place.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChangesAck {
    pub seq: Seq,
    /// The filter it followed; none for all changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream: Option<String>,
}

/// Relations moved between core and soil, each named by the item that made it and its number there.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Fossilized {
    #[serde(default)]
    pub active: Vec<(Seq, i64)>,
    #[serde(default)]
    pub fossil: Vec<(Seq, i64)>,
    #[serde(default)]
    pub threshold: f64,
}

/// A person took back what texts were taken to mention.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Corrected {
    pub wrong: Vec<(Seq, i64)>,
}

/// A participant stands elsewhere.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FrameMoved {
    /// The names, for readers of the timeline.
    pub fields: FrameNames,
    /// The numbers, for core.
    pub frame: Frame,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FrameNames {
    #[serde(default)]
    pub branch_uuid: Option<String>,
    #[serde(default)]
    pub head: Option<String>,
    pub participant: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Frame {
    #[serde(default)]
    pub head: Option<Seq>,
    pub log: Id,
}

/// An operator had contents erased.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Purged {
    /// Each item, and the digest of what remains of it.
    pub items: Vec<(Seq, String)>,
    pub reason: String,
}
