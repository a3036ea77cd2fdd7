//! Graph nodes as the engine keeps them: readiness and rank beside the entity, and what is next.

use understory_model::error::Result;
use understory_model::{Id, Time, Ws};

use crate::sql::{Arg, Row, Tx, args};

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

/// What readiness and rank are computed from, kept as it changes.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    pub id: Id,
    pub project: Id,
    pub path: String,
    pub depth: i64,
    pub resolved: bool,
    pub open_children: i64,
    pub open_deps: i64,
    pub standing: Standing,
    pub priority: f64,
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

const COLUMNS: &str = "id, project, path, depth, resolved, open_children, open_deps, standing, \
                       rank_priority, updated, claimed_by, claimed_at, resolved_at, resolved_by, \
                       folded, claimed_session";

pub(crate) fn node(mut row: Row) -> Result<Node> {
    Ok(Node {
        id: row.int(0)?,
        project: row.int(1)?,
        path: row.text(2)?,
        depth: row.int(3)?,
        resolved: row.flag(4)?,
        open_children: row.int(5)?,
        open_deps: row.int(6)?,
        standing: Standing::of(row.int(7)?),
        priority: -row.real(8)?,
        updated: Time(row.int(9)?),
        claimed_by: row.text(10)?,
        claimed_at: Time(row.int(11)?),
        resolved_at: Time(row.int(12)?),
        resolved_by: row.text(13)?,
        folded: row.text(14)?,
        claimed_session: row.text(15)?,
    })
}

/// The largest text that is a path below `path`, exclusive.
pub(crate) fn below(path: &str) -> String {
    format!("{path}~")
}

/// Negated, but never a negative zero: the two engines would print and compare it differently.
fn rank(priority: f64) -> f64 {
    if priority == 0.0 { 0.0 } else { -priority }
}

fn values<'n>(ws: Ws, node: &'n Node) -> [Arg<'n>; 18] {
    [
        Arg::Int(ws),
        Arg::Int(node.id),
        Arg::Int(node.project),
        Arg::Text(&node.path),
        Arg::Int(node.depth),
        Arg::from(node.resolved),
        Arg::Int(node.open_children),
        Arg::Int(node.open_deps),
        Arg::Int(node.standing as i64),
        Arg::Real(rank(node.priority)),
        Arg::Int(-node.depth),
        Arg::Int(node.updated.0),
        Arg::Text(&node.claimed_by),
        Arg::Int(node.claimed_at.0),
        Arg::Int(node.resolved_at.0),
        Arg::Text(&node.resolved_by),
        Arg::Text(&node.folded),
        Arg::Text(&node.claimed_session),
    ]
}

pub fn get(tx: &mut Tx<'_>, ws: Ws, id: Id) -> Result<Option<Node>> {
    let sql = format!("SELECT {COLUMNS} FROM core_node WHERE ws = ?1 AND id = ?2");
    tx.row(&sql, args![ws, id])?.map(node).transpose()
}

pub fn insert(tx: &mut Tx<'_>, ws: Ws, nodes: &[&Node]) -> Result<()> {
    let all: Vec<Arg> = nodes.iter().flat_map(|node| values(ws, node)).collect();
    tx.insert(
        "INSERT INTO core_node (ws, id, project, path, depth, resolved, open_children, open_deps, \
         standing, rank_priority, rank_depth, updated, claimed_by, claimed_at, resolved_at, \
         resolved_by, folded, claimed_session)",
        18,
        &all,
    )
}

pub fn update(tx: &mut Tx<'_>, ws: Ws, node: &Node) -> Result<()> {
    if tx.dialect().rewrites_indexes() && only_counts(tx, ws, node)? {
        return Ok(());
    }
    tx.run_together(
        "UPDATE core_node SET project = ?3, path = ?4, depth = ?5, resolved = ?6, \
         open_children = ?7, open_deps = ?8, standing = ?9, rank_priority = ?10, \
         rank_depth = ?11, updated = ?12, claimed_by = ?13, claimed_at = ?14, \
         resolved_at = ?15, resolved_by = ?16, folded = ?17, claimed_session = ?18 WHERE ws = ?1 AND id = ?2",
        &values(ws, node),
    )
}

