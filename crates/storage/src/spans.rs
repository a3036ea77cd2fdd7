//! Who held which node, from when until when.

use understory_model::error::Result;
use understory_model::{Id, Seq, Time, Ws};

use crate::sql::{Arg, ReadTx, Tx, args};
use crate::statement::Statement;
use crate::table::{self, Stored, table};

/// The end of a claim that is still held.
pub const OPEN: Time = Time(i64::MAX);

table! {
    /// A claim from its beginning to its end.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Span in core_span as s key (node, seq) {
        pub node: Id,
        /// The item that claimed it.
        pub seq: Seq,
        pub project: Id,
        pub agent: String,
        pub session: String,
        pub since: Time,
        pub until: Time,
        /// How it ended; empty while it is held.
        pub ended: String,
    }
}

pub fn begin(tx: &mut Tx<'_>, ws: Ws, spans: &[Span]) -> Result<()> {
    table::insert(tx, ws, spans)
}

/// Ends the claim of a node, if it is held.
pub fn end(tx: &mut Tx<'_>, ws: Ws, node: Id, until: Time, ended: &str) -> Result<()> {
    tx.run_together(
        "UPDATE core_span SET until = ?3, ended = ?4 WHERE ws = ?1 AND node = ?2 AND until = ?5",
        args![ws, node, until.0, ended, OPEN.0],
    )
}

/// Which claims.
#[derive(Debug, Clone, Copy)]
pub struct Wanted<'w> {
    /// That were held in some of this time.
    pub from: Time,
    pub to: Time,
    pub agent: Option<&'w str>,
    pub project: Option<Id>,
    /// At most so many that are held, and so many that have ended.
    pub most: i64,
}

/// Claims that were held in a window: the newest of those that still are, and of those that have
/// ended the first to end after its beginning.
pub fn within(tx: &mut ReadTx<'_>, ws: Ws, wanted: &Wanted<'_>) -> Result<Vec<Span>> {
    let mut found = some(tx, ws, wanted, "s.until = ?", OPEN, "s.since DESC")?;
    let ended = "s.until < 9223372036854775807 AND s.until >= ?";
    found.extend(some(tx, ws, wanted, ended, wanted.from, "s.until")?);
    Ok(found)
}

fn some(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    wanted: &Wanted<'_>,
    condition: &str,
    until: Time,
    order: &str,
) -> Result<Vec<Span>> {
    let mut query = Statement::new("core_span s", "s.ws = ?1", vec![Arg::from(ws)]);
    query.and_arg(condition, until.0);
    query.and_arg("s.since < ?", wanted.to.0);
    if let Some(agent) = wanted.agent {
        query.and_arg("s.agent = ?", agent);
    }
    if let Some(project) = wanted.project {
        query.and_arg("s.project = ?", project);
    }
    let most = query.arg(wanted.most);
    let selected = query.select(Span::COLUMNS);
    table::all(
        tx,
        &format!("{selected} ORDER BY {order}, s.node LIMIT {most}"),
        &query.args,
    )
}
