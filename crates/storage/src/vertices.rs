//! Versions of nodes and edges in graph documents. A version is never changed: a newer one of the
//! same key hides it.
//!
//! Beside the versions stand two lists of them, kept as they are written. The tips say what a
//! branch itself has last of each key. What a branch made from it still sees, but the branch has
//! left behind, is kept beside them. All else is seen by nobody, and no page steps over it.

use std::collections::{BTreeMap, HashMap};

use understory_model::branch::Source;
use understory_model::error::Result;
use understory_model::{Seq, Ws};

use crate::branches;
use crate::lists::{self, AT_ONCE};
use crate::sql::{Arg, ReadTx, Row, Tx, args};
use crate::table::{self, Stored, table};

pub const NODE: &str = "node";
pub const EDGE: &str = "edge";

/// Branches that one statement looks at for the newest version of a key.
const SOURCES: usize = 8;

table! {
    /// One version of a node or an edge.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Vertex in core_vertex as v key (branch, doc, key, seq) {
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
        /// The branch that it was merged from.
        pub giver: Option<String>,
        /// JSON.
        pub data: String,
    }
}

const COLUMNS: &str = Vertex::COLUMNS;

/// Adds versions, in the order of the log. No branch may have been made between them: the cutoffs
/// that are there all lie before the first.
pub fn add(tx: &mut Tx<'_>, ws: Ws, all: &[Vertex]) -> Result<()> {
    table::insert(tx, ws, all)?;
    let mut tips: BTreeMap<(&str, &str), BTreeMap<&str, Tip>> = BTreeMap::new();
    for one in all {
        let document = tips.entry((&one.branch, &one.doc)).or_default();
        let tip = document.entry(&one.key).or_insert(Tip {
            first: one.seq,
            last: one,
        });
        tip.last = one;
    }
    for (place, document) in &tips {
        let keys: Vec<&str> = document.keys().copied().collect();
        keep(tx, ws, *place, &keys)?;
    }
    let tips: Vec<Tip> = tips.into_values().flat_map(BTreeMap::into_values).collect();
    put_tips(tx, ws, &tips)
}

/// What a branch says about a key: since when, and now.
#[derive(Clone, Copy)]
struct Tip<'a> {
    first: Seq,
    last: &'a Vertex,
}

fn put_tips(tx: &mut Tx<'_>, ws: Ws, tips: &[Tip<'_>]) -> Result<()> {
    let values: Vec<Arg> = tips
        .iter()
        .flat_map(|tip| {
            [
                Arg::from(ws),
                Arg::Text(&tip.last.branch),
                Arg::Text(&tip.last.doc),
                Arg::Text(&tip.last.key),
                Arg::Text(&tip.last.kind),
                Arg::from(tip.last.target.as_ref()),
                Arg::from(tip.first),
                Arg::from(tip.last.seq),
                Arg::from(tip.last.deleted),
            ]
        })
        .collect();
    tx.upsert(
        "INSERT INTO core_tip (ws, branch, doc, key, kind, target, first, seq, deleted)",
        9,
        &values,
        " ON CONFLICT (ws, branch, doc, key) DO UPDATE SET seq = excluded.seq, \
         deleted = excluded.deleted",
    )
}

/// Keeps what is about to be hidden on a branch and is seen from one that was made of it.
fn keep(tx: &mut Tx<'_>, ws: Ws, (branch, doc): (&str, &str), keys: &[&str]) -> Result<()> {
    let Some(cutoff) = branches::last_cutoff(tx, ws, branch)? else {
        return Ok(());
    };
    for some in keys.chunks(AT_ONCE) {
        let mut args = vec![
            Arg::from(ws),
            Arg::Text(branch),
            Arg::Text(doc),
            Arg::from(cutoff),
        ];
        let keys = lists::texts(some, &mut args);
        let sql = format!(
            "INSERT INTO core_kept (ws, branch, doc, kind, deleted, seq, until, key) \
             SELECT t.ws, t.branch, t.doc, t.kind, t.deleted, t.seq, CAST(?4 AS BIGINT), t.key \
             FROM core_tip t WHERE t.ws = ?1 AND t.branch = ?2 AND t.doc = ?3 AND t.seq <= ?4 \
             AND t.key IN ({keys})"
        );
        tx.run(&sql, &args)?;
    }
    Ok(())
}

