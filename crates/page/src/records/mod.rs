//! Records: what is being thought about, as a tree; each with its history, and with the two versions of a
//! conflict side by side.

mod forms;
mod history;
mod one;
mod settle;
mod tree;

use maud::{Markup, html};
use serde_json::json;
use understory_engine::records::activity::{Entry, RecentActivity};
use understory_engine::records::conflicts::{self, Refused};
use understory_engine::records::overview::Overview;
use understory_model::record::{ActivityKind, RecordState};
use understory_model::{Code, Fault};

use crate::marks::{Mark, mark, who};
use crate::text::{age, count, number, segment, stored};
use crate::visit::Visit;
use crate::{Content, Place, no_page};

/// What happened last, beside the tree.
const LATELY: i64 = 20;
/// What of an address belongs to the place that it leads to, and not to the list beside it.
const OWN: [&str; 6] = ["act", "from", "of", "after", "more", "below"];

pub fn page(visit: &Visit<'_>, path: &[&str]) -> Result<Content, Fault> {
    match path {
        [] => all(visit),
        [record] => one::page(visit, record).map_err(unknown),
        [record, "history"] => history::page(visit, record).map_err(unknown),
        [record, "settle"] => settle::page(visit, record).map_err(unknown),
        _ => Err(no_page()),
    }
}

/// A record that is not there is a page that is not there.
fn unknown(fault: Fault) -> Fault {
    match fault.code {
        Code::RecordNotFound => Fault {
            code: Code::NotFound,
            ..fault
        },
        _ => fault,
    }
}

/// The refused updates of this page's project that nobody settled yet, the newest first.
pub fn conflicts(visit: &Visit<'_>) -> Result<Vec<Refused>, Fault> {
    let context = &visit.context;
    context.engine.view(context.caller, |view| {
        conflicts::open(view, visit.project())
    })
}

/// The mark of a record's state.
fn state_mark(state: RecordState) -> Mark {
    match state {
        RecordState::Open => Mark::Open,
        RecordState::Later => Mark::Later,
        RecordState::Resolved => Mark::Resolved,
        RecordState::Discarded => Mark::Discarded,
    }
}

/// The address of a record with the filter of this page, and of what belongs to it.
fn address(visit: &Visit<'_>, place: &str, fields: &[(&str, &str)]) -> String {
    let mut changed: Vec<(&str, Option<&str>)> = OWN.iter().map(|name| (*name, None)).collect();
    changed.retain(|(name, _)| !fields.iter().any(|(other, _)| other == name));
    changed.extend(fields.iter().map(|(name, value)| (*name, Some(*value))));
    visit.with(place, &changed)
}

fn place(handle: &str) -> String {
    format!("records/{}", segment(handle))
}

/// The page without a record: what waits, who is in what, and what happened last.
fn all(visit: &Visit<'_>) -> Result<Content, Fault> {
    let overview: Overview = visit.ask("get_project_overview", json!({}))?;
    let kinds = [
        ActivityKind::RecordCreated,
        ActivityKind::RecordUpdated,
        ActivityKind::StateTransition,
    ];
    let lately: RecentActivity = visit.ask(
        "get_recent_activity",
        json!({"types": kinds, "limit": LATELY}),
    )?;
    let open = conflicts(visit)?;
    let tree = tree::Tree::of(visit, None, &open)?;
    let totals = overview.totals.as_ref();
    let counts = match totals {
        Some(totals) if totals.records > 0 => format!(
            "{} · {} open · {} later",
            count(totals.records, "record", "records"),
            number(totals.open_records),
            number(totals.later_records)
        ),
        _ => String::new(),
    };
    let new = visit.query.get("act") == Some("new");
    Ok(Content {
        place: Place::Records,
        title: "Records".to_owned(),
        counts,
        controls: html! {
            a.button data-soft data-hotkey="c" href=(address(visit, "records", &[("act", "new")])) { "New record" }
        },
        // On a phone the form stands in the place of the list.
        is_one: new,
        main: html! {
            @if new { (forms::new(visit, None)) }
            @else if totals.is_none_or(|totals| totals.records == 0) { (nothing()) }
            @else { (overall(visit, &overview, &lately, &open)) }
        },
        json: json!({"tree": tree.json(), "conflicts": open, "overview": overview, "lately": lately}),
        list: Some(tree.shown(visit)),
        ..Content::default()
    })
}

fn nothing() -> Markup {
    html! {
        p.empty {
            b { "Nothing is being thought about." }
            " A record is a question with what is known so far; agents make them with their first open question."
        }
    }
}

fn overall(
    visit: &Visit<'_>,
    overview: &Overview,
    lately: &RecentActivity,
    open: &[Refused],
) -> Markup {
    let sessions = overview.open_sessions.iter();
    let in_it: Vec<_> = sessions
        .filter(|one| !one.session.active_records.is_empty())
        .collect();
    html! {
        @if !open.is_empty() {
            section aria-labelledby="two" {
                h2 id="two" { "Two versions" }
                ul.entries { @for one in open { (waiting(visit, one)) } }
            }
        }
        section aria-labelledby="in-it" {
            h2 id="in-it" { "In it now" }
            @if in_it.is_empty() { p.empty { b { "Nobody has a record open." } } }
            @else {
                ul.agents {
                    @for one in in_it {
                        li.row {
                            (who(&one.session.agent, one.session.agent == visit.person()))
                            span.what {
                                b { (stored(&one.session.agent)) } " "
                                @for (at, record) in one.session.active_records.iter().enumerate() {
                                    @if at > 0 { ", " }
                                    a.handle href=(visit.link(&place(record))) { (record) }
                                }
                            }
                            (age(visit, one.session.last_activity))
                        }
                    }
                }
            }
        }
        section aria-labelledby="lately" {
            h2 id="lately" { "Lately" }
            ul.rows {
                @for entry in &lately.activity {
                    li.row {
                        span.what {
                            b { (stored(&entry.details.agent)) } " " (stored(done(entry)))
                        }
                        @if let Some(record) = &entry.record_id { a.handle.title href=(visit.link(&place(record))) { (record) } }
                        (age(visit, entry.timestamp))
                    }
                }
            }
        }
    }
}

/// What was done, without the handle, which stands beside it.
fn done(entry: &Entry) -> &str {
    let record = entry.record_id.as_deref().unwrap_or_default();
    let rest = entry.summary.strip_prefix(record);
    rest.map_or(entry.summary.as_str(), str::trim_start)
}

/// A conflict in a list: whose version waits, and where one chooses.
fn waiting(visit: &Visit<'_>, one: &Refused) -> Markup {
    let settle = format!("{}/settle?of={}", place(&one.record), segment(&one.item));
    html! {
        li.entry id={ "two-" (one.item) } {
            (mark(Mark::Conflict))
            div.what {
                a.title href=(visit.link(&settle)) { "Two versions of " (stored(&one.title)) }
                p.meta { span.handle { (one.record) } " · " (stored(&one.agent)) " had not seen what changed meanwhile" }
            }
            a.button href=(visit.link(&settle)) { "Compare" }
            (age(visit, one.at))
        }
    }
}
