//! `reader_decide`: a proposal becomes a commit, or does not, or is open again.
//!
//! Lines are told by where they were written, not by their number: what was only shifted is
//! followed, and what was changed since is a conflict.

use std::ops::Range;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use understory_model::error::{Code, Fault, Result};
use understory_model::lines::{Line, Version};
use understory_model::text::check_text;
use understory_model::{Role, Seq, Ws, limits};
use understory_storage::entities::Entity;
use understory_storage::{ReadTx, artifacts};

use crate::garden::artifact::commit::{Given, commit_lines, first};
use crate::garden::conversation;
use crate::garden::reader::propose::{Shown, State, Words, bare_shape, words};
use crate::garden::reader::{Open, Setting, Status, name_of, open, record};
use crate::garden::system::{Payload, report};
use crate::kernel::artifact;
use crate::kernel::artifact::Found;
use crate::kernel::checked::{Check, Checked};
use crate::kernel::content::call::{Operation, Output, Params};
use crate::kernel::content::event::Event;
use crate::kernel::core::Thing;
use crate::kernel::names::{self, Scope};
use crate::kernel::work::Edit;
use crate::kinds::PROPOSAL;
use crate::{View, Work};

/// What becomes of a proposal.
#[derive(Debug, Clone)]
pub struct Decision {
    pub proposal: String,
    /// Nothing takes a rejection back.
    pub accept: Option<bool>,
    /// What is accepted instead of what was proposed.
    pub content: Option<String>,
    pub note: Option<String>,
}

impl Decision {
    /// What the proposal becomes.
    fn status(&self) -> Status {
        match self.accept {
            Some(true) => Status::Accepted,
            Some(false) => Status::Rejected,
            None => Status::Open,
        }
    }
}

impl Check for Decision {
    fn check(&self) -> Result<()> {
        if let Some(content) = &self.content {
            if self.accept != Some(true) {
                return Err(Fault::invalid("content", "is for accept: true alone"));
            }
            check_text("content", content, limits::BODY_BYTES, true)?;
        }
        match &self.note {
            Some(note) => check_text("note", note, limits::TEXT_CHARS, true),
            None => Ok(()),
        }
    }
}

/// The answer of `reader_decide`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Decided {
    /// Without its content and reasoning.
    pub proposal: Shown,
    /// The item that says so: `item_<uuid>`.
    pub item: String,
    /// The commit that it became, where it was accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
}

pub fn decide(
    work: &mut Work<'_, '_>,
    setting: &Checked<Setting>,
    wish: &Checked<Decision>,
) -> Result<Decided> {
    let ws = work.ws();
    let scope = Scope::ids(ws, work.caller);
    let entity = names::entity(work.read()?, scope, "proposal", &wish.proposal)?;
    if entity.kind != PROPOSAL {
        return Err(Fault::invalid("proposal", "is not a proposal")
            .hint("reader_proposals lists them; they are named like prop_001."));
    }
    let thing = work.thing(entity.id)?.clone();
    let state = State::of(&thing)?;
    check_status(&entity, &state, wish)?;
    check_may_decide(work, &entity, &state, wish)?;
    let Some(words) = words(work.read()?, ws, &thing)? else {
        let message = format!("the words of {} were taken back", entity.handle);
        return Err(Fault::conflict(message).hint("There is nothing left to decide."));
    };
    let open = open(work, setting, &state.artifact)?;
    // Whether it still fits is known before anything is written.
    let place = match wish.status() {
        Status::Accepted => Some(place(work, &open, &state)?),
        _ => None,
    };
    work.default_cause(entity.id.seq());
    let seq = note(work, setting, &open, wish, &thing)?;
    work.caused_by(seq);
    let commit = match place {
        Some(place) => {
            let words = Words {
                content: wish.content.clone().unwrap_or(words.content),
                ..words
            };
            Some(commit(work, &open, &words, place)?)
        }
        None => None,
    };
    let item = name_of(work, seq)?;
    let data = decided(work, thing.data, wish.status(), (&item, commit.as_deref()));
    work.change(
        entity.id,
        Edit {
            action: match wish.status() {
                Status::Open => "reopened",
                status => status.name(),
            },
            data: Some(data),
            ..Edit::default()
        },
    )?;
    reported(work, &open, &entity.handle, (wish, commit.as_deref()))?;
    let mut proposal = bare_shape(work.thing(entity.id)?)?;
    if wish.note.is_some() {
        proposal.state.note.clone_from(&wish.note);
    }
    Ok(Decided {
        proposal,
        item,
        commit,
    })
}

