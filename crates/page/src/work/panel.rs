//! One task in the panel: who has it, what can be done, what is around it, and what was said of it.

use maud::{Markup, html};
use understory_engine::graph::board::Plan;
use understory_engine::graph::context::Dependency;
use understory_engine::graph::history::{Change, Event};
use understory_engine::kernel::content::node::Evidence;
use understory_engine::reasoning::shape::Entry;
use understory_model::Fault;

use super::facts::{Facts, NEAR};
use super::forms;
use super::standing::{Asking, Standing, chips, marked, when};
use crate::marks::{Mark, mark};
use crate::text::{age, linked, number, plain, segment, stored};
use crate::visit::Visit;
use crate::{Side, Width};

/// Neighbours that the panel names on each side.
const NAMED: usize = 6;

/// The panel of what the address says, if there is such a task; with the same as data.
pub fn panel(
    visit: &Visit<'_>,
    plan: &Plan,
    asking: &Asking,
) -> Result<Option<(Side, Facts)>, Fault> {
    let Some(handle) = visit.query.get("peek") else {
        return Ok(None);
    };
    let Some(facts) = Facts::of_panel(visit, plan, handle)? else {
        return Ok(None);
    };
    let node = &facts.context.node;
    let main = html! {
        div.bar {
            p.meta { span.handle { (node.id) } (place(visit, &facts)) }
            a.button.plain href=(visit.link(&format!("work/{}", segment(&node.id)))) data-focus[visit.query.get("act").is_none()] { "Open " kbd { "↵" } }
            a.button.plain href=(visit.with("work", &[("peek", None), ("act", None)])) data-soft data-close aria-label="Close" { "×" }
        }
        h2 id={ "of-" (node.id) } { (stored(&node.summary)) }
        (head(visit, &facts, asking))
        (about(visit, &facts, asking, NAMED))
        (sections(visit, &facts))
    };
    let side = Side {
        width: Width::Reading,
        label: format!("{}: {}", node.id, plain(&node.summary)),
        main,
    };
    Ok(Some((side, facts)))
}

/// What it is part of.
pub fn place(visit: &Visit<'_>, facts: &Facts) -> Markup {
    html! {
        @if let Some(parent) = facts.context.ancestors.last() {
            " in " a href=(visit.link(&format!("work/{}", segment(&parent.id)))) { (stored(&parent.summary)) }
        }
    }
}

/// Chips of its state, and what can be done.
pub fn head(visit: &Visit<'_>, facts: &Facts, asking: &Asking) -> Markup {
    html! {
        @if let Some(task) = &facts.task {
            @let standing = Standing::of(task, asking);
            p.chips {
                @match &standing.held {
                    Some(hand) if hand.asks.is_some() || hand.silent.is_some() => { (mark(standing.mark)) " " (hand.told(visit)) " " }
                    Some(hand) => { span.chip.blue { (mark(standing.mark)) " " (stored(&hand.by)) ", " (age(visit, hand.since)) } " " }
                    None => { span.chip { (mark(standing.mark)) " " (standing.words(task, visit.now)) } " " }
                }
                (chips(task))
            }
        }
        (forms::acts(visit, facts))
    }
}

/// What comes before and after it, and what it was made because of.
pub fn about(visit: &Visit<'_>, facts: &Facts, asking: &Asking, most: usize) -> Markup {
    let context = &facts.context;
    let side = |label: &str, all: &[Dependency]| {
        html! {
            @if !all.is_empty() {
                dt { (label) }
                dd {
                    ul {
                        @for one in all.iter().take(most.min(NEAR)) { (neighbour(visit, facts, asking, (&one.node.id, &one.node.summary, one.node.resolved))) }
                        @if all.len() > most { li.meta { "and " (number((all.len() - most) as i64)) " more" } }
                    }
                }
            }
        }
    };
    html! {
        @if !context.depends_on.is_empty() || !context.depended_by.is_empty() || facts.because.is_some() {
            dl.facts {
                (side("After", &context.depends_on))
                (side("Before", &context.depended_by))
                @if let Some(step) = &facts.because {
                    dt { a.because href=(visit.link(&format!("why/{}", segment(&context.node.id)))) data-hotkey="w" title="Why (w)" { "Because" } }
                    dd {
                        (stored(step.sender.as_deref().unwrap_or(&step.actor))) " said: " (stored(&step.text)) " "
                        @if let Some(name) = step.name.as_deref().or(step.handle.as_deref()) {
                            a.handle href=(visit.link(&format!("go/{}", segment(name)))) { (stored(name)) }
                        }
                    }
                }
            }
        }
    }
}

