//! What keeps wakes within bounds: so many an hour for each agent, and an end to two agents that do
//! nothing but wake each other.

use understory_model::error::Result;
use understory_model::thread::{DeferReason, WakeData};
use understory_model::{Id, Time};
use understory_storage::wakes;

use crate::Work;

/// Wakes in a thread after which agents that did nothing else are stopped.
const ROUNDS: i64 = 12;

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

/// Whether somebody may be woken for a thread. What an operator forced, may.
pub fn check(work: &mut Work<'_, '_>, job: &WakeData, thread: Id) -> Result<Limits> {
    let ws = work.ws();
    let none = Limits {
        stop: None,
        last: false,
    };
    if job.forced {
        return Ok(none);
    }
    work.flush()?;
    let made = wakes::made_since(work.tx, ws, &job.target, work.now.minus(HOUR))?;
    if made > work.rules.wakes_per_hour {
        let until = Time(work.now.0.saturating_add(LATER));
        return Ok(Limits {
            stop: Some(Stop::Defer(DeferReason::TooMany, until)),
            last: false,
        });
    }
    let rounds = wakes::rounds(work.tx, ws, thread)?;
    Ok(match rounds {
        over if over > ROUNDS => Limits {
            stop: Some(Stop::Loop),
            last: false,
        },
        rounds => Limits {
            last: rounds == ROUNDS,
            ..none
        },
    })
}
