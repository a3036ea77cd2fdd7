//! Conversations: which came from which, who stands where, and one or two of them side by side.

mod one;
mod tree;

use maud::{Markup, html};
use serde_json::json;
use understory_engine::garden::conversation::log::State;
use understory_engine::garden::conversation::stack::{Branch, Stack};
use understory_model::Fault;

use crate::text::{number, segment};
use crate::visit::Visit;
use crate::{Content, Place, no_page};

/// Conversations of a page.
const PAGE: i64 = 100;

pub fn page(visit: &Visit<'_>, path: &[&str]) -> Result<Content, Fault> {
    match path {
        [] => both(visit, visit.query.get("left")),
        [name] => both(visit, Some(*name)),
        _ => Err(no_page()),
    }
}

/// All conversations of the page's stack, without their nesting.
fn flat<'b>(branches: &'b [Branch], all: &mut Vec<&'b Branch>) {
    for branch in branches {
        all.push(branch);
        flat(&branch.children, all);
    }
}

fn both(visit: &Visit<'_>, left: Option<&str>) -> Result<Content, Fault> {
    let mut asked = json!({"limit": PAGE});
    if let Some(cursor) = visit.query.get("cursor") {
        asked["cursor"] = cursor.into();
    }
    let stack: Stack = visit.ask("garden_stack", asked)?;
    let mut all = Vec::new();
    flat(&stack.tree, &mut all);
    let own = stack.frames.get(visit.person());
    let own = own.and_then(|frame| frame.branch_uuid.as_deref());
    let first = all.first().map(|branch| branch.uuid.as_str());
    // On a phone the tree stands alone until one of it is chosen.
    let is_chosen = left.is_some();
    // Where one stands oneself is what one wants to see first.
    let left = left.or(own).or(first);
    let right = visit
        .query
        .get("right")
        .filter(|right| Some(*right) != left);
    let mut shown = Vec::new();
    for name in left.into_iter().chain(right) {
        shown.push(one::read(visit, name)?);
    }
    let open = all.iter().filter(|one| one.state == State::Active).count() as i64;
    let ended = all.len() as i64 - open;
    let tree = tree::tree(visit, &stack, (left, right))?;
    Ok(Content {
        place: Place::Conversations,
        title: "Conversations".to_owned(),
        counts: match all.len() {
            0 => String::new(),
            _ => format!("{} open, {} ended", number(open), number(ended)),
        },
        controls: controls(visit, &all, (left, right)),
        list: (!all.is_empty()).then_some(tree),
        flush: true,
        is_one: is_chosen,
        main: html! {
            @if shown.is_empty() {
                p.empty { b { "No conversations." } " What is added to the timeline stands in one; the first begins with the first item." }
            }
            div.side-by-side.two[shown.len() > 1] {
                @for (at, one) in shown.iter().enumerate() { (one::column(visit, &stack, one, at, (left, right))) }
            }
        },
        json: json!({"stack": stack, "shown": shown.iter().map(|one| &one.latest).collect::<Vec<_>>()}),
        ..Content::default()
    })
}

fn controls(
    visit: &Visit<'_>,
    all: &[&Branch],
    (left, right): (Option<&str>, Option<&str>),
) -> Markup {
    let Some(left) = left else {
        return html! {};
    };
    // Beside it stands its parent or another that came from it, unless another was chosen.
    let here = all.iter().find(|one| one.uuid == left);
    let other = all
        .iter()
        .find(|one| {
            one.uuid != left && here.is_some_and(|here| one.parent_uuid == here.parent_uuid)
        })
        .or_else(|| all.iter().find(|one| one.uuid != left));
    let other = right.or(other.map(|one| one.uuid.as_str()));
    let is_open = here.is_some_and(|here| here.state == State::Active);
    html! {
        @if let Some(other) = other {
            nav.views aria-label="View" {
                a data-soft href=(beside(visit, left, Some(other))) aria-current=[right.is_some().then_some("true")] { "Side by side" }
                a data-soft href=(beside(visit, left, None)) aria-current=[right.is_none().then_some("true")] { "One" }
            }
        }
        @if is_open {
            a.button data-soft data-hotkey="f" href=(visit.with("conversations", &[("left", Some(left)), ("do", Some("branch"))])) { "Branch off " kbd { "F" } }
        }
    }
}

/// The address of one conversation, or of two.
fn beside(visit: &Visit<'_>, left: &str, right: Option<&str>) -> String {
    match right {
        Some(right) => visit.link(&format!(
            "conversations?left={}&right={}",
            segment(left),
            segment(right)
        )),
        None => visit.link(&format!("conversations?left={}", segment(left))),
    }
}
