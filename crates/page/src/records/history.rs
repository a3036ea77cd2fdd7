//! A record's versions, newest first: who changed what, word by word, and what was proposed and refused.

use maud::{Markup, html};
use serde_json::{Value, json};
use understory_engine::records::conflicts::Refused;
use understory_engine::records::history::{Entry, FieldChange, History};
use understory_model::Fault;
use understory_model::record::{ActivityKind, Proposed, RecordState};

use super::one::Record;
use super::{place, state_mark};
use crate::Content;
use crate::changed::both;
use crate::marks::{Mark, mark, who};
use crate::text::{age, segment, stored};
use crate::visit::Visit;

/// Changes that are shown at once.
const EACH: i64 = 50;

pub fn page(visit: &Visit<'_>, handle: &str) -> Result<Content, Fault> {
    let record = Record::of(visit, handle)?;
    let after = visit.query.get("after");
    let asked = json!({"id": handle, "limit": EACH, "values": true, "cursor": after});
    let past: History = visit.ask("get_record_history", asked)?;
    let main = html! {
        ol.rec-versions {
            @for (at, entry) in past.history.iter().enumerate() {
                li.rec-version id={ "v-" (entry.item.as_deref().unwrap_or_default()) } data-row {
                    (whole(visit, &record, entry, at))
                }
            }
        }
        @if let Some(next) = &past.next_cursor {
            a.more data-soft href=(visit.with(&format!("{}/history", place(handle)), &[("after", Some(next))])) { "Show " (EACH) " more" }
        }
    };
    record.content(visit, "history", main, json!(past))
}

/// The last changes, in few words, for beside a record.
pub fn short(visit: &Visit<'_>, past: &History, most: usize) -> Markup {
    // That two sessions have it active at once is told where it is said who is in it.
    let is_change = |entry: &&Entry| entry.version.is_some() || entry.proposed.is_some();
    let told_of = past.history.iter().filter(is_change).take(most);
    html! {
        ol.rec-past {
            @for entry in told_of {
                li {
                    time.meta datetime=(entry.timestamp) data-clock { (age(visit, entry.timestamp)) }
                    div {
                        b { (stored(&entry.agent)) } " " (told(visit, entry))
                        @for change in entry.changes.iter().filter(|change| is_text(change)) {
                            p.word-diff dir="auto" { (both(text(&change.before), text(&change.after), true)) }
                        }
                    }
                }
            }
        }
    }
}

/// A change with all that it changed.
fn whole(visit: &Visit<'_>, record: &Record, entry: &Entry, at: usize) -> Markup {
    let open = entry.item.as_deref();
    let waits = record
        .conflicts
        .iter()
        .find(|one| Some(one.item.as_str()) == open);
    html! {
        p.by {
            (who(&entry.agent, entry.agent == visit.person()))
            span {
                b { (stored(&entry.agent)) } " " (told(visit, entry))
                @if let Some(version) = entry.version { span.chip { "version " (version) } }
                @if at == 0 && entry.version == Some(record.shown.version) { " " span.chip { "in force" } }
            }
            (age(visit, entry.timestamp))
        }
        @for change in &entry.changes { (field(visit, change)) }
        @if let Some(proposed) = &entry.proposed { (refused(visit, record, proposed, waits)) }
    }
}

/// What was done, as words after a name.
fn told(visit: &Visit<'_>, entry: &Entry) -> Markup {
    let fields: Vec<&str> = entry
        .changes
        .iter()
        .map(|change| named(&change.field))
        .collect();
    html! {
        @match entry.change_type {
            ActivityKind::RecordCreated => { "made it" }
            ActivityKind::RecordUpdated => { "changed " (listed(&fields)) }
            ActivityKind::StateTransition => { (moved(visit, &entry.changes)) }
            ActivityKind::ConflictDetected if entry.proposed.is_some() => { "was refused: it had moved on" }
            _ => { (stored(&entry.summary)) }
        }
    }
}

/// `the title, the summary and the body`.
fn listed(fields: &[&str]) -> String {
    match fields {
        [] => "nothing".to_owned(),
        [one] => format!("the {one}"),
        [rest @ .., last] => format!("the {} and the {last}", rest.join(", the ")),
    }
}

fn named(field: &str) -> &str {
    match field {
        "parent_id" => "place",
        "resolved_by" => "answer",
        other => other,
    }
}

fn moved(visit: &Visit<'_>, changes: &[FieldChange]) -> Markup {
    let value = |name: &str| {
        let change = changes.iter().find(|change| change.field == name)?;
        change.after.as_ref().and_then(Value::as_str)
    };
    let state = value("state").and_then(RecordState::parse);
    html! {
        @if let Some(state) = state { "made it " (mark(state_mark(state))) " " (state_mark(state).word()) }
        @if let Some(by) = value("resolved_by") { " by " a.handle href=(visit.link(&place(by))) { (by) } }
        @if let Some(reason) = value("reason") { " because " (stored(reason)) }
    }
}

fn is_text(change: &FieldChange) -> bool {
    ["title", "summary", "body"].contains(&change.field.as_str())
}

fn text(value: &Option<Value>) -> &str {
    value.as_ref().and_then(Value::as_str).unwrap_or_default()
}

/// A field that changed: texts word by word, other values before and after.
fn field(visit: &Visit<'_>, change: &FieldChange) -> Markup {
    let plain = |value: &Option<Value>| match value {
        None | Some(Value::Null) => "nothing".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    };
    html! {
        @if is_text(change) {
            p.label { (named(&change.field)) }
            p.word-diff dir="auto" { (both(text(&change.before), text(&change.after), false)) }
        } @else if change.field == "parent_id" {
            p.word-diff {
                @for (at, side) in [&change.before, &change.after].iter().enumerate() {
                    @if at > 0 { " to " } @else { "from " }
                    @match side.as_ref().and_then(Value::as_str) {
                        Some(parent) => { a.handle href=(visit.link(&format!("records/{}", segment(parent)))) { (parent) } }
                        None => { "the top" }
                    }
                }
            }
        } @else if !["state", "reason", "resolved_by"].contains(&change.field.as_str()) {
            p.label { (stored(named(&change.field))) }
            p.word-diff dir="auto" { del { (stored(&plain(&change.before))) } " " ins { (stored(&plain(&change.after))) } }
        }
    }
}

/// An update that was refused, against what the record says now.
fn refused(
    visit: &Visit<'_>,
    record: &Record,
    proposed: &Proposed,
    waits: Option<&Refused>,
) -> Markup {
    let now = &record.shown.record;
    let texts = [
        ("title", &proposed.title, &now.title),
        ("summary", &proposed.summary, &now.summary),
        ("body", &proposed.body, &now.body),
    ];
    html! {
        div.rec-refused {
            @for (name, wanted, now) in texts {
                @if let Some(wanted) = wanted {
                    p.label { (name) ", against what is in force" }
                    p.word-diff dir="auto" { (both(now, wanted, false)) }
                }
            }
            @match waits {
                Some(waits) => {
                    p { (mark(Mark::Conflict)) " Kept aside. "
                        a data-soft href=(visit.link(&format!("{}/settle?of={}", place(&now.id), segment(&waits.item)))) { "Choose between the two" } }
                }
                None => { p.meta { "This is settled." } }
            }
        }
    }
}
