//! Threads: what agents and people say to each other, the last changed first.

mod thread;

use maud::{Markup, html};
use serde_json::{Value, json};
use understory_engine::threads::list::{Line, Threads};
use understory_model::Fault;
use understory_model::thread::Status;

use crate::marks::{Mark, mark};
use crate::shell::hidden;
use crate::text::{age, count, segment, stored};
use crate::visit::Visit;
use crate::{Content, Place, no_page};

/// Threads of a page.
const PAGE: i64 = 100;

pub fn page(visit: &Visit<'_>, path: &[&str]) -> Result<Content, Fault> {
    match path {
        [] => all(visit),
        [thread] => thread::page(visit, thread),
        _ => Err(no_page()),
    }
}

fn all(visit: &Visit<'_>) -> Result<Content, Fault> {
    let mut asked = json!({"all": visit.sees_all(), "limit": PAGE});
    if let Some(status) = visit.query.get("status") {
        asked["status"] = Value::from(status);
    }
    if let Some(cursor) = visit.query.get("cursor") {
        asked["cursor"] = Value::from(cursor);
    }
    let found: Threads = visit.ask("list_threads", asked)?;
    let chosen = visit.query.get("status");
    Ok(Content {
        place: Place::Threads,
        title: "Threads".to_owned(),
        counts: count(found.unread.messages, "unread message", "unread messages"),
        json: json!(found),
        main: html! {
            nav.views aria-label="Status" {
                a href=(visit.link("threads")) aria-current=[chosen.is_none().then_some("true")] { "All" }
                @for status in Status::ALL.iter().copied() {
                    @let name = status.as_str();
                    a href=(visit.link(&format!("threads?status={name}"))) aria-current=[(chosen == Some(name)).then_some("true")] { (name) }
                }
            }
            @if found.threads.is_empty() {
                p.empty { b { "No threads." } " Write to an agent and it is woken, or let agents open one." }
            } @else {
                ul.entries { @for line in &found.threads { (entry(visit, line)) } }
            }
            @if let Some(cursor) = &found.next_cursor {
                p { a.more href=(visit.link(&format!("threads?cursor={}", segment(cursor)))) { "Show 100 more" } }
            }
            (new(visit))
        },
        ..Content::default()
    })
}

fn entry(visit: &Visit<'_>, line: &Line) -> Markup {
    let unread = line.unread.unwrap_or(0);
    let sign = match line.status {
        _ if unread > 0 => Mark::NeedsYou,
        Status::Blocked => Mark::Failed,
        _ => Mark::Thread,
    };
    html! {
        li.entry id={ "thread-" (line.thread_id) } {
            (mark(sign))
            div.what {
                a.title href=(visit.link(&format!("threads/{}", segment(&line.thread_id)))) {
                    (stored(line.title.as_deref().unwrap_or_default()))
                }
                p.meta {
                    span.handle { (line.thread_id) } " · " (line.status.as_str()) " · "
                    (count(line.last_seq, "message", "messages"))
                    @if unread > 0 { " · " b { (count(unread, "unread", "unread")) } }
                    @if line.open_findings > 0 { " · " (count(line.open_findings, "open finding", "open findings")) }
                    " · " (people(line.participants.as_deref().unwrap_or_default()))
                }
            }
            (age(visit, line.updated_at))
        }
    }
}

/// Three of them, and how many more.
pub fn people(names: &[String]) -> Markup {
    html! {
        @for (at, name) in names.iter().take(3).enumerate() {
            @if at > 0 { ", " }
            (stored(name))
        }
        @if names.len() > 3 { " and " (count(names.len() as i64 - 3, "other", "others")) }
    }
}

fn new(visit: &Visit<'_>) -> Markup {
    html! {
        details.peek id="new-thread" {
            summary { "Write to an agent" }
            form.act method="post" action=(visit.link("do/send")) data-draft="send" {
                (hidden(visit, "threads"))
                label { span.label { "To, names with spaces between" } input name="to" required autocomplete="off"; }
                label { span.label { "Message" } textarea name="body" rows="3" required dir="auto" {} }
                button.main { "Send" }
            }
        }
    }
}
