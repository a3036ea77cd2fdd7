//! How many bytes a workspace's items take. What was counted last is live: a count that is lost or old
//! is made up for from the log itself, so nothing but the count depends on it.

use understory_model::error::Result;
use understory_model::{Seq, Ws};

use crate::sql::{ReadTx, Tx, args};

/// Bytes of all items up to one of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counted {
    pub seq: Seq,
    pub bytes: i64,
}

/// What was counted last.
pub fn counted(tx: &mut ReadTx<'_>, ws: Ws) -> Result<Counted> {
    let row = tx.row("SELECT seq, bytes FROM live_usage WHERE ws = ?1", args![ws])?;
    row.map_or(Ok(Counted::default()), |row| {
        Ok(Counted {
            seq: row.int(0)?,
            bytes: row.int(1)?,
        })
    })
}

/// Bytes of the contents after a place in the log.
pub fn bytes_after(tx: &mut ReadTx<'_>, ws: Ws, seq: Seq) -> Result<i64> {
    let row = tx.row(
        "SELECT COALESCE(SUM(octet_length(content)), 0) FROM soil_item WHERE ws = ?1 AND seq > ?2",
        args![ws, seq],
    )?;
    row.map_or(Ok(0), |row| row.int(0))
}

pub fn keep(tx: &mut Tx<'_>, ws: Ws, counted: Counted) -> Result<()> {
    tx.run(
        "INSERT INTO live_usage (ws, seq, bytes) VALUES (?1, ?2, ?3) \
         ON CONFLICT (ws) DO UPDATE SET seq = excluded.seq, bytes = excluded.bytes",
        args![ws, counted.seq, counted.bytes],
    )?;
    Ok(())
}
