//! A message: what stands of it in the log, and how it is read.

use serde_json::{Map, Value, json};
use understory_model::fragment::Cut;
use understory_model::id::message_name;
use understory_model::item::Item;
use understory_model::{Role, Seq};

use super::{EVENT, directs, text};
use crate::garden::Mention;
use crate::garden::undo::cited;

/// What a message says, as it stands in the log.
#[derive(Debug, Clone, PartialEq)]
pub struct Said {
    /// The handle of its thread.
    pub thread: String,
    pub n: i64,
    pub kind: String,
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
    pub fn event_type(&self) -> Option<&str> {
        let named = self.metadata.get("event_type").and_then(Value::as_str);
        named.filter(|_| self.kind == EVENT)
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
        kind: text(&content, "kind").to_string(),
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

/// A message as somebody reads it; its key is shown to whoever gave it.
pub fn shown(item: &Item, reader: &str, form: Form) -> Value {
    let Some(said) = said(item) else {
        return json!({ "message_id": message_name(item.seq) });
    };
    let mut shown = json!({
        "message_id": message_name(item.seq),
        "seq": said.n,
        "kind": said.kind,
        "body": said.body,
        "sender_agent_id": item.actor,
        "created_at": item.realized_at.to_string(),
    });
    if form != Form::Brief {
        shown["thread_id"] = said.thread.into();
    }
    if form == Form::Full {
        shown["schema_version"] = said.schema_version.into();
        shown["sender_session_id"] = item.session.clone().into();
    }
    if !said.metadata.is_empty() {
        shown["metadata"] = said.metadata.into();
    }
    if let Some(answered) = said.in_reply_to {
        shown["in_reply_to"] = message_name(answered).into();
    }
    if let Some(key) = said.key.filter(|_| item.actor == reader) {
        shown["idempotency_key"] = key.into();
    }
    if said.undone {
        shown["undone"] = true.into();
    }
    shown
}

/// A message without what may be long, and how long that is: left out, it would hide all after it.
pub fn lean(message: &Value) -> Value {
    let mut lean = message.clone();
    if let Some(fields) = lean.as_object_mut() {
        fields.remove("metadata");
        if let Some(Value::String(body)) = fields.remove("body") {
            fields.insert("body_chars".into(), body.chars().count().into());
        }
    }
    lean
}
