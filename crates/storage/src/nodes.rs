//! Graph nodes as the rules need them: readiness and rank beside the entity, and what is next.

use std::sync::LazyLock;

use understory_model::error::Result;
use understory_model::{Id, Time, Ws};

use crate::sql::{Arg, ReadTx, Row, Tx, args};
use crate::table::{self, Codec, Stored, table};

/// Where a node stands, in the order in which lists by readiness show them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// It can be worked on now.
    Ready = 0,
    /// Open, but something below it or something that it depends on is open too.
    Waiting = 1,
    Resolved = 2,
}

impl Standing {
    fn of(stored: i64) -> Standing {
        match stored {
            0 => Standing::Ready,
            1 => Standing::Waiting,
            _ => Standing::Resolved,
        }
    }
}

table! {
    /// What readiness and rank are computed from, kept as it changes.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Node in core_node key (id) {
        pub id: Id,
        pub project: Id,
        pub path: String,
        pub depth: i64,
        pub resolved: bool,
        pub open_children: i64,
        pub open_deps: i64,
        pub standing: Standing as AsNumber,
        pub priority: f64 = "rank_priority" as Descending,
        pub updated: Time,
        /// Empty when nobody claimed it.
        pub claimed_by: String,
        /// The session of that agent; empty for a claim from before sessions were kept with it.
        pub claimed_session: String,
        /// When it was claimed, or when its holder last worked on it.
        pub claimed_at: Time,
        pub resolved_at: Time,
        pub resolved_by: String,
        /// The summary, folded for substring search.
        pub folded: String,
    }
    derived { rank_depth: |node| Arg::Int(-node.depth) }
}

/// Where a node stands, as its number.
struct AsNumber;

impl Codec<Standing> for AsNumber {
    fn read(row: &mut Row, at: usize) -> Result<Standing> {
        row.int(at).map(Standing::of)
    }

    fn write<'a>(standing: &'a Standing, args: &mut Vec<Arg<'a>>) {
        args.push(Arg::Int(*standing as i64));
    }
}

/// A number that is stored negated, so that the largest comes first in an index.
struct Descending;

impl Codec<f64> for Descending {
    fn read(row: &mut Row, at: usize) -> Result<f64> {
        row.real(at).map(|stored| -stored)
    }

    fn write<'a>(priority: &'a f64, args: &mut Vec<Arg<'a>>) {
        args.push(Arg::Real(rank(*priority)));
    }
}

const COLUMNS: &str = Node::COLUMNS;

/// The largest text that is a path below `path`, exclusive.
pub(crate) fn below(path: &str) -> String {
    format!("{path}~")
}

/// Negated, but never a negative zero: the two databases would print and compare it differently.
fn rank(priority: f64) -> f64 {
    if priority == 0.0 { 0.0 } else { -priority }
}

pub fn get(tx: &mut ReadTx<'_>, ws: Ws, id: Id) -> Result<Option<Node>> {
    table::get(tx, args![ws, id])
}

pub fn insert(tx: &mut Tx<'_>, ws: Ws, nodes: &[&Node]) -> Result<()> {
    table::insert(tx, ws, nodes.iter().copied())
}

pub fn update(tx: &mut Tx<'_>, ws: Ws, node: &Node) -> Result<()> {
    if tx.dialect().rewrites_indexes() && only_counts(tx, ws, node)? {
        return Ok(());
    }
    table::update(tx, ws, node)
}

/// Changes the counts of a node of which nothing else changes, if that is so: most nodes are
/// changed because something was put below them.
fn only_counts(tx: &mut Tx<'_>, ws: Ws, node: &Node) -> Result<bool> {
    static SQL: LazyLock<String> = LazyLock::new(|| {
        Node::statements().update_only(Node::TABLE, &["open_children", "open_deps"])
    });
    Ok(tx.run(&SQL, &table::values(ws, node))? > 0)
}

pub fn delete(tx: &mut Tx<'_>, ws: Ws, id: Id) -> Result<()> {
    tx.run_together(
        "DELETE FROM core_node WHERE ws = ?1 AND id = ?2",
        args![ws, id],
    )
}

/// Gives everything below a node its new place, `deeper` levels further down.
pub fn move_below(tx: &mut Tx<'_>, ws: Ws, from: &str, to: &str, deeper: i64) -> Result<()> {
    let (start, end) = (from.len() as i64 + 1, below(from));
    tx.run(
        "UPDATE core_node SET path = ?4 || substr(path, CAST(?5 AS INTEGER)), \
         depth = depth + ?6, rank_depth = rank_depth - ?6 \
         WHERE ws = ?1 AND path > ?2 AND path < ?3",
        args![ws, from, &end, to, start, deeper],
    )?;
    Ok(())
}

