//! The panel beside Now: one need with what is known of it, and room to answer or decide.

use maud::{Markup, html};
use serde_json::json;
use understory_engine::threads::get::Thread;
use understory_engine::threads::read::Messages;
use understory_model::Fault;

use super::{Entry, entry};
use crate::marks::{Mark, mark, who};
use crate::needs::Need;
use crate::shell::hidden;
use crate::text::{age, count, linked, segment, stored};
use crate::visit::Visit;
use crate::{Side, Width};

/// Messages of the panel, the last ones.
const MESSAGES: i64 = 10;

pub fn side(visit: &Visit<'_>, entry: &Entry<'_>) -> Result<Side, Fault> {
    let main = match entry.need {
        Need::Message(line) | Need::Stuck(line) => thread(visit, entry, &line.thread_id)?,
        Need::Wake(wake) => html! {
            (bar(visit, entry, &format!("threads/{}", segment(&wake.thread_id))))
            p { (stored(&wake.asked_by)) " wanted " (stored(&wake.target_agent_id)) " to read "
                a.handle href=(visit.link(&format!("threads/{}", segment(&wake.thread_id)))) { (wake.thread_id) } "." }
            h3 { "Ways that were tried" }
            ul { @for tried in &wake.tried {
                li.row { (mark(Mark::Failed)) span.what { (tried.action.as_str().replace('_', " ")) ": " (stored(&tried.why)) } }
            } }
            p.empty { "What was written is not lost: " (stored(&wake.target_agent_id)) " sees it when it asks." }
        },
        Need::Proposal(proposal) => html! {
            (bar(visit, entry, &format!("artifacts/{}#{}", segment(&proposal.state.label), proposal.state.start)))
            @if let Some(why) = &proposal.reasoning { div.words { (linked(visit, why)) } }
            h3 { "Lines " (proposal.state.start) " to " (proposal.state.end) " would say" }
            @if let Some(text) = &proposal.content { pre.lines dir="auto" { (stored(text)) } }
            form.act.acts method="post" action=(visit.link("do/decide")) data-draft={ "decide-" (proposal.id) } data-then=(visit.link("now")) {
                (hidden(visit, "now"))
                input type="hidden" name="proposal" value=(proposal.id);
                button.main name="accept" value="true" data-hotkey="a" { "Accept" kbd { "A" } }
                button name="accept" value="false" data-hotkey="r" { "Reject" kbd { "R" } }
            }
        },
        Need::Conflict(conflict) => html! {
            (bar(visit, entry, &format!("reasoning?left={}&right={}", segment(&conflict.into), segment(&conflict.from))))
            p { "It was changed on " (stored(&conflict.into)) " and on " (stored(&conflict.from)) " since they parted." }
            form.act.acts method="post" action=(visit.link("do/settle")) data-draft={ "settle-" (conflict.conflict_id) } data-then=(visit.link("now")) {
                (hidden(visit, "now"))
                input type="hidden" name="conflict" value=(conflict.conflict_id);
                button name="keep" value="use_into" data-hotkey="1" { "Keep " (stored(&conflict.into)) "'s" kbd { "1" } }
                button name="keep" value="use_from" data-hotkey="2" { "Take " (stored(&conflict.from)) "'s" kbd { "2" } }
            }
        },
        Need::Record(refused) => html! {
            (bar(visit, entry, &entry::settled(refused)))
            p { "What " (stored(&refused.agent)) " wrote was refused, because "
                a.handle href=(visit.link(&format!("records/{}", segment(&refused.record)))) { (refused.record) }
                " had moved on. Nothing was written over: both versions are kept." }
            p.acts { a.button.main href=(visit.link(&entry::settled(refused))) data-focus { "Compare the two" } }
        },
        Need::Credentials(all, newest) => html! {
            (bar(visit, entry, "proof#credentials"))
            p { "The newest is a " (newest.kind.as_str()) " in what " (stored(&newest.actor)) " wrote as "
                a.handle href=(visit.link(&format!("timeline?sel={}", newest.seq))) { "#" (newest.seq) } "." }
            p.empty { "Whoever wrote it can take it back for five minutes. After that, " code { "understory purge --credentials" }
                " erases " @if *all == 1 { "it" } @else { "them" } ". Change the credential, too: it may have been read." }
        },
    };
    Ok(Side {
        width: Width::Answering,
        label: "What is chosen".to_owned(),
        main,
    })
}

