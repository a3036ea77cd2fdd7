//! A message: what stands of it in the log, and how it is read.

use serde_json::{Value, json};
use understory_model::fact::Fact;
pub use understory_model::fact::Message as Said;
use understory_model::id::message_name;
use understory_model::item::Item;

/// What a message's item says; `None` if it is none or cannot be read.
pub fn said(item: &Item) -> Option<Said> {
    match Fact::read(item) {
        Ok(Fact::Message(said)) => Some(*said),
        _ => None,
    }
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
