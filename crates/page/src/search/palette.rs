//! The palette, as the script shows it over any page: what goes there, what has the words, what
//! means the same, and what can be done. It is made here, so that it looks and is escaped as everything.

use std::time::Instant;

use maud::{Markup, html};
use serde_json::{Value, json};
use understory_engine::kernel::search::glance::Glance;
use understory_engine::kernel::search::offer::agents_from;
use understory_model::Fault;

use super::find::{Hits, find, words};
use super::{question, rows};
use crate::Place;
use crate::marks::{Mark, mark};
use crate::text::{plain, segment, stored};
use crate::visit::Visit;

/// Hits, and of each group.
const HITS: i64 = 12;
const EACH: usize = 6;
/// Agents that one is offered to write to.
const AGENTS: usize = 4;

const KEYS: [(&str, &str); 7] = [
    ("↑ ↓", "choose"),
    ("↵", "open"),
    ("Tab", "peek"),
    ("Alt ↵", "why"),
    ("@", "people"),
    ("^", "words"),
    ("Esc", "close"),
];

/// Something that can be done from anywhere.
enum Does {
    Goes(Place),
    Task,
    Ask,
    Write(String),
    Scheme(&'static str),
}

pub fn palette(visit: &Visit<'_>) -> Result<(Markup, Value), Fault> {
    let begun = Instant::now();
    let query = question(visit);
    let found = find(visit, query, HITS)?;
    let doing = doing(visit, query)?;
    let told = match query {
        "" => String::new(),
        _ => format!("{} in {} ms", found.count(), begun.elapsed().as_millis()),
    };
    let list = dialog(visit, query, &found, &doing, &told);
    let json = json!({"goes_there": found.goes_there, "results": found.answer.hits, "note": found.answer.note});
    Ok((list, json))
}

/// The whole palette; while it is open, its script takes only the list of each answer.
fn dialog(visit: &Visit<'_>, query: &str, found: &Hits, doing: &[Does], told: &str) -> Markup {
    let options = options(visit, query, found, doing);
    html! {
        dialog id="palette" data-own="palette" aria-label="Search, go anywhere" {
            label {
                (mark(Mark::Search))
                input type="text" role="combobox" aria-label="Search, or go anywhere" placeholder="Search, or go anywhere" value=(query)
                    aria-controls="found" aria-expanded="true" aria-autocomplete="list" autocomplete="off" spellcheck="false" maxlength="1000";
                span.meta { (told) }
            }
            (options)
            footer {
                @for (key, does) in KEYS { span { kbd { (key) } " " (does) } }
            }
        }
    }
}

fn options(visit: &Visit<'_>, query: &str, found: &Hits, doing: &[Does]) -> Markup {
    let words = words(query);
    let (by_words, by_meaning) = found.groups(&words);
    let groups = [("These words", by_words), ("This meaning", by_meaning)];
    let mut id = 0;
    let mut next = || {
        id += 1;
        id
    };
    html! {
        div role="listbox" id="found" aria-label="Found" {
            @if !found.goes_there.is_empty() {
                div role="group" aria-label="Goes there" { h3 { "Goes there" }
                    @for one in &found.goes_there { (rows::option(visit, &words, next(), one, None)) } }
            }
            @for (title, hits) in groups {
                @if !hits.is_empty() {
                    div role="group" aria-label=(title) { h3 { (title) }
                        @for (one, hit) in hits.into_iter().take(EACH) { (rows::option(visit, &words, next(), one, Some(hit))) } }
                }
            }
            @if !query.is_empty() && found.count() == 0 {
                p.meta role="presentation" { b { "Nothing found for “" (stored(query)) "”." } " Tried words and meaning." }
            }
            @if let Some(note) = &found.answer.note { p.meta role="presentation" { (stored(note)) } }
            @if !doing.is_empty() {
                div role="group" aria-label="Do" { h3 { "Do" } @for one in doing { (does(visit, query, next(), one)) } }
            }
        }
    }
}

/// What is offered for what was typed: everything for nothing.
fn doing(visit: &Visit<'_>, query: &str) -> Result<Vec<Does>, Fault> {
    let typed = query.to_lowercase();
    let fits = |words: &str| {
        let begins = |part: &str| words.split(' ').any(|word| word.starts_with(part));
        typed.split_whitespace().all(begins)
    };
    let mut all = Vec::new();
    for place in Place::RAIL.into_iter().chain([Place::Proof]) {
        if fits(&format!("go to {}", place.title().to_lowercase())) {
            all.push(Does::Goes(place));
        }
    }
    let named = typed
        .strip_prefix("write to ")
        .or(typed.strip_prefix("write "));
    let named = named.unwrap_or(&typed).trim_start_matches('@');
    let agents = match query.is_empty() || fits("write to") {
        true => agents(visit, "")?,
        false if named.contains(' ') => Vec::new(),
        false => agents(visit, named)?,
    };
    let agents = agents.into_iter().take(AGENTS);
    all.extend(agents.map(|agent| Does::Write(agent.name)));
    for (scheme, words) in [
        ("dark", "dark scheme theme colours"),
        ("light", "light scheme theme colours"),
        ("", "as the system scheme theme colours"),
    ] {
        if fits(words) {
            all.push(Does::Scheme(scheme));
        }
    }
    if !query.is_empty() {
        all.extend([Does::Task, Does::Ask]);
    }
    Ok(all)
}

fn agents(visit: &Visit<'_>, begun: &str) -> Result<Vec<Glance>, Fault> {
    let engine = visit.context.engine;
    engine.view(visit.context.caller, |view| agents_from(view, begun))
}

fn does(visit: &Visit<'_>, query: &str, id: usize, one: &Does) -> Markup {
    let typed = || html! { "“" (stored(query)) "”" };
    let (sign, to, words) = match one {
        Does::Goes(place) => (
            place.mark(),
            visit.link(place.address()),
            html! { "Go to " (place.title()) },
        ),
        Does::Task => (
            Mark::Work,
            visit.link("work"),
            html! { "New task " (typed()) },
        ),
        Does::Ask => {
            let to = format!("threads/new?body={}", segment(query));
            (
                Mark::Thread,
                visit.link(&to),
                html! { "Ask somebody about " (typed()) },
            )
        }
        Does::Write(agent) => {
            let to = format!("threads/new?to={}", segment(agent));
            (
                Mark::Thread,
                visit.link(&to),
                html! { "Write to " (stored(agent)) },
            )
        }
        Does::Scheme(scheme) => {
            let words = match *scheme {
                "dark" => "Dark",
                "light" => "Light",
                _ => "As the system: dark or light",
            };
            (Mark::Now, visit.link("now"), html! { (words) })
        }
    };
    let scheme = match one {
        Does::Scheme(scheme) => Some(*scheme),
        _ => None,
    };
    let task = matches!(one, Does::Task).then(|| plain(query));
    html! {
        a role="option" id={ "found-" (id) } tabindex="-1" aria-selected="false" href=(to) data-scheme-choice=[scheme] data-task=[task] {
            (mark(sign)) span.what { span.cut { (words) } }
        }
    }
}
