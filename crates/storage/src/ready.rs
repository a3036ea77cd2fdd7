//! What is next: the best ranked nodes that can be worked on, for one session of one agent.
//!
//! A claim belongs to an agent and a session. Free nodes, the session's own, those of sessions of
//! the same agent that have ended, and those whose claim went stale are short ranges of an index.

use understory_model::error::Result;
use understory_model::{Id, Time, Ws};

use crate::keys::{self, Pair};
use crate::nodes::below;
use crate::sql::{Arg, ReadTx, Row, args};
use crate::statement::Statement;

/// What may be next: for whom, where, and since when another's claim has gone stale.
#[derive(Debug, Clone, Copy)]
pub struct Ready<'a> {
    pub project: Id,
    /// Only below this path.
    pub scope: Option<&'a str>,
    /// Only nodes that have all of these.
    pub keys: &'a [Pair],
    pub agent: &'a str,
    pub session: &'a str,
    /// Sessions of the same agent that have ended: what they hold may be taken over.
    pub ended: &'a [String],
    /// Another's claim from before this moment no longer counts.
    pub stale: Time,
    pub most: i64,
}

/// How many of the best ranked are looked at before a scope or filter is taken as rare.
pub(crate) const SCAN: i64 = 2_000;

type Ranked = (f64, i64, i64, Id);

/// The best ranked nodes that can be worked on, skipping those that others hold. What the session
/// holds itself comes first: asking again gives the same answer.
pub fn ready(tx: &mut ReadTx<'_>, ws: Ws, wanted: &Ready<'_>) -> Result<Vec<Id>> {
    let own = best(
        held(tx, ws, wanted, (wanted.agent, wanted.session))?,
        wanted,
    );
    let mut found = held(tx, ws, wanted, ("", ""))?;
    for session in wanted.ended {
        found.extend(held(tx, ws, wanted, (wanted.agent, session))?);
    }
    found.extend(stale(tx, ws, wanted)?);
    let mut all = own;
    for id in best(found, wanted) {
        if !all.contains(&id) {
            all.push(id);
        }
    }
    all.truncate(usize::try_from(wanted.most).unwrap_or(0));
    Ok(all)
}

/// In the order of the rank, each once. A claim of an ended session may be stale as well.
fn best(mut found: Vec<Ranked>, wanted: &Ready<'_>) -> Vec<Id> {
    found.sort_by(|a, b| {
        a.0.total_cmp(&b.0)
            .then((a.1, a.2, a.3).cmp(&(b.1, b.2, b.3)))
    });
    found.dedup_by_key(|ranked| ranked.3);
    found.truncate(usize::try_from(wanted.most).unwrap_or(0));
    found.into_iter().map(|ranked| ranked.3).collect()
}

/// Sessions of an agent, other than one, that hold open nodes of a project, each with its newest
/// claim.
pub fn other_sessions(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    project: Id,
    (agent, session): (&str, &str),
    since: Time,
) -> Result<Vec<(String, Time)>> {
    let rows = tx.rows(
        "SELECT claimed_session, MAX(claimed_at) FROM core_node WHERE ws = ?1 AND project = ?2 \
         AND claimed_by = ?3 AND claimed_session <> ?4 AND claimed_at > 0 AND resolved = 0 \
         AND claimed_at > ?5 GROUP BY claimed_session ORDER BY claimed_session",
        args![ws, project, agent, session, since.0],
    )?;
    rows.into_iter()
        .map(|mut row| Ok((row.text(0)?, Time(row.int(1)?))))
        .collect()
}

/// Ready nodes of one holder. Where few of the best ranked fit a scope or filter, all are looked
/// at.
fn held(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    wanted: &Ready<'_>,
    holder: (&str, &str),
) -> Result<Vec<Ranked>> {
    if wanted.scope.is_some() || !wanted.keys.is_empty() {
        let scanned = held_by(tx, ws, wanted, holder, Some(SCAN))?;
        if scanned.len() as i64 >= wanted.most {
            return Ok(scanned);
        }
    }
    held_by(tx, ws, wanted, holder, None)
}

/// Narrows to a scope and to keys; the aliased columns must be `n.path`, `n.id`.
fn narrow<'a>(query: &mut Statement<'a>, wanted: &'a Ready<'_>, end: &'a str, rare: Option<&Pair>) {
    if let Some(scope) = wanted.scope {
        query.and_below("n.path", scope, end);
    }
    let others = wanted.keys.iter().filter(|pair| Some(*pair) != rare);
    if let Some(all) = keys::bears_all(others, &mut query.args) {
        query.and(&all);
    }
}

const RANK: &str = "n.rank_priority, n.rank_depth, n.updated, n.id";

