//! `garden_artifact_commit`: the next version of an artifact.
//!
//! A commit names the one that it was made from. When that is no longer the head nothing is
//! written, unless the caller wants its own line of versions beside the head.

use std::collections::BTreeMap;
use std::ops::Range;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use understory_model::error::{Fault, Result};
use understory_model::lines::{Edit, Merged, Version, diff, merge, split};
use understory_model::text::check_text;
use understory_model::{Id, Seq, limits};
use understory_storage::artifacts::Commit;

use crate::Work;
use crate::garden::artifact::Shown;
use crate::garden::artifact::resolve;
use crate::garden::artifact::write::{Made, Next, write};
use crate::garden::conversation;
use crate::kernel::artifact::{Found, at, commit_named, find};
use crate::kernel::checked::{Check, Checked};
use crate::kernel::content::artifact_delta::Parents;
use crate::kernel::names::Scope;
use crate::kernel::project;

/// What a commit does.
#[derive(Debug, Clone)]
pub enum What {
    Content(String),
    Ops {
        ops: String,
        texts: BTreeMap<String, String>,
    },
    /// What this commit changed, taken back; what came after it stays.
    Revert(String),
}

/// What may be said about a commit.
#[derive(Debug, Clone, Default)]
pub struct Given {
    pub references: Vec<String>,
    pub reasoning: Option<String>,
}

/// A commit to be made.
#[derive(Debug, Clone)]
pub struct New {
    pub artifact: String,
    pub based_on: Option<String>,
    pub what: What,
    pub given: Given,
    pub fork: bool,
    pub project: Option<String>,
}

impl Check for New {
    fn check(&self) -> Result<()> {
        match &self.what {
            What::Content(content) => check_content("content", content)?,
            What::Ops { ops, texts } => {
                check_text("ops", ops, limits::ARTIFACT_BYTES, true)?;
                resolve::check_given(texts)?;
            }
            What::Revert(_) if self.fork => {
                return Err(Fault::invalid("fork", "cannot be combined with revert"));
            }
            What::Revert(_) => {}
        }
        if self.fork && self.based_on.is_none() {
            return Err(Fault::invalid("fork", "needs a commit in based_on"));
        }
        check_given(&self.given)
    }
}

pub fn check_given(given: &Given) -> Result<()> {
    resolve::check_references(&given.references)?;
    match &given.reasoning {
        Some(reasoning) => check_text("reasoning", reasoning, limits::TEXT_CHARS, true),
        None => Ok(()),
    }
}

/// Refuses a text that is longer than an artifact may be.
pub fn check_content(field: &str, content: &str) -> Result<()> {
    check_text(field, content, limits::ARTIFACT_BYTES, true)?;
    check_size(field, content.len(), split(content).0.len())
}

pub(super) fn check_size(field: &str, bytes: usize, lines: usize) -> Result<()> {
    let (most, most_lines) = (limits::ARTIFACT_BYTES, limits::ARTIFACT_LINES);
    if bytes <= most && lines <= most_lines {
        return Ok(());
    }
    let problem = format!(
        "makes {bytes} bytes in {lines} lines; at most {most} in {most_lines} fit one artifact"
    );
    Err(Fault::invalid(field, problem).hint("Keep it as several artifacts."))
}

/// The answer of `garden_artifact_commit`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Committed {
    /// The commit's hash.
    pub commit: String,
    pub parent: Parents,
    /// What changed, as line operations such as `+15:^a7f -23`.
    pub ops: String,
    /// The artifact said this already; nothing was written.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unchanged: bool,
    /// Whether `ops` is too long to be shown whole.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
    pub artifact: Shown,
}

pub fn commit(work: &mut Work<'_, '_>, new: &Checked<New>) -> Result<Committed> {
    let (found, log) = to_write(work, new.project.as_deref(), &new.artifact)?;
    let ws = work.ws();
    let parent = match (&new.what, &new.based_on) {
        // Taking a change back says itself what it is about.
        (What::Revert(_), None) => found.head.clone(),
        _ => base(work, &found, new.based_on.as_deref(), new.fork)?,
    };
    let before = at(
        work.read()?,
        ws,
        found.id(),
        parent.as_ref().map_or(Seq::ZERO, |one| one.seq),
    )?;
    let made = match &new.what {
        What::Content(content) => by_content(&before, content),
        What::Ops { ops, texts } => by_ops(work, &found, &before, (ops, texts))?,
        What::Revert(commit) => by_revert(work, &found, &before, commit)?,
    };
    let from = Made {
        before: &before,
        parent: parent.as_ref(),
        other: None,
        fork: new.fork,
    };
    write(work, &found, log, made, from, &new.given)
}

