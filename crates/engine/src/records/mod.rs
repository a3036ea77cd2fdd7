//! The records surface: design reasoning that outlives the chat it was done in.
//!
//! One file a command, or a few that belong together, and what they share: how a record is read
//! ([`fields`]) and shown ([`shape`]), which session a call speaks for ([`session`]), what counts as
//! seen ([`seen`]), and what the log calls what was done ([`crate::kernel::content::session_event`]).

pub mod activate;
pub mod activity;
pub mod change;
pub mod close;
pub mod conflicts;
pub mod context;
pub mod create;
pub mod create_many;
pub mod create_project;
pub mod diff;
pub mod fields;
pub mod get_project;
pub mod history;
pub mod list;
pub mod list_projects;
pub mod others;
pub mod overview;
pub mod project;
pub mod projection;
pub mod reference;
pub mod save;
pub mod search;
pub mod seen;
pub mod session;
pub mod sessions;
pub mod shape;
pub mod show;
pub mod sync;
pub mod transition;
pub mod tree;
pub mod update;

use understory_model::Id;
use understory_model::error::{Code, Fault, Result};
use understory_storage::entities;

use crate::kernel::core::Thing;
use crate::kernel::view::{Sought, missing, no_such};
use crate::kinds::RECORD;
use crate::{View, Work};

/// A record by its handle, for a read.
pub fn find(view: &mut View<'_, '_>, handle: &str) -> Result<Thing> {
    let found = entities::by_handle(view.tx, view.ws, handle)?;
    match found.filter(|entity| entity.kind == RECORD) {
        Some(entity) => Thing::open(entity),
        None => Err(unknown(no_such(view.tx, view.ws, Sought::Record, handle)?)),
    }
}

/// A record by its handle, for a write.
pub fn find_to_change(work: &mut Work<'_, '_>, handle: &str) -> Result<Id> {
    if let Some(id) = work.by_handle(handle)?
        && work.thing(id)?.entity.kind == RECORD
    {
        return Ok(id);
    }
    let ws = work.ws();
    Err(unknown(no_such(work.read()?, ws, Sought::Record, handle)?))
}

/// The fault for a record that does not exist where nothing does.
pub fn nothing_yet(handle: &str) -> Fault {
    unknown(missing(Sought::Record, handle, []))
}

fn unknown(mut fault: Fault) -> Fault {
    fault.code = Code::RecordNotFound;
    fault
}
