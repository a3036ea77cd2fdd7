//! A worker takes a job that is due.

use std::time::Duration;

use understory_model::canon::hex;
use understory_model::error::{Fault, Result};
use understory_model::thread::{DeferReason, Tried, WakeAction, WakeData, WakeFailure, WakeResult};
use understory_model::{Caller, Id, Time, Ws};
use understory_storage::wakes::{self, Begun, Lease};
use understory_storage::{ReadTx, threads};

use super::guard::{self, Stop};
use super::state::{defer, fail, later, stop_loop};
use super::{Taken, change, job, request, value};
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
/// How long an agent that was started may work.
pub const WORK: Duration = Duration::from_secs(60 * 60);
/// A process that still runs after this time, in microseconds, was ended by no worker.
const STUCK: i64 = (60 + 10) * 60 * 1_000_000;

/// Takes the next job that this worker can do something about. Jobs for which nothing is left to try are
/// ended on the way.
pub fn take(
    engine: &Engine,
    caller: &Caller,
    able: &Able,
    machine: &str,
    holder: &str,
) -> Result<Option<Taken>> {
    let worker = Worker {
        able: Able {
            alone: engine.is_embedded(),
            ..able.clone()
        },
        machine: machine.to_owned(),
        lease: format!("{holder}.{}", hex(&engine.clock().chance())),
    };
    // Looking costs a read; only what this worker can do something about is worth a write.
    let found = engine.view(caller, |view| {
        let now = moment(view.tx, view.ws, view.now)?;
        let moments = Moments {
            now,
            clock: view.now,
        };
        Ok(!worker.jobs(view.tx, view.ws, moments)?.is_empty())
    })?;
    if !found {
        return Ok(None);
    }
    let taken = engine.write(caller, request("take_wake"), move |work| {
        let moments = Moments {
            now: work.now,
            clock: work.clock_now(),
        };
        let ws = work.ws();
        for (id, is_due) in worker.jobs(work.read()?, ws, moments)? {
            if let Some(taken) = worker.look(work, id, is_due)? {
                return Ok(Some(taken));
            }
        }
        Ok(None)
    });
    taken?.typed()
}

/// The moment of a look for the log, and by a clock that may have been set back.
#[derive(Clone, Copy)]
struct Moments {
    now: Time,
    clock: Time,
}

struct Worker {
    able: Able,
    machine: String,
    /// What tells this attempt from all others.
    lease: String,
}

/// A job that is looked at, and what is to be done with it.
struct Seen {
    id: Id,
    thread: Id,
    wake_id: String,
    data: WakeData,
    /// Whether its attempts are counted anew.
    anew: bool,
    next: Next,
    missed: Vec<Tried>,
}

impl Worker {
    /// The jobs that it may look at, and whether each is due. When others look at a job again says nothing
    /// to the worker of the only session that can take its step: that one takes it before it is due.
    fn jobs(&self, tx: &mut ReadTx<'_>, ws: Ws, at: Moments) -> Result<Vec<(Id, bool)>> {
        let mut all = Vec::new();
        if self.able.own.is_none() || self.able.decides {
            // No job is due later.
            let latest = Time(at.clock.0.saturating_add(LONGEST));
            let due = wakes::due(tx, ws, at.now, (at.clock, latest), JOBS)?;
            all.extend(due.into_iter().map(|one| (one.id, true)));
        }
        let Some(agent) = &self.able.agent else {
            return Ok(all);
        };
        for entity in wakes::open_for(tx, ws, agent, JOBS)? {
            let thing = Thing::open(entity)?;
            let id = thing.entity.id;
            if all.iter().all(|(known, _)| *known != id)
                && is_free(tx, ws, &thing, at.now)?
                && takes(&self.see(tx, ws, &thing, at.now)?.next)
            {
                all.push((id, false));
            }
        }
        Ok(all)
    }

    /// What is to be done with a job.
    fn see(&self, tx: &mut ReadTx<'_>, ws: Ws, thing: &Thing, now: Time) -> Result<Seen> {
        let (id, mut data) = (thing.entity.id, value(thing)?);
        let waits = ways::waits_after(tx, ws, &data.target, &data.thread, now)?;
        let waiting = waits.is_some_and(|(after, _)| after < data.up_to);
        let ways = ways::of(tx, ws, &data.target, &self.machine, now)?;
        let lost = ladder::is_lost(&data, &ways, now);
        if lost {
            lose(&mut data, now);
        }
        let mut anew = lost;
        if data.result == WakeResult::Deferred && !data.is_put_off(now) {
            if data.defer_reason == Some(DeferReason::TooMany) {
                // Nobody could take it meanwhile: the time for each step begins now.
                (data.asked_at, anew) = (Some(now), true);
            }
            data.wait_on();
        }
        let asked = data.asked_at.unwrap_or(thing.entity.created_at);
        let mut missed = Vec::new();
        let next = if data.tried.len() >= STEPS {
            Next::Failed
        } else {
            ladder::next(&data, asked, waiting, &ways, &self.able, now, &mut missed)
        };
        Ok(Seen {
            id,
            thread: threads::woken_for(tx, ws, id)?.unwrap_or_default(),
            wake_id: thing.entity.handle.clone(),
            data,
            anew,
            next,
            missed,
        })
    }

