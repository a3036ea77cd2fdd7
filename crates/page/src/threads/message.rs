//! Messages: those of one author within five minutes under one head, a line for each day, a line above
//! what is new, and beneath each message what came of it.

use std::collections::HashMap;

use maud::{Markup, html};
use serde_json::Value;
use understory_engine::threads::Turned;
use understory_engine::threads::findings::Traced;
use understory_engine::threads::shape::Message;
use understory_engine::threads::wakes::Waking;
use understory_model::Time;
use understory_model::thread::{Event, commits};

use super::chat::Chat;
use super::finding::card;
use super::receipt::receipt;
use crate::marks::{Mark, mark, who};
use crate::shell::hidden;
use crate::text::{clock, day, linked, stored, told};
use crate::visit::Visit;

/// How long messages of one author go on under one head, in microseconds.
const TOGETHER: i64 = 5 * 60 * 1_000_000;

pub fn messages(visit: &Visit<'_>, chat: &Chat) -> Markup {
    let findings = chat.beside.findings.iter();
    let findings: HashMap<i64, &Traced> = findings.map(|one| (one.seq, one)).collect();
    let (wakes, earlier) = wakes(chat);
    let first_new = first_new(visit, chat);
    let messages = &chat.read.messages;
    let before = std::iter::once(None).chain(messages.iter().map(Some));
    html! {
        @for wake in earlier { (receipt(wake)) }
        ol.messages {
            @for (message, before) in messages.iter().zip(before) {
                @let number = message.seq.unwrap_or(0);
                @for change in changes(chat, number) { (turned(change)) }
                @if let Some(at) = message.created_at.filter(|at| is_other_day(before, *at)) {
                    li.day { time datetime=(at) data-day { (day(visit, at)) } }
                }
                @if first_new == Some(number) { (new_line(visit, chat)) }
                @let woken = wakes.contains_key(&(number - 1));
                @let joined = first_new != Some(number) && !woken && goes_on(before, message, chat);
                (said(visit, chat, message, joined, findings.get(&number).copied()))
                @for wake in wakes.get(&number).into_iter().flatten() { li.told-of { (receipt(wake)) } }
            }
            @for change in changes(chat, chat.last + 1) { (turned(change)) }
        }
    }
}

/// The first message that the person has not read.
fn first_new(visit: &Visit<'_>, chat: &Chat) -> Option<i64> {
    let read = chat.thread.last_read_seq?;
    let new = chat.read.messages.iter().find(|message| {
        let own = message.sender_agent_id.as_deref() == Some(visit.person());
        !own && message.seq.is_some_and(|number| number > read)
    });
    new?.seq
}

fn new_line(visit: &Visit<'_>, chat: &Chat) -> Markup {
    html! {
        li.new-line id="new" {
            form.act method="post" action=(visit.link("do/read")) data-draft={ "read-" (chat.thread.thread_id) } {
                (hidden(visit, &chat.place))
                input type="hidden" name="thread" value=(chat.thread.thread_id);
                input type="hidden" name="upto" value=(chat.thread.last_seq);
                span { "new" }
                button.plain { "Mark as read" }
            }
        }
    }
}

fn is_other_day(before: Option<&Message>, at: Time) -> bool {
    let date = |at: Time| at.to_string().get(..10).map(str::to_owned);
    let last = before.and_then(|before| before.created_at);
    last.is_none_or(|last| date(last) != date(at))
}

/// Whether a message stands under the head of the one before.
fn goes_on(before: Option<&Message>, message: &Message, chat: &Chat) -> bool {
    let (Some(before), Some(at)) = (before, message.created_at) else {
        return false;
    };
    let between = changes(chat, message.seq.unwrap_or(0)).next().is_some();
    let plain = message.metadata.get("event_type").is_none();
    let close = before
        .created_at
        .is_some_and(|then| at.0 - then.0 <= TOGETHER);
    !between
        && plain
        && close
        && before.sender_agent_id == message.sender_agent_id
        && !is_other_day(Some(before), at)
}

