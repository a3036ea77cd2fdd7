//! Whether a session can be reached, from the last sign of life that it gave.

use understory_model::error::Result;
use understory_model::thread::SessionStatus;
use understory_model::{Time, Ws};
use understory_storage::presence::Presence;
use understory_storage::{ReadTx, workspaces};

/// A session that gave no sign of life for this long, in microseconds, is not there any more.
const SILENT: i64 = 5 * 60 * 1_000_000;

/// What a session is now: what it last said, unless it has been silent for too long.
pub fn status(one: &Presence, now: Time) -> SessionStatus {
    if one.at < now.minus(SILENT) {
        SessionStatus::Offline
    } else {
        one.status
    }
}

/// Whether a session can be reached now.
pub fn is_alive(one: &Presence, now: Time) -> bool {
    status(one, now) != SessionStatus::Offline
}

/// Now, but never before the last item's time, so that a clock set back makes no session look
/// silent.
pub fn moment(tx: &mut ReadTx<'_>, ws: Ws, now: Time) -> Result<Time> {
    let head = workspaces::head(tx, ws, false)?;
    Ok(head.map_or(now, |head| now.max(head.at)))
}
