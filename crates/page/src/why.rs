//! Why: the causes of anything that has a name, as a path back to where it began.

use maud::{Markup, html};
use serde_json::json;
use understory_engine::garden::shown::Step;
use understory_engine::garden::timeline::why::Why;
use understory_model::Fault;

use crate::text::{age, segment, stored};
use crate::visit::Visit;
use crate::{Content, Place};

pub fn page(visit: &Visit<'_>, name: &str) -> Result<Content, Fault> {
    let found: Why = visit.ask("why", json!({"id": name}))?;
    let one = found.steps.len() <= 1;
    Ok(Content {
        place: Place::Timeline,
        title: format!("Why {name}"),
        counts: String::new(),
        main: html! {
            @if let Some(line) = &found.line {
                p.meta { a href=(visit.link(&format!("artifacts/{}", segment(&line.label)))) { (stored(&line.label)) } ", line " (line.line) }
                pre.lines dir="auto" { (stored(&line.content)) }
            }
            ol.why { @for (at, step) in found.steps.iter().enumerate() { (told(visit, step, at == 0)) } }
            @if found.cycle { p.empty { "The causes form a cycle, shown once." } }
            @else if found.truncated { p.empty { "There are more steps than are shown." } }
            @else if one { p.empty { b { "No cause was named." } " A write names its cause with " code { "caused_by" } "." } }
            @else { p.empty { "It began here. Nothing is named before it." } }
        },
        json: json!(found),
        ..Content::default()
    })
}

fn told(visit: &Visit<'_>, step: &Step, first: bool) -> Markup {
    let who = step.sender.as_deref().unwrap_or(&step.actor);
    let did = step
        .action
        .as_deref()
        .unwrap_or(&step.kind)
        .replace('_', " ");
    let target = step.name.as_deref().or(step.handle.as_deref());
    html! {
        li {
            p.meta { @if !first { b.because { "because " } } (stored(who)) " " (did) " "
                @if let Some(target) = target { a.handle href=(visit.link(&format!("go/{}", segment(target)))) { (stored(target)) } " " }
                (age(visit, step.realized_at)) " ago" }
            @if !step.text.is_empty() { p.cited dir="auto" { (stored(&step.text)) } }
            @if let Some(why) = step.reasoning.as_deref().filter(|why| !step.text.contains(why)) {
                p dir="auto" { "“" (stored(why)) "”" }
            }
        }
    }
}
