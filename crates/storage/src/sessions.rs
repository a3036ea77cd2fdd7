//! Sessions, and what each of them works on.

use understory_model::error::Result;
use understory_model::{Id, Seq, Time, Ws};

use crate::sql::{ReadTx, Row, Tx, args};
use crate::table::{self, Stored, table};

table! {
    /// A chat's work in one project.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Session in core_session as s key (id) fixed (project, name, parent, created) {
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
        /// The item up to which it was told everything. What it has seen of a record is another matter:
        /// that is in its [`Lease`].
        pub synced: Seq,
        /// The project's changes that it knows, its own since its last sync not counted, or [`UNKNOWN`].
        pub sync_changes: i64,
        pub own_changes: i64,
        /// Ticks of the project since it last synced that were its own.
        pub own_ticks: i64,
        pub created: Time,
    }
}

impl Session {
    /// Writes of others that it has missed, where its project's clock stands at `tick`.
    pub fn gap(&self, tick: i64) -> i64 {
        tick - self.sync_tick - self.own_ticks
    }
}

/// How many changes a session knows must be counted.
pub const UNKNOWN: i64 = -1;

const COLUMNS: &str = Session::COLUMNS;

pub fn get(tx: &mut ReadTx<'_>, ws: Ws, id: Id) -> Result<Option<Session>> {
    table::get(tx, args![ws, id])
}

/// The sessions of a name, one for each project that it worked in.
pub fn named(tx: &mut ReadTx<'_>, ws: Ws, name: &str) -> Result<Vec<Session>> {
    if name.contains('\0') {
        return Ok(Vec::new());
    }
    let sql = format!(
        "SELECT {COLUMNS} FROM core_session s WHERE s.ws = ?1 AND s.name = ?2 ORDER BY s.id"
    );
    table::all(tx, &sql, args![ws, name])
}

/// A project's sessions that are not closed, the last active first.
pub fn open(tx: &mut ReadTx<'_>, ws: Ws, project: Id, most: i64) -> Result<Vec<Session>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM core_session s WHERE s.ws = ?1 AND s.project = ?2 AND s.open = 1 \
         ORDER BY s.last_activity DESC, s.id DESC LIMIT ?3"
    );
    table::all(tx, &sql, args![ws, project, most])
}

pub fn put(tx: &mut Tx<'_>, ws: Ws, session: &Session) -> Result<()> {
    table::put_together(tx, ws, session)
}

table! {
    /// A session's hold on a record.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct Lease in core_lease as l key (session, target) {
        /// Who holds what.
        pub session: Id,
        pub target: Id,
        /// The item since which it holds it, and its last activation or own change.
        pub since: Seq,
        pub used: Seq,
        /// The version that the session last saw whole; 0 when it never did.
        pub seen: i64,
        /// The item up to which a sync told it of the record's changes; what it knows of the whole
        /// project may reach further.
        pub told: Seq,
        /// The session's own last change of it; 0 when there is none.
        pub wrote: Seq,
        /// Where it chose to go on in spite of others; 0 when it did not.
        pub overrode: Seq,
    }
}

const LEASE: &str = Lease::COLUMNS;

pub fn lease(tx: &mut ReadTx<'_>, ws: Ws, session: Id, target: Id) -> Result<Option<Lease>> {
    table::get(tx, args![ws, session, target])
}

/// The records directly below one that a session holds, each with the version that it saw.
pub fn held_below(tx: &mut ReadTx<'_>, ws: Ws, session: Id, parent: Id) -> Result<Vec<(Id, i64)>> {
    let rows = tx.rows(
        "SELECT l.target, l.seen FROM core_entity e CROSS JOIN core_lease l \
         WHERE e.ws = ?1 AND e.parent = ?3 AND l.ws = ?1 AND l.session = ?2 AND l.target = e.id \
         ORDER BY l.target",
        args![ws, session, parent],
    )?;
    rows.iter()
        .map(|row| Ok((row.int(0)?, row.int(1)?)))
        .collect()
}

/// A session takes hold of a record by an item, or uses it again; it has seen nothing of it yet.
pub fn hold(tx: &mut Tx<'_>, ws: Ws, session: Id, target: Id, item: Seq) -> Result<()> {
    tx.run(
        "INSERT INTO core_lease (ws, session, target, since, used, seen, told, wrote, overrode) \
         VALUES (?1, ?2, ?3, ?4, ?4, 0, 0, 0, 0) ON CONFLICT (ws, session, target) \
         DO UPDATE SET used = excluded.used",
        args![ws, session, target, item],
    )?;
    Ok(())
}

/// A session goes on with a record that it holds, in spite of others, by an item.
pub fn overrode(tx: &mut Tx<'_>, ws: Ws, session: Id, target: Id, item: Seq) -> Result<()> {
    tx.run(
        "UPDATE core_lease SET overrode = ?4 WHERE ws = ?1 AND session = ?2 AND target = ?3",
        args![ws, session, target, item],
    )?;
    Ok(())
}

/// A session has seen a version of a record that it holds.
pub fn saw(tx: &mut Tx<'_>, ws: Ws, session: Id, target: Id, version: i64) -> Result<()> {
    tx.run(
        "UPDATE core_lease SET seen = ?4 \
         WHERE ws = ?1 AND session = ?2 AND target = ?3 AND seen < ?4",
        args![ws, session, target, version],
    )?;
    Ok(())
}

