//! One thread as a chat: what was said, what was found and settled, what became of waking whom, and the
//! field to answer in, which is always in sight.

use maud::{Markup, html};
use serde_json::json;
use understory_engine::threads::findings::{Beside, beside};
use understory_engine::threads::get::{Reading, Thread};
use understory_engine::threads::read::Messages;
use understory_model::{Fault, Role};

use super::{facts, list, message};
use crate::shell::hidden;
use crate::text::{count, plain, segment, stored};
use crate::visit::Visit;
use crate::{Content, Place, Side, Width};

/// Messages of a page.
const PAGE: i64 = 100;
/// Those who can be woken beside the field; the rest is in the panel.
const WAKES: usize = 2;

/// A thread with what is shown of it.
pub struct Chat {
    pub thread: Thread,
    pub read: Messages,
    pub beside: Beside,
    /// `threads/th_004`
    pub place: String,
    /// The messages are those after this number.
    pub since: i64,
    pub last: i64,
}

pub fn page(visit: &Visit<'_>, handle: &str) -> Result<Content, Fault> {
    let chat = ask(visit, handle)?;
    let found = list::ask(visit)?;
    let thread = &chat.thread;
    Ok(Content {
        place: Place::Threads,
        title: thread.title.clone(),
        counts: counts(&chat),
        controls: controls(visit, &chat),
        list: Some(list::list(visit, &found, Some(&thread.thread_id))?),
        main: main(visit, &chat),
        flush: true,
        is_one: true,
        side: Some(Side {
            width: Width::Facts,
            label: "About this thread".to_owned(),
            main: facts::facts(visit, &chat)?,
        }),
        json: json!({"thread": chat.thread, "messages": chat.read, "findings": chat.beside.findings}),
        ..Content::default()
    })
}

fn ask(visit: &Visit<'_>, handle: &str) -> Result<Chat, Fault> {
    let thread: Thread = visit.ask("get_thread", json!({"thread_id": handle}))?;
    let number = |name: &str| visit.query.get(name).and_then(|n| n.parse::<i64>().ok());
    let whole = thread.last_seq;
    // A message that is named stands in the middle of its page.
    let around = number("at")
        .filter(|at| *at <= whole - PAGE)
        .map(|at| at + PAGE / 2);
    let before = number("before").map(|before| before - 1);
    let last = before.or(around).unwrap_or(whole).clamp(0, whole);
    let since = (last - PAGE).max(0);
    let asked = json!({"thread_id": handle, "since_seq": since, "limit": (last - since).max(1), "full": true});
    let mut read: Messages = visit.ask("read_messages", asked)?;
    read.messages
        .retain(|one| one.seq.is_none_or(|n| n <= last));
    let engine = visit.context.engine;
    let beside = engine.view(visit.context.caller, |view| {
        beside(view, handle, (since, last))
    })?;
    Ok(Chat {
        place: format!("threads/{}", segment(&thread.thread_id)),
        thread,
        read,
        beside,
        since,
        last,
    })
}

fn counts(chat: &Chat) -> String {
    let thread = &chat.thread;
    let state = match thread.open_findings {
        0 => thread.status.as_str().to_owned(),
        open => format!("disputed, {}", count(open, "finding open", "findings open")),
    };
    format!(
        "{state} · {} · {}",
        thread.thread_id,
        count(thread.last_seq, "message", "messages")
    )
}

fn controls(visit: &Visit<'_>, chat: &Chat) -> Markup {
    let summary = visit.query.get("show") == Some("summary");
    let shown = (!summary).then_some("summary");
    html! {
        a.back href=(visit.link("threads")) { "All threads" }
        a.button.plain data-soft href=(visit.with(&chat.place, &[("show", shown), ("facts", shown.map(|_| "1"))]))
            aria-current=[summary.then_some("true")] { "Summary" }
        a.button.plain href=(visit.link(&format!("why/{}", segment(&chat.thread.thread_id)))) data-hotkey="w" aria-label="Why" { "Why" }
        a.button.plain.narrow data-soft data-peek href=(visit.with(&chat.place, &[("facts", Some("1"))])) { "About" }
    }
}

fn main(visit: &Visit<'_>, chat: &Chat) -> Markup {
    let thread = &chat.thread;
    html! {
        div.chat id={ "chat-" (thread.thread_id) } {
            div.column.said id={ "said-" (thread.thread_id) } data-follow-end tabindex="0" role="log" aria-label="Messages" {
                @if chat.since > 0 {
                    p { a.more href=(visit.link(&format!("{}?before={}", chat.place, chat.since + 1))) { "Show 100 earlier messages" } }
                }
                @if chat.read.messages.is_empty() { p.empty { "Nothing was said yet." } }
                (message::messages(visit, chat))
                @if chat.last < thread.last_seq {
                    p { a.more href=(visit.link(&chat.place)) { "Go to the last message" } }
                }
            }
            @if visit.context.caller.role == Role::Auditor {
                p.empty { b { "You are here as auditor." } " You read this; others write." }
            } @else { (answer(visit, chat)) }
        }
    }
}

/// The field, and whom one can wake with what one says.
fn answer(visit: &Visit<'_>, chat: &Chat) -> Markup {
    let thread = &chat.thread;
    let behind = behind(visit, thread);
    html! {
        form.act.write method="post" action=(visit.link("do/post")) data-draft={ "post-" (thread.thread_id) } {
            (hidden(visit, &chat.place))
            input type="hidden" name="thread" value=(thread.thread_id);
            input type="hidden" name="upto" value=(thread.last_seq);
            label.skip for="message" { "Message" }
            textarea id="message" name="body" rows="2" required dir="auto" data-hotkey="m"
                placeholder={ "Write to " (to(visit, thread)) } {}
            span.kept {}
            span.meta.keys aria-hidden="true" { kbd { "@" } " " kbd { "^" } " to refer" }
            @for one in behind.iter().take(WAKES) {
                button type="submit" form={ "wake-" (one.agent_id) } { "Wake " (stored(&one.agent_id)) }
            }
            button.main { "Post" }
        }
    }
}

/// Those who have not read all of it.
pub fn behind<'t>(visit: &Visit<'_>, thread: &'t Thread) -> Vec<&'t Reading> {
    let readers = thread
        .readers
        .iter()
        .filter(|one| one.agent_id != visit.person());
    readers
        .filter(|one| one.last_read_seq < thread.last_seq)
        .collect()
}

fn to(visit: &Visit<'_>, thread: &Thread) -> String {
    let others = thread.readers.iter().map(|one| one.agent_id.as_str());
    let others: Vec<&str> = others.filter(|name| *name != visit.person()).collect();
    match others.as_slice() {
        [] => "this thread".to_owned(),
        [one] => plain(one),
        [one, other] => format!("{} and {}", plain(one), plain(other)),
        [one, other, rest @ ..] => {
            let rest = count(rest.len() as i64, "other", "others");
            format!("{}, {} and {rest}", plain(one), plain(other))
        }
    }
}
