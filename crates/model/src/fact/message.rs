//! A message of a thread.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use super::Mention;
use crate::fragment::Cut;
use crate::thread::{Event, MessageKind};
use crate::{Id, Role, Seq};

/// What a message says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Message {
    #[serde(default)]
    pub body: String,
    /// What it referred to before it was taken back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cited: Vec<Id>,
    /// How its body is cut into parts.
    #[serde(
        default = "first_cut",
        skip_serializing_if = "is_first_cut",
        serialize_with = "write_cut",
        deserialize_with = "read_cut"
    )]
    pub cut: Cut,
    #[serde(
        default,
        rename = "idempotency_key",
        skip_serializing_if = "Option::is_none"
    )]
    pub key: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_reply_to: Option<Seq>,
    pub kind: MessageKind,
    /// What its body refers to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mentions: Vec<Mention>,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
    /// Its number in its thread.
    pub n: i64,
    /// As what its sender spoke; none in messages of before this was kept.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        serialize_with = "write_role",
        deserialize_with = "read_role"
    )]
    pub role: Option<Role>,
    pub schema_version: i64,
    /// The handle of its thread.
    pub thread: String,
    /// Whether its author took back what it said.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub undone: bool,
}

impl Message {
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

    /// Whether it comes from somebody who directs. What was said before roles were kept counts as
    /// it did when it was said.
    pub fn directs(&self) -> bool {
        self.role.is_none_or(Role::directs)
    }

    /// What is left when it is taken back: its place, and nothing of what it said.
    #[must_use]
    pub fn remains(&self) -> Message {
        Message {
            body: String::new(),
            metadata: Map::new(),
            key: None,
            mentions: Vec::new(),
            cited: self.mentions.iter().map(|mention| mention.target).collect(),
            undone: true,
            ..self.clone()
        }
    }
}

fn first_cut() -> Cut {
    Cut::Joined
}

fn is_first_cut(cut: &Cut) -> bool {
    *cut == Cut::Joined
}

fn write_cut<S: Serializer>(cut: &Cut, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_i64(cut.number())
}

fn read_cut<'de, D: Deserializer<'de>>(from: D) -> Result<Cut, D::Error> {
    i64::deserialize(from).map(Cut::of_number)
}

fn write_role<S: Serializer>(role: &Option<Role>, to: S) -> Result<S::Ok, S::Error> {
    match role {
        Some(role) => to.serialize_str(role.as_str()),
        None => to.serialize_none(),
    }
}

/// A role that this version does not know is read as `None`.
fn read_role<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Role>, D::Error> {
    let name = Option::<String>::deserialize(from)?;
    Ok(name.and_then(|name| name.parse().ok()))
}