/// The artifact that a write means, and the conversation that it stands in.
pub fn to_write(
    work: &mut Work<'_, '_>,
    named: Option<&str>,
    artifact: &str,
) -> Result<(Found, Id)> {
    let project = project::to_write(work, named, false)?;
    let ws = work.ws();
    let scope = Scope {
        ws,
        project: Some(project),
        caller: work.caller,
    };
    let found = find(work.read()?, scope, artifact)?;
    let log = conversation::to_write(work, found.row.project, None)?;
    Ok((found, log))
}

/// The lines `range` of a version, from 0, replaced by a text: the commit, or why there is none.
pub fn commit_lines(
    work: &mut Work<'_, '_>,
    found: &Found,
    log: Id,
    based_on: &str,
    (range, content): (Range<usize>, &str),
    given: &Given,
) -> Result<Committed> {
    check_given(given)?;
    check_content("content", content)?;
    let ws = work.ws();
    let parent = base(work, found, Some(based_on), false)?;
    let seq = parent.as_ref().map_or(Seq::ZERO, |one| one.seq);
    let before = at(work.read()?, ws, found.id(), seq)?;
    if range.start > range.end || range.end > before.lines.len() {
        let problem = format!("must be a range within {} lines", before.lines.len());
        return Err(Fault::invalid("end", problem));
    }
    let mut texts = before.texts();
    texts.splice(range, split(content).0);
    let made = Next {
        edit: diff(&before, &texts),
        ended: before.ended,
        field: "content",
        given: None,
        from: Vec::new(),
    };
    let from = Made {
        before: &before,
        parent: parent.as_ref(),
        other: None,
        fork: false,
    };
    write(work, found, log, made, from, given)
}

/// The first commit of an artifact that has just been made.
pub fn first(
    work: &mut Work<'_, '_>,
    found: &Found,
    log: Id,
    content: &str,
    given: &Given,
) -> Result<Committed> {
    let before = Version::default();
    let made = by_content(&before, content);
    let from = Made {
        before: &before,
        parent: None,
        other: None,
        fork: false,
    };
    write(work, found, log, made, from, given)
}

/// The commit that a new one is made from: the head, unless it is to stand beside it.
fn base(
    work: &mut Work<'_, '_>,
    found: &Found,
    based_on: Option<&str>,
    fork: bool,
) -> Result<Option<Commit>> {
    let ws = work.ws();
    let named = match based_on {
        Some(name) => Some(commit_named(work.read()?, ws, found, "based_on", name)?),
        None => None,
    };
    let seq = |commit: &Option<Commit>| commit.as_ref().map(|commit| commit.seq);
    if fork || seq(&named) == seq(&found.head) {
        return Ok(named);
    }
    let hash = |commit: &Option<Commit>| commit.as_ref().map(|commit| commit.hash.clone());
    let message = match named {
        Some(_) => format!("{} has moved on since that commit", found.row.label),
        None => format!("{} has commits already", found.row.label),
    };
    Err(Fault::conflict(message)
        .detail("field", "based_on").detail("current_commit", hash(&found.head)).detail("based_on", hash(&named))
        .hint("Look at the current commit and base the change on it, or commit beside it with fork and merge."))
}

fn by_content(before: &Version, content: &str) -> Next {
    let (texts, ended) = split(content);
    Next {
        edit: diff(before, &texts),
        ended,
        field: "content",
        given: None,
        from: Vec::new(),
    }
}

/// The change of a commit the other way round, merged into what stands there now: its lines come back
/// with who wrote them.
fn by_revert(work: &mut Work<'_, '_>, found: &Found, now: &Version, name: &str) -> Result<Next> {
    let ws = work.ws();
    let taken = commit_named(work.read()?, ws, found, "revert", name)?;
    if taken.other.is_some() {
        return Err(Fault::invalid(
            "revert",
            "names a merge, which has two sides",
        ));
    }
    let parent = taken.parent.unwrap_or(Seq::ZERO);
    let with = at(work.read()?, ws, found.id(), taken.seq)?;
    let without = at(work.read()?, ws, found.id(), parent)?;
    work.default_cause(taken.seq);
    match merge(&with, now, &without, &BTreeMap::new()).0 {
        Merged::Clean { edit, ended } => Ok(Next {
            edit,
            ended,
            field: "revert",
            given: None,
            from: Vec::new(),
        }),
        Merged::Open(_) => Err(
            Fault::conflict("the lines of that commit were changed since")
                .detail("field", "revert")
                .detail("current_commit", found.head.as_ref().map(|head| &head.hash))
                .hint("Look at the current commit, and commit what is to stand there."),
        ),
    }
}

fn by_ops(
    work: &mut Work<'_, '_>,
    found: &Found,
    before: &Version,
    (ops, texts): (&str, &BTreeMap<String, String>),
) -> Result<Next> {
    let resolved = resolve::ops(work, found, before, (ops, texts))?;
    Ok(Next {
        edit: Edit {
            ops: resolved.ops,
            texts: resolved.texts,
            origins: Vec::new(),
        },
        ended: before.ended,
        field: "ops",
        given: Some((ops.to_string(), resolved.sources)),
        from: resolved.from,
    })
}