/// Ready nodes that one session holds (or nobody does); `scan` looks only at the best ranked this
/// many.
fn held_by(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    wanted: &Ready<'_>,
    (claimed_by, claimed_session): (&str, &str),
    scan: Option<i64>,
) -> Result<Vec<Ranked>> {
    let end = wanted.scope.map(below).unwrap_or_default();
    let args = vec![
        Arg::from(ws),
        Arg::from(wanted.project),
        Arg::Text(claimed_by),
        Arg::Int(wanted.most),
        Arg::Text(claimed_session),
    ];
    let rare = match scan {
        Some(_) => None,
        None => rare(tx, ws, wanted.keys)?,
    };
    // Ordered by rank, the scope would be looked for among all: `+ 0` keeps these columns from the
    // index, so that SQLite starts from the scope.
    let from_scope = scan.is_none() && rare.is_none() && wanted.scope.is_some();
    let (project, standing) = if from_scope {
        ("n.project + 0", "n.standing + 0")
    } else {
        ("n.project", "n.standing")
    };
    let base = format!(
        "n.ws = ?1 AND {project} = ?2 AND n.claimed_by = ?3 AND n.claimed_session = ?5 \
         AND {standing} = 0"
    );
    let mut query = Statement::new("core_node n", &base, args);
    if let Some(most) = scan {
        let most = query.arg(most);
        let best = format!(
            "({} ORDER BY {RANK} LIMIT {most}) n",
            query.select(&format!("n.path, {RANK}"))
        );
        query = Statement::new(&best, "1 = 1", query.args);
    }
    if let Some(pair) = &rare {
        query.from = "core_key d CROSS JOIN core_node n".into();
        query.and("d.ws = ?1 AND n.id = d.id");
        query.and_arg("d.name = ?", &pair.0);
        query.and_arg("d.value = ?", &pair.1);
    }
    narrow(&mut query, wanted, &end, rare.as_ref());
    let sql = format!("{} ORDER BY {RANK} LIMIT ?4", query.select(RANK));
    ranked(&tx.rows(&sql, &query.args)?)
}

/// The rarest of the pairs, when it is rare enough to start from.
fn rare(tx: &mut ReadTx<'_>, ws: Ws, pairs: &[Pair]) -> Result<Option<Pair>> {
    let found = rarest(tx, ws, pairs)?;
    Ok(found
        .filter(|(_, count)| *count < SCAN)
        .map(|(pair, _)| pair.clone()))
}

/// The rarest of the pairs and how many have it, counted no further than a lead may be.
pub(crate) fn rarest<'p>(
    tx: &mut ReadTx<'_>,
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

/// Ready nodes that another session claimed too long ago.
fn stale(tx: &mut ReadTx<'_>, ws: Ws, wanted: &Ready<'_>) -> Result<Vec<Ranked>> {
    let end = wanted.scope.map(below).unwrap_or_default();
    let args = vec![
        Arg::from(ws),
        Arg::from(wanted.project),
        Arg::Text(wanted.agent),
        Arg::Int(wanted.most),
        Arg::Int(wanted.stale.0),
        Arg::Text(wanted.session),
    ];
    let mut query = Statement::new(
        "core_node n",
        "n.ws = ?1 AND n.project = ?2 AND n.claimed_at > 0 AND n.resolved = 0 \
         AND n.claimed_at <= ?5 AND (n.claimed_by <> ?3 OR n.claimed_session <> ?6) \
         AND n.standing + 0 = 0",
        args,
    );
    narrow(&mut query, wanted, &end, None);
    let sql = format!("{} ORDER BY {RANK} LIMIT ?4", query.select(RANK));
    ranked(&tx.rows(&sql, &query.args)?)
}

/// Ready nodes of the scope and filter that somebody holds, the oldest claim first.
pub fn held_now(tx: &mut ReadTx<'_>, ws: Ws, wanted: &Ready<'_>, most: i64) -> Result<Vec<Id>> {
    let end = wanted.scope.map(below).unwrap_or_default();
    let args = vec![
        Arg::from(ws),
        Arg::from(wanted.project),
        Arg::Int(wanted.stale.0),
        Arg::Int(most),
    ];
    let mut query = Statement::new(
        "core_node n",
        "n.ws = ?1 AND n.project = ?2 AND n.claimed_at > 0 AND n.resolved = 0 \
         AND n.claimed_at > ?3 AND n.standing + 0 = 0",
        args,
    );
    narrow(&mut query, wanted, &end, None);
    let sql = format!(
        "{} ORDER BY n.claimed_at, n.id LIMIT ?4",
        query.select("n.id")
    );
    let rows = tx.rows(&sql, &query.args)?;
    rows.iter().map(|row| row.int(0)).collect()
}

fn ranked(rows: &[Row]) -> Result<Vec<Ranked>> {
    rows.iter()
        .map(|row| Ok((row.real(0)?, row.int(1)?, row.int(2)?, row.int(3)?)))
        .collect()
}
