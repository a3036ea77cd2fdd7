//! The list of threads: what is open, what was resolved, what was closed; the last changed first.

use maud::{Markup, html};
use serde_json::{Value, json};
use understory_engine::threads::list::{Line, Threads};
use understory_model::Fault;
use understory_model::thread::Status;

use crate::marks::{Mark, mark};
use crate::needs::Need;
use crate::text::{age, count, number, segment, stored};
use crate::visit::Visit;

/// Threads of a page.
const PAGE: i64 = 100;

pub fn ask(visit: &Visit<'_>) -> Result<Threads, Fault> {
    let mut asked = json!({"all": visit.sees_all(), "limit": PAGE});
    if let Some(status) = visit.query.get("status") {
        asked["status"] = Value::from(status);
    }
    if let Some(cursor) = visit.query.get("cursor") {
        asked["cursor"] = Value::from(cursor);
    }
    visit.ask("list_threads", asked)
}

pub fn counts(found: &Threads) -> String {
    match found.unread.messages {
        0 => "nothing unread".to_owned(),
        unread => count(unread, "unread message", "unread messages"),
    }
}

/// The groups, as people speak of them.
const GROUPS: [(&str, &[Status]); 3] = [
    ("Open", &[Status::Active, Status::Blocked]),
    ("Resolved", &[Status::Resolved]),
    ("Closed", &[Status::Closed]),
];

pub fn list(visit: &Visit<'_>, found: &Threads, chosen: Option<&str>) -> Result<Markup, Fault> {
    let status = visit.query.get("status");
    let whole = found.next_cursor.is_none() && visit.query.get("cursor").is_none();
    let failed = failed(visit)?;
    Ok(html! {
        div.choose {
            nav aria-label="Status" {
                (view(visit, "All", None, status))
                @for one in Status::ALL.iter().copied() {
                    (view(visit, one.as_str(), Some(one.as_str()), status))
                }
            }
        }
        @if found.threads.is_empty() { p.empty { "None here." } }
        @for (name, which) in GROUPS {
            @let lines: Vec<&Line> = found.threads.iter().filter(|line| which.contains(&line.status)).collect();
            @if !lines.is_empty() {
                h2 { (name) @if whole { span.count { (number(lines.len() as i64)) } } }
                ul.threads { @for line in lines { (row(visit, line, chosen, &failed)) } }
            }
        }
        @if let Some(cursor) = &found.next_cursor {
            p { a.more data-soft href=(visit.with("threads", &[("cursor", Some(cursor)), ("before", None), ("facts", None)])) { "Show 100 more" } }
        }
    })
}

fn view(visit: &Visit<'_>, name: &str, status: Option<&str>, now: Option<&str>) -> Markup {
    let to = match status {
        Some(status) => visit.link(&format!("threads?status={status}")),
        None => visit.link("threads"),
    };
    html! { a data-soft href=(to) aria-current=[(now == status).then_some("true")] { (name) } }
}

/// Whom it was not possible to wake, by thread.
fn failed(visit: &Visit<'_>) -> Result<Vec<(String, String)>, Fault> {
    let needs = visit.around()?.needs.iter();
    let failed = needs.filter_map(|need| match need {
        Need::Wake(wake) => Some((wake.thread_id.clone(), wake.target_agent_id.clone())),
        _ => None,
    });
    Ok(failed.collect())
}

fn row(
    visit: &Visit<'_>,
    line: &Line,
    chosen: Option<&str>,
    failed: &[(String, String)],
) -> Markup {
    let unread = line.unread.unwrap_or(0);
    let is_chosen = chosen == Some(line.thread_id.as_str());
    html! {
        li.thread.is-chosen[is_chosen] id={ "thread-" (line.thread_id) } data-row {
            a.title data-soft href=(visit.link(&format!("threads/{}", segment(&line.thread_id))))
                aria-current=[is_chosen.then_some("true")] title=(line.thread_id) {
                span.clamp { (stored(line.title.as_deref().unwrap_or_default())) }
            }
            (age(visit, line.updated_at))
            p.meta { (state(line, failed)) }
            @if unread > 0 { span.chip.blue aria-label=(count(unread, "unread message", "unread messages")) { (number(unread)) } }
        }
    }
}

/// What there is to know of a thread before it is opened.
fn state(line: &Line, failed: &[(String, String)]) -> Markup {
    let unwoken = failed.iter().find(|(thread, _)| *thread == line.thread_id);
    html! {
        @if line.open_findings > 0 {
            (mark(Mark::Failed)) " disputed, " (count(line.open_findings, "finding open", "findings open"))
        } @else if let Some((_, agent)) = unwoken {
            span.red { (mark(Mark::Wake)) } " " (stored(agent)) " could not be woken"
        } @else if line.open_items.unwrap_or(0) > 0 {
            (mark(Mark::NeedsYou)) " " (count(line.open_items.unwrap_or(0), "question open", "questions open"))
        } @else if line.status == Status::Blocked {
            (mark(Mark::Waits)) " blocked"
        } @else {
            (people(line.participants.as_deref().unwrap_or_default()))
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
