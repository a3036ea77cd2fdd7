//! What keeps wakes within bounds: so many an hour for each agent, and an end to two agents that do
//! nothing but wake each other.

use std::collections::BTreeSet;

use serde::Deserialize;
use understory_model::error::Result;
use understory_model::kind::{MESSAGE, READ_ACK, SESSION, WAKE};
use understory_model::thread::{DeferReason, WakeData};
use understory_model::{Id, Role, Time};
use understory_storage::threads;
use understory_storage::wakes::{self, Recent, Woken};

use crate::Work;
use crate::kernel::core::Thing;

/// How often an agent is woken for a thread whose agents do nothing else.
const ROUNDS: i64 = 6;
/// Jobs of a thread that say who talks in it.
const JOBS: i64 = 20;
/// Items at the end of the log that are looked at for that.
const RECENT: i64 = 500;

const HOUR: i64 = 3_600 * 1_000_000;
/// When a job beyond the limit is looked at again.
const LATER: i64 = 10 * 60 * 1_000_000;

/// Why a job may not be taken now.
pub enum Stop {
    /// Not yet.
    Defer(DeferReason, Time),
    /// Never: agents only woke each other.
    Loop,
}

/// What the limits say of waking somebody for a thread.
pub struct Limits {
    pub stop: Option<Stop>,
    /// Whether it is the last wake of a thread before it is stopped.
    pub last: bool,
}

/// Whether somebody may be woken for a thread by a job, `but` if it is there already. What an operator
/// forced, may.
pub fn check(work: &mut Work<'_, '_>, job: &WakeData, thread: Id, but: Id) -> Result<Limits> {
    let ws = work.ws();
    let none = Limits {
        stop: None,
        last: false,
    };
    if job.forced {
        return Ok(none);
    }
    let now = work.now;
    let woken = wakes::woken_since(work.read()?, ws, &job.target, now.minus(HOUR))?;
    if woken >= work.rules.wakes_per_hour {
        let until = Time(work.now.0.saturating_add(LATER));
        return Ok(Limits {
            stop: Some(Stop::Defer(DeferReason::TooMany, until)),
            last: false,
        });
    }
    let rounds = rounds(work, job, thread, but)?;
    Ok(Limits {
        stop: (rounds >= ROUNDS).then_some(Stop::Loop),
        last: rounds + 1 == ROUNDS,
    })
}

/// How often somebody was woken for a thread since one of those who talk in it did something else than
/// write messages, read and be woken, or somebody else wrote in it.
fn rounds(work: &mut Work<'_, '_>, job: &WakeData, thread: Id, but: Id) -> Result<i64> {
    let ws = work.ws();
    let mut agents = BTreeSet::new();
    for entity in threads::wakes(work.read()?, ws, thread, JOBS)? {
        let thing = Thing::open(entity)?;
        if let Some(job) = WakeData::read(&thing.data) {
            agents.insert(job.asked_by.unwrap_or(thing.entity.created_by));
            agents.insert(job.target);
        }
    }
    agents.extend(job.asked_by.clone());
    let after = work.next_seq() - RECENT;
    let recent = wakes::recent(work.read()?, ws, thread, after)?;
    let oldest = recent.last().map_or(Time::ZERO, |item| item.at);
    let end = recent.iter().find(|item| ends(item, &agents));
    let since = end.map_or((after, oldest), |item| (item.seq, item.at));
    wakes::rounds(work.read()?, ws, (thread, &job.target), but, since)
}

/// Whether an item shows that agents do more than wake each other.
fn ends(item: &Recent, agents: &BTreeSet<String>) -> bool {
    /// What is read of a message.
    #[derive(Deserialize)]
    struct By {
        role: Option<String>,
    }

    let own = agents.contains(&item.actor);
    if let Some(said) = &item.said {
        let by = serde_json::from_str::<By>(said).ok();
        let person = by.and_then(|by| by.role).as_deref() == Some(Role::Operator.as_str());
        return !own || person;
    }
    let about = item.about.as_deref().unwrap_or_default();
    own && ![MESSAGE, READ_ACK].contains(&item.kind.as_str()) && ![WAKE, SESSION].contains(&about)
}

/// Counts a step that was taken to wake somebody.
pub fn count(work: &mut Work<'_, '_>, target: &str, id: Id, delivered: bool) -> Result<()> {
    let one = Woken {
        agent: target.to_owned(),
        at: work.now,
        id,
        delivered,
    };
    let since = work.now.minus(HOUR);
    work.live().count_wake(&one, since)
}

#[cfg(test)]
mod tests {
    use understory_model::Seq;

    use super::*;

    #[test]
    fn work_and_words_of_others_end_a_loop() {
        let agents = ["ada", "bob"].map(str::to_owned).into();
        let item = |actor: &str, kind: &str, about: &str, said: Option<&str>| Recent {
            seq: Seq(1),
            at: Time::ZERO,
            actor: actor.to_owned(),
            kind: kind.to_owned(),
            about: Some(about.to_owned()),
            said: said.map(str::to_owned),
        };
        let worker = r#"{"n": 1, "role": "worker"}"#;
        let person = r#"{"n": 1, "role": "operator"}"#;
        for (ends_it, one) in [
            (false, item("ada", "Message", "thread", Some(worker))),
            (true, item("cyd", "Message", "thread", Some(worker))),
            (true, item("ada", "Message", "thread", Some(person))),
            (false, item("ada", "Message", "thread", None)),
            (false, item("cyd", "Message", "thread", None)),
            (false, item("bob", "ReadAck", "thread", None)),
            (false, item("bob", "EntityDelta", "wake", None)),
            (false, item("bob", "EntityDelta", "session", None)),
            (true, item("bob", "EntityDelta", "node", None)),
            (false, item("cyd", "EntityDelta", "node", None)),
            (false, item("ada", "Message", "thread", Some("erased"))),
        ] {
            assert_eq!(ends(&one, &agents), ends_it, "{one:?}");
        }
    }
}
