//! The records beside a page: one level open at a time, or what a filter lets through.

use std::collections::BTreeSet;

use maud::{Markup, html};
use serde_json::{Value, json};
use understory_engine::records::conflicts::Refused;
use understory_engine::records::list::Records;
use understory_engine::records::search::Results;
use understory_engine::records::shape::Reference;
use understory_engine::records::tree;
use understory_model::Fault;
use understory_model::record::RecordState;

use super::{address, place, state_mark};
use crate::marks::{Mark, mark};
use crate::text::{number, stored};
use crate::visit::Visit;

/// Records of one level.
const EACH: i64 = 50;
/// Records that a filter shows at once.
const FOUND: i64 = 100;

/// Records of one level, and what follows them.
#[derive(Default)]
struct Level {
    records: Vec<Reference>,
    total: i64,
    next: Option<String>,
}

impl Level {
    fn of(found: Records) -> Level {
        Level {
            records: found.records,
            total: found.total,
            next: found.next_cursor,
        }
    }
}

/// What stands in the list column.
pub struct Tree {
    chosen: Option<String>,
    /// What the chosen record hangs from, and itself, the root first.
    path: Vec<Reference>,
    roots: Level,
    /// What lies below the record that is open: the chosen one, or what it hangs from.
    open: Option<(String, Level)>,
    found: Option<Level>,
    /// The records of which there are two versions.
    two: BTreeSet<String>,
}

impl Tree {
    pub fn of(
        visit: &Visit<'_>,
        chosen: Option<&str>,
        conflicts: &[Refused],
    ) -> Result<Tree, Fault> {
        let mut tree = Tree {
            chosen: chosen.map(str::to_owned),
            path: Vec::new(),
            roots: Level::default(),
            open: None,
            found: None,
            two: conflicts.iter().map(|one| one.record.clone()).collect(),
        };
        let state = visit.query.get("state").and_then(RecordState::parse);
        let text = visit.query.get("text");
        if state.is_some() || text.is_some() {
            tree.found = Some(found(visit, state, text)?);
            return Ok(tree);
        }
        let after = visit.query.get("more");
        let asked = json!({"parent_id": null, "limit": EACH, "cursor": after});
        tree.roots = Level::of(visit.ask("list_records", asked)?);
        if let Some(chosen) = chosen {
            tree.open(visit, chosen)?;
        }
        Ok(tree)
    }

    fn open(&mut self, visit: &Visit<'_>, chosen: &str) -> Result<(), Fault> {
        let context = &visit.context;
        let above = context
            .engine
            .view(context.caller, |view| tree::above(view, chosen))?;
        self.path = above;
        let own: Reference = visit.ask("get_record_ref", json!({"id": chosen}))?;
        let childless = own.children_count == 0;
        self.path.push(own);
        let open = match childless {
            true => self.path.iter().rev().nth(1),
            false => self.path.last(),
        };
        if let Some(open) = open.map(|open| open.id.clone()) {
            let after = visit.query.get("below");
            let asked = json!({"parent_id": open, "limit": EACH, "cursor": after});
            let level = Level::of(visit.ask("list_records", asked)?);
            self.open = Some((open, level));
        }
        Ok(())
    }

    pub fn json(&self) -> Value {
        match &self.found {
            Some(found) => json!({"found": found.records, "total": found.total}),
            None => json!({
                "path": self.path,
                "roots": self.roots.records,
                "total": self.roots.total,
                "below": self.open.as_ref().map(|(of, level)| json!({"of": of, "records": level.records, "total": level.total})),
            }),
        }
    }

    pub fn shown(&self, visit: &Visit<'_>) -> Markup {
        html! {
            (filter(visit))
            // A phone shows the list alone, and what waits may be deep in it.
            @for record in &self.two {
                p.on-phone {
                    (mark(Mark::Conflict)) " "
                    a data-soft href=(address(visit, &format!("{}/settle", place(record)), &[])) { "Two versions of " span.handle { (record) } }
                }
            }
            @match &self.found {
                Some(found) => { (self.filtered(visit, found)) }
                None => { (self.roots(visit)) }
            }
            (legend(!self.two.is_empty()))
        }
    }

    fn filtered(&self, visit: &Visit<'_>, found: &Level) -> Markup {
        html! {
            @if found.records.is_empty() {
                p.empty { b { "No record matches." } " " a data-soft href=(visit.with("records", &[("state", None), ("text", None), ("after", None)])) { "Take the filter off" } }
            } @else {
                ul.tree id="tree" aria-label="Records that match" {
                    @for one in &found.records { li id={ "rec-" (one.id) } data-row { (self.line(visit, one, 0)) } }
                }
                @if let Some(next) = &found.next {
                    a.more data-soft href=(visit.with("records", &[("after", Some(next))])) { "Show " (FOUND) " more" }
                } @else if found.total > found.records.len() as i64 {
                    p.meta.more { "The best " (found.records.len()) " of " (number(found.total)) }
                }
            }
        }
    }

