//! Which sessions are alive. Claims, conflicts and threads ask here, so that one rule decides what
//! a session that ended may no longer hold.

use understory_model::error::Result;
use understory_model::{Time, Ws};
use understory_storage::{Tx, presence};

/// A session that was silent for this long, in microseconds, is gone.
const SILENT: i64 = 90 * 1_000_000;

/// Whether the session's process is alive.
pub fn is_live(tx: &mut Tx<'_>, ws: Ws, session: &str, now: Time) -> Result<bool> {
    presence::beat_since(tx, ws, session, now.minus(SILENT))
}
