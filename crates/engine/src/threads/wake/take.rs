//! A worker takes a job that is due.

use understory_model::canon::hex;
use understory_model::error::{Fault, Result};
use understory_model::thread::{DeferReason, Tried, WakeAction, WakeData, WakeFailure, WakeResult};
use understory_model::{Caller, Id, Time, Ws};
use understory_storage::wakes::{self, Begun, Lease};
use understory_storage::{ReadTx, threads};

use super::guard::{self, Stop};
use super::{Taken, change, job, request};
use crate::kernel::core::Thing;
use crate::kernel::process::Process;
use crate::kernel::signs::moment;
use crate::threads::ladder::{self, Able, Next, Way};
use crate::threads::ways;
use crate::{Engine, Work};

/// Jobs that are looked at in one go.
const JOBS: i64 = 20;
/// How long a worker has for a step, in microseconds; one that dies loses the job then.
const LEASE: i64 = 10 * 60 * 1_000_000;
/// As long as that for a supervisor, which answers within seconds.
const TYPING: i64 = 60 * 1_000_000;
/// When a job is looked at again whose target is being started for another.
const AGAIN: i64 = 5 * 1_000_000;
/// No job is put off for longer.
const LONGEST: i64 = 11 * 60 * 1_000_000;
/// Steps after which a job is given up, however many sessions there are.
const STEPS: usize = 24;

/// Takes the next job that this worker can do something about. Jobs for which nothing is left to try are
/// ended on the way.
pub fn take(
    engine: &Engine,
    caller: &Caller,
    able: &Able,
    machine: &str,
    holder: &str,
) -> Result<Option<Taken>> {
    let clock = engine.clock();
    let worker = Worker {
        able: able.clone(),
        agent: caller.agent.clone(),
        machine: machine.to_owned(),
        lease: format!("{holder}.{}", hex(&clock.chance())),
        latest: Time(clock.now().0.saturating_add(LONGEST)),
    };
    // Looking costs a read; only what is due is worth a write.
    let due = engine.view(caller, |view| {
        let now = moment(view.tx, view.ws, view.now)?;
        Ok(!worker.due(view.tx, view.ws, now)?.is_empty())
    })?;
    if !due {
        return Ok(None);
    }
    let taken = engine.write(caller, request("take_wake"), move |work| {
        let (ws, now) = (work.ws(), work.now);
        for id in worker.due(work.read()?, ws, now)? {
            if let Some(taken) = worker.look(work, id)? {
                return Ok(Some(taken));
            }
        }
        Ok(None)
    });
    taken?.typed()
}

struct Worker {
    able: Able,
    /// In whose name it works.
    agent: String,
    machine: String,
    /// What tells this attempt from all others.
    lease: String,
    /// No job is due later.
    latest: Time,
}

/// A job that is looked at.
struct Seen {
    id: Id,
    thread: Id,
    wake_id: String,
    data: WakeData,
}

impl Worker {
    /// The jobs that it may look at.
    fn due(&self, tx: &mut ReadTx<'_>, ws: Ws, now: Time) -> Result<Vec<Id>> {
        if self.able.own.is_none() || self.able.decides {
            let due = wakes::due(tx, ws, now, self.latest, JOBS)?;
            return Ok(due.into_iter().map(|one| one.id).collect());
        }
        // When others look at a job again says nothing to the one that can take its step.
        let mut ids = Vec::new();
        for entity in wakes::open_for(tx, ws, &self.agent, JOBS)? {
            let id = entity.id;
            let lease = wakes::lease(tx, ws, id)?;
            let is_free = |one: &Lease| one.holder.is_empty() || one.until < now;
            // What a worker put off waits; that somebody typed when it was asked for says less.
            let attempts = lease.as_ref().map_or(0, |one| one.attempts);
            let waits = |data: WakeData| attempts > 0 && data.is_put_off(now);
            let data = WakeData::read(&Thing::open(entity)?.data);
            if lease.as_ref().is_none_or(is_free) && data.is_some_and(|data| !waits(data)) {
                ids.push(id);
            }
        }
        Ok(ids)
    }