/// A task beside another: its mark and its title.
pub fn neighbour(
    visit: &Visit<'_>,
    facts: &Facts,
    asking: &Asking,
    (id, summary, resolved): (&str, &str, bool),
) -> Markup {
    html! {
        li.near {
            @match facts.near.get(id) {
                Some(task) => (marked(task, asking)),
                None => (mark(if resolved { Mark::Done } else { Mark::Waits })),
            }
            " " a.title href=(visit.link(&format!("work/{}", segment(id)))) title=(id) { (stored(summary)) }
        }
    }
}

/// Notes, evidence, history.
pub fn sections(visit: &Visit<'_>, facts: &Facts) -> Markup {
    let context = &facts.context;
    html! {
        @if !facts.notes.is_empty() {
            section {
                h3 { "Notes" @if facts.notes_more { span.meta { " the last ones" } } }
                @for entry in &facts.notes { (note(visit, entry)) }
            }
        }
        @if !context.node.evidence.is_empty() {
            section { h3 { "Evidence" } ul { @for piece in &context.node.evidence { (evidence(visit, piece)) } } }
        }
        section {
            h3 { "History" @if facts.history.next_cursor.is_some() { span.meta { " the last of it" } } }
            ol.history { @for event in &facts.history.events { (happened(visit, event)) } }
        }
    }
}

/// A note, as it was written, with who and when behind it.
pub fn note(visit: &Visit<'_>, entry: &Entry) -> Markup {
    html! {
        div.note id={ "note-" (entry.seq) } {
            @if let Some(title) = &entry.title { p { b { (stored(title)) } } }
            @if let Some(text) = &entry.content { div.words { (linked(visit, text)) } }
            p.meta { @if let Some(agent) = &entry.agent { (stored(agent)) ", " } (when(visit, entry.ts)) }
        }
    }
}

pub fn evidence(visit: &Visit<'_>, piece: &Evidence) -> Markup {
    let shape = match piece.kind.as_str() {
        "test" | "verified" => Mark::Done,
        "dropped" => Mark::Dropped,
        _ => Mark::Artifact,
    };
    html! {
        li.near {
            (mark(shape)) " " span.handle data-long { (stored(&piece.kind)) } " " span.what { (stored(&piece.reference)) } " "
            span.meta { (stored(&piece.agent)) ", " (when(visit, piece.timestamp)) }
        }
    }
}

pub fn happened(visit: &Visit<'_>, event: &Event) -> Markup {
    html! {
        li {
            (when(visit, event.timestamp)) " " (mark(Mark::Work)) " "
            span.what {
                b { (stored(&event.agent)) } " " (did(visit, event))
                @if let Some(reason) = &event.reason { ", because " (stored(reason)) }
            }
        }
    }
}

/// What was done, as people say it.
fn did(visit: &Visit<'_>, event: &Event) -> Markup {
    let names = |handle: &str| html! { a.handle href=(visit.link(&format!("go/{}", segment(handle)))) { (handle) } };
    html! {
        @match event.action.as_str() {
            "created" => "made it",
            "claimed" => "claimed it",
            "released" => "gave it back",
            "resolved" => "finished it",
            "reopened" => "opened it again",
            "dropped" => "dropped it",
            "moved" => {
                "moved it"
                @if let Some(to) = event.changes.iter().find_map(|one| one.after.as_str().filter(|_| one.field == "parent")) { " under " (names(to)) }
            }
            "merged" => {
                @match &event.merged_into { Some(into) => { "merged it into " (names(into)) }, None => "merged another into it" }
            }
            _ => (changed(&event.changes, &names)),
        }
    }
}

/// Places of one list are one field to people.
fn kind_of(field: &str) -> &str {
    field
        .split('.')
        .next()
        .filter(|first| *first != "properties")
        .unwrap_or(field)
}

fn changed(changes: &[Change], names: &impl Fn(&str) -> Markup) -> Markup {
    // Who claimed it since when is told by the claim itself.
    let mut told: Vec<&Change> = changes
        .iter()
        .filter(|one| !one.field.starts_with("properties._"))
        .collect();
    told.dedup_by_key(|one| kind_of(&one.field));
    html! {
        @for (at, one) in told.into_iter().take(5).enumerate() {
            @if at > 0 { ", " }
            @match one.field.strip_prefix("properties.").unwrap_or(&one.field) {
                field if field.starts_with("evidence") => "added evidence",
                "summary" => "changed its title",
                "state" => "changed its state",
                "resolved" => "changed whether it is done",
                "depends_on" => {
                    @match (one.after.as_str(), one.before.as_str()) {
                        (Some(first), _) => { "put it after " (names(first)) }
                        (None, Some(first)) => { "took it from after " (names(first)) }
                        _ => "changed what it comes after",
                    }
                }
                "priority" => { "set its priority" @if let Some(value) = one.after.as_f64() { " to " (value) } }
                other => { "changed " (stored(other)) }
            }
        }
    }
}
