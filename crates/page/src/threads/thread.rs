//! One thread: what was said, what became of waking whom, and room for an answer.

use maud::{Markup, html};
use serde_json::{Value, json};
use understory_engine::threads::get::Thread;
use understory_engine::threads::read::Messages;
use understory_engine::threads::shape::Message;
use understory_engine::threads::wakes::Waking;
use understory_model::thread::WakeResult;
use understory_model::{Fault, Time};

use super::people;
use crate::marks::{Mark, mark, who};
use crate::shell::hidden;
use crate::text::{age, count, linked, segment, stored};
use crate::visit::Visit;
use crate::{Content, Place};

/// Messages of a page, the last ones.
const PAGE: i64 = 100;

pub fn page(visit: &Visit<'_>, handle: &str) -> Result<Content, Fault> {
    let thread: Thread = visit.ask("get_thread", json!({"thread_id": handle}))?;
    let before = visit.query.get("before").and_then(|n| n.parse().ok());
    let last = before.map_or(thread.last_seq, |before: i64| before - 1);
    let since = (last - PAGE).max(0);
    let asked = json!({"thread_id": handle, "since_seq": since, "limit": (last - since).max(1), "full": true});
    let read: Messages = visit.ask("read_messages", asked)?;
    let place = format!("threads/{}", segment(handle));
    Ok(Content {
        place: Place::Threads,
        title: thread.title.clone(),
        counts: format!(
            "{} · {}",
            thread.status.as_str(),
            count(thread.last_seq, "message", "messages")
        ),
        main: html! {
            p.meta { span.handle { (thread.thread_id) } " · " (people(&thread.participants)) }
            @if since > 0 {
                p { a.more href=(visit.link(&format!("{place}?before={}", since + 1))) { "Show earlier messages" } }
            }
            @if read.messages.is_empty() { p.empty { "Nothing was said yet." } }
            ol.messages {
                @for message in &read.messages { (said(visit, &thread, message)) }
            }
            @for wake in thread.wakes.iter().rev() { (receipt(visit, wake)) }
            (answer(visit, &thread, &place))
            (wake(visit, &thread, &place))
        },
        json: json!({"thread": thread, "messages": read}),
        ..Content::default()
    })
}

fn said(visit: &Visit<'_>, thread: &Thread, message: &Message) -> Markup {
    let sender = message.sender_agent_id.as_deref().unwrap_or_default();
    let number = message.seq.unwrap_or(0);
    let event = message.metadata.get("event_type").and_then(Value::as_str);
    let new = thread.last_read_seq.is_some_and(|read| number > read) && sender != visit.person();
    html! {
        li.message.event[event.is_some()].new[new] id=(number) {
            (who(sender, sender == visit.person()))
            div.what {
                p.head {
                    b { (stored(sender)) } " "
                    @if let Some(at) = message.created_at { (age(visit, at)) }
                    " " a.handle href={ "#" (number) } { "#" (number) }
                    @if let Some(event) = event { " " span.chip { (event.replace('_', " ")) } }
                }
                @if message.undone { p.empty { "Taken back." } }
                @else { div.words { (linked(visit, message.body.as_deref().unwrap_or_default())) } }
            }
        }
    }
}

/// What became of a wake, in the steps that are known.
fn receipt(visit: &Visit<'_>, wake: &Waking) -> Markup {
    html! {
        p.receipt.failed[wake.result == WakeResult::Failed] id=(wake.wake_id) {
            (mark(if wake.result == WakeResult::Read { Mark::Done } else { Mark::Wake }))
            (stored(&wake.asked_by)) " woke " (stored(&wake.target_agent_id)) ": "
            (step("queued", Some(wake.created_at), visit))
            @if let Some(until) = wake.deferred_until { " · deferred until " time datetime=(until) { (until) } }
            @if wake.delivered_at.is_some() { " · " (step("delivered", wake.delivered_at, visit)) }
            @match wake.result {
                WakeResult::Read => { " · " (step("read", Some(wake.updated_at), visit)) }
                WakeResult::Failed => { " · failed" }
                _ => { " · not read yet" }
            }
            @if wake.result == WakeResult::Failed && !wake.tried.is_empty() {
                details { summary { "Ways that were tried" } ul {
                    @for tried in &wake.tried { li { (tried.action.as_str().replace('_', " ")) ": " (stored(&tried.why)) } }
                } }
            }
        }
    }
}

fn step(word: &str, at: Option<Time>, visit: &Visit<'_>) -> Markup {
    html! { (word) @if let Some(at) = at { " " (age(visit, at)) " ago" } }
}

fn answer(visit: &Visit<'_>, thread: &Thread, place: &str) -> Markup {
    html! {
        form.act.write method="post" action=(visit.link("do/post")) data-draft={ "post-" (thread.thread_id) } {
            (hidden(visit, place))
            input type="hidden" name="thread" value=(thread.thread_id);
            input type="hidden" name="upto" value=(thread.last_seq);
            label { span.label { "Message" } textarea id="message" name="body" rows="3" required dir="auto" {} }
            button.main { "Send" }
        }
        @if thread.unread.unwrap_or(0) > 0 {
            form.act method="post" action=(visit.link("do/read")) data-draft={ "read-" (thread.thread_id) } {
                (hidden(visit, place))
                input type="hidden" name="thread" value=(thread.thread_id);
                input type="hidden" name="upto" value=(thread.last_seq);
                button { "Mark as read" }
            }
        }
    }
}

fn wake(visit: &Visit<'_>, thread: &Thread, place: &str) -> Markup {
    let others = thread
        .readers
        .iter()
        .filter(|one| one.agent_id != visit.person());
    html! {
        details.peek id="wake" {
            summary { "Wake somebody" }
            @for one in others {
                form.act method="post" action=(visit.link("do/wake")) data-draft={ "wake-" (thread.thread_id) "-" (one.agent_id) } {
                    (hidden(visit, place))
                    input type="hidden" name="thread" value=(thread.thread_id);
                    input type="hidden" name="agent" value=(one.agent_id);
                    button { "Wake " (stored(&one.agent_id)) }
                    span.meta {
                        " has read up to " (one.last_read_seq)
                        @if one.alive == Some(true) { " · alive" }
                        @if one.waits { " · waits for messages" }
                    }
                }
            }
        }
    }
}
