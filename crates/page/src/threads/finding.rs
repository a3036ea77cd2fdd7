//! A finding: what is wrong and where, the code that its reporter sent along, and the three steps.

use maud::{Markup, html};
use understory_engine::threads::directs;
use understory_engine::threads::findings::{Step, Traced};
use understory_model::Role;
use understory_model::thread::FindingState;

use super::chat::Chat;
use crate::marks::{Mark, mark};
use crate::shell::hidden;
use crate::text::{clock, linked, stored, told};
use crate::visit::Visit;

/// Lines of code that are shown.
const LINES: usize = 40;

pub fn card(visit: &Visit<'_>, chat: &Chat, finding: &Traced) -> Markup {
    html! {
        article.finding.(class(finding.state)) aria-label="Finding" {
            header {
                @if let Some(severity) = &finding.severity { span.chip.red { (told(severity)) } }
                div.words { (linked(visit, &finding.body)) }
                @if let Some(file) = &finding.file {
                    span.handle data-long { bdi { (told(file)) @if let Some(line) = finding.line { ":" (line) } } }
                }
            }
            (code(finding))
            (steps(finding))
            (acts(visit, chat, finding))
        }
    }
}

fn class(state: FindingState) -> &'static str {
    match state {
        FindingState::Verified => "verified",
        FindingState::Withdrawn => "withdrawn",
        FindingState::Reported | FindingState::Fixed | FindingState::Rejected => "open",
    }
}

fn code(finding: &Traced) -> Markup {
    let Some(code) = &finding.code else {
        return html! {};
    };
    let first = finding.code_line.or(finding.line).unwrap_or(1);
    html! {
        table.code dir="ltr" {
            @for (line, number) in code.lines().take(LINES).zip(first..) {
                tr.hit[Some(number) == finding.line] { td.n { (number) } td { (told(line)) } }
            }
        }
    }
}

/// Where a finding stands, as a mark and in words.
pub fn standing(finding: &Traced) -> (Mark, String) {
    let last = finding.steps.last();
    let by = last.map(|step| step.by.as_str()).unwrap_or_default();
    match finding.state {
        FindingState::Reported => (Mark::Failed, format!("reported by {by}")),
        FindingState::Fixed => (Mark::Claimed, "fix pushed, not verified".to_owned()),
        FindingState::Rejected => (Mark::Failed, format!("fix rejected by {by}")),
        FindingState::Verified => (Mark::Done, format!("verified by {by}")),
        FindingState::Withdrawn => (Mark::Dropped, format!("withdrawn by {by}")),
    }
}

fn steps(finding: &Traced) -> Markup {
    let has = |state: FindingState| finding.steps.iter().any(|step| step.state == state);
    let over = has(FindingState::Verified) || has(FindingState::Withdrawn);
    html! {
        ol.steps {
            @for one in &finding.steps { (step(one, finding.state)) }
            @if !over && !has(FindingState::Fixed) { li.quiet { (mark(Mark::Waits)) " no fix yet" } }
            @if !over { li.quiet { (mark(Mark::Waits)) " not verified yet" } }
        }
    }
}

fn step(step: &Step, now: FindingState) -> Markup {
    let (sign, word) = match step.state {
        FindingState::Reported if now == FindingState::Verified => (Mark::Done, "reported"),
        FindingState::Reported => (Mark::Failed, "reported"),
        FindingState::Fixed => (Mark::Claimed, "fix pushed"),
        FindingState::Rejected => (Mark::Failed, "rejected"),
        FindingState::Verified => (Mark::Done, "verified"),
        FindingState::Withdrawn => (Mark::Dropped, "withdrawn"),
    };
    html! {
        li {
            (mark(sign)) " "
            @match step.seq {
                Some(seq) if step.state != FindingState::Reported => { a href={ "#" (seq) } { b { (word) } } }
                _ => { b { (word) } }
            }
            " by " (stored(&step.by))
            @for commit in step.commits.iter().take(2) { " " span.handle { (told(commit)) } }
            " " (clock(step.at))
        }
    }
}

/// What can be said of it: to settle it is for who reported it, and for those who direct.
fn acts(visit: &Visit<'_>, chat: &Chat, finding: &Traced) -> Markup {
    let reporter = finding
        .steps
        .first()
        .map(|step| step.by.as_str())
        .unwrap_or_default();
    let own = reporter == visit.person();
    let role = visit.context.caller.role;
    if !finding.state.is_open() || role == Role::Auditor {
        return html! {};
    }
    let button = |act: &str, says: &str| {
        html! {
            form.act method="post" action=(visit.link(&format!("do/{act}"))) data-draft={ (act) "-" (finding.message_id) } {
                (hidden(visit, &chat.place))
                input type="hidden" name="thread" value=(chat.thread.thread_id);
                input type="hidden" name="message" value=(finding.message_id);
                button { (says) }
            }
        }
    };
    html! {
        div.acts {
            @if own || directs(role) {
                (button("verify_finding", "Verify"))
                @if finding.state == FindingState::Fixed { (button("reject_finding", "Reject the fix")) }
                (button("withdraw_finding", "Withdraw"))
            } @else {
                p.meta { b { "Only " (stored(reporter)) " or an operator may settle this." } " You are here as " (role.as_str()) "." }
            }
        }
    }
}
