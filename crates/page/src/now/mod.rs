//! Now: what needs the person, who is at work, and what was just done.

mod entry;
mod peek;
mod work;

use maud::{Markup, html};
use serde_json::{Value, json};
use understory_engine::graph::context::Context;
use understory_engine::graph::onboard::Closed;
use understory_engine::threads::read::Messages;
use understory_engine::threads::shape::Message;
use understory_model::Fault;

use crate::around::Around;
use crate::marks::{Mark, mark};
use crate::needs::Need;
use crate::text::{count, number, segment, stored};
use crate::visit::Visit;
use crate::{Content, Place};

/// Entries for which it is looked up what was said last, and what they hold up.
const LOOKED_UP: usize = 20;

/// A need with what stands around it.
struct Entry<'a> {
    need: &'a Need,
    /// Of a thread, what was said last.
    last: Option<Message>,
    /// The task of whoever asks, and how many tasks wait for that.
    holds: Option<(String, usize)>,
}

pub fn page(visit: &Visit<'_>) -> Result<Content, Fault> {
    let around = visit.around()?;
    let entries = entries(visit, around)?;
    let agents = work::agents(visit, around)?;
    let onboard = &around.onboard;
    let recent = onboard.recent.as_deref().unwrap_or_default();
    let counts = &onboard.summary;
    let chosen = visit.query.get("peek");
    let chosen = entries.iter().find(|one| Some(one.need.name()) == chosen);
    let side = chosen.map(|one| peek::side(visit, one)).transpose()?;
    let peeked = chosen.map(|one| one.need.name());
    let first = counts.total == 0 && around.who.agents.len() < 2;
    Ok(Content {
        place: Place::Now,
        title: "Now".to_owned(),
        counts: counted(entries.len(), agents.len(), recent.len()),
        flush: true,
        side,
        json: json!({
            "needs_you": entries.iter().map(|one| told(one.need)).collect::<Vec<_>>(),
            "at_work": agents.iter().map(work::AtWork::told).collect::<Vec<_>>(),
            "just_done": recent,
            "counts": counts,
        }),
        main: html! {
            section aria-labelledby="needs" {
                h2 id="needs" { "Needs you " @if !entries.is_empty() { span.count { (number(entries.len() as i64)) } } }
                @if entries.is_empty() { (quiet(first)) }
                @else { ul.entries { @for one in &entries { (entry::row(visit, one, peeked == Some(one.need.name()))) } } }
            }
            section aria-labelledby="work" {
                h2.at-work id="work" {
                    "At work " @if !agents.is_empty() { span.count { (number(agents.len() as i64)) } }
                    @if !agents.is_empty() { span.meta { "activity, last hour" } }
                }
                @if agents.is_empty() {
                    p.empty { b { "Nobody is at work." } " " (count(counts.actionable, "task is ready.", "tasks are ready.")) }
                } @else {
                    ul.rows { @for one in &agents { (work::row(visit, one)) } }
                }
            }
            section aria-labelledby="done" {
                h2 id="done" { "Just done " @if !recent.is_empty() { span.count { (number(recent.len() as i64)) } } }
                @if recent.is_empty() { p.empty { "Nothing has been finished yet." } }
                @else { ul.rows { @for one in recent { (done(visit, one)?) } } }
            }
        },
        ..Content::default()
    })
}

fn counted(needs: usize, at_work: usize, done: usize) -> String {
    let need = if needs == 1 { "needs" } else { "need" };
    format!(
        "{} {need} you, {} at work, {} just done",
        number(needs as i64),
        number(at_work as i64),
        number(done as i64)
    )
}

