//! The documents of a project, by label.

use std::collections::HashMap;

use maud::{Markup, html};
use serde_json::json;
use understory_engine::garden::artifact::history::last_authors;
use understory_engine::garden::artifact::list::{Artifacts, Listed};
use understory_engine::garden::reader::Proposals;
use understory_model::Fault;

use crate::marks::{Mark, mark};
use crate::shell::hidden;
use crate::text::{age, count, segment, stored};
use crate::visit::Visit;
use crate::{Content, Place};

/// Documents of a page.
const PAGE: i64 = 100;
/// Open proposals that are counted by their documents.
const PROPOSALS: i64 = 200;

pub fn page(visit: &Visit<'_>) -> Result<Content, Fault> {
    let mut asked = json!({"limit": PAGE});
    for field in ["cursor", "text"] {
        if let Some(value) = visit.query.get(field) {
            asked[field] = value.into();
        }
    }
    let found: Artifacts = visit.ask("garden_artifact_list", asked)?;
    let open: Option<Proposals> =
        visit.ask_if_there("reader_proposals", json!({"limit": PROPOSALS}))?;
    let mut waiting: HashMap<&str, i64> = HashMap::new();
    let open = open.unwrap_or_default();
    for one in open.proposals.iter().filter(|one| !one.undone) {
        *waiting.entry(one.state.artifact.as_str()).or_default() += 1;
    }
    let labels: Vec<&str> = found
        .artifacts
        .iter()
        .map(|one| one.label.as_str())
        .collect();
    let caller = visit.context.caller;
    let authors = visit
        .context
        .engine
        .view(caller, |view| last_authors(view, visit.project(), &labels))?;
    let sought = visit.query.get("text");
    let next = found.paging.pagination.next_cursor.as_deref();
    let total = found.artifacts.len() as i64;
    Ok(Content {
        place: Place::Artifacts,
        title: "Artifacts".to_owned(),
        counts: match (next, total) {
            (Some(_), _) => "by label, 100 a page".to_owned(),
            (None, 0) => String::new(),
            (None, total) => count(total, "document", "documents"),
        },
        controls: html! {
            @if sought.is_some() || next.is_some() || total > 20 { (filter(visit, sought)) }
            a.button href="#new-document" data-open="new-document" { "New document" }
        },
        flush: true,
        main: html! {
            @if found.artifacts.is_empty() {
                @if let Some(sought) = sought {
                    p.empty { b { "No label has “" (stored(sought)) "” in it." } " "
                        a href=(visit.link("artifacts")) { "Take that filter off" } }
                } @else {
                    p.empty { b { "No documents." } " Put one in, and every line will know who wrote it and why." }
                }
            }
            ul.entries {
                @for one in &found.artifacts {
                    @let uuid = one.uuid.as_deref().unwrap_or_default();
                    (entry(visit, one, authors.get(&one.label), waiting.get(uuid).copied().unwrap_or(0)))
                }
            }
            @if let Some(cursor) = next {
                p { a.more data-soft href=(visit.with("artifacts", &[("cursor", Some(cursor))])) { "Show 100 more" } }
            }
            (new(visit, found.artifacts.is_empty()))
        },
        json: json!(found),
        ..Content::default()
    })
}

fn entry(visit: &Visit<'_>, one: &Listed, author: Option<&String>, waiting: i64) -> Markup {
    let place = format!("artifacts/{}", segment(&one.label));
    html! {
        li.entry id={ "document-" (one.label) } {
            (mark(Mark::Artifact))
            div.what {
                a.title href=(visit.link(&place)) { (stored(&one.label)) }
                p.meta {
                    (count(one.lines, "line", "lines")) " · " (count(one.commits, "version", "versions"))
                    @if let Some(author) = author { " · last by " (stored(author)) }
                }
            }
            @if waiting > 0 { span.chip.amber { (count(waiting, "proposal", "proposals")) } }
            (age(visit, one.updated_at))
        }
    }
}

fn filter(visit: &Visit<'_>, sought: Option<&str>) -> Markup {
    html! {
        form.filter method="get" action=(visit.link("artifacts")) data-soft role="search" {
            @if let Some(project) = visit.project() { input type="hidden" name="project" value=(project); }
            input name="text" value=[sought] placeholder="Part of the label" aria-label="Part of the label" maxlength="200";
            button { "Filter" }
        }
    }
}

fn new(visit: &Visit<'_>, first: bool) -> Markup {
    html! {
        details.new-document id="new-document" open[first] {
            summary { "New document" }
            form.act method="post" action=(visit.link("do/document")) data-draft="document" {
                (hidden(visit, "artifacts"))
                label { span.label { "Label: letters, digits and _" }
                    input name="label" required autocomplete="off" pattern="[\\p{L}\\p{N}_]+" maxlength="100"; }
                label.wide { span.label { "Its text" } textarea name="content" rows="6" dir="auto" {} }
                span.meta { "A document stays, as all its versions do; its lines can be changed at any time." }
                button.main { "Put it in" }
            }
        }
    }
}
