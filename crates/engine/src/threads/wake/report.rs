//! A worker reports what came of a step: only what it knows, and only of a job that it has.

use understory_model::error::Result;
use understory_model::thread::{
    Channel, DeferReason, Tried, WakeAction, WakeData, WakeFailure, WakeResult,
};
use understory_model::{Caller, Time};
use understory_storage::wakes;

use super::super::ladder;
use super::state::{defer, later, release};
use super::{Taken, change, guard, job, request, text};
use crate::{Engine, Work};

/// How often a step that may succeed later is tried, and the rest after the first time.
const RETRIES: i64 = 3;
const BACKOFF: i64 = 5 * 1_000_000;
/// When a prompt that was delivered is looked at again.
const UNREAD: i64 = 2 * 60 * 1_000_000;

/// What came of a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The channel took the prompt.
    Delivered { channel: Option<Channel> },
    /// It is tried again then.
    Deferred { reason: DeferReason, until: Time },
    /// Something stands in the way now, for which a wake waits only so long.
    Obstructed { reason: DeferReason },
    /// The step failed; where it may succeed later it is retried, else the next one is taken.
    Failed {
        code: WakeFailure,
        why: String,
        retry: bool,
    },
}

/// Reports what came of a step. A worker that has lost the job meanwhile only reports what it has
/// delivered.
pub fn report(engine: &Engine, caller: &Caller, taken: &Taken, outcome: &Outcome) -> Result<()> {
    let (taken, outcome) = (taken.clone(), outcome.clone());
    let done = engine.write(caller, request("report_wake"), move |work| {
        let ws = work.ws();
        let mut data = job(work, taken.id)?;
        let lease = wakes::lease(work.read()?, ws, taken.id)?;
        let holds = lease.is_some_and(|lease| lease.holder == taken.lease);
        let tried = !matches!(
            outcome,
            Outcome::Deferred { .. } | Outcome::Obstructed { .. }
        );
        if taken.job.action.starts() {
            work.live()
                .end_begun(&data.target, taken.id, &taken.lease)?;
        }
        if tried {
            let delivered = matches!(outcome, Outcome::Delivered { .. });
            guard::count(work, &data.target, taken.id, delivered)?;
        }
        if data.result.is_final() {
            return match &outcome {
                Outcome::Delivered { channel } => late(work, &taken, data, *channel),
                _ => Ok(()),
            };
        }
        let is_delivered =
            data.result == WakeResult::Delivered && taken.job.result != WakeResult::Delivered;
        let asked_anew = data.asked_at != taken.job.asked_at;
        match &outcome {
            Outcome::Delivered { channel } => {
                text::mark(work, &taken, *channel)?;
                match (asked_anew, holds) {
                    // Somebody asked for other words meanwhile, which are still to be delivered.
                    (true, true) => release(work, taken.id),
                    (true, false) => Ok(()),
                    (false, _) => delivered(work, &taken, data, *channel, holds),
                }
            }
            // Another worker has it, or has delivered it meanwhile.
            _ if !holds || is_delivered => Ok(()),
            Outcome::Deferred { reason, until } => {
                step_of(&mut data, &taken);
                defer(work, taken.id, &mut data, *reason, *until)
            }
            Outcome::Obstructed { reason } => {
                step_of(&mut data, &taken);
                put_off(work, &taken, data, *reason)
            }
            Outcome::Failed { code, why, retry } => {
                step_of(&mut data, &taken);
                failed(work, &taken, data, (*code, why.as_str()), *retry)
            }
        }
    });
    done.map(drop)
}

/// A prompt was read before its delivery was reported: the job says now how it came.
fn late(
    work: &mut Work<'_, '_>,
    taken: &Taken,
    mut data: WakeData,
    channel: Option<Channel>,
) -> Result<()> {
    if data.result != WakeResult::Read || data.channel.is_some() || data.delivered_at.is_some() {
        return Ok(());
    }
    step_of(&mut data, taken);
    data.channel = channel;
    change(work, taken.id, &data, "delivered")
}

/// Which step it is that is reported.
fn step_of(data: &mut WakeData, taken: &Taken) {
    data.action = taken.job.action;
    data.session.clone_from(&taken.job.session);
}

fn delivered(
    work: &mut Work<'_, '_>,
    taken: &Taken,
    mut data: WakeData,
    channel: Option<Channel>,
    holds: bool,
) -> Result<()> {
    step_of(&mut data, taken);
    data.up_to = data.up_to.max(taken.job.up_to);
    data.result = WakeResult::Delivered;
    (data.channel, data.delivered_at) = (channel, Some(work.now));
    data.clear_deferral();
    change(work, taken.id, &data, "delivered")?;
    if holds {
        later(work, taken.id, Time(work.now.0.saturating_add(UNREAD)))
    } else {
        Ok(())
    }
}

/// Something stands in the way: the step is tried again until its time is over.
fn put_off(
    work: &mut Work<'_, '_>,
    taken: &Taken,
    mut data: WakeData,
    reason: DeferReason,
) -> Result<()> {
    let since = *data.deferred_since.get_or_insert(work.now);
    let most = match reason {
        // It is at work, and stops by itself.
        DeferReason::AgentBusy => ladder::TURN,
        _ => work.rules.wake_patience,
    };
    let waited = work.now.0.saturating_sub(since.0);
    if waited < most {
        let rest = work.rules.wake_recheck.min(most - waited);
        let until = Time(work.now.0.saturating_add(rest));
        return defer(work, taken.id, &mut data, reason, until);
    }
    let (code, what) = match reason {
        DeferReason::HumanInputBusy => (
            WakeFailure::HumanInputCollision,
            "a person was typing in its terminal",
        ),
        DeferReason::DialogOpen => (
            WakeFailure::HumanInputCollision,
            "a dialog was open in its terminal",
        ),
        DeferReason::AgentBusy => (WakeFailure::WakeFailed, "it was at work"),
        _ => (WakeFailure::WakeFailed, "its terminal showed no prompt"),
    };
    let why = format!("{what} for {} s", waited / 1_000_000);
    failed(work, taken, data, (code, &why), false)
}

fn failed(
    work: &mut Work<'_, '_>,
    taken: &Taken,
    mut data: WakeData,
    (code, why): (WakeFailure, &str),
    retry: bool,
) -> Result<()> {
    let ws = work.ws();
    let attempts = wakes::lease(work.read()?, ws, taken.id)?.map_or(0, |lease| lease.attempts);
    if retry && attempts < RETRIES {
        let rest = BACKOFF.saturating_mul(1 << attempts.clamp(0, 10));
        let until = Time(work.now.0.saturating_add(rest));
        return defer(work, taken.id, &mut data, DeferReason::Retry, until);
    }
    data.tried.push(Tried {
        action: taken.job.action,
        code,
        why: why.to_owned(),
        // A new session belongs to nobody yet.
        session_id: match taken.job.action {
            WakeAction::SpawnSession => None,
            _ => taken.job.session.clone(),
        },
        at: work.now,
    });
    data.wait_on();
    (data.session, data.channel, data.delivered_at) = (None, None, None);
    change(work, taken.id, &data, "step_failed")?;
    // The next step begins anew.
    release(work, taken.id)
}
