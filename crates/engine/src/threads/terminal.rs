//! The managed terminal of a session: its supervisor reports that it is there and what is seen in it,
//! so that others know how the session is reached.

use understory_model::Caller;
use understory_model::error::Result;
use understory_storage::terminals::{self, Terminal};

use crate::kernel::signs::moment;
use crate::{Engine, Resolved};

/// How long a terminal is kept that is no longer reported, in microseconds.
const FORGOTTEN: i64 = 30 * 24 * 3_600 * 1_000_000;

/// Notes the terminal of the caller's session; false where there is no workspace yet.
pub fn report(engine: &Engine, caller: &Caller, terminal: &Terminal) -> Result<bool> {
    if !matches!(engine.workspace(caller)?, Resolved::There(_)) {
        return Ok(false);
    }
    let one = Terminal {
        session: caller.session.clone(),
        agent: caller.agent.clone(),
        ..terminal.clone()
    };
    engine.write_live(caller, move |tx, ws, now| {
        let at = moment(tx, ws, now)?;
        let one = Terminal { at, ..one.clone() };
        terminals::put(tx, ws, &one, at.minus(FORGOTTEN))
    })?;
    Ok(true)
}

/// The terminal of the caller's session is gone.
pub fn gone(engine: &Engine, caller: &Caller) -> Result<()> {
    if !matches!(engine.workspace(caller)?, Resolved::There(_)) {
        return Ok(());
    }
    let session = caller.session.clone();
    engine.write_live(caller, move |tx, ws, _| terminals::remove(tx, ws, &session))
}
