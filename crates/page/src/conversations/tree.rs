//! The tree of conversations: which came from which, which are over and what came of them, and who stands where.

use std::collections::HashMap;

use maud::{Markup, html};
use understory_engine::garden::conversation::latest::counts;
use understory_engine::garden::conversation::log::State;
use understory_engine::garden::conversation::stack::{Branch, Stack};
use understory_model::Fault;

use super::{beside, flat};
use crate::text::{count, segment, stored};
use crate::visit::Visit;

/// Names of those who stand in a conversation.
const NAMES: usize = 3;

pub fn tree(
    visit: &Visit<'_>,
    stack: &Stack,
    shown: (Option<&str>, Option<&str>),
) -> Result<Markup, Fault> {
    let mut all = Vec::new();
    flat(&stack.tree, &mut all);
    let names: Vec<String> = all.iter().map(|one| one.uuid.clone()).collect();
    let (engine, caller) = (visit.context.engine, visit.context.caller);
    let counts = engine.view(caller, |view| counts(view, &names))?;
    let next = stack.pagination.next_cursor.as_deref();
    Ok(html! {
        ul.tree aria-label="Conversations" { @for branch in &stack.tree { (item(visit, stack, branch, (0, &counts, shown))) } }
        @if let Some(cursor) = next {
            p { a.more data-soft href=(visit.link(&format!("conversations?cursor={}", segment(cursor)))) { "Show 100 more" } }
        }
    })
}

type Around<'a> = (
    usize,
    &'a HashMap<String, i64>,
    (Option<&'a str>, Option<&'a str>),
);

fn item(
    visit: &Visit<'_>,
    stack: &Stack,
    branch: &Branch,
    (depth, counts, shown): Around<'_>,
) -> Markup {
    let (left, right) = shown;
    let name = branch.uuid.as_str();
    let chosen = left == Some(name) || right == Some(name);
    let over = branch.state == State::Collapsed;
    let items = counts.get(name).copied().unwrap_or(0);
    html! {
        li id={ "in-" (name) } {
            div.entry.is-chosen[chosen].over[over] data-row {
                (dot(over, depth == 0))
                div.what {
                    a.title.cut data-soft href=(beside(visit, name, None)) aria-current=[chosen.then_some("true")] { (title_of(branch)) }
                    p.meta.cut {
                        @if let Some(summary) = &branch.summary { "ended: " (stored(summary)) }
                        @else {
                            @if depth == 0 && branch.parent_uuid.is_none() { "first conversation, " }
                            (standing(visit, stack, name)) (count(items, "item", "items"))
                        }
                    }
                }
                @if let Some(left) = left.filter(|left| *left != name && right != Some(name)) {
                    a.button.plain data-soft data-peek href=(beside(visit, left, Some(name))) title="Show it beside the other" aria-label="Show it beside the other" { "⇥" }
                }
            }
            @if !branch.children.is_empty() {
                ul { @for child in &branch.children { (item(visit, stack, child, (depth + 1, counts, shown))) } }
            }
        }
    }
}

/// Open is a ring, over is filled.
fn dot(over: bool, first: bool) -> Markup {
    let (word, class) = match (over, first) {
        (true, _) => ("ended", "mark edge"),
        (false, true) => ("the first", "mark ink-2"),
        (false, false) => ("open", "mark blue"),
    };
    html! {
        svg class=(class) viewBox="0 0 16 16" role="img" aria-label=(word) {
            @if over { circle cx="8" cy="8" r="5" fill="currentColor" {} }
            @else { circle cx="8" cy="8" r="4.4" fill="none" stroke="currentColor" stroke-width="2" {} }
        }
    }
}

/// What people call a conversation.
pub fn title_of(branch: &Branch) -> Markup {
    named(
        branch.title.as_deref(),
        branch.parent_uuid.is_none(),
        &branch.created_by,
    )
}

pub fn named(title: Option<&str>, is_first: bool, by: &str) -> Markup {
    html! {
        @match (title, is_first) {
            (Some(title), _) => (stored(title)),
            (None, true) => "The first conversation",
            (None, false) => { "A conversation of " (stored(by)) },
        }
    }
}

/// Those who stand in a conversation, the person first.
pub fn who_stands<'s>(visit: &Visit<'_>, stack: &'s Stack, name: &str) -> Vec<&'s str> {
    let frames = stack.frames.iter();
    let here = frames.filter(|(_, place)| place.branch_uuid.as_deref() == Some(name));
    let mut who: Vec<&str> = here.map(|(who, _)| who.as_str()).collect();
    who.sort_by_key(|one| (*one != visit.person(), *one));
    who
}

/// `ada is here, `
fn standing(visit: &Visit<'_>, stack: &Stack, name: &str) -> Markup {
    let who = who_stands(visit, stack, name);
    let you = who.first() == Some(&visit.person());
    html! {
        @if !who.is_empty() {
            @for (at, one) in who.iter().take(NAMES).enumerate() {
                @if at > 0 { ", " }
                @if *one == visit.person() { "you" } @else { (stored(one)) }
            }
            @if who.len() > NAMES { " and " (count((who.len() - NAMES) as i64, "other", "others")) }
            @if who.len() > 1 || you { " are here, " } @else { " is here, " }
        }
    }
}
