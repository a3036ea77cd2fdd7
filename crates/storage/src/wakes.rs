//! Jobs of waking somebody: which are open, and which worker has taken one. A job is core; that a
//! worker has it is live, so a worker that dies loses it after a while.

use understory_model::error::Result;
use understory_model::{Id, Seq, Time, Ws};

use crate::entities::Entity;
use crate::sql::{ReadTx, Row, Tx, args};
use crate::table::{self, Stored, table};

table! {
    /// A job that a worker has taken or will take again.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Lease in live_wake key (id) {
        pub id: Id,
        /// The worker; empty while nobody has it.
        pub holder: String,
        pub until: Time,
        /// When it is to be tried next.
        pub due: Time,
        pub attempts: i64,
    }
}

table! {
    /// A step that was taken to wake an agent.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Woken in live_woken key (agent, at, id) {
        pub agent: String,
        pub at: Time,
        pub id: Id,
        /// Whether a channel took the prompt.
        pub delivered: bool,
    }
}

table! {
    /// A process that was started to wake an agent, and of whose end no worker has reported.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Begun in live_started key (agent, id) {
        pub agent: String,
        /// The job.
        pub id: Id,
        /// The lease of the worker that started it.
        pub lease: String,
        /// Where it runs, its number there, and when it began: numbers are used again.
        pub machine: String,
        pub process: i64,
        pub started: i64,
        /// When the worker noted it.
        pub at: Time,
    }
}

/// What is known of a job's attempts.
pub fn lease(tx: &mut ReadTx<'_>, ws: Ws, id: Id) -> Result<Option<Lease>> {
    table::get(tx, args![ws, id])
}

pub fn put(tx: &mut Tx<'_>, ws: Ws, one: &Lease) -> Result<()> {
    table::put(tx, ws, one)
}

/// A job is over: nobody takes it again.
pub fn remove(tx: &mut Tx<'_>, ws: Ws, id: Id) -> Result<()> {
    tx.run(
        "DELETE FROM live_wake WHERE ws = ?1 AND id = ?2",
        args![ws, id],
    )?;
    Ok(())
}

/// The open jobs of a workspace that are due and that no worker has, the oldest first. They are due by the
/// clock: one that is due after `latest`, later than any job is deferred, was deferred before the clock
/// was set back. Leases end at moments of the log.
pub fn due(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    now: Time,
    (clock, latest): (Time, Time),
    most: i64,
) -> Result<Vec<Entity>> {
    let sql = format!(
        "SELECT {} FROM core_wake w CROSS JOIN core_entity e LEFT JOIN live_wake l \
         ON l.ws = w.ws AND l.id = w.id WHERE w.ws = ?1 AND w.open = 1 AND e.ws = ?1 \
         AND e.id = w.id AND (l.id IS NULL OR ((l.due <= ?3 OR l.due > ?4) \
         AND (l.holder = '' OR l.until < ?2))) ORDER BY w.id LIMIT ?5",
        Entity::COLUMNS
    );
    table::all(tx, &sql, args![ws, now.0, clock.0, latest.0, most])
}

/// The open jobs of waking an agent that a worker has, and which may not be taken by another.
pub fn held(tx: &mut ReadTx<'_>, ws: Ws, target: &str, now: Time) -> Result<Vec<Entity>> {
    let sql = format!(
        "SELECT {} FROM core_wake w CROSS JOIN live_wake l CROSS JOIN core_entity e \
         WHERE w.ws = ?1 AND w.target = ?2 AND w.open = 1 AND l.ws = ?1 AND l.id = w.id \
         AND l.holder <> '' AND l.until >= ?3 AND e.ws = ?1 AND e.id = w.id ORDER BY w.id",
        Entity::COLUMNS
    );
    table::all(tx, &sql, args![ws, target, now.0])
}

/// Notes that a process was started for a job.
pub fn begin(tx: &mut Tx<'_>, ws: Ws, one: &Begun) -> Result<()> {
    table::put(tx, ws, one)
}

/// The process that was started for a job, if no worker has reported of its end.
pub fn begun(tx: &mut ReadTx<'_>, ws: Ws, agent: &str, id: Id) -> Result<Option<Begun>> {
    table::get(tx, args![ws, agent, id])
}

/// The processes that were started to wake an agent, and of whose end no worker has reported.
pub fn all_begun(tx: &mut ReadTx<'_>, ws: Ws, agent: &str) -> Result<Vec<Begun>> {
    let sql = format!(
        "SELECT {} FROM live_started WHERE ws = ?1 AND agent = ?2 ORDER BY id",
        Begun::COLUMNS
    );
    table::all(tx, &sql, args![ws, agent])
}

/// The process that a worker started under a lease has ended.
pub fn ended(tx: &mut Tx<'_>, ws: Ws, agent: &str, id: Id, lease: &str) -> Result<()> {
    tx.run(
        "DELETE FROM live_started WHERE ws = ?1 AND agent = ?2 AND id = ?3 AND lease = ?4",
        args![ws, agent, id, lease],
    )?;
    Ok(())
}

