//! What is shown of the timeline, and by which clock: menus of links, and one form for what has no
//! list.

use std::collections::BTreeSet;

use maud::{Markup, html};
use understory_engine::kernel::surface::Surface;
use understory_model::Fault;

use super::layout::{DAY, Window};
use super::when::{self, HOUR};
use super::{LANES, Shown, mark_of, name_of};
use crate::marks::mark;
use crate::text::{plain, stored};
use crate::visit::Visit;

/// What each filter is called in the address. `by` is an older name of `agent`.
pub const FILTERS: [&str; 6] = ["of", "by", "agent", "type", "surface", "project"];

pub fn controls(visit: &Visit<'_>, shown: &Shown) -> Result<Markup, Fault> {
    Ok(html! {
        (things(visit, shown))
        (agents(visit, shown)?)
        (projects(visit, shown))
        @if !shown.in_bars() { (clocks(visit, shown)) }
        (lengths(visit, shown))
    })
}

/// A link with one filter changed; the place in the list belongs to what was filtered before.
fn with(visit: &Visit<'_>, changed: &[(&str, Option<&str>)]) -> String {
    let mut all = vec![("before", None)];
    all.extend(changed);
    visit.with("timeline", &all)
}

fn things(visit: &Visit<'_>, shown: &Shown) -> Markup {
    let (of, kind) = (visit.query.get("of"), visit.query.get("type"));
    let chosen = shown.wanted.surface;
    let title = match (of, kind, chosen) {
        (Some(of), ..) => plain(of),
        (_, Some(kind), _) => plain(kind),
        (_, _, Some(surface)) => name_of(surface).to_owned(),
        _ => "Everything".to_owned(),
    };
    let current = |is: bool| is.then_some("true");
    html! {
        details.menu id="menu-things" {
            summary.cut { (title) }
            div.sheet {
                ul {
                    li { a data-soft aria-current=[current(chosen.is_none())]
                        href=(with(visit, &[("surface", None), ("of", None), ("type", None)])) { "Everything" } }
                    @for surface in Surface::ALL {
                        li { a data-soft aria-current=[current(chosen == Some(surface))]
                            href=(with(visit, &[("surface", Some(surface.as_str()))])) {
                            (mark(mark_of(surface))) " " (name_of(surface))
                        } }
                    }
                }
                form data-soft method="get" action=(visit.with("timeline", &[])) {
                    (kept(visit, &["of", "type"]))
                    label { span.label { "Only what was done to" } input name="of" value=[of] placeholder="TASK-001, th_001, a label"; }
                    label { span.label { "Only items of the type" } input name="type" value=[kind] placeholder="Message, ToolCall"; }
                    button { "Show" }
                }
            }
        }
    }
}

fn agents(visit: &Visit<'_>, shown: &Shown) -> Result<Markup, Fault> {
    let chosen = shown.wanted.agent.as_deref();
    let lanes = shown.lanes.lanes.iter().map(|lane| lane.agent.as_str());
    let here = visit
        .around()?
        .who
        .agents
        .iter()
        .map(|one| one.agent.as_str());
    let names: BTreeSet<&str> = lanes.chain(here).collect();
    Ok(html! {
        details.menu id="menu-agents" {
            summary.cut { (chosen.map_or_else(|| "All agents".to_owned(), plain)) }
            div.sheet {
                ul {
                    li { a data-soft aria-current=[chosen.is_none().then_some("true")]
                        href=(with(visit, &[("agent", None), ("by", None)])) { "All agents" } }
                    @for name in names.into_iter().take(LANES * 2) {
                        li { a data-soft aria-current=[(chosen == Some(name)).then_some("true")]
                            href=(with(visit, &[("agent", Some(name)), ("by", None)])) { (stored(name)) } }
                    }
                }
                form data-soft method="get" action=(visit.with("timeline", &[])) {
                    (kept(visit, &["agent", "by"]))
                    label { span.label { "Somebody else" } input name="agent" value=[chosen]; }
                    button { "Show" }
                }
            }
        }
    })
}

fn projects(visit: &Visit<'_>, shown: &Shown) -> Markup {
    let chosen = visit.project();
    html! {
        details.menu id="menu-projects" {
            summary.cut { (chosen.map_or_else(|| "All projects".to_owned(), plain)) }
            div.sheet {
                ul {
                    li { a data-soft aria-current=[chosen.is_none().then_some("true")]
                        href=(with(visit, &[("project", None)])) { "All projects" } }
                    @for name in shown.projects.iter().take(100) {
                        li { a data-soft aria-current=[(chosen == Some(name.as_str())).then_some("true")]
                            href=(with(visit, &[("project", Some(name))])) { (stored(name)) } }
                    }
                }
            }
        }
    }
}

/// The rest of the query, which a form sends along.
fn kept(visit: &Visit<'_>, without: &[&str]) -> Markup {
    let fields = visit.query.fields();
    let fields = fields
        .filter(|(name, value)| !value.is_empty() && *name != "before" && !without.contains(name));
    html! { @for (name, value) in fields { input type="hidden" name=(name) value=(value); } }
}

fn clocks(visit: &Visit<'_>, shown: &Shown) -> Markup {
    let happened = shown.wanted.happened;
    html! {
        div.views {
            a data-soft aria-current=[happened.then_some("true")] href=(with(visit, &[("clock", None)])) { "When it happened" }
            a data-soft aria-current=[(!happened).then_some("true")]
                href=(with(visit, &[("clock", Some("written"))])) { "When written" }
        }
    }
}

/// Windows that end where this one ends.
fn lengths(visit: &Visit<'_>, shown: &Shown) -> Markup {
    let window = shown.window();
    let length = window.length();
    let to = |length: i64| {
        let there = Window {
            from: understory_model::Time(window.to.0 - length),
            to: window.to,
        };
        when::link(visit, there)
    };
    let whole = Window {
        from: shown.density.from,
        to: shown.now,
    };
    let is_all = window.from <= whole.from && shown.asked.live;
    let is = |is: bool| (is && !is_all).then_some("true");
    html! {
        div.views {
            a data-soft aria-current=[is(length <= 2 * HOUR)] href=(to(HOUR)) { "Hour" }
            a data-soft aria-current=[is(length > 2 * HOUR && length <= 2 * DAY)] href=(to(DAY)) { "Day" }
            a data-soft aria-current=[is(length > 2 * DAY && length <= 8 * DAY)] href=(to(7 * DAY)) { "Week" }
            a data-soft aria-current=[is_all.then_some("true")] href=(when::link(visit, whole)) data-hotkey="0" { "All" }
        }
    }
}

/// The filters that are on, each in words, with the address without it.
pub fn active(visit: &Visit<'_>) -> Vec<(String, String)> {
    let fields = visit.query.fields();
    let on = fields.filter(|(name, value)| FILTERS.contains(name) && !value.is_empty());
    let told = on.map(|(name, value)| {
        let word = if name == "by" { "agent" } else { name };
        let off = with(visit, &[(name, None)]);
        (format!("{word} is {}", plain(value)), off)
    });
    told.collect()
}
