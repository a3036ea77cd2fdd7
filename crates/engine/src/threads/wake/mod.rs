//! Jobs of waking somebody: how they are made, taken by a worker, reported, and what ends them.
//!
//! A job is an entity, so every step of it is an item of the log. Which worker has it is live: a worker
//! that dies loses it after a while.

mod guard;
mod own;
mod report;
mod state;
mod take;
mod text;

use serde::{Deserialize, Serialize};
use understory_model::error::{Code, Fault, Result};
use understory_model::id::HandleKind;
use understory_model::thread::{WakeAction, WakeData, WakeResult};
use understory_model::{Caller, Id, Time, Ws};
use understory_storage::{ReadTx, presence, threads, wakes};

use crate::kernel::core::Thing;
use crate::kernel::process::Local;
use crate::kernel::signs::moment;
use crate::kernel::work::{Create, Edit};
use crate::kinds::EntityKind;
use crate::{Engine, Request, Work};

pub use self::own::{Own, UNASKED, claim, own};
pub use self::report::{Outcome, report};
pub use self::take::{WORK, begun, give_back, renew, take};
pub use self::text::{default_prompt, first_text, last_word, plain_text, text};

use super::ladder::Way;

/// A job that a worker has taken, and the step to take.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Taken {
    pub id: Id,
    pub wake_id: String,
    pub job: WakeData,
    pub way: Option<Way>,
    /// The client of a new session.
    pub client: Option<String>,
    /// Whether this is the last wake before two agents that only wake each other are stopped.
    pub last: bool,
    /// What shows that whoever took it still has it.
    pub lease: String,
}

/// The request of what a worker does for itself.
fn request(tool: &'static str) -> Request {
    Request {
        tool,
        scope: String::new(),
        key: None,
        arguments: serde_json::Value::Null,
        cause: None,
        project: None,
    }
}

/// The value of a job.
pub(super) fn job(work: &mut Work<'_, '_>, id: Id) -> Result<WakeData> {
    value(work.thing(id)?)
}

fn value(thing: &Thing) -> Result<WakeData> {
    WakeData::read(&thing.data).ok_or_else(|| {
        Fault::new(Code::StoreCorrupt, "a wake job cannot be read").hint("Run `understory verify`.")
    })
}

/// Makes a job; its id and handle.
pub(super) fn create(work: &mut Work<'_, '_>, job: &WakeData) -> Result<(Id, String)> {
    let number = work.next_number(HandleKind::Wake)?;
    let handle = HandleKind::Wake.handle(number);
    let id = work.create(Create {
        kind: EntityKind::Wake,
        handle: handle.clone(),
        data: job.fields()?,
        ..Create::default()
    })?;
    Ok((id, handle))
}

/// Changes a job, unless it stays as it is.
pub(super) fn change(
    work: &mut Work<'_, '_>,
    id: Id,
    job: &WakeData,
    action: &'static str,
) -> Result<()> {
    let data = job.fields()?;
    if work.thing(id)?.data == data {
        return Ok(());
    }
    let edit = Edit {
        action,
        data: Some(data),
        ..Edit::default()
    };
    work.change(id, edit).map(drop)
}

/// Somebody has read up to a message: what was to wake it for that is done.
pub fn has_read(work: &mut Work<'_, '_>, thread: Id, read: i64) -> Result<()> {
    let ws = work.ws();
    let caller = work.caller;
    for id in threads::open_wakes(work.read()?, ws, thread, &caller.agent)? {
        if read >= job(work, id)?.up_to {
            end(work, id, WakeResult::Read)?;
        }
    }
    Ok(())
}

/// A thread is closed: nobody has to be woken for it.
pub fn not_needed(work: &mut Work<'_, '_>, thread: Id) -> Result<()> {
    let ws = work.ws();
    for id in threads::all_open_wakes(work.read()?, ws, thread)? {
        end(work, id, WakeResult::NotNeeded)?;
    }
    Ok(())
}

/// Somebody takes no part in a thread any more, and is told nothing of it.
pub fn left(work: &mut Work<'_, '_>, thread: Id, target: &str) -> Result<()> {
    let ws = work.ws();
    for id in threads::open_wakes(work.read()?, ws, thread, target)? {
        end(work, id, WakeResult::NotNeeded)?;
    }
    Ok(())
}

/// Ends a job with what came of it.
fn end(work: &mut Work<'_, '_>, id: Id, result: WakeResult) -> Result<()> {
    let job = job(work, id)?;
    end_as(work, id, job, result)
}

fn end_as(work: &mut Work<'_, '_>, id: Id, mut job: WakeData, result: WakeResult) -> Result<()> {
    job.result = result;
    job.clear_deferral();
    change(work, id, &job, result.as_str())?;
    work.live().remove_lease(id)
}

/// The caller's session called a tool: what was delivered to it has been read.
pub fn called(engine: &Engine, caller: &Caller, local: Local) -> Result<()> {
    /// Jobs of one agent that are looked at.
    const JOBS: i64 = 20;
    let open = engine.view(caller, |view| {
        let (tx, ws) = (&mut *view.tx, view.ws);
        let mut ids = Vec::new();
        for entity in wakes::open_for(tx, ws, &caller.agent, JOBS)? {
            let thing = Thing::open(entity)?;
            if has_it(tx, ws, &thing, (caller, local), view.now)? {
                ids.push(thing.entity.id);
            }
        }
        Ok(ids)
    })?;
    if open.is_empty() {
        return Ok(());
    }
    let done = engine.write(caller, request("read_wake"), move |work| {
        let (ws, now) = (work.ws(), work.now);
        for id in &open {
            let thing = work.thing(*id)?.clone();
            let caller = work.caller;
            if !has_it(work.read()?, ws, &thing, (caller, local), now)? {
                continue;
            }
            let mut job = job(work, *id)?;
            if job.delivered_at.is_none() {
                (job.delivered_at, job.session) = (Some(now), Some(work.caller.session.clone()));
            }
            end_as(work, *id, job, WakeResult::Read)?;
        }
        Ok(())
    });
    done.map(drop)
}

/// Whether a session that calls a tool has got the prompt of a job: it was delivered to it, or a process
/// that was started with the prompt is still at work, and this session goes on or began since.
fn has_it(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    thing: &Thing,
    (caller, local): (&Caller, Local),
    now: Time,
) -> Result<bool> {
    let Some(job) = WakeData::read(&thing.data) else {
        return Ok(false);
    };
    let is_its = job.session.as_deref() == Some(caller.session.as_str());
    let began = match (job.action, job.session.is_some()) {
        (WakeAction::SpawnSession, false) => {
            let known = presence::name_of(tx, ws, &caller.session)?;
            known.is_some_and(|known| known.since >= thing.entity.updated_at)
        }
        _ => false,
    };
    if job.result == WakeResult::Delivered {
        return Ok(is_its || began);
    }
    if !job.action.starts() || !(is_its || began) {
        return Ok(false);
    }
    let now = moment(tx, ws, now)?;
    let id = thing.entity.id;
    let begun = wakes::begun(tx, ws, &job.target, id)?;
    if begun.is_some_and(|one| local.has(&take::process(one))) {
        // Its worker may have died since.
        return Ok(true);
    }
    let lease = wakes::lease(tx, ws, id)?;
    Ok(lease.is_some_and(|lease| !lease.holder.is_empty() && lease.until >= now))
}
