//! The tasks as columns: what is ready, in hand, waiting for others, and done. A card can be moved, and each
//! move has a button and a key, too.

use maud::{Markup, html};
use serde_json::{Value, json};
use understory_engine::View;
use understory_engine::graph::board::{Plan, State, Task};
use understory_model::Fault;

use super::standing::{Asking, Standing, after, marked, when};
use crate::shell::hidden;
use crate::text::{number, segment, stored};
use crate::visit::Visit;

/// Cards of a column, and lines of what is done.
const CARDS: i64 = 50;
const DONE: i64 = 20;

/// A column of the board.
struct Lane {
    state: State,
    title: &'static str,
    /// On a phone, where the columns are tabs.
    short: &'static str,
    name: &'static str,
    most: i64,
}

const LANES: [Lane; 4] = [
    Lane {
        state: State::Ready,
        title: "Ready",
        short: "Ready",
        name: "ready",
        most: CARDS,
    },
    Lane {
        state: State::InHand,
        title: "In hand",
        short: "In hand",
        name: "in_hand",
        most: CARDS,
    },
    Lane {
        state: State::Waits,
        title: "Waits for others",
        short: "Waits",
        name: "waits",
        most: CARDS,
    },
    Lane {
        state: State::Done,
        title: "Done",
        short: "Done",
        name: "done",
        most: DONE,
    },
];

impl Lane {
    fn total(&self, plan: &Plan) -> i64 {
        match self.state {
            State::Ready => plan.counts.ready,
            State::InHand => plan.counts.in_hand,
            State::Waits => plan.counts.waits,
            State::Done | State::Dropped => plan.counts.done,
        }
    }
}

/// The tasks of each column, in their order.
pub fn read(view: &mut View<'_, '_>, plan: &Plan) -> Result<Vec<Vec<Task>>, Fault> {
    let lanes = LANES.iter();
    lanes
        .map(|lane| plan.lane(view, lane.state, lane.most))
        .collect()
}

pub fn data(plan: &Plan, lanes: &[Vec<Task>]) -> Value {
    let lane = |(lane, tasks): (&Lane, &Vec<Task>)| {
        let told = json!({"tasks": tasks, "total": lane.total(plan)});
        (lane.name.to_owned(), told)
    };
    Value::Object(LANES.iter().zip(lanes).map(lane).collect())
}

pub fn board(visit: &Visit<'_>, plan: &Plan, lanes: &[Vec<Task>], asking: &Asking) -> Markup {
    let first = if plan.counts.in_hand > 0 {
        "in_hand"
    } else {
        "ready"
    };
    let wanted = visit.query.get("lane").unwrap_or(first);
    let current = LANES
        .iter()
        .map(|lane| lane.name)
        .find(|name| *name == wanted)
        .unwrap_or(first);
    html! {
        // On a phone one column is shown at a time.
        nav.tabs aria-label="Columns" {
            @for at in [1, 0, 2, 3] {
                @let lane = &LANES[at];
                a href=(visit.with("work", &[("view", Some("board")), ("lane", Some(lane.name))])) data-soft
                    aria-current=[(lane.name == current).then_some("true")] { (lane.short) " " (number(lane.total(plan))) }
            }
        }
        div.board id="board" {
            @for (lane, tasks) in LANES.iter().zip(lanes) {
                (column(visit, plan, (lane, tasks), asking, lane.name == current))
            }
        }
    }
}

fn column(
    visit: &Visit<'_>,
    plan: &Plan,
    (lane, tasks): (&Lane, &[Task]),
    asking: &Asking,
    current: bool,
) -> Markup {
    let total = lane.total(plan);
    let more = total - tasks.len() as i64;
    html! {
        section.lane.is-current[current] id={ "lane-" (lane.name) } data-lane=(lane.name) aria-labelledby={ "of-" (lane.name) } {
            h2 id={ "of-" (lane.name) } { (lane.title) " " span.count { (number(total)) } }
            @if lane.state == State::Done {
                ul { @for task in tasks { (done(visit, task, asking)) } }
            } @else {
                ul { @for task in tasks { (card(visit, task, asking)) } }
            }
            @if tasks.is_empty() { p.meta { (nothing(lane.state)) } }
            @if more > 0 {
                a.meta href=(visit.with("work", &[("view", Some("list")), ("state", Some(lane.name)), ("peek", None)])) data-soft {
                    (number(more)) @if lane.state == State::Done { " older" } @else { " more" }
                }
            }
        }
    }
}

fn nothing(state: State) -> &'static str {
    match state {
        State::Ready => "Nothing can be started now.",
        State::InHand => "Nobody is at work.",
        State::Waits => "Nothing waits.",
        State::Done | State::Dropped => "Nothing has been finished yet.",
    }
}

fn card(visit: &Visit<'_>, task: &Task, asking: &Asking) -> Markup {
    let standing = Standing::of(task, asking);
    let peek = visit.with("work", &[("peek", Some(&task.id))]);
    let chosen = visit.query.get("peek") == Some(task.id.as_str());
    html! {
        li.card.(standing.class).is-chosen[chosen] id={ "task-" (task.id) } data-row data-task=(task.id)
            data-priority=(task.priority) draggable="true" {
            (marked(task, asking))
            div.what {
                a.title.clamp href=(visit.link(&format!("work/{}", segment(&task.id)))) data-main draggable="false" { (stored(&task.summary)) }
                p.meta {
                    a.handle href=(peek) data-soft data-peek draggable="false" { (task.id) } " "
                    @if let Some(hand) = &standing.held { (hand.told(visit)) }
                    @else if task.state == State::Waits { (after(task)) }
                    @if task.priority != 0.0 { " · priority " (task.priority) }
                    @if task.unblocks > 0 && task.state != State::Waits { " · unblocks " (number(task.unblocks)) }
                }
            }
            @if task.state == State::Ready { (take(visit, task)) }
        }
    }
}

fn take(visit: &Visit<'_>, task: &Task) -> Markup {
    html! {
        form.act method="post" action=(visit.link("do/claim")) {
            (hidden(visit, "work?view=board"))
            input type="hidden" name="node" value=(task.id);
            button data-hotkey="t" aria-label={ "Take " (task.id) } { "Take" }
        }
    }
}

fn done(visit: &Visit<'_>, task: &Task, asking: &Asking) -> Markup {
    html! {
        li.row id={ "task-" (task.id) } data-task=(task.id) {
            (marked(task, asking))
            @if let Some(at) = task.done_at { (when(visit, at)) }
            a.title.cut href=(visit.link(&format!("work/{}", segment(&task.id)))) data-main { (stored(&task.summary)) }
            a.skip href=(visit.with("work", &[("peek", Some(&task.id))])) data-soft data-peek tabindex="-1" { "Peek at " (task.id) }
        }
    }
}