    /// Decides about one job; what to do where it is this worker's to do.
    fn look(&self, work: &mut Work<'_, '_>, id: Id) -> Result<Option<Taken>> {
        let (ws, now) = (work.ws(), work.now);
        let entity = work.thing(id)?.entity.clone();
        let mut seen = Seen {
            id,
            thread: threads::woken_for(work.read()?, ws, id)?.unwrap_or_default(),
            wake_id: entity.handle,
            data: job(work, id)?,
        };
        let data = &mut seen.data;
        let waits = ways::waits_after(work.read()?, ws, &data.target, &data.thread, now)?;
        let waiting = waits.is_some_and(|(after, _)| after < data.up_to);
        let ways = ways::of(work.read()?, ws, &data.target, &self.machine, now)?;
        let lost = ladder::is_lost(data, &ways, now);
        if lost {
            lose(data, now);
        }
        let mut anew = lost;
        if data.result == WakeResult::Deferred && !data.is_put_off(now) {
            if data.defer_reason == Some(DeferReason::TooMany) {
                // Nobody could take it meanwhile: the time for each step begins now.
                (data.asked_at, anew) = (Some(now), true);
            }
            data.wait_on();
        }
        let asked = data.asked_at.unwrap_or(entity.created_at);
        let mut missed = Vec::new();
        let next = if data.tried.len() >= STEPS {
            Next::Failed
        } else {
            ladder::next(data, asked, waiting, &ways, &self.able, now, &mut missed)
        };
        match next {
            Next::Take {
                action,
                way,
                client,
            } => self.begin(work, seen, anew, (action, way, client)),
            Next::Leave { action, until } => self.leave(work, seen, action, until).map(|()| None),
            Next::Failed => {
                seen.data.tried.extend(missed);
                seen.data.action = WakeAction::TellPerson;
                let job = fail(work, id, seen.data)?;
                Ok(Some(over(id, seen.wake_id, job)))
            }
        }
    }

    /// Takes a job for a step, if the limits allow it.
    fn begin(
        &self,
        work: &mut Work<'_, '_>,
        seen: Seen,
        anew: bool,
        (action, way, client): (WakeAction, Option<Way>, Option<String>),
    ) -> Result<Option<Taken>> {
        let (ws, now) = (work.ws(), work.now);
        let limits = guard::check(work, &seen.data, seen.thread, seen.id)?;
        match limits.stop {
            Some(Stop::Defer(reason, until)) => {
                let mut data = seen.data;
                return defer(work, seen.id, &mut data, reason, until).map(|()| None);
            }
            Some(Stop::Loop) => {
                let job = stop_loop(work, seen.id, seen.data)?;
                return Ok(Some(over(seen.id, seen.wake_id, job)));
            }
            None => {}
        }
        let starts = action.starts();
        if starts && self.is_started(work, &seen.data.target)? {
            let until = Time(now.0.saturating_add(AGAIN));
            return self.leave(work, seen, action, until).map(|()| None);
        }
        let Seen {
            id,
            wake_id,
            mut data,
            ..
        } = seen;
        let attempts = if anew {
            0
        } else {
            wakes::lease(work.read()?, ws, id)?.map_or(0, |lease| lease.attempts)
        };
        let length = match action {
            WakeAction::TriggerRuntime => TYPING,
            _ => LEASE,
        };
        let lease = Lease {
            id,
            holder: self.lease.clone(),
            until: Time(now.0.saturating_add(length)),
            due: now,
            attempts: attempts + 1,
        };
        work.live().put_lease(&lease)?;
        data.action = action;
        // A new session has no name yet.
        let way_session = way.as_ref().map(|way| way.session.clone());
        data.session = way_session.filter(|_| action != WakeAction::SpawnSession);
        if starts || anew {
            // It takes as long as the agent works: others see meanwhile what is done.
            data.wait_on();
            change(work, id, &data, if starts { "started" } else { "waits" })?;
        }
        Ok(Some(Taken {
            id,
            wake_id,
            job: data,
            way,
            client,
            last: limits.last,
            lease: self.lease.clone(),
        }))
    }