/// The head of the panel: what it is, the whole page of it, and the way back.
fn bar(visit: &Visit<'_>, entry: &Entry<'_>, page: &str) -> Markup {
    html! {
        div.bar {
            h2 { (entry::title(entry)) }
            a.button.plain href=(visit.link(page)) { "Open" }
            (close(visit))
        }
    }
}

fn close(visit: &Visit<'_>) -> Markup {
    html! {
        a.button.plain href=(visit.with("now", &[("peek", None)])) data-close data-soft aria-label="Close" title="Close (Esc)" { "✕" }
    }
}

/// A thread: what waits for the answer, what was said last, and room to answer.
fn thread(visit: &Visit<'_>, entry: &Entry<'_>, handle: &str) -> Result<Markup, Fault> {
    let thread: Thread = visit.ask("get_thread", json!({"thread_id": handle}))?;
    let since = (thread.last_seq - MESSAGES).max(0);
    let asked = json!({"thread_id": handle, "since_seq": since, "limit": MESSAGES, "full": true});
    let read: Messages = visit.ask("read_messages", asked)?;
    let asker = entry
        .last
        .as_ref()
        .and_then(|last| last.sender_agent_id.clone())
        .filter(|asker| asker != visit.person());
    let waits = asker.as_ref().is_some_and(|asker| {
        let mut readers = thread.readers.iter();
        readers.any(|one| &one.agent_id == asker && one.waits)
    });
    let page = format!("threads/{}", segment(handle));
    Ok(html! {
        div.bar {
            div {
                h2 { (stored(&thread.title)) }
                p.meta { span.handle { (thread.thread_id) } " · "
                    (crate::threads::list::people(&thread.participants)) " · " (count(thread.last_seq, "message", "messages")) }
            }
            a.button.plain href=(visit.link(&page)) { "Open" }
            (close(visit))
        }
        @if let Some((task, after)) = &entry.holds {
            p.holds { (mark(Mark::NeedsYou)) " Holds up " a.handle href=(visit.link(&format!("work/{}", segment(task)))) { (task) }
                @if *after > 0 { " and " (after) " after it" } }
        }
        ol.said {
            @for message in &read.messages {
                @let sender = message.sender_agent_id.as_deref().unwrap_or_default();
                li.message id={ "said-" (message.message_id) } {
                    (who(sender, sender == visit.person()))
                    div.what {
                        p.head { b { (stored(sender)) } " " @if let Some(at) = message.created_at { (age(visit, at)) } }
                        @if message.undone { p.empty { "Taken back." } }
                        @else { div.words { (linked(visit, message.body.as_deref().unwrap_or_default())) } }
                    }
                }
            }
        }
        @if let (true, Some(asker)) = (waits, &asker) {
            p.meta { (stored(asker)) " waits for an answer and will wake at once" }
        }
        (answer(visit, &thread, asker.as_deref()))
    })
}

fn answer(visit: &Visit<'_>, thread: &Thread, asker: Option<&str>) -> Markup {
    let (handle, now) = (&thread.thread_id, visit.link("now"));
    html! {
        form.act.write method="post" action=(visit.link("do/post")) data-draft={ "post-" (handle) } data-then=(now) {
            (hidden(visit, "now"))
            input type="hidden" name="thread" value=(handle);
            input type="hidden" name="upto" value=(thread.last_seq);
            textarea name="body" rows="3" required dir="auto" data-focus aria-label="Your answer" {}
            span.kept {}
            button.plain form={ "later-" (handle) } { "Mark as read" }
            button.main {
                "Answer" @if let Some(asker) = asker { " " (stored(asker)) }
                kbd { "Ctrl ↵" }
            }
        }
        form.act id={ "later-" (handle) } method="post" action=(visit.link("do/read")) data-draft={ "read-" (handle) } data-then=(now) {
            (hidden(visit, "now"))
            input type="hidden" name="thread" value=(handle);
            input type="hidden" name="upto" value=(thread.last_seq);
        }
    }
}
