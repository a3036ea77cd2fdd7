//! One record: what it says, what stands around it, and who is in it. To look at it activates nothing.

use maud::{Markup, html};
use serde_json::{Value, json};
use understory_engine::garden::relation::relations::Relations;
use understory_engine::records::conflicts::{self, Refused};
use understory_engine::records::diff::RecordDiff;
use understory_engine::records::history::History;
use understory_engine::records::list::Records;
use understory_engine::records::sessions::{ActiveSession, ActiveSessions, OnRecord};
use understory_engine::records::shape::Reference;
use understory_engine::records::show::{self, Shown};
use understory_model::Fault;
use understory_model::budget::Budget;
use understory_model::record::RecordState;

use super::{address, forms, history, place, state_mark, tree};
use crate::marks::{Mark, mark, who};
use crate::text::{age, linked, number, plain, segment, stored};
use crate::visit::Visit;
use crate::{Content, Place, Side, Width};

/// What is looked for around a record, of each kind, in characters of references.
const AROUND: i64 = 5_000;
/// Children that are shown at once.
const CHILDREN: i64 = 50;
/// Changes, and things that mention it, beside a record.
const BESIDE: i64 = 6;
/// Changes among which those that are shown beside a record are found.
const LOOKED_AT: i64 = 30;
/// A body with more characters than this is folded.
const FOLDED: usize = 1_200;

/// What every page of one record needs.
pub struct Record {
    pub shown: Shown,
    pub conflicts: Vec<Refused>,
    pub past: History,
    sessions: ActiveSessions,
    mentions: Relations,
}

impl Record {
    pub fn of(visit: &Visit<'_>, handle: &str) -> Result<Record, Fault> {
        let context = &visit.context;
        let budget = Budget::new(Some(AROUND), None, None);
        let (shown, conflicts) = context.engine.view(context.caller, |view| {
            let shown = show::show(view, handle, &budget)?;
            Ok((shown, conflicts::of_record(view, handle)?))
        })?;
        let mentions =
            json!({"of": handle, "direction": "in", "kind": "mentions", "limit": BESIDE});
        Ok(Record {
            shown,
            conflicts,
            past: visit.ask(
                "get_record_history",
                json!({"id": handle, "limit": LOOKED_AT, "values": true}),
            )?,
            sessions: visit.ask("get_active_sessions", json!({"record_id": handle}))?,
            mentions: visit.ask("garden_relations", mentions)?,
        })
    }

    pub fn handle(&self) -> &str {
        &self.shown.record.id
    }

    /// The page around a view of the record.
    pub fn content(
        &self,
        visit: &Visit<'_>,
        view: &str,
        main: Markup,
        json: Value,
    ) -> Result<Content, Fault> {
        let all = super::conflicts(visit)?;
        let tree = tree::Tree::of(visit, Some(self.handle()), &all)?;
        Ok(Content {
            place: Place::Records,
            title: self.shown.record.title.clone(),
            counts: self.handle().to_owned(),
            controls: self.controls(visit, view),
            list: Some(tree.shown(visit)),
            main: html! {
                (main)
                // Where there is no room beside the record, it stands beneath.
                div.beneath { (self.facts(visit)) }
            },
            is_one: true,
            side: Some(Side {
                width: Width::Facts,
                label: "Who is in it, and its history".to_owned(),
                main: html! { div.beside { (self.facts(visit)) } },
            }),
            json: json!({
                "record": self.shown,
                "conflicts": self.conflicts,
                "sessions": self.sessions,
                "history": self.past,
                "mentions": self.mentions,
                "tree": tree.json(),
                "view": json,
            }),
            ..Content::default()
        })
    }

    fn controls(&self, visit: &Visit<'_>, current: &str) -> Markup {
        let here = place(self.handle());
        let views = [("settle", "Settle"), ("", "Read"), ("history", "History")];
        let shown = views
            .iter()
            .filter(|(name, _)| *name != "settle" || !self.conflicts.is_empty());
        html! {
            a.button.plain data-hotkey="w" href=(visit.link(&format!("why/{}", segment(self.handle())))) { (mark(Mark::Why)) " Why" }
            nav.views aria-label="Views of this record" {
                @for (name, label) in shown {
                    @let address = address(visit, here_or(&here, name).as_str(), &[]);
                    a data-soft href=(address) aria-current=[(*name == current).then_some("page")] { (label) }
                }
            }
        }
    }

