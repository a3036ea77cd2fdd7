//! A worker takes a job that is due, and reports what came of its step.

use understory_model::error::{Fault, Result};
use understory_model::thread::{
    Channel, DeferReason, Tried, WakeAction, WakeData, WakeFailure, WakeResult,
};
use understory_model::{Caller, Id, Time};
use understory_storage::threads;
use understory_storage::wakes::{self, Lease};

use super::guard::{self, Stop};
use super::{Taken, change, job, request};
use crate::threads::ladder::{self, Able, Next};
use crate::threads::ways;
use crate::{Engine, Work};

/// Jobs that are looked at in one go.
const JOBS: i64 = 20;
/// How long a worker has for a step, in microseconds; one that dies loses the job then.
const LEASE: i64 = 10 * 60 * 1_000_000;
/// As long as that for a supervisor, which answers within seconds.
const TYPING: i64 = 60 * 1_000_000;
/// How often a step that may succeed later is tried, and the rest after the first time.
const RETRIES: i64 = 3;
const BACKOFF: i64 = 5 * 1_000_000;
/// When a prompt that was delivered is looked at again.
const UNREAD: i64 = 2 * 60 * 1_000_000;
/// Steps after which a job is given up, however many sessions there are.
const STEPS: usize = 24;

/// What came of a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The channel took the prompt.
    Delivered { channel: Option<Channel> },
    /// Something stands in the way now.
    Deferred { reason: DeferReason },
    /// The step failed; where it may succeed later it is retried, else the next one is taken.
    Failed {
        code: WakeFailure,
        why: String,
        retry: bool,
    },
}

/// Takes the next job that this worker can do something about. Jobs for which nothing is left to try are
/// ended on the way.
pub fn take(
    engine: &Engine,
    caller: &Caller,
    able: &Able,
    machine: &str,
    holder: &str,
) -> Result<Option<Taken>> {
    // Looking costs a read; only what is due is worth a write.
    let due = engine.view(caller, |view| {
        let due = wakes::due(view.tx, view.ws, view.now, JOBS)?;
        Ok(!due.is_empty())
    })?;
    if !due {
        return Ok(None);
    }
    let (able, machine, holder) = (able.clone(), machine.to_owned(), holder.to_owned());
    let taken = engine.write(caller, request("take_wake"), move |work| {
        let ws = work.ws();
        for entity in wakes::due(work.tx, ws, work.now, JOBS)? {
            let worker = Worker {
                able: &able,
                machine: &machine,
                holder: &holder,
            };
            if let Some(taken) = worker.look(work, entity.id)? {
                return Ok(Some(taken));
            }
        }
        Ok(None)
    });
    taken?.typed()
}

struct Worker<'t> {
    able: &'t Able,
    machine: &'t str,
    holder: &'t str,
}

impl Worker<'_> {
    /// Decides about one job; what to do where it is this worker's to do.
    fn look(&self, work: &mut Work<'_, '_>, id: Id) -> Result<Option<Taken>> {
        let (ws, now) = (work.ws(), work.now);
        let entity = work.thing(id)?.entity.clone();
        let mut data = job(work, id)?;
        let for_own = data.target == work.caller.agent;
        if self.able.own.is_some() && !self.able.decides && !for_own {
            return Ok(None);
        }
        let thread = threads::woken_for(work.tx, ws, id)?.unwrap_or_default();
        let limits = guard::check(work, &data, thread)?;
        match limits.stop {
            Some(Stop::Defer(reason, until)) => {
                defer(work, id, &mut data, reason, until)?;
                return Ok(None);
            }
            Some(Stop::Loop) => {
                let job = stop_loop(work, id, data)?;
                return Ok(Some(over(id, entity.handle, job)));
            }
            None => {}
        }
        let asked = data.asked_at.unwrap_or(entity.created_at);
        let waits = ways::waits_after(work.tx, ws, &data.target, &data.thread, now)?;
        let waiting = waits.is_some_and(|after| after < data.up_to);
        let ways = ways::of(work.tx, ws, &data.target, self.machine, now)?;
        let mut missed = Vec::new();
        let next = match data.tried.len() >= STEPS {
            true => Next::Failed,
            false => ladder::next(&data, asked, waiting, &ways, self.able, now, &mut missed),
        };
        match next {
            Next::Take {
                action,
                way,
                client,
            } => {
                let attempts = wakes::lease(work.tx, ws, id)?.map_or(0, |lease| lease.attempts);
                let length = match action {
                    WakeAction::TriggerRuntime => TYPING,
                    _ => LEASE,
                };
                let lease = Lease {
                    id,
                    holder: self.holder.to_owned(),
                    until: Time(now.0.saturating_add(length)),
                    due: now,
                    attempts: attempts + 1,
                };
                put(work, &lease)?;
                data.action = action;
                data.session = way.as_ref().map(|way| way.session.clone());
                Ok(Some(Taken {
                    id,
                    wake_id: entity.handle,
                    job: data,
                    way,
                    client,
                    last: limits.last,
                }))
            }
            Next::Leave { action, until } => {
                // Who speaks for one session must not hide a job from the others.
                if self.able.decides {
                    later(work, id, until)?;
                    data.action = action;
                    change(work, id, &data, "waits")?;
                }
                Ok(None)
            }
            Next::Failed => {
                data.tried.extend(missed);
                data.action = WakeAction::TellPerson;
                let job = fail(work, id, data)?;
                Ok(Some(over(id, entity.handle, job)))
            }
        }
    }
}

