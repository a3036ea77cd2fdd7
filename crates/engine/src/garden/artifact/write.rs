//! Writing a commit down, whether a caller made it or a merge: what it changes, where its lines come
//! from, and the item that says so.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Map, Value};
use understory_model::canon::entity_hash_map;
use understory_model::error::{Code, Fault, Result};
use understory_model::fact::{Fact, Said};
use understory_model::lines::{self, Change, Edit, Version, Wrong};
use understory_model::{Id, Seq, limits};
use understory_storage::artifacts::{self, Commit};

use crate::Work;
use crate::garden::artifact::commit::{Committed, Given, check_size};
use crate::garden::artifact::resolve::{self, From};
use crate::garden::{Content, Mention};
use crate::kernel::artifact::{Found, load};
use crate::kernel::content::artifact_delta::{Delta, HEAD, Makes, Parents, Source};
use crate::kernel::work::Noted;
use crate::kinds::ARTIFACT_DELTA;

/// What becomes of a version.
pub struct Next {
    pub edit: Edit,
    pub ended: bool,
    /// The argument that it came from.
    pub field: &'static str,
    /// The given operations, and for each derived one the index of its source.
    pub given: Option<(String, Vec<usize>)>,
    /// Of each text, the part of a message that it was made from. Shorter than the texts, it says
    /// nothing about the rest.
    pub from: Vec<Option<From>>,
}

/// What a commit is made from.
pub struct Made<'m> {
    /// The version that it changes.
    pub before: &'m Version,
    pub parent: Option<&'m Commit>,
    pub other: Option<&'m Commit>,
    pub fork: bool,
}

/// Carries a change out and writes it down.
pub fn write(
    work: &mut Work<'_, '_>,
    found: &Found,
    log: Id,
    next: Next,
    made: Made<'_>,
    given: &Given,
) -> Result<Committed> {
    let (before, edit) = (made.before, &next.edit);
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
    let mut delta = delta(found, edit, &after, &made, given)?;
    delta.sources = sources(&after, change.commit, &edit.texts, &next.from);
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
    let there = artifacts::by_hash(work.read()?, ws, found.id(), &delta.commit, 1)?;
    if there.is_empty() {
        delta.makes = Some(makes(work, found, &delta)?);
        append(work, found, log, ARTIFACT_DELTA, delta.fields()?, mentions)?;
    }
    let found = load(work.read()?, ws, found.id())?;
    Ok(answer(delta, &found))
}

fn delta(
    found: &Found,
    edit: &Edit,
    after: &Version,
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
fn sources(after: &Version, commit: Seq, texts: &[Arc<str>], from: &[Option<From>]) -> Vec<Source> {
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
        None => Fault::new(Code::Internal, "the change could not be applied"),
    }
}

/// The answer to a commit that changes nothing: there is nothing to write.
fn unchanged(work: &mut Work<'_, '_>, found: &Found, parent: &Commit) -> Result<Committed> {
    let ws = work.ws();
    let before: Vec<Seq> = [parent.parent, parent.other]
        .into_iter()
        .flatten()
        .collect();
    let hashes = artifacts::hashes(work.read()?, ws, found.id(), &before)?;
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
    let truncated = ops.len() > limits::ANSWER_CHARS;
    if truncated {
        let cut = ops.char_indices().nth(limits::ANSWER_CHARS);
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