/// Only what is open can be decided, and only a rejection can be taken back: an acceptance has become
/// a commit.
fn check_status(entity: &Entity, state: &State, wish: &Decision) -> Result<()> {
    let needed = match wish.status() {
        Status::Open => Status::Rejected,
        _ => Status::Open,
    };
    if state.status == needed {
        return Ok(());
    }
    let status = state.status.name();
    let hint = match (needed, state.status) {
        (Status::Open, _) => "Propose it again with reader_propose.",
        (_, Status::Accepted) => "garden_artifact_commit with revert takes its commit back.",
        _ => "Accept or reject it.",
    };
    let message = match state.status {
        Status::Open => format!("{} was not decided yet", entity.handle),
        _ => format!("{} was {status} before", entity.handle),
    };
    Err(Fault::conflict(message).detail("status", status).hint(hint))
}

/// What a proposal keeps of a decision. What was said beside it stands in the item alone.
fn decided(
    work: &Work<'_, '_>,
    mut data: Map<String, Value>,
    status: Status,
    (item, commit): (&str, Option<&str>),
) -> Map<String, Value> {
    data.insert("status".into(), status.name().into());
    if status == Status::Open {
        for field in ["decided_by", "decided_at", "decision"] {
            data.remove(field);
        }
        return data;
    }
    data.insert("decided_by".into(), work.caller.agent.clone().into());
    data.insert("decided_at".into(), work.now.to_string().into());
    data.insert("decision".into(), item.into());
    if let Some(commit) = commit {
        data.insert("commit".into(), commit.into());
    }
    data
}

/// Who proposed something may take it back; accepting it is for somebody else, or for a person who
/// is in charge.
fn check_may_decide(
    work: &Work<'_, '_>,
    entity: &Entity,
    state: &State,
    wish: &Decision,
) -> Result<()> {
    let own = entity.created_by == work.caller.agent;
    if wish.accept.is_none() {
        let by_caller = state.decided_by.as_deref() == Some(work.caller.agent.as_str());
        if by_caller || work.caller.role.directs() {
            return Ok(());
        }
        let message = format!("{} was rejected by somebody else", entity.handle);
        return Err(Fault::new(Code::InsufficientAuthority, message)
            .hint("Who rejected it, an operator or an orchestrator takes that back."));
    }
    if !(wish.accept == Some(true) && own) || work.caller.role == Role::Operator {
        return Ok(());
    }
    let message = format!(
        "{} was proposed by you; somebody else accepts it",
        entity.handle
    );
    Err(Fault::new(Code::InsufficientAuthority, message)
        .hint("Ask another agent or an operator; you may reject it yourself."))
}

/// Writes down that the caller decided.
fn note(
    work: &mut Work<'_, '_>,
    setting: &Setting,
    open: &Open,
    wish: &Decision,
    thing: &Thing,
) -> Result<Seq> {
    let params = Params {
        proposal: Some(thing.entity.handle.clone()),
        accept: wish.accept,
        content: wish.content.clone(),
        note: wish.note.clone(),
        ..Params::default()
    };
    let output = Output::Decided {
        status: wish.status().name(),
        artifact: open.found.name.clone(),
    };
    record(
        work,
        open.project(),
        setting,
        Operation::Decide,
        params,
        output,
    )
}

