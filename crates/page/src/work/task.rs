//! One task with room: all that its panel shows, and what was thought about it.

use maud::{Markup, html};
use understory_engine::graph::board::Plan;
use understory_engine::reasoning::shape::Node;
use understory_model::Fault;

use super::facts::{Facts, NEAR, Thoughts};
use super::panel;
use super::standing::{Asking, when};
use crate::marks::{Mark, mark};
use crate::text::{linked, number, segment, stored};
use crate::visit::Visit;
use crate::{Content, Place};

/// Signs of a title that the head surely shows, and those that are shown below it without being asked for.
const SHOWN: usize = 120;
const LONG: usize = 1_200;

pub fn page(visit: &Visit<'_>, plan: Option<&Plan>, handle: &str) -> Result<Content, Fault> {
    let facts = Facts::of_page(visit, plan, handle)?;
    let asking = Asking::of(visit)?;
    let node = &facts.context.node;
    let around = visit.link(&format!(
        "work?view=picture&around={0}&peek={0}",
        segment(&node.id)
    ));
    Ok(Content {
        place: Place::Work,
        title: node.summary.clone(),
        counts: node.id.clone(),
        controls: html! {
            a.button href=(around) { "Show in the picture" }
            a.button href=(visit.link(&format!("why/{}", segment(&node.id)))) data-hotkey="w" { "Why is this here? " kbd { "w" } }
        },
        main: html! {
            p.meta { (path(visit, &facts)) "made by " (stored(&node.created_by)) " " (when(visit, node.created_at)) }
            (whole_title(&node.summary))
            (panel::head(visit, &facts, &asking))
            @if let Some(state) = &node.state {
                @match state.as_str() {
                    Some(text) => div.words { (linked(visit, text)) },
                    None => pre { (stored(&state.to_string())) },
                }
            }
            (panel::about(visit, &facts, &asking, NEAR))
            (links(visit, &node.context_links))
            (parts(visit, &facts, &asking))
            (panel::sections(visit, &facts))
            @if let Some(thoughts) = &facts.thoughts { (thought(visit, thoughts)) }
        },
        is_one: true,
        json: facts.data(),
        ..Content::default()
    })
}

/// The title again where the head cuts it off.
fn whole_title(title: &str) -> Markup {
    let count = title.chars().count();
    let whole = html! { p.words dir="auto" { (stored(title)) } };
    html! {
        @if count > LONG { details id="title" { summary { "Show all " (number(count as i64)) " characters of the title" } (whole) } }
        @else if count > SHOWN { (whole) }
    }
}

/// What it is part of, from the goal down.
fn path(visit: &Visit<'_>, facts: &Facts) -> Markup {
    html! {
        @for above in &facts.context.ancestors {
            a href=(visit.link(&format!("work/{}", segment(&above.id)))) { (stored(&above.summary)) } " › "
        }
    }
}

fn links(visit: &Visit<'_>, all: &[String]) -> Markup {
    html! {
        @if !all.is_empty() {
            section { h2 { "See also" } ul { @for link in all { li { div.words { (linked(visit, link)) } } } } }
        }
    }
}

fn parts(visit: &Visit<'_>, facts: &Facts, asking: &Asking) -> Markup {
    let branch = &facts.context.children;
    let shown = branch.children.len().min(NEAR) as i64;
    let more = branch.child_count.unwrap_or(branch.children.len() as i64) - shown;
    html! {
        @if !branch.children.is_empty() {
            section {
                h2 { "Parts" }
                ul {
                    @for child in branch.children.iter().take(NEAR) {
                        (panel::neighbour(visit, facts, asking, (&child.id, &child.summary, child.resolved)))
                    }
                    @if more > 0 { li.meta { "and " (number(more)) " more" } }
                }
            }
        }
    }
}

fn thought(visit: &Visit<'_>, thoughts: &Thoughts) -> Markup {
    let cards = thoughts
        .cards
        .as_ref()
        .map(|found| found.cards.as_slice())
        .unwrap_or_default();
    html! {
        @if !cards.is_empty() {
            section {
                h2 { "Cards" }
                ul.entries { @for card in cards { (told(visit, card)) } }
                @if thoughts.cards.as_ref().is_some_and(|found| found.truncated) { p.meta { "There are more, in Reasoning." } }
            }
        }
        @if !thoughts.trace.is_empty() {
            section { h2 { "Trace" } @for entry in &thoughts.trace { (panel::note(visit, entry)) } }
        }
    }
}

fn told(visit: &Visit<'_>, card: &Node) -> Markup {
    let kind = card.kind.as_deref().unwrap_or_default();
    let shape = match (kind, card.status.as_deref()) {
        ("hypothesis", Some("confirmed" | "accepted")) => Mark::Confirmed,
        ("hypothesis", Some("refuted" | "rejected")) => Mark::Refuted,
        ("hypothesis", _) => Mark::Hypothesis,
        ("question", _) => Mark::Question,
        ("test", _) => Mark::Test,
        ("evidence", _) => Mark::Evidence,
        ("decision", _) => Mark::Decision,
        _ => Mark::Conversation,
    };
    html! {
        li.entry id={ "card-" (card.id) } {
            (mark(shape))
            div.what {
                p.title { (stored(card.title.as_deref().unwrap_or(&card.id))) }
                @if let Some(text) = &card.text { div.words { (linked(visit, text)) } }
                p.meta { span.handle { (stored(&card.id)) } " · " (stored(kind)) @if let Some(status) = &card.status { " · " (stored(status)) } }
            }
        }
    }
}
