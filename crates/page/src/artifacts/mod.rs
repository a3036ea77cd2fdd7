//! Artifacts: the documents by label, and each with who wrote which line.

use std::collections::HashMap;

use maud::{Markup, html};
use serde_json::json;
use understory_engine::garden::artifact::list::Artifacts;
use understory_engine::garden::artifact::log::{Commits, Said};
use understory_engine::garden::artifact::show::Lines;
use understory_model::Fault;

use crate::marks::{Mark, mark};
use crate::text::{age, count, segment, stored};
use crate::visit::Visit;
use crate::{Content, Place, no_page};

/// Artifacts of a page, and commits whose authors are looked up.
const PAGE: i64 = 100;
/// Lines of a page.
const LINES: i64 = 500;

pub fn page(visit: &Visit<'_>, path: &[&str]) -> Result<Content, Fault> {
    match path {
        [] => all(visit),
        [label] => one(visit, label),
        _ => Err(no_page()),
    }
}

fn all(visit: &Visit<'_>) -> Result<Content, Fault> {
    let mut asked = json!({"limit": PAGE});
    if let Some(cursor) = visit.query.get("cursor") {
        asked["cursor"] = cursor.into();
    }
    let found: Artifacts = visit.ask("garden_artifact_list", asked)?;
    let data = json!(found);
    let next = data["next_cursor"].as_str().map(str::to_owned);
    Ok(Content {
        place: Place::Artifacts,
        title: "Artifacts".to_owned(),
        counts: count(found.artifacts.len() as i64, "document", "documents"),
        main: html! {
            @if found.artifacts.is_empty() {
                p.empty { b { "No documents." } " Put one in, and every line will know who wrote it and why." }
            }
            ul.entries {
                @for one in &found.artifacts {
                    li.entry {
                        (mark(Mark::Artifact))
                        div.what {
                            a.title href=(visit.link(&format!("artifacts/{}", segment(&one.label)))) { (stored(&one.label)) }
                            p.meta { (count(one.lines, "line", "lines")) " · " (count(one.commits, "version", "versions")) }
                        }
                        (age(visit, one.updated_at))
                    }
                }
            }
            @if let Some(cursor) = next {
                p { a.more href=(visit.link(&format!("artifacts?cursor={}", segment(&cursor)))) { "Show 100 more" } }
            }
        },
        json: data,
        ..Content::default()
    })
}

/// One document: its lines, and for each run of lines who wrote it and when.
fn one(visit: &Visit<'_>, label: &str) -> Result<Content, Fault> {
    let start = visit.query.get("start").and_then(|n| n.parse::<i64>().ok());
    let start = start.unwrap_or(1).clamp(1, i64::MAX - LINES);
    let mut asked = json!({"artifact": label});
    if start > 1 {
        asked["start"] = start.into();
    }
    asked["end"] = (start + LINES - 1).into();
    let commit = visit.query.get("version");
    if let Some(commit) = commit {
        asked["commit"] = commit.into();
    }
    let found: Lines = visit.ask("garden_artifact_show", asked)?;
    let log: Commits = visit.ask(
        "garden_artifact_log",
        json!({"artifact": label, "limit": PAGE}),
    )?;
    let said: HashMap<&str, &Said> = log
        .deltas
        .iter()
        .filter_map(|one| Some((one.commit.as_str(), one.said.as_ref()?)))
        .collect();
    let shown = found.lines.last().map_or(0, |line| line.line);
    let next = (shown < found.total && shown > 0).then_some(shown + 1);
    let place = format!("artifacts/{}", segment(label));
    Ok(Content {
        place: Place::Artifacts,
        title: label.to_owned(),
        counts: format!(
            "{} · {}",
            count(found.total as i64, "line", "lines"),
            count(log.deltas.len() as i64, "version", "versions")
        ),
        main: html! {
            @if found.lines.is_empty() { p.empty { "It is empty." } }
            table.blame {
                caption.skip { "Each line with who wrote it" }
                @for (at, line) in found.lines.iter().enumerate() {
                    @let before = at.checked_sub(1).and_then(|at| found.lines[at].commit.as_deref());
                    @let commit = line.commit.as_deref();
                    tr id=(line.line) {
                        td.by { @if commit != before { (author(visit, commit.and_then(|commit| said.get(commit)))) } }
                        td.n { a href=(visit.link(&format!("why/{}:{}", segment(label), line.line)))
                            title="Why does this line say this?" { (line.line) } }
                        td.line dir="auto" { (stored_line(&line.content)) }
                    }
                }
            }
            @if let Some(next) = next {
                p { a.more href=(visit.link(&format!("{place}?start={next}{}", commit.map(|commit| format!("&version={}", segment(commit))).unwrap_or_default()))) { "Show the lines from " (next) } }
            }
            section {
                h2 { "Versions" }
                ol.history { @for one in &log.deltas { (version(visit, &place, &one.commit, one.said.as_ref(), one.head)) } }
            }
        },
        json: json!({"lines": found, "versions": log}),
        ..Content::default()
    })
}

fn stored_line(line: &str) -> Markup {
    html! { @if line.trim().is_empty() { "\u{00A0}" } @else { (stored(line)) } }
}

fn author(visit: &Visit<'_>, said: Option<&&Said>) -> Markup {
    html! { @if let Some(said) = said { (stored(&said.actor)) " " (age(visit, said.realized_at)) } }
}

fn version(
    visit: &Visit<'_>,
    place: &str,
    commit: &str,
    said: Option<&Said>,
    head: bool,
) -> Markup {
    html! {
        li {
            a.handle href=(visit.link(&format!("{place}?version={}", segment(commit)))) { (commit.get(..7).unwrap_or(commit)) }
            @if let Some(said) = said {
                " " (stored(&said.actor)) " " (age(visit, said.realized_at)) " ago"
                @if let Some(why) = &said.reasoning { ": " (stored(why)) }
            }
            @if head { " " span.chip { "in force" } }
        }
    }
}