    /// Leaves a job to others until then.
    fn leave(
        &self,
        work: &mut Work<'_, '_>,
        mut seen: Seen,
        action: WakeAction,
        until: Time,
    ) -> Result<()> {
        // Who speaks for one session must not hide a job from the others.
        if !self.able.decides {
            return Ok(());
        }
        later(work, seen.id, until)?;
        if seen.data.result != WakeResult::Delivered {
            seen.data.action = action;
        }
        change(work, seen.id, &seen.data, "waits")
    }

    /// Whether a process is starting or going on with a session of an agent: a second one beside it could
    /// be given the same session. Such a process may have outlived the worker that started it.
    fn is_started(&self, work: &mut Work<'_, '_>, target: &str) -> Result<bool> {
        let (ws, now) = (work.ws(), work.now);
        for entity in wakes::held(work.read()?, ws, target, now)? {
            if job(work, entity.id)?.action.starts() {
                return Ok(true);
            }
        }
        for one in wakes::all_begun(work.read()?, ws, target)? {
            let process = Process {
                machine: one.machine,
                id: one.process,
                started: one.started,
            };
            // Another machine's processes cannot be seen: there is only the lease of their worker.
            let Some(runs) = self.able.runs.filter(|_| process.machine == self.machine) else {
                continue;
            };
            if runs(&process) {
                return Ok(true);
            }
            work.live().end_begun(target, one.id, &one.lease)?;
        }
        Ok(false)
    }
}

/// What was delivered was not read, and never will be: the next step is taken.
fn lose(data: &mut WakeData, now: Time) {
    data.tried.push(Tried {
        action: data.action,
        code: WakeFailure::WakeFailed,
        why: "the prompt was delivered, and its session ended without reading it".to_owned(),
        session_id: match data.action {
            WakeAction::SpawnSession => None,
            _ => data.session.clone(),
        },
        at: now,
    });
    data.wait_on();
    (data.session, data.channel, data.delivered_at) = (None, None, None);
}

/// A job that is over, for whoever tells a person.
pub(super) fn over(id: Id, wake_id: String, job: WakeData) -> Taken {
    Taken {
        id,
        wake_id,
        job,
        way: None,
        client: None,
        last: false,
        lease: String::new(),
    }
}

/// Keeps a job for a worker whose step takes long.
pub fn renew(engine: &Engine, caller: &Caller, taken: &Taken) -> Result<()> {
    let (id, holder) = (taken.id, taken.lease.clone());
    engine.write_live(caller, move |tx, ws, now| {
        let Some(lease) = wakes::lease(tx, ws, id)?.filter(|one| !one.holder.is_empty()) else {
            // The job is over, because its prompt was read; the agent goes on with its work.
            return Ok(());
        };
        if lease.holder != holder {
            return Err(Fault::conflict("another worker has the job"));
        }
        let now = moment(tx, ws, now)?;
        let until = Time(now.0.saturating_add(LEASE));
        wakes::put(tx, ws, &Lease { until, ..lease })
    })
}

/// Notes the process that was started for a job: whoever takes the job after this worker's death sees
/// whether it is still at work.
pub fn begun(engine: &Engine, caller: &Caller, taken: &Taken, process: &Process) -> Result<()> {
    let one = Begun {
        agent: taken.job.target.clone(),
        id: taken.id,
        lease: taken.lease.clone(),
        machine: process.machine.clone(),
        process: process.id,
        started: process.started,
    };
    engine.write_live(caller, move |tx, ws, _| wakes::begin(tx, ws, &one))
}

/// Gives a job back that was not delivered after all: another worker may take it at once.
pub fn give_back(engine: &Engine, caller: &Caller, taken: &Taken) -> Result<()> {
    let (id, holder) = (taken.id, taken.lease.clone());
    engine.write_live(caller, move |tx, ws, _| {
        if wakes::lease(tx, ws, id)?.is_some_and(|lease| lease.holder == holder) {
            wakes::remove(tx, ws, id)
        } else {
            Ok(())
        }
    })
}

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
