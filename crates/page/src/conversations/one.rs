//! One conversation: what it branched from, what was said in it, and room to go on or to end it.

use maud::{Markup, html};
use understory_engine::garden::conversation::latest::{Latest, Shown, latest};
use understory_engine::garden::conversation::log::State;
use understory_engine::garden::conversation::stack::Stack;
use understory_engine::garden::shown::{Fields, ItemShape, ShownItem};
use understory_model::{Fault, Seq};

use super::tree::{named, who_stands};
use super::{beside, flat};
use crate::dates::clock;
use crate::marks::{mark, who};
use crate::shell::hidden;
use crate::text::{linked, number, segment, stored};
use crate::visit::Visit;
use crate::why;

/// Items that a conversation begins with on a page.
const PAGE: i64 = 100;
/// How long one's own words can be taken back, in microseconds.
const WINDOW: i64 = 5 * 60 * 1_000_000;

pub struct One {
    pub name: String,
    pub latest: Latest,
}

pub fn read(visit: &Visit<'_>, name: &str) -> Result<One, Fault> {
    let (engine, caller) = (visit.context.engine, visit.context.caller);
    let before = visit
        .query
        .get("before")
        .and_then(|n| n.parse().ok())
        .map(Seq);
    let latest = engine.view(caller, |view| latest(view, name, before, PAGE))?;
    Ok(One {
        name: name.to_owned(),
        latest,
    })
}

pub fn column(
    visit: &Visit<'_>,
    stack: &Stack,
    one: &One,
    at: usize,
    (left, right): (Option<&str>, Option<&str>),
) -> Markup {
    let (log, name) = (&one.latest.log, one.name.as_str());
    let back = match (left, right) {
        (Some(left), Some(right)) => format!(
            "conversations?left={}&right={}",
            segment(left),
            segment(right)
        ),
        _ => format!("conversations?left={}", segment(name)),
    };
    let open = log.state == State::Active;
    let doing = visit
        .query
        .get("do")
        .filter(|_| at == 0 || visit.query.get("on") == Some(name));
    let on = visit.query.get("on").is_none_or(|on| on == name);
    let is_first = log.parent_uuid.is_none();
    html! {
        section.conversation id={ "log-" (name) } aria-label="Conversation" {
            div.top {
                div.bar {
                    h2 { (named(log.title.as_deref(), is_first, &log.created_by)) " "
                        @for who in who_stands(visit, stack, name).into_iter().take(3) {
                            span.chip.blue { @if who == visit.person() { "you" } @else { (stored(who)) } } " "
                        } }
                    @if open && !is_first {
                        a.button.plain data-soft href=(visit.with("conversations", &[("left", left), ("do", Some("end")), ("on", Some(name))])) { "End it…" }
                    }
                    @if right.is_some() {
                        @let other = if at == 0 { right } else { left };
                        a.button.plain data-soft data-close href=(beside(visit, other.unwrap_or(name), None)) aria-label="Close this one" { "×" }
                    }
                }
                @if let Some(step) = &one.latest.forked_at {
                    p.quote { "branched from: “" (why::told_short(step)) "”" }
                }
                @if let Some(old) = &log.continues {
                    p.quote { "goes on from " a data-soft href=(beside(visit, old, None)) { "a conversation that was ended" } }
                }
                @if let Some(summary) = &log.summary {
                    div.summary { p.meta { "Ended by " (stored(&summary.author)) ", " (clock(summary.timestamp)) " with what it came to:" }
                        div.words { (linked(visit, &summary.content)) } }
                }
            }
            (items(visit, one, &back))
            div.bottom {
                @if open {
                    @match doing.filter(|_| on) {
                        Some("branch") => (branch(visit, name, &back)),
                        Some("end") if !is_first => (end(visit, stack, one, &back)),
                        _ => (say(visit, stack, name, &back)),
                    }
                } @else { (again(visit, name)) }
            }
        }
    }
}

fn items(visit: &Visit<'_>, one: &One, back: &str) -> Markup {
    let latest = &one.latest;
    let first = latest.items.first().map(|shown| shown.entry.seq);
    html! {
        @if let Some(first) = first.filter(|_| latest.earlier) {
            p { a.more data-soft href=(visit.link(&format!("{back}&before={first}"))) {
                "Show 100 earlier of " (number(latest.count)) } }
        }
        @if latest.items.is_empty() { p.empty { "Nothing was said here yet." } }
        ol.messages data-follow-end {
            @for shown in &latest.items {
                @if let ItemShape::Shown(item) = &shown.item { (said(visit, item, shown, back)) }
            }
        }
        @if visit.query.get("before").is_some() {
            p { a.more data-soft href=(visit.link(back)) { "Show the newest" } }
        }
    }
}

/// The words of an item, where it is something that somebody said.
fn words(item: &ShownItem) -> Option<&str> {
    match &item.fields {
        Fields::Message(message) => Some(&message.description),
        Fields::Own(own) if ["Message", "Note"].contains(&item.kind.as_str()) => {
            own.fields.get("description").and_then(|text| text.as_str())
        }
        _ => None,
    }
}

fn undone(item: &ShownItem) -> bool {
    match &item.fields {
        Fields::Message(message) => message.undone,
        Fields::Own(own) => own.undone,
        Fields::Change(_) => false,
    }
}

