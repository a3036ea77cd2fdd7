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
        /// It waits for messages already.
        WaitForMessages => "wait_for_messages",
        /// A channel of its client begins a turn of the live session.
        InSession => "in_session",
        /// A hook of its client tells it at the end of its turn or with its next prompt.
        EndOfTurn => "end_of_turn",
        /// Its managed terminal types the prompt.
        TriggerRuntime => "trigger_runtime",
        /// A process goes on with its ended session.
        ResumeSession => "resume_session",
        /// A process begins a new session.
        SpawnSession => "spawn_session",
        /// Nobody could be woken; a person is told.
        TellPerson => "tell_person",
    }
}

words! {
    /// What has come of waking somebody.
    WakeResult {
        NotNeeded => "not_needed",
        /// The channel took the prompt.
        Delivered => "delivered",
        Queued => "queued",
        /// It is tried again later.
        Deferred => "deferred",
        /// The session acknowledged the messages, or called a tool after it got the prompt.
        Read => "read",
        Failed => "failed",
    }
}

words! {
    /// Why a step is put off.
    DeferReason {
        /// A person types, or did a moment ago.
        HumanInputBusy => "human_input_busy",
        /// A dialog is open, which a keystroke would answer.
        DialogOpen => "dialog_open",
        AgentBusy => "agent_busy",
        NotAtPrompt => "not_at_a_prompt",
        /// A step failed in a way that may pass.
        Retry => "retry",
        /// A limit on wakes is reached.
        TooMany => "too_many_wakes",
    }
}

words! {
    /// Why a step failed, as error codes say it.
    WakeFailure {
        /// A person typed for longer than a wake waits.
        HumanInputCollision => "HUMAN_INPUT_COLLISION",
        /// The session has no way in.
        UnmanagedRuntime => "UNMANAGED_RUNTIME",
        WakeFailed => "WAKE_FAILED",
        /// Agents only woke each other, or one was woken too often.
        RateLimited => "RATE_LIMITED",
    }
}

words! {
    /// A way into a live session.
    Channel {
        /// A waiting hook of Claude Code begins a turn when it ends.
        ClaudeRewake => "claude_rewake",
        /// `codex queue` adds a turn.
        CodexQueue => "codex_queue",
        /// opencode's server takes a prompt.
        OpencodePrompt => "opencode_prompt",
        /// A supervisor types into the terminal.
        Terminal => "terminal",
        /// Only hooks at the end of a turn and with the next prompt.
        Hooks => "hooks",
    }
}

words! {
    /// What a client was last known to do.
    Activity {
        Idle => "idle",
        Busy => "busy",
        /// A person types into its terminal.
        Typing => "typing",
        /// It asks the person something.
        Dialog => "dialog",
    }
}

words! {
    /// How a message reaches somebody, from the quickest way to none.
    ReachBy {
        /// A call of it waits.
        Waiting => "waiting",
        /// A channel of its client begins a turn of the live session.
        InSession => "in_session",
        /// A supervisor types into its terminal.
        Terminal => "terminal",
        /// A hook of its client tells it at the end of its turn or with its next prompt.
        EndOfTurn => "end_of_turn",
        /// Its ended session can be gone on with.
        Resume => "resume",
        /// It sees what is unread when it asks.
        UnreadOnly => "unread_only",
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

impl Channel {
    /// Whether it begins a turn of an idle session.
    pub fn begins_turns(self) -> bool {
        match self {
            Channel::ClaudeRewake | Channel::CodexQueue | Channel::OpencodePrompt => true,
            Channel::Terminal | Channel::Hooks => false,
        }
    }
}

impl WakeAction {
    /// Whether the step starts a process of the target's client.
    pub fn starts(self) -> bool {
        matches!(self, WakeAction::ResumeSession | WakeAction::SpawnSession)
    }
}

impl WakeResult {
    /// Whether nothing more becomes of the job.
    pub fn is_final(self) -> bool {
        match self {
            WakeResult::NotNeeded | WakeResult::Read | WakeResult::Failed => true,
            WakeResult::Delivered | WakeResult::Queued | WakeResult::Deferred => false,
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
            WakeAction: "none", "wait_for_messages", "in_session", "end_of_turn",
            "trigger_runtime", "resume_session", "spawn_session", "tell_person"
        );
        golden!(WakeResult: "not_needed", "delivered", "queued", "deferred", "read", "failed");
        golden!(
            DeferReason: "human_input_busy", "dialog_open", "agent_busy", "not_at_a_prompt",
            "retry", "too_many_wakes"
        );
        golden!(
            Channel: "claude_rewake", "codex_queue", "opencode_prompt", "terminal", "hooks"
        );
        // As error codes are spelled, so not in small letters.
        let failures = [
            "HUMAN_INPUT_COLLISION",
            "UNMANAGED_RUNTIME",
            "WAKE_FAILED",
            "RATE_LIMITED",
        ];
        assert_eq!(WakeFailure::WORDS, failures);
        assert_eq!(json!(WakeFailure::ALL), json!(failures));
        golden!(Activity: "idle", "busy", "typing", "dialog");
        golden!(
            ReachBy: "waiting", "in_session", "terminal", "end_of_turn", "resume", "unread_only"
        );
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
