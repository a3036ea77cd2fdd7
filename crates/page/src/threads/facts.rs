//! The panel beside a thread: who has read it, what was found, what it is about, who takes part, and
//! where it stands.

use maud::{Markup, html};
use serde_json::json;
use understory_engine::kernel::search::glance::{Glance, glance};
use understory_engine::threads::directs;
use understory_engine::threads::get::Reading;
use understory_engine::threads::summarize::Summary;
use understory_model::thread::Status;
use understory_model::{Fault, Role};

use super::chat::{Chat, behind};
use super::finding::standing;
use crate::marks::{mark, who};
use crate::search::{glance_mark, place_of_glance};
use crate::shell::hidden;
use crate::text::{count, handles, stored, told};
use crate::visit::Visit;

/// Readers, findings and things that are shown.
const READERS: usize = 8;
const FINDINGS: usize = 8;
const ABOUT: usize = 6;

pub fn facts(visit: &Visit<'_>, chat: &Chat) -> Result<Markup, Fault> {
    let about = about(visit, chat)?;
    let asked = visit.query.get("facts").is_some();
    let reads = visit.context.caller.role == Role::Auditor;
    Ok(html! {
        div.thread-facts.asked[asked] {
            @if asked { p.bar.narrow { span {} a.button.plain data-soft data-close data-focus
                href=(visit.with(&chat.place, &[("facts", None), ("show", None)])) { "Close" } } }
            @if visit.query.get("show") == Some("summary") { (summary(visit, chat)?) }
            section aria-labelledby="readers" {
                h3 id="readers" { "Who has read" }
                ul { @for one in chat.thread.readers.iter().take(READERS) { (reader(visit, chat, one)) } }
                @if chat.thread.readers.len() > READERS {
                    p.meta { "and " (count((chat.thread.readers.len() - READERS) as i64, "other", "others")) }
                }
            }
            @if !chat.beside.all.is_empty() { (findings(chat)) }
            @if !about.is_empty() {
                section aria-labelledby="about" {
                    h3 id="about" { "About" }
                    ul { @for one in &about {
                        li.fact { (glance_mark(one)) " " a href=(visit.link(&place_of_glance(one))) data-ref=(one.name) { span.clamp { (stored(&one.title)) } } }
                    } }
                }
            }
            @if !reads { (people(visit, chat)) (status(visit, chat)) }
        }
    })
}

fn summary(visit: &Visit<'_>, chat: &Chat) -> Result<Markup, Fault> {
    let told: Summary = visit.ask(
        "summarize_thread",
        json!({"thread_id": chat.thread.thread_id}),
    )?;
    Ok(html! {
        section aria-labelledby="summary" {
            h3 id="summary" { "Summary" }
            p { (stored(&told.summary)) }
            @if !told.topics.is_empty() { p.meta { "Words that stand out: " (stored(&told.topics.join(", "))) } }
        }
    })
}

fn reader(visit: &Visit<'_>, chat: &Chat, one: &Reading) -> Markup {
    let person = one.agent_id == visit.person();
    let left = chat.thread.last_seq - one.last_read_seq;
    let is_behind = behind(visit, &chat.thread)
        .iter()
        .any(|other| other.agent_id == one.agent_id);
    html! {
        li.fact.reader {
            (who(&one.agent_id, person))
            span.what {
                b { (stored(&one.agent_id)) }
                span.meta {
                    @match (person, chat.thread.unread.unwrap_or(0), left) {
                        (true, 0, _) => { "all" }
                        (true, new, _) => { (new) " new for you" }
                        (_, _, left) if left <= 0 => { "all" }
                        (_, _, 1) => { "all but the last" }
                        _ if one.last_read_seq == 0 => { "nothing yet" }
                        _ => { "up to #" (one.last_read_seq) }
                    }
                    @if one.waits { ", waits for messages" } @else if one.alive == Some(true) && !person { ", is here" }
                }
            }
            @if is_behind && visit.context.caller.role != Role::Auditor {
                form.act id={ "wake-" (one.agent_id) } method="post" action=(visit.link("do/wake"))
                    data-draft={ "wake-" (chat.thread.thread_id) "-" (one.agent_id) } {
                    (hidden(visit, &chat.place))
                    input type="hidden" name="thread" value=(chat.thread.thread_id);
                    input type="hidden" name="agent" value=(one.agent_id);
                    button aria-label={ "Wake " (told(&one.agent_id)) } { "Wake" }
                }
            }
        }
    }
}