fn said(visit: &Visit<'_>, item: &ShownItem, shown: &Shown, back: &str) -> Markup {
    let entry = &shown.entry;
    let sender = match &item.fields {
        Fields::Own(own) => own.fields.get("sender").and_then(|sender| sender.as_str()),
        _ => None,
    };
    let author = sender.unwrap_or(&item.actor);
    let own = item.actor == visit.person() && visit.now.0 - item.realized_at.0 < WINDOW;
    let is_message = ["Message", "Note"].contains(&item.kind.as_str());
    html! {
        @if is_message {
            li.message id={ "item-" (item.seq) } data-row {
                (who(author, author == visit.person()))
                div.what {
                    div.head { b { (stored(author)) } " " (clock(item.realized_at))
                        @if item.kind == "Note" { " " span.meta { "note" } }
                        " " a.meta data-hotkey="w" href=(visit.link(&format!("why/{}", segment(&item.uuid)))) { "why" }
                        @if own && !undone(item) { (erase(visit, &item.uuid, back)) }
                    }
                    @if undone(item) { p.none { "Taken back." } }
                    @else { div.words { (linked(visit, words(item).unwrap_or_default())) } }
                }
            }
        } @else {
            li.event id={ "item-" (item.seq) } data-row {
                (mark(why::sign_of(entry)))
                a.what.title href=(visit.link(&why::place_of(entry))) {
                    (stored(author)) " " (entry.action.as_deref().unwrap_or(&entry.kind).replace('_', " "))
                    @if let Some(thing) = why::thing_of(entry) { " " span.handle { (stored(&thing)) } }
                    @if !entry.text.is_empty() { " " (stored(&entry.text)) }
                }
                (clock(item.realized_at))
            }
        }
    }
}

fn erase(visit: &Visit<'_>, item: &str, back: &str) -> Markup {
    html! {
        form.act.erase method="post" action=(visit.link("do/unsay")) {
            (hidden(visit, back))
            input type="hidden" name="item" value=(item);
            button.plain { "Erase" }
        }
    }
}

fn say(visit: &Visit<'_>, stack: &Stack, name: &str, back: &str) -> Markup {
    let frame = stack.frames.get(visit.person());
    let own = frame.and_then(|frame| frame.branch_uuid.as_deref());
    html! {
        form.act.write method="post" action=(visit.link("do/say")) data-draft={ "say-" (name) } {
            (hidden(visit, back))
            input type="hidden" name="log" value=(name);
            label.wide { span.skip { "Say something here" } textarea name="body" rows="2" required dir="auto" placeholder="Say something here" data-hotkey="m" {} }
            span.kept {}
            button.main { "Say it" }
        }
        @if own != Some(name) {
            form.act.stand method="post" action=(visit.link("do/stand")) {
                (hidden(visit, back))
                input type="hidden" name="log" value=(name);
                @if let Some(own) = own { input type="hidden" name="from" value=(own); }
                button.plain { "Stand here" } span.meta { "What you add elsewhere comes here then." }
            }
        }
    }
}

fn branch(visit: &Visit<'_>, name: &str, back: &str) -> Markup {
    html! {
        form.act.write method="post" action=(visit.link("do/branch_off")) data-draft={ "branch-" (name) } data-then=(visit.link("conversations")) {
            (hidden(visit, "conversations"))
            input type="hidden" name="log" value=(name);
            label.wide { span.label { "What the new conversation is about" } input name="title" maxlength="200" autocomplete="off" dir="auto" data-focus; }
            span.kept.meta { "You stand in it then. What is said here stays here." }
            a.button.plain data-soft href=(visit.link(back)) { "Not yet" }
            button.main { "Branch off" }
        }
    }
}

fn end(visit: &Visit<'_>, stack: &Stack, one: &One, back: &str) -> Markup {
    let mut all = Vec::new();
    flat(&stack.tree, &mut all);
    let name = one.name.as_str();
    let parent = one.latest.log.parent_uuid.as_deref();
    let parent = all.iter().find(|other| Some(other.uuid.as_str()) == parent);
    let active = |other: &&&super::Branch| {
        other.parent_uuid.as_deref() == Some(name) && other.state == State::Active
    };
    html! {
        form.act.write method="post" action=(visit.link("do/end")) data-draft={ "end-" (name) } data-then=(visit.link(back)) {
            (hidden(visit, back))
            input type="hidden" name="log" value=(name);
            label.wide { span.label { b { "End this conversation with what it came to" } } textarea name="summary" rows="3" required dir="auto" data-focus {} }
            span.kept.meta {
                @if let Some(child) = all.iter().find(active) { "“" (super::tree::title_of(child)) "” was branched off here and is open; it ends first. " }
                @if let Some(parent) = parent { "Who is here goes back to " (super::tree::title_of(parent)) ". " }
                "It can be taken up again."
            }
            a.button.plain data-soft href=(visit.link(back)) { "Not yet" }
            button.main { "End it" }
        }
    }
}

fn again(visit: &Visit<'_>, name: &str) -> Markup {
    html! {
        form.act.stand method="post" action=(visit.link("do/reopen_conversation")) data-then=(visit.link("conversations")) {
            (hidden(visit, "conversations"))
            input type="hidden" name="log" value=(name);
            button { "Take it up again" }
            span.meta { "It goes on in a new conversation; this one stays as it is." }
        }
    }
}
