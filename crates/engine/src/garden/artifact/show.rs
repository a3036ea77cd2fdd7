//! `garden_artifact_show`: a version of an artifact, with where its lines came from.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use understory_model::Seq;
use understory_model::answer::{Fit, Next, Shape};
use understory_model::budget::Drop;
use understory_model::error::{Fault, Result};
use understory_storage::artifacts;

use crate::View;
use crate::garden::artifact::Shown;
use crate::kernel::artifact::{Found, at, key, wanted};

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

    fn cursor(&self, kept: usize) -> Option<Next> {
        Some(Next::Line(self.start + kept + 1))
    }
}

/// The fewest characters that a line takes in an answer, with its fragment and its commit's hash.
const LEAST_LINE_CHARS: usize = 60;

/// `chars` is the caller's budget: no more lines are read than may fit into it.
pub fn show(view: &mut View<'_, '_>, found: &Found, asked: &Asked, chars: usize) -> Result<Lines> {
    let commit = wanted(view, found, "commit", asked.commit.as_deref())?;
    let seq = commit.as_ref().map_or(Seq::ZERO, |commit| commit.seq);
    let version = at(view.tx, view.ws, found.id(), seq)?;
    let (start, end) = range(asked, version.lines.len())?;
    let most = chars / LEAST_LINE_CHARS + 1;
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
