//! The nouns of the records surface: states, what a record and a session hold, and what happened to
//! them.
//!
//! The log, core and the wire spell a word as [`as_str`](RecordState::as_str) does. A word that was
//! written once is never spelled differently: replay reads it.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::answer::{fields_of, json_of};
use crate::error::Result;
use crate::words::words;

words! {
    /// Where a record stands.
    RecordState {
        Open => "OPEN",
        Later => "LATER",
        Resolved => "RESOLVED",
        Discarded => "DISCARDED",
    }
}

impl RecordState {
    /// The states that it leads to.
    pub fn leads_to(self) -> &'static [RecordState] {
        match self {
            RecordState::Open => &[
                RecordState::Later,
                RecordState::Resolved,
                RecordState::Discarded,
            ],
            RecordState::Later => &[RecordState::Open, RecordState::Discarded],
            RecordState::Resolved | RecordState::Discarded => &[RecordState::Open],
        }
    }

    pub fn is_open(self) -> bool {
        self == RecordState::Open
    }

    /// Whether a change to it must say why.
    pub fn needs_reason(self) -> bool {
        match self {
            RecordState::Later | RecordState::Discarded => true,
            RecordState::Open | RecordState::Resolved => false,
        }
    }

    /// Whether a change to it must name the record that settled it; no other may.
    pub fn needs_resolver(self) -> bool {
        match self {
            RecordState::Resolved => true,
            RecordState::Open | RecordState::Later | RecordState::Discarded => false,
        }
    }
}

words! {
    /// What happened in a project, as its activity and the history of a record call it.
    ActivityKind {
        RecordCreated => "record_created",
        RecordUpdated => "record_updated",
        StateTransition => "state_transition",
        SessionStarted => "session_started",
        SessionSaved => "session_saved",
        SessionClosed => "session_closed",
        SessionBranched => "session_branched",
        Activation => "activation",
        ConflictDetected => "conflict_detected",
        ConflictResolved => "conflict_resolved",
    }
}

impl ActivityKind {
    /// The changes of records.
    pub const CHANGES: [ActivityKind; 3] = [
        ActivityKind::RecordCreated,
        ActivityKind::RecordUpdated,
        ActivityKind::StateTransition,
    ];
}

/// The value of a record. What may be absent stays absent when it is written back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RecordData {
    #[serde(rename = "type", default)]
    pub kind: String,
    #[serde(default)]
    pub title: String,
    #[serde(default)]
    pub summary: String,
    #[serde(default)]
    pub body: String,
    pub state: RecordState,
    /// Why it has its state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The record that settled it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolved_by: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub related: Option<Vec<String>>,
    /// The caller's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Map<String, Value>>,
    /// What another version of the server keeps beside these.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

impl RecordData {
    /// The value as an entity has it; `None` where that is not a record's.
    pub fn read(fields: &Map<String, Value>) -> Option<RecordData> {
        RecordData::deserialize(fields).ok()
    }

    /// The value as an entity keeps it.
    pub fn fields(&self) -> Result<Map<String, Value>> {
        fields_of(self)
    }

    /// The handles of related records.
    pub fn related(&self) -> &[String] {
        self.related.as_deref().unwrap_or_default()
    }

    /// What it is found by beside its texts: its type, and the keys and values of its metadata,
    /// however deep.
    pub fn extra(&self) -> String {
        let mut words = self.kind.clone();
        for (key, value) in self.metadata.iter().flatten() {
            add_pair(key, value, &mut words);
        }
        words
    }
}

fn add_pair(key: &str, value: &Value, words: &mut String) {
    words.push('\n');
    words.push_str(key);
    add_words(value, words);
}

fn add_words(value: &Value, words: &mut String) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                add_pair(key, value, words);
            }
        }
        Value::Array(values) => values.iter().for_each(|value| add_words(value, words)),
        Value::String(text) => {
            words.push(' ');
            words.push_str(text);
        }
        Value::Number(_) | Value::Bool(_) => words.push_str(&format!(" {value}")),
        Value::Null => {}
    }
}

/// The value of a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SessionData {
    #[serde(default)]
    pub name: String,
    /// The session that it continues.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_session: Option<String>,
}

impl SessionData {
    /// The value as an entity has it; `None` where that is not a session's.
    pub fn read(fields: &Map<String, Value>) -> Option<SessionData> {
        SessionData::deserialize(fields).ok()
    }

    /// The value as an entity keeps it.
    pub fn fields(&self) -> Result<Map<String, Value>> {
        fields_of(self)
    }
}

/// What an update of a record asks for; what is absent stays.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Proposed {
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub related: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Map<String, Value>>,
    /// Its new parent; null: it becomes a root.
    #[serde(
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    pub parent_id: Option<Option<String>>,
}

