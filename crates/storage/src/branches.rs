//! Branches: each a parent and a cutoff. Nothing is copied when one is made.

use understory_model::error::Result;
use understory_model::{Id, Seq, Ws};

use crate::sql::{ReadTx, Tx, args};
use crate::table::{self, Stored, table};

table! {
    /// A branch that was made; the first one, and those of graph nodes, need no row.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Branch in core_branch key (name) {
        pub name: String,
        pub id: Id,
        pub base: String,
        pub base_seq: Seq,
        /// Where its line begins: the ancestor that was not made from another.
        pub root: String,
    }
}

pub fn add(tx: &mut Tx<'_>, ws: Ws, branch: &Branch) -> Result<()> {
    table::add(tx, ws, branch)
}

pub fn get(tx: &mut ReadTx<'_>, ws: Ws, name: &str) -> Result<Option<Branch>> {
    table::get(tx, args![ws, name])
}

/// Branches by name, after one.
pub fn list(tx: &mut ReadTx<'_>, ws: Ws, after: &str, most: i64) -> Result<Vec<Branch>> {
    let columns = Branch::COLUMNS;
    let sql = format!(
        "SELECT {columns} FROM core_branch WHERE ws = ?1 AND name > ?2 ORDER BY name LIMIT ?3"
    );
    table::all(tx, &sql, args![ws, after, most])
}

/// How many branches were made, and how many plans and tasks there are that have one of their own.
pub fn counts(tx: &mut ReadTx<'_>, ws: Ws) -> Result<(i64, i64)> {
    let mut one = |sql: &str| {
        let row = tx.row(sql, args![ws])?;
        row.map_or(Ok(0), |row| row.int(0))
    };
    Ok((
        one("SELECT COUNT(*) FROM core_branch WHERE ws = ?1")?,
        one("SELECT CAST(COALESCE(SUM(total), 0) AS BIGINT) FROM core_project WHERE ws = ?1")?,
    ))
}

/// A document of a branch, by what it is made of.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Document {
    pub doc: String,
    pub entries: i64,
    pub graph: bool,
}

/// The documents that a branch itself has something in, up to a place in the log.
pub fn documents(tx: &mut ReadTx<'_>, ws: Ws, name: &str, upto: Seq) -> Result<Vec<Document>> {
    let mut found = Vec::new();
    let rows = tx.rows(
        "SELECT doc, COUNT(*) FROM core_entry WHERE ws = ?1 AND branch = ?2 AND seq <= ?3 \
         GROUP BY doc",
        args![ws, name, upto],
    )?;
    for mut row in rows {
        found.push(Document {
            doc: row.text(0)?,
            entries: row.int(1)?,
            graph: false,
        });
    }
    let rows = tx.rows(
        "SELECT DISTINCT doc FROM core_tip WHERE ws = ?1 AND branch = ?2 AND first <= ?3",
        args![ws, name, upto],
    )?;
    for mut row in rows {
        found.push(Document {
            doc: row.text(0)?,
            entries: 0,
            graph: true,
        });
    }
    Ok(found)
}

/// Whether a branch itself has something in a document.
pub fn has(tx: &mut ReadTx<'_>, ws: Ws, name: &str, doc: &str) -> Result<bool> {
    let row = tx.row(
        "SELECT 1 WHERE EXISTS (SELECT 1 FROM core_entry WHERE ws = ?1 AND branch = ?2 \
         AND doc = ?3) OR EXISTS (SELECT 1 FROM core_tip WHERE ws = ?1 AND branch = ?2 \
         AND doc = ?3)",
        args![ws, name, doc],
    )?;
    Ok(row.is_some())
}

/// The last place in the log at which a branch was made from this one.
pub fn last_cutoff(tx: &mut ReadTx<'_>, ws: Ws, name: &str) -> Result<Option<Seq>> {
    let row = tx.row(
        "SELECT MAX(base_seq) FROM core_branch WHERE ws = ?1 AND base = ?2",
        args![ws, name],
    )?;
    row.map_or(Ok(None), |row| row.opt_int(0))
}

/// A branch and what it descends from, nearest first and at most this many: each with the branch it
/// comes from and the cutoff that it took along, where it was made at all.
pub fn lineage(tx: &mut ReadTx<'_>, ws: Ws, name: &str, most: i64) -> Result<Vec<Branch>> {
    let columns = Branch::COLUMNS;
    let of_base = columns.split(", ").map(|column| format!("b.{column}"));
    let of_base = of_base.collect::<Vec<_>>().join(", ");
    let sql = format!(
        "WITH RECURSIVE up ({columns}, depth) AS (\
         SELECT {columns}, 1 FROM core_branch WHERE ws = ?1 AND name = ?2 \
         UNION ALL SELECT {of_base}, up.depth + 1 \
         FROM up JOIN core_branch b ON b.ws = ?1 AND b.name = up.base \
         WHERE up.depth < CAST(?3 AS BIGINT)) SELECT {columns} FROM up ORDER BY depth"
    );
    table::all(tx, &sql, args![ws, name, most])
}

/// What a document is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Made {
    OfEntries,
    OfVertices,
}

/// The branches that one descends from and that have something of a document in what it sees of
/// them, nearest first, each with the last place that is seen; `besides` is among them in any case.
pub fn inherited(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    (name, doc): (&str, &str),
    made: Made,
    besides: &str,
) -> Result<Vec<(String, Seq)>> {
    let some = |table: &str, more: &str| {
        format!(
            "EXISTS (SELECT 1 FROM {table} t WHERE t.ws = ?1 AND t.branch = up.base \
             AND t.doc = ?3 {more} AND t.seq <= up.cutoff)"
        )
    };
    // At a cutoff there is something exactly where one of the lists of versions has something.
    let lists = "AND t.kind IN ('node', 'edge') AND t.deleted IN (0, 1)";
    let there = match made {
        Made::OfEntries => some("core_entry", ""),
        Made::OfVertices => {
            let (tips, kept) = (some("core_tip", lists), some("core_kept", lists));
            format!("{tips} OR {kept}")
        }
    };
    let sql = format!(
        "WITH RECURSIVE up (base, cutoff, depth) AS (\
         SELECT base, base_seq, 1 FROM core_branch WHERE ws = ?1 AND name = ?2 \
         UNION ALL SELECT b.base, \
         CASE WHEN b.base_seq < up.cutoff THEN b.base_seq ELSE up.cutoff END, up.depth + 1 \
         FROM up JOIN core_branch b ON b.ws = ?1 AND b.name = up.base) \
         SELECT up.base, up.cutoff FROM up WHERE up.base = ?4 OR {there} \
         ORDER BY up.depth"
    );
    let rows = tx.rows(&sql, args![ws, name, doc, besides])?;
    rows.into_iter()
        .map(|mut row| Ok((row.text(0)?, row.int(1)?)))
        .collect()
}
