//! How messages look in an answer.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use understory_model::Time;
use understory_model::id::message_name;
use understory_model::item::Item;
use understory_model::thread::MessageKind;

use crate::kernel::content::message::said;

/// How much of a message is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// What differs from message to message.
    Brief,
    /// As `Brief`, with its thread.
    Placed,
    /// Every field.
    Full,
}

/// A message of a thread. One that was erased from the log has its id and nothing else.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Message {
    pub message_id: String,
    /// Its number in the thread; the first is 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<MessageKind>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// How long the body is, where it was left out of a shortened answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body_chars: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sender_agent_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_at: Option<Time>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema_version: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sender_session_id: Option<String>,
    /// What its sender added; an event has its `event_type` here.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
    /// The id of the message that it answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_reply_to: Option<String>,
    /// The key that it was posted with, shown to its sender only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
    /// Its sender took back what it said.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub undone: bool,
}

impl Message {
    /// A message as somebody reads it.
    pub fn of(item: &Item, reader: &str, form: Form) -> Message {
        let message_id = message_name(item.seq);
        let Some(said) = said(item) else {
            return Message {
                message_id,
                ..Message::default()
            };
        };
        let full = form == Form::Full;
        Message {
            message_id,
            seq: Some(said.n),
            kind: Some(said.kind),
            body: Some(said.body),
            body_chars: None,
            sender_agent_id: Some(item.actor.clone()),
            created_at: Some(item.realized_at),
            thread_id: (form != Form::Brief).then_some(said.thread),
            schema_version: full.then_some(said.schema_version),
            sender_session_id: full.then(|| item.session.clone()),
            metadata: said.metadata,
            in_reply_to: said.in_reply_to.map(message_name),
            idempotency_key: said.key.filter(|_| item.actor == reader),
            undone: said.undone,
        }
    }

    /// Without what may be long, and how long that is: left out, it would hide all after it.
    pub fn lean(&self) -> Message {
        Message {
            body: None,
            body_chars: self.body.as_ref().map(|body| body.chars().count()),
            metadata: Map::new(),
            ..self.clone()
        }
    }
}
