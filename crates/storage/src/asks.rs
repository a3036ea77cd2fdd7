//! What was asked in threads and waits for an answer.

use understory_model::error::Result;
use understory_model::item::Item;
use understory_model::thread::{Ask, Asked};
use understory_model::{Id, Ws};

use crate::items;
use crate::sql::{ReadTx, Row, Tx, args};

pub fn add(tx: &mut Tx<'_>, ws: Ws, thread: Id, asked: &Asked) -> Result<()> {
    tx.run(
        "INSERT INTO core_ask (ws, thread, n, ask, sender, finding, reviewer, open) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 1)",
        args![
            ws,
            thread,
            asked.n,
            asked.ask.as_str(),
            &asked.sender,
            asked.finding,
            asked.reviewer.as_ref()
        ],
    )?;
    Ok(())
}

/// Notes that it was answered.
pub fn close(tx: &mut Tx<'_>, ws: Ws, thread: Id, n: i64) -> Result<()> {
    tx.run(
        "UPDATE core_ask SET open = 0 WHERE ws = ?1 AND thread = ?2 AND n = ?3",
        args![ws, thread, n],
    )?;
    Ok(())
}

const COLUMNS: &str = "a.n, a.ask, a.sender, a.finding, a.reviewer";

fn asked(row: &mut Row, at: usize) -> Result<Option<Asked>> {
    let name = row.text(at + 1)?;
    let Some(ask) = Ask::parse(&name) else {
        return Ok(None);
    };
    Ok(Some(Asked {
        n: row.int(at)?,
        ask,
        sender: row.text(at + 2)?,
        finding: row.opt_int(at + 3)?,
        reviewer: row.opt_text(at + 4)?,
    }))
}

/// What is not answered in a thread, oldest first.
pub fn open(tx: &mut ReadTx<'_>, ws: Ws, thread: Id) -> Result<Vec<Asked>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM core_ask a WHERE a.ws = ?1 AND a.thread = ?2 AND a.open = 1 \
         ORDER BY a.n"
    );
    let rows = tx.rows(&sql, args![ws, thread])?;
    let rows = rows.into_iter().map(|mut row| asked(&mut row, 0));
    rows.filter_map(Result::transpose).collect()
}

/// As [`open`], each with the item that asks.
pub fn open_items(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    thread: Id,
    most: i64,
) -> Result<Vec<(Asked, Item)>> {
    let sql = format!(
        "SELECT {}, {COLUMNS} FROM core_ask a \
         CROSS JOIN core_message m JOIN soil_item i ON i.ws = m.ws AND i.seq = m.seq \
         WHERE a.ws = ?1 AND a.thread = ?2 AND a.open = 1 AND m.ws = ?1 AND m.thread = a.thread \
         AND m.n = a.n ORDER BY a.n LIMIT ?3",
        items::columns()
    );
    let rows = tx.rows(&sql, args![ws, thread, most])?;
    let rows = rows.into_iter().map(|mut row| {
        let asked = asked(&mut row, items::WIDTH)?;
        let item = items::item(row)?;
        Ok(asked.map(|asked| (asked, item)))
    });
    rows.filter_map(Result::transpose).collect()
}