/// The server reports what became of a proposal, in the conversation of who decided.
fn reported(
    work: &mut Work<'_, '_>,
    open: &Open,
    handle: &str,
    (wish, commit): (&Decision, Option<&str>),
) -> Result<()> {
    let log = conversation::to_write(work, open.project(), None)?;
    let event = match wish.status() {
        Status::Accepted => Event::ProposalAccepted,
        Status::Rejected => Event::ProposalRejected,
        Status::Open => Event::ProposalReopened,
    };
    let told = Payload::Proposal {
        proposal: handle,
        artifact: &open.found.name,
        label: open.label(),
        commit,
    };
    report(work, (open.project(), log), event, &told)?;
    Ok(())
}

/// Where the lines that a proposal replaces stand now, counted from 0, or between which lines it goes:
/// an empty range. Nothing where they were changed since it was made.
pub fn standing(
    view: &mut View<'_, '_>,
    found: &Found,
    state: &State,
) -> Result<Option<Range<usize>>> {
    let (tx, ws) = (&mut *view.tx, view.ws);
    let now = artifact::at(tx, ws, found.id(), found.row.head)?;
    stands(tx, ws, (found, &now), state)
}

fn stands(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    (found, now): (&Found, &Version),
    state: &State,
) -> Result<Option<Range<usize>>> {
    let base = base(tx, ws, found, state)?;
    let range = range(state).filter(|range| range.end <= base.lines.len());
    Ok(range.and_then(|range| {
        if range.is_empty() {
            between(&base.lines, range.start, now)
        } else {
            follow(base.lines.get(range)?, now)
        }
    }))
}

fn place(work: &mut Work<'_, '_>, open: &Open, state: &State) -> Result<Range<usize>> {
    let ws = work.ws();
    let place = stands(work.read()?, ws, (&open.found, &open.version), state)?;
    place.ok_or_else(|| {
        Fault::conflict("the lines were changed since it was proposed")
            .detail("based_on", &state.based_on)
            .detail("current_commit", open.hash())
            .hint("Read the lines as they are now, and propose again.")
    })
}

/// The version that the proposal was made for.
fn base(tx: &mut ReadTx<'_>, ws: Ws, found: &Found, state: &State) -> Result<Arc<Version>> {
    let commit = match state.based_on.as_deref() {
        Some(hash) => artifacts::by_hash(tx, ws, found.id(), hash, 1)?.pop(),
        None => None,
    };
    let seq = commit.map_or(Seq::ZERO, |commit| commit.seq);
    artifact::at(tx, ws, found.id(), seq)
}

fn range(state: &State) -> Option<Range<usize>> {
    let start = usize::try_from(state.start).ok()?.checked_sub(1)?;
    Some(start..usize::try_from(state.end).ok()?)
}

/// Where some lines stand now: together, in their order, and unchanged.
fn follow(lines: &[Line], now: &Version) -> Option<Range<usize>> {
    let first = lines.first()?;
    let starts = (0..now.lines.len()).filter(|at| now.lines[*at].origin == first.origin);
    starts
        .map(|at| at..at + lines.len())
        .find(|place| now.lines.get(place.clone()) == Some(lines))
}

/// Where something goes that was to stand before a line: after the line before it, wherever that
/// is now, and at the top before the first.
fn between(base: &[Line], at: usize, now: &Version) -> Option<Range<usize>> {
    let place = match at.checked_sub(1) {
        Some(before) => follow(base.get(before..at)?, now)?.end,
        None => match base.get(..1) {
            Some(first) => follow(first, now)?.start,
            None if now.lines.is_empty() => 0,
            None => return None,
        },
    };
    Some(place..place)
}

/// Commits the proposal; the commit's hash.
fn commit(
    work: &mut Work<'_, '_>,
    open: &Open,
    said: &Words,
    place: Range<usize>,
) -> Result<String> {
    let log = conversation::to_write(work, open.project(), None)?;
    let given = Given {
        references: Vec::new(),
        reasoning: Some(said.reasoning.clone()),
    };
    let content = said.content.as_str();
    let made = match open.hash() {
        Some(head) => commit_lines(work, &open.found, log, head, (place, content), &given)?,
        None => first(work, &open.found, log, content, &given)?,
    };
    Ok(made.commit)
}
