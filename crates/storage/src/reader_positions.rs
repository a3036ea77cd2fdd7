//! Where each reader last looked in each artifact. Live data: who loses it looks again.

use understory_model::error::Result;
use understory_model::{Id, Ws};

use crate::sql::{ReadTx, Tx, args};

/// The first and the last line of an agent's last look, from 1.
pub fn get(tx: &mut ReadTx<'_>, ws: Ws, agent: &str, artifact: Id) -> Result<Option<(i64, i64)>> {
    let row = tx.row(
        "SELECT first_line, last_line FROM live_view \
         WHERE ws = ?1 AND agent = ?2 AND artifact = ?3",
        args![ws, agent, artifact],
    )?;
    row.map(|row| Ok((row.int(0)?, row.int(1)?))).transpose()
}

pub fn put(
    tx: &mut Tx<'_>,
    ws: Ws,
    agent: &str,
    artifact: Id,
    (first, last): (i64, i64),
) -> Result<()> {
    tx.run(
        "INSERT INTO live_view (ws, agent, artifact, first_line, last_line) \
         VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (ws, agent, artifact) DO UPDATE SET \
         first_line = excluded.first_line, last_line = excluded.last_line",
        args![ws, agent, artifact, first, last],
    )?;
    Ok(())
}