/// Changes the counts of a node of which nothing else changes, if that is so: most nodes are
/// changed because something was put below them.
fn only_counts(tx: &mut Tx<'_>, ws: Ws, node: &Node) -> Result<bool> {
    let touched = tx.run(
        "UPDATE core_node SET open_children = ?7, open_deps = ?8 \
         WHERE ws = ?1 AND id = ?2 AND project = ?3 AND path = ?4 AND depth = ?5 \
         AND resolved = ?6 AND standing = ?9 AND rank_priority = ?10 AND rank_depth = ?11 \
         AND updated = ?12 AND claimed_by = ?13 AND claimed_at = ?14 AND resolved_at = ?15 \
         AND resolved_by = ?16 AND folded = ?17 \
         AND claimed_session = ?18",
        &values(ws, node),
    )?;
    Ok(touched > 0)
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
pub fn deepest(tx: &mut Tx<'_>, ws: Ws, path: &str) -> Result<Option<i64>> {
    let row = tx.row(
        "SELECT MAX(depth) FROM core_node WHERE ws = ?1 AND path > ?2 AND path < ?3",
        args![ws, path, &below(path)],
    )?;
    row.map_or(Ok(None), |row| row.opt_int(0))
}

/// Everything open below a path, parents before children.
pub fn open_below(tx: &mut Tx<'_>, ws: Ws, path: &str) -> Result<Vec<Id>> {
    let rows = tx.rows(
        "SELECT id FROM core_node WHERE ws = ?1 AND path > ?2 AND path < ?3 AND resolved = 0 \
         ORDER BY path",
        args![ws, path, &below(path)],
    )?;
    rows.iter().map(|row| row.int(0)).collect()
}

/// Open nodes that somebody holds, newest claim first.
pub fn in_progress(
    tx: &mut Tx<'_>,
    ws: Ws,
    project: Id,
    since: Time,
    most: i64,
) -> Result<Vec<Node>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM core_node WHERE ws = ?1 AND project = ?2 AND claimed_at > 0 \
         AND resolved = 0 AND claimed_at > ?3 ORDER BY claimed_at DESC, id LIMIT ?4"
    );
    let rows = tx.rows(&sql, args![ws, project, since.0, most])?;
    rows.into_iter().map(node).collect()
}

/// What was resolved last.
pub fn done_last(tx: &mut Tx<'_>, ws: Ws, project: Id, most: i64) -> Result<Vec<Node>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM core_node WHERE ws = ?1 AND project = ?2 AND resolved = 1 \
         ORDER BY resolved_at DESC, id DESC LIMIT ?3"
    );
    let rows = tx.rows(&sql, args![ws, project, most])?;
    rows.into_iter().map(node).collect()
}

/// A node and everything below it, each before what is below it, down to a depth.
pub fn tree(tx: &mut Tx<'_>, ws: Ws, top: &Node, deepest: i64, most: i64) -> Result<Vec<Node>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM core_node WHERE ws = ?1 AND path >= ?2 AND path < ?3 \
         AND depth <= ?4 ORDER BY path LIMIT ?5"
    );
    let end = below(&top.path);
    let rows = tx.rows(&sql, args![ws, &top.path, &end, deepest, most])?;
    rows.into_iter().map(node).collect()
}

/// What the open nodes below a path wait for that is open itself and lies elsewhere.
pub fn awaited_elsewhere(tx: &mut Tx<'_>, ws: Ws, path: &str, most: i64) -> Result<Vec<Id>> {
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
pub fn some_waiting(tx: &mut Tx<'_>, ws: Ws, project: Id) -> Result<Option<Id>> {
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
    tx: &mut Tx<'_>,
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
