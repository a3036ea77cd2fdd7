//! Follow: what an agent pays attention to, live. The page goes where the agent goes, until the person stays
//! at a step, which the address then says.

use maud::{Markup, html};
use serde_json::json;
use understory_engine::kernel::log::steps::Step;
use understory_model::{Fault, Seq};

use super::steps::{clock, list};
use super::{Person, about, attention, document};
use crate::text::{age, count, plain, stored};
use crate::visit::Visit;
use crate::{Content, Place};

/// Steps of the list.
const STEPS: usize = 60;

pub fn page(visit: &Visit<'_>, name: &str) -> Result<Content, Fault> {
    let person = Person::find(visit, name)?;
    let (stays, peek) = (visit.query.get("at"), visit.query.get("peek"));
    let stays: Option<i64> = stays.and_then(|at| at.parse().ok());
    let steps = match stays {
        Some(at) => staying(visit, name, at)?,
        None => attention(visit, name, (Seq::FIRST, Seq::MAX), STEPS)?,
    };
    let newest = steps.first().map_or(0, |step| step.entry.seq.0);
    let at = stays.unwrap_or(newest);
    let found = document::attention(visit, &steps, at)?;
    let about = about::about(visit, &person)?;
    let shown: Vec<&Step> = steps.iter().collect();
    let with = |at: Option<i64>, peek: Option<&str>| {
        let at = at.map(|at| at.to_string());
        visit.with(&person.place, &[("at", at.as_deref()), ("peek", peek)])
    };
    let side = match peek {
        Some(peek) => {
            let close = with(stays, None);
            let writes = peek == "write";
            Some(about::panel(visit, &person, &about, &close, writes)?)
        }
        None => None,
    };
    let name = plain(name);
    Ok(Content {
        place: Place::Timeline,
        title: name.clone(),
        counts: person.doing(visit)?,
        controls: html! {
            (person.views(visit, false))
            a.button data-soft href=(with(stays, Some("about"))) { "About " (name) }
        },
        above: Some(
            html! { div id="band" { (band(visit, &person, &steps, stays, &with(None, peek))) } },
        ),
        list: Some(html! {
            header.steps-head {
                b { "Newest first" }
                @if person.is_here() { span.meta { "live" span.is-live {} } }
            }
            @if steps.is_empty() { p.empty { (name) " has done nothing here yet." } }
            (list(visit, &shown, Some(at), |seq| format!("{}?at={seq}", person.place)))
            @if steps.len() >= STEPS {
                p.more { a href=(visit.link(&format!("{}/retrace", person.place))) { "Retrace what was before" } }
            }
        }),
        main: html! {
            p.to-list { a data-soft href=(with(None, None)) { "All steps" } }
            @match &found {
                Some(found) => div data-step=(found.step.entry.seq) id="attention" { (document::show(visit, &name, found)) },
                None => p.empty { b { "None of these steps is about a document." } " What " (name) " did else stands in the list." },
            }
        },
        flush: true,
        is_one: stays.is_some(),
        foot: Some(html! {
            p.meta { "It shows what " (name) " told the store, not its screen." }
            a.button data-soft href=(with(stays, Some("write"))) data-hotkey="m" { "Write to " (name) }
            @if stays.is_none() && newest > 0 {
                a.button data-soft data-pause data-hotkey="p" href=(with(Some(newest), peek)) { "Pause the view" }
            }
        }),
        side,
        json: json!({
            "agent": person.agent, "steps": steps, "at": at, "attention": found, "about": about,
        }),
        ..Content::default()
    })
}

/// The newest steps, and those around the one at which a person stays.
fn staying(visit: &Visit<'_>, name: &str, at: i64) -> Result<Vec<Step>, Fault> {
    let mut steps = attention(visit, name, (Seq::FIRST, Seq::MAX), STEPS)?;
    if steps.last().is_some_and(|last| last.entry.seq.0 > at) {
        steps.truncate(STEPS / 2);
        let before = steps.last().map_or(Seq(at + 1), |last| last.entry.seq);
        let older = attention(
            visit,
            name,
            (Seq::FIRST, before.min(Seq(at + 1))),
            STEPS / 2,
        )?;
        steps.extend(older);
    }
    Ok(steps)
}

/// What the page does, and how to stop it.
fn band(
    visit: &Visit<'_>,
    person: &Person,
    steps: &[Step],
    stays: Option<i64>,
    go: &str,
) -> Markup {
    let name = &person.name;
    let since = |at: i64| steps.iter().filter(|step| step.entry.seq.0 > at).count() as i64;
    html! {
        @match (stays, person.is_here()) {
            (Some(at), here) => {
                @let step = steps.iter().find(|step| step.entry.seq.0 <= at);
                p.band-words {
                    b { "You stay" @if let Some(step) = step { " at " (clock(&step.entry.at)) } "." } " "
                    @match since(at) {
                        0 => { (stored(name)) " has done nothing since." }
                        steps => { (stored(name)) " has gone on: " (count(steps, "step", "steps")) "." }
                    }
                }
                a.button data-soft data-hotkey="f" href=(go) { @if here { "Go with " (stored(name)) } @else { "To the last step" } }
            }
            (None, true) => {
                span.is-live {}
                p.band-words data-follows {
                    b { "The page goes where " (stored(name)) " goes." }
                    " Scroll, or press Esc, to stay where you are. It does not disturb " (stored(name)) "."
                }
            }
            (None, false) => {
                p.band-words {
                    b { (stored(name)) "'s session has ended." } " "
                    a href=(visit.link(&format!("{}/retrace", person.place))) { "Retrace its last hour" }
                }
            }
        }
        @if let Some(agent) = &person.agent { span.meta { "last sign " (age(visit, agent.seen)) " ago" } }
    }
}
