//! Conflicts of merges, by where they are merged into.

use understory_model::error::Result;
use understory_model::{Id, Seq, Ws};

use crate::entities::{self, Entity};
use crate::sql::{Tx, args};

/// What core keeps of a conflict beside its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    pub id: Id,
    pub origin: String,
    pub into: String,
    pub doc: String,
    pub key: String,
    /// The version that wants to go there.
    pub theirs: Seq,
    pub open: bool,
}

pub fn put(tx: &mut Tx<'_>, ws: Ws, conflict: &Conflict) -> Result<()> {
    tx.run(
        "INSERT INTO core_conflict (ws, id, from_branch, into_branch, doc, key, theirs, open) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) \
         ON CONFLICT (ws, id) DO UPDATE SET open = excluded.open",
        args![
            ws,
            conflict.id,
            &conflict.origin,
            &conflict.into,
            &conflict.doc,
            &conflict.key,
            conflict.theirs,
            conflict.open
        ],
    )?;
    Ok(())
}

/// The conflicts about a key between two branches, oldest first: their ids and what they were about.
pub fn about(
    tx: &mut Tx<'_>,
    ws: Ws,
    (from, into): (&str, &str),
    doc: &str,
    key: &str,
) -> Result<Vec<(Id, Seq, bool)>> {
    let rows = tx.rows(
        "SELECT id, theirs, open FROM core_conflict WHERE ws = ?1 AND from_branch = ?2 \
         AND into_branch = ?3 AND doc = ?4 AND key = ?5 ORDER BY id",
        args![ws, from, into, doc, key],
    )?;
    rows.iter()
        .map(|row| Ok((row.int(0)?, row.int(1)?, row.flag(2)?)))
        .collect()
}

/// The conflicts of a destination, newest first, before an id.
pub fn list(
    tx: &mut Tx<'_>,
    ws: Ws,
    (into, doc): (&str, &str),
    open: Option<bool>,
    before: Id,
    most: i64,
) -> Result<Vec<Entity>> {
    let wanted: i64 = open.map_or(-1, i64::from);
    let sql = format!(
        "SELECT {} FROM core_conflict c JOIN core_entity e ON e.ws = c.ws AND e.id = c.id \
         WHERE c.ws = ?1 AND c.into_branch = ?2 AND c.doc = ?3 AND c.id < ?4 \
         AND (?5 < 0 OR c.open = ?5) ORDER BY c.id DESC LIMIT ?6",
        entities::columns()
    );
    let rows = tx.rows(&sql, args![ws, into, doc, before, wanted, most])?;
    rows.into_iter()
        .map(|mut row| entities::entity(&mut row))
        .collect()
}

/// The open conflict of a destination that has waited longest.
pub fn oldest_open(tx: &mut Tx<'_>, ws: Ws, (into, doc): (&str, &str)) -> Result<Option<Entity>> {
    let sql = format!(
        "SELECT {} FROM core_conflict c JOIN core_entity e ON e.ws = c.ws AND e.id = c.id \
         WHERE c.ws = ?1 AND c.into_branch = ?2 AND c.doc = ?3 AND c.open = 1 \
         ORDER BY c.id LIMIT 1",
        entities::columns()
    );
    let row = tx.row(&sql, args![ws, into, doc])?;
    row.map(|mut row| entities::entity(&mut row)).transpose()
}

/// How many conflicts of a destination's documents are open, counted no further than `most`.
pub fn open_count(tx: &mut Tx<'_>, ws: Ws, into: &str, most: i64) -> Result<i64> {
    let row = tx.row(
        "SELECT COUNT(*) FROM (SELECT 1 FROM core_conflict WHERE ws = ?1 AND into_branch = ?2 \
         AND open = 1 LIMIT ?3) AS few",
        args![ws, into, most],
    )?;
    row.map_or(Ok(0), |row| row.int(0))
}
