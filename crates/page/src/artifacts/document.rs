//! One document at one version: its lines, each with who wrote it and when, and what is proposed to change.

use std::collections::HashMap;
use std::ops::Range;

use maud::{Markup, html};
use serde_json::json;
use understory_engine::garden::artifact::history::{self, History, Wrote};
use understory_engine::garden::artifact::show::{Line, Lines};
use understory_engine::garden::reader::{Proposals, ShownProposal, standing};
use understory_engine::kernel::artifact;
use understory_model::Fault;

use super::name::Name;
use super::{marked, panel, proposals, propose, slider};
use crate::dates::when;
use crate::text::{count, number, stored};
use crate::visit::Visit;
use crate::{Content, Place, Side, Width};

/// Lines of a page.
pub const LINES: usize = 500;
/// Open proposals that are shown.
const PROPOSALS: i64 = 100;

/// A document as a page shows it.
pub struct Document {
    pub name: Name,
    pub label: String,
    pub history: History,
    /// The hash that is shown; nothing before the first.
    pub commit: Option<String>,
    /// Its number.
    pub version: Option<usize>,
    /// Whether the document stands there.
    pub is_head: bool,
    pub lines: Lines,
    pub proposals: Vec<Placed>,
}

/// An open proposal, and the lines that it changes now; nothing where they were changed since.
pub struct Placed {
    pub shown: ShownProposal,
    pub range: Option<Range<usize>>,
}

impl Placed {
    /// The line that it stands beneath, from 1; 0 is the top.
    fn beneath(&self) -> Option<usize> {
        self.range.as_ref().map(|range| range.end)
    }
}

impl Document {
    pub fn read(visit: &Visit<'_>, name: &Name) -> Result<Document, Fault> {
        let asked = json!({"artifact": name.label, "limit": PROPOSALS});
        let open: Option<Proposals> = visit.ask_if_there("reader_proposals", asked)?;
        let (engine, caller) = (visit.context.engine, visit.context.caller);
        let (label, history, commit, is_head, proposals) = engine.view(caller, |view| {
            let found = artifact::named(view, visit.project(), &name.label)?;
            let history = history::history(view, &found)?;
            let head = found.head.as_ref().map(|head| head.hash.clone());
            let commit = match &name.version {
                Some(version) => Some(history::version_named(view, &found, &history, version)?),
                None => head.clone(),
            };
            let is_head = commit == head;
            let mut placed = Vec::new();
            for shown in open.unwrap_or_default().proposals {
                if is_head && !shown.undone {
                    let range = standing(view, &found, &shown.state)?;
                    placed.push(Placed { shown, range });
                }
            }
            placed.sort_by_key(|one| (one.beneath().unwrap_or(0), one.shown.created_at));
            Ok((found.row.label, history, commit, is_head, placed))
        })?;
        let chosen = name.lines.as_ref().map(|lines| *lines.start());
        let asked = visit.query.get("start").and_then(|n| n.parse().ok());
        let start = match (asked, chosen) {
            (Some(start), _) => start,
            (None, Some(line)) => (line - 1) / LINES * LINES + 1,
            (None, None) => 1,
        };
        let start = start.clamp(1, i64::MAX as usize - LINES);
        let mut wanted = json!({"artifact": name.label, "end": start + LINES - 1});
        if start > 1 {
            wanted["start"] = start.into();
        }
        if let Some(commit) = &commit {
            wanted["commit"] = commit.as_str().into();
        }
        let lines: Lines = visit.ask("garden_artifact_show", wanted)?;
        let version = commit
            .as_ref()
            .and_then(|commit| history.commits.get(commit)?.version);
        Ok(Document {
            name: name.clone(),
            label,
            history,
            commit,
            version,
            is_head,
            lines,
            proposals,
        })
    }

    /// The name of the document as it is shown, without lines.
    pub fn whole(&self) -> Name {
        self.name.line(None)
    }

    pub fn wrote(&self, line: &Line) -> Option<&Wrote> {
        self.history.commits.get(line.commit.as_deref()?)
    }

    fn is_chosen(&self, line: usize) -> bool {
        let lines = self.name.lines.as_ref();
        lines.is_some_and(|lines| lines.contains(&line))
    }
}

pub fn page(visit: &Visit<'_>, name: &Name) -> Result<Content, Fault> {
    let document = Document::read(visit, name)?;
    let side = panel::of(visit, &document)?;
    let waiting = document.proposals.len() as i64;
    Ok(Content {
        place: Place::Artifacts,
        title: document.label.clone(),
        counts: counts(&document.history, document.lines.total),
        controls: controls(visit, &document),
        flush: true,
        is_one: true,
        main: html! {
            (slider::of(visit, &document.name, &document.history, document.version))
            @if !document.is_head { (elsewhere(visit, &document)) }
            @for one in document.proposals.iter().filter(|one| one.range.is_none()) {
                (proposals::card(visit, &document, one))
            }
            @if document.lines.total == 0 { p.empty { b { "It is empty." } " Propose its first lines." } }
            (lines(visit, &document))
            @if waiting > 1 { (proposals::several(visit, &document)) }
        },
        json: json!({
            "lines": document.lines,
            "versions": document.history.versions.len(),
            "version": document.version,
            "authors": document.history.authors(),
            "proposals": document.proposals.iter().map(|one| &one.shown).collect::<Vec<_>>(),
            "line": side.as_ref().map(|panel| &panel.json),
        }),
        side: side.map(|panel| Side {
            width: Width::Reading,
            label: "The chosen line".to_owned(),
            main: panel.main,
        }),
        ..Content::default()
    })
}

