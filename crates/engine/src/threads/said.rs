//! A message as it stands in the log.

use serde_json::{Map, Value, json};
use understory_model::fragment::Cut;
use understory_model::item::Item;
use understory_model::thread::{Event, MessageKind};
use understory_model::{Role, Seq};

use super::{directs, text};
use crate::garden::Mention;
use crate::garden::undo::cited;

/// What a message says, as it stands in the log.
#[derive(Debug, Clone, PartialEq)]
pub struct Said {
    /// The handle of its thread.
    pub thread: String,
    pub n: i64,
    pub kind: MessageKind,
    pub body: String,
    pub metadata: Map<String, Value>,
    pub in_reply_to: Option<Seq>,
    pub schema_version: i64,
    pub key: Option<String>,
    /// As what its sender spoke; none in messages of before this was kept.
    pub role: Option<Role>,
    /// How its body is cut into parts.
    pub cut: Cut,
    /// What its body refers to.
    pub mentions: Vec<Mention>,
    /// What it referred to before it was taken back.
    pub cited: Vec<Seq>,
    /// Whether its author took back what it said.
    pub undone: bool,
}

impl Said {
    /// What an event's sender calls it.
    pub fn event_type(&self) -> Option<&str> {
        match self.kind {
            MessageKind::Event => self.metadata.get("event_type").and_then(Value::as_str),
            MessageKind::Chat => None,
        }
    }

    /// The event, if it is one that the server acts on.
    pub fn event(&self) -> Option<Event> {
        self.event_type().and_then(Event::parse)
    }

    /// Whether it comes from somebody who directs. What was said before roles were kept counts as it
    /// did when it was said.
    pub fn directs(&self) -> bool {
        self.role.is_none_or(directs)
    }

    pub fn content(&self) -> Value {
        let mut content = json!({
            "thread": self.thread,
            "n": self.n,
            "schema_version": self.schema_version,
            "kind": self.kind,
            "body": self.body,
        });
        if !self.metadata.is_empty() {
            content["metadata"] = self.metadata.clone().into();
        }
        if let Some(answered) = self.in_reply_to {
            content["in_reply_to"] = answered.into();
        }
        if let Some(key) = &self.key {
            content["idempotency_key"] = key.clone().into();
        }
        if let Some(role) = self.role {
            content["role"] = role.as_str().into();
        }
        if self.cut != Cut::Joined {
            content["cut"] = self.cut.number().into();
        }
        if !self.mentions.is_empty() {
            content["mentions"] = json!(self.mentions);
        }
        if !self.cited.is_empty() {
            content["cited"] = json!(self.cited);
        }
        if self.undone {
            content["undone"] = true.into();
        }
        content
    }

    /// What is left when it is taken back: its place, and nothing of what it said.
    pub fn remains(&self) -> Said {
        Said {
            body: String::new(),
            metadata: Map::new(),
            key: None,
            mentions: Vec::new(),
            cited: cited(&self.mentions),
            undone: true,
            ..self.clone()
        }
    }
}

/// What a message's item says; `None` if it cannot be read.
pub fn said(item: &Item) -> Option<Said> {
    let mut content: Map<String, Value> = serde_json::from_str(item.content.as_deref()?).ok()?;
    let metadata = match content.remove("metadata") {
        Some(Value::Object(metadata)) => metadata,
        _ => Map::new(),
    };
    Some(Said {
        thread: text(&content, "thread").to_string(),
        n: content.get("n")?.as_i64()?,
        kind: MessageKind::parse(text(&content, "kind"))?,
        body: text(&content, "body").to_string(),
        metadata,
        in_reply_to: content.get("in_reply_to").and_then(Value::as_i64),
        schema_version: content.get("schema_version").and_then(Value::as_i64)?,
        key: content
            .get("idempotency_key")
            .and_then(Value::as_str)
            .map(str::to_string),
        role: content
            .get("role")
            .and_then(Value::as_str)
            .and_then(|role| role.parse().ok()),
        cut: Cut::of_number(content.get("cut").and_then(Value::as_i64).unwrap_or(0)),
        mentions: content
            .remove("mentions")
            .and_then(|mentions| serde_json::from_value(mentions).ok())
            .unwrap_or_default(),
        cited: content
            .remove("cited")
            .and_then(|cited| serde_json::from_value(cited).ok())
            .unwrap_or_default(),
        undone: content.get("undone") == Some(&Value::Bool(true)),
    })
}
