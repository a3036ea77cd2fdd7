//! What needs the person: told from the state of things, in one place for the page and the rail.

use serde_json::json;
use understory_engine::garden::reader::{Proposals, ShownProposal};
use understory_engine::kernel::credentials::Flagged;
use understory_engine::reasoning::conflict_show::Conflict;
use understory_engine::records::conflicts::Refused;
use understory_engine::threads::list::{Line, Threads};
use understory_engine::threads::wakes::{Wakes, Waking};
use understory_model::thread::{Status, WakeResult};
use understory_model::{Fault, Time};

use crate::visit::Visit;
use crate::{reasoning, records};

/// Entries of one kind that are asked for.
const EACH: i64 = 50;
/// A wake that failed longer ago than this needs nobody any more, in microseconds.
const RECENT: i64 = 24 * 3_600 * 1_000_000;

/// Something that waits for a person.
pub enum Need {
    /// Somebody wrote, and the person has not read it.
    Message(Line),
    /// A thread in which nobody goes on.
    Stuck(Line),
    /// An agent that could not be woken.
    Wake(Waking),
    Proposal(Box<ShownProposal>),
    Conflict(Box<Conflict>),
    /// An update of a record that was refused: two versions of it.
    Record(Box<Refused>),
    /// Items that hold what looks like a credential: how many, and the newest.
    Credentials(i64, Flagged),
}

impl Need {
    /// Since when it waits.
    pub fn since(&self) -> Time {
        match self {
            Need::Message(line) | Need::Stuck(line) => line.updated_at,
            Need::Wake(wake) => wake.updated_at,
            Need::Proposal(proposal) => proposal.created_at,
            Need::Conflict(conflict) => Time(conflict.created_at_ms * 1_000),
            Need::Record(refused) => refused.at,
            Need::Credentials(_, newest) => newest.at,
        }
    }

    /// What an address calls it.
    pub fn name(&self) -> &str {
        match self {
            Need::Message(line) | Need::Stuck(line) => &line.thread_id,
            Need::Wake(wake) => &wake.wake_id,
            Need::Proposal(proposal) => &proposal.id,
            Need::Conflict(conflict) => &conflict.conflict_id,
            Need::Record(refused) => &refused.item,
            Need::Credentials(..) => "credentials",
        }
    }
}

/// What needs the person, the oldest first.
pub fn needs(visit: &Visit<'_>) -> Result<Vec<Need>, Fault> {
    let mut all = Vec::new();
    let unread: Threads = visit.ask("list_threads", json!({"unread": true, "limit": EACH}))?;
    all.extend(unread.threads.into_iter().map(Need::Message));
    let asked = json!({"status": Status::Blocked.as_str(), "all": visit.sees_all(), "limit": EACH});
    let stuck: Threads = visit.ask("list_threads", asked)?;
    let is_new = |line: &Line| {
        let is_it =
            |need: &Need| matches!(need, Need::Message(other) if other.thread_id == line.thread_id);
        !all.iter().any(is_it)
    };
    let stuck: Vec<Line> = stuck.threads.into_iter().filter(is_new).collect();
    all.extend(stuck.into_iter().map(Need::Stuck));
    let wakes: Wakes = visit.ask("list_wakes", json!({"limit": EACH}))?;
    let failed = |wake: &Waking| {
        wake.result == WakeResult::Failed && wake.updated_at.0 > visit.now.0 - RECENT
    };
    all.extend(wakes.wakes.into_iter().filter(failed).map(Need::Wake));
    let proposals: Option<Proposals> =
        visit.ask_if_there("reader_proposals", json!({"limit": EACH}))?;
    let proposals = proposals.unwrap_or_default().proposals.into_iter();
    all.extend(proposals.map(|one| Need::Proposal(Box::new(one))));
    let conflicts = reasoning::conflicts(visit)?.into_iter();
    all.extend(conflicts.map(|one| Need::Conflict(Box::new(one))));
    let refused = records::conflicts(visit)?.into_iter();
    all.extend(refused.map(|one| Need::Record(Box::new(one))));
    if visit.sees_all() {
        let (engine, caller) = (visit.context.engine, visit.context.caller);
        let (count, newest) = engine.credentials(caller, 1)?;
        all.extend(newest.into_iter().map(|one| Need::Credentials(count, one)));
    }
    all.sort_by_key(Need::since);
    Ok(all)
}
