//! `garden_artifact_show`, `_log` and `_diff`: a version with where its lines came from, the commits
//! that led to it, and what lies between two.

use serde_json::{Value, json};
use understory_model::budget::{Budget, Drop, fit_page, fit_rows};
use understory_model::error::{Fault, Result};
use understory_model::id::item_name;
use understory_model::lines::unified;
use understory_model::page::{Cursor, Key};
use understory_model::{Caller, Seq};
use understory_storage::artifacts::{self, Commit};
use understory_storage::items;

use super::delta::Delta;
use super::{Found, at, commit_named, find, key};
use crate::View;
use crate::garden::timeline::paged;
use crate::names::Scope;
use crate::project;

/// An artifact that a read means.
pub fn named(
    view: &mut View<'_, '_>,
    caller: &Caller,
    project: Option<&str>,
    artifact: &str,
) -> Result<Found> {
    let project = project::to_read(view, caller, project)?;
    let scope = Scope {
        ws: view.ws,
        project: project.map(|project| project.id),
        caller: view.caller,
    };
    find(view.tx, scope, artifact)
}

/// Which lines of which version somebody wants to see.
#[derive(Debug, Clone, Default)]
pub struct Asked {
    pub commit: Option<String>,
    pub start: Option<i64>,
    pub end: Option<i64>,
}

pub fn show(
    view: &mut View<'_, '_>,
    found: &Found,
    asked: &Asked,
    budget: &Budget,
) -> Result<Value> {
    let commit = wanted(view, found, "commit", asked.commit.as_deref())?;
    let seq = commit.as_ref().map_or(0, |commit| commit.seq);
    let version = at(view.tx, view.ws, found.id(), seq)?;
    let (start, end) = range(asked, version.lines.len())?;
    // Each line takes some characters of its own, so no more can fit.
    let most = budget.chars / 60 + 1;
    let lines = version.lines[start..end].iter().take(most);
    let mut origins: Vec<Seq> = lines.clone().map(|line| line.origin.commit).collect();
    origins.sort_unstable();
    origins.dedup();
    let hashes = artifacts::hashes(view.tx, view.ws, found.id(), &origins)?;
    let sources = artifacts::sources(view.tx, view.ws, found.id(), &origins)?;
    let lines: Vec<Value> = lines
        .zip(start + 1..)
        .map(|(line, number)| {
            let mut shown = json!({
                "line": number,
                "content": line.bare(),
                "fragment": line.fragment(),
                "commit": hashes.get(&line.origin.commit),
            });
            if let Some(part) = sources.get(&key(line.origin)) {
                shown["source"] = part.clone().into();
            }
            shown
        })
        .collect();
    let shown = start + lines.len();
    let mut answer = json!({
        "artifact": found.shown(),
        "commit": commit.map(|commit| commit.hash),
        "total": version.lines.len(),
        "newline": version.ended,
        "lines": lines,
    });
    if shown < end {
        answer["next_start"] = (shown + 1).into();
        answer["truncated"] = true.into();
    }
    Ok(fit_page(
        answer,
        "lines",
        budget,
        Drop::Last,
        "next_start",
        |kept, _| (start + kept + 1).into(),
    ))
}

/// The indices of the lines asked for.
fn range(asked: &Asked, total: usize) -> Result<(usize, usize)> {
    let line = |field: &str, given: i64| match usize::try_from(given) {
        Ok(line) if line > 0 => Ok(line),
        _ => Err(Fault::invalid(
            field,
            "must be a line number; the first line is 1",
        )),
    };
    let start = asked.start.map_or(Ok(1), |start| line("start", start))?;
    let end = asked.end.map_or(Ok(total), |end| line("end", end))?;
    if asked.start.is_some() && start > total {
        let problem = format!("is beyond the last line, {total}");
        return Err(Fault::invalid("start", problem).details(json!({ "lines": total })));
    }
    if asked.end.is_some() && end < start {
        return Err(Fault::invalid("end", format!("is before line {start}")));
    }
    Ok((start - 1, end.clamp(start - 1, total.max(start - 1))))
}

