//! Now: what needs the person, who is at work, and what was just done.

use maud::{Markup, html};
use serde_json::json;
use understory_engine::graph::onboard::{Closed, Onboard};
use understory_engine::system::who::Agent;
use understory_model::Fault;

use crate::around::Around;
use crate::marks::{Mark, mark, who};
use crate::needs::Need;
use crate::shell::hidden;
use crate::text::{age, count, number, segment, stored};
use crate::visit::Visit;
use crate::{Content, Place};

pub fn page(visit: &Visit<'_>) -> Result<Content, Fault> {
    let Around {
        needs,
        who: here,
        onboard,
    } = visit.around()?;
    let at_work: Vec<&Agent> = here.agents.iter().filter(|agent| !agent.you).collect();
    let recent = onboard.recent.as_deref().unwrap_or_default();
    let counts = &onboard.summary;
    let peek = visit.query.get("peek");
    Ok(Content {
        place: Place::Now,
        title: "Now".to_owned(),
        counts: format!(
            "{} · {} at work · {} open",
            count(needs.len() as i64, "thing needs you", "things need you"),
            count(at_work.len() as i64, "agent", "agents"),
            count(counts.unresolved, "task", "tasks"),
        ),
        json: json!({
            "needs_you": needs.iter().map(told).collect::<Vec<_>>(),
            "at_work": here.agents,
            "just_done": recent,
            "counts": counts,
        }),
        main: html! {
            section aria-labelledby="needs" {
                h2 id="needs" { "Needs you " @if !needs.is_empty() { span.count.amber { (number(needs.len() as i64)) } } }
                @if needs.is_empty() { (quiet(counts.total == 0 && here.agents.len() < 2)) }
                @else { ul.entries { @for need in needs { (entry(visit, need, peek)) } } }
            }
            section aria-labelledby="work" {
                h2 id="work" { "At work" }
                @if at_work.is_empty() {
                    p.empty { b { "Nobody is at work." } " " (count(counts.actionable, "task is ready.", "tasks are ready.")) }
                } @else {
                    ul.agents { @for agent in &at_work { (row(visit, agent, onboard)) } }
                }
            }
            section aria-labelledby="done" {
                h2 id="done" { "Just done" }
                @if recent.is_empty() { p.empty { "Nothing has been finished yet." } }
                @else { ul.done { @for one in recent { (done(visit, one)) } } }
            }
        },
        ..Content::default()
    })
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
fn told(need: &Need) -> serde_json::Value {
    match need {
        Need::Message(line) => json!({"kind": "message", "thread": line}),
        Need::Stuck(line) => json!({"kind": "stuck", "thread": line}),
        Need::Wake(wake) => json!({"kind": "wake_failed", "wake": wake}),
        Need::Proposal(proposal) => json!({"kind": "proposal", "proposal": proposal}),
        Need::Conflict(conflict) => json!({"kind": "conflict", "conflict": conflict}),
    }
}

fn entry(visit: &Visit<'_>, need: &Need, peek: Option<&str>) -> Markup {
    let since = need.since();
    match need {
        Need::Message(line) | Need::Stuck(line) => {
            let asks = matches!(need, Need::Message(_));
            let title = line.title.as_deref().unwrap_or_default();
            let open = peek == Some(line.thread_id.as_str());
            html! {
                li.entry id={ "need-" (line.thread_id) } {
                    (mark(if asks { Mark::NeedsYou } else { Mark::Failed }))
                    div.what {
                        a.title href=(visit.link(&format!("threads/{}", segment(&line.thread_id)))) { (stored(title)) }
                        p.meta {
                            span.handle { (line.thread_id) } " · "
                            @if asks { (count(line.unread.unwrap_or(0), "message you have not read", "messages you have not read")) }
                            @else { "is " (line.status.as_str()) }
                        }
                        @if asks { (peeked(visit, &line.thread_id, line.last_seq, open)) }
                    }
                    (age(visit, since))
                }
            }
        }
        Need::Wake(wake) => html! {
            li.entry id={ "need-" (wake.wake_id) } {
                (mark(Mark::Wake))
                div.what {
                    a.title href=(visit.link(&format!("threads/{}", segment(&wake.thread_id)))) {
                        (stored(&wake.target_agent_id)) " could not be woken"
                    }
                    p.meta {
                        span.handle { (wake.thread_id) } " · asked by " (stored(&wake.asked_by))
                        @if let Some(last) = wake.tried.last() { " · " (stored(&last.why)) }
                    }
                    form.act method="post" action=(visit.link("do/wake")) data-draft={ "wake-" (wake.wake_id) } {
                        (hidden(visit, "now"))
                        input type="hidden" name="thread" value=(wake.thread_id);
                        input type="hidden" name="agent" value=(wake.target_agent_id);
                        button { "Try again" }
                    }
                }
                (age(visit, since))
            }
        },
        Need::Proposal(proposal) => html! {
            li.entry id={ "need-" (proposal.id) } {
                (mark(Mark::Proposal))
                div.what {
                    p.title {
                        (stored(&proposal.proposed_by)) " proposes to change "
                        a href=(visit.link(&format!("artifacts/{}#{}", segment(&proposal.state.label), proposal.state.start))) { (stored(&proposal.state.label)) ", line " (proposal.state.start) }
                    }
                    p.meta { span.handle { (proposal.id) } @if let Some(why) = &proposal.reasoning { " · " (stored(why)) } }
                    @if let Some(text) = &proposal.content { pre.lines dir="auto" { (stored(text)) } }
                    form.act method="post" action=(visit.link("do/decide")) data-draft={ "decide-" (proposal.id) } {
                        (hidden(visit, "now"))
                        input type="hidden" name="proposal" value=(proposal.id);
                        button.main name="accept" value="true" { "Accept" }
                        button name="accept" value="false" { "Reject" }
                    }
                }
                (age(visit, since))
            }
        },
        Need::Conflict(conflict) => html! {
            li.entry id={ "need-" (conflict.conflict_id) } {
                (mark(Mark::Conflict))
                div.what {
                    p.title { "Two versions of " (stored(&conflict.conflict_id)) ": merged from " (stored(&conflict.from)) }
                    p.meta { span.handle { (conflict.conflict_id) } }
                    form.act method="post" action=(visit.link("do/settle")) data-draft={ "settle-" (conflict.conflict_id) } {
                        (hidden(visit, "now"))
                        input type="hidden" name="conflict" value=(conflict.conflict_id);
                        button name="keep" value="use_into" { "Keep main's" }
                        button name="keep" value="use_from" { "Take " (stored(&conflict.from)) "'s" }
                    }
                }
                (age(visit, since))
            }
        },
    }
}

/// The answer to a thread, without leaving the list.
fn peeked(visit: &Visit<'_>, thread: &str, last: i64, open: bool) -> Markup {
    html! {
        details.peek id={ "peek-" (thread) } open[open] {
            summary { "Answer" }
            form.act method="post" action=(visit.link("do/post")) data-draft={ "post-" (thread) } {
                (hidden(visit, "now"))
                input type="hidden" name="thread" value=(thread);
                input type="hidden" name="upto" value=(last);
                label { span.label { "Your answer" } textarea name="body" rows="3" required dir="auto" {} }
                button.main { "Answer" }
            }
            form.act method="post" action=(visit.link("do/read")) data-draft={ "read-" (thread) } {
                (hidden(visit, "now"))
                input type="hidden" name="thread" value=(thread);
                input type="hidden" name="upto" value=(last);
                button { "Mark as read" }
            }
        }
    }
}

fn row(visit: &Visit<'_>, agent: &Agent, onboard: &Onboard) -> Markup {
    let doing = onboard.in_progress.as_deref().unwrap_or_default();
    let task = doing.iter().find(|doing| doing.by == agent.agent);
    html! {
        li.agent id={ "agent-" (agent.agent) } {
            (who(&agent.agent, false))
            div.what {
                p.title {
                    a href=(visit.link(&format!("timeline?by={}", segment(&agent.agent)))) { (stored(&agent.agent)) }
                    @if let Some(task) = task {
                        " works on " a href=(visit.link(&format!("work/{}", segment(&task.id)))) { (stored(&task.summary)) }
                    } @else if !agent.on.is_empty() {
                        " is on "
                        @for (at, on) in agent.on.iter().enumerate() {
                            @if at > 0 { ", " }
                            a.handle href=(visit.link(&format!("go/{}", segment(on)))) { (on) }
                        }
                    } @else { " is here" }
                }
                p.meta {
                    @if !agent.client.is_empty() { (stored(&agent.client)) " · " }
                    "last seen " (age(visit, agent.seen)) " ago"
                }
            }
            @if let Some(task) = task { (age(visit, task.since)) }
        }
    }
}

fn done(visit: &Visit<'_>, one: &Closed) -> Markup {
    html! {
        li.row id={ "done-" (one.id) } {
            (mark(if one.dropped { Mark::Dropped } else { Mark::Done }))
            a.title href=(visit.link(&format!("work/{}", segment(&one.id)))) { (stored(&one.summary)) }
            span.handle { (one.id) }
            span.meta { (stored(&one.by)) }
            (age(visit, one.at))
        }
    }
}
