//! Proposals where they stand: beneath the line that they change, with what changes, why, and what can be done.

use maud::{Markup, html};
use understory_model::Role;

use super::document::{Document, Placed};
use super::marked::change;
use crate::marks::{Mark, mark};
use crate::shell::hidden;
use crate::text::{age, count, linked, stored};
use crate::visit::Visit;

/// How long one's own words can be taken back, in microseconds.
const WINDOW: i64 = 5 * 60 * 1_000_000;
/// The form that several proposals are chosen for.
const CHOSEN: &str = "chosen";

pub fn card(visit: &Visit<'_>, document: &Document, one: &Placed) -> Markup {
    let shown = &one.shown;
    let id = shown.id.as_str();
    let all = &document.proposals;
    let at = all
        .iter()
        .position(|other| other.shown.id == id)
        .unwrap_or(0);
    let place = document.whole().at(None).place();
    let edits = one.range.is_some() && visit.query.get("edit") == Some(id);
    let is_own = shown.proposed_by == visit.person();
    html! {
        li.beneath id=(id) data-row tabindex="-1" aria-label={ "Proposal " (at + 1) " of " (all.len()) } {
            form.act.proposal method="post" action=(visit.link("do/decide")) data-draft={ "edit-" (id) } data-then=(visit.link(&place)) {
                (hidden(visit, &place))
                (head(visit, document, one, at))
                @if one.range.is_none() {
                    p.note { "The lines were changed since it was proposed, so it cannot be accepted as it is." }
                }
                @if edits { (editor(one)) } @else { (changed(document, one)) }
                @if let Some(why) = shown.reasoning.as_deref().filter(|why| !why.trim().is_empty()) {
                    div.words.note { (linked(visit, why)) }
                }
                @if edits { input type="hidden" name="proposal" value=(id); (editing(visit, &place)) }
                @else { (acts(visit, document, one, is_own)) }
            }
            @if is_own && visit.now.0 - shown.created_at.0 < WINDOW && let Some(item) = &shown.state.item {
                form.act method="post" id={ "withdraw-" (id) } action=(visit.link("do/withdraw")) data-then=(visit.link(&place)) {
                    (hidden(visit, &place))
                    input type="hidden" name="proposal" value=(id);
                    input type="hidden" name="item" value=(item);
                }
            }
        }
    }
}

fn head(visit: &Visit<'_>, document: &Document, one: &Placed, at: usize) -> Markup {
    let (shown, all) = (&one.shown, &document.proposals);
    let is_own = shown.proposed_by == visit.person();
    html! {
        div.bar {
            (mark(Mark::Proposal))
            p { b { @if is_own { "You propose" } @else { (stored(&shown.proposed_by)) " proposes" } } " "
                span.meta {
                    @if let Some(sure) = shown.confidence { ((sure * 100.0).round()) "% sure, " }
                    (age(visit, shown.created_at)) " ago" " · " span.handle { (shown.id) }
                } }
            @if all.len() > 1 {
                span.meta { (at + 1) " of " (all.len()) }
                @if at > 0 { a.button.plain data-card data-hotkey="p" href={ "#" (all[at - 1].shown.id) } aria-label="The proposal before" { "‹" } }
                @if at + 1 < all.len() { a.button.plain data-card data-hotkey="n" href={ "#" (all[at + 1].shown.id) } aria-label="The next proposal" { "›" } }
                label.choose { input type="checkbox" name="proposal" value=(shown.id) form=(CHOSEN) data-hotkey="x" aria-label={ "Choose " (shown.id) }; }
            }
        }
    }
}

/// The lines as they are and as they would be.
fn changed(document: &Document, one: &Placed) -> Markup {
    let old: Vec<&str> = match &one.range {
        Some(range) => {
            let lines = document.lines.lines.iter();
            let within = lines.filter(|line| range.contains(&(line.line - 1)));
            within.map(|line| line.content.as_str()).collect()
        }
        None => Vec::new(),
    };
    let content = one.shown.content.as_deref().unwrap_or_default();
    let new: Vec<&str> = match content {
        "" => Vec::new(),
        text => text
            .strip_suffix('\n')
            .unwrap_or(text)
            .split('\n')
            .collect(),
    };
    html! {
        @if new.is_empty() && old.is_empty() { p.note { "It takes lines away that are not there any more." } }
        @else { (change(&old, &new)) }
    }
}

fn editor(one: &Placed) -> Markup {
    let content = one.shown.content.as_deref().unwrap_or_default();
    let rows = content.lines().count().clamp(2, 20);
    html! {
        input type="hidden" name="edited" value="yes";
        label { span.label { "What is to stand there" }
            // A browser drops the first line feed of a field.
            textarea.code name="content" rows=(rows) dir="auto" data-focus { "\n" (content) } }
    }
}

fn editing(visit: &Visit<'_>, place: &str) -> Markup {
    html! {
        div.acts {
            button.main name="accept" value="true" { "Accept as edited" }
            a.button.plain data-soft data-close href=(visit.link(place)) { "Not now" }
            span.kept {}
        }
    }
}

fn acts(visit: &Visit<'_>, document: &Document, one: &Placed, is_own: bool) -> Markup {
    let (id, all) = (one.shown.id.as_str(), &document.proposals);
    let place = document.whole().at(None).place();
    let state = &one.shown.state;
    let others = !is_own || visit.context.caller.role == Role::Operator;
    html! {
        input type="hidden" name="proposal" value=(id);
        div.acts {
            @if one.range.is_some() && others {
                button.main name="accept" value="true" data-hotkey="a" aria-label={ "Accept " (id) } { "Accept " kbd { "A" } }
            }
            button name="accept" value="false" data-hotkey="r" aria-label={ "Reject " (id) } { "Reject " kbd { "R" } }
            @if one.range.is_some() && others {
                a.button.plain data-soft data-hotkey="e" href=(visit.link(&format!("{place}?edit={id}#{id}"))) aria-label={ "Edit " (id) " first" } { "Edit first" }
            } @else if one.range.is_none() {
                a.button.plain data-soft href=(visit.link(&format!("{place}?propose={}-{}", state.start, state.end))) { "Propose it again" }
            } @else { span.meta { "Somebody else accepts it." } }
            @if is_own && visit.now.0 - one.shown.created_at.0 < WINDOW && one.shown.state.item.is_some() {
                button.plain form={ "withdraw-" (id) } { "Take back" }
            }
            @if all.len() > 1 {
                button.plain.every form="every" name="accept" value="true" {
                    @if all.len() == 2 { "Accept both" } @else { "Accept all " (all.len()) }
                }
            }
        }
    }
}

/// What is done with several: those that were chosen, and all.
pub fn several(visit: &Visit<'_>, document: &Document) -> Markup {
    let place = document.whole().at(None).place();
    html! {
        form.act.several id=(CHOSEN) method="post" action=(visit.link("do/decide")) data-then=(visit.link(&place)) {
            (hidden(visit, &place))
            p.meta { (count(document.proposals.len() as i64, "proposal", "proposals")) ", " span data-chosen { "choose some above to decide them together" } }
            button name="accept" value="true" data-count="Accept" { "Accept chosen" }
            button name="accept" value="false" data-count="Reject" { "Reject chosen" }
        }
        form.act.several id="every" method="post" action=(visit.link("do/decide")) data-then=(visit.link(&place)) {
            (hidden(visit, &place))
            @for one in document.proposals.iter().filter(|one| one.range.is_some()) {
                input type="hidden" name="proposal" value=(one.shown.id);
            }
        }
    }
}
