//! What a session's own worker wakes it for: messages that it was not told of, whether somebody asked
//! for it or not. Each becomes a job, so that what came of it can be seen.

use serde::{Deserialize, Serialize};
use understory_model::canon::hex;
use understory_model::error::Result;
use understory_model::thread::{
    Channel, Status, Tried, WakeAction, WakeData, WakeFailure, WakeResult,
};
use understory_model::{Caller, Id, Time, Ws};
use understory_storage::wakes::{self, Lease};
use understory_storage::{ReadTx, entities, messages, threads, told};

use super::guard::{self, Stop};
use super::state::{defer, stop_loop};
use super::take::over;
use super::text::default_prompt;
use super::{Taken, create, job, request};
use crate::kernel::core::Thing;
use crate::kernel::signs::moment;
use crate::threads::ladder::Way;
use crate::{Engine, View, Work};

/// The reason of a job that nobody asked for.
pub const UNASKED: &str = "unread messages";
/// Threads that one wake tells of.
const THREADS: i64 = 5;
/// Jobs of an agent that are looked at, of all threads or of one.
const JOBS: i64 = 20;
/// How long the worker has to hand them over, in microseconds.
const LEASE: i64 = 60 * 1_000_000;

/// A thread with messages that a session was not told of.
struct News {
    thread: Id,
    handle: String,
    last: i64,
}

/// What a session is woken for.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Own {
    /// A job for each thread that it is to be told of.
    pub jobs: Vec<Taken>,
    /// Jobs that were just given up because agents only woke each other: a person is to be told.
    pub stopped: Vec<Taken>,
}

/// Takes a job for each thread with something that the caller's session was not told of; nothing if
/// there is nothing, or no more wakes are allowed.
pub fn own(engine: &Engine, caller: &Caller, way: &Way, holder: &str) -> Result<Own> {
    let action = action(way);
    let is_any = engine.view(caller, |view| {
        let now = moment(view.tx, view.ws, view.now)?;
        Ok(!news(view.tx, view.ws, (view.caller, now), action)?.is_empty())
    })?;
    if !is_any {
        return Ok(Own::default());
    }
    let lease = format!("{holder}.{}", hex(&engine.clock().chance()));
    let way = way.clone();
    let taken = engine.write(caller, request("own_wake"), move |work| {
        let mut own = Own::default();
        let (ws, caller, now) = (work.ws(), work.caller, work.now);
        // It may have been told, or have read, since the look.
        for news in news(work.read()?, ws, (caller, now), action)? {
            one(work, &news, (&way, &lease), &mut own)?;
        }
        Ok(own)
    });
    taken?.typed()
}

/// Takes the jobs that somebody asked for and that no worker has, for a hook of the caller's session
/// that tells it something anyway.
pub fn claim(view: &mut View<'_, '_>, way: &Way, holder: &str) -> Result<Vec<Taken>> {
    let (ws, now) = (view.ws, view.now);
    let mut open = Vec::new();
    for entity in wakes::open_for(view.tx, ws, &view.caller.agent, JOBS)? {
        let thing = Thing::open(entity)?;
        let job = WakeData::read(&thing.data).filter(|job| job.result != WakeResult::Delivered);
        open.extend(job.map(|job| (thing.entity.id, thing.entity.handle, job)));
    }
    // These are the ones that the hook tells of.
    open.truncate(THREADS as usize);
    let mut all = Vec::new();
    for (id, wake_id, mut job) in open {
        let lease = wakes::lease(view.tx, ws, id)?;
        if is_held(lease.as_ref(), now) {
            continue;
        }
        let taken = lease_of(id, holder, lease, now);
        wakes::put(view.tx, ws, &taken)?;
        (job.action, job.session) = (action(way), Some(way.session.clone()));
        all.push(Taken {
            id,
            wake_id,
            job,
            way: Some(way.clone()),
            client: None,
            last: false,
            lease: taken.holder,
        });
    }
    Ok(all)
}

