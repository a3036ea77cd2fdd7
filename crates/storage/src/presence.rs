//! Who is alive: the last sign of life of each session. Live data, whose loss loses nothing of
//! record.

use understory_model::error::Result;
use understory_model::thread::SessionStatus;
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
    pub status: SessionStatus,
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
            one.status.as_str(),
            one.at.0
        ],
    )?;
    let row = tx.row(
        "SELECT at FROM live_session WHERE ws = ?1 AND agent = ?2 AND session = ?3",
        args![ws, &one.agent, &one.session],
    )?;
    row.map_or(Ok(one.at), |row| Ok(Time(row.int(0)?)))
}

/// Notes that a session did something: what it said of itself stays, but that it had gone.
pub fn touch(tx: &mut Tx<'_>, ws: Ws, agent: &str, session: &str, at: Time) -> Result<()> {
    tx.run(
        "INSERT INTO live_session (ws, agent, session, runtime, managed, resumable, status, at) \
         VALUES (?1, ?2, ?3, '', 0, 0, 'active', ?4) ON CONFLICT (ws, agent, session) DO UPDATE \
         SET at = excluded.at, status = CASE live_session.status WHEN 'offline' THEN 'active' \
         ELSE live_session.status END WHERE live_session.at <= excluded.at",
        args![ws, agent, session, at.0],
    )?;
    Ok(())
}

/// Notes that a session is gone; whether anything was known of it.
pub fn gone(tx: &mut Tx<'_>, ws: Ws, session: &str) -> Result<bool> {
    let rows = tx.run(
        "UPDATE live_session SET status = 'offline' \
         WHERE ws = ?1 AND session = ?2 AND status <> 'offline'",
        args![ws, session],
    )?;
    Ok(rows > 0)
}

/// Keeps that a session is gone, of which nothing may be known.
pub fn ended(tx: &mut Tx<'_>, ws: Ws, agent: &str, session: &str, at: Time) -> Result<()> {
    tx.run(
        "INSERT INTO live_session (ws, agent, session, runtime, managed, resumable, status, at) \
         VALUES (?1, ?2, ?3, '', 0, 0, 'offline', ?4) ON CONFLICT (ws, agent, session) DO UPDATE \
         SET status = 'offline'",
        args![ws, agent, session, at.0],
    )?;
    Ok(())
}

/// The sessions that gave a sign of life since a moment and did not go, the last first.
pub fn since(tx: &mut Tx<'_>, ws: Ws, since: Time, most: i64) -> Result<Vec<Presence>> {
    let rows = tx.rows(
        "SELECT agent, session, runtime, managed, resumable, status, at FROM live_session \
         WHERE ws = ?1 AND at >= ?2 ORDER BY at DESC, session DESC LIMIT ?3",
        args![ws, since.0, most],
    )?;
    rows.into_iter().map(presence).collect()
}

/// Which agent a session is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Name {
    pub session: String,
    pub agent: String,
    /// What its process calls itself.
    pub client: String,
    pub project: String,
    /// When it last arrived.
    pub since: Time,
}

const NAME: &str = "session, agent, client, project, since";

fn name(mut row: Row) -> Result<Name> {
    Ok(Name {
        session: row.text(0)?,
        agent: row.text(1)?,
        client: row.text(2)?,
        project: row.text(3)?,
        since: Time(row.int(4)?),
    })
}

pub fn name_of(tx: &mut Tx<'_>, ws: Ws, session: &str) -> Result<Option<Name>> {
    let sql = format!("SELECT {NAME} FROM live_name WHERE ws = ?1 AND session = ?2");
    tx.row(&sql, args![ws, session])?.map(name).transpose()
}

/// Every session that has a name, the last arrived first.
pub fn names(tx: &mut Tx<'_>, ws: Ws, most: i64) -> Result<Vec<Name>> {
    let sql = format!(
        "SELECT {NAME} FROM live_name WHERE ws = ?1 ORDER BY since DESC, session DESC LIMIT ?2"
    );
    let rows = tx.rows(&sql, args![ws, most])?;
    rows.into_iter().map(name).collect()
}

/// Keeps which agent a session is, and forgets those that did not come back since a moment.
pub fn put_name(tx: &mut Tx<'_>, ws: Ws, one: &Name, before: Time) -> Result<()> {
    tx.run(
        "INSERT INTO live_name (ws, session, agent, client, project, since) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (ws, session) DO UPDATE SET \
         agent = excluded.agent, client = excluded.client, project = excluded.project, \
         since = excluded.since",
        args![
            ws,
            &one.session,
            &one.agent,
            &one.client,
            &one.project,
            one.since.0
        ],
    )?;
    tx.run(
        "DELETE FROM live_name WHERE ws = ?1 AND since < ?2",
        args![ws, before.0],
    )?;
    Ok(())
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
        status: row.word(5, SessionStatus::parse)?,
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

/// Whether it would be seen that a session is alive: it had a process, or gave a sign of life.
pub fn is_known(tx: &mut Tx<'_>, ws: Ws, session: &str) -> Result<bool> {
    let row = tx.row(
        "SELECT 1 FROM live_session WHERE ws = ?1 AND session = ?2 \
         UNION ALL SELECT 1 FROM live_name WHERE ws = ?1 AND session = ?2 LIMIT 1",
        args![ws, session],
    )?;
    Ok(row.is_some())
}
