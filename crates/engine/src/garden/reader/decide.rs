//! `reader_decide`: a proposal becomes a commit, or does not.
//!
//! Lines are told by where they were written, not by their number: what was only shifted is
//! followed, and what was changed since is a conflict.

use std::ops::Range;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use understory_model::error::{Code, Fault, Result};
use understory_model::lines::{Line, Version};
use understory_model::text::check_text;
use understory_model::{Role, Seq, limits};
use understory_storage::artifacts;
use understory_storage::entities::Entity;

use crate::Work;
use crate::garden::artifact::commit::{Given, commit_lines, first};
use crate::garden::conversation;
use crate::garden::reader::propose::{Shown, State, Words, bare_shape, words};
use crate::garden::reader::{Open, Setting, Status, name_of, open, record};
use crate::garden::system::{Payload, report};
use crate::kernel::artifact;
use crate::kernel::checked::{Check, Checked};
use crate::kernel::content::call::{Operation, Output, Params};
use crate::kernel::content::event::Event;
use crate::kernel::core::Thing;
use crate::kernel::names::{self, Scope};
use crate::kernel::work::Edit;
use crate::kinds::PROPOSAL;

/// What becomes of a proposal.
#[derive(Debug, Clone)]
pub struct Decision {
    pub proposal: String,
    pub accept: bool,
    pub note: Option<String>,
}

impl Decision {
    /// What the proposal becomes.
    fn status(&self) -> Status {
        if self.accept {
            Status::Accepted
        } else {
            Status::Rejected
        }
    }
}

impl Check for Decision {
    fn check(&self) -> Result<()> {
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
    if state.status != Status::Open {
        let status = state.status.name();
        return Err(
            Fault::conflict(format!("{} was {status} before", entity.handle))
                .detail("status", status)
                .hint("Propose it again with reader_propose."),
        );
    }
    check_may_decide(work, &entity, wish)?;
    let Some(words) = words(work.read()?, ws, &thing)? else {
        let message = format!("the words of {} were taken back", entity.handle);
        return Err(Fault::conflict(message).hint("There is nothing left to decide."));
    };
    let open = open(work, setting, &state.artifact)?;
    // Whether it still fits is known before anything is written.
    let place = if wish.accept {
        Some(place(work, &open, &state)?)
    } else {
        None
    };
    work.default_cause(entity.id.seq());
    let seq = note(work, setting, &open, wish, &thing)?;
    work.caused_by(seq);
    let commit = match place {
        Some(place) => Some(commit(work, &open, &words, place)?),
        None => None,
    };
    let mut data = thing.data;
    let status = wish.status().name();
    data.insert("status".into(), status.into());
    data.insert("decided_by".into(), work.caller.agent.clone().into());
    data.insert("decided_at".into(), work.now.to_string().into());
    // What was said beside it stands in the item alone.
    let item = name_of(work, seq)?;
    data.insert("decision".into(), item.clone().into());
    if let Some(commit) = &commit {
        data.insert("commit".into(), commit.clone().into());
    }
    work.change(
        entity.id,
        Edit {
            action: status,
            data: Some(data),
            ..Edit::default()
        },
    )?;
    reported(work, &open, &entity.handle, commit.as_deref())?;
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

/// Who proposed something may take it back; accepting it is for somebody else, or for a person who
/// is in charge.
fn check_may_decide(work: &Work<'_, '_>, entity: &Entity, wish: &Decision) -> Result<()> {
    let own = entity.created_by == work.caller.agent;
    if !(wish.accept && own) || work.caller.role == Role::Operator {
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
        accept: Some(wish.accept),
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
    commit: Option<&str>,
) -> Result<()> {
    let log = conversation::to_write(work, open.project(), None)?;
    let event = match commit {
        Some(_) => Event::ProposalAccepted,
        None => Event::ProposalRejected,
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

/// Where the lines that a proposal replaces stand now, or between which lines it goes.
fn place(work: &mut Work<'_, '_>, open: &Open, state: &State) -> Result<Range<usize>> {
    let base = base(work, open, state)?;
    let range = range(state).filter(|range| range.end <= base.lines.len());
    let place = range.and_then(|range| {
        if range.is_empty() {
            between(&base.lines, range.start, &open.version)
        } else {
            follow(base.lines.get(range)?, &open.version)
        }
    });
    place.ok_or_else(|| {
        Fault::conflict("the lines were changed since it was proposed")
            .detail("based_on", &state.based_on)
            .detail("current_commit", open.hash())
            .hint("Read the lines as they are now, and propose again.")
    })
}

/// The version that the proposal was made for.
fn base(work: &mut Work<'_, '_>, open: &Open, state: &State) -> Result<std::sync::Arc<Version>> {
    let ws = work.ws();
    let hash = state.based_on.as_deref().unwrap_or_default();
    let commit = artifacts::by_hash(work.read()?, ws, open.found.id(), hash, 1)?.pop();
    artifact::at(
        work.read()?,
        ws,
        open.found.id(),
        commit.map_or(Seq::ZERO, |commit| commit.seq),
    )
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
