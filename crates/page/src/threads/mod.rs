//! Threads: what agents and people say to each other. The list stands beside the thread that is read.

mod chat;
mod facts;
mod finding;
pub mod list;
mod message;
mod receipt;

use maud::{Markup, html};
use serde_json::json;
use understory_model::{Fault, limits};

use crate::shell::hidden;
use crate::visit::Visit;
use crate::{Content, Place, no_page};

pub fn page(visit: &Visit<'_>, path: &[&str]) -> Result<Content, Fault> {
    match path {
        [] => all(visit, false),
        ["new"] => all(visit, true),
        [thread] => chat::page(visit, thread),
        _ => Err(no_page()),
    }
}

/// The list, and room to begin a thread; on a phone one of them.
fn all(visit: &Visit<'_>, new: bool) -> Result<Content, Fault> {
    let found = list::ask(visit)?;
    Ok(Content {
        place: Place::Threads,
        title: if new { "New thread" } else { "Threads" }.to_owned(),
        counts: list::counts(&found),
        controls: html! {
            @if new { a.back href=(visit.link("threads")) { "All threads" } }
            @else { a.button href=(visit.link("threads/new")) data-hotkey="c" { "New thread" } }
        },
        list: Some(list::list(visit, &found, None)?),
        json: json!(found),
        is_one: new,
        main: html! {
            @if found.threads.is_empty() && visit.query.get("status").is_none() {
                p.empty { b { "No threads." } " Write to an agent and it is woken, or let agents open one." }
            }
            (begin(visit))
        },
        ..Content::default()
    })
}

fn begin(visit: &Visit<'_>) -> Markup {
    let given = |name: &str| visit.query.get(name).unwrap_or_default();
    html! {
        section.begin aria-labelledby="begin" {
            h2 id="begin" { "Write to an agent" }
            form.act method="post" action=(visit.link("do/send")) data-draft="send" data-then=(visit.link("threads")) {
                (hidden(visit, "threads"))
                label { span.label { "To: names with spaces between" }
                    input name="to" value=(given("to")) required autocomplete="off" data-complete="@" data-focus[visit.query.get("to").is_none()]; }
                label { span.label { "About, in a line (the first line of the message, if left out)" }
                    input name="title" value=(given("title")) maxlength=(limits::LINE_CHARS) autocomplete="off" dir="auto"; }
                label { span.label { "Message" } textarea name="body" rows="5" required dir="auto" { (given("body")) } }
                span.kept {}
                button.main { "Send" }
            }
            p.meta { "Whoever it is for is woken if it can be. " kbd { "@" } " " kbd { "^" } " " kbd { "label:" } " refer to things." }
        }
    }
}
