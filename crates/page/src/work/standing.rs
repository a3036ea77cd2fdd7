//! Where a task stands, in a mark and a few words: the same in the picture, on cards, in lists and panels.

use maud::{Markup, html};
use understory_engine::graph::board::{Counts, State, Task};
use understory_model::{Fault, Time};

use crate::marks::{Mark, mark};
use crate::needs::Need;
use crate::text::{age, ago, number, stored};
use crate::visit::Visit;

/// What of a task's standing is told beside its title.
pub struct Standing {
    pub mark: Mark,
    /// The class that a node of the picture has.
    pub class: &'static str,
    /// Who has it, and how it is with them.
    pub held: Option<Hand>,
}

/// Who has a task.
pub struct Hand {
    pub by: String,
    pub since: Time,
    /// They asked the person something that was not read, since then.
    pub asks: Option<Time>,
    /// They give no sign of life, since then.
    pub silent: Option<Time>,
}

/// Who waits for an answer of the person, and since when.
pub struct Asking(Vec<(String, Time)>);

impl Asking {
    pub fn of(visit: &Visit<'_>) -> Result<Asking, Fault> {
        let needs = &visit.around()?.needs;
        let asked = needs.iter().filter_map(|need| match need {
            Need::Message(line) => Some((line.created_by.clone(), line.updated_at)),
            _ => None,
        });
        Ok(Asking(asked.collect()))
    }

    fn since(&self, agent: &str) -> Option<Time> {
        let found = self.0.iter().find(|(by, _)| by == agent);
        found.map(|(_, since)| *since)
    }
}

impl Standing {
    pub fn of(task: &Task, asking: &Asking) -> Standing {
        let held = task.claim.as_ref().map(|claim| Hand {
            by: claim.by.clone(),
            since: claim.since,
            asks: asking.since(&claim.by),
            silent: task.silent_since.or((!claim.alive).then_some(claim.since)),
        });
        let (mark, class) = match (task.state, &held) {
            (State::Ready, _) => (Mark::Ready, "ready"),
            (State::InHand, Some(hand)) if hand.asks.is_some() => (Mark::NeedsYou, "asks"),
            (State::InHand, Some(hand)) if hand.silent.is_some() => (Mark::Claimed, "silent"),
            (State::InHand, _) => (Mark::Claimed, "held"),
            (State::Waits, _) => (Mark::Waits, "waits"),
            (State::Done, _) => (Mark::Done, "done"),
            (State::Dropped, _) => (Mark::Dropped, "done"),
        };
        Standing { mark, class, held }
    }

    /// In a few words without markup, for a node of the picture.
    pub fn words(&self, task: &Task, now: Time) -> String {
        match (&self.held, task.state) {
            (Some(hand), _) => match (hand.asks, hand.silent) {
                (Some(_), _) => format!("{} waits for you", hand.by),
                (None, Some(since)) => format!("{} silent, {}", hand.by, ago(now, since)),
                (None, None) => format!("{} · {}", hand.by, ago(now, hand.since)),
            },
            (None, State::Waits) => format!("after {}", number(task.waits)),
            (None, State::Ready) => "ready".to_owned(),
            (None, State::Done) => "done".to_owned(),
            (None, _) => "dropped".to_owned(),
        }
    }
}

impl Hand {
    /// Who, how long, and what is amiss: `ada 38 min`.
    pub fn told(&self, visit: &Visit<'_>) -> Markup {
        html! {
            b { (stored(&self.by)) } " " (age(visit, self.since))
            @if let Some(since) = self.asks { " " span.chip.amber { "waits for you, " (age(visit, since)) } }
            @else if let Some(since) = self.silent { " " span.chip.amber { "silent for " (age(visit, since)) } }
        }
    }
}

/// What a task waits for: `after Move the store, ada, Rotate the keys, and 1 more`.
pub fn after(task: &Task) -> Markup {
    let more = task.waits - task.waits_for.len() as i64;
    html! {
        @if task.waits > 0 {
            "after "
            @for (at, one) in task.waits_for.iter().enumerate() {
                @if at > 0 { ", " }
                span title=(one.id) { (stored(short(&one.summary))) }
                @if let Some(by) = &one.by { ", " (stored(by)) }
            }
            @if task.waits_for.is_empty() { (number(task.waits)) }
            @else if more > 0 { ", and " (number(more)) " more" }
        }
    }
}

/// The beginning of a title, where others stand beside it.
fn short(title: &str) -> &str {
    let end = title
        .char_indices()
        .nth(40)
        .map_or(title.len(), |(at, _)| at);
    &title[..end]
}

/// The chips of a task: its priority, and how many wait for it.
pub fn chips(task: &Task) -> Markup {
    html! {
        @if task.priority != 0.0 { span.chip { "priority " (task.priority) } " " }
        @if task.unblocks > 0 { span.chip { "unblocks " (number(task.unblocks)) } }
    }
}

/// The sentence of counts in the head.
pub fn counts(counts: Counts) -> String {
    format!(
        "{} ready, {} in hand, {} wait, {} done",
        number(counts.ready),
        number(counts.in_hand),
        number(counts.waits),
        number(counts.done)
    )
}

/// The mark of a task with its word.
pub fn marked(task: &Task, asking: &Asking) -> Markup {
    mark(Standing::of(task, asking).mark)
}

/// Who has a task, or that nobody does, in a list.
pub fn who_has(visit: &Visit<'_>, task: &Task, asking: &Asking) -> Markup {
    let standing = Standing::of(task, asking);
    html! {
        @match (&standing.held, task.state) {
            (Some(hand), _) => { (hand.told(visit)) }
            (None, State::Ready) => { "ready" }
            (None, State::Waits) => { (after(task)) }
            (None, State::Done) => {
                "done" @if let Some(by) = &task.done_by { " by " (stored(by)) }
            }
            (None, _) => { "dropped" @if let Some(by) = &task.done_by { " by " (stored(by)) } }
        }
    }
}

/// When something was: the time of day, or how many days ago.
pub fn when(visit: &Visit<'_>, at: Time) -> Markup {
    const TODAY: i64 = 20 * 3_600 * 1_000_000;
    html! {
        @if visit.now.0 - at.0 < TODAY { time datetime=(at) data-clock { (at) } }
        @else { (age(visit, at)) }
    }
}
