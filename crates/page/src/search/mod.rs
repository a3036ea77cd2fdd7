//! Search: what is called so, what has the words, what means the same. The page, the palette over any page,
//! what completes a name that is being typed, and the preview of a name are all answered here.

mod complete;
mod find;
mod palette;
mod rows;

use maud::{Markup, html};
use serde_json::json;
use understory_model::{Fault, limits};

use crate::text::{count, segment, stored};
use crate::visit::Visit;
use crate::{Content, Place};

pub use crate::go::place_of_glance;
pub use complete::{complete, preview};
pub use palette::palette;
pub use rows::glance_mark;

use find::{Hits, find};

/// What is shown of what was found, and how much more at a time.
const HITS: i64 = 50;
/// Signs of a question.
const QUESTION: usize = 1_000;

pub fn page(visit: &Visit<'_>) -> Result<Content, Fault> {
    let query = question(visit);
    let most = visit.query.get("show").and_then(|n| n.parse().ok());
    let most = most.unwrap_or(HITS).clamp(1, limits::PAGE);
    let found = find(visit, query, most)?;
    Ok(Content {
        place: Place::Search,
        title: "Search".to_owned(),
        counts: match query {
            "" => String::new(),
            _ => count(found.count(), "result", "results"),
        },
        json: json!({"goes_there": found.goes_there, "results": found.answer.hits, "truncated": found.answer.truncated,
            "note": found.answer.note}),
        main: html! {
            form.filter data-soft method="get" action=(visit.link("search")) role="search" {
                label { span.label { "Words, a question or a name" }
                    input name="q" type="search" value=(query) maxlength=(QUESTION) autofocus[query.is_empty()] dir="auto"; }
                @if let Some(project) = visit.project() { input type="hidden" name="project" value=(project); }
                button.main { "Search" }
            }
            @if let Some(note) = &found.answer.note { p.meta { (stored(note)) } }
            @if query.is_empty() { p.empty { "Words find what has them, a question finds what means the same, a name goes there." } }
            @else if found.count() == 0 { (nothing(visit, query)) }
            @else { (groups(visit, query, &found)) }
            @if found.answer.truncated && most < limits::PAGE {
                p { a.more data-soft href=(visit.with("search", &[("show", Some(&(most + HITS).to_string()))])) { "Show 50 more" } }
            }
        },
        ..Content::default()
    })
}

/// What is asked, not longer than anybody asks.
fn question<'q>(visit: &'q Visit<'_>) -> &'q str {
    let query = visit.query.get("q").unwrap_or_default().trim();
    &query[..query.floor_char_boundary(QUESTION)]
}

fn groups(visit: &Visit<'_>, query: &str, found: &Hits) -> Markup {
    let words = find::words(query);
    let (by_words, by_meaning) = found.groups(&words);
    html! {
        @if !found.goes_there.is_empty() {
            section aria-labelledby="goes" { h2 id="goes" { "Goes there" }
                ul.found { @for one in &found.goes_there { (rows::entry(visit, &words, one, None)) } } }
        }
        @for (id, title, hits) in [("words", "These words", by_words), ("meaning", "This meaning", by_meaning)] {
            @if !hits.is_empty() {
                section aria-labelledby=(id) { h2 id=(id) { (title) }
                    ul.found { @for (one, hit) in hits { (rows::entry(visit, &words, one, Some(hit))) } } }
            }
        }
    }
}

fn nothing(visit: &Visit<'_>, query: &str) -> Markup {
    html! {
        p.empty { b { "Nothing found for “" (stored(query)) "”." } " Tried words and meaning." }
        p.acts {
            a.button href=(visit.link(&format!("threads/new?body={}", segment(query)))) { "Ask somebody" }
        }
        form.act method="post" action=(visit.link("do/plan")) data-draft="search-plan" {
            (crate::shell::hidden(visit, "work"))
            input type="hidden" name="summary" value=(query);
            button { "New task “" (stored(query)) "”" }
        }
    }
}
