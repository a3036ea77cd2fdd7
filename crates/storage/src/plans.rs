//! A plan as a picture needs it: the tasks of one state, what waits for what, and how many there are of
//! each. Every read here is bounded, however large the plan is.

use std::collections::HashMap;

use understory_model::error::Result;
use understory_model::{Id, Time, Ws};

use crate::lists;
use crate::nodes::{Node, Standing};
use crate::sql::{Arg, ReadTx, Row, args};
use crate::table::{self, Stored};

const COLUMNS: &str = Node::COLUMNS;

/// A project, and its root, which is no task of it.
#[derive(Debug, Clone, Copy)]
pub struct Home {
    pub project: Id,
    pub root: Id,
}

/// How many open nodes somebody holds: those that could be worked on, and those that wait. Counted no
/// further than `most`.
pub fn held(tx: &mut ReadTx<'_>, ws: Ws, home: Home, since: Time, most: i64) -> Result<(i64, i64)> {
    let row = tx.row(
        "SELECT COUNT(CASE WHEN standing = 0 THEN 1 END), COUNT(CASE WHEN standing = 1 THEN 1 END) \
         FROM (SELECT standing FROM core_node WHERE ws = ?1 AND project = ?2 AND claimed_at > 0 \
         AND resolved = 0 AND claimed_at > ?3 AND id <> ?4 LIMIT ?5) AS held",
        args![ws, home.project, since.0, home.root, most],
    )?;
    row.map_or(Ok((0, 0)), |row| Ok((row.int(0)?, row.int(1)?)))
}

/// Open nodes of one standing that nobody holds, the best ranked first.
pub fn unheld(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    home: Home,
    (standing, stale): (Standing, Time),
    most: i64,
) -> Result<Vec<Node>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM core_node WHERE ws = ?1 AND project = ?2 AND standing = ?3 \
         AND (claimed_by = '' OR claimed_at <= ?4) AND id <> ?5 \
         ORDER BY rank_priority, rank_depth, updated, id LIMIT ?6"
    );
    let standing = standing as i64;
    let args = args![ws, home.project, standing, stale.0, home.root, most];
    table::all(tx, &sql, args)
}

/// What was changed last, of any state.
pub fn changed_last(tx: &mut ReadTx<'_>, ws: Ws, home: Home, most: i64) -> Result<Vec<Node>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM core_node WHERE ws = ?1 AND project = ?2 AND id <> ?3 \
         ORDER BY updated DESC, id DESC LIMIT ?4"
    );
    table::all(tx, &sql, args![ws, home.project, home.root, most])
}

/// Some nodes, by id; those that do not exist are left out.
pub fn some(tx: &mut ReadTx<'_>, ws: Ws, ids: &[Id]) -> Result<HashMap<Id, Node>> {
    let mut found = HashMap::new();
    for some in ids.chunks(lists::AT_ONCE) {
        let mut args = vec![Arg::from(ws)];
        let places = lists::numbers(some, &mut args);
        let sql = format!("SELECT {COLUMNS} FROM core_node WHERE ws = ?1 AND id IN ({places})");
        for node in table::all::<Node>(tx, &sql, &args)? {
            found.insert(node.id, node);
        }
    }
    Ok(found)
}

/// One thing that waits for another, both open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Wait {
    pub waits: Id,
    pub awaited: Id,
    /// Whether what is awaited could be worked on.
    pub ready: bool,
}

/// What the best ranked nodes that wait are waiting for: what they depend on, and what is below them.
pub fn waits(tx: &mut ReadTx<'_>, ws: Ws, home: Home, nodes: i64, most: i64) -> Result<Vec<Wait>> {
    // SQLite takes a CROSS JOIN in the order it is written: from the nodes, of which there are few.
    let waiting = "SELECT ws, id, open_children FROM core_node WHERE ws = ?1 AND project = ?2 \
                   AND standing = 1 AND id <> ?3 \
                   ORDER BY rank_priority, rank_depth, updated, id LIMIT ?4";
    let links = format!(
        "SELECT l.source, l.target, t.standing FROM ({waiting}) w \
         CROSS JOIN core_link l CROSS JOIN core_node t WHERE l.ws = w.ws AND l.source = w.id \
         AND l.relation = 'depends_on' AND t.ws = l.ws AND t.id = l.target AND t.resolved = 0 \
         LIMIT ?5"
    );
    let parts = format!(
        "SELECT e.parent, e.id, t.standing FROM ({waiting}) w \
         CROSS JOIN core_entity e CROSS JOIN core_node t WHERE w.open_children > 0 \
         AND e.ws = w.ws AND e.parent = w.id AND t.ws = e.ws AND t.id = e.id AND t.resolved = 0 \
         LIMIT ?5"
    );
    let mut found = Vec::new();
    for sql in [links, parts] {
        let rows = tx.rows(&sql, args![ws, home.project, home.root, nodes, most])?;
        for row in rows {
            found.push(wait(&row)?);
        }
    }
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

fn wait(row: &Row) -> Result<Wait> {
    Ok(Wait {
        waits: row.int(0)?,
        awaited: row.int(1)?,
        ready: row.int::<i64>(2)? == Standing::Ready as i64,
    })
}

/// What lies directly below some nodes and is open, as pairs of a node and a part of it.
pub fn open_parts(tx: &mut ReadTx<'_>, ws: Ws, nodes: &[Id], most: i64) -> Result<Vec<(Id, Id)>> {
    let mut found = Vec::new();
    for some in nodes.chunks(lists::AT_ONCE) {
        let left = most - found.len() as i64;
        if left <= 0 {
            break;
        }
        let mut args = vec![Arg::from(ws), Arg::Int(left)];
        let places = lists::numbers(some, &mut args);
        let sql = format!(
            "SELECT e.parent, e.id FROM core_entity e JOIN core_node n ON n.ws = e.ws \
             AND n.id = e.id WHERE e.ws = ?1 AND e.parent IN ({places}) AND n.resolved = 0 \
             ORDER BY e.parent, e.id LIMIT ?2"
        );
        for row in tx.rows(&sql, &args)? {
            found.push((row.int(0)?, row.int(1)?));
        }
    }
    Ok(found)
}