    /// Decides about one job; what to do where it is this worker's to do. Of one that is not due only a
    /// step is taken.
    fn look(&self, work: &mut Work<'_, '_>, id: Id, is_due: bool) -> Result<Option<Taken>> {
        let (ws, now) = (work.ws(), work.now);
        let thing = work.thing(id)?.clone();
        let mut seen = self.see(work.read()?, ws, &thing, now)?;
        match seen.next.clone() {
            next if !is_due && !takes(&next) => Ok(None),
            Next::Take {
                action,
                way,
                client,
            } => self.begin(work, seen, (action, way, client)),
            Next::Leave { action, until } => self.leave(work, seen, action, until).map(|()| None),
            Next::Failed => {
                seen.data.tried.append(&mut seen.missed);
                give_up(work, seen).map(Some)
            }
        }
    }

    /// Takes a job for a step, if the limits allow it.
    fn begin(
        &self,
        work: &mut Work<'_, '_>,
        seen: Seen,
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
        if starts {
            let until = Time(now.0.saturating_add(AGAIN));
            match self.started(work, &seen.data.target)? {
                Started::Nothing => {}
                Started::AtWork => {
                    return self.leave(work, seen, action, until).map(|()| None);
                }
                Started::Stuck(process) => {
                    let session = way.as_ref().map(|way| way.session.as_str());
                    return stuck(work, seen, action, session, &process).map(Some);
                }
            }
        }
        let Seen {
            id,
            wake_id,
            mut data,
            anew,
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
    fn started(&self, work: &mut Work<'_, '_>, target: &str) -> Result<Started> {
        let (ws, now) = (work.ws(), work.now);
        for entity in wakes::held(work.read()?, ws, target, now)? {
            if job(work, entity.id)?.action.starts() {
                return Ok(Started::AtWork);
            }
        }
        for one in wakes::all_begun(work.read()?, ws, target)? {
            let (id, lease) = (one.id, one.lease.clone());
            let is_old = now.0.saturating_sub(one.at.0) > STUCK;
            let process = process(one);
            // Another machine's processes cannot be seen: there is only the lease of their worker.
            let seen = self.able.runs.filter(|_| process.machine == self.machine);
            let has_ended = match seen {
                Some(runs) => !runs(&process),
                None => is_old && job(work, id)?.result.is_final(),
            };
            if has_ended {
                work.live().end_begun(target, id, &lease)?;
            } else if seen.is_some() {
                return Ok(if is_old {
                    Started::Stuck(process)
                } else {
                    Started::AtWork
                });
            }
        }
        Ok(Started::Nothing)
    }
}

/// What is known of processes that were started for an agent.
enum Started {
    Nothing,
    AtWork,
    /// It runs for longer than any worker lets it: nobody ends it.
    Stuck(Process),
}

pub(super) fn process(one: Begun) -> Process {
    Process {
        machine: one.machine,
        id: one.process,
        started: one.started,
    }
}

/// Whether a worker takes a step in a live session.
fn takes(next: &Next) -> bool {
    matches!(next, Next::Take { action, .. } if !action.starts())
}

/// Whether a job that is not due may be taken: nobody has it, and what a worker or a limit put off waits.
/// That somebody typed when it was asked for says less.
fn is_free(tx: &mut ReadTx<'_>, ws: Ws, thing: &Thing, now: Time) -> Result<bool> {
    let lease = wakes::lease(tx, ws, thing.entity.id)?;
    let is_held = |one: &Lease| !one.holder.is_empty() && one.until >= now;
    let attempts = lease.as_ref().map_or(0, |one| one.attempts);
    let data = value(thing)?;
    let limited = data.defer_reason == Some(DeferReason::TooMany);
    let waits = (attempts > 0 || limited) && data.is_put_off(now);
    Ok(!lease.as_ref().is_some_and(is_held) && !waits)
}

/// No step is taken for an agent of which a process runs on and on.
fn stuck(
    work: &mut Work<'_, '_>,
    mut seen: Seen,
    action: WakeAction,
    session: Option<&str>,
    process: &Process,
) -> Result<Taken> {
    seen.data.tried.push(Tried {
        action,
        code: WakeFailure::WakeFailed,
        why: format!("process {} that was started for it still runs", process.id),
        session_id: session
            .filter(|_| action != WakeAction::SpawnSession)
            .map(str::to_owned),
        at: work.now,
    });
    give_up(work, seen)
}

/// Nothing is left to try but telling a person.
fn give_up(work: &mut Work<'_, '_>, mut seen: Seen) -> Result<Taken> {
    seen.data.action = WakeAction::TellPerson;
    let job = fail(work, seen.id, seen.data)?;
    Ok(over(seen.id, seen.wake_id, job))
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
        at: Time::ZERO,
    };
    engine.write_live(caller, move |tx, ws, now| {
        let at = moment(tx, ws, now)?;
        wakes::begin(tx, ws, &Begun { at, ..one.clone() })
    })
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
