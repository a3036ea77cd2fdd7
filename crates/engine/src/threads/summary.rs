//! `summarize_thread`: what was found, fixed and settled, what is open, and what was said last.
//!
//! Computed from what the projection counted, so that it costs the same at ten messages and at ten
//! thousand. What people wrote stands in fields of its own, with who wrote it, never in the summary.

use serde_json::{Value, json};
use understory_model::Caller;
use understory_model::budget::{Budget, fit_lists};
use understory_model::error::Result;
use understory_model::id::message_name;
use understory_model::item::Item;
use understory_model::thread::{FIXED, REJECTED, REPORTED, VERIFIED, WITHDRAWN};
use understory_storage::messages::{self, Finding};

use super::{Found, find, said};
use crate::View;

/// Open findings, messages and commits that a summary names at most.
const OPEN: i64 = 50;
const LAST: i64 = 10;
const COMMITS: usize = 20;
/// Messages that are searched for commits.
const FIXES: i64 = 200;
/// Of what somebody wrote, what a summary shows.
const LINE: usize = 240;

pub fn summarize(
    view: &mut View<'_, '_>,
    caller: &Caller,
    handle: &str,
    max_messages: i64,
    budget: &Budget,
) -> Result<Value> {
    let found = find(view, caller, handle)?;
    let (tx, ws, id) = (&mut *view.tx, view.ws, found.row.id);
    let states = messages::states(tx, ws, id)?;
    let of_state = |state: &str| {
        let found = states.iter().find(|(name, _)| name == state);
        found.map_or(0, |(_, count)| *count)
    };
    let fixes = fixes(messages::commits(tx, ws, id, FIXES)?);
    let open = messages::open_findings(tx, ws, id, OPEN)?;
    let open: Vec<Value> = open
        .iter()
        .map(|(finding, item)| open_item(finding, item, &fixes))
        .collect();
    let last = messages::last(tx, ws, id, LAST.min(max_messages.max(0)))?;
    let last: Vec<Value> = last.iter().map(|(_, item)| line(item)).collect();
    let mut commits: Vec<&str> = Vec::new();
    for (_, commit) in &fixes {
        if commits.len() < COMMITS && !commits.contains(&commit.as_str()) {
            commits.push(commit);
        }
    }
    let counts = json!({
        "reported": found.row.findings,
        "fixed": of_state(FIXED),
        "verified": of_state(VERIFIED),
        "rejected": of_state(REJECTED),
        "withdrawn": of_state(WITHDRAWN),
        "unanswered": of_state(REPORTED),
        "open": found.row.open_findings,
    });
    let mut answer = json!({
        "thread_id": found.handle(),
        "summary": told(&found, &counts, &commits),
        "findings": counts,
        "commits": commits,
        "open_items": open,
        "last_messages": last,
        "last_status": found.row.status,
        "messages": found.row.last,
    });
    let lists = ["/last_messages", "/open_items", "/commits"];
    if fit_lists(&mut answer, &lists, budget) {
        return Ok(answer);
    }
    let least = json!({
        "summary": answer["summary"],
        "open_items": [],
        "last_status": found.row.status,
        "truncated": true,
    });
    Ok(match budget.holds(&least) {
        true => least,
        false => json!({ "truncated": true }),
    })
}

/// Commits newest first, each with the finding it is about.
fn fixes(rows: Vec<(Option<i64>, String)>) -> Vec<(Option<i64>, String)> {
    let named = |(finding, commits): (Option<i64>, String)| {
        let commits: Vec<String> = serde_json::from_str(&commits).unwrap_or_default();
        commits.into_iter().map(move |commit| (finding, commit))
    };
    rows.into_iter().flat_map(named).collect()
}

fn open_item(finding: &Finding, item: &Item, fixes: &[(Option<i64>, String)]) -> Value {
    let mut shown = line(item);
    shown["state"] = finding.state.clone().into();
    let about = fixes.iter().filter(|(of, _)| *of == Some(finding.n));
    let commits: Vec<&str> = about.map(|(_, commit)| commit.as_str()).collect();
    if !commits.is_empty() {
        shown["commits"] = commits.into();
    }
    if let Some(said) = said(item) {
        for field in ["finding_id", "severity", "file", "line", "task_id"] {
            if let Some(value) = said.metadata.get(field).and_then(short) {
                shown[field] = value;
            }
        }
    }
    shown
}

/// A message in a line, with who wrote it.
fn line(item: &Item) -> Value {
    let mut line = json!({
        "message_id": message_name(item.seq),
        "sender_agent_id": item.actor,
        "created_at": item.realized_at.to_string(),
    });
    if let Some(said) = said(item) {
        line["seq"] = said.n.into();
        line["kind"] = said.kind.clone().into();
        if let Some(event) = said.event_type() {
            line["event_type"] = event.into();
        }
        line["body"] = cut(&said.body).into();
    }
    line
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(LINE) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_string(),
    }
}

/// A plain value, no longer than a line; one that is not plain would crowd out the others.
fn short(value: &Value) -> Option<Value> {
    match value {
        Value::String(text) => Some(cut(text).into()),
        Value::Number(_) | Value::Bool(_) => Some(value.clone()),
        _ => None,
    }
}

/// The counts in a sentence or two.
fn told(found: &Found, counts: &Value, commits: &[&str]) -> String {
    let count = |name: &str| counts[name].as_i64().unwrap_or(0);
    let messages = plural(found.row.last, "message");
    if found.row.findings == 0 {
        return format!(
            "{messages}; no findings reported. Status: {}.",
            found.row.status
        );
    }
    let parts = ["verified", "withdrawn", "fixed", "rejected", "unanswered"];
    let parts: Vec<String> = parts
        .iter()
        .filter(|name| count(name) > 0)
        .map(|name| match *name {
            "fixed" => format!("{} fixed and not verified", count(name)),
            _ => format!("{} {name}", count(name)),
        })
        .collect();
    let open = match found.row.open_findings {
        0 => "none is open".to_string(),
        1 => "1 is open".to_string(),
        many => format!("{many} are open"),
    };
    let reported = plural(found.row.findings, "finding");
    let mut told = format!("{reported} reported: {}; {open}.", parts.join(", "));
    if !commits.is_empty() {
        told.push_str(&format!(" Fixes: {}.", commits.join(", ")));
    }
    format!("{told} {messages}. Status: {}.", found.row.status)
}

fn plural(count: i64, word: &str) -> String {
    match count {
        1 => format!("1 {word}"),
        _ => format!("{count} {word}s"),
    }
}
