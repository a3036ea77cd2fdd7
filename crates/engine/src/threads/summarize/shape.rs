//! What a summary of a thread says.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use understory_model::Time;
use understory_model::answer::{Fit, Shape};
use understory_model::thread::{FindingState, MessageKind, Status};

use crate::threads::Turned;

/// The answer of `summarize_thread`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    pub thread_id: String,
    pub title: String,
    /// The counts in a few sentences; nothing in it was written by a participant.
    pub summary: String,
    pub findings: Counts,
    /// Commits that fixes name, newest first.
    pub commits: Vec<String>,
    /// What is open: escalations, then findings, then requests to review again.
    pub open_items: Vec<OpenItem>,
    /// How many there are, where not all are listed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_items_total: Option<i64>,
    /// Newest first.
    pub last_messages: Vec<Line>,
    /// Of a conversation without findings, how it began.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub first_messages: Vec<Line>,
    pub participants: Vec<Sender>,
    pub last_status: Status,
    /// How many messages it has.
    pub messages: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span: Option<Span>,
    /// Of a conversation without findings, words that stand out in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub topics: Vec<String>,
    /// The last changes of its status and participants.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Turned>,
    /// Who called it resolved.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resolved_by: Vec<String>,
    /// How many items are open, listed or not.
    #[serde(skip)]
    pub(super) total: i64,
}

impl Fit for Summary {
    /// Chatter is given up before what is open; the sentences have the counts too.
    const SHAPE: Shape = Shape::Parts {
        optional: &[
            "first_messages",
            "topics",
            "last_messages",
            "changes",
            "participants",
            "commits",
            "resolved_by",
            "span",
            "title",
            "findings",
        ],
        list: "open_items",
        least: &["summary", "last_status"],
    };

    fn total(&self) -> i64 {
        self.total
    }
}

/// What has become of a thread's findings.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
pub struct Counts {
    pub reported: i64,
    pub fixed: i64,
    pub verified: i64,
    pub rejected: i64,
    pub withdrawn: i64,
    pub unanswered: i64,
    pub open: i64,
}

/// A message in a line. One that was erased from the log has no words any more.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Line {
    pub message_id: String,
    pub sender_agent_id: String,
    pub created_at: Time,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<MessageKind>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event_type: Option<String>,
    /// Its beginning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
}

/// What is open: the message that reported or asked it, and where it stands.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct OpenItem {
    #[serde(flatten)]
    pub line: Line,
    pub item: Open,
    /// Who is to answer it.
    #[serde(rename = "for", default, skip_serializing_if = "Option::is_none")]
    pub awaits: Option<String>,
    /// Of a finding.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<FindingState>,
    /// Commits that are said to fix it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commits: Vec<String>,
    #[serde(flatten)]
    pub place: Place,
}

/// What can be open in a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Open {
    Finding,
    Escalation,
    ReReview,
}

/// What its reporter said of a finding: each a text, a number or a truth value.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct Place {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finding_id: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub severity: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<Value>,
}

/// Who took part, and how much it said.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Sender {
    pub agent_id: String,
    pub messages: i64,
}

/// When the first and the last message were written.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
pub struct Span {
    pub first_at: Time,
    pub last_at: Time,
}
