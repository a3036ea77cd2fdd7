//! Sessions, and what each of them works on.

use understory_model::error::Result;
use understory_model::{Id, Seq, Time, Ws};

use crate::sql::{Arg, Row, Tx, args};

/// A chat's work in one project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    pub id: Id,
    pub project: Id,
    pub name: String,
    /// Who began it.
    pub agent: String,
    pub parent: Option<String>,
    pub open: bool,
    pub last_activity: Time,
    /// Zero before the first.
    pub last_save: Time,
    pub saved: Seq,
    pub sync_tick: i64,
    /// The item up to which it knows everything.
    pub synced: Seq,
    pub sync_changes: i64,
    pub own_changes: i64,
    /// Ticks of the project since it last synced that were its own.
    pub own_ticks: i64,
    pub created: Time,
}

impl Session {
    /// Writes of others that it has missed, where its project's clock stands at `tick`.
    pub fn gap(&self, tick: i64) -> i64 {
        tick - self.sync_tick - self.own_ticks
    }
}

const COLUMNS: &str = "s.id, s.project, s.name, s.parent, s.open, s.last_activity, s.last_save, \
                       s.saved, s.sync_tick, s.synced, s.sync_changes, s.own_changes, s.agent, \
                       s.own_ticks, s.created";

fn session(mut row: Row) -> Result<Session> {
    Ok(Session {
        id: row.int(0)?,
        project: row.int(1)?,
        name: row.text(2)?,
        parent: row.opt_text(3)?,
        open: row.flag(4)?,
        last_activity: Time(row.int(5)?),
        last_save: Time(row.int(6)?),
        saved: row.int(7)?,
        sync_tick: row.int(8)?,
        synced: row.int(9)?,
        sync_changes: row.int(10)?,
        own_changes: row.int(11)?,
        agent: row.text(12)?,
        own_ticks: row.int(13)?,
        created: Time(row.int(14)?),
    })
}

pub fn get(tx: &mut Tx<'_>, ws: Ws, id: Id) -> Result<Option<Session>> {
    let sql = format!("SELECT {COLUMNS} FROM core_session s WHERE s.ws = ?1 AND s.id = ?2");
    tx.row(&sql, args![ws, id])?.map(session).transpose()
}

/// The sessions of a name, one for each project that it worked in.
pub fn named(tx: &mut Tx<'_>, ws: Ws, name: &str) -> Result<Vec<Session>> {
    if name.contains('\0') {
        return Ok(Vec::new());
    }
    let sql = format!(
        "SELECT {COLUMNS} FROM core_session s WHERE s.ws = ?1 AND s.name = ?2 ORDER BY s.id"
    );
    let rows = tx.rows(&sql, args![ws, name])?;
    rows.into_iter().map(session).collect()
}

/// A project's sessions that are not closed, the last active first.
pub fn open(tx: &mut Tx<'_>, ws: Ws, project: Id, most: i64) -> Result<Vec<Session>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM core_session s WHERE s.ws = ?1 AND s.project = ?2 AND s.open = 1 \
         ORDER BY s.last_activity DESC, s.id DESC LIMIT ?3"
    );
    let rows = tx.rows(&sql, args![ws, project, most])?;
    rows.into_iter().map(session).collect()
}

pub fn put(tx: &mut Tx<'_>, ws: Ws, session: &Session) -> Result<()> {
    tx.run_together(
        "INSERT INTO core_session (ws, id, project, name, parent, open, last_activity, last_save, \
         saved, sync_tick, synced, sync_changes, own_changes, agent, own_ticks, created) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16) \
         ON CONFLICT (ws, id) DO UPDATE SET open = excluded.open, agent = excluded.agent, \
         last_activity = excluded.last_activity, last_save = excluded.last_save, \
         saved = excluded.saved, sync_tick = excluded.sync_tick, synced = excluded.synced, \
         sync_changes = excluded.sync_changes, own_changes = excluded.own_changes, \
         own_ticks = excluded.own_ticks",
        args![
            ws,
            session.id,
            session.project,
            &session.name,
            session.parent.as_ref(),
            session.open,
            session.last_activity.0,
            session.last_save.0,
            session.saved,
            session.sync_tick,
            session.synced,
            session.sync_changes,
            session.own_changes,
            &session.agent,
            session.own_ticks,
            session.created.0
        ],
    )
}

/// A session's hold on a thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lease {
    /// The item since which it holds it.
    pub since: Seq,
    /// The item up to which the session saw it.
    pub seen: Seq,
    /// The session's own last change of it; 0 when there is none.
    pub wrote: Seq,
    /// Where it chose to go on in spite of others; 0 when it did not.
    pub overrode: Seq,
}

