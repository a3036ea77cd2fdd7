//! The threads surface: messages between agents, in order, with who has read what.
//!
//! A message is an item of the log and never changes; a thread is an entity whose value holds its
//! title, type, status and participants. Who may write is decided here (`find_to_change`, `directs`);
//! who may read, in `kernel/access.rs`.

mod address;
mod heard;
mod looks;
mod news;
pub mod projection;
mod turn;

pub mod ack;
pub mod create;
pub mod findings;
pub mod get;
pub mod heartbeat;
pub mod ladder;
pub mod list;
pub mod post;
pub mod read;
pub mod shape;
pub mod status;
pub mod summarize;
pub mod terminal;
pub mod trigger;
pub mod wait;
pub mod wake;
pub mod wakes;
pub mod ways;

use understory_model::Role;
use understory_model::error::{Code, Fault, Result};
use understory_model::text::quoted;
use understory_storage::threads::{self, Thread};
use understory_storage::{ReadTx, entities};

use crate::kernel::access::Reader;
use crate::kernel::content::message::participants;
use crate::kernel::core::Thing;
use crate::kernel::names::{self, Scope};
use crate::kernel::view::{Sought, missing};
use crate::kernel::who::check_agent;
use crate::kinds::THREAD;
use crate::{View, Work};

pub use self::turn::Turned;

/// Handles that are compared with an unknown one.
const NEAR: i64 = 20;

/// A thread, and what is counted of it.
pub struct Found {
    pub thing: Thing,
    pub row: Thread,
}

impl Found {
    pub fn handle(&self) -> &str {
        &self.thing.entity.handle
    }

    pub fn participants(&self) -> Vec<&str> {
        participants(&self.thing.data).collect()
    }

    /// Whether an agent takes part: it made the thread, or was named when it was made.
    pub fn has(&self, agent: &str) -> bool {
        self.thing.entity.created_by == agent || self.participants().contains(&agent)
    }
}

/// A thread that the caller may read.
pub fn find(view: &mut View<'_, '_>, handle: &str) -> Result<Found> {
    let caller = view.caller;
    let found = entities::by_handle(view.tx, view.ws, handle)?;
    let Some(entity) = found.filter(|entity| entity.kind == THREAD) else {
        return Err(unknown(view.tx, Scope::ids(view.ws, caller), handle)?);
    };
    let row = threads::get(view.tx, view.ws, entity.id)?.ok_or_else(not_in_core)?;
    let found = Found {
        thing: Thing::open(entity)?,
        row,
    };
    if Reader::new(caller).thread(view.tx, view.ws, found.row.id)? {
        Ok(found)
    } else {
        Err(no_part(handle))
    }
}

/// The fault for an unknown thread, with the nearest that the caller may read.
fn unknown(tx: &mut ReadTx<'_>, scope: Scope<'_>, handle: &str) -> Result<Fault> {
    let near = entities::handles_near(tx, scope.ws, Some(THREAD), handle, NEAR)?;
    let near = names::readable(tx, scope, near)?;
    Ok(missing(
        Sought::Thread,
        handle,
        near.iter().map(String::as_str),
    ))
}

/// A thread that the caller may write to.
pub fn find_to_change(work: &mut Work<'_, '_>, handle: &str) -> Result<Found> {
    let ws = work.ws();
    let id = work.by_handle(handle)?;
    let thing = match id {
        Some(id) => Some(work.thing(id)?.clone()),
        None => None,
    };
    let Some(thing) = thing.filter(|thing| thing.entity.kind == THREAD) else {
        let caller = work.caller;
        return Err(unknown(work.read()?, Scope::ids(ws, caller), handle)?);
    };
    let row = threads::get(work.read()?, ws, thing.entity.id)?.ok_or_else(not_in_core)?;
    let found = Found { thing, row };
    if !directs(work.caller.role) && !found.has(&work.caller.agent) {
        return Err(no_part(handle));
    }
    Ok(found)
}

/// Whether a role may override what others dispute, and write to any thread.
pub fn directs(role: Role) -> bool {
    matches!(role, Role::Operator | Role::Orchestrator)
}

/// The fault for a thread where nothing is yet.
pub fn nothing_yet(handle: &str) -> Fault {
    missing(Sought::Thread, handle, [])
}

fn no_part(handle: &str) -> Fault {
    let message = format!("you take no part in {}", quoted(handle));
    Fault::new(Code::Forbidden, message).hint(
        "Its participants, an operator and an orchestrator read it and post in it; an auditor \
         reads it.",
    )
}

fn not_in_core() -> Fault {
    Fault::new(Code::StoreCorrupt, "a thread is not in core").hint("Run `understory rebuild`.")
}

/// The only version of the payloads so far.
pub const SCHEMA_VERSION: i64 = 1;
