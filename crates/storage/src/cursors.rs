//! How far an agent has dealt with a stream of news.

use understory_model::error::Result;
use understory_model::{Seq, Ws};

use crate::sql::{ReadTx, Tx, args};

pub fn get(tx: &mut ReadTx<'_>, ws: Ws, agent: &str, stream: &str) -> Result<Seq> {
    let row = tx.row(
        "SELECT seq FROM core_cursor WHERE ws = ?1 AND agent = ?2 AND stream = ?3",
        args![ws, agent, stream],
    )?;
    row.map_or(Ok(Seq::ZERO), |row| row.int(0))
}

pub fn put(tx: &mut Tx<'_>, ws: Ws, agent: &str, stream: &str, seq: Seq) -> Result<()> {
    tx.run(
        "INSERT INTO core_cursor (ws, agent, stream, seq) VALUES (?1, ?2, ?3, ?4) \
         ON CONFLICT (ws, agent, stream) DO UPDATE SET seq = excluded.seq",
        args![ws, agent, stream, seq],
    )?;
    Ok(())
}
