//! What a session's own worker wakes it for: messages that it was not told of, whether somebody asked
//! for it or not. Each becomes a job, so that what came of it can be seen.

use understory_model::Caller;
use understory_model::error::Result;
use understory_model::thread::{WakeAction, WakeData, WakeResult};
use understory_model::{Id, Time};
use understory_storage::wakes::{self, Lease};
use understory_storage::{messages, threads, told};

use super::guard::{self, Stop};
use super::text::default_prompt;
use super::{Taken, create, job, request};
use crate::kernel::core::Thing;
use crate::threads::ladder::Way;
use crate::{Engine, View, Work};

/// Threads that one wake tells of.
const THREADS: i64 = 5;
/// Jobs of a thread that are looked at.
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

/// Takes a job for each thread with something that the caller's session was not told of; nothing if
/// there is nothing, or no more wakes are allowed.
pub fn own(engine: &Engine, caller: &Caller, way: &Way, holder: &str) -> Result<Vec<Taken>> {
    let found = engine.view(caller, news)?;
    if found.is_empty() {
        return Ok(Vec::new());
    }
    let (way, holder) = (way.clone(), holder.to_owned());
    let taken = engine.write(caller, request("own_wake"), move |work| {
        let mut all = Vec::new();
        for news in &found {
            all.extend(one(work, news, &way, &holder)?);
        }
        Ok(all)
    });
    taken?.typed()
}

fn news(view: &mut View<'_, '_>) -> Result<Vec<News>> {
    let (agent, session) = (&view.caller.agent, &view.caller.session);
    let mut all = Vec::new();
    for listed in threads::unread(view.tx, view.ws, agent, THREADS)? {
        let thread = listed.thread.id;
        let last = messages::last_of_others(view.tx, view.ws, thread, agent)?;
        let told = told::of(view.tx, view.ws, agent, session, thread)?;
        let told = told.is_some_and(|told| told.seq >= last);
        if !told && !was_woken(view, thread, last)? {
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
    Ok(all)
}

/// Whether the caller's session was woken for a message before, whatever came of it, or another session
/// of its agent was and may still read it.
fn was_woken(view: &mut View<'_, '_>, thread: Id, last: i64) -> Result<bool> {
    for entity in threads::wakes(view.tx, view.ws, thread, JOBS)? {
        let Some(job) = WakeData::read(&Thing::open(entity)?.data) else {
            continue;
        };
        let (target, session) = (&view.caller.agent, Some(&view.caller.session));
        let own = job.delivered_at.is_some() && job.session.as_ref() == session;
        // What no step could deliver is not tried again for the same message.
        let tried = job.result == WakeResult::Failed
            && (job.tried.iter()).any(|one| one.session_id.as_ref() == session);
        let handed = own || tried || job.result == WakeResult::Delivered;
        if job.target == *target && job.up_to >= last && handed {
            return Ok(true);
        }
    }
    Ok(false)
}

fn one(work: &mut Work<'_, '_>, news: &News, way: &Way, holder: &str) -> Result<Option<Taken>> {
    let (thread, last) = (news.thread, news.last);
    let (ws, now) = (work.ws(), work.now);
    let target = work.caller.agent.clone();
    let open = threads::open_wakes(work.tx, ws, thread, &target)?.pop();
    let mut data = match open {
        Some(id) => job(work, id)?,
        None => WakeData {
            thread: news.handle.clone(),
            target,
            reason: Some("unread messages".to_owned()),
            prompt: default_prompt(&news.handle),
            action: WakeAction::None,
            result: WakeResult::Queued,
            up_to: last,
            asked_by: messages::sender_of(work.tx, ws, thread, last)?,
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
        },
    };
    let action = match way.channel {
        Some(channel) if channel.begins_turns() => WakeAction::InSession,
        _ => WakeAction::TriggerRuntime,
    };
    let later = data.deferred_until.is_some_and(|until| until > now);
    // Where this step failed, another is taken.
    if later || data.failures(action, Some(&way.session)) > 0 {
        return Ok(None);
    }
    let limits = guard::check(work, &data, thread)?;
    if matches!(limits.stop, Some(Stop::Loop | Stop::Defer(..))) {
        return Ok(None);
    }
    data.up_to = data.up_to.max(last);
    data.action = action;
    data.session = Some(way.session.clone());
    let (id, wake_id) = match open {
        Some(id) => (id, work.thing(id)?.entity.handle.clone()),
        None => create(work, &data)?,
    };
    let lease = wakes::lease(work.tx, ws, id)?;
    let held = |one: &Lease| !one.holder.is_empty() && one.holder != holder && one.until >= now;
    if lease.as_ref().is_some_and(held) {
        return Ok(None);
    }
    let attempts = lease.map_or(0, |lease| lease.attempts);
    let lease = Lease {
        id,
        holder: holder.to_owned(),
        until: Time(now.0.saturating_add(LEASE)),
        due: now,
        attempts: attempts + 1,
    };
    wakes::put(work.tx, ws, &lease)?;
    work.wrote_live();
    Ok(Some(Taken {
        id,
        wake_id,
        job: data,
        way: Some(way.clone()),
        client: None,
        last: limits.last,
    }))
}
