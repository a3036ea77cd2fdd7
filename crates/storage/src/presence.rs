//! Who is alive: the last sign of life of each session. Live data, whose loss loses nothing of
//! record.

use std::sync::LazyLock;

use understory_model::error::Result;
use understory_model::thread::SessionStatus;
use understory_model::{Time, Ws};

use crate::sql::{ReadTx, Tx, args};
use crate::table::{self, Stored, table};

table! {
    /// The last sign of life of a session.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Presence in live_session as s key (agent, session) {
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
}

const PRESENCE: &str = Presence::COLUMNS;

/// Notes a sign of life, unless a newer one is known; the time of the newest.
pub fn beat(tx: &mut Tx<'_>, ws: Ws, one: &Presence) -> Result<Time> {
    static SQL: LazyLock<String> = LazyLock::new(|| {
        let upsert = &Presence::statements().upsert;
        format!("{upsert} WHERE live_session.at <= excluded.at")
    });
    tx.run(&SQL, &table::values(ws, one))?;
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
pub fn since(tx: &mut ReadTx<'_>, ws: Ws, since: Time, most: i64) -> Result<Vec<Presence>> {
    let sql = format!(
        "SELECT {PRESENCE} FROM live_session s \
         WHERE s.ws = ?1 AND s.at >= ?2 ORDER BY s.at DESC, s.session DESC LIMIT ?3"
    );
    table::all(tx, &sql, args![ws, since.0, most])
}

table! {
    /// Which agent a session is.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Name in live_name key (session) {
        pub session: String,
        pub agent: String,
        /// What its process calls itself.
        pub client: String,
        pub project: String,
        /// When it last arrived.
        pub since: Time,
    }
}

const NAME: &str = Name::COLUMNS;

pub fn name_of(tx: &mut ReadTx<'_>, ws: Ws, session: &str) -> Result<Option<Name>> {
    table::get(tx, args![ws, session])
}

/// Every session that has a name, the last arrived first.
pub fn names(tx: &mut ReadTx<'_>, ws: Ws, most: i64) -> Result<Vec<Name>> {
    let sql = format!(
        "SELECT {NAME} FROM live_name WHERE ws = ?1 ORDER BY since DESC, session DESC LIMIT ?2"
    );
    table::all(tx, &sql, args![ws, most])
}

/// Keeps which agent a session is, and forgets those that did not come back since a moment.
pub fn put_name(tx: &mut Tx<'_>, ws: Ws, one: &Name, before: Time) -> Result<()> {
    table::put(tx, ws, one)?;
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

/// An agent's sessions, the last alive first.
pub fn of_agent(tx: &mut ReadTx<'_>, ws: Ws, agent: &str, most: i64) -> Result<Vec<Presence>> {
    let sql = format!(
        "SELECT {PRESENCE} FROM live_session s \
         WHERE s.ws = ?1 AND s.agent = ?2 ORDER BY s.at DESC, s.session DESC LIMIT ?3"
    );
    table::all(tx, &sql, args![ws, agent, most])
}

/// Whether a session gave a sign of life since a moment, other than that it went offline.
pub fn beat_since(tx: &mut ReadTx<'_>, ws: Ws, session: &str, since: Time) -> Result<bool> {
    let row = tx.row(
        "SELECT 1 FROM live_session WHERE ws = ?1 AND session = ?2 AND at >= ?3 \
         AND status <> 'offline' LIMIT 1",
        args![ws, session, since.0],
    )?;
    Ok(row.is_some())
}

/// Whether it would be seen that a session is alive: it had a process, or gave a sign of life.
pub fn is_known(tx: &mut ReadTx<'_>, ws: Ws, session: &str) -> Result<bool> {
    let row = tx.row(
        "SELECT 1 FROM live_session WHERE ws = ?1 AND session = ?2 \
         UNION ALL SELECT 1 FROM live_name WHERE ws = ?1 AND session = ?2 LIMIT 1",
        args![ws, session],
    )?;
    Ok(row.is_some())
}