/// The last jobs of waking an agent for a thread, newest first.
pub fn of(tx: &mut ReadTx<'_>, ws: Ws, thread: Id, target: &str, most: i64) -> Result<Vec<Entity>> {
    let sql = format!(
        "SELECT {} FROM core_wake w CROSS JOIN core_entity e WHERE w.ws = ?1 AND w.target = ?2 \
         AND w.thread = ?3 AND e.ws = ?1 AND e.id = w.id ORDER BY w.id DESC LIMIT ?4",
        Entity::COLUMNS
    );
    table::all(tx, &sql, args![ws, target, thread, most])
}

/// The open jobs of waking an agent.
pub fn open_for(tx: &mut ReadTx<'_>, ws: Ws, target: &str, most: i64) -> Result<Vec<Entity>> {
    let sql = format!(
        "SELECT {} FROM core_wake w CROSS JOIN core_entity e WHERE w.ws = ?1 AND w.target = ?2 \
         AND w.open = 1 AND e.ws = ?1 AND e.id = w.id ORDER BY w.id LIMIT ?3",
        Entity::COLUMNS
    );
    table::all(tx, &sql, args![ws, target, most])
}

/// Jobs made before another, newest first; only the open ones, if so asked.
pub fn list(tx: &mut ReadTx<'_>, ws: Ws, open: bool, before: Id, most: i64) -> Result<Vec<Entity>> {
    let sql = format!(
        "SELECT {} FROM core_wake w CROSS JOIN core_entity e WHERE w.ws = ?1 AND w.id < ?2 \
         AND (?3 = 0 OR w.open = 1) AND e.ws = ?1 AND e.id = w.id ORDER BY w.id DESC LIMIT ?4",
        Entity::COLUMNS
    );
    table::all(tx, &sql, args![ws, before, i64::from(open), most])
}

/// Notes that a step was taken to wake an agent, and forgets those before a moment.
pub fn woke(tx: &mut Tx<'_>, ws: Ws, one: &Woken, before: Time) -> Result<()> {
    tx.run(
        "DELETE FROM live_woken WHERE ws = ?1 AND agent = ?2 AND at < ?3",
        args![ws, &one.agent, before.0],
    )?;
    table::put(tx, ws, one)
}

/// How many steps were taken to wake an agent since a moment.
pub fn woken_since(tx: &mut ReadTx<'_>, ws: Ws, agent: &str, since: Time) -> Result<i64> {
    let row = tx.row(
        "SELECT COUNT(*) FROM live_woken WHERE ws = ?1 AND agent = ?2 AND at >= ?3",
        args![ws, agent, since.0],
    )?;
    row.map_or(Ok(0), |row| row.int(0))
}

/// An item of the end of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recent {
    pub seq: Seq,
    pub at: Time,
    pub actor: String,
    pub kind: String,
    /// The kind of the entity that it is about.
    pub about: Option<String>,
    /// The content of a message in the thread.
    pub said: Option<String>,
}

/// The items after a place in the log, the last one first, with what was said in a thread.
pub fn recent(tx: &mut ReadTx<'_>, ws: Ws, thread: Id, after: Seq) -> Result<Vec<Recent>> {
    let rows = tx.rows(
        "SELECT i.seq, i.realized_at, i.actor, i.type, e.kind, \
         CASE WHEN i.type = 'Message' AND i.entity = ?2 THEN COALESCE(i.content, '') END \
         FROM soil_item i LEFT JOIN core_entity e ON e.ws = i.ws AND e.id = i.entity \
         WHERE i.ws = ?1 AND i.seq > ?3 ORDER BY i.seq DESC",
        args![ws, thread, after],
    )?;
    let recent = rows.into_iter().map(|mut row| {
        Ok(Recent {
            seq: row.int(0)?,
            at: Time(row.int(1)?),
            actor: row.text(2)?,
            kind: row.text(3)?,
            about: row.opt_text(4)?,
            said: row.opt_text(5)?,
        })
    });
    recent.collect()
}

/// Wakes of an agent for a thread since a place in the log; of the given job only its deliveries
/// count.
pub fn rounds(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    (thread, target): (Id, &str),
    but: Id,
    (since, at): (Seq, Time),
) -> Result<i64> {
    let count = |row: Option<Row>| row.map_or(Ok(0), |row| row.int::<i64>(0));
    let jobs = tx.row(
        "SELECT COUNT(*) FROM core_wake WHERE ws = ?1 AND target = ?2 AND thread = ?3 \
         AND id > ?4 AND id <> ?5",
        args![ws, target, thread, since, but],
    )?;
    let again = tx.row(
        "SELECT COUNT(*) - COUNT(DISTINCT CASE WHEN l.id <> ?5 THEN l.id END) FROM live_woken l \
         CROSS JOIN core_wake w WHERE l.ws = ?1 AND l.agent = ?2 AND l.at > ?4 \
         AND l.delivered = 1 AND w.ws = ?1 AND w.id = l.id AND w.thread = ?3",
        args![ws, target, thread, at.0, but],
    )?;
    Ok(count(jobs)? + count(again)?)
}
