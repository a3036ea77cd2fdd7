//! `garden_artifact_show`, `_log` and `_diff`: a version with where its lines came from, the commits
//! that led to it, and what lies between two.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use understory_model::answer::{Fit, Shape};
use understory_model::budget::Drop;
use understory_model::error::{Fault, Result};
use understory_model::id::item_name;
use understory_model::lines::unified;
use understory_model::page::{Cursor, Key};
use understory_model::{Seq, Time};
use understory_storage::artifacts::{self, Commit};
use understory_storage::items;

use super::delta::{Delta, Parents};
use super::{Found, Shown, at, commit_named, find, key};
use crate::View;
use crate::garden::page::Paging;
use crate::names::Scope;
use crate::project;

/// An artifact that a read means.
pub fn named(view: &mut View<'_, '_>, project: Option<&str>, artifact: &str) -> Result<Found> {
    let project = project::to_read(view, view.caller, project)?;
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

/// The answer of `garden_artifact_show`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Lines {
    pub artifact: Shown,
    /// The hash of the commit that is shown; null before the first.
    pub commit: Option<String>,
    /// How many lines this version has.
    pub total: usize,
    /// Whether a line feed ends the text.
    pub newline: bool,
    pub lines: Vec<Line>,
    /// The line to go on with, where not all that were asked for are shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_start: Option<usize>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
    /// The index of the first line shown.
    #[serde(skip)]
    start: usize,
}

/// A line of an artifact.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Line {
    /// Its number, from 1.
    pub line: usize,
    pub content: String,
    /// The id that its text gives it.
    pub fragment: String,
    /// The commit that wrote it.
    pub commit: Option<String>,
    /// The part of a message that it was made from: `item_<uuid>#^a7f`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

impl Fit for Lines {
    const SHAPE: Shape = Shape::Page {
        list: "lines",
        drop: Drop::Last,
        cursor: "next_start",
    };

    fn cursor(&self, kept: usize) -> Option<Value> {
        Some((self.start + kept + 1).into())
    }
}

/// The fewest characters that a line takes in an answer, with its fragment and its commit's hash.
const LINE_CHARS: usize = 60;

/// `chars` is the caller's budget: no more lines are read than may fit into it.
pub fn show(view: &mut View<'_, '_>, found: &Found, asked: &Asked, chars: usize) -> Result<Lines> {
    let commit = wanted(view, found, "commit", asked.commit.as_deref())?;
    let seq = commit.as_ref().map_or(0, |commit| commit.seq);
    let version = at(view.tx, view.ws, found.id(), seq)?;
    let (start, end) = range(asked, version.lines.len())?;
    let most = chars / LINE_CHARS + 1;
    let lines = version.lines[start..end].iter().take(most);
    let mut origins: Vec<Seq> = lines.clone().map(|line| line.origin.commit).collect();
    origins.sort_unstable();
    origins.dedup();
    let hashes = artifacts::hashes(view.tx, view.ws, found.id(), &origins)?;
    let sources = artifacts::sources(view.tx, view.ws, found.id(), &origins)?;
    let lines: Vec<Line> = lines
        .zip(start + 1..)
        .map(|(line, number)| Line {
            line: number,
            content: line.bare().to_string(),
            fragment: line.fragment(),
            commit: hashes.get(&line.origin.commit).cloned(),
            source: sources.get(&key(line.origin)).cloned(),
        })
        .collect();
    let shown = start + lines.len();
    Ok(Lines {
        artifact: found.shown(),
        commit: commit.map(|commit| commit.hash),
        total: version.lines.len(),
        newline: version.ended,
        lines,
        next_start: (shown < end).then_some(shown + 1),
        truncated: shown < end,
        start,
    })
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
        return Err(Fault::invalid("start", problem).detail("lines", total));
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

/// The answer of `garden_artifact_log`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Commits {
    pub artifact: Shown,
    /// Newest first, those beside the head too.
    pub deltas: Vec<Logged>,
    #[serde(flatten)]
    pub paging: Paging,
}

/// A commit of an artifact, with what was said about it as far as that is known.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Logged {
    pub commit: String,
    #[serde(flatten)]
    pub said: Option<Said>,
    /// Whether the artifact stands at it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub head: bool,
}

/// What the item of a commit says.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Said {
    /// `item_<uuid>`.
    pub uuid: String,
    #[serde(rename = "_type")]
    pub kind: String,
    pub realized_at: Time,
    pub actor: String,
    /// `entity_<uuid>`.
    pub artifact_uuid: String,
    pub parent: Parents,
    /// Line operations, such as `+15:^a7f -23`.
    pub ops: String,
    /// Fragments that led to it.
    pub references: Vec<String>,
    /// How many lines the artifact has since.
    pub lines: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
    /// Whether it stands beside the head, to be merged.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fork: bool,
}

impl Fit for Commits {
    const SHAPE: Shape = Shape::Pagination { list: "deltas" };

    fn cursor(&self, kept: usize) -> Option<Value> {
        self.paging.cursor(kept)
    }
}

pub fn log(
    view: &mut View<'_, '_>,
    found: &Found,
    (cursor, limit): (Option<&str>, i64),
) -> Result<Commits> {
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
    for commit in commits {
        let keys = vec![Key::Int(commit.seq), Key::Int(found.id())];
        cursors.push(Cursor::new(LOG, keys).encode());
        deltas.push(logged(view, found, commit)?);
    }
    Ok(Commits {
        artifact: found.shown(),
        deltas,
        paging: Paging::new(cursors, more),
    })
}

fn logged(view: &mut View<'_, '_>, found: &Found, commit: Commit) -> Result<Logged> {
    let item = items::get(view.tx, view.ws, commit.seq)?;
    let delta = item.as_ref().and_then(Delta::of);
    let (Some(item), Some(delta)) = (item, delta) else {
        return Ok(Logged {
            commit: commit.hash,
            said: None,
            head: false,
        });
    };
    Ok(Logged {
        commit: delta.commit,
        said: Some(Said {
            uuid: item_name(&item.uuid),
            kind: item.kind,
            realized_at: item.realized_at,
            actor: item.actor,
            artifact_uuid: delta.artifact_uuid,
            parent: delta.parent,
            ops: delta.ops,
            references: delta.references,
            lines: delta.lines,
            reasoning: delta.reasoning,
            fork: delta.fork,
        }),
        head: commit.seq == found.row.head,
    })
}

/// The answer of `garden_artifact_diff`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Diff {
    pub artifact: Shown,
    pub from: String,
    pub to: String,
    /// A unified diff.
    pub diff: String,
}

impl Fit for Diff {
    const SHAPE: Shape = Shape::Text { text: "diff" };
}

pub fn diff(
    view: &mut View<'_, '_>,
    found: &Found,
    (from, to): (&str, Option<&str>),
) -> Result<Diff> {
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
    let diff = unified(&old, &new, (&name(&from), &name(&to)));
    Ok(Diff {
        artifact: found.shown(),
        from: from.hash,
        to: to.hash,
        diff,
    })
}
