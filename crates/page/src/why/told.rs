//! An item in words for people: who did what, to which thing, and where that is.

use maud::{Markup, html};
use understory_engine::garden::shown::Step;
use understory_engine::garden::timeline::whole::Whole;
use understory_engine::kernel::log::Entry;

use crate::marks::Mark;
use crate::text::{segment, stored};

/// The page of what an item is about.
pub fn place_of(entry: &Entry) -> String {
    let handle = entry.handle.as_deref().unwrap_or_default();
    match (&entry.about, handle) {
        // A message has its place in its thread.
        (Some(thread), handle) if handle.starts_with("msg_") => format!(
            "threads/{}{}",
            segment(thread),
            number_of(&entry.text).map_or(String::new(), |n| format!("#{n}"))
        ),
        (_, "") => format!("timeline?sel={}", entry.seq),
        (_, handle) if handle.starts_with("uuid_") => format!("conversations/{}", segment(handle)),
        _ if is_document(entry) => format!("artifacts/{}", segment(handle)),
        (_, handle) if handle.starts_with("prop_") => format!("timeline?sel={}", entry.seq),
        _ => format!("go/{}", segment(handle)),
    }
}

/// Whether the handle is the label of a document: of a commit, or of a look at one.
fn is_document(entry: &Entry) -> bool {
    let handle = entry.handle.as_deref().unwrap_or_default();
    entry.kind.starts_with("Artifact") || entry.kind == "ToolCall" && !handle.starts_with("prop_")
}

/// The mark of the surface that an item belongs to.
pub fn sign_of(entry: &Entry) -> Mark {
    let handle = entry.handle.as_deref().unwrap_or_default();
    let numbered = |prefix: &str| {
        let rest = handle.strip_prefix(prefix);
        rest.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    match entry.kind.as_str() {
        kind if kind.starts_with("Artifact") => Mark::Artifact,
        "ToolCall" if handle.starts_with("prop_") => Mark::Artifact,
        "ToolCall" => Mark::Act,
        "NoteEntry" | "GraphDelta" => Mark::Reasoning,
        _ if handle.starts_with("msg_") || handle.starts_with("th_") => Mark::Thread,
        _ if handle.starts_with("prop_") => Mark::Artifact,
        _ if handle.starts_with("TASK-") || handle.starts_with("PLAN-") => Mark::Work,
        _ if numbered("R") => Mark::Record,
        _ => Mark::Conversation,
    }
}

/// What people call the thing that an item is about; a message is called by its thread.
pub fn thing_of(entry: &Entry) -> Option<String> {
    let handle = entry.handle.as_deref()?;
    if handle.starts_with("msg_") {
        return entry.about.clone();
    }
    if handle.starts_with("uuid_") || handle.starts_with("entity_") {
        return entry.name.clone();
    }
    Some(handle.to_owned())
}

/// What an item says, without what its head says already.
pub fn said_of(entry: &Entry) -> &str {
    let text = entry.text.as_str();
    match (number_of(text), text.split_once(": ")) {
        (Some(_), Some((_, body))) if entry.action.as_deref() == Some("posted") => body,
        // What else a change changed is on the page of the thing.
        _ if entry.kind == "EntityDelta" => text.split("; +").next().unwrap_or(text),
        _ => text,
    }
}

/// The number of a message in its thread, which its line begins with.
fn number_of(text: &str) -> Option<i64> {
    let rest = text.strip_prefix("message ")?;
    let digits = rest.split(|c: char| !c.is_ascii_digit()).next()?;
    digits.parse().ok()
}

/// What was done, as the middle of a sentence: `bob` *said in* `th_003`.
pub fn verb(one: &Whole) -> &'static str {
    let action = one.entry.action.as_deref().unwrap_or_default();
    match (one.entry.kind.as_str(), action) {
        (_, "posted") => "said in",
        (_, "said") => "said",
        ("ArtifactDelta", _) => "committed",
        (_, "noted") => "noted",
        (_, "upserted") => "wrote",
        (_, "created") => "made",
        (_, "updated") => "changed",
        (_, "claimed") => "took",
        (_, "resolved") => "finished",
        (_, "evidence") => "added evidence to",
        (_, "proposed") => "proposed",
        (_, "accepted") => "accepted",
        (_, "rejected") => "rejected",
        (_, "reopened") => "opened again",
        (_, "collapsed") => "ended",
        (_, "read") => "read",
        (_, "searched") => "searched",
        (_, "selected") => "chose in",
        (_, "undone") => "took back what was said",
        (_, "called") => "called",
        (_, "reported") => "reported",
        (_, "transitioned") => "moved",
        _ => "changed",
    }
}

/// A step in few words: `bob said: SQLite has one writer`.
pub fn short_step(step: &Step) -> Markup {
    let who = step.sender.as_deref().unwrap_or(&step.actor);
    let text = match (number_of(&step.text), step.text.split_once(": ")) {
        (Some(_), Some((_, body))) => body,
        _ => step.text.as_str(),
    };
    let said = match step.action.as_deref() {
        Some("posted" | "said") => "said: ",
        Some("noted") => "noted: ",
        _ => "",
    };
    let handle = step.handle.as_deref();
    let handle =
        handle.filter(|handle| !handle.starts_with("msg_") && !handle.starts_with("uuid_"));
    html! {
        (stored(who)) " "
        @if said.is_empty() {
            (step.action.as_deref().unwrap_or("wrote").replace('_', " "))
            @if let Some(handle) = handle { " " (stored(handle)) }
            @if !text.is_empty() { ": " (stored(text)) }
        } @else { (said) (stored(text)) }
    }
}