    fn roots(&self, visit: &Visit<'_>) -> Markup {
        let root = self.path.first();
        let elsewhere = root.filter(|root| !self.roots.records.iter().any(|one| one.id == root.id));
        html! {
            ul.tree id="tree" role="tree" aria-label="Records" {
                @if let Some(root) = elsewhere { (self.branch(visit, root, 0)) }
                @for one in &self.roots.records { (self.branch(visit, one, 0)) }
            }
            (self.rest(visit, "more", &self.roots))
        }
    }

    /// A link to what follows a level.
    fn rest(&self, visit: &Visit<'_>, name: &str, level: &Level) -> Markup {
        let here = self.chosen.as_deref().map_or("records".to_owned(), place);
        html! {
            @if let Some(next) = &level.next {
                a.more data-soft href=(visit.with(&here, &[(name, Some(next)), ("act", None)])) {
                    (EACH) " more of " (number(level.total))
                }
            } @else if visit.query.get(name).is_some() {
                a.more data-soft href=(visit.with(&here, &[(name, None), ("act", None)])) { "The first " (EACH) }
            }
        }
    }

    /// A record with what is open below it.
    fn branch(&self, visit: &Visit<'_>, one: &Reference, depth: usize) -> Markup {
        let at = self.path.iter().position(|on| on.id == one.id);
        let level = self.open.as_ref().filter(|(open, _)| *open == one.id);
        let next = at
            .and_then(|at| self.path.get(at + 1))
            .filter(|_| level.is_none());
        let expanded = (one.children_count > 0).then_some(level.is_some() || next.is_some());
        html! {
            li id={ "rec-" (one.id) } role="treeitem" aria-level=(depth + 1) aria-expanded=[expanded]
                aria-selected=(self.chosen.as_deref() == Some(&one.id)) data-row {
                (self.line(visit, one, depth))
                @if let Some((_, level)) = level {
                    ul role="group" {
                        @if let Some(own) = self.beyond(level) { (self.branch(visit, own, depth + 1)) }
                        @for one in &level.records { (self.branch(visit, one, depth + 1)) }
                        @if level.next.is_some() || visit.query.get("below").is_some() {
                            li role="none" { (self.rest(visit, "below", level)) }
                        }
                    }
                } @else if let Some(next) = next {
                    ul role="group" { (self.branch(visit, next, depth + 1)) }
                }
            }
        }
    }

    /// The chosen record, if its level does not show it.
    fn beyond(&self, level: &Level) -> Option<&Reference> {
        let own = self.path.last()?;
        let there = level.records.iter().any(|one| one.id == own.id);
        let opens = self.open.as_ref().is_some_and(|(open, _)| *open == own.id);
        (!there && !opens).then_some(own)
    }

    fn line(&self, visit: &Visit<'_>, one: &Reference, depth: usize) -> Markup {
        let state = match self.two.contains(&one.id) {
            true => Mark::Conflict,
            false => state_mark(one.state),
        };
        let current = self.chosen.as_deref() == Some(&one.id);
        let next = if state == Mark::Conflict {
            "/settle"
        } else {
            ""
        };
        html! {
            a.title.{ "d" (depth.min(5)) } data-soft data-main aria-current=[current.then_some("page")]
                href=(address(visit, &format!("{}{next}", place(&one.id)), &[])) {
                (mark(state))
                span { span.clamp { (stored(&one.title)) } span.handle { (one.id) } }
            }
        }
    }
}

fn found(
    visit: &Visit<'_>,
    state: Option<RecordState>,
    text: Option<&str>,
) -> Result<Level, Fault> {
    let states: Vec<RecordState> = state.into_iter().collect();
    if let Some(text) = text {
        let asked = json!({"query": text, "states": states, "limit": FOUND});
        let found: Results = visit.ask("search_records", asked)?;
        return Ok(Level {
            records: found.results.into_iter().map(|one| one.record).collect(),
            total: found.total,
            next: None,
        });
    }
    let after = visit.query.get("after");
    let asked = json!({"states": states, "limit": FOUND, "cursor": after});
    Ok(Level::of(visit.ask("list_records", asked)?))
}

fn filter(visit: &Visit<'_>) -> Markup {
    let state = visit.query.get("state");
    html! {
        form.filter method="get" role="search" data-soft action=(visit.link("records")) {
            label { span.skip { "Words" } input name="text" type="search" placeholder="Words" value=[visit.query.get("text")]; }
            label {
                span.skip { "State" }
                select name="state" {
                    option value="" { "any state" }
                    @for one in RecordState::ALL {
                        option value=(one) selected[state == Some(one.as_str())] { (state_mark(*one).word()) }
                    }
                }
            }
            button { "Filter" }
        }
    }
}

/// What the marks stand for.
fn legend(two: bool) -> Markup {
    html! {
        ul.legend.meta aria-hidden="true" {
            @for one in [Mark::Open, Mark::Later, Mark::Resolved, Mark::Discarded] {
                li { (mark(one)) (one.word()) }
            }
            @if two { li { (mark(Mark::Conflict)) (Mark::Conflict.word()) } }
        }
    }
}
