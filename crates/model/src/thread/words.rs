//! The closed sets of words that threads store and show, each an enum.
//!
//! The log, core and the wire spell a value as [`as_str`](Status::as_str) does. A word that was
//! written once is never spelled differently: replay reads it.

use crate::words::words;

words! {
    /// What a thread is for.
    Purpose {
        Conversation => "conversation",
        Workflow => "workflow",
        Incident => "incident",
    }
}

words! {
    /// Where a thread stands.
    Status {
        Active => "active",
        Blocked => "blocked",
        Resolved => "resolved",
        Closed => "closed",
    }
}

words! {
    /// What a message is.
    MessageKind {
        Chat => "chat",
        /// It has a type, in `metadata.event_type`.
        Event => "event",
    }
}

words! {
    /// The types of events that the server acts on. Callers may use others, which are only kept.
    Event {
        FindingReported => "finding_reported",
        FixPushed => "fix_pushed",
        ReReviewRequested => "re_review_requested",
        FindingVerified => "finding_verified",
        FindingRejected => "finding_rejected",
        FindingWithdrawn => "finding_withdrawn",
        ThreadEscalated => "thread_escalated",
        ThreadResolved => "thread_resolved",
    }
}

words! {
    /// What has become of a finding.
    FindingState {
        Reported => "reported",
        Fixed => "fixed",
        Verified => "verified",
        Rejected => "rejected",
        Withdrawn => "withdrawn",
    }
}

words! {
    /// What a message asks of somebody until it is answered.
    Ask {
        /// An operator or an orchestrator is to decide.
        Escalation => "escalation",
        /// A reviewer is to look again.
        ReReview => "re_review",
    }
}

words! {
    /// The step that is taken to wake somebody.
    WakeAction {
        None => "none",
        WaitForMessages => "wait_for_messages",
        TriggerRuntime => "trigger_runtime",
        ResumeSession => "resume_session",
        SpawnSession => "spawn_session",
    }
}

words! {
    /// What has come of waking somebody.
    WakeResult {
        NotNeeded => "not_needed",
        Delivered => "delivered",
        Queued => "queued",
        Read => "read",
        Failed => "failed",
    }
}

words! {
    /// What a session says of itself in a heartbeat.
    SessionStatus {
        Active => "active",
        Idle => "idle",
        Offline => "offline",
    }
}

words! {
    /// Whether a supervisor can type into a session's terminal.
    Mode {
        Managed => "managed",
        Unmanaged => "unmanaged",
    }
}

impl WakeResult {
    /// Whether nothing more becomes of the job.
    pub fn is_final(self) -> bool {
        match self {
            WakeResult::NotNeeded | WakeResult::Read | WakeResult::Failed => true,
            WakeResult::Delivered | WakeResult::Queued => false,
        }
    }
}

impl Mode {
    pub fn of(managed: bool) -> Mode {
        if managed {
            Mode::Managed
        } else {
            Mode::Unmanaged
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// What logs and clients out there hold; a change of one of these breaks them.
    #[test]
    fn words_are_spelled_as_they_are_stored() {
        macro_rules! golden {
            ($name:ident: $($word:literal),+) => {
                let words = [$($word),+];
                assert_eq!($name::WORDS, words);
                assert_eq!(json!($name::ALL), json!(words));
                for word in words {
                    let read: $name = serde_json::from_value(json!(word)).unwrap();
                    assert_eq!((read.as_str(), read.to_string().as_str()), (word, word));
                    assert_eq!($name::parse(word), Some(read));
                    assert_eq!($name::parse(&word.to_uppercase()), None);
                }
                assert!(serde_json::from_value::<$name>(json!("")).is_err());
            };
        }
        golden!(Purpose: "conversation", "workflow", "incident");
        golden!(Status: "active", "blocked", "resolved", "closed");
        golden!(MessageKind: "chat", "event");
        golden!(
            Event: "finding_reported", "fix_pushed", "re_review_requested", "finding_verified",
            "finding_rejected", "finding_withdrawn", "thread_escalated", "thread_resolved"
        );
        golden!(FindingState: "reported", "fixed", "verified", "rejected", "withdrawn");
        golden!(Ask: "escalation", "re_review");
        golden!(
            WakeAction: "none", "wait_for_messages", "trigger_runtime", "resume_session",
            "spawn_session"
        );
        golden!(WakeResult: "not_needed", "delivered", "queued", "read", "failed");
        golden!(SessionStatus: "active", "idle", "offline");
        golden!(Mode: "managed", "unmanaged");
    }

    #[test]
    fn a_job_of_waking_ends_when_nothing_more_can_come_of_it() {
        let over = WakeResult::ALL.iter().filter(|one| one.is_final());
        let over: Vec<&str> = over.map(|one| one.as_str()).collect();
        assert_eq!(over, ["not_needed", "read", "failed"]);
    }
}
