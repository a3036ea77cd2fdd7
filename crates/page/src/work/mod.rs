//! Work: the tasks by state, as columns or as a list.

mod task;

use maud::{Markup, html};
use serde::Serialize;
use serde_json::{Value, json};
use understory_engine::graph::onboard::Onboard;
use understory_engine::graph::query::{Match, Page};
use understory_model::Fault;

use crate::marks::{Mark, mark};
use crate::shell::hidden;
use crate::text::{count, number, segment, stored};
use crate::visit::Visit;
use crate::{Content, Place, no_page};

/// Tasks of a column.
const EACH: i64 = 50;

/// A column of the board.
struct Column {
    name: &'static str,
    mark: Mark,
    cards: Vec<Card>,
    total: i64,
}

/// A task on the board.
#[derive(Serialize)]
struct Card {
    id: String,
    summary: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<String>,
}

pub fn page(visit: &Visit<'_>, path: &[&str]) -> Result<Content, Fault> {
    match path {
        [] => all(visit),
        [node] => task::page(visit, node),
        _ => Err(no_page()),
    }
}

fn all(visit: &Visit<'_>) -> Result<Content, Fault> {
    let board = board(visit)?;
    let onboard: Onboard = visit.ask("graph_onboard", json!({}))?;
    let (text, counts) = (visit.query.get("text"), onboard.summary);
    let found = board.iter().any(|column| !column.cards.is_empty());
    Ok(Content {
        place: Place::Work,
        title: "Work".to_owned(),
        counts: format!(
            "{} · {} open · {} done",
            count(counts.total, "task", "tasks"),
            number(counts.unresolved),
            number(counts.resolved)
        ),
        json: board
            .iter()
            .map(|column| {
                (
                    address(column.name),
                    json!({"tasks": column.cards, "total": column.total}),
                )
            })
            .collect(),
        main: html! {
            form.filter method="get" role="search" {
                label { span.label { "Words in the title" } input name="text" type="search" value=[text]; }
                button { "Filter" }
            }
            @if !found && text.is_none() {
                p.empty { b { "No tasks yet." } " Write the first; an agent that asks for work gets it." }
            } @else if !found {
                p.empty { b { "No task matches." } " " a href=(visit.link("work")) { "Take the filter off" } }
            } @else {
                div.board { @for column in &board { (lane(visit, column)) } }
            }
            (new(visit))
        },
        ..Content::default()
    })
}

fn board(visit: &Visit<'_>) -> Result<[Column; 4], Fault> {
    let query = |filter: Value, sort: &str| -> Result<(Vec<Card>, i64), Fault> {
        let mut asked = json!({"filter": filter, "sort": sort, "limit": EACH});
        if let Some(text) = visit.query.get("text") {
            asked["filter"]["text"] = Value::from(text);
        }
        let page: Page = visit.ask("graph_query", asked)?;
        let card = |node: Match| Card {
            id: node.id,
            summary: node.summary,
            by: None,
        };
        Ok((page.nodes.into_iter().map(card).collect(), page.total))
    };
    let (ready, startable) = query(
        json!({"is_actionable": true, "claimed_by": null}),
        "readiness",
    )?;
    let (waiting, blocked) = query(json!({"is_blocked": true, "resolved": false}), "readiness")?;
    let (done, resolved) = query(json!({"resolved": true}), "recent")?;
    let held = held(visit)?;
    Ok([
        Column {
            name: "Ready",
            mark: Mark::Ready,
            cards: ready,
            total: startable,
        },
        Column {
            name: "In hand",
            mark: Mark::Claimed,
            total: held.len() as i64,
            cards: held,
        },
        Column {
            name: "Waits for others",
            mark: Mark::Waits,
            cards: waiting,
            total: blocked,
        },
        Column {
            name: "Done",
            mark: Mark::Done,
            cards: done,
            total: resolved,
        },
    ])
}

/// What somebody works on.
fn held(visit: &Visit<'_>) -> Result<Vec<Card>, Fault> {
    let onboard: Onboard = visit.ask("graph_onboard", json!({}))?;
    let words = visit.query.get("text").unwrap_or_default().to_lowercase();
    let doing = onboard.in_progress.unwrap_or_default().into_iter();
    let matching = doing.filter(|one| one.summary.to_lowercase().contains(&words));
    Ok(matching
        .map(|one| Card {
            id: one.id,
            summary: one.summary,
            by: Some(one.by),
        })
        .collect())
}

/// A column's name as an id.
fn address(name: &str) -> String {
    name.to_lowercase().replace(' ', "_")
}

fn lane(visit: &Visit<'_>, column: &Column) -> Markup {
    let id = address(column.name);
    html! {
        section.lane aria-labelledby=(id) {
            h2 id=(id) { (mark(column.mark)) " " (column.name) " " span.count { (number(column.total)) } }
            ul {
                @for node in &column.cards {
                    li.card id={ "task-" (node.id) "-" (id) } {
                        a.title href=(visit.link(&format!("work/{}", segment(&node.id)))) { (stored(&node.summary)) }
                        p.meta { span.handle { (node.id) } @if let Some(by) = &node.by { " · " (stored(by)) } }
                    }
                }
            }
            @if column.total > column.cards.len() as i64 {
                p.meta { "and " (number(column.total - column.cards.len() as i64)) " more; narrow it with words above" }
            }
        }
    }
}

fn new(visit: &Visit<'_>) -> Markup {
    html! {
        details.peek id="new-task" {
            summary { "New task" }
            form.act method="post" action=(visit.link("do/plan")) data-draft="plan" {
                (hidden(visit, "work"))
                label { span.label { "What is to be done" } input name="summary" required dir="auto" autocomplete="off"; }
                button.main { "Add" }
            }
        }
    }
}