/// The step by which a session's own worker reaches it.
fn action(way: &Way) -> WakeAction {
    match way.channel {
        Some(channel) if channel.begins_turns() => WakeAction::InSession,
        _ if way.terminal.is_some() => WakeAction::TriggerRuntime,
        Some(Channel::Hooks) => WakeAction::EndOfTurn,
        _ => WakeAction::InSession,
    }
}

fn news(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    (caller, now): (&Caller, Time),
    action: WakeAction,
) -> Result<Vec<News>> {
    let (agent, session) = (&caller.agent, &caller.session);
    let mut all = Vec::new();
    for listed in threads::unread(tx, ws, agent, THREADS)? {
        if listed.thread.status == Status::Closed {
            continue;
        }
        let thread = listed.thread.id;
        let last = messages::last_of_others(tx, ws, thread, agent)?;
        let told = told::of(tx, ws, agent, session, thread)?;
        let told = told.is_some_and(|told| told.seq >= last);
        if !told && !was_woken(tx, ws, caller, (thread, last), action)? {
            all.push(News {
                thread,
                handle: listed.entity.handle,
                last,
            });
        }
    }
    let mut asked = asked(tx, ws, agent)?;
    asked.retain(|one| all.iter().all(|known| known.thread != one.thread));
    all.append(&mut asked);
    let mut free = Vec::new();
    for one in all {
        if is_free(tx, ws, (caller, now), one.thread, action)? {
            free.push(one);
        }
    }
    Ok(free)
}

/// What somebody asks to wake an agent for, whatever it was told.
fn asked(tx: &mut ReadTx<'_>, ws: Ws, agent: &str) -> Result<Vec<News>> {
    let mut asked = Vec::new();
    for entity in wakes::open_for(tx, ws, agent, JOBS)? {
        let id = entity.id;
        let job = WakeData::read(&Thing::open(entity)?.data);
        // What was delivered is not asked for any more, and keeps nothing back that came later.
        let Some(job) = job.filter(|job| job.result != WakeResult::Delivered) else {
            continue;
        };
        if let Some(thread) = threads::woken_for(tx, ws, id)? {
            asked.push(News {
                thread,
                handle: job.thread,
                last: job.up_to,
            });
        }
        if asked.len() as i64 == THREADS {
            break;
        }
    }
    Ok(asked)
}