    /// Who is in it, what happened to it, and where it is mentioned.
    fn facts(&self, visit: &Visit<'_>) -> Markup {
        html! {
            (self.here(visit))
            section {
                h3 { "History" }
                (history::short(visit, &self.past, BESIDE as usize))
                @if self.past.history.len() as i64 > BESIDE {
                    a.meta data-soft href=(address(visit, &format!("{}/history", place(self.handle())), &[])) { "All of it" }
                }
            }
            (self.mentioned(visit))
            @if let Some(metadata) = self.shown.record.metadata.as_ref().filter(|all| !all.is_empty()) {
                section {
                    h3 { "Metadata" }
                    dl.facts { @for (name, value) in metadata { dt { (stored(name)) } dd { (stored(&said(value))) } } }
                }
            }
        }
    }

    fn here(&self, visit: &Visit<'_>) -> Markup {
        let all: Vec<&OnRecord> = self
            .sessions
            .sessions
            .iter()
            .filter_map(|one| match one {
                ActiveSession::OnRecord(one) => Some(one),
                ActiveSession::Here(_) => None,
            })
            .collect();
        html! {
            section {
                h3 { "In it now" }
                @if all.is_empty() { p.quiet { "Nobody." } }
                ul {
                    @for one in all {
                        li.rec-in {
                            (who(&one.holder.agent, one.holder.agent == visit.person()))
                            span {
                                a href=(visit.link(&format!("agents/{}", segment(&one.holder.agent)))) { (stored(&one.holder.agent)) }
                                span.meta {
                                    @match one.since {
                                        Some(since) => { "for " (age(visit, since)) }
                                        None => { "seen " (age(visit, one.holder.last_activity)) " ago" }
                                    }
                                    @if one.in_spite_of_others { ", in spite of others" }
                                    @if !one.holder.alive { ", silent" }
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    fn mentioned(&self, visit: &Visit<'_>) -> Markup {
        html! {
            @if !self.mentions.relations.is_empty() {
                section {
                    h3 { "Mentioned in" }
                    ul.rec-mentions {
                        @for one in &self.mentions.relations {
                            @if let Some(source) = &one.source {
                                li {
                                    a href=(visit.link(&format!("go/{}", segment(source)))) title=(source) {
                                        (stored(one.preview.as_deref().unwrap_or(source)))
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn here_or(here: &str, name: &str) -> String {
    match name {
        "" => here.to_owned(),
        name => format!("{here}/{name}"),
    }
}

/// A value of metadata in words.
fn said(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

pub fn page(visit: &Visit<'_>, handle: &str) -> Result<Content, Fault> {
    let record = Record::of(visit, handle)?;
    let after = visit.query.get("after");
    let asked = json!({"parent_id": handle, "limit": CHILDREN, "cursor": after});
    let children: Records = visit.ask("list_records", asked)?;
    let main = match visit.query.get("act") {
        Some("edit") => edit(visit, &record)?,
        Some("new") => forms::new(visit, Some(&record.shown)),
        Some("move") => forms::place_elsewhere(visit, &record.shown),
        Some(state) if RecordState::parse(state).is_some() => {
            forms::state(visit, &record.shown, state)
        }
        _ => read(visit, &record, &children),
    };
    record.content(visit, "", main, json!({"children": children}))
}

/// The form for the version that the person began with: the address names it, so that neither a reload nor news
/// puts a newer one beneath what was typed.
fn edit(visit: &Visit<'_>, record: &Record) -> Result<Markup, Fault> {
    let now = record.shown.version;
    let from = visit.query.get("from").and_then(|from| from.parse().ok());
    let from: i64 = from.filter(|from| (1..now).contains(from)).unwrap_or(now);
    let mut begun = record.shown.clone();
    if from < now {
        let asked = json!({"id": record.handle(), "from": from});
        let then: RecordDiff = visit.ask("get_record_diff", asked)?;
        (begun.record, begun.version) = (then.from_version, from);
    }
    let last = record
        .past
        .history
        .iter()
        .find(|entry| entry.version.is_some());
    let news = last.filter(|_| from < now);
    Ok(forms::edit(visit, &begun, news))
}

fn read(visit: &Visit<'_>, record: &Record, children: &Records) -> Markup {
    let (shown, data) = (&record.shown, &record.shown.record);
    html! {
        @if !record.conflicts.is_empty() {
            p.two-versions {
                span.chip.red { (mark(Mark::Conflict)) " Two versions" }
                a data-soft href=(address(visit, &format!("{}/settle", place(&data.id)), &[])) {
                    (stored(&record.conflicts[0].agent)) " wrote another, which was kept aside. Compare them"
                }
            }
        }
        p.meta {
            (mark(state_mark(data.state))) " " (state_mark(data.state).word())
            @if let Some(by) = &shown.resolved_by { " by " (reference(visit, by)) }
            @if let Some(reason) = &data.reason { " because " (stored(reason)) }
            " · " (stored(&data.kind)) " · made by " (stored(&shown.created_by)) " " (age(visit, data.created)) " ago"
            @if data.modified != data.created { ", changed " (age(visit, data.modified)) " ago" }
            @if let Some(parent) = &shown.parent { " · under " (reference(visit, parent)) }
        }
        (acts(visit, shown))
        @if !data.summary.trim().is_empty() { p.rec-lead dir="auto" { (stored(&data.summary)) } }
        (body(visit, &data.id, &data.body))
        @if !children.records.is_empty() {
            section {
                h2 { "Below it " span.count { (number(children.total)) } }
                ul.rows {
                    @for one in &children.records {
                        li.row id={ "below-" (one.id) } {
                            (mark(state_mark(one.state)))
                            span.what {
                                a.title href=(address(visit, &place(&one.id), &[])) { (stored(&one.title)) }
                                @if !one.summary.trim().is_empty() { span.meta.cut { (stored(&one.summary)) } }
                            }
                            span.handle { (one.id) }
                        }
                    }
                }
                @if let Some(next) = &children.next_cursor {
                    a.more data-soft href=(visit.with(&place(&data.id), &[("after", Some(next)), ("act", None)])) { "Show " (CHILDREN) " more" }
                }
            }
        }
        (tied(visit, "Related", &shown.related))
        (tied(visit, "Names it", &shown.related_from))
        (tied(visit, "Settled by it", &shown.resolves))
    }
}

fn body(visit: &Visit<'_>, handle: &str, text: &str) -> Markup {
    let long = text.chars().count();
    html! {
        @if text.trim().is_empty() { p.quiet { "Nothing more is written yet." } }
        @else if long > FOLDED {
            div.words.rec-folded id={ "body-" (handle) } { (linked(visit, text)) }
            details.rec-whole id={ "whole-" (handle) } { summary { "Show all " (exact(long)) " characters" } }
        } @else { div.words { (linked(visit, text)) } }
    }
}

/// A number in full, with its thousands apart.
fn exact(count: usize) -> String {
    let digits = count.to_string();
    let parts: Vec<&str> = digits
        .as_bytes()
        .rchunks(3)
        .rev()
        .filter_map(|part| std::str::from_utf8(part).ok())
        .collect();
    parts.join(",")
}

fn reference(visit: &Visit<'_>, one: &Reference) -> Markup {
    html! { a href=(visit.link(&place(&one.id))) title=(plain(&one.title)) { (stored(&one.title)) } " " span.handle { (one.id) } }
}

fn tied(visit: &Visit<'_>, title: &str, all: &[Reference]) -> Markup {
    html! {
        @if !all.is_empty() {
            section {
                h2 { (title) }
                ul.rows {
                    @for one in all {
                        li.row {
                            (mark(state_mark(one.state)))
                            a.title.what href=(address(visit, &place(&one.id), &[])) { (stored(&one.title)) }
                            span.handle { (one.id) }
                        }
                    }
                }
            }
        }
    }
}

/// What can be done with it. Each leads to a form that says what it needs.
fn acts(visit: &Visit<'_>, shown: &Shown) -> Markup {
    let state = shown.record.state;
    let here = place(&shown.record.id);
    let link = |act: &str| address(visit, &here, &[("act", act)]);
    let version = shown.version.to_string();
    html! {
        div.acts {
            a.button data-soft data-hotkey="e" href=(address(visit, &here, &[("act", "edit"), ("from", &version)])) { "Edit" }
            @for to in state.leads_to() {
                @if to.is_open() { (forms::reopen(visit, shown)) }
                @else { a.button data-soft href=(link(to.as_str())) { (forms::word(*to)) } }
            }
            a.button data-soft data-hotkey="c" href=(link("new")) { "New below" }
            a.button data-soft href=(link("move")) { "Move" }
        }
    }
}
