//! What a session's own worker wakes it for: messages that it was not told of, whether somebody asked
//! for it or not. Each becomes a job, so that what came of it can be seen.

use serde::{Deserialize, Serialize};
use understory_model::canon::hex;
use understory_model::error::Result;
use understory_model::thread::{
    Channel, Status, Tried, WakeAction, WakeData, WakeFailure, WakeResult,
};
use understory_model::{Caller, Id, Time};
use understory_storage::wakes::{self, Lease};
use understory_storage::{messages, threads, told};

use super::guard::{self, Stop};
use super::take::{defer, over, stop_loop};
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
/// Jobs of an agent for a thread that are looked at.
const JOBS: i64 = 20;
/// How long the worker has to hand them over, in microseconds.
const LEASE: i64 = 60 * 1_000_000;

/// A thread with messages that a session was not told of.
#[derive(Clone)]
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
    let found = engine.view(caller, |view| news(view, action(way)))?;
    if found.is_empty() {
        return Ok(Own::default());
    }
    let lease = format!("{holder}.{}", hex(&engine.clock().chance()));
    let way = way.clone();
    let taken = engine.write(caller, request("own_wake"), move |work| {
        let mut own = Own::default();
        for news in &found {
            one(work, news, (&way, &lease), &mut own)?;
        }
        Ok(own)
    });
    taken?.typed()
}

/// Takes the jobs that somebody asked for and that no worker has, for a hook of the caller's session
/// that tells it something anyway.
pub fn claim(view: &mut View<'_, '_>, way: &Way, holder: &str) -> Result<Vec<Taken>> {
    let (ws, now) = (view.ws, view.now);
    let mut all = Vec::new();
    for entity in wakes::open_for(view.tx, ws, &view.caller.agent, THREADS)? {
        let thing = Thing::open(entity)?;
        let Some(mut job) = WakeData::read(&thing.data) else {
            continue;
        };
        let id = thing.entity.id;
        let lease = wakes::lease(view.tx, ws, id)?;
        if job.result == WakeResult::Delivered || is_held(lease.as_ref(), now) {
            continue;
        }
        let taken = lease_of(id, holder, lease, now);
        wakes::put(view.tx, ws, &taken)?;
        (job.action, job.session) = (action(way), Some(way.session.clone()));
        all.push(Taken {
            id,
            wake_id: thing.entity.handle,
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

fn news(view: &mut View<'_, '_>, action: WakeAction) -> Result<Vec<News>> {
    let (agent, session) = (&view.caller.agent, &view.caller.session);
    let now = moment(view.tx, view.ws, view.now)?;
    let mut all = Vec::new();
    for listed in threads::unread(view.tx, view.ws, agent, THREADS)? {
        if listed.thread.status == Status::Closed {
            continue;
        }
        let thread = listed.thread.id;
        let last = messages::last_of_others(view.tx, view.ws, thread, agent)?;
        let told = told::of(view.tx, view.ws, agent, session, thread)?;
        let told = told.is_some_and(|told| told.seq >= last);
        if !told && !was_woken(view, thread, last, action)? {
            all.push(News {
                thread,
                handle: listed.entity.handle,
                last,
            });
        }
    }
    // Somebody asks for it, whatever it was told.
    for entity in wakes::open_for(view.tx, view.ws, agent, THREADS)? {
        let id = entity.id;
        let Some(job) = WakeData::read(&Thing::open(entity)?.data) else {
            continue;
        };
        let Some(thread) = threads::woken_for(view.tx, view.ws, id)? else {
            continue;
        };
        let known = all.iter().any(|one: &News| one.thread == thread);
        if job.result != WakeResult::Delivered && !known {
            all.push(News {
                thread,
                handle: job.thread,
                last: job.up_to,
            });
        }
    }
    let mut free = Vec::new();
    for one in all {
        if is_free(view, one.thread, action, now)? {
            free.push(one);
        }
    }
    Ok(free)
}

/// Whether the open job for a thread, if there is one, may be taken now. What is known without a write
/// spares one at each look.
fn is_free(view: &mut View<'_, '_>, thread: Id, action: WakeAction, now: Time) -> Result<bool> {
    let (ws, caller) = (view.ws, view.caller);
    for id in threads::open_wakes(view.tx, ws, thread, &caller.agent)? {
        let Some(entity) = view.entity(id)? else {
            continue;
        };
        let Some(job) = WakeData::read(&Thing::open(entity)?.data) else {
            continue;
        };
        let lease = wakes::lease(view.tx, ws, id)?;
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
fn was_woken(view: &mut View<'_, '_>, thread: Id, last: i64, action: WakeAction) -> Result<bool> {
    let (target, session) = (&view.caller.agent, view.caller.session.as_str());
    for entity in wakes::of(view.tx, view.ws, thread, target, JOBS)? {
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
