//! The panel about an agent: what it is on, where it takes part, its sessions, how it is reached, and a
//! message to it.

use maud::{Markup, html};
use serde::Serialize;
use serde_json::json;
use understory_engine::kernel::who::{Seen, here};
use understory_engine::records::shape::Reference;
use understory_engine::threads::list::{Line, Threads};
use understory_model::Fault;
use understory_model::thread::ReachBy;

use super::{Person, reached};
use crate::shell::hidden;
use crate::text::{age, count, segment, stored};
use crate::visit::Visit;
use crate::{Side, Width};

/// Threads that are looked through for those in which it takes part, and how many are shown.
const THREADS: i64 = 100;
const SHOWN: usize = 10;

/// What is known of an agent beside its steps.
#[derive(Serialize)]
pub struct About {
    sessions: Vec<Seen>,
    threads: Vec<Line>,
    /// The records that it has active.
    records: Vec<Reference>,
}

pub fn about(visit: &Visit<'_>, person: &Person) -> Result<About, Fault> {
    let context = &visit.context;
    let sessions = context.engine.view(context.caller, |view| {
        here(view, context.caller, Some(&person.name))
    })?;
    let asked = json!({"all": visit.sees_all(), "limit": THREADS});
    let found: Threads = visit.ask("list_threads", asked)?;
    let part = |line: &Line| {
        let named = line.participants.as_deref().unwrap_or_default();
        line.created_by == person.name || named.contains(&person.name)
    };
    let on = person.agent.iter().flat_map(|agent| &agent.on);
    let mut records = Vec::new();
    for name in on.filter(|name| name.starts_with('R')).take(SHOWN) {
        records.extend(visit.ask_if_there("get_record_ref", json!({"id": name}))?);
    }
    Ok(About {
        records,
        sessions,
        threads: found.threads.into_iter().filter(part).collect(),
    })
}

/// The panel; `writes` puts the focus into the message.
pub fn panel(
    visit: &Visit<'_>,
    person: &Person,
    about: &About,
    close: &str,
    writes: bool,
) -> Result<Side, Fault> {
    let name = &person.name;
    let around = visit.around()?;
    let tasks = around.onboard.in_progress.as_deref().unwrap_or_default();
    let tasks: Vec<_> = tasks.iter().filter(|task| task.by == *name).collect();
    let on = person.agent.iter().flat_map(|agent| &agent.on);
    let told = |on: &&String| {
        tasks.iter().any(|task| task.id == **on)
            || about.records.iter().any(|record| record.id == **on)
    };
    let on: Vec<&String> = on.filter(|on| !told(on)).collect();
    Ok(Side {
        width: Width::Reading,
        label: format!("About {name}"),
        main: html! {
            div.bar {
                h2 { (stored(name)) }
                a.button.plain data-close data-soft href=(close) { "Close" }
            }
            section {
                h3 { "On" }
                @if tasks.is_empty() && about.records.is_empty() && on.is_empty() { p.none { "Nothing that it said." } }
                ul.rows {
                    @for task in &tasks {
                        li.row {
                            a.title.cut href=(visit.link(&format!("work/{}", segment(&task.id)))) { (stored(&task.summary)) }
                            span.handle { (task.id) } (age(visit, task.since))
                        }
                    }
                    @for record in &about.records {
                        li.row {
                            a.title.cut href=(visit.link(&format!("records/{}", segment(&record.id)))) { (stored(&record.title)) }
                            span.handle { (record.id) }
                        }
                    }
                    @for on in on { li.row { a.handle href=(visit.link(&format!("go/{}", segment(on)))) { (on) } } }
                }
            }
            section { h3 { "Threads" } (threads(visit, &about.threads)) }
            section { h3 { "Sessions" } (sessions(visit, &about.sessions)) }
            (write(visit, person, writes))
        },
    })
}

fn threads(visit: &Visit<'_>, threads: &[Line]) -> Markup {
    html! {
        @if threads.is_empty() { p.none { "It takes part in none." } }
        ul.rows {
            @for line in threads.iter().take(SHOWN) {
                li.row {
                    a.title.cut href=(visit.link(&format!("threads/{}", segment(&line.thread_id)))) {
                        (stored(line.title.as_deref().unwrap_or_default()))
                    }
                    span.handle { (line.thread_id) } (age(visit, line.updated_at))
                }
            }
        }
        @if threads.len() > SHOWN { p.meta { "and " (count((threads.len() - SHOWN) as i64, "other", "others")) } }
    }
}

fn sessions(visit: &Visit<'_>, sessions: &[Seen]) -> Markup {
    html! {
        @if sessions.is_empty() { p.none { "None is known." } }
        ul.rows {
            @for one in sessions.iter().take(SHOWN) {
                li.row {
                    span.cut { (stored(if one.runtime.is_empty() { "a session" } else { &one.runtime })) }
                    span.handle.cut { (stored(&one.session_id)) }
                    span.meta { @if one.alive { "alive" } @else { "ended" } }
                    (age(visit, one.last_seen))
                }
            }
        }
        @if sessions.len() > SHOWN { p.meta { "and " (count((sessions.len() - SHOWN) as i64, "other", "others")) } }
    }
}

/// When a message is read.
fn arrives(person: &Person) -> &'static str {
    match person.agent.as_ref().map(|agent| agent.reach) {
        Some(ReachBy::Waiting | ReachBy::InSession | ReachBy::Terminal) => {
            "What you write reaches it as soon as it is not in a turn."
        }
        Some(ReachBy::EndOfTurn) => "What you write reaches it when its turn ends.",
        Some(ReachBy::Resume) => "What you write waits until its session goes on.",
        Some(ReachBy::UnreadOnly) | None => "What you write waits until it asks for messages.",
    }
}

fn write(visit: &Visit<'_>, person: &Person, writes: bool) -> Markup {
    let name = &person.name;
    html! {
        section {
            h3 { "Reached by" }
            p {
                @match &person.agent {
                    Some(agent) => { (reached(agent.reach)) @if let Some(doing) = agent.activity { " · " (doing.as_str()) } }
                    None => "nothing, until it asks",
                }
            }
            form.act.write method="post" action=(visit.link("do/send")) data-draft={ "send-" (name) } {
                (hidden(visit, &person.place))
                input type="hidden" name="to" value=(name);
                label {
                    span.label { "Message to " (stored(name)) }
                    textarea name="body" rows="3" required dir="auto" data-focus[writes] {}
                }
                span.kept {}
                button.main { "Send to " (stored(name)) }
            }
            p.meta { (arrives(person)) " It never interrupts it." }
        }
    }
}