/// Whether the open job for a thread, if there is one, may be taken now. What is known without a write
/// spares one at each look.
fn is_free(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    (caller, now): (&Caller, Time),
    thread: Id,
    action: WakeAction,
) -> Result<bool> {
    for id in threads::open_wakes(tx, ws, thread, &caller.agent)? {
        let Some(entity) = entities::get(tx, ws, id)? else {
            continue;
        };
        let Some(job) = WakeData::read(&Thing::open(entity)?.data) else {
            continue;
        };
        let lease = wakes::lease(tx, ws, id)?;
        let may = !job.is_put_off(now)
            && !is_held(lease.as_ref(), now)
            && !was_refused(&job, action, &caller.session);
        if !may {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether the caller's session was woken for a message before, whatever came of it, or another session
/// of its agent was and may still read it.
fn was_woken(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    caller: &Caller,
    (thread, last): (Id, i64),
    action: WakeAction,
) -> Result<bool> {
    let (target, session) = (&caller.agent, caller.session.as_str());
    for entity in wakes::of(tx, ws, thread, target, JOBS)? {
        let Some(job) = WakeData::read(&Thing::open(entity)?.data) else {
            continue;
        };
        let own = job.delivered_at.is_some() && job.session.as_deref() == Some(session);
        let handed = own || job.result == WakeResult::Delivered;
        let over = job.result == WakeResult::Failed && was_refused(&job, action, session);
        if job.up_to >= last && (handed || over) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether the step was taken for a session and failed, or the agents were stopped.
fn was_refused(job: &WakeData, action: WakeAction, session: &str) -> bool {
    let failed = |tried: &Tried| {
        tried.code != WakeFailure::UnmanagedRuntime
            && tried.action == action
            && tried.session_id.as_deref() == Some(session)
    };
    let stopped = |tried: &Tried| tried.code == WakeFailure::RateLimited;
    job.tried
        .iter()
        .any(|tried| failed(tried) || stopped(tried))
}

fn is_held(lease: Option<&Lease>, now: Time) -> bool {
    lease.is_some_and(|one| !one.holder.is_empty() && one.until >= now)
}

/// What shows that one has a job.
fn lease_of(id: Id, holder: &str, before: Option<Lease>, now: Time) -> Lease {
    Lease {
        id,
        holder: holder.to_owned(),
        until: Time(now.0.saturating_add(LEASE)),
        due: now,
        attempts: before.map_or(0, |lease| lease.attempts) + 1,
    }
}

fn one(
    work: &mut Work<'_, '_>,
    news: &News,
    (way, holder): (&Way, &str),
    own: &mut Own,
) -> Result<()> {
    let (thread, last) = (news.thread, news.last);
    let (ws, now) = (work.ws(), work.now);
    let target = work.caller.agent.clone();
    let open = threads::open_wakes(work.read()?, ws, thread, &target)?.pop();
    let lease = match open {
        Some(id) => wakes::lease(work.read()?, ws, id)?,
        None => None,
    };
    if is_held(lease.as_ref(), now) {
        return Ok(());
    }
    let mut data = match open {
        Some(id) => job(work, id)?,
        None => unasked(work, news)?,
    };
    data.up_to = data.up_to.max(last);
    let limits = guard::check(work, &data, thread, open.unwrap_or_default())?;
    if let Some(stop) = limits.stop {
        own.stopped.extend(stopped(work, open, data, stop)?);
        return Ok(());
    }
    data.action = action(way);
    data.session = Some(way.session.clone());
    let (id, wake_id) = match open {
        Some(id) => (id, work.thing(id)?.entity.handle.clone()),
        None => create(work, &data)?,
    };
    let lease = lease_of(id, holder, lease, now);
    work.live().put_lease(&lease)?;
    own.jobs.push(Taken {
        id,
        wake_id,
        job: data,
        way: Some(way.clone()),
        client: None,
        last: limits.last,
        lease: lease.holder,
    });
    Ok(())
}

/// A job that nobody asked for, but whoever wrote the last message.
fn unasked(work: &mut Work<'_, '_>, news: &News) -> Result<WakeData> {
    let ws = work.ws();
    Ok(WakeData {
        thread: news.handle.clone(),
        target: work.caller.agent.clone(),
        reason: Some(UNASKED.to_owned()),
        prompt: default_prompt(&news.handle),
        action: WakeAction::None,
        result: WakeResult::Queued,
        up_to: news.last,
        asked_by: messages::sender_of(work.read()?, ws, news.thread, news.last)?,
        asked_at: None,
        session: None,
        channel: None,
        forced: false,
        defer_reason: None,
        deferred_until: None,
        deferred_since: None,
        delivered_at: None,
        tried: Vec::new(),
        more: serde_json::Map::new(),
    })
}

/// The limits say no: the job says so too. It is returned if it is over.
fn stopped(
    work: &mut Work<'_, '_>,
    open: Option<Id>,
    mut data: WakeData,
    stop: Stop,
) -> Result<Option<Taken>> {
    let (id, wake_id) = match open {
        Some(id) => (id, work.thing(id)?.entity.handle.clone()),
        None => create(work, &data)?,
    };
    match stop {
        Stop::Defer(reason, until) => {
            defer(work, id, &mut data, reason, until)?;
            Ok(None)
        }
        Stop::Loop => {
            let job = stop_loop(work, id, data)?;
            Ok(Some(over(id, wake_id, job)))
        }
    }
}
