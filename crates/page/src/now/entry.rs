//! One thing that needs the person: a sentence that says what is asked, what it holds up, and since when.

use maud::{Markup, html};

use understory_engine::reasoning::shape::Key;
use understory_engine::records::conflicts::Refused;

use super::Entry;
use crate::marks::{Mark, mark};
use crate::needs::Need;
use crate::shell::hidden;
use crate::text::{age, count, segment, stored};
use crate::visit::Visit;

/// Of what was said, what fits into a title.
const SENTENCE: usize = 160;

pub fn row(visit: &Visit<'_>, entry: &Entry<'_>, chosen: bool) -> Markup {
    let name = entry.need.name();
    let peek = visit.with("now", &[("peek", Some(name))]);
    html! {
        li.entry.is-chosen[chosen] id={ "need-" (name) } {
            (mark(sign(entry.need)))
            div.what {
                a.title.clamp href=(peek) data-peek data-soft { (title(entry)) }
                p.meta { (below(visit, entry)) }
            }
            (beside(visit, entry.need))
            (age(visit, entry.need.since()))
        }
    }
}

fn sign(need: &Need) -> Mark {
    match need {
        Need::Message(_) => Mark::NeedsYou,
        Need::Stuck(_) => Mark::Failed,
        Need::Wake(_) => Mark::Wake,
        Need::Proposal(_) => Mark::Proposal,
        Need::Conflict(_) | Need::Record(_) => Mark::Conflict,
        Need::Credentials(..) => Mark::Credential,
    }
}

/// What is asked, as a sentence.
pub fn title(entry: &Entry<'_>) -> Markup {
    html! {
        @match entry.need {
            Need::Message(line) | Need::Stuck(line) => {
                @if let Some(last) = &entry.last {
                    @let said = last.body.as_deref().unwrap_or_default();
                    (stored(last.sender_agent_id.as_deref().unwrap_or_default()))
                    @if said.contains('?') { " asks: " } @else { ": " }
                    (stored(&sentence(said)))
                } @else { (stored(line.title.as_deref().unwrap_or_default())) }
            }
            Need::Wake(wake) => { (stored(&wake.target_agent_id)) " could not be woken" }
            Need::Proposal(proposal) => {
                (stored(&proposal.proposed_by)) " proposes to change " (stored(&proposal.state.label))
            }
            Need::Conflict(conflict) => { "Two versions of " (stored(&key(&conflict.key))) ": merged from " (stored(&conflict.from)) }
            Need::Record(refused) => { (stored(&refused.agent)) " and somebody else wrote different versions of one record" }
            Need::Credentials(1, newest) => { "What " (stored(&newest.actor)) " wrote looks like it holds a credential" }
            Need::Credentials(all, _) => { (count(*all, "item looks", "items look")) " like holding a credential" }
        }
    }
}

/// Where the two versions of a record stand side by side.
pub fn settled(refused: &Refused) -> String {
    let (record, item) = (segment(&refused.record), segment(&refused.item));
    format!("records/{record}/settle?of={item}")
}

/// What a conflict is about, in a word.
fn key(key: &Key) -> String {
    match key {
        Key::Node(id) => id.clone(),
        Key::Edge(edge) => format!("{} {} {}", edge.from, edge.rel, edge.to),
    }
}

/// The question in a text, or its first sentence.
fn sentence(text: &str) -> String {
    let bare = text.replace(['*', '`', '>', '#'], "");
    let sentences: Vec<&str> = bare
        .split_inclusive(['.', '?', '!', '\n'])
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .collect();
    let asked = sentences.iter().find(|part| part.ends_with('?'));
    let chosen = asked.or(sentences.first()).copied().unwrap_or_default();
    match chosen.char_indices().nth(SENTENCE) {
        Some((at, _)) => format!("{}…", &chosen[..at]),
        None => chosen.to_owned(),
    }
}

/// The handle, and what it holds up.
fn below(visit: &Visit<'_>, entry: &Entry<'_>) -> Markup {
    html! {
        @match entry.need {
            Need::Message(line) | Need::Stuck(line) => {
                a.handle href=(visit.link(&format!("threads/{}", segment(&line.thread_id)))) { (line.thread_id) } " "
                (stored(line.title.as_deref().unwrap_or_default()))
                @if matches!(entry.need, Need::Stuck(_)) { " · is " (line.status.as_str()) }
                @if line.open_findings > 0 { " · " (count(line.open_findings, "finding is open", "findings are open")) }
                @if let Some((task, after)) = &entry.holds {
                    " · holds up " a.handle href=(visit.link(&format!("work/{}", segment(task)))) { (task) }
                    @if *after > 0 { " and " (after) " after it" }
                }
            }
            Need::Wake(wake) => {
                a.handle href=(visit.link(&format!("threads/{}", segment(&wake.thread_id)))) { (wake.thread_id) }
                @if !wake.tried.is_empty() { " · " (count(wake.tried.len() as i64, "way tried", "ways tried")) }
                @if let Some(last) = wake.tried.last() { ", the last: " (stored(&last.why)) }
            }
            Need::Proposal(proposal) => {
                span.handle { (proposal.id) } " line " (proposal.state.start)
                @if let Some(text) = &proposal.content { " · " (stored(&sentence(text))) }
            }
            Need::Conflict(conflict) => { span.handle { (stored(&conflict.conflict_id)) } }
            Need::Record(refused) => {
                a.handle href=(visit.link(&format!("records/{}", segment(&refused.record)))) { (refused.record) } " " (stored(&refused.title))
            }
            Need::Credentials(_, newest) => { span.handle { "#" (newest.seq) } " · " (newest.kind.as_str()) }
        }
    }
}

/// An act in the row: only what is seen whole in it and can be repeated without harm.
fn beside(visit: &Visit<'_>, need: &Need) -> Markup {
    html! {
        @match need {
            Need::Wake(wake) => {
                form.act method="post" action=(visit.link("do/wake")) data-draft={ "wake-" (wake.wake_id) } {
                    (hidden(visit, "now"))
                    input type="hidden" name="thread" value=(wake.thread_id);
                    input type="hidden" name="agent" value=(wake.target_agent_id);
                    button { "Try again" }
                }
            }
            Need::Proposal(proposal) => {
                a.button href=(visit.link(&format!("artifacts/{}#{}", segment(&proposal.state.label), proposal.state.start))) { "Look" }
            }
            Need::Credentials(..) => { a.button href=(visit.link("proof#credentials")) { "Look" } }
            Need::Record(refused) => { a.button href=(visit.link(&settled(refused))) { "Compare" } }
            Need::Conflict(_) | Need::Message(_) | Need::Stuck(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::sentence;

    #[test]
    fn the_question_of_a_message_is_its_title() {
        let text = "All is built. **Which networks do we take?** I stop here.";
        assert_eq!(sentence(text), "Which networks do we take?");
        assert_eq!(sentence("It runs. Slowly."), "It runs.");
        assert_eq!(sentence(" \n\n"), "");
        let long = sentence(&"ü".repeat(10_000));
        assert_eq!(long.chars().count(), 161);
    }
}
