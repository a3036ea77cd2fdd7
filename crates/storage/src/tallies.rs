//! The log counted by who wrote when, in stretches of a minute, an hour and a day, so that a timeline
//! of any length reads a bounded number of rows.

use understory_model::error::Result;
use understory_model::{Id, Time, Ws};

use crate::sql::{Arg, ReadTx, Tx};
use crate::statement::Statement;
use crate::table::{self, Stored, table};

table! {
    /// How many items of a kind an agent wrote in a stretch of time.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Tally in core_tally as t key (grain, at, actor, surface, project) {
        pub grain: i64,
        pub at: Time,
        pub actor: String,
        pub surface: String,
        /// 0 for none.
        pub project: i64,
        pub n: i64,
    }
}

const ADDED: &str = " ON CONFLICT (ws, grain, at, actor, surface, project) \
    DO UPDATE SET n = core_tally.n + excluded.n";

/// Counts more items; no two of the rows have the same key.
pub fn add(tx: &mut Tx<'_>, ws: Ws, rows: &[Tally]) -> Result<()> {
    let statements = Tally::statements();
    let values = table::all_values(ws, rows);
    tx.upsert(&statements.into, statements.columns.len(), &values, ADDED)
}

/// What is counted.
#[derive(Debug, Clone, Copy)]
pub struct Wanted<'w> {
    pub grain: i64,
    /// The stretches that begin in these times.
    pub from: Time,
    pub to: Time,
    pub actor: Option<&'w str>,
    pub surface: Option<&'w str>,
    /// Of this project or of none.
    pub project: Option<Id>,
    /// Surfaces of which the caller is not told how much was written.
    pub without: &'w [&'w str],
}

fn counted<'q>(ws: Ws, wanted: &Wanted<'q>) -> Statement<'q> {
    let mut query = Statement::new("core_tally t", "t.ws = ?1", vec![Arg::from(ws)]);
    query.and_arg("t.grain = ?", wanted.grain);
    query.and_arg("t.at >= ?", wanted.from.0);
    query.and_arg("t.at < ?", wanted.to.0);
    if let Some(actor) = wanted.actor {
        query.and_arg("t.actor = ?", actor);
    }
    if let Some(surface) = wanted.surface {
        query.and_arg("t.surface = ?", surface);
    }
    if let Some(project) = wanted.project {
        query.and_arg("(t.project = 0 OR t.project = ?)", project);
    }
    for surface in wanted.without {
        query.and_arg("t.surface <> ?", *surface);
    }
    query
}

/// How much one agent wrote, and when the last stretch began in which it did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Writer {
    pub agent: String,
    pub n: i64,
    pub last: Time,
}

/// Those who wrote most.
pub fn busiest(tx: &mut ReadTx<'_>, ws: Ws, wanted: &Wanted<'_>, most: i64) -> Result<Vec<Writer>> {
    let mut query = counted(ws, wanted);
    let most = query.arg(most);
    let selected = query.select("t.actor, CAST(SUM(t.n) AS BIGINT), MAX(t.at)");
    let sql = format!("{selected} GROUP BY t.actor ORDER BY 2 DESC, 1 LIMIT {most}");
    let rows = tx.rows(&sql, &query.args)?;
    let read = rows.into_iter().map(|mut row| {
        Ok(Writer {
            agent: row.text(0)?,
            n: row.int(1)?,
            last: Time(row.int(2)?),
        })
    });
    read.collect()
}

/// How many agents wrote how many items.
pub fn total(tx: &mut ReadTx<'_>, ws: Ws, wanted: &Wanted<'_>) -> Result<(i64, i64)> {
    let query = counted(ws, wanted);
    let sql = query.select("COUNT(DISTINCT t.actor), CAST(COALESCE(SUM(t.n), 0) AS BIGINT)");
    let row = tx.row(&sql, &query.args)?;
    row.map_or(Ok((0, 0)), |row| Ok((row.int(0)?, row.int(1)?)))
}

/// What was written in one of the stretches of equal width that follow `from`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stretch {
    /// Its number, from 0.
    pub n: i64,
    /// Empty where it is that of all.
    pub agent: String,
    pub surface: String,
    pub count: i64,
}

/// What some agents wrote, by stretch and surface.
pub fn of_agents(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    wanted: &Wanted<'_>,
    width: i64,
    agents: &[&str],
) -> Result<Vec<Stretch>> {
    if agents.is_empty() {
        return Ok(Vec::new());
    }
    let mut query = counted(ws, wanted);
    query.and_in("t.actor", agents.iter().copied());
    stretches(tx, query, wanted, width, "t.actor")
}

/// What all wrote, by stretch and surface.
pub fn of_all(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    wanted: &Wanted<'_>,
    width: i64,
) -> Result<Vec<Stretch>> {
    stretches(tx, counted(ws, wanted), wanted, width, "''")
}

fn stretches(
    tx: &mut ReadTx<'_>,
    mut query: Statement<'_>,
    wanted: &Wanted<'_>,
    width: i64,
    who: &str,
) -> Result<Vec<Stretch>> {
    let (from, width) = (query.arg(wanted.from.0), query.arg(width.max(1)));
    let selected = query.select(&format!(
        "(t.at - CAST({from} AS BIGINT)) / CAST({width} AS BIGINT), {who}, t.surface, \
         CAST(SUM(t.n) AS BIGINT)"
    ));
    let sql = format!("{selected} GROUP BY 1, 2, 3 ORDER BY 1, 2, 3");
    let rows = tx.rows(&sql, &query.args)?;
    let read = rows.into_iter().map(|mut row| {
        Ok(Stretch {
            n: row.int(0)?,
            agent: row.text(1)?,
            surface: row.text(2)?,
            count: row.int(3)?,
        })
    });
    read.collect()
}
