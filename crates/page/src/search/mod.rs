//! Search: by words and by meaning, best first. What is called exactly so is shown at once.

use maud::{Markup, html};
use serde_json::json;
use understory_engine::kernel::search::{Answer, Hit};
use understory_model::Fault;

use crate::text::{count, segment, stored};
use crate::visit::Visit;
use crate::{Content, Place, place_of};

/// What is shown of what was found.
const HITS: i64 = 50;

pub fn page(visit: &Visit<'_>) -> Result<Content, Fault> {
    let query = visit.query.get("q").unwrap_or_default();
    let found: Answer = match query.trim() {
        "" => Answer::default(),
        words => visit.ask("search", json!({"query": words, "limit": HITS}))?,
    };
    Ok(Content {
        place: Place::Search,
        title: "Search".to_owned(),
        counts: match query {
            "" => String::new(),
            _ => count(found.hits.len() as i64, "result", "results"),
        },
        main: html! {
            form.filter method="get" role="search" {
                label { span.label { "Words, a question or a name" }
                    input name="q" type="search" value=(query) autofocus[query.is_empty()]; }
                button.main { "Search" }
            }
            @if !query.is_empty() && found.hits.is_empty() {
                p.empty { b { "Nothing found for " q { (stored(query)) } "." } " Tried words and meaning." }
            }
            @if let Some(note) = &found.note { p.meta { (stored(note)) } }
            ul.entries {
                @for hit in &found.hits {
                    li.entry {
                        div.what {
                            a.title href=(visit.link(&place(hit))) {
                                (stored(hit.title.as_deref().unwrap_or(&hit.handle)))
                            }
                            p.meta { span.handle { (hit.handle) } " · " (hit.surface) " · " (hit.kind) }
                            p dir="auto" { (snippet(&hit.snippet)) }
                        }
                        a.meta href=(visit.link(&format!("why/{}", segment(&hit.handle)))) { "Why" }
                    }
                }
            }
        },
        json: json!(found),
        ..Content::default()
    })
}

/// The words that were found stand between pairs of stars.
fn snippet(text: &str) -> Markup {
    html! {
        @for (at, part) in text.split("**").enumerate() {
            @if at % 2 == 1 { mark { (stored(part)) } }
            @else if !part.is_empty() { (stored_part(part)) }
        }
    }
}

fn stored_part(part: &str) -> Markup {
    html! { @if part.trim().is_empty() { " " } @else { (stored(part)) } }
}

fn place(hit: &Hit) -> String {
    let label = |hit: &Hit| hit.surface == "garden" && hit.entity.is_some();
    if label(hit) {
        let name = hit.handle.split(':').next().unwrap_or_default();
        return format!("artifacts/{}", segment(name));
    }
    place_of(&hit.handle)
}
