//! Agents: who is here, what one of them pays attention to, and the same retraced step by step.
//!
//! It shows what an agent told the store, not its screen.

mod about;
mod document;
mod follow;
mod retrace;
mod steps;

use maud::{Markup, html};
use serde_json::json;
use understory_engine::kernel::log::steps::{Step, Wanted, steps};
use understory_engine::system::who::{Agent, Who};
use understory_model::thread::ReachBy;
use understory_model::{Code, Fault, Seq, Time};

use crate::marks::who;
use crate::text::{age, count, plain, segment, stored};
use crate::visit::Visit;
use crate::{Content, Place};

/// Agents of the list.
const AGENTS: usize = 100;

pub fn page(visit: &Visit<'_>, path: &[&str]) -> Result<Content, Fault> {
    match path {
        [] | [""] => all(visit),
        // A name can hold a slash, which is one in the address, too.
        [name @ .., "retrace"] if !name.is_empty() => retrace::page(visit, &name.join("/")),
        name => follow::page(visit, &name.join("/")),
    }
}

/// Somebody whose page this is.
struct Person {
    name: String,
    /// As the sessions of it show it; none where it only wrote, or only its words were imported.
    agent: Option<Agent>,
    /// Its address below the workspace.
    place: String,
}

impl Person {
    /// Whoever is called so: it has had a session, or wrote something that the visitor may read.
    fn find(visit: &Visit<'_>, name: &str) -> Result<Person, Fault> {
        let found: Who = match visit.ask("who", json!({"agent": name})) {
            Err(fault) if fault.code == Code::Validation => Who::default(),
            found => found?,
        };
        let agent = found.agents.into_iter().next();
        if agent.is_none() && attention(visit, name, (Seq::FIRST, Seq::MAX), 1)?.is_empty() {
            let problem = format!("Nobody is called {}.", plain(name));
            return Err(Fault::not_found(problem).hint("An agent is known from its first call on."));
        }
        Ok(Person {
            name: name.to_owned(),
            agent,
            place: format!("agents/{}", segment(name)),
        })
    }

    fn is_here(&self) -> bool {
        self.agent.as_ref().is_some_and(|agent| !agent.gone)
    }

    /// What it is on, and for how long.
    fn doing(&self, visit: &Visit<'_>) -> Result<String, Fault> {
        let around = visit.around()?;
        let tasks = around.onboard.in_progress.as_deref().unwrap_or_default();
        let task = tasks.iter().find(|task| task.by == self.name);
        let on = self.agent.as_ref().and_then(|agent| agent.on.first());
        Ok(match (task, on) {
            (Some(task), _) => format!("in {} for {}", task.id, span(visit.now.0 - task.since.0)),
            (None, Some(on)) => format!("on {on}"),
            (None, None) => String::new(),
        })
    }

    /// To follow it, and to retrace it.
    fn views(&self, visit: &Visit<'_>, retraces: bool) -> Markup {
        html! {
            nav.views aria-label="How to look" {
                a href=(visit.link(&self.place)) aria-current=[(!retraces).then_some("true")] { "Follow live" }
                a href=(visit.link(&format!("{}/retrace", self.place))) aria-current=[retraces.then_some("true")] { "Retrace" }
            }
        }
    }
}

/// The newest steps of a stretch, newest first.
fn attention(
    visit: &Visit<'_>,
    actor: &str,
    (from, before): (Seq, Seq),
    most: usize,
) -> Result<Vec<Step>, Fault> {
    let wanted = Wanted {
        actor,
        from,
        before,
        most,
    };
    let context = &visit.context;
    context
        .engine
        .view(context.caller, |view| steps(view, &wanted))
}

/// A stretch of time in words: `38 min`.
fn span(micros: i64) -> String {
    let seconds = (micros / 1_000_000).max(0);
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min", seconds / 60),
        3_600..86_400 => format!("{} h", seconds / 3_600),
        _ => format!("{} d", seconds / 86_400),
    }
}

/// How a message reaches somebody.
pub fn reached(by: ReachBy) -> &'static str {
    match by {
        ReachBy::Waiting => "waits for a word",
        ReachBy::InSession => "its own channel",
        ReachBy::Terminal => "its terminal",
        ReachBy::EndOfTurn => "end of its turn",
        ReachBy::Resume => "its session can be resumed",
        ReachBy::UnreadOnly => "nothing, until it asks",
    }
}

/// Those who are here, then those who left lately.
fn all(visit: &Visit<'_>) -> Result<Content, Fault> {
    let found: Who = visit.ask("who", json!({"gone": true}))?;
    let here = found.agents.iter().filter(|agent| !agent.gone).count() as i64;
    let more = found.agents.len().saturating_sub(AGENTS) as i64;
    Ok(Content {
        place: Place::Timeline,
        title: "Agents".to_owned(),
        counts: format!("{} here", count(here, "agent is", "agents are")),
        flush: true,
        json: json!(found),
        main: html! {
            @if found.agents.is_empty() {
                p.empty { b { "Nobody works here yet." } " As soon as an agent is connected, it can be followed here." }
            }
            ul.entries {
                @for agent in found.agents.iter().take(AGENTS) { (row(visit, agent)) }
            }
            @if more > 0 { p.empty { "And " (count(more, "other", "others")) ", seen longer ago." } }
        },
        ..Content::default()
    })
}

fn row(visit: &Visit<'_>, agent: &Agent) -> Markup {
    html! {
        li.entry id={ "agent-" (agent.agent) } {
            (who(&agent.agent, agent.you))
            div.what {
                a.title href=(visit.link(&format!("agents/{}", segment(&agent.agent)))) { (stored(&agent.agent)) }
                p.meta {
                    @if agent.gone { "has ended" } @else { "is here" }
                    @for on in &agent.on { " · " span.handle { (on) } }
                    " · reached by: " (reached(agent.reach))
                }
            }
            (age(visit, agent.seen))
        }
    }
}

/// A moment of an entry.
fn moment(at: &str) -> Time {
    Time::parse("at", at).unwrap_or(Time::ZERO)
}

#[cfg(test)]
mod tests {
    use super::span;

    #[test]
    fn a_span_is_told_in_its_largest_unit() {
        let told = [0, 59, 60, 3_599, 3_600, 90_000].map(|seconds| span(seconds * 1_000_000));
        assert_eq!(told, ["0 s", "59 s", "1 min", "59 min", "1 h", "1 d"]);
    }
}