/// Which versions a page is made of.
#[derive(Debug, Clone, Copy)]
pub struct Wanted<'a> {
    /// `node`, `edge`, or both.
    pub kinds: &'a [&'static str],
    /// Whether versions that delete are among them.
    pub deleted: bool,
    pub after: Seq,
    pub before: Seq,
}

/// What a branch shows of one source, newest first: of each key the newest version up to the
/// cutoff, unless a nearer source has the key too.
pub fn newest(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    doc: &str,
    (source, nearer): (&Source, &[Source]),
    wanted: &Wanted<'_>,
    most: i64,
) -> Result<Vec<Vertex>> {
    let last = source.cutoff.min(wanted.before - 1);
    let mut args = vec![
        Arg::from(ws),
        Arg::Text(&source.branch),
        Arg::Text(doc),
        Arg::from(wanted.after),
        Arg::from(last),
        Arg::Int(most),
    ];
    let mut shown = String::new();
    if !nearer.is_empty() {
        let nearer = lists::sources(nearer, &mut args);
        shown = format!(
            "AND NOT EXISTS (SELECT 1 FROM {nearer} AS s CROSS JOIN core_tip h WHERE h.ws = ?1 \
             AND h.branch = s.column1 AND h.doc = ?3 AND h.key = t.key AND h.first <= s.column2)"
        );
    }
    let mut tables = vec![("core_tip", String::new())];
    if source.cutoff < Seq::MAX {
        args.push(Arg::from(source.cutoff));
        tables.push(("core_kept", format!("AND t.until >= ?{}", args.len())));
    }
    // One list for each kind of row, each in the order of its index: they meet in a page.
    let mut parts = Vec::new();
    for (table, seen) in &tables {
        for kind in wanted.kinds {
            for deleted in 0..=i64::from(wanted.deleted) {
                let number = parts.len();
                parts.push(format!(
                    "SELECT key, seq FROM (SELECT t.key, t.seq FROM {table} t WHERE t.ws = ?1 \
                     AND t.branch = ?2 AND t.doc = ?3 AND t.kind = '{kind}' \
                     AND t.deleted = {deleted} AND t.seq > ?4 AND t.seq <= ?5 {seen} {shown} \
                     ORDER BY t.seq DESC LIMIT ?6) AS p{number}"
                ));
            }
        }
    }
    let sql = format!(
        "SELECT {COLUMNS} FROM (SELECT key, seq FROM ({}) AS q ORDER BY seq DESC LIMIT ?6) AS p \
         CROSS JOIN core_vertex v WHERE v.ws = ?1 AND v.branch = ?2 AND v.doc = ?3 \
         AND v.key = p.key AND v.seq = p.seq ORDER BY p.seq DESC",
        parts.join(" UNION ALL ")
    );
    table::all(tx, &sql, &args)
}

/// Of each of these keys the newest version that some sources, nearest first, show.
pub fn latest(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    doc: &str,
    sources: &[Source],
    keys: &[&str],
) -> Result<HashMap<String, Vertex>> {
    let mut found: HashMap<String, Vertex> = HashMap::new();
    for some in keys.chunks(AT_ONCE) {
        for sources in sources.chunks(SOURCES) {
            let left = some.iter().filter(|key| !found.contains_key(**key));
            let left: Vec<&str> = left.copied().collect();
            if left.is_empty() {
                break;
            }
            let mut args = vec![Arg::from(ws), Arg::Text(doc)];
            let keys = lists::table(&left, &mut args);
            let sources = lists::sources(sources, &mut args);
            let sql = format!(
                "SELECT {COLUMNS} FROM {keys} AS k CROSS JOIN {sources} AS s \
                 CROSS JOIN core_vertex v WHERE v.ws = ?1 AND v.branch = s.column1 AND v.doc = ?2 \
                 AND v.key = k.column1 AND v.seq = (SELECT MAX(n.seq) FROM core_vertex n \
                 WHERE n.ws = ?1 AND n.branch = s.column1 AND n.doc = ?2 AND n.key = k.column1 \
                 AND n.seq <= s.column2)"
            );
            gather(tx.rows(&sql, &args)?, &mut found)?;
        }
    }
    Ok(found)
}

/// The versions of a key that a source shows, newest first.
pub fn versions(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    doc: &str,
    source: &Source,
    key: &str,
    most: i64,
) -> Result<Vec<Vertex>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM core_vertex v WHERE v.ws = ?1 AND v.branch = ?2 AND v.doc = ?3 \
         AND v.key = ?4 AND v.seq <= ?5 ORDER BY v.seq DESC LIMIT ?6"
    );
    let args = args![ws, &source.branch, doc, key, source.cutoff, most];
    table::all(tx, &sql, args)
}

