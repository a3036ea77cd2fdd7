//! What is stored of a job of waking somebody: who asked, what is said, which step is taken, what came
//! of it, and which steps failed before.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::words::{Channel, DeferReason, WakeAction, WakeFailure, WakeResult};
use crate::Time;
use crate::answer::fields_of;
use crate::error::Result;

/// The value of a job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WakeData {
    /// The handle of the thread.
    pub thread: String,
    pub target: String,
    pub reason: Option<String>,
    /// What the target is told.
    pub prompt: String,
    pub action: WakeAction,
    pub result: WakeResult,
    /// The last message that it is woken for.
    #[serde(default)]
    pub up_to: i64,
    /// Who asked last, where that is not who made the job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked_by: Option<String>,
    /// When it was asked for again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked_at: Option<Time>,
    /// The session that the step is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The channel that took the prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channel: Option<Channel>,
    /// Whether an operator said to go on over a half-typed line and the limits.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub forced: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub defer_reason: Option<DeferReason>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deferred_until: Option<Time>,
    /// When the step was first put off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deferred_since: Option<Time>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivered_at: Option<Time>,
    /// The steps that failed, the first one first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tried: Vec<Tried>,
    /// What another version of the server keeps beside these.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

/// A step that failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Tried {
    pub action: WakeAction,
    pub code: WakeFailure,
    pub why: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    pub at: Time,
}

impl WakeData {
    /// The value as an entity has it; `None` where that is not a job's.
    pub fn read(fields: &Map<String, Value>) -> Option<WakeData> {
        WakeData::deserialize(fields).ok()
    }

    /// The value as an entity keeps it.
    pub fn fields(&self) -> Result<Map<String, Value>> {
        fields_of(self)
    }

    /// The step is no longer put off.
    pub fn clear_deferral(&mut self) {
        (self.defer_reason, self.deferred_until, self.deferred_since) = (None, None, None);
    }

    /// Whether it is put off beyond a moment.
    pub fn is_put_off(&self, now: Time) -> bool {
        self.result == WakeResult::Deferred && self.deferred_until.is_some_and(|until| until > now)
    }

    /// It waits for its next step.
    pub fn wait_on(&mut self) {
        self.result = WakeResult::Queued;
        self.clear_deferral();
    }

    /// How often a step failed for a session, or for nobody in particular.
    pub fn failures(&self, action: WakeAction, session: Option<&str>) -> usize {
        let same =
            |tried: &&Tried| tried.action == action && tried.session_id.as_deref() == session;
        self.tried.iter().filter(same).count()
    }
}
