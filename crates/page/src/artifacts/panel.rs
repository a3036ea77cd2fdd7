//! The panel of a chosen line: why it says this, what it said before, who refers to it.

use maud::{Markup, html};
use serde_json::{Value, json};
use understory_engine::garden::artifact::about::{self, Before, Referrer};
use understory_engine::garden::timeline::why::Why;
use understory_engine::kernel::artifact;
use understory_model::Fault;

use super::document::Document;
use super::name::lines_told;
use crate::dates::when;
use crate::marks::{Mark, mark};
use crate::text::{segment, stored};
use crate::visit::Visit;
use crate::why;

/// Earlier words, and what refers to a line, in the panel.
const BEFORE: usize = 6;
const REFERRERS: usize = 12;
/// Lines whose words stand in the panel.
const SHOWN: usize = 6;

pub struct Panel {
    pub main: Markup,
    pub json: Value,
}

pub fn of(visit: &Visit<'_>, document: &Document) -> Result<Option<Panel>, Fault> {
    let (Some(lines), Some(commit)) = (&document.name.lines, &document.commit) else {
        return Ok(None);
    };
    let (first, last) = (*lines.start(), *lines.end());
    if last > document.lines.total {
        let message = format!("{} has {} lines", document.label, document.lines.total);
        return Err(Fault::not_found(message));
    }
    let mut id = format!("{}{}", document.label, lines_told(lines));
    if !document.is_head {
        id.push_str(&format!("@{commit}"));
    }
    let why: Why = visit.ask("why", json!({"id": id}))?;
    let at = document.history.commits.get(commit).map(|wrote| wrote.seq);
    let (engine, caller) = (visit.context.engine, visit.context.caller);
    let (before, referrers) = engine.view(caller, |view| {
        let (Some(at), history) = (at, &document.history) else {
            return Ok((Vec::new(), Vec::new()));
        };
        let found = artifact::named(view, visit.project(), &document.label)?;
        let before = match first == last {
            true => about::before(view, &found, history, (at, first - 1), BEFORE)?,
            false => Vec::new(),
        };
        let lines = first - 1..last;
        let referrers = about::referrers(view, &found, history, (at, lines), REFERRERS)?;
        Ok((before, referrers))
    })?;
    Ok(Some(Panel {
        main: panel(visit, document, (&why, &id), (&before, &referrers)),
        json: json!({"why": why, "before": before, "referred_to_by": referrers}),
    }))
}

fn panel(
    visit: &Visit<'_>,
    document: &Document,
    (why, id): (&Why, &str),
    (before, referrers): (&[Before], &[Referrer]),
) -> Markup {
    let whole = document.whole().place();
    let lines = document.name.lines.clone().unwrap_or(1..=1);
    let (first, last) = (*lines.start(), *lines.end());
    let said = why.line.iter().chain(&why.lines);
    let name = format!("{}{}", document.label, lines_told(&lines));
    html! {
        div.bar {
            p { span.handle { (stored(&name)) } }
            @if let Some(line) = &why.line { span.handle { (line.fragment) } }
            a.button.plain data-close data-soft href=(visit.link(&whole)) aria-label="Close" { "×" }
        }
        div.chosen-text tabindex="-1" data-focus dir="auto" {
            @for line in said.clone().take(SHOWN) { p { (stored_line(&line.content)) } }
            @if said.clone().count() > SHOWN { p.meta { "and " (said.count() - SHOWN) " more lines" } }
        }
        section aria-labelledby="panel-why" {
            h3.because id="panel-why" { "Why" }
            (why::short(visit, why))
            a.button data-hotkey="w" href=(visit.link(&format!("why/{}", segment(id)))) { "Open the whole path " kbd { "W" } }
        }
        @if !before.is_empty() {
            section { h3 { "Before" }
                ul.before { @for one in before { li { p.meta { (when(visit, one.at)) ", " (stored(&one.actor)) } p dir="auto" { (stored_line(&one.content)) } } } }
            }
        }
        section { h3 { "Who refers to it" }
            @if referrers.is_empty() { p.meta { "Nobody yet. A text refers to it with " code { (stored(&name)) } "." } }
            ul.rows { @for one in referrers { (referrer(visit, one)) } }
        }
        @if document.is_head {
            section { div.acts {
                a.button data-soft href=(visit.link(&format!("{whole}?propose={first}-{last}"))) { "Propose other words" }
                a.button.plain data-soft href=(visit.link(&format!("{whole}?propose={}-{last}", last + 1))) { "Add lines after it" }
            }
            p.meta { "Hold Shift to choose several lines." } }
        }
    }
}

fn stored_line(text: &str) -> Markup {
    html! { @if text.trim().is_empty() { span.none { "(an empty line)" } } @else { (stored(text)) } }
}

fn referrer(visit: &Visit<'_>, one: &Referrer) -> Markup {
    let entry = &one.entry;
    let place = why::place_of(entry);
    let (sign, words) = (why::sign_of(entry), why::thing_of(entry));
    html! {
        li.row {
            (mark(sign))
            a.what href=(visit.link(&place)) {
                @if let Some(name) = &words { span.handle { (stored(name)) } " " }
                @if sign == Mark::Thread || words.is_none() { (stored(&entry.actor)) ": " }
                (stored(why::said_of(entry)))
            }
            @if one.times > 1 { span.meta { "× " (one.times) } }
        }
    }
}