/// Of several versions of a key the newest counts: what is inherited is older than what is not.
fn gather(rows: Vec<Row>, found: &mut HashMap<String, Vertex>) -> Result<()> {
    for row in rows {
        let vertex = Vertex::read(row)?;
        let known = found.get(&vertex.key);
        if known.is_none_or(|known| known.seq < vertex.seq) {
            found.insert(vertex.key.clone(), vertex);
        }
    }
    Ok(())
}

/// Of each of these keys what a branch was last given by another.
pub fn given(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    (branch, doc): (&str, &str),
    giver: &str,
    keys: &[&str],
) -> Result<HashMap<String, Vertex>> {
    let mut found = HashMap::new();
    for some in keys.chunks(AT_ONCE) {
        let mut args = vec![
            Arg::from(ws),
            Arg::Text(branch),
            Arg::Text(doc),
            Arg::Text(giver),
        ];
        let keys = lists::table(some, &mut args);
        let sql = format!(
            "SELECT {COLUMNS} FROM {keys} AS k CROSS JOIN core_vertex v WHERE v.ws = ?1 \
             AND v.branch = ?2 AND v.doc = ?3 AND v.key = k.column1 AND v.seq = \
             (SELECT MAX(n.seq) FROM core_vertex n WHERE n.ws = ?1 AND n.giver = ?4 \
             AND n.key = k.column1 AND n.branch = ?2 AND n.doc = ?3)"
        );
        gather(tx.rows(&sql, &args)?, &mut found)?;
    }
    Ok(found)
}

/// The keys of edges that some sources show between some nodes, deleted ones too.
///
/// Looks at every edge that leaves one of them, wherever it leads.
pub fn keys_between(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    doc: &str,
    sources: &[Source],
    ids: &[&str],
) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for some in ids.chunks(AT_ONCE) {
        for sources in sources.chunks(SOURCES) {
            let mut args = vec![Arg::from(ws), Arg::Text(doc)];
            let from = lists::table(some, &mut args);
            let sources = lists::sources(sources, &mut args);
            let to = lists::texts(ids, &mut args);
            // SQLite would go by where edges lead, once for each node, if it saw the bare column.
            let sql = format!(
                "SELECT DISTINCT t.key FROM {from} AS k CROSS JOIN {sources} AS s \
                 CROSS JOIN core_tip t WHERE t.ws = ?1 AND t.branch = s.column1 AND t.doc = ?2 \
                 AND t.key >= 'e|' || k.column1 || '|' AND t.key < 'e|' || k.column1 || '}}' \
                 AND t.first <= s.column2 AND COALESCE(t.target, '') IN ({to})"
            );
            found.extend(tx.rows(&sql, &args)?);
        }
    }
    texts(found)
}

/// The keys of edges that some sources show at a node, deleted ones too.
pub fn keys_at(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    doc: &str,
    sources: &[Source],
    id: &str,
) -> Result<Vec<String>> {
    // Keys are compared byte by byte, and `}` is the byte after `|`.
    let (low, high) = (format!("e|{id}|"), format!("e|{id}}}"));
    let mut found = Vec::new();
    for sources in sources.chunks(SOURCES) {
        let mut args = vec![Arg::from(ws), Arg::Text(doc)];
        let sources = lists::sources(sources, &mut args);
        let at = args.len();
        args.extend([Arg::Text(&low), Arg::Text(&high), Arg::Text(id)]);
        let edges = format!(
            "SELECT t.key FROM {sources} AS s CROSS JOIN core_tip t WHERE t.ws = ?1 \
             AND t.branch = s.column1 AND t.doc = ?2 AND t.first <= s.column2"
        );
        let sql = format!(
            "{edges} AND t.key >= ?{} AND t.key < ?{} UNION {edges} AND t.target = ?{}",
            at + 1,
            at + 2,
            at + 3
        );
        found.extend(tx.rows(&sql, &args)?);
    }
    texts(found)
}

fn texts(rows: Vec<Row>) -> Result<Vec<String>> {
    let mut found = rows
        .into_iter()
        .map(|mut row| row.text(0))
        .collect::<Result<Vec<String>>>()?;
    found.sort();
    found.dedup();
    Ok(found)
}