fn findings(chat: &Chat) -> Markup {
    html! {
        section aria-labelledby="findings" {
            h3 id="findings" { "Findings" }
            ul {
                @for one in chat.beside.all.iter().take(FINDINGS) {
                    @let (sign, words) = standing(one);
                    li.fact {
                        (mark(sign))
                        span.what {
                            a href={ "#" (one.seq) } { span.clamp { (stored(&one.body)) } }
                            span.meta { (told(&words)) }
                        }
                    }
                }
            }
        }
    }
}

/// The things that the shown messages name, the last named first.
fn about(visit: &Visit<'_>, chat: &Chat) -> Result<Vec<Glance>, Fault> {
    let bodies = chat.read.messages.iter().rev();
    let bodies = bodies.filter_map(|message| message.body.as_deref());
    let mut named: Vec<&str> = Vec::new();
    for name in bodies.flat_map(handles) {
        if named.len() < ABOUT && !named.contains(&name) && name != chat.thread.thread_id {
            named.push(name);
        }
    }
    let engine = visit.context.engine;
    engine.view(visit.context.caller, |view| {
        let found = named.iter().map(|name| glance(view, name));
        let found = found.collect::<Result<Vec<_>, _>>()?;
        Ok(found.into_iter().flatten().collect())
    })
}

fn people(visit: &Visit<'_>, chat: &Chat) -> Markup {
    html! {
        section {
            details id="people" {
                summary { "Who takes part" }
                p { (super::list::people(&chat.thread.participants)) }
                form.act method="post" action=(visit.link("do/add_people")) data-draft={ "people-" (chat.thread.thread_id) } {
                    (hidden(visit, &chat.place))
                    input type="hidden" name="thread" value=(chat.thread.thread_id);
                    label { span.label { "Add, names with spaces between" } input name="to" required autocomplete="off" data-complete="@"; }
                    button { "Add" }
                }
            }
        }
    }
}

/// Where it stands, and what it can become.
fn status(visit: &Visit<'_>, chat: &Chat) -> Markup {
    let thread = &chat.thread;
    let role = visit.context.caller.role;
    let disputed = thread.open_findings > 0;
    let may = |to: Status| !thread.status.overrides(to, disputed) || directs(role);
    let (can, cannot): (Vec<Status>, Vec<Status>) =
        thread.status.leads_to().iter().partition(|to| may(**to));
    html! {
        section {
            details id="status" {
                summary { "Change its status" }
                form.act method="post" action=(visit.link("do/status")) data-draft={ "status-" (thread.thread_id) } {
                    (hidden(visit, &chat.place))
                    input type="hidden" name="thread" value=(thread.thread_id);
                    input type="hidden" name="from" value=(thread.status.as_str());
                    label { span.label { "Reason" } input name="reason" required[disputed] autocomplete="off" dir="auto"; }
                    @for to in &can { button name="status" value=(to.as_str()) { (verb(*to)) } }
                }
                @if disputed && directs(role) {
                    p.meta { "Only you can close it while a finding is open; say why." }
                }
                @if !cannot.is_empty() {
                    p.meta {
                        b { @if disputed { "Only an operator may close this while a finding is open." }
                            @else { "Only an operator may do more here." } }
                        " You are here as " (role.as_str()) "."
                    }
                }
            }
        }
    }
}

fn verb(to: Status) -> &'static str {
    match to {
        Status::Active => "Reopen",
        Status::Blocked => "Block",
        Status::Resolved => "Resolve",
        Status::Closed => "Close",
    }
}
