//! The marks: one shape for each kind of thing and each state, the same wherever it stands.

use maud::{Markup, PreEscaped, html};

/// What a mark stands for.
#[allow(dead_code, reason = "pages that show the others follow")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    Now,
    Timeline,
    Search,
    Work,
    Record,
    Reasoning,
    Thread,
    Conversation,
    Artifact,
    Act,
    Why,
    Wake,
    Credential,
    Proof,
    Ready,
    Claimed,
    NeedsYou,
    Waits,
    Done,
    Dropped,
    Failed,
    Open,
    Later,
    Resolved,
    Discarded,
    Conflict,
    Hypothesis,
    Confirmed,
    Refuted,
    Question,
    Test,
    Evidence,
    Decision,
    Proposal,
}

impl Mark {
    /// Its word, which is what a screen reader says.
    pub fn word(self) -> &'static str {
        match self {
            Mark::Now => "Now",
            Mark::Timeline => "timeline",
            Mark::Search => "search",
            Mark::Work => "task",
            Mark::Record => "record",
            Mark::Reasoning => "thought",
            Mark::Thread => "thread",
            Mark::Conversation => "conversation",
            Mark::Artifact => "document",
            Mark::Act => "read or ran",
            Mark::Why => "because",
            Mark::Wake => "wake",
            Mark::Credential => "credential",
            Mark::Proof => "proof",
            Mark::Ready => "ready",
            Mark::Claimed => "claimed",
            Mark::NeedsYou => "waits for you",
            Mark::Waits => "waits for others",
            Mark::Done => "done",
            Mark::Dropped => "dropped",
            Mark::Failed => "failed",
            Mark::Open => "open",
            Mark::Later => "later",
            Mark::Resolved => "resolved",
            Mark::Discarded => "discarded",
            Mark::Conflict => "two versions",
            Mark::Hypothesis => "hypothesis, open",
            Mark::Confirmed => "confirmed",
            Mark::Refuted => "refuted",
            Mark::Question => "question",
            Mark::Test => "test",
            Mark::Evidence => "evidence",
            Mark::Decision => "decision",
            Mark::Proposal => "proposal",
        }
    }

    /// The class that gives it its colour.
    pub fn class(self) -> &'static str {
        match self {
            Mark::Now
            | Mark::Timeline
            | Mark::Search
            | Mark::Work
            | Mark::Record
            | Mark::Reasoning
            | Mark::Thread
            | Mark::Conversation
            | Mark::Artifact
            | Mark::Act
            | Mark::Wake
            | Mark::Proof
            | Mark::Ready
            | Mark::Open
            | Mark::Hypothesis => "",
            Mark::Why => "violet",
            Mark::Credential | Mark::Failed | Mark::Conflict | Mark::Refuted => "red",
            Mark::Claimed => "blue",
            Mark::NeedsYou | Mark::Proposal => "amber",
            Mark::Waits | Mark::Dropped | Mark::Later | Mark::Discarded => "edge",
            Mark::Done | Mark::Resolved | Mark::Confirmed => "green",
            Mark::Question | Mark::Test | Mark::Evidence | Mark::Decision => "ink-2",
        }
    }

    /// Its lines in a box of 16 by 16, for where it stands within a picture.
    pub fn shape(self) -> PreEscaped<&'static str> {
        PreEscaped(match self {
            Mark::Now => {
                r#"<circle cx="8" cy="8" r="2.6" fill="currentColor"/><circle cx="8" cy="8" r="5.6" fill="none" stroke="currentColor" stroke-width="1.5"/>"#
            }
            Mark::Timeline => {
                r#"<path d="M2 4h7M5 8h9M2 12h6" fill="none" stroke="currentColor" stroke-width="1.8"/>"#
            }
            Mark::Search => {
                r#"<circle cx="7" cy="7" r="4.4" fill="none" stroke="currentColor" stroke-width="1.8"/><path d="m10.4 10.4 3.6 3.6" stroke="currentColor" stroke-width="1.8"/>"#
            }
            Mark::Work => {
                r#"<rect x="3.5" y="3.5" width="9" height="9" rx="1.5" fill="currentColor"/>"#
            }
            Mark::Record => r#"<path d="M8 2.2 13.8 8 8 13.8 2.2 8z" fill="currentColor"/>"#,
            Mark::Reasoning => r#"<path d="M8 2.5 14 13H2z" fill="currentColor"/>"#,
            Mark::Thread => {
                r#"<circle cx="8" cy="7.6" r="5.2" fill="currentColor"/><path d="M4.4 10.4 3 14l4-1.6z" fill="currentColor"/>"#
            }
            Mark::Conversation => {
                r#"<circle cx="8" cy="8" r="4.4" fill="none" stroke="currentColor" stroke-width="2"/>"#
            }
            Mark::Artifact => {
                r#"<path d="M3 4.2h10M3 8h10M3 11.8h6.5" stroke="currentColor" stroke-width="2"/>"#
            }
            Mark::Act => r#"<rect x="7.2" y="3" width="1.6" height="10" fill="currentColor"/>"#,
            Mark::Why => {
                r#"<path d="M8 14V9M8 9C8 6 4 6 4 2.5M8 9c0-3 4-3 4-6.5" fill="none" stroke="currentColor" stroke-width="1.6"/>"#
            }
            Mark::Wake => r#"<path d="M9 1.5 3.5 9H7l-1 5.5L12.5 7H9z" fill="currentColor"/>"#,
            Mark::Credential => {
                r#"<circle cx="5" cy="8" r="2.8" fill="none" stroke="currentColor" stroke-width="1.6"/><path d="M7.8 8H14M11.5 8v3" fill="none" stroke="currentColor" stroke-width="1.6"/>"#
            }
            Mark::Proof => {
                r#"<path d="M8 1.8 13 3.6v4c0 3.2-2.1 5.5-5 6.6-2.9-1.1-5-3.4-5-6.6v-4z" fill="none" stroke="currentColor" stroke-width="1.5"/><path d="m5.6 8 1.7 1.7L10.5 6.5" fill="none" stroke="currentColor" stroke-width="1.5"/>"#
            }
            Mark::Ready => {
                r#"<circle cx="8" cy="8" r="5.6" fill="none" stroke="currentColor" stroke-width="1.8"/>"#
            }
            Mark::Claimed => {
                r#"<circle cx="8" cy="8" r="5.6" fill="none" stroke="currentColor" stroke-width="1.8"/><path d="M8 4.4a3.6 3.6 0 0 1 0 7.2z" fill="currentColor"/>"#
            }
            Mark::NeedsYou => {
                r#"<circle cx="8" cy="8" r="6.5" fill="currentColor"/><path class="sign" d="M8 4.4v4.4M8 10.6v1.4" fill="none" stroke-width="1.6"/>"#
            }
            Mark::Waits => {
                r#"<circle cx="8" cy="8" r="5.6" fill="none" stroke="currentColor" stroke-width="1.8" stroke-dasharray="2.2 2.2"/>"#
            }
            Mark::Done => {
                r#"<circle cx="8" cy="8" r="6.5" fill="currentColor"/><path class="sign" d="m5 8.2 2.2 2.2L11.2 6" fill="none" stroke-width="1.6"/>"#
            }
            Mark::Dropped => {
                r#"<circle cx="8" cy="8" r="5.6" fill="none" stroke="currentColor" stroke-width="1.8"/><path d="m4 12 8-8" stroke="currentColor" stroke-width="1.6"/>"#
            }
            Mark::Failed => {
                r#"<circle cx="8" cy="8" r="5.6" fill="none" stroke="currentColor" stroke-width="1.8"/><path d="m5.8 5.8 4.4 4.4m0-4.4-4.4 4.4" stroke="currentColor" stroke-width="1.6"/>"#
            }
            Mark::Open => {
                r#"<path d="M8 2.2 13.8 8 8 13.8 2.2 8z" fill="none" stroke="currentColor" stroke-width="1.6"/>"#
            }
            Mark::Later => {
                r#"<path d="M8 2.2 13.8 8 8 13.8 2.2 8z" fill="none" stroke="currentColor" stroke-width="1.6" stroke-dasharray="2.2 2.2"/>"#
            }
            Mark::Resolved => {
                r#"<path d="M8 1.4 14.6 8 8 14.6 1.4 8z" fill="currentColor"/><path class="sign" d="m5.6 8.1 1.7 1.7L10.6 6.3" fill="none" stroke-width="1.5"/>"#
            }
            Mark::Discarded => {
                r#"<path d="M8 2.2 13.8 8 8 13.8 2.2 8z" fill="none" stroke="currentColor" stroke-width="1.6"/><path d="m4 12 8-8" stroke="currentColor" stroke-width="1.6"/>"#
            }
            Mark::Conflict => {
                r#"<path d="M7 2.2 1.2 8 7 13.8z" fill="currentColor"/><path d="M9 2.2 14.8 8 9 13.8z" fill="none" stroke="currentColor" stroke-width="1.4"/>"#
            }
            Mark::Hypothesis => {
                r#"<path d="M8 3 13.5 12.6h-11z" fill="none" stroke="currentColor" stroke-width="1.6"/>"#
            }
            Mark::Confirmed => {
                r#"<path d="M8 1.5 15 14H1z" fill="currentColor"/><path class="sign" d="m5.6 10.2 1.7 1.7 3.3-3.5" fill="none" stroke-width="1.5"/>"#
            }
            Mark::Refuted => {
                r#"<path d="M8 3 13.5 12.6h-11z" fill="none" stroke="currentColor" stroke-width="1.6"/><path d="m6.3 8.3 3.4 3.4m0-3.4-3.4 3.4" stroke="currentColor" stroke-width="1.4"/>"#
            }
            Mark::Question => {
                r#"<circle cx="8" cy="8" r="5.6" fill="none" stroke="currentColor" stroke-width="1.5"/><path d="M6.3 6.5a1.7 1.7 0 1 1 2.3 1.6c-.4.2-.6.5-.6 1M8 11v.6" fill="none" stroke="currentColor" stroke-width="1.4"/>"#
            }
            Mark::Test => {
                r#"<path d="M6.5 2h3M7 2v4L3.5 13h9L9 6V2" fill="none" stroke="currentColor" stroke-width="1.5"/>"#
            }
            Mark::Evidence => {
                r#"<path d="M3 13V9M6.3 13V4M9.6 13V7M13 13V3" fill="none" stroke="currentColor" stroke-width="1.5"/>"#
            }
            Mark::Decision => {
                r#"<path d="M2 8h8M7 5l3 3-3 3M13 3v10" fill="none" stroke="currentColor" stroke-width="1.5"/>"#
            }
            Mark::Proposal => {
                r#"<path d="M3 4.2h10M3 8h10M3 11.8h6.5" stroke="currentColor" stroke-width="2" stroke-dasharray="3 1.6"/>"#
            }
        })
    }
}

pub fn mark(mark: Mark) -> Markup {
    html! {
        svg class={ "mark " (mark.class()) } viewBox="0 0 16 16" role="img" aria-label=(mark.word()) {
            (mark.shape())
        }
    }
}

/// Who: two letters, or one wide sign; agents are square, people are round.
pub fn who(name: &str, person: bool) -> Markup {
    let letters: String = name
        .chars()
        .filter(|c| c.is_alphanumeric())
        .take(if name.is_ascii() { 2 } else { 1 })
        .collect();
    html! {
        span.who.person[person] aria-hidden="true" { (letters) }
    }
}
