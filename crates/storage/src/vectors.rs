//! Where the texts of things point: one row a thing, read whole or from a place in the log on.
//!
//! Nothing here compares vectors; search keeps a copy in memory and follows the log.

use std::collections::{BTreeMap, HashSet};

use understory_model::error::{Code, Fault, Result};
use understory_model::{Id, Seq, Ws};

use crate::embeddings;
use crate::sql::{Arg, Cell, ReadTx, Row, Tx, args};
use crate::texts::TextChange;

/// What is known of one thing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vectors {
    pub id: Id,
    pub kind: String,
    /// Empty when its text is gone.
    pub bytes: Vec<u8>,
}

/// Writes what the changes say; of several about one thing the last.
pub(crate) fn put(tx: &mut Tx<'_>, changes: &[TextChange]) -> Result<()> {
    let mut seen = HashSet::new();
    let mut values: Vec<Arg> = Vec::with_capacity(changes.len() * 5);
    for change in changes.iter().rev() {
        if seen.insert((change.ws, change.id)) {
            values.extend([
                Arg::from(change.ws),
                Arg::from(change.id),
                Arg::from(change.seq),
                Arg::Text(change.kind),
                Arg::Bytes(&change.vectors),
            ]);
        }
    }
    for (ws, gone) in gone(changes) {
        embeddings::forget(tx, ws, &gone)?;
    }
    tx.upsert(
        "INSERT INTO core_vector (ws, id, seq, kind, vectors)",
        5,
        &values,
        " ON CONFLICT (ws, id) DO UPDATE SET seq = excluded.seq, kind = excluded.kind, \
         vectors = excluded.vectors",
    )
}

/// The things whose texts go, by workspace.
fn gone(changes: &[TextChange]) -> BTreeMap<Ws, Vec<Id>> {
    let mut gone: BTreeMap<Ws, Vec<Id>> = BTreeMap::new();
    for change in changes.iter().filter(|change| change.vectors.is_empty()) {
        gone.entry(change.ws).or_default().push(change.id);
    }
    gone
}

fn read(mut row: Row) -> Result<Vectors> {
    let (id, kind) = (row.int(0)?, row.text(1)?);
    match row.0.pop() {
        Some(Cell::Bytes(bytes)) => Ok(Vectors { id, kind, bytes }),
        _ => {
            Err(Fault::new(Code::StoreCorrupt, "a vector is damaged")
                .hint("Run `understory rebuild`."))
        }
    }
}

/// Hands over what a statement finds: ids, kinds and vectors.
pub(crate) fn visited(
    tx: &mut ReadTx<'_>,
    sql: &str,
    args: &[Arg],
    mut visit: impl FnMut(Vectors),
) -> Result<()> {
    let mut done = Ok(());
    tx.each(sql, args, |row| match (read(row), &done) {
        (Ok(vectors), Ok(())) => visit(vectors),
        (Err(fault), Ok(())) => done = Err(fault),
        _ => {}
    })?;
    done
}

/// Everything in a workspace that still has a text.
pub fn all(tx: &mut ReadTx<'_>, ws: Ws, visit: impl FnMut(Vectors)) -> Result<()> {
    let sql = "SELECT id, kind, vectors FROM core_vector WHERE ws = ?1 ORDER BY id";
    visited(tx, sql, args![ws], visit)
}

/// What changed after a place in the log, and what went.
pub fn since(tx: &mut ReadTx<'_>, ws: Ws, seq: Seq, visit: impl FnMut(Vectors)) -> Result<()> {
    let sql =
        "SELECT id, kind, vectors FROM core_vector WHERE ws = ?1 AND seq > ?2 ORDER BY seq, id";
    visited(tx, sql, args![ws, seq], visit)
}

/// The things whose texts changed after a place in the log.
pub fn changed(tx: &mut ReadTx<'_>, ws: Ws, seq: Seq) -> Result<Vec<Id>> {
    let rows = tx.rows(
        "SELECT id FROM core_vector WHERE ws = ?1 AND seq > ?2",
        args![ws, seq],
    )?;
    rows.iter().map(|row| row.int(0)).collect()
}
