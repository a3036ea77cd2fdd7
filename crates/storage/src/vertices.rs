//! Versions of nodes and edges in graph documents. A version is never changed: a newer one of the
//! same key hides it.

use understory_model::error::Result;
use understory_model::{Seq, Ws};

use crate::sql::{Arg, Row, Tx, args};

/// One version of a node or an edge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vertex {
    pub branch: String,
    pub doc: String,
    /// What tells it from others: of a node its id, of an edge its ends and relation.
    pub key: String,
    pub seq: Seq,
    /// `node` or `edge`.
    pub kind: String,
    /// Of an edge, where it leads.
    pub target: Option<String>,
    pub deleted: bool,
    /// The merge that wrote it.
    pub source: Option<String>,
    /// JSON.
    pub data: String,
}

const COLUMNS: &str = "v.branch, v.doc, v.key, v.seq, v.kind, v.target, v.deleted, v.source, \
                       v.data";

fn vertex(mut row: Row) -> Result<Vertex> {
    Ok(Vertex {
        branch: row.text(0)?,
        doc: row.text(1)?,
        key: row.text(2)?,
        seq: row.int(3)?,
        kind: row.text(4)?,
        target: row.opt_text(5)?,
        deleted: row.flag(6)?,
        source: row.opt_text(7)?,
        data: row.text(8)?,
    })
}

pub fn add(tx: &mut Tx<'_>, ws: Ws, all: &[Vertex]) -> Result<()> {
    let values: Vec<Arg> = all
        .iter()
        .flat_map(|one| {
            [
                Arg::Int(ws),
                Arg::Text(&one.branch),
                Arg::Text(&one.doc),
                Arg::Text(&one.key),
                Arg::Int(one.seq),
                Arg::Text(&one.kind),
                Arg::from(one.target.as_ref()),
                Arg::from(one.deleted),
                Arg::from(one.source.as_ref()),
                Arg::Text(&one.data),
            ]
        })
        .collect();
    tx.insert(
        "INSERT INTO core_vertex (ws, branch, doc, key, seq, kind, target, deleted, source, data)",
        10,
        &values,
    )
}

/// A branch's own versions in a document, newest first: up to `upto`, before `before`. Only the
/// newest of each key that far.
pub fn newest(
    tx: &mut Tx<'_>,
    ws: Ws,
    (branch, doc): (&str, &str),
    kind: Option<&str>,
    (upto, before): (Seq, Seq),
    most: i64,
) -> Result<Vec<Vertex>> {
    let which = match kind {
        Some(_) => "AND v.kind = ?6",
        None => "AND ?6 = ''",
    };
    let sql = format!(
        "SELECT {COLUMNS} FROM core_vertex v WHERE v.ws = ?1 AND v.branch = ?2 AND v.doc = ?3 \
         AND v.seq <= ?4 AND v.seq < ?5 {which} AND NOT EXISTS (SELECT 1 FROM core_vertex n \
         WHERE n.ws = ?1 AND n.branch = ?2 AND n.doc = ?3 AND n.key = v.key AND n.seq > v.seq \
         AND n.seq <= ?4) ORDER BY v.seq DESC LIMIT ?7"
    );
    let rows = tx.rows(
        &sql,
        args![
            ws,
            branch,
            doc,
            upto,
            before,
            kind.unwrap_or_default(),
            most
        ],
    )?;
    rows.into_iter().map(vertex).collect()
}

/// The newest of a branch's own versions of some keys, up to a cutoff.
pub fn latest(
    tx: &mut Tx<'_>,
    ws: Ws,
    (branch, doc): (&str, &str),
    upto: Seq,
    keys: &[&str],
) -> Result<Vec<Vertex>> {
    let mut found = Vec::new();
    for some in keys.chunks(200) {
        let places: Vec<String> = (0..some.len()).map(|n| format!("?{}", n + 5)).collect();
        let sql = format!(
            "SELECT {COLUMNS} FROM core_vertex v WHERE v.ws = ?1 AND v.branch = ?2 AND v.doc = ?3 \
             AND v.key IN ({}) AND v.seq <= ?4 AND NOT EXISTS (SELECT 1 FROM core_vertex n \
             WHERE n.ws = ?1 AND n.branch = ?2 AND n.doc = ?3 AND n.key = v.key \
             AND n.seq > v.seq AND n.seq <= ?4)",
            places.join(", ")
        );
        let mut args = vec![
            Arg::Int(ws),
            Arg::Text(branch),
            Arg::Text(doc),
            Arg::Int(upto),
        ];
        args.extend(some.iter().map(|key| Arg::Text(key)));
        for row in tx.rows(&sql, &args)? {
            found.push(vertex(row)?);
        }
    }
    Ok(found)
}

/// Keys of edges of a branch's own document that leave a node: those between `prefix`, which ends
/// with `|`, and whatever sorts after all that begin with it.
pub fn keys_from(
    tx: &mut Tx<'_>,
    ws: Ws,
    (branch, doc): (&str, &str),
    prefix: &str,
    upto: Seq,
    most: i64,
) -> Result<Vec<String>> {
    // The keys are compared byte by byte, and `}` is the byte after `|`.
    let end = format!("{}}}", prefix.trim_end_matches('|'));
    let rows = tx.rows(
        "SELECT DISTINCT v.key FROM core_vertex v WHERE v.ws = ?1 AND v.branch = ?2 AND v.doc = ?3 \
         AND v.key >= ?4 AND v.key < ?5 AND v.seq <= ?6 ORDER BY v.key LIMIT ?7",
        args![ws, branch, doc, prefix, &end, upto, most],
    )?;
    rows.into_iter().map(|mut row| row.text(0)).collect()
}

/// Keys of edges of a branch's own document that reach a node.
pub fn keys_to(
    tx: &mut Tx<'_>,
    ws: Ws,
    (branch, doc): (&str, &str),
    target: &str,
    upto: Seq,
) -> Result<Vec<String>> {
    let rows = tx.rows(
        "SELECT DISTINCT v.key FROM core_vertex v WHERE v.ws = ?1 AND v.branch = ?2 AND v.doc = ?3 \
         AND v.target = ?4 AND v.seq <= ?5",
        args![ws, branch, doc, target, upto],
    )?;
    rows.into_iter().map(|mut row| row.text(0)).collect()
}

/// The newest of a branch's own versions of a key whose source begins with `prefix`.
pub fn last_from(
    tx: &mut Tx<'_>,
    ws: Ws,
    (branch, doc): (&str, &str),
    key: &str,
    prefix: &str,
) -> Result<Option<Vertex>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM core_vertex v WHERE v.ws = ?1 AND v.branch = ?2 AND v.doc = ?3 \
         AND v.key = ?4 AND substr(v.source, 1, ?5) = ?6 ORDER BY v.seq DESC LIMIT 1"
    );
    let length = prefix.chars().count() as i64;
    let row = tx.row(&sql, args![ws, branch, doc, key, length, prefix])?;
    row.map(vertex).transpose()
}
