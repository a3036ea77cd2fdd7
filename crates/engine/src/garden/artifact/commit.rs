//! `garden_artifact_commit`: the next version of an artifact.
//!
//! A commit names the one that it was made from. When that is no longer the head nothing is
//! written, unless the caller wants its own line of versions beside the head.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use understory_model::canon::entity_hash_map;
use understory_model::error::{Code, Fault, Result};
use understory_model::fact::{Fact, Said};
use understory_model::lines::{self, Change, Edit, Version, Wrong, diff, split};
use understory_model::text::check_text;
use understory_model::{Id, Seq, budget, limits};
use understory_storage::artifacts::{self, Commit};

use crate::Work;
use crate::garden::artifact::Shown;
use crate::garden::artifact::resolve::{self, From};
use crate::garden::{Content, Mention, conversation};
use crate::kernel::artifact::{Found, at, commit_named, find, load};
use crate::kernel::content::artifact_delta::{Delta, HEAD, Makes, Parents, Source};
use crate::kernel::names::Scope;
use crate::kernel::project;
use crate::kernel::work::Noted;
use crate::kinds::ARTIFACT_DELTA;

/// What a commit does.
#[derive(Debug, Clone)]
pub enum What {
    Content(String),
    Ops {
        ops: String,
        texts: BTreeMap<String, String>,
    },
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

pub fn check(new: &New) -> Result<()> {
    match &new.what {
        What::Content(content) => check_content("content", content)?,
        What::Ops { ops, texts } => {
            check_text("ops", ops, limits::ARTIFACT_BYTES, true)?;
            resolve::check_given(texts)?;
        }
    }
    if new.fork && new.based_on.is_none() {
        return Err(Fault::invalid("fork", "needs a commit in based_on"));
    }
    check_given(&new.given)
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

fn check_size(field: &str, bytes: usize, lines: usize) -> Result<()> {
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

pub fn commit(work: &mut Work<'_, '_>, new: &New) -> Result<Committed> {
    let (found, log) = to_write(work, new.project.as_deref(), &new.artifact)?;
    let ws = work.ws();
    let parent = base(work, &found, new.based_on.as_deref(), new.fork)?;
    let before = at(
        work.tx,
        ws,
        found.id(),
        parent.as_ref().map_or(Seq::ZERO, |one| one.seq),
    )?;
    let made = match &new.what {
        What::Content(content) => by_content(&before, content),
        What::Ops { ops, texts } => by_ops(work, &found, &before, (ops, texts))?,
    };
    let parents = Made {
        parent: parent.as_ref(),
        other: None,
        fork: new.fork,
    };
    write(work, &found, log, (&before, made), parents, &new.given)
}

/// The artifact that a write means, and the conversation that it stands in.
pub fn to_write(
    work: &mut Work<'_, '_>,
    named: Option<&str>,
    artifact: &str,
) -> Result<(Found, Id)> {
    let project = project::to_write(work, named, false)?;
    work.flush()?;
    let ws = work.ws();
    let scope = Scope {
        ws,
        project: Some(project),
        caller: work.caller,
    };
    let found = find(work.tx, scope, artifact)?;
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
    work.flush()?;
    let ws = work.ws();
    let parent = base(work, found, Some(based_on), false)?;
    let seq = parent.as_ref().map_or(Seq::ZERO, |one| one.seq);
    let before = at(work.tx, ws, found.id(), seq)?;
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
    let parents = Made {
        parent: parent.as_ref(),
        other: None,
        fork: false,
    };
    write(work, found, log, (&before, made), parents, given)
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
    write(work, found, log, (&before, made), Made::default(), given)
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
        Some(name) => Some(commit_named(work.tx, ws, found, "based_on", name)?),
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

/// What becomes of a version.
pub struct Next {
    pub edit: Edit,
    pub ended: bool,
    /// The argument that it came from.
    pub field: &'static str,
    /// The operations as they were given, and of each that came of them which one it was.
    pub given: Option<(String, Vec<usize>)>,
    /// Of each text, the part of a message that it was made from. Shorter than the texts, it says
    /// nothing about the rest.
    pub from: Vec<Option<From>>,
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

/// What a commit is made from.
#[derive(Default)]
pub struct Made<'m> {
    pub parent: Option<&'m Commit>,
    pub other: Option<&'m Commit>,
    pub fork: bool,
}

/// Carries a change out and writes it down.
pub fn write(
    work: &mut Work<'_, '_>,
    found: &Found,
    log: Id,
    (before, next): (&Version, Next),
    made: Made<'_>,
    given: &Given,
) -> Result<Committed> {
    let edit = &next.edit;
    let change = Change {
        commit: work.next_seq(),
        ops: &edit.ops,
        texts: &edit.texts,
        origins: &edit.origins,
        ended: next.ended,
    };
    let after = lines::apply(before, &change).map_err(|wrong| told(&next, &wrong))?;
    check_size(next.field, after.bytes(), after.lines.len())?;
    let mut mentions = resolve::references(work, found, [before, &after], &given.references)?;
    let mut delta = delta(found, (edit, &after), &made, given)?;
    delta.sources = sources(&after, change.commit, (&edit.texts, &next.from));
    cite(&mut delta, &mut mentions, &next.from);
    if let Some(parent) = made.parent
        && made.other.is_none()
        && edit.ops.is_empty()
        && after.ended == before.ended
    {
        return unchanged(work, found, parent);
    }
    let ws = work.ws();
    // The same change beside the head again is the same commit.
    let there = artifacts::by_hash(work.tx, ws, found.id(), &delta.commit, 1)?;
    if there.is_empty() {
        delta.makes = Some(makes(work, found, &delta)?);
        append(work, found, log, ARTIFACT_DELTA, delta.fields()?, mentions)?;
        work.flush()?;
    }
    let found = load(work.tx, ws, found.id())?;
    Ok(answer(delta, &found))
}

fn delta(
    found: &Found,
    (edit, after): (&Edit, &Version),
    made: &Made<'_>,
    given: &Given,
) -> Result<Delta> {
    let hash = |commit: &Commit| commit.hash.clone();
    let count = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
    let origins = if edit.borrows() {
        let origins = edit.origins.iter();
        let pair = |origin: lines::Origin| (origin.commit, origin.line);
        origins.map(|origin| origin.map(pair)).collect()
    } else {
        Vec::new()
    };
    let mut delta = Delta {
        artifact_uuid: found.name.clone(),
        parent: match (made.parent, made.other) {
            (None, _) => Parents::None,
            (Some(one), None) => Parents::One(hash(one)),
            (Some(ours), Some(theirs)) => Parents::Two([hash(ours), hash(theirs)]),
        },
        ops: lines::print(&edit.ops),
        references: given.references.clone(),
        reasoning: given.reasoning.clone(),
        texts: edit.texts.iter().map(|text| text.to_string()).collect(),
        origins,
        newline: after.ended,
        label: found.row.label.clone(),
        lines: count(after.lines.len()),
        bytes: count(after.bytes()),
        fork: made.fork,
        ..Delta::default()
    };
    delta.commit = delta.hash()?;
    Ok(delta)
}

/// Which lines of a version were made of parts of messages, of those that a commit wrote.
fn sources(
    after: &Version,
    commit: Seq,
    (texts, from): (&[Arc<str>], &[Option<From>]),
) -> Vec<Source> {
    // A line holds the very text that was brought, so the text itself tells which it was.
    let known: HashMap<*const u8, &From> = texts
        .iter()
        .zip(from)
        .filter_map(|(text, from)| Some((text.as_ptr(), from.as_ref()?)))
        .collect();
    let own = after
        .lines
        .iter()
        .filter(|line| line.origin.commit == commit);
    own.filter_map(|line| {
        Some(Source {
            line: line.origin.line,
            part: known.get(&line.text.as_ptr())?.part.clone(),
        })
    })
    .collect()
}

/// What a commit brings from messages it also cites, once each, whether the caller listed it or
/// not.
fn cite(delta: &mut Delta, mentions: &mut Vec<Mention>, from: &[Option<From>]) {
    for from in from.iter().flatten() {
        let Some(mention) = &from.mention else {
            continue;
        };
        let there = mentions
            .iter()
            .any(|one| one.target == mention.target && one.fragment == mention.fragment);
        if !there {
            mentions.push(mention.clone());
            delta.references.push(from.part.clone());
        }
    }
}

/// The version of its artifact that a commit makes.
fn makes(work: &mut Work<'_, '_>, found: &Found, delta: &Delta) -> Result<Makes> {
    let thing = work.thing(found.id())?;
    let head = thing.data.get(HEAD).and_then(Value::as_str);
    let previous_head = head.map(str::to_string);
    let mut data = thing.data.clone();
    if !delta.fork {
        data.insert(HEAD.into(), delta.commit.clone().into());
    }
    let previous_hash = thing.entity.hash.clone();
    Ok(Makes {
        version: thing.entity.version + 1,
        hash: entity_hash_map(&data, Some(&previous_hash)),
        previous_hash,
        previous_head,
    })
}

/// A refusal of an operation, in the caller's own numbers.
fn told(next: &Next, wrong: &Wrong) -> Fault {
    match &next.given {
        Some((ops, sources)) => {
            let op = sources.get(wrong.op).copied().unwrap_or(wrong.op);
            let problem = wrong.problem.clone();
            lines::fault(ops, &Wrong { op, problem })
        }
        None => Fault::new(Code::Internal, "a difference cannot be carried out"),
    }
}

/// The answer to a commit that changes nothing: there is nothing to write.
fn unchanged(work: &mut Work<'_, '_>, found: &Found, parent: &Commit) -> Result<Committed> {
    let ws = work.ws();
    let before: Vec<Seq> = [parent.parent, parent.other]
        .into_iter()
        .flatten()
        .collect();
    let hashes = artifacts::hashes(work.tx, ws, found.id(), &before)?;
    let before: Vec<&String> = before.iter().filter_map(|seq| hashes.get(seq)).collect();
    Ok(Committed {
        commit: parent.hash.clone(),
        parent: match before.as_slice() {
            [ours, theirs, ..] => Parents::Two([ours.to_string(), theirs.to_string()]),
            [one] => Parents::One(one.to_string()),
            [] => Parents::None,
        },
        ops: String::new(),
        unchanged: true,
        truncated: false,
        artifact: found.shown(),
    })
}

fn answer(delta: Delta, found: &Found) -> Committed {
    let mut ops = delta.ops;
    // A whole book may be committed at once; its operations are in the log.
    let truncated = ops.len() > budget::DEFAULT_CHARS;
    if truncated {
        let cut = ops.char_indices().nth(budget::DEFAULT_CHARS);
        let cut = cut.map_or(ops.len(), |(at, _)| at);
        ops.truncate(ops[..cut].rfind(' ').unwrap_or(0));
    }
    Committed {
        commit: delta.commit,
        parent: delta.parent,
        ops,
        unchanged: false,
        truncated,
        artifact: found.shown(),
    }
}

/// Appends an item about an artifact to a conversation.
pub fn append(
    work: &mut Work<'_, '_>,
    found: &Found,
    log: Id,
    kind: &str,
    fields: Map<String, Value>,
    mentions: Vec<Mention>,
) -> Result<Seq> {
    let content = Content {
        log: Some(log),
        fields,
        mentions,
        ..Content::default()
    };
    let kind = kind.to_string();
    work.append(Noted {
        project: Some(found.row.project),
        entity: Some(found.id()),
        canonical_at: None,
        fact: Fact::Said(Said { kind, content }),
    })
}
