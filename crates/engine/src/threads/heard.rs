//! What a session was told already. A wait that names no other start goes on from there, so that no
//! message is told twice; a new session of the same agent is told again what is unread.
//!
//! It is live data, kept apart from what an agent acknowledged: what was told is unread until then.

use std::collections::BTreeMap;

use understory_model::answer::Answer;
use understory_model::error::Result;
use understory_model::{Caller, Id, Time};
use understory_storage::told::{self, Told};

use super::news::{CHANGES, Waited, Watched};
use super::wait::Wanted;
use crate::kernel::signs::moment;
use crate::{Engine, Resolved};

/// How long it is kept what a session was told, in microseconds: nobody goes on with a session that
/// was silent for longer.
const FORGOTTEN: i64 = 30 * 24 * 3_600 * 1_000_000;

/// Up to which message and change of each thread a session was told.
pub type Heard = BTreeMap<Id, (i64, i64)>;

/// How far an answer tells of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark {
    thread: Id,
    seq: i64,
    changes: i64,
}

/// What a session is told by one answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Telling {
    agent: String,
    session: String,
    marks: Vec<Mark>,
}

impl Telling {
    /// `None` where nothing is to be remembered: the answer tells nothing new, or the caller may not
    /// write and is told again.
    pub fn of(caller: &Caller, marks: &[Mark]) -> Option<Telling> {
        let kept = caller.role.may_write() && !marks.is_empty();
        kept.then(|| Telling {
            agent: caller.agent.clone(),
            session: caller.session.clone(),
            marks: marks.to_vec(),
        })
    }
}

/// Has a wait go on from what the caller's session was told. What it was told while the wait lasts
/// does not change that: of two calls that wait at once, both are told.
pub fn hear(engine: &Engine, caller: &Caller, wanted: &mut Wanted) -> Result<()> {
    if wanted.placed {
        return Ok(());
    }
    let told = engine.view(caller, |view| {
        told::of_session(view.tx, view.ws, &caller.agent, &caller.session)
    })?;
    let places = told.into_iter();
    wanted.heard = places
        .map(|one| (one.thread, (one.seq, one.changes)))
        .collect();
    Ok(())
}

/// What an answer tells of the threads that a wait was to go on with: what is left of it within its
/// budget.
pub(super) fn marks(answer: &Answer<Waited>, watched: &[Watched]) -> Vec<Mark> {
    let shortened: BTreeMap<String, i64>;
    let next = match answer {
        Answer::Whole(waited) => &waited.next,
        Answer::Json(json) => {
            let next = json.get("next").cloned().unwrap_or_default();
            shortened = serde_json::from_value(next).unwrap_or_default();
            &shortened
        }
    };
    let told = watched.iter().filter(|one| one.goes_on);
    told.filter_map(|one| {
        let seq = next.get(&one.handle).copied().unwrap_or(one.since);
        let changes = next.get(&format!("{}{CHANGES}", one.handle)).copied();
        let changes = changes.unwrap_or(one.seen);
        let further = seq > one.since || changes > one.seen;
        further.then_some(Mark {
            thread: one.id,
            seq,
            changes,
        })
    })
    .collect()
}

/// Remembers what sessions of the caller's workspace were told, in one write.
pub fn remember(engine: &Engine, caller: &Caller, told: Vec<Telling>) -> Result<()> {
    if told.is_empty() || !matches!(engine.workspace(caller)?, Resolved::There(_)) {
        return Ok(());
    }
    engine.write_live(caller, move |tx, ws, now| {
        let at = moment(tx, ws, now)?;
        let old = at.minus(FORGOTTEN);
        let mut agents: Vec<&str> = told.iter().map(|one| one.agent.as_str()).collect();
        agents.sort_unstable();
        agents.dedup();
        for agent in agents {
            told::forget(tx, ws, agent, old)?;
        }
        for one in &told {
            for mark in &one.marks {
                told::put(tx, ws, &one.row(mark, at))?;
            }
        }
        Ok(())
    })
}

impl Telling {
    fn row(&self, mark: &Mark, at: Time) -> Told {
        Told {
            agent: self.agent.clone(),
            session: self.session.clone(),
            thread: mark.thread,
            seq: mark.seq,
            changes: mark.changes,
            at,
        }
    }
}
