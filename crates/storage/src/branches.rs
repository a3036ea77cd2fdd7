//! Branches: each a parent and a cutoff. Nothing is copied when one is made.

use understory_model::error::Result;
use understory_model::{Id, Seq, Ws};

use crate::sql::{Row, Tx, args};

/// A branch that was made; the first one, and those of graph nodes, need no row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Branch {
    pub name: String,
    pub id: Id,
    pub base: String,
    pub base_seq: Seq,
}

fn branch(mut row: Row) -> Result<Branch> {
    Ok(Branch {
        name: row.text(0)?,
        id: row.int(1)?,
        base: row.text(2)?,
        base_seq: row.int(3)?,
    })
}

pub fn add(tx: &mut Tx<'_>, ws: Ws, branch: &Branch) -> Result<()> {
    tx.run(
        "INSERT INTO core_branch (ws, name, id, base, base_seq) VALUES (?1, ?2, ?3, ?4, ?5)",
        args![ws, &branch.name, branch.id, &branch.base, branch.base_seq],
    )?;
    Ok(())
}

pub fn get(tx: &mut Tx<'_>, ws: Ws, name: &str) -> Result<Option<Branch>> {
    let row = tx.row(
        "SELECT name, id, base, base_seq FROM core_branch WHERE ws = ?1 AND name = ?2",
        args![ws, name],
    )?;
    row.map(branch).transpose()
}

/// Branches by name, after one.
pub fn list(tx: &mut Tx<'_>, ws: Ws, after: &str, most: i64) -> Result<Vec<Branch>> {
    let rows = tx.rows(
        "SELECT name, id, base, base_seq FROM core_branch WHERE ws = ?1 AND name > ?2 \
         ORDER BY name LIMIT ?3",
        args![ws, after, most],
    )?;
    rows.into_iter().map(branch).collect()
}

/// A branch and all that it descends from, nearest first: each with the branch it comes from and
/// the cutoff that it took along, where it was made at all.
pub fn lineage(tx: &mut Tx<'_>, ws: Ws, name: &str) -> Result<Vec<Branch>> {
    let rows = tx.rows(
        "WITH RECURSIVE up (name, id, base, base_seq, depth) AS (\
         SELECT name, id, base, base_seq, 1 FROM core_branch WHERE ws = ?1 AND name = ?2 \
         UNION ALL SELECT b.name, b.id, b.base, b.base_seq, up.depth + 1 \
         FROM up JOIN core_branch b ON b.ws = ?1 AND b.name = up.base) \
         SELECT name, id, base, base_seq FROM up ORDER BY depth",
        args![ws, name],
    )?;
    rows.into_iter().map(branch).collect()
}
