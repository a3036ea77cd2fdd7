//! Working texts that a task or a conversation shares while it is open. Live data: what of it
//! matters is made a note, and the loss of the rest loses nothing of record.

use understory_model::error::Result;
use understory_model::{Id, Time, Ws};

use crate::lists;
use crate::sql::{Arg, ReadTx, Tx, args};

/// The working text of a thing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scratch {
    pub text: String,
    /// Counts what was written, forgetting included, so that no number comes twice.
    pub rev: i64,
    pub by: String,
    pub at: Time,
}

pub fn get(tx: &mut ReadTx<'_>, ws: Ws, thing: Id) -> Result<Option<Scratch>> {
    let row = tx.row(
        "SELECT content, rev, author, at FROM live_scratch WHERE ws = ?1 AND thing = ?2",
        args![ws, thing],
    )?;
    row.map(|mut row| {
        Ok(Scratch {
            text: row.text(0)?,
            rev: row.int(1)?,
            by: row.text(2)?,
            at: Time(row.int(3)?),
        })
    })
    .transpose()
}

pub fn put(tx: &mut Tx<'_>, ws: Ws, thing: Id, one: &Scratch) -> Result<()> {
    tx.run(
        "INSERT INTO live_scratch (ws, thing, content, rev, author, at) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (ws, thing) DO UPDATE SET \
         content = excluded.content, rev = excluded.rev, author = excluded.author, \
         at = excluded.at",
        args![ws, thing, &one.text, one.rev, &one.by, one.at.0],
    )?;
    Ok(())
}

/// Forgets the texts of some things, and tells whether there were any; their numbers stay, and move
/// on.
pub fn forget(tx: &mut Tx<'_>, ws: Ws, things: &[Id]) -> Result<bool> {
    let mut any = false;
    for some in things.chunks(lists::AT_ONCE) {
        let mut args = vec![Arg::from(ws)];
        let things = lists::numbers(some, &mut args);
        let sql = format!(
            "UPDATE live_scratch SET content = '', rev = rev + 1 WHERE ws = ?1 \
             AND content <> '' AND thing IN ({things})"
        );
        any |= tx.run(&sql, &args)? > 0;
    }
    Ok(any)
}
