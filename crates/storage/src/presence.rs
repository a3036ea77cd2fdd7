//! Who is alive and who waits: signs of life and waiting calls. Live data, whose loss loses nothing
//! of record.

use understory_model::error::Result;
use understory_model::{Time, Ws};

use crate::sql::{Row, Tx, args};

/// The last sign of life of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Presence {
    pub agent: String,
    pub session: String,
    /// What it runs in, such as `codex_cli`.
    pub runtime: String,
    /// Whether a supervisor can type into it.
    pub managed: bool,
    pub resumable: bool,
    pub status: String,
    pub at: Time,
}

/// Notes a sign of life, unless a newer one is known; the time of the newest.
pub fn beat(tx: &mut Tx<'_>, ws: Ws, one: &Presence) -> Result<Time> {
    tx.run(
        "INSERT INTO live_session (ws, agent, session, runtime, managed, resumable, status, at) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT (ws, agent, session) DO UPDATE SET \
         runtime = excluded.runtime, managed = excluded.managed, \
         resumable = excluded.resumable, status = excluded.status, at = excluded.at \
         WHERE live_session.at <= excluded.at",
        args![
            ws,
            &one.agent,
            &one.session,
            &one.runtime,
            one.managed,
            one.resumable,
            &one.status,
            one.at.0
        ],
    )?;
    let row = tx.row(
        "SELECT at FROM live_session WHERE ws = ?1 AND agent = ?2 AND session = ?3",
        args![ws, &one.agent, &one.session],
    )?;
    row.map_or(Ok(one.at), |row| Ok(Time(row.int(0)?)))
}

/// Forgets an agent's sessions that gave their last sign of life before a moment.
pub fn forget(tx: &mut Tx<'_>, ws: Ws, agent: &str, before: Time) -> Result<()> {
    tx.run(
        "DELETE FROM live_session WHERE ws = ?1 AND agent = ?2 AND at < ?3",
        args![ws, agent, before.0],
    )?;
    Ok(())
}

/// Reads a sign of life from the first columns of a row.
pub(crate) fn presence(mut row: Row) -> Result<Presence> {
    Ok(Presence {
        agent: row.text(0)?,
        session: row.text(1)?,
        runtime: row.text(2)?,
        managed: row.flag(3)?,
        resumable: row.flag(4)?,
        status: row.text(5)?,
        at: Time(row.int(6)?),
    })
}

/// An agent's sessions, the last alive first.
pub fn of_agent(tx: &mut Tx<'_>, ws: Ws, agent: &str, most: i64) -> Result<Vec<Presence>> {
    let rows = tx.rows(
        "SELECT agent, session, runtime, managed, resumable, status, at FROM live_session \
         WHERE ws = ?1 AND agent = ?2 ORDER BY at DESC, session DESC LIMIT ?3",
        args![ws, agent, most],
    )?;
    rows.into_iter().map(presence).collect()
}

/// Whether a session gave a sign of life since a moment, other than that it went offline.
pub fn beat_since(tx: &mut Tx<'_>, ws: Ws, session: &str, since: Time) -> Result<bool> {
    let row = tx.row(
        "SELECT 1 FROM live_session WHERE ws = ?1 AND session = ?2 AND at >= ?3 \
         AND status <> 'offline' LIMIT 1",
        args![ws, session, since.0],
    )?;
    Ok(row.is_some())
}

/// Whether a session ever gave a sign of life that is still kept.
pub fn is_known(tx: &mut Tx<'_>, ws: Ws, session: &str) -> Result<bool> {
    let row = tx.row(
        "SELECT 1 FROM live_session WHERE ws = ?1 AND session = ?2 LIMIT 1",
        args![ws, session],
    )?;
    Ok(row.is_some())
}

/// Notes that a call of an agent waits for messages.
pub fn wait(tx: &mut Tx<'_>, ws: Ws, agent: &str, token: &[u8], until: Time) -> Result<()> {
    tx.run(
        "INSERT INTO live_wait (ws, agent, token, until) VALUES (?1, ?2, ?3, ?4)",
        args![ws, agent, token, until.0],
    )?;
    Ok(())
}

/// Notes that a call waits no more, and forgets those that ended without a word.
pub fn no_wait(tx: &mut Tx<'_>, ws: Ws, agent: &str, token: &[u8], now: Time) -> Result<()> {
    tx.run(
        "DELETE FROM live_wait WHERE ws = ?1 AND agent = ?2 AND (token = ?3 OR until < ?4)",
        args![ws, agent, token, now.0],
    )?;
    Ok(())
}

/// Whether a call of an agent waits for messages.
pub fn waits(tx: &mut Tx<'_>, ws: Ws, agent: &str, now: Time) -> Result<bool> {
    let row = tx.row(
        "SELECT 1 FROM live_wait WHERE ws = ?1 AND agent = ?2 AND until >= ?3 LIMIT 1",
        args![ws, agent, now.0],
    )?;
    Ok(row.is_some())
}
