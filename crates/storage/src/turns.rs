//! Changes of threads: of their status and of who takes part, numbered in each thread.

use understory_model::error::Result;
use understory_model::item::Item;
use understory_model::{Id, Seq, Ws};

use crate::items;
use crate::sql::{Row, Tx, args};

/// An item as a change of a thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turn {
    pub thread: Id,
    /// Its number among the thread's changes; the first is 1.
    pub n: i64,
    pub seq: Seq,
    /// The number of the thread's last message before it.
    pub after: i64,
    pub actor: String,
}

pub fn add(tx: &mut Tx<'_>, ws: Ws, turn: &Turn) -> Result<()> {
    tx.run(
        "INSERT INTO core_thread_change (ws, thread, n, seq, after, actor) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        args![ws, turn.thread, turn.n, turn.seq, turn.after, &turn.actor],
    )?;
    Ok(())
}

const COLUMNS: &str = "c.thread, c.n, c.seq, c.after, c.actor";

fn told(rows: Vec<Row>) -> Result<Vec<(Turn, Item)>> {
    rows.into_iter()
        .map(|mut row| {
            let at = items::WIDTH;
            let turn = Turn {
                thread: row.int(at)?,
                n: row.int(at + 1)?,
                seq: row.int(at + 2)?,
                after: row.int(at + 3)?,
                actor: row.text(at + 4)?,
            };
            Ok((turn, items::item(row)?))
        })
        .collect()
}

/// A thread's changes after a number that are not an agent's own, in order.
pub fn of_others(
    tx: &mut Tx<'_>,
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
    tx: &mut Tx<'_>,
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
pub fn before(tx: &mut Tx<'_>, ws: Ws, thread: Id, n: i64) -> Result<i64> {
    let row = tx.row(
        "SELECT COUNT(*) FROM core_thread_change WHERE ws = ?1 AND thread = ?2 AND after < ?3",
        args![ws, thread, n],
    )?;
    row.map_or(Ok(0), |row| row.int(0))
}

/// The place of a workspace's last message or change of a thread; 0 before the first.
pub fn last_news(tx: &mut Tx<'_>, ws: Ws) -> Result<Seq> {
    let row = tx.row(
        "SELECT COALESCE((SELECT seq FROM core_message WHERE ws = ?1 ORDER BY seq DESC LIMIT 1), 0), \
         COALESCE((SELECT seq FROM core_thread_change WHERE ws = ?1 ORDER BY seq DESC LIMIT 1), 0)",
        args![ws],
    )?;
    row.map_or(Ok(0), |row| Ok(row.int(0)?.max(row.int(1)?)))
}