/// The needs in the order in which they should be looked at: what holds up the most, then the oldest.
fn entries<'a>(visit: &Visit<'_>, around: &'a Around) -> Result<Vec<Entry<'a>>, Fault> {
    let mut found = Vec::with_capacity(around.needs.len());
    for (at, need) in around.needs.iter().enumerate() {
        let (last, holds) = match need {
            Need::Message(line) | Need::Stuck(line) if at < LOOKED_UP => {
                let last = last_said(visit, &line.thread_id, line.last_seq)?;
                let holds = last.as_ref().map(|last| held_up(visit, around, last));
                (last, holds.transpose()?.flatten())
            }
            _ => (None, None),
        };
        found.push(Entry { need, last, holds });
    }
    let waiting = |one: &Entry<'_>| one.holds.as_ref().map_or(0, |(_, after)| after + 1);
    found.sort_by_key(|one| (std::cmp::Reverse(waiting(one)), one.need.since()));
    Ok(found)
}

fn last_said(visit: &Visit<'_>, thread: &str, last: i64) -> Result<Option<Message>, Fault> {
    if last < 1 {
        return Ok(None);
    }
    let asked = json!({"thread_id": thread, "since_seq": last - 1, "limit": 1, "full": true});
    let read: Messages = visit.ask("read_messages", asked)?;
    Ok(read.messages.into_iter().next())
}

/// The task that the one who wrote works on, and how many wait for it.
fn held_up(
    visit: &Visit<'_>,
    around: &Around,
    last: &Message,
) -> Result<Option<(String, usize)>, Fault> {
    let sender = last.sender_agent_id.as_deref().unwrap_or_default();
    let tasks = around.onboard.in_progress.as_deref().unwrap_or_default();
    let Some(task) = tasks.iter().find(|task| task.by == sender) else {
        return Ok(None);
    };
    let asked = json!({"node_id": task.id, "depth": 0});
    let found: Option<Context> = visit.ask_if_there("graph_context", asked)?;
    Ok(found.map(|found| (task.id.clone(), found.depended_by.len())))
}

fn quiet(first: bool) -> Markup {
    html! {
        @if first {
            p.empty {
                b { "Nobody works here yet." }
                " As soon as an agent is connected, this page shows what it does, what it asks you, and what it has \
                 finished. It does so by itself: leave it open."
            }
        } @else {
            p.empty {
                b { "Nothing needs you." }
                " Conflicts, proposals, questions and agents that could not be woken come here by themselves."
            }
        }
    }
}

/// A need as the page's data has it.
fn told(need: &Need) -> Value {
    match need {
        Need::Message(line) => json!({"kind": "message", "thread": line}),
        Need::Stuck(line) => json!({"kind": "stuck", "thread": line}),
        Need::Wake(wake) => json!({"kind": "wake_failed", "wake": wake}),
        Need::Proposal(proposal) => json!({"kind": "proposal", "proposal": proposal}),
        Need::Conflict(conflict) => json!({"kind": "conflict", "conflict": conflict}),
        Need::Record(refused) => json!({"kind": "record", "refused": refused}),
        Need::Credentials(count, newest) => {
            json!({"kind": "credentials", "count": count, "newest": newest})
        }
    }
}

fn done(visit: &Visit<'_>, one: &Closed) -> Result<Markup, Fault> {
    let asked = json!({"node_id": one.id, "depth": 0});
    let found: Option<Context> = visit.ask_if_there("graph_context", asked)?;
    let evidence = found.and_then(|found| found.node.evidence.into_iter().next_back());
    Ok(html! {
        li.row id={ "done-" (one.id) } {
            time datetime=(one.at) data-clock { (one.at.to_string().get(11..16).unwrap_or_default()) }
            (mark(if one.dropped { Mark::Dropped } else { Mark::Done }))
            span.by { (stored(&one.by)) }
            span.what.cut {
                a.title href=(visit.link(&format!("work/{}", segment(&one.id)))) { (stored(&one.summary)) }
                " " span.meta { (one.id) }
            }
            @if let Some(piece) = evidence { span.meta.cut { (stored(&piece.kind)) " " (stored(&piece.reference)) } }
        }
    })
}