/// `21 lines, 14 versions, 5 authors`.
pub fn counts(history: &History, lines: usize) -> String {
    format!(
        "{}, {}, {}",
        count(lines as i64, "line", "lines"),
        count(history.versions.len() as i64, "version", "versions"),
        count(history.authors() as i64, "author", "authors")
    )
}

fn controls(visit: &Visit<'_>, document: &Document) -> Markup {
    let whole = document.whole();
    let first = document.proposals.first();
    let version = document.version.unwrap_or(1);
    let chosen = match &document.name.lines {
        Some(lines) => format!("{}-{}", lines.start(), lines.end()),
        None => "1-1".to_owned(),
    };
    let address = document.name.at(None).place();
    html! {
        @if let Some(first) = first {
            a.chip.amber href={ "#" (first.shown.id) } data-card {
                (count(document.proposals.len() as i64, "proposal", "proposals"))
            }
        }
        (views(visit, &whole, Some(version), None))
        @if document.is_head {
            a.button data-soft href=(visit.link(&format!("{address}?propose={chosen}")))
                data-hotkey=[(document.proposals.len() < 2).then_some("p")] title="Propose a change" {
                "Propose" @if document.proposals.len() < 2 { " " kbd { "P" } }
            }
        }
    }
}

/// Lines, or what changed.
pub fn views(visit: &Visit<'_>, name: &Name, at: Option<usize>, from: Option<usize>) -> Markup {
    let version = at.unwrap_or(1);
    let before = from.unwrap_or(version.saturating_sub(1).max(1));
    let lines = match from {
        Some(_) => name.at(Some(version)),
        None => name.clone(),
    };
    let changes = name.compared(before, version);
    html! {
        nav.views aria-label="View" {
            a data-soft href=(visit.link(&lines.place())) aria-current=[from.is_none().then_some("true")] { "Lines" }
            a data-soft href=(visit.link(&changes.place())) aria-current=[from.is_some().then_some("true")] { "Changes" }
        }
    }
}

fn elsewhere(visit: &Visit<'_>, document: &Document) -> Markup {
    html! {
        p.band {
            @match document.version {
                Some(version) => { "Version " (number(version as i64)) " is not in force." }
                None => { "This version stands beside the one in force." }
            }
            " " a data-soft href=(visit.link(&document.whole().at(None).place())) { "Show the one in force" }
        }
    }
}

/// The strength of the strip beside a line: the newer its version, the darker, in five steps.
fn strengths(document: &Document) -> HashMap<&str, usize> {
    let commits = document.lines.lines.iter();
    let mut known: Vec<(&str, &Wrote)> = commits
        .filter_map(|line| Some((line.commit.as_deref()?, document.wrote(line)?)))
        .collect();
    known.sort_by_key(|(_, wrote)| wrote.seq);
    known.dedup_by_key(|(commit, _)| *commit);
    let total = known.len();
    let step = |at: usize| {
        if total > 1 {
            at * 4 / (total - 1) + 1
        } else {
            5
        }
    };
    let steps = known.into_iter().enumerate();
    steps.map(|(at, (commit, _))| (commit, step(at))).collect()
}

fn lines(visit: &Visit<'_>, document: &Document) -> Markup {
    let strengths = strengths(document);
    let all = &document.lines.lines;
    let first = all.first().map_or(1, |line| line.line);
    let wished = propose::wished(visit, document);
    let beneath = |line: usize| {
        let there = document.proposals.iter();
        there.filter(move |one| one.beneath() == Some(line))
    };
    let place = document.whole().place();
    html! {
        @if first > 1 {
            @let before = first.saturating_sub(LINES).max(1);
            p { a.more data-soft href=(visit.link(&format!("{place}?start={before}"))) { "Show the lines from " (number(before as i64)) } }
        }
        ol.document aria-label="Lines" {
            @if first == 1 {
                @for one in beneath(0) { (proposals::card(visit, document, one)) }
                @if let Some(wish) = wished.as_ref().filter(|wish| wish.beneath == 0) { (propose::card(visit, document, wish)) }
            }
            @for (at, line) in all.iter().enumerate() {
                @let before = at.checked_sub(1).and_then(|at| all[at].commit.as_deref());
                @let strength = line.commit.as_deref().and_then(|commit| strengths.get(commit));
                (row(visit, document, line, (strength.copied(), line.commit.as_deref() != before || at == 0)))
                @for one in beneath(line.line) { (proposals::card(visit, document, one)) }
                @if let Some(wish) = wished.as_ref().filter(|wish| wish.beneath == line.line) { (propose::card(visit, document, wish)) }
            }
        }
        @if let Some(last) = all.last().filter(|last| last.line < document.lines.total) {
            p { a.more data-soft href=(visit.link(&format!("{place}?start={}", last.line + 1))) {
                "Show the lines from " (number(last.line as i64 + 1)) } }
        }
    }
}

fn row(
    visit: &Visit<'_>,
    document: &Document,
    line: &Line,
    (strength, begins): (Option<usize>, bool),
) -> Markup {
    let chosen = document.is_chosen(line.line);
    let link = document.name.line(Some(line.line..=line.line)).place();
    html! {
        li.line id=(line.line) data-row .begins[begins] .is-chosen[chosen] aria-current=[chosen.then_some("true")] {
            div class={ "by s" (strength.unwrap_or(1)) } {
                @if begins && let Some(wrote) = document.wrote(line) {
                    span.cut { (stored(&wrote.actor)) } " " (when(visit, wrote.at))
                }
            }
            a.n href=(visit.link(&link)) data-soft data-peek data-main data-line=(line.line)
                title="Why does this line say this?" { (line.line) }
            div.text dir="auto" { (marked::line(&line.content)) }
        }
    }
}
