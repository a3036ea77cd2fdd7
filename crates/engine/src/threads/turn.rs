//! Changes of a thread as they are told: of its status, and of who takes part. They take no message
//! number; each has a number among the changes of its thread.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use understory_model::Time;
use understory_model::item::{EntityDelta, Item};
use understory_model::thread::Status;
use understory_storage::turns::Turn;

/// What the log calls a change of status, and one of participants alone.
pub const STATUS_CHANGED: &str = "status_changed";
pub const PARTICIPANTS_ADDED: &str = "participants_added";
pub const PARTICIPANTS_REMOVED: &str = "participants_removed";

/// Of metadata as JSON, what an answer shows whole.
const METADATA: usize = 2_000;

/// A change of a thread.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Turned {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<String>,
    /// Its number among the thread's changes.
    pub change: i64,
    /// The number of the thread's last message before it.
    pub after_seq: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Status>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub added_participants: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub removed_participants: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What the author of the change added to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Value>,
    /// How long the metadata is, where it is too long to be shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata_chars: Option<usize>,
    pub by: String,
    pub at: Time,
}

impl Turned {
    pub fn of(turn: &Turn, item: &Item) -> Turned {
        let text = item.content.as_deref().unwrap_or_default();
        let delta = serde_json::from_str::<EntityDelta>(text).ok();
        let mut told = Turned {
            thread_id: None,
            change: turn.n,
            after_seq: turn.after,
            from: None,
            status: None,
            added_participants: Vec::new(),
            removed_participants: Vec::new(),
            reason: None,
            metadata: None,
            metadata_chars: None,
            by: item.actor.clone(),
            at: item.realized_at,
        };
        let Some(delta) = delta else {
            return told;
        };
        let status = |value: &Option<Value>| Status::parse(value.as_ref()?.as_str()?);
        for change in &delta.changes {
            match change.at.first().map(String::as_str) {
                Some("status") => {
                    (told.from, told.status) = (status(&change.before), status(&change.after));
                }
                // The one after an agent that left moves up, and is both.
                Some("participants") => {
                    told.removed_participants.extend(all(&change.before));
                    told.added_participants.extend(all(&change.after));
                }
                _ => {}
            }
        }
        let (gone, come) = (
            told.removed_participants.clone(),
            told.added_participants.clone(),
        );
        told.removed_participants
            .retain(|name| !come.contains(name));
        told.added_participants.retain(|name| !gone.contains(name));
        told.reason = delta.reason;
        if let Some(metadata) = delta.details {
            let chars = metadata.to_string().chars().count();
            if chars > METADATA {
                told.metadata_chars = Some(chars)
            } else {
                told.metadata = Some(metadata)
            }
        }
        told
    }

    /// Without what may be long.
    pub fn lean(self) -> Turned {
        Turned {
            reason: None,
            metadata: None,
            added_participants: Vec::new(),
            removed_participants: Vec::new(),
            ..self
        }
    }
}

/// The names in one value of a change: one participant, or all of them.
fn all(value: &Option<Value>) -> Vec<String> {
    match value {
        Some(Value::String(name)) => vec![name.clone()],
        Some(Value::Array(names)) => names
            .iter()
            .filter_map(|name| name.as_str().map(str::to_string))
            .collect(),
        _ => Vec::new(),
    }
}
