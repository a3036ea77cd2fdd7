//! The marks: one shape for each kind of thing, the same wherever it stands.

use maud::{Markup, PreEscaped, html};

use crate::Place;

/// What a mark stands for; its word is what a screen reader says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    Place(Place),
    Ready,
    Claimed,
    Waits,
    NeedsYou,
    Done,
    Dropped,
    Failed,
    Wake,
    Proposal,
    Conflict,
}

impl Mark {
    fn word(self) -> &'static str {
        match self {
            Mark::Place(place) => place.title(),
            Mark::Ready => "ready",
            Mark::Claimed => "claimed",
            Mark::Waits => "waits for others",
            Mark::NeedsYou => "needs you",
            Mark::Done => "done",
            Mark::Dropped => "dropped",
            Mark::Failed => "failed",
            Mark::Wake => "wake",
            Mark::Proposal => "proposal",
            Mark::Conflict => "conflict",
        }
    }

    fn class(self) -> &'static str {
        match self {
            Mark::Place(_) | Mark::Ready => "",
            Mark::Claimed => "blue",
            Mark::NeedsYou | Mark::Proposal => "amber",
            Mark::Done => "green",
            Mark::Failed | Mark::Conflict | Mark::Wake => "red",
            Mark::Waits | Mark::Dropped => "edge",
        }
    }

    fn shape(self) -> &'static str {
        match self {
            Mark::Place(Place::Now) => {
                r#"<circle cx="8" cy="8" r="2.6" fill="currentColor"/><circle cx="8" cy="8" r="5.6" fill="none" stroke="currentColor" stroke-width="1.5"/>"#
            }
            Mark::Place(Place::Timeline) => {
                r#"<path d="M2 4h7M2 8h12M2 12h9" fill="none" stroke="currentColor" stroke-width="1.8"/>"#
            }
            Mark::Place(Place::Work) => {
                r#"<rect x="3.5" y="3.5" width="9" height="9" rx="1.5" fill="currentColor"/>"#
            }
            Mark::Place(Place::Threads) => {
                r#"<circle cx="8" cy="7.6" r="5.2" fill="currentColor"/><path d="M4.4 10.4 3 14l4-1.6z" fill="currentColor"/>"#
            }
            Mark::Place(Place::Artifacts) => {
                r#"<path d="M3 4.2h10M3 8h10M3 11.8h6.5" stroke="currentColor" stroke-width="2"/>"#
            }
            Mark::Place(Place::Search) => {
                r#"<circle cx="7" cy="7" r="4.4" fill="none" stroke="currentColor" stroke-width="1.8"/><path d="m10.4 10.4 3.6 3.6" stroke="currentColor" stroke-width="1.8"/>"#
            }
            Mark::Ready => {
                r#"<circle cx="8" cy="8" r="5.6" fill="none" stroke="currentColor" stroke-width="1.8"/>"#
            }
            Mark::Claimed => {
                r#"<circle cx="8" cy="8" r="5.6" fill="none" stroke="currentColor" stroke-width="1.8"/><path d="M8 4.4a3.6 3.6 0 0 1 0 7.2z" fill="currentColor"/>"#
            }
            Mark::Waits => {
                r#"<circle cx="8" cy="8" r="5.6" fill="none" stroke="currentColor" stroke-width="1.8" stroke-dasharray="2.2 2.2"/>"#
            }
            Mark::NeedsYou => {
                r#"<circle cx="8" cy="8" r="6.5" fill="currentColor"/><path class="sign" d="M8 4.4v4.4M8 10.6v1.4" fill="none" stroke-width="1.6"/>"#
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
            Mark::Wake => r#"<path d="M9 1.5 3.5 9H7l-1 5.5L12.5 7H9z" fill="currentColor"/>"#,
            Mark::Proposal => {
                r#"<path d="M3 4.2h10M3 8h10M3 11.8h6.5" stroke="currentColor" stroke-width="2" stroke-dasharray="3 1.6"/>"#
            }
            Mark::Conflict => {
                r#"<path d="M7 2.2 1.2 8 7 13.8z" fill="currentColor"/><path d="M9 2.2 14.8 8 9 13.8z" fill="none" stroke="currentColor" stroke-width="1.4"/>"#
            }
        }
    }
}

pub fn mark(mark: Mark) -> Markup {
    html! {
        svg class={ "mark " (mark.class()) } viewBox="0 0 16 16" role="img" aria-label=(mark.word()) {
            (PreEscaped(mark.shape()))
        }
    }
}

/// Who: two letters; agents are square, the person is round.
pub fn who(name: &str, person: bool) -> Markup {
    let letters: String = name
        .chars()
        .filter(|c| c.is_alphanumeric())
        .take(2)
        .collect();
    html! {
        span.who.person[person] aria-hidden="true" { (letters) }
    }
}
