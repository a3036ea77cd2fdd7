//! How a job goes on when no step is taken now: it is let go, put off, looked at later, or over.

use understory_model::error::Result;
use understory_model::thread::{DeferReason, Tried, WakeAction, WakeData, WakeFailure, WakeResult};
use understory_model::{Id, Time};
use understory_storage::wakes::{self, Lease};

use super::change;
use crate::Work;

/// Nobody has the job: it may be taken at once.
pub(super) fn release(work: &mut Work<'_, '_>, id: Id) -> Result<()> {
    work.live().remove_lease(id)
}

pub(super) fn defer(
    work: &mut Work<'_, '_>,
    id: Id,
    data: &mut WakeData,
    reason: DeferReason,
    until: Time,
) -> Result<()> {
    data.result = WakeResult::Deferred;
    (data.defer_reason, data.deferred_until) = (Some(reason), Some(until));
    change(work, id, data, "deferred")?;
    later(work, id, until)
}

pub(super) fn stop_loop(work: &mut Work<'_, '_>, id: Id, mut data: WakeData) -> Result<WakeData> {
    data.tried.push(Tried {
        action: WakeAction::None,
        code: WakeFailure::RateLimited,
        why:
            "the agents of this thread only woke each other: wakes stop until somebody else posts \
              in it, one of them does other work, or an operator forces one"
                .to_owned(),
        session_id: None,
        at: work.now,
    });
    data.action = WakeAction::TellPerson;
    fail(work, id, data)
}

/// Nothing is left to try.
pub(super) fn fail(work: &mut Work<'_, '_>, id: Id, mut data: WakeData) -> Result<WakeData> {
    data.result = WakeResult::Failed;
    data.clear_deferral();
    change(work, id, &data, "failed")?;
    work.live().remove_lease(id)?;
    Ok(data)
}

/// A job is looked at again then, by whoever can do something about it.
pub(super) fn later(work: &mut Work<'_, '_>, id: Id, due: Time) -> Result<()> {
    let ws = work.ws();
    // By the clock: the log's time stands still while a clock that was set back catches up.
    let behind = work.now.0.saturating_sub(work.clock_now().0);
    let due = Time(due.0.saturating_sub(behind.max(0)));
    let before = wakes::lease(work.read()?, ws, id)?;
    let lease = Lease {
        id,
        // Whoever put it off may still report, until another worker takes it.
        holder: before
            .as_ref()
            .map_or_else(String::new, |one| one.holder.clone()),
        until: Time::ZERO,
        due,
        attempts: before.map_or(0, |one| one.attempts),
    };
    work.live().put_lease(&lease)
}
