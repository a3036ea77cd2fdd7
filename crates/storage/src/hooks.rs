//! What hooks told each session already. Clients fire one event twice, and one client fires the hooks
//! of another.

use understory_model::error::Result;
use understory_model::{Time, Ws};

use crate::sql::{ReadTx, Tx, args};
use crate::table::{self, table};

table! {
    /// The last turn in which an event of a session was answered.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Answered in live_hook key (session, event) {
        pub session: String,
        pub event: String,
        pub turn: String,
        pub at: Time,
    }
}

/// Notes that an event of a turn is answered; false if it was before, at or after `since`.
pub fn answer(tx: &mut Tx<'_>, ws: Ws, one: &Answered, since: Time) -> Result<bool> {
    let before = of(tx, ws, &one.session, &one.event)?;
    if before.is_some_and(|before| before.turn == one.turn && before.at >= since) {
        return Ok(false);
    }
    table::put(tx, ws, one)?;
    Ok(true)
}

/// How an event of a session was last answered.
pub fn of(tx: &mut ReadTx<'_>, ws: Ws, session: &str, event: &str) -> Result<Option<Answered>> {
    table::get(tx, args![ws, session, event])
}

/// Forgets that an event of a session was answered.
pub fn unanswered(tx: &mut Tx<'_>, ws: Ws, session: &str, event: &str) -> Result<()> {
    tx.run(
        "DELETE FROM live_hook WHERE ws = ?1 AND session = ?2 AND event = ?3",
        args![ws, session, event],
    )?;
    Ok(())
}

/// Forgets what was answered before a moment.
pub fn forget(tx: &mut Tx<'_>, ws: Ws, before: Time) -> Result<()> {
    tx.run(
        "DELETE FROM live_hook WHERE ws = ?1 AND at < ?2",
        args![ws, before.0],
    )?;
    Ok(())
}