/// A field whose null means something: absent is `None`, null is `Some(None)`.
fn present<'de, D: Deserializer<'de>>(
    from: D,
) -> std::result::Result<Option<Option<String>>, D::Error> {
    Option::deserialize(from).map(Some)
}

impl Proposed {
    /// The names of what it asks for, in the order of the alphabet.
    pub fn names(&self) -> Vec<&'static str> {
        let all = [
            ("body", self.body.is_some()),
            ("metadata", self.metadata.is_some()),
            ("parent_id", self.parent_id.is_some()),
            ("related", self.related.is_some()),
            ("summary", self.summary.is_some()),
            ("title", self.title.is_some()),
            ("type", self.kind.is_some()),
        ];
        let asked = all.into_iter().filter(|(_, asked)| *asked);
        asked.map(|(name, _)| name).collect()
    }
}

/// What an item of a session says beside what was done: only what goes with that.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionDetails {
    /// Who acted for the session, where that was not the session itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by_agent: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by_session: Option<String>,
    /// The session that it branched from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_session: Option<String>,
    /// The records that were active when it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub released: Option<String>,
    /// The other sessions that have the record active.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sessions: Option<Vec<String>>,
    /// The update that was refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proposed: Option<Proposed>,
    /// The version that refused it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<i64>,
    /// The version that it began from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub saw: Option<i64>,
    /// The state that was refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_state: Option<RecordState>,
    /// The version that was written over unseen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overrode_version: Option<i64>,
}

impl SessionDetails {
    /// What an item says; nothing where it cannot be read.
    pub fn read(details: Option<&Value>) -> SessionDetails {
        let read = details.and_then(|details| SessionDetails::deserialize(details).ok());
        read.unwrap_or_default()
    }

    /// Whether it says nothing.
    pub fn is_empty(&self) -> bool {
        *self == SessionDetails::default()
    }

    /// What the log keeps.
    pub fn value(&self) -> Result<Value> {
        json_of(self)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Values as the log has them: reading and writing one again changes no byte.
    #[test]
    fn a_value_is_written_as_it_was_read() {
        for written in [
            r#"{"body":"b","state":"OPEN","summary":"s","title":"t","type":"question"}"#,
            r#"{"body":"","metadata":{"a":[1,null]},"reason":"later","related":["R002"],"state":"LATER","summary":"","title":"t","type":"note"}"#,
            r#"{"body":"","metadata":{},"resolved_by":"R002","state":"RESOLVED","summary":"","title":"t","type":"note"}"#,
            r#"{"body":"","color":"red","state":"DISCARDED","summary":"","title":"t","type":"note"}"#,
        ] {
            let fields: Map<String, Value> = serde_json::from_str(written).unwrap();
            let data = RecordData::read(&fields).unwrap();
            let again = Value::Object(data.fields().unwrap()).to_string();
            assert_eq!(again, written);
        }
        let unknown = json!({ "state": "PAUSED" });
        assert!(RecordData::read(unknown.as_object().unwrap()).is_none());
    }

    #[test]
    fn details_are_written_as_they_were_read() {
        for written in [
            r#"{"proposed":{"metadata":{"a":1},"parent_id":null,"title":"t"},"version":3}"#,
            r#"{"proposed":{"title":"t"},"saw":2,"version":3}"#,
            r#"{"sessions":["a","b"]}"#,
            r#"{"to_state":"LATER"}"#,
            r#"{"overrode_version":4}"#,
            r#"{"by_agent":"ada","by_session":"s"}"#,
            r#"{"parent_session":"s"}"#,
            r#"{"released":"R001, R002"}"#,
        ] {
            let details: Value = serde_json::from_str(written).unwrap();
            let details = SessionDetails::read(Some(&details));
            assert_eq!(details.value().unwrap().to_string(), written);
        }
    }

    #[test]
    fn states_are_spelled_as_ever() {
        assert_eq!(
            RecordState::WORDS,
            ["OPEN", "LATER", "RESOLVED", "DISCARDED"]
        );
        for state in RecordState::ALL {
            assert_eq!(RecordState::parse(state.as_str()), Some(*state));
            assert!(!state.leads_to().contains(state));
        }
    }

    #[test]
    fn a_record_is_found_by_its_type_and_metadata() {
        let value = json!({
            "type": "note", "state": "OPEN",
            "metadata": { "area": { "name": "shop" }, "tags": ["a", 2, true, null] },
        });
        let data = RecordData::read(value.as_object().unwrap()).unwrap();
        assert_eq!(data.extra(), "note\narea\nname shop\ntags a 2 true");
    }
}