/// The deepest level below a path.
pub fn deepest(tx: &mut ReadTx<'_>, ws: Ws, path: &str) -> Result<Option<i64>> {
    let row = tx.row(
        "SELECT MAX(depth) FROM core_node WHERE ws = ?1 AND path > ?2 AND path < ?3",
        args![ws, path, &below(path)],
    )?;
    row.map_or(Ok(None), |row| row.opt_int(0))
}

/// Everything open below a path, parents before children.
pub fn open_below(tx: &mut ReadTx<'_>, ws: Ws, path: &str) -> Result<Vec<Id>> {
    let rows = tx.rows(
        "SELECT id FROM core_node WHERE ws = ?1 AND path > ?2 AND path < ?3 AND resolved = 0 \
         ORDER BY path",
        args![ws, path, &below(path)],
    )?;
    rows.iter().map(|row| row.int(0)).collect()
}

/// Open nodes that somebody holds, newest claim first.
pub fn in_progress(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    project: Id,
    since: Time,
    most: i64,
) -> Result<Vec<Node>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM core_node WHERE ws = ?1 AND project = ?2 AND claimed_at > 0 \
         AND resolved = 0 AND claimed_at > ?3 ORDER BY claimed_at DESC, id LIMIT ?4"
    );
    table::all(tx, &sql, args![ws, project, since.0, most])
}

/// What was resolved last.
pub fn done_last(tx: &mut ReadTx<'_>, ws: Ws, project: Id, most: i64) -> Result<Vec<Node>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM core_node WHERE ws = ?1 AND project = ?2 AND resolved = 1 \
         ORDER BY resolved_at DESC, id DESC LIMIT ?3"
    );
    table::all(tx, &sql, args![ws, project, most])
}

/// A node and everything below it, each before what is below it, down to a depth.
pub fn tree(tx: &mut ReadTx<'_>, ws: Ws, top: &Node, deepest: i64, most: i64) -> Result<Vec<Node>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM core_node WHERE ws = ?1 AND path >= ?2 AND path < ?3 \
         AND depth <= ?4 ORDER BY path LIMIT ?5"
    );
    let end = below(&top.path);
    table::all(tx, &sql, args![ws, &top.path, &end, deepest, most])
}

/// What the open nodes below a path wait for that is open itself and lies elsewhere.
pub fn awaited_elsewhere(tx: &mut ReadTx<'_>, ws: Ws, path: &str, most: i64) -> Result<Vec<Id>> {
    let rows = tx.rows(
        "SELECT DISTINCT t.id FROM core_node n JOIN core_link l ON l.ws = n.ws \
         AND l.source = n.id AND l.relation = 'depends_on' \
         JOIN core_node t ON t.ws = l.ws AND t.id = l.target \
         WHERE n.ws = ?1 AND n.path > ?2 AND n.path < ?3 AND n.resolved = 0 AND n.open_deps > 0 \
         AND t.resolved = 0 AND (t.path <= ?2 OR t.path >= ?3) ORDER BY t.id LIMIT ?4",
        args![ws, path, &below(path), most],
    )?;
    rows.iter().map(|row| row.int(0)).collect()
}

/// Some open node of a project that waits.
pub fn some_waiting(tx: &mut ReadTx<'_>, ws: Ws, project: Id) -> Result<Option<Id>> {
    let row = tx.row(
        "SELECT id FROM core_node WHERE ws = ?1 AND project = ?2 AND standing = 1 \
         ORDER BY rank_priority, rank_depth, updated, id LIMIT 1",
        args![ws, project],
    )?;
    row.map(|row| row.int(0)).transpose()
}

/// The handles of the unresolved nodes that a session of an agent claimed since a moment, the last
/// claimed first; a claim from before sessions were kept is any session's.
pub fn claimed_by(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    (agent, session): (&str, &str),
    since: Time,
    most: i64,
) -> Result<Vec<String>> {
    let rows = tx.rows(
        "SELECT e.handle FROM core_node n JOIN core_entity e ON e.ws = n.ws AND e.id = n.id \
         WHERE n.ws = ?1 AND n.claimed_by = ?2 AND n.claimed_session IN (?3, '') \
         AND n.resolved = 0 AND n.claimed_at > 0 AND n.claimed_at > ?4 \
         ORDER BY n.claimed_at DESC, n.id DESC LIMIT ?5",
        args![ws, agent, session, since.0, most],
    )?;
    rows.into_iter().map(|mut row| row.text(0)).collect()
}
