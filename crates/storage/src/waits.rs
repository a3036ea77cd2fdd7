//! Calls that wait for messages. Live data: each row is believed for a short while unless its call
//! renews it, so that nobody counts on a process that was killed.

use understory_model::error::Result;
use understory_model::{Id, Time, Ws};

use crate::sql::{ReadTx, Row, Tx, args};

/// A call that waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    pub agent: String,
    pub session: String,
    /// Whether it waits for all threads of the agent.
    pub every: bool,
    /// JSON: after which message of which thread, by handle.
    pub since: String,
}

/// Notes that a call waits.
pub fn put(tx: &mut Tx<'_>, ws: Ws, token: &[u8], one: &Waiting, until: Time) -> Result<()> {
    tx.run(
        "INSERT INTO live_waiting (ws, agent, token, session, until, every, since) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        args![
            ws,
            &one.agent,
            token,
            &one.session,
            until.0,
            one.every,
            &one.since
        ],
    )?;
    Ok(())
}

/// Notes that a call still waits; one that has ended meanwhile stays so.
pub fn renew(tx: &mut Tx<'_>, ws: Ws, agent: &str, token: &[u8], until: Time) -> Result<()> {
    tx.run(
        "UPDATE live_waiting SET until = ?4 WHERE ws = ?1 AND agent = ?2 AND token = ?3",
        args![ws, agent, token, until.0],
    )?;
    Ok(())
}

/// Notes that a call waits no more, and forgets those that ended without a word.
pub fn end(tx: &mut Tx<'_>, ws: Ws, agent: &str, token: &[u8], now: Time) -> Result<()> {
    tx.run(
        "DELETE FROM live_waiting WHERE ws = ?1 AND agent = ?2 AND (token = ?3 OR until < ?4)",
        args![ws, agent, token, now.0],
    )?;
    Ok(())
}

fn waiting(mut row: Row) -> Result<Waiting> {
    Ok(Waiting {
        agent: row.text(0)?,
        session: row.text(1)?,
        every: row.flag(2)?,
        since: row.text(3)?,
    })
}

/// The calls of an agent that wait now.
pub fn of_agent(tx: &mut ReadTx<'_>, ws: Ws, agent: &str, now: Time) -> Result<Vec<Waiting>> {
    let rows = tx.rows(
        "SELECT agent, session, every, since FROM live_waiting \
         WHERE ws = ?1 AND agent = ?2 AND until >= ?3",
        args![ws, agent, now.0],
    )?;
    rows.into_iter().map(waiting).collect()
}

/// The calls that wait now of those who are in a thread.
pub fn of_thread(tx: &mut ReadTx<'_>, ws: Ws, thread: Id, now: Time) -> Result<Vec<Waiting>> {
    let rows = tx.rows(
        "SELECT w.agent, w.session, w.every, w.since FROM core_participant p \
         CROSS JOIN live_waiting w WHERE p.ws = ?1 AND p.thread = ?2 AND w.ws = ?1 \
         AND w.agent = p.agent AND w.until >= ?3",
        args![ws, thread, now.0],
    )?;
    rows.into_iter().map(waiting).collect()
}
