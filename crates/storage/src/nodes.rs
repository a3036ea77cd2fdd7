//! Graph nodes as the engine keeps them: readiness and rank beside the entity, and what is next.

use understory_model::error::Result;
use understory_model::{Id, Time, Ws};

use crate::keys::{self, Pair};
use crate::sql::{Arg, Row, Tx, args};

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
    /// Whether it cannot be worked on now.
    pub waiting: bool,
    pub priority: f64,
    pub updated: Time,
    /// Empty when nobody claimed it.
    pub claimed_by: String,
    pub claimed_at: Time,
    pub resolved_at: Time,
    pub resolved_by: String,
    /// The summary, folded for substring search.
    pub folded: String,
}

const COLUMNS: &str = "id, project, path, depth, resolved, open_children, open_deps, waiting, \
                       rank_priority, updated, claimed_by, claimed_at, resolved_at, resolved_by, \
                       folded";

fn node(mut row: Row) -> Result<Node> {
    Ok(Node {
        id: row.int(0)?,
        project: row.int(1)?,
        path: row.text(2)?,
        depth: row.int(3)?,
        resolved: row.flag(4)?,
        open_children: row.int(5)?,
        open_deps: row.int(6)?,
        waiting: row.flag(7)?,
        priority: -row.real(8)?,
        updated: Time(row.int(9)?),
        claimed_by: row.text(10)?,
        claimed_at: Time(row.int(11)?),
        resolved_at: Time(row.int(12)?),
        resolved_by: row.text(13)?,
        folded: row.text(14)?,
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

fn values<'n>(ws: Ws, node: &'n Node) -> [Arg<'n>; 17] {
    [
        Arg::Int(ws),
        Arg::Int(node.id),
        Arg::Int(node.project),
        Arg::Text(&node.path),
        Arg::Int(node.depth),
        Arg::from(node.resolved),
        Arg::Int(node.open_children),
        Arg::Int(node.open_deps),
        Arg::from(node.waiting),
        Arg::Real(rank(node.priority)),
        Arg::Int(-node.depth),
        Arg::Int(node.updated.0),
        Arg::Text(&node.claimed_by),
        Arg::Int(node.claimed_at.0),
        Arg::Int(node.resolved_at.0),
        Arg::Text(&node.resolved_by),
        Arg::Text(&node.folded),
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
         waiting, rank_priority, rank_depth, updated, claimed_by, claimed_at, resolved_at, \
         resolved_by, folded)",
        17,
        &all,
    )
}

pub fn update(tx: &mut Tx<'_>, ws: Ws, node: &Node) -> Result<()> {
    if tx.dialect().rewrites_indexes() && only_counts(tx, ws, node)? {
        return Ok(());
    }
    tx.run_together(
        "UPDATE core_node SET project = ?3, path = ?4, depth = ?5, resolved = ?6, \
         open_children = ?7, open_deps = ?8, waiting = ?9, rank_priority = ?10, \
         rank_depth = ?11, updated = ?12, claimed_by = ?13, claimed_at = ?14, \
         resolved_at = ?15, resolved_by = ?16, folded = ?17 WHERE ws = ?1 AND id = ?2",
        &values(ws, node),
    )
}

/// Changes the counts of a node of which nothing else changes, if that is so: most nodes are
/// changed because something was put below them.
fn only_counts(tx: &mut Tx<'_>, ws: Ws, node: &Node) -> Result<bool> {
    let touched = tx.run(
        "UPDATE core_node SET open_children = ?7, open_deps = ?8 \
         WHERE ws = ?1 AND id = ?2 AND project = ?3 AND path = ?4 AND depth = ?5 \
         AND resolved = ?6 AND waiting = ?9 AND rank_priority = ?10 AND rank_depth = ?11 \
         AND updated = ?12 AND claimed_by = ?13 AND claimed_at = ?14 AND resolved_at = ?15 \
         AND resolved_by = ?16 AND folded = ?17",
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

/// What may be next: for whom, where, and since when another's claim has gone stale.
pub struct Ready<'a> {
    pub project: Id,
    /// Only below this path.
    pub scope: Option<&'a str>,
    /// Only nodes that bear all of these.
    pub keys: &'a [Pair],
    pub agent: &'a str,
    /// Another's claim from before this moment no longer counts.
    pub stale: Time,
    pub most: i64,
}

/// How many of the best ranked are looked at before a scope or filter is taken as rare.
pub(crate) const SCAN: i64 = 2_000;

type Ranked = (f64, i64, i64, Id);

/// The best ranked nodes that can be worked on, skipping those that others hold.
///
/// Three index steps: unclaimed, the agent's own, and those whose claim went stale.
pub fn ready(tx: &mut Tx<'_>, ws: Ws, wanted: &Ready<'_>) -> Result<Vec<Id>> {
    let mut found: Vec<Ranked> = Vec::new();
    for claimed_by in ["", wanted.agent] {
        let narrow = wanted.scope.is_some() || !wanted.keys.is_empty();
        let scanned = if narrow {
            held_by(tx, ws, wanted, claimed_by, Some(SCAN))?
        } else {
            vec![]
        };
        if narrow && scanned.len() as i64 >= wanted.most {
            found.extend(scanned);
        } else {
            found.extend(held_by(tx, ws, wanted, claimed_by, None)?);
        }
    }
    found.extend(stale(tx, ws, wanted)?);
    found.sort_by(|a, b| {
        a.0.total_cmp(&b.0)
            .then((a.1, a.2, a.3).cmp(&(b.1, b.2, b.3)))
    });
    found.truncate(usize::try_from(wanted.most).unwrap_or(0));
    Ok(found.into_iter().map(|ranked| ranked.3).collect())
}

/// Narrows to a scope and to keys; the aliased columns must be `n.path`, `n.id`.
fn narrowed<'a>(
    wanted: &'a Ready<'_>,
    end: &'a str,
    sql: &mut String,
    args: &mut Vec<Arg<'a>>,
    rare: Option<&Pair>,
) {
    if let Some(scope) = wanted.scope {
        sql.push_str(&format!(
            " AND n.path > ?{} AND n.path < ?{}",
            args.len() + 1,
            args.len() + 2
        ));
        args.extend([Arg::Text(scope), Arg::Text(end)]);
    }
    for pair in wanted.keys.iter().filter(|pair| Some(*pair) != rare) {
        sql.push_str(&format!(
            " AND EXISTS (SELECT 1 FROM core_key k WHERE k.ws = ?1 AND k.name = ?{} \
             AND k.value = ?{} AND k.id = n.id)",
            args.len() + 1,
            args.len() + 2
        ));
        args.extend([Arg::Text(&pair.0), Arg::Text(&pair.1)]);
    }
}

const RANK: &str = "n.rank_priority, n.rank_depth, n.updated, n.id";

/// Ready nodes that one agent holds (or none does); `scan` looks only at the best ranked so many.
fn held_by(
    tx: &mut Tx<'_>,
    ws: Ws,
    wanted: &Ready<'_>,
    claimed_by: &str,
    scan: Option<i64>,
) -> Result<Vec<Ranked>> {
    let end = wanted.scope.map(below).unwrap_or_default();
    let mut args = vec![
        Arg::Int(ws),
        Arg::Int(wanted.project),
        Arg::Text(claimed_by),
        Arg::Int(wanted.most),
    ];
    let base = "n.ws = ?1 AND n.project = ?2 AND n.claimed_by = ?3 AND n.waiting = 0";
    let rare = match scan {
        Some(_) => None,
        None => rare(tx, ws, wanted.keys)?,
    };
    let mut sql = match (scan, &rare) {
        (Some(most), _) => {
            args.push(Arg::Int(most));
            format!(
                "SELECT {RANK} FROM (SELECT n.path, {RANK} FROM core_node n WHERE {base} \
                 ORDER BY {RANK} LIMIT ?5) n WHERE 1 = 1"
            )
        }
        (None, Some(pair)) => {
            args.extend([Arg::Text(&pair.0), Arg::Text(&pair.1)]);
            format!(
                "SELECT {RANK} FROM core_key d CROSS JOIN core_node n WHERE d.ws = ?1 \
                 AND d.name = ?5 AND d.value = ?6 AND n.id = d.id AND {base}"
            )
        }
        // Ordered by rank, the scope would be looked for among all; start from it instead.
        (None, None) if wanted.scope.is_some() => {
            let base = base
                .replace("n.waiting = 0", "n.waiting + 0 = 0")
                .replace("n.project = ?2", "n.project + 0 = ?2");
            format!("SELECT {RANK} FROM core_node n WHERE {base}")
        }
        (None, None) => format!("SELECT {RANK} FROM core_node n WHERE {base}"),
    };
    narrowed(wanted, &end, &mut sql, &mut args, rare.as_ref());
    sql.push_str(&format!(" ORDER BY {RANK} LIMIT ?4"));
    ranked(&tx.rows(&sql, &args)?)
}

/// The rarest of the pairs, when it is rare enough to start from.
fn rare(tx: &mut Tx<'_>, ws: Ws, pairs: &[Pair]) -> Result<Option<Pair>> {
    let found = rarest(tx, ws, pairs)?;
    Ok(found
        .filter(|(_, count)| *count < SCAN)
        .map(|(pair, _)| pair.clone()))
}

/// The rarest of the pairs and how many bear it, counted no further than a lead may be.
pub(crate) fn rarest<'p>(
    tx: &mut Tx<'_>,
    ws: Ws,
    pairs: &'p [Pair],
) -> Result<Option<(&'p Pair, i64)>> {
    let mut best: Option<(&Pair, i64)> = None;
    for pair in pairs {
        let count = keys::count_up_to(tx, ws, pair, SCAN)?;
        if best.is_none_or(|(_, least)| count < least) {
            best = Some((pair, count));
        }
    }
    Ok(best)
}

