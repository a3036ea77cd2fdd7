//! Who is at work: on what, since when, what it did last, and how busy its last hour was.

use std::collections::HashMap;

use maud::{Markup, html};
use serde_json::{Value, json};
use understory_engine::graph::onboard::Doing;
use understory_engine::system::pulse::{Pulse, pulse};
use understory_engine::system::who::{Agent, Who};
use understory_model::{Fault, Time};

use crate::around::Around;
use crate::marks::who;
use crate::text::{age, segment, stored};
use crate::visit::Visit;

/// Agents that are shown.
const AGENTS: usize = 30;
/// The height of a bar, in pixels, at which it stands for this many items or more.
const HEIGHT: u16 = 12;

/// Somebody at work.
pub struct AtWork {
    agent: String,
    client: String,
    /// When it was last seen, if that is known.
    seen: Option<Time>,
    /// No process of it is alive, and it holds a task.
    silent: bool,
    task: Option<Doing>,
    on: Vec<String>,
    pulse: Pulse,
}

impl AtWork {
    pub fn told(&self) -> Value {
        json!({"agent": self.agent, "client": self.client, "seen": self.seen, "silent": self.silent,
            "task": self.task, "on": self.on, "pulse": self.pulse})
    }
}

/// Those who are alive, and those who went with a task in their hands.
pub fn agents(visit: &Visit<'_>, around: &Around) -> Result<Vec<AtWork>, Fault> {
    let doing = around.onboard.in_progress.as_deref().unwrap_or_default();
    let mut tasks: HashMap<&str, &Doing> = HashMap::new();
    for task in doing {
        tasks.entry(task.by.as_str()).or_insert(task);
    }
    let alive = around.who.agents.iter().filter(|agent| !agent.you);
    let here: Vec<&Agent> = alive.take(AGENTS).collect();
    let mut found = Vec::with_capacity(here.len());
    for agent in here {
        let task = tasks.remove(agent.agent.as_str());
        let pulse = pulse_of(visit, &agent.agent)?;
        found.push(AtWork {
            agent: agent.agent.clone(),
            client: agent.client.clone(),
            seen: Some(agent.seen),
            silent: false,
            task: task.cloned(),
            on: agent.on.clone(),
            pulse,
        });
    }
    tasks.remove(visit.person());
    let mut gone: Vec<&Doing> = tasks.into_values().collect();
    gone.sort_by_key(|task| task.since);
    for task in gone.into_iter().take(AGENTS - found.len().min(AGENTS)) {
        let known: Who = visit.ask("who", json!({"agent": task.by}))?;
        let last = known.agents.first();
        found.push(AtWork {
            agent: task.by.clone(),
            client: last.map_or_else(String::new, |last| last.client.clone()),
            seen: last.map(|last| last.seen),
            silent: true,
            pulse: pulse_of(visit, &task.by)?,
            task: Some(task.clone()),
            on: Vec::new(),
        });
    }
    Ok(found)
}

fn pulse_of(visit: &Visit<'_>, agent: &str) -> Result<Pulse, Fault> {
    let caller = visit.context.caller;
    visit.context.engine.view(caller, |view| pulse(view, agent))
}

pub fn row(visit: &Visit<'_>, one: &AtWork) -> Markup {
    html! {
        li.agent id={ "agent-" (one.agent) } {
            (who(&one.agent, false))
            div.what {
                p.cut {
                    a.title href=(visit.link(&format!("agents/{}", segment(&one.agent)))) data-hotkey="f" { (stored(&one.agent)) }
                    @if let Some(task) = &one.task {
                        " works on " a.quiet href=(visit.link(&format!("work/{}", segment(&task.id)))) { (stored(&task.summary)) }
                    } @else if !one.on.is_empty() {
                        " is on "
                        @for (at, on) in one.on.iter().enumerate() {
                            @if at > 0 { ", " }
                            a.handle href=(visit.link(&format!("go/{}", segment(on)))) { (on) }
                        }
                    } @else { span.quiet { " is here" } }
                }
                p.meta.cut { (last(visit, one)) }
            }
            (activity(&one.pulse.minutes))
            @if let Some(task) = &one.task { (age(visit, task.since)) }
            @else { time {} }
        }
    }
}

/// The second line: what it did last, or that it is silent.
fn last(visit: &Visit<'_>, one: &AtWork) -> Markup {
    html! {
        @if let Some(task) = &one.task { span.handle { (task.id) } " " }
        @if one.silent {
            span.waits { "silent" @if let Some(seen) = one.seen { " for " (age(visit, seen)) } "; others can claim its task" }
        } @else if let Some(last) = &one.pulse.last {
            (last.action.as_deref().unwrap_or(&last.kind).replace('_', " ")) " "
            (stored(last.name.as_deref().or(last.handle.as_deref()).unwrap_or(&last.text)))
            @if let Some(seen) = one.seen { ", " (age(visit, seen)) " ago" }
        } @else if let Some(seen) = one.seen { "seen " (age(visit, seen)) " ago" }
        @if !one.client.is_empty() { " · " (stored(&one.client)) }
    }
}

/// Sixty bars of a minute each.
fn activity(minutes: &[u16]) -> Markup {
    let busy = minutes.iter().filter(|count| **count > 0).count();
    html! {
        svg.activity viewBox="0 0 120 16" width="120" height="16" role="img" aria-label={ "active in " (busy) " of the last 60 minutes" } {
            path.base d="M0 15.5H120" {}
            @for (at, count) in minutes.iter().enumerate() {
                @if *count > 0 {
                    @let height = (*count).min(HEIGHT);
                    rect x=(at * 2) y=(15 - height) width="1.5" height=(height) {}
                }
            }
        }
    }
}