/// The commit of a name; the head without one.
fn wanted(
    view: &mut View<'_, '_>,
    found: &Found,
    field: &str,
    name: Option<&str>,
) -> Result<Option<Commit>> {
    match name {
        Some(name) => commit_named(view.tx, view.ws, found, field, name).map(Some),
        None => Ok(found.head.clone()),
    }
}

const LOG: &str = "garden.artifact.log";

/// Its commits, newest first, those beside the head too.
pub fn log(
    view: &mut View<'_, '_>,
    found: &Found,
    (cursor, limit): (Option<&str>, i64),
    budget: &Budget,
) -> Result<Value> {
    let before = match cursor {
        Some(cursor) => {
            let cursor = Cursor::decode(cursor, LOG)?;
            match cursor.int(1)? == found.id() {
                true => cursor.int(0)?,
                false => return Err(Fault::invalid("cursor", "belongs to another artifact")),
            }
        }
        None => Seq::MAX,
    };
    let mut commits = artifacts::commits(view.tx, view.ws, found.id(), before, limit + 1)?;
    let more = commits.len() as i64 > limit;
    commits.truncate(usize::try_from(limit).unwrap_or(0));
    let (mut deltas, mut cursors) = (Vec::new(), Vec::new());
    for commit in &commits {
        deltas.push(told(view, found, commit)?);
        let keys = vec![Key::Int(commit.seq), Key::Int(found.id())];
        cursors.push(Cursor::new(LOG, keys).encode());
    }
    let answer = json!({ "artifact": found.shown(), "deltas": deltas });
    Ok(paged(answer, "deltas", (&cursors, more), budget))
}

fn told(view: &mut View<'_, '_>, found: &Found, commit: &Commit) -> Result<Value> {
    let item = items::get(view.tx, view.ws, commit.seq)?;
    let delta = item.as_ref().and_then(Delta::of);
    let (Some(item), Some(delta)) = (item, delta) else {
        return Ok(json!({ "commit": commit.hash }));
    };
    let mut told = json!({
        "uuid": item_name(&item.uuid),
        "_type": item.kind,
        "realized_at": item.realized_at.to_string(),
        "actor": item.actor,
        "artifact_uuid": delta.artifact_uuid,
        "commit": delta.commit,
        "parent": delta.parent.shown(),
        "ops": delta.ops,
        "references": delta.references,
        "lines": delta.lines,
    });
    if let Some(reasoning) = delta.reasoning {
        told["reasoning"] = reasoning.into();
    }
    if delta.fork {
        told["fork"] = true.into();
    }
    if commit.seq == found.row.head {
        told["head"] = true.into();
    }
    Ok(told)
}

pub fn diff(
    view: &mut View<'_, '_>,
    found: &Found,
    (from, to): (&str, Option<&str>),
    budget: &Budget,
) -> Result<Value> {
    let from = commit_named(view.tx, view.ws, found, "from", from)?;
    let to = wanted(view, found, "to", to)?.unwrap_or_else(|| from.clone());
    let old = at(view.tx, view.ws, found.id(), from.seq)?;
    let new = at(view.tx, view.ws, found.id(), to.seq)?;
    let name = |commit: &Commit| {
        format!(
            "{}@{}",
            found.row.label,
            &commit.hash[..12.min(commit.hash.len())]
        )
    };
    let text = unified(&old, &new, (&name(&from), &name(&to)));
    let whole = json!({
        "artifact": found.shown(),
        "from": from.hash,
        "to": to.hash,
        "diff": text,
    });
    if budget.holds(&whole) {
        return Ok(whole);
    }
    // As many whole lines of the difference as fit; a first line that is too long is shortened.
    let lines: Vec<Value> = text.split_inclusive('\n').map(Value::from).collect();
    let chars = text.chars().count();
    Ok(fit_rows(&lines, budget, |lines| {
        let mut answer = whole.clone();
        answer["diff"] = lines.iter().filter_map(Value::as_str).collect();
        answer["diff_chars"] = chars.into();
        answer
    }))
}
