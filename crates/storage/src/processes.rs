//! Which sessions a client's process has: those that its children serve over MCP. Live data: without
//! it a hook speaks for the chat that its client names.

use understory_model::error::Result;
use understory_model::{Time, Ws};

use crate::sql::{ReadTx, Tx, args};
use crate::table::{self, table};

table! {
    /// A session that a child of a process serves.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Served in live_process key (machine, process, started, session) {
        pub machine: String,
        pub process: i64,
        pub started: i64,
        pub session: String,
        pub at: Time,
    }
}

/// Notes that a child of a process serves a session, and forgets what was noted before a moment.
pub fn put(tx: &mut Tx<'_>, ws: Ws, one: &Served, before: Time) -> Result<()> {
    table::put(tx, ws, one)?;
    tx.run(
        "DELETE FROM live_process WHERE ws = ?1 AND at < ?2",
        args![ws, before.0],
    )?;
    Ok(())
}

/// The sessions that the children of a process serve, the last that arrived first.
pub fn served(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    machine: &str,
    (process, started): (i64, i64),
    most: i64,
) -> Result<Vec<String>> {
    let rows = tx.rows(
        "SELECT session FROM live_process WHERE ws = ?1 AND machine = ?2 AND process = ?3 \
         AND started = ?4 ORDER BY at DESC, session LIMIT ?5",
        args![ws, machine, process, started, most],
    )?;
    rows.into_iter().map(|mut row| row.text(0)).collect()
}