/// A session was told of the changes of a record that it holds up to an item.
pub fn told(tx: &mut Tx<'_>, ws: Ws, session: Id, target: Id, upto: Seq) -> Result<()> {
    tx.run(
        "UPDATE core_lease SET told = ?4 WHERE ws = ?1 AND session = ?2 AND target = ?3",
        args![ws, session, target, upto],
    )?;
    Ok(())
}

/// A session made a record, by an item: it holds the record and has seen it.
pub fn made(tx: &mut Tx<'_>, ws: Ws, session: Id, target: Id, item: Seq) -> Result<()> {
    tx.run(
        "INSERT INTO core_lease (ws, session, target, since, used, seen, told, wrote, overrode) \
         VALUES (?1, ?2, ?3, ?4, ?4, 1, 0, ?4, 0)",
        args![ws, session, target, item],
    )?;
    Ok(())
}

/// A session made a version of a record, by an item: if it holds the record, it has seen it.
pub fn wrote(
    tx: &mut Tx<'_>,
    ws: Ws,
    session: Id,
    target: Id,
    (version, item): (i64, Seq),
) -> Result<()> {
    tx.run(
        "UPDATE core_lease SET used = ?5, seen = ?4, wrote = ?5 \
         WHERE ws = ?1 AND session = ?2 AND target = ?3",
        args![ws, session, target, version, item],
    )?;
    Ok(())
}

/// Whether a session was told of changes after an item, of records that it holds.
pub fn was_told_ahead(tx: &mut ReadTx<'_>, ws: Ws, session: Id, synced: Seq) -> Result<bool> {
    let row = tx.row(
        "SELECT 1 FROM core_lease WHERE ws = ?1 AND session = ?2 AND told > ?3 LIMIT 1",
        args![ws, session, synced],
    )?;
    Ok(row.is_some())
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
    tx: &mut ReadTx<'_>,
    ws: Ws,
    session: Id,
    wrote_after: Option<Seq>,
    most: i64,
) -> Result<Vec<String>> {
    let rows = tx.rows(
        "SELECT e.handle FROM core_lease l JOIN core_entity e ON e.ws = l.ws AND e.id = l.target \
         WHERE l.ws = ?1 AND l.session = ?2 AND l.wrote > ?3 ORDER BY l.target LIMIT ?4",
        args![ws, session, wrote_after.unwrap_or(Seq(-1)), most],
    )?;
    rows.into_iter().map(|mut row| row.text(0)).collect()
}

/// What the open sessions of a project hold, each with the session's name; the last active first.
pub fn holding(tx: &mut ReadTx<'_>, ws: Ws, project: Id, most: i64) -> Result<Vec<(Id, String)>> {
    let rows = tx.rows(
        "SELECT l.target, s.name FROM core_session s CROSS JOIN core_lease l \
         WHERE s.ws = ?1 AND s.project = ?2 AND s.open = 1 AND l.ws = ?1 AND l.session = s.id \
         ORDER BY s.last_activity DESC, s.id DESC, l.target LIMIT ?3",
        args![ws, project, most],
    )?;
    rows.into_iter()
        .map(|mut row| Ok((row.int(0)?, row.text(1)?)))
        .collect()
}

/// The open sessions that hold a thing, the last active first, each with its hold.
pub fn holders(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    target: Id,
    most: i64,
) -> Result<Vec<(Session, Lease)>> {
    let sql = format!(
        "SELECT {COLUMNS}, {LEASE} FROM core_lease l JOIN core_session s \
         ON s.ws = l.ws AND s.id = l.session WHERE l.ws = ?1 AND l.target = ?2 AND s.open = 1 \
         ORDER BY s.last_activity DESC, s.id DESC LIMIT ?3"
    );
    let rows = tx.rows(&sql, args![ws, target, most])?;
    let both = |mut row: Row| {
        let lease = Lease::read_at(&mut row, Session::WIDTH)?;
        Ok((Session::read(row)?, lease))
    };
    rows.into_iter().map(both).collect()
}

/// Open sessions of all projects that were active since a moment, the last active first.
pub fn active_since(tx: &mut ReadTx<'_>, ws: Ws, since: Time, most: i64) -> Result<Vec<Session>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM core_session s WHERE s.ws = ?1 AND s.open = 1 \
         AND s.last_activity >= ?2 ORDER BY s.last_activity DESC, s.id DESC LIMIT ?3"
    );
    table::all(tx, &sql, args![ws, since.0, most])
}

/// The sessions that an agent began, the last active first.
pub fn of_agent(tx: &mut ReadTx<'_>, ws: Ws, agent: &str, most: i64) -> Result<Vec<Session>> {
    if agent.contains('\0') {
        return Ok(Vec::new());
    }
    let sql = format!(
        "SELECT {COLUMNS} FROM core_session s WHERE s.ws = ?1 AND s.agent = ?2 \
         ORDER BY s.last_activity DESC, s.id DESC LIMIT ?3"
    );
    table::all(tx, &sql, args![ws, agent, most])
}
