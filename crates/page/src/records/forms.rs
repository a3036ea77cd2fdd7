//! The forms of a record: each carries the version that was shown, so that what somebody else changed
//! meanwhile is not written over.

use maud::{Markup, html};
use understory_engine::records::history::Entry;
use understory_engine::records::show::Shown;
use understory_model::record::RecordState;

use super::{address, place, state_mark};
use crate::marks::mark;
use crate::shell::hidden;
use crate::text::{age, stored};
use crate::visit::Visit;

/// What a state is brought about by, in a word.
pub fn word(state: RecordState) -> &'static str {
    match state {
        RecordState::Open => "Open again",
        RecordState::Later => "Later",
        RecordState::Resolved => "Resolve",
        RecordState::Discarded => "Discard",
    }
}

/// The record, the version that was shown, and where to go back to. News of the record leave these alone: what
/// the person saw is what the form began from.
pub fn about(visit: &Visit<'_>, shown: &Shown) -> Markup {
    let record = &shown.record;
    html! {
        (hidden(visit, &place(&record.id)))
        input type="hidden" name="record" value=(record.id);
        input type="hidden" name="seen" value=(shown.version) data-own;
    }
}

/// What the fields began with, so that only what was changed is written, and can be made as it was.
pub fn was(shown: &Shown) -> Markup {
    let record = &shown.record;
    html! {
        input type="hidden" name="was_title" value=(record.title) data-own;
        input type="hidden" name="was_summary" value=(record.summary) data-own;
        input type="hidden" name="was_body" value=(record.body) data-own;
    }
}

/// The end of a form: the act, and the way back.
fn end(visit: &Visit<'_>, back: &str, label: &str) -> Markup {
    html! {
        div.acts {
            span.kept {}
            a.button.plain data-soft href=(address(visit, back, &[])) { "Leave it" }
            button.main { (label) " " kbd { "Ctrl ↵" } }
        }
    }
}

/// The texts of a record, as they were in the version that is shown; and what was changed since, if anything was.
pub fn edit(visit: &Visit<'_>, shown: &Shown, news: Option<&Entry>) -> Markup {
    let record = &shown.record;
    let here = place(&record.id);
    html! {
        @if let Some(news) = news {
            p.error id="news" { b { (stored(&news.agent)) " changed it " (age(visit, news.timestamp)) " ago." }
                " What you write is kept beside that, not written over it. "
                a data-soft href=(address(visit, &format!("{here}/history"), &[])) { "Show what is new" } }
        }
        form.act.long method="post" action=(visit.link("do/record-edit")) data-draft={ "record-" (record.id) "-" (shown.version) }
            data-then=(address(visit, &here, &[])) id={ "edit-" (record.id) "-" (shown.version) } {
            (about(visit, shown))
            (was(shown))
            label { span.label { "Title" } input name="title" required dir="auto" autocomplete="off" value=(record.title) data-focus; }
            label { span.label { "Summary, one or two sentences" } textarea name="summary" rows="2" dir="auto" { "\n" (record.summary) } }
            label { span.label { "Body" } textarea name="body" rows="14" dir="auto" { "\n" (record.body) } }
            (end(visit, &here, "Save"))
        }
    }
}

/// A new record, below another or on its own.
pub fn new(visit: &Visit<'_>, parent: Option<&Shown>) -> Markup {
    let under = parent.map(|parent| parent.record.id.as_str());
    let here = under.map_or("records".to_owned(), place);
    html! {
        form.act.long method="post" action=(visit.link("do/record-new")) data-draft={ "record-new-" (under.unwrap_or("root")) }
            data-then=(address(visit, &here, &[])) id="new-record" {
            (hidden(visit, &here))
            @if let Some(parent) = parent {
                input type="hidden" name="parent" value=(parent.record.id);
                input type="hidden" name="seen" value=(parent.version);
                p.meta { "Below " (stored(&parent.record.title)) " " span.handle { (parent.record.id) } }
            }
            label { span.label { "Title" } input name="title" required dir="auto" autocomplete="off" data-focus; }
            label { span.label { "Summary, one or two sentences" } textarea name="summary" rows="2" dir="auto" {} }
            label { span.label { "Body, which must explain itself" } textarea name="body" rows="8" dir="auto" {} }
            label.short { span.label { "Type" } input name="type" required autocomplete="off" list="record-types" value="question"; }
            datalist id="record-types" { option value="question"; option value="conclusion"; option value="note"; }
            (end(visit, &here, "Add"))
        }
    }
}

/// Another place in the tree.
pub fn place_elsewhere(visit: &Visit<'_>, shown: &Shown) -> Markup {
    let record = &shown.record;
    let parent = shown.parent.as_ref().map(|parent| parent.id.as_str());
    let here = place(&record.id);
    html! {
        form.act.long method="post" action=(visit.link("do/record-move")) data-draft={ "record-move-" (record.id) }
            data-then=(address(visit, &here, &[])) id={ "move-" (record.id) } {
            (about(visit, shown))
            input type="hidden" name="was_parent" value=(parent.unwrap_or_default());
            p.meta {
                @match &shown.parent {
                    Some(parent) => { "It is below " (stored(&parent.title)) " " span.handle { (parent.id) } "." }
                    None => { "It stands at the top." }
                }
            }
            label.short { span.label { "Below which record; nothing for the top" }
                input name="parent" autocomplete="off" placeholder="R001" value=[parent] data-focus; }
            (end(visit, &here, "Move"))
        }
    }
}

/// Another state, with what it requires.
pub fn state(visit: &Visit<'_>, shown: &Shown, wanted: &str) -> Markup {
    let to = RecordState::parse(wanted).unwrap_or(RecordState::Open);
    let here = place(&shown.record.id);
    html! {
        form.act.long method="post" action=(visit.link("do/record-state")) data-draft={ "record-" (wanted) "-" (shown.record.id) }
            data-then=(address(visit, &here, &[])) id={ "state-" (shown.record.id) } {
            (states(visit, shown, to))
            p.meta { (mark(state_mark(to))) " It becomes " (state_mark(to).word()) "." }
            @if to.needs_resolver() {
                label.short { span.label { "The record that holds the answer" }
                    input name="resolved_by" required autocomplete="off" placeholder="R002" list="answers" data-focus; }
                datalist id="answers" {
                    @for one in shown.children.iter().chain(&shown.related) { option value=(one.id) { (one.title) } }
                }
                label { span.label { "Why, if that needs words" } textarea name="reason" rows="2" dir="auto" {} }
            } @else {
                label { span.label { "Why" } textarea name="reason" rows="2" dir="auto" required[to.needs_reason()] data-focus {} }
            }
            (end(visit, &here, word(to)))
        }
    }
}

/// Open again, which needs no words.
pub fn reopen(visit: &Visit<'_>, shown: &Shown) -> Markup {
    html! {
        form.act method="post" action=(visit.link("do/record-state")) data-draft={ "record-open-" (shown.record.id) } id={ "open-" (shown.record.id) "-" (shown.version) } {
            (states(visit, shown, RecordState::Open))
            button { (word(RecordState::Open)) }
        }
    }
}

/// The state that is wanted, and the one that it was with what that required.
fn states(visit: &Visit<'_>, shown: &Shown, to: RecordState) -> Markup {
    let record = &shown.record;
    html! {
        (about(visit, shown))
        input type="hidden" name="state" value=(to);
        input type="hidden" name="was_state" value=(record.state);
        input type="hidden" name="was_reason" value=(record.reason.as_deref().unwrap_or_default());
        input type="hidden" name="was_resolved_by" value=(record.resolved_by.as_deref().unwrap_or_default());
    }
}
