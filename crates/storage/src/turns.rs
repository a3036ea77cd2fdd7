//! Changes of threads: of their status and of who takes part, numbered in each thread.

use understory_model::error::Result;
use understory_model::item::Item;
use understory_model::{Id, Seq, Ws};

use crate::items;
use crate::sql::{ReadTx, Row, Tx, args};
use crate::table::{self, Stored, table};

table! {
    /// An item as a change of a thread.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Turn in core_thread_change as c key (thread, n) {
        pub thread: Id,
        /// Its number among the thread's changes; the first is 1.
        pub n: i64,
        pub seq: Seq,
        /// The number of the thread's last message before it.
        pub after: i64,
        pub actor: String,
    }
}

pub fn add(tx: &mut Tx<'_>, ws: Ws, turn: &Turn) -> Result<()> {
    table::add(tx, ws, turn)
}

const COLUMNS: &str = Turn::COLUMNS;

fn told(rows: Vec<Row>) -> Result<Vec<(Turn, Item)>> {
    rows.into_iter()
        .map(|mut row| {
            let turn = Turn::read_at(&mut row, items::WIDTH)?;
            Ok((turn, items::item(row)?))
        })
        .collect()
}

/// A thread's changes after a number that are not an agent's own, in order.
pub fn of_others(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    thread: Id,
    n: i64,
    agent: &str,
    most: i64,
) -> Result<Vec<(Turn, Item)>> {
    let sql = format!(
        "SELECT {}, {COLUMNS} FROM core_thread_change c \
         JOIN soil_item i ON i.ws = c.ws AND i.seq = c.seq \
         WHERE c.ws = ?1 AND c.thread = ?2 AND c.n > ?3 AND c.actor <> ?4 ORDER BY c.n LIMIT ?5",
        items::columns()
    );
    told(tx.rows(&sql, args![ws, thread, n, agent, most])?)
}

/// The changes that came after one message of a thread and not after another, the last ones, in
/// order.
pub fn between(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    thread: Id,
    from: i64,
    to: i64,
    most: i64,
) -> Result<Vec<(Turn, Item)>> {
    let sql = format!(
        "SELECT {}, {COLUMNS} FROM core_thread_change c \
         JOIN soil_item i ON i.ws = c.ws AND i.seq = c.seq \
         WHERE c.ws = ?1 AND c.thread = ?2 AND c.after >= ?3 AND c.after <= ?4 \
         ORDER BY c.n DESC LIMIT ?5",
        items::columns()
    );
    let mut found = told(tx.rows(&sql, args![ws, thread, from, to, most])?)?;
    found.reverse();
    Ok(found)
}

/// How many of a thread's changes came before a message.
pub fn before(tx: &mut ReadTx<'_>, ws: Ws, thread: Id, n: i64) -> Result<i64> {
    let row = tx.row(
        "SELECT COUNT(*) FROM core_thread_change WHERE ws = ?1 AND thread = ?2 AND after < ?3",
        args![ws, thread, n],
    )?;
    row.map_or(Ok(0), |row| row.int(0))
}

/// The place of a workspace's last message or change of a thread; 0 before the first.
pub fn last_news(tx: &mut ReadTx<'_>, ws: Ws) -> Result<Seq> {
    let row = tx.row(
        "SELECT COALESCE((SELECT seq FROM core_message WHERE ws = ?1 ORDER BY seq DESC LIMIT 1), 0), \
         COALESCE((SELECT seq FROM core_thread_change WHERE ws = ?1 ORDER BY seq DESC LIMIT 1), 0)",
        args![ws],
    )?;
    row.map_or(Ok(Seq::ZERO), |row| Ok(Seq::max(row.int(0)?, row.int(1)?)))
}
