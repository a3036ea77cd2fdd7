//! How far each session was told of each thread. Live data: without it a message is told once more.

use understory_model::error::Result;
use understory_model::{Id, Time, Ws};

use crate::sql::{ReadTx, Tx, args};
use crate::table::{self, Stored, table};

table! {
    /// Up to which message and which change of a thread a session was told.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Told in live_told key (agent, session, thread) {
        pub agent: String,
        pub session: String,
        pub thread: Id,
        pub seq: i64,
        pub changes: i64,
        pub at: Time,
    }
}

const TOLD: &str = Told::COLUMNS;

/// How far a session was told of a thread.
pub fn of(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    agent: &str,
    session: &str,
    thread: Id,
) -> Result<Option<Told>> {
    table::get(tx, args![ws, agent, session, thread])
}

/// How far a session was told of all its threads.
pub fn of_session(tx: &mut ReadTx<'_>, ws: Ws, agent: &str, session: &str) -> Result<Vec<Told>> {
    let sql = format!("SELECT {TOLD} FROM live_told WHERE ws = ?1 AND agent = ?2 AND session = ?3");
    table::all(tx, &sql, args![ws, agent, session])
}

/// Notes how far a session was told; it is never taken back.
pub fn put(tx: &mut Tx<'_>, ws: Ws, one: &Told) -> Result<()> {
    let before = of(tx, ws, &one.agent, &one.session, one.thread)?;
    let (seq, changes) = before.map_or((0, 0), |before| (before.seq, before.changes));
    let one = Told {
        seq: one.seq.max(seq),
        changes: one.changes.max(changes),
        ..one.clone()
    };
    table::put(tx, ws, &one)
}

/// Forgets what a session was told: it does not remember it any more.
pub fn clear(tx: &mut Tx<'_>, ws: Ws, agent: &str, session: &str) -> Result<()> {
    tx.run(
        "DELETE FROM live_told WHERE ws = ?1 AND agent = ?2 AND session = ?3",
        args![ws, agent, session],
    )?;
    Ok(())
}

/// Forgets what an agent's sessions were told before a moment.
pub fn forget(tx: &mut Tx<'_>, ws: Ws, agent: &str, before: Time) -> Result<()> {
    tx.run(
        "DELETE FROM live_told WHERE ws = ?1 AND agent = ?2 AND at < ?3",
        args![ws, agent, before.0],
    )?;
    Ok(())
}