/// The handles of the unresolved nodes that an agent claimed since a moment, the last claimed first.
pub fn claimed_by(
    tx: &mut Tx<'_>,
    ws: Ws,
    agent: &str,
    since: Time,
    most: i64,
) -> Result<Vec<String>> {
    let rows = tx.rows(
        "SELECT e.handle FROM core_node n JOIN core_entity e ON e.ws = n.ws AND e.id = n.id \
         WHERE n.ws = ?1 AND n.claimed_by = ?2 AND n.resolved = 0 AND n.claimed_at > 0 \
         AND n.claimed_at > ?3 ORDER BY n.claimed_at DESC, n.id DESC LIMIT ?4",
        args![ws, agent, since.0, most],
    )?;
    rows.into_iter().map(|mut row| row.text(0)).collect()
}

/// Ready nodes that another agent claimed too long ago.
fn stale(tx: &mut Tx<'_>, ws: Ws, wanted: &Ready<'_>) -> Result<Vec<Ranked>> {
    let end = wanted.scope.map(below).unwrap_or_default();
    let mut args = vec![
        Arg::Int(ws),
        Arg::Int(wanted.project),
        Arg::Text(wanted.agent),
        Arg::Int(wanted.most),
        Arg::Int(wanted.stale.0),
    ];
    let mut sql = format!(
        "SELECT {RANK} FROM core_node n WHERE n.ws = ?1 AND n.project = ?2 \
         AND n.claimed_at > 0 AND n.resolved = 0 AND n.claimed_at <= ?5 \
         AND n.claimed_by <> ?3 AND n.waiting + 0 = 0"
    );
    narrowed(wanted, &end, &mut sql, &mut args, None);
    sql.push_str(&format!(" ORDER BY {RANK} LIMIT ?4"));
    ranked(&tx.rows(&sql, &args)?)
}

fn ranked(rows: &[Row]) -> Result<Vec<Ranked>> {
    rows.iter()
        .map(|row| Ok((row.real(0)?, row.int(1)?, row.int(2)?, row.int(3)?)))
        .collect()
}

/// Open nodes that somebody holds, newest claim first.
pub fn in_progress(
    tx: &mut Tx<'_>,
    ws: Ws,
    project: Id,
    since: Time,
    most: i64,
) -> Result<Vec<Id>> {
    let rows = tx.rows(
        "SELECT id FROM core_node WHERE ws = ?1 AND project = ?2 AND claimed_at > 0 \
         AND resolved = 0 AND claimed_at > ?3 ORDER BY claimed_at DESC, id LIMIT ?4",
        args![ws, project, since.0, most],
    )?;
    rows.iter().map(|row| row.int(0)).collect()
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