/// The changes that came right before a message.
fn changes(chat: &Chat, number: i64) -> impl Iterator<Item = &Turned> {
    let shown =
        move |change: &&Turned| change.after_seq == number - 1 && change.after_seq >= chat.since;
    chat.read.changes.iter().filter(shown)
}

/// Jobs of waking by the last message before each; and those from before the first that is shown.
fn wakes(chat: &Chat) -> (HashMap<i64, Vec<&Waking>>, Vec<&Waking>) {
    let (mut by, mut earlier): (HashMap<i64, Vec<&Waking>>, Vec<&Waking>) = Default::default();
    for wake in chat.beside.wakes.iter().rev() {
        let caused =
            |message: &&Message| message.created_at.is_some_and(|at| at <= wake.created_at);
        let message = chat.read.messages.iter().rfind(caused);
        match message.and_then(|message| message.seq) {
            // What was woken for later messages than are shown stands with those.
            Some(number) if number == chat.last && chat.last < chat.thread.last_seq => {}
            Some(number) => by.entry(number).or_default().push(wake),
            None if chat.since == 0 => earlier.push(wake),
            None => {}
        }
    }
    (by, earlier)
}

fn said(
    visit: &Visit<'_>,
    chat: &Chat,
    message: &Message,
    joined: bool,
    finding: Option<&Traced>,
) -> Markup {
    let sender = message.sender_agent_id.as_deref().unwrap_or_default();
    let number = message.seq.unwrap_or(0);
    let body = message.body.as_deref().unwrap_or_default();
    html! {
        li.message.joined[joined] id=(number) {
            @if joined { span.who-none {} } @else { (who(sender, sender == visit.person())) }
            div.what {
                @if !joined {
                    p.head {
                        b { (stored(sender)) } " "
                        @if let Some(at) = message.created_at { (clock(at)) }
                        (event(message)) (answers(chat, message))
                        " " a.number href={ "#" (number) } aria-label={ "Message " (number) } { "#" (number) }
                    }
                }
                @if message.undone { p.none { "Taken back." } }
                @else if sender.is_empty() { p.none { "Erased." } }
                @else if let Some(finding) = finding { (card(visit, chat, finding)) }
                @else { div.words { (linked(visit, body)) } }
            }
        }
    }
}

/// What an event says beside its words, as a chip.
fn event(message: &Message) -> Markup {
    let Some(name) = message.metadata.get("event_type").and_then(Value::as_str) else {
        return html! {};
    };
    let known = Event::parse(name);
    let colour = match known {
        Some(Event::FindingReported) => return html! {},
        Some(Event::FindingVerified | Event::ThreadResolved) => "green",
        Some(Event::FindingRejected) => "red",
        Some(Event::ThreadEscalated) => "amber",
        _ => "",
    };
    let commits = commits(&message.metadata, "");
    html! {
        " " span.chip.(colour) {
            (told(&name.replace('_', " ")))
            @if known == Some(Event::FixPushed) { @for commit in commits.iter().take(3) { " " span.handle { (told(commit)) } } }
        }
    }
}

/// Which message it answers, if that is shown.
fn answers(chat: &Chat, message: &Message) -> Markup {
    let answered = chat
        .read
        .messages
        .iter()
        .find(|one| message.in_reply_to.as_deref() == Some(one.message_id.as_str()));
    html! {
        @if let Some(number) = answered.and_then(|one| one.seq) {
            " " a.meta href={ "#" (number) } { "to #" (number) }
        }
    }
}

/// A change of the thread, as a line.
fn turned(change: &Turned) -> Markup {
    let names = |names: &[String]| super::list::people(names);
    html! {
        li.told-of id={ "change-" (change.change) } {
            p.receipt {
                (mark(Mark::Thread)) " " (stored(&change.by)) " "
                @match change.status {
                    Some(status) => { "made it " (status.as_str()) }
                    None if !change.added_participants.is_empty() => { "added " (names(&change.added_participants)) }
                    None if !change.removed_participants.is_empty() => { "took out " (names(&change.removed_participants)) }
                    None => { "changed it" }
                }
                @if let Some(reason) = &change.reason { ": " (stored(reason)) }
                " " (clock(change.at))
            }
        }
    }
}
