//! Jobs of waking somebody: how they are made, taken by a worker, reported, and what ends them.
//!
//! A job is an entity, so every step of it is an item of the log. Which worker has it is live: a worker
//! that dies loses it after a while.

mod guard;
mod own;
mod take;
mod text;

use serde::{Deserialize, Serialize};
use understory_model::Id;
use understory_model::error::{Code, Fault, Result};
use understory_model::id::HandleKind;
use understory_model::thread::{WakeData, WakeResult};
use understory_storage::{threads, wakes};

use crate::kernel::work::{Create, Edit};
use crate::kinds::EntityKind;
use crate::{Engine, Request, Work};

pub use self::own::own;
pub use self::take::{Outcome, renew, report, take};
pub use self::text::{default_prompt, first_text, plain_text, text};

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
    WakeData::read(&work.thing(id)?.data).ok_or_else(|| {
        Fault::new(Code::StoreCorrupt, "a wake job cannot be read").hint("Run `understory verify`.")
    })
}

/// Makes a job; its id and handle.
pub(super) fn create(work: &mut Work<'_, '_>, job: &WakeData) -> Result<(Id, String)> {
    let number = work.core.next_number(work.tx, HandleKind::Wake)?;
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
    for id in threads::open_wakes(work.tx, ws, thread, &work.caller.agent)? {
        if read >= job(work, id)?.up_to {
            end(work, id, WakeResult::Read)?;
        }
    }
    Ok(())
}

/// A thread is closed: nobody has to be woken for it.
pub fn not_needed(work: &mut Work<'_, '_>, thread: Id) -> Result<()> {
    let ws = work.ws();
    for id in threads::all_open_wakes(work.tx, ws, thread)? {
        end(work, id, WakeResult::NotNeeded)?;
    }
    Ok(())
}

/// Ends a job with what came of it.
fn end(work: &mut Work<'_, '_>, id: Id, result: WakeResult) -> Result<()> {
    let mut job = job(work, id)?;
    job.result = result;
    job.clear_deferral();
    change(work, id, &job, result.as_str())?;
    let ws = work.ws();
    wakes::remove(work.tx, ws, id)
}

/// The caller's session called a tool: what was delivered to it has been read.
pub fn called(engine: &Engine, caller: &understory_model::Caller) -> Result<()> {
    /// Jobs of one agent that are looked at.
    const JOBS: i64 = 20;
    let delivered = |data: &WakeData, session: &str| {
        data.result == WakeResult::Delivered && data.session.as_deref() == Some(session)
    };
    let open = engine.view(caller, |view| {
        let open = wakes::open_for(view.tx, view.ws, &view.caller.agent, JOBS)?;
        let mut ids = Vec::new();
        for entity in open {
            let id = entity.id;
            let thing = crate::kernel::core::Thing::open(entity)?;
            if WakeData::read(&thing.data).is_some_and(|job| delivered(&job, &caller.session)) {
                ids.push(id);
            }
        }
        Ok(ids)
    })?;
    if open.is_empty() {
        return Ok(());
    }
    let done = engine.write(caller, request("read_wake"), move |work| {
        for id in &open {
            if delivered(&job(work, *id)?, &work.caller.session) {
                end(work, *id, WakeResult::Read)?;
            }
        }
        Ok(())
    });
    done.map(drop)
}