/// A job that is over, for whoever tells a person.
fn over(id: Id, wake_id: String, job: WakeData) -> Taken {
    Taken {
        id,
        wake_id,
        job,
        way: None,
        client: None,
        last: false,
    }
}

/// Keeps a job for a worker whose step takes long.
pub fn renew(engine: &Engine, caller: &Caller, taken: &Taken, holder: &str) -> Result<()> {
    let (id, holder) = (taken.id, holder.to_owned());
    engine.write_live(caller, move |tx, ws, now| {
        let Some(lease) = wakes::lease(tx, ws, id)?.filter(|lease| lease.holder == holder) else {
            return Err(Fault::conflict("another worker has the job"));
        };
        let until = Time(now.0.saturating_add(LEASE));
        wakes::put(tx, ws, &Lease { until, ..lease })
    })
}

/// Reports what came of a step.
pub fn report(engine: &Engine, caller: &Caller, taken: &Taken, outcome: &Outcome) -> Result<()> {
    let (taken, outcome) = (taken.clone(), outcome.clone());
    let done = engine.write(caller, request("report_wake"), move |work| {
        let mut data = job(work, taken.id)?;
        if data.result.is_final() {
            return Ok(());
        }
        data.action = taken.job.action;
        data.session.clone_from(&taken.job.session);
        match &outcome {
            Outcome::Delivered { channel } => delivered(work, &taken, data, *channel),
            Outcome::Deferred { reason } => put_off(work, &taken, data, *reason),
            Outcome::Failed { code, why, retry } => {
                failed(work, &taken, data, (*code, why.as_str()), *retry)
            }
        }
    });
    done.map(drop)
}

fn delivered(
    work: &mut Work<'_, '_>,
    taken: &Taken,
    mut data: WakeData,
    channel: Option<Channel>,
) -> Result<()> {
    data.result = WakeResult::Delivered;
    (data.channel, data.delivered_at) = (channel, Some(work.now));
    data.clear_deferral();
    change(work, taken.id, &data, "delivered")?;
    let again = Time(work.now.0.saturating_add(UNREAD));
    later(work, taken.id, again)
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
        let left = most - waited;
        let rest = work.rules.wake_recheck.min(left);
        let until = Time(work.now.0.saturating_add(rest));
        return defer(work, taken.id, &mut data, reason, until);
    }
    let seconds = waited / 1_000_000;
    let (code, why) = match reason {
        DeferReason::HumanInputBusy => (
            WakeFailure::HumanInputCollision,
            format!("a person was typing in its terminal for {seconds} s"),
        ),
        DeferReason::DialogOpen => (
            WakeFailure::HumanInputCollision,
            format!("a dialog was open in its terminal for {seconds} s"),
        ),
        DeferReason::AgentBusy => (
            WakeFailure::WakeFailed,
            format!("it was at work for {seconds} s"),
        ),
        _ => (
            WakeFailure::WakeFailed,
            format!("its terminal showed no prompt for {seconds} s"),
        ),
    };
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
    let attempts = wakes::lease(work.tx, ws, taken.id)?.map_or(0, |lease| lease.attempts);
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
    data.result = WakeResult::Queued;
    data.clear_deferral();
    data.session = None;
    change(work, taken.id, &data, "step_failed")?;
    // The next step begins anew.
    wakes::remove(work.tx, ws, taken.id)?;
    work.wrote_live();
    Ok(())
}

fn defer(
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

fn stop_loop(work: &mut Work<'_, '_>, id: Id, mut data: WakeData) -> Result<WakeData> {
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
fn fail(work: &mut Work<'_, '_>, id: Id, mut data: WakeData) -> Result<WakeData> {
    data.result = WakeResult::Failed;
    data.clear_deferral();
    change(work, id, &data, "failed")?;
    let ws = work.ws();
    wakes::remove(work.tx, ws, id)?;
    Ok(data)
}

/// A job is looked at again then, by whoever can do something about it.
fn later(work: &mut Work<'_, '_>, id: Id, due: Time) -> Result<()> {
    let ws = work.ws();
    let attempts = wakes::lease(work.tx, ws, id)?.map_or(0, |lease| lease.attempts);
    let lease = Lease {
        id,
        holder: String::new(),
        until: Time::ZERO,
        due,
        attempts,
    };
    put(work, &lease)
}

fn put(work: &mut Work<'_, '_>, lease: &Lease) -> Result<()> {
    let ws = work.ws();
    wakes::put(work.tx, ws, lease)?;
    work.wrote_live();
    Ok(())
}