impl Lease {
    /// A hold that begins with an item.
    pub fn from(seq: Seq) -> Lease {
        Lease {
            since: seq,
            seen: seq,
            wrote: 0,
            overrode: 0,
        }
    }
}

pub fn lease(tx: &mut Tx<'_>, ws: Ws, session: Id, target: Id) -> Result<Option<Lease>> {
    let row = tx.row(
        "SELECT since, seen, wrote, overrode FROM core_lease WHERE ws = ?1 AND session = ?2 AND target = ?3",
        args![ws, session, target],
    )?;
    row.map(|row| {
        Ok(Lease {
            since: row.int(0)?,
            seen: row.int(1)?,
            wrote: row.int(2)?,
            overrode: row.int(3)?,
        })
    })
    .transpose()
}

pub fn put_lease(tx: &mut Tx<'_>, ws: Ws, session: Id, target: Id, lease: Lease) -> Result<()> {
    tx.run(
        "INSERT INTO core_lease (ws, session, target, since, seen, wrote, overrode) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT (ws, session, target) DO UPDATE SET \
         seen = excluded.seen, wrote = excluded.wrote, overrode = excluded.overrode",
        args![
            ws,
            session,
            target,
            lease.since,
            lease.seen,
            lease.wrote,
            lease.overrode
        ],
    )?;
    Ok(())
}

/// Lets go of everything that a session holds.
pub fn release(tx: &mut Tx<'_>, ws: Ws, session: Id) -> Result<()> {
    tx.run(
        "DELETE FROM core_lease WHERE ws = ?1 AND session = ?2",
        args![ws, session],
    )?;
    Ok(())
}

/// The handles of what a session holds, in the order of their making; only what it changed after
/// `wrote_after`, where given.
pub fn held(
    tx: &mut Tx<'_>,
    ws: Ws,
    session: Id,
    wrote_after: Option<Seq>,
    most: i64,
) -> Result<Vec<String>> {
    let rows = tx.rows(
        "SELECT e.handle FROM core_lease l JOIN core_entity e ON e.ws = l.ws AND e.id = l.target \
         WHERE l.ws = ?1 AND l.session = ?2 AND l.wrote > ?3 ORDER BY l.target LIMIT ?4",
        args![ws, session, wrote_after.unwrap_or(-1), most],
    )?;
    rows.into_iter().map(|mut row| row.text(0)).collect()
}

/// The open sessions that hold a thing, the last active first, each with its hold.
pub fn holders(tx: &mut Tx<'_>, ws: Ws, target: Id, most: i64) -> Result<Vec<(Session, Lease)>> {
    let sql = format!(
        "SELECT {COLUMNS}, l.since, l.seen, l.wrote, l.overrode FROM core_lease l JOIN core_session s \
         ON s.ws = l.ws AND s.id = l.session WHERE l.ws = ?1 AND l.target = ?2 AND s.open = 1 \
         ORDER BY s.last_activity DESC, s.id DESC LIMIT ?3"
    );
    let rows = tx.rows(&sql, &[Arg::Int(ws), Arg::Int(target), Arg::Int(most)])?;
    let both = |row: Row| {
        let lease = Lease {
            since: row.int(15)?,
            seen: row.int(16)?,
            wrote: row.int(17)?,
            overrode: row.int(18)?,
        };
        Ok((session(row)?, lease))
    };
    rows.into_iter().map(both).collect()
}

/// Open sessions of all projects that were active since a moment, the last active first.
pub fn active_since(tx: &mut Tx<'_>, ws: Ws, since: Time, most: i64) -> Result<Vec<Session>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM core_session s WHERE s.ws = ?1 AND s.open = 1 \
         AND s.last_activity >= ?2 ORDER BY s.last_activity DESC, s.id DESC LIMIT ?3"
    );
    let rows = tx.rows(&sql, args![ws, since.0, most])?;
    rows.into_iter().map(session).collect()
}

/// The sessions that an agent began, the last active first.
pub fn of_agent(tx: &mut Tx<'_>, ws: Ws, agent: &str, most: i64) -> Result<Vec<Session>> {
    if agent.contains('\0') {
        return Ok(Vec::new());
    }
    let sql = format!(
        "SELECT {COLUMNS} FROM core_session s WHERE s.ws = ?1 AND s.agent = ?2 \
         ORDER BY s.last_activity DESC, s.id DESC LIMIT ?3"
    );
    let rows = tx.rows(&sql, args![ws, agent, most])?;
    rows.into_iter().map(session).collect()
}
