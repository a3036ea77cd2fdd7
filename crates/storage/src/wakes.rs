//! Jobs of waking somebody: which are open, and which worker has taken one. A job is core; that a
//! worker has it is live, so a worker that dies loses it after a while.

use understory_model::error::Result;
use understory_model::{Id, Time, Ws};

use crate::entities::Entity;
use crate::sql::{Tx, args};
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

/// What is known of a job's attempts.
pub fn lease(tx: &mut Tx<'_>, ws: Ws, id: Id) -> Result<Option<Lease>> {
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

/// The open jobs of a workspace that are due and that no worker has, the oldest first.
pub fn due(tx: &mut Tx<'_>, ws: Ws, now: Time, most: i64) -> Result<Vec<Entity>> {
    let sql = format!(
        "SELECT {} FROM core_wake w CROSS JOIN core_entity e LEFT JOIN live_wake l \
         ON l.ws = w.ws AND l.id = w.id WHERE w.ws = ?1 AND w.open = 1 AND e.ws = ?1 \
         AND e.id = w.id AND (l.id IS NULL OR (l.due <= ?2 AND (l.holder = '' OR l.until < ?2))) \
         ORDER BY w.id LIMIT ?3",
        Entity::COLUMNS
    );
    table::all(tx, &sql, args![ws, now.0, most])
}

/// When the next of the open jobs is due that are not yet.
pub fn next_due(tx: &mut Tx<'_>, ws: Ws, now: Time) -> Result<Option<Time>> {
    let row = tx.row(
        "SELECT MIN(CASE WHEN l.holder = '' THEN l.due WHEN l.until < l.due THEN l.due \
         ELSE l.until END) FROM core_wake w CROSS JOIN live_wake l WHERE w.ws = ?1 AND w.open = 1 \
         AND l.ws = ?1 AND l.id = w.id AND (l.due > ?2 OR (l.holder <> '' AND l.until >= ?2))",
        args![ws, now.0],
    )?;
    match row {
        Some(row) => Ok(row.opt_int(0)?.map(Time)),
        None => Ok(None),
    }
}

/// The open jobs of waking an agent.
pub fn open_for(tx: &mut Tx<'_>, ws: Ws, target: &str, most: i64) -> Result<Vec<Entity>> {
    let sql = format!(
        "SELECT {} FROM core_wake w CROSS JOIN core_entity e WHERE w.ws = ?1 AND w.target = ?2 \
         AND w.open = 1 AND e.ws = ?1 AND e.id = w.id ORDER BY w.id LIMIT ?3",
        Entity::COLUMNS
    );
    table::all(tx, &sql, args![ws, target, most])
}

/// Jobs made before another, newest first; only the open ones, if so asked.
pub fn list(tx: &mut Tx<'_>, ws: Ws, open: bool, before: Id, most: i64) -> Result<Vec<Entity>> {
    let sql = format!(
        "SELECT {} FROM core_wake w CROSS JOIN core_entity e WHERE w.ws = ?1 AND w.id < ?2 \
         AND (?3 = 0 OR w.open = 1) AND e.ws = ?1 AND e.id = w.id ORDER BY w.id DESC LIMIT ?4",
        Entity::COLUMNS
    );
    table::all(tx, &sql, args![ws, before, i64::from(open), most])
}

/// The jobs of waking an agent that were made since a moment, newest first.
pub fn made_since(tx: &mut Tx<'_>, ws: Ws, target: &str, since: Time) -> Result<i64> {
    let row = tx.row(
        "SELECT COUNT(*) FROM core_wake w CROSS JOIN core_entity e WHERE w.ws = ?1 \
         AND w.target = ?2 AND e.ws = ?1 AND e.id = w.id AND e.created_at >= ?3",
        args![ws, target, since.0],
    )?;
    row.map_or(Ok(0), |row| row.int(0))
}

/// How many jobs a thread had since any of those whom they woke did something else than write messages,
/// read and be woken, or somebody else wrote in the thread.
pub fn rounds(tx: &mut Tx<'_>, ws: Ws, thread: Id) -> Result<i64> {
    /// Items that are looked at.
    const RECENT: i64 = 500;
    let row = tx.row(
        "SELECT MAX(i.seq) FROM (SELECT seq, actor, type, entity FROM soil_item \
         WHERE ws = ?1 ORDER BY seq DESC LIMIT ?3) i WHERE \
         (i.actor IN (SELECT target FROM core_wake WHERE ws = ?1 AND thread = ?2) \
          AND i.type NOT IN ('Message', 'ReadAck') \
          AND NOT EXISTS (SELECT 1 FROM core_entity e WHERE e.ws = ?1 AND e.id = i.entity \
           AND e.kind IN ('wake', 'session'))) \
         OR (i.type = 'Message' AND i.entity = ?2 \
          AND i.actor NOT IN (SELECT target FROM core_wake WHERE ws = ?1 AND thread = ?2))",
        args![ws, thread, RECENT],
    )?;
    let since = match row {
        Some(row) => row.opt_int(0)?.unwrap_or(0),
        None => 0,
    };
    let row = tx.row(
        "SELECT COUNT(*) FROM core_wake WHERE ws = ?1 AND thread = ?2 AND id > ?3",
        args![ws, thread, since],
    )?;
    row.map_or(Ok(0), |row| row.int(0))
}
