//! Which agents were ever seen in a workspace: who wrote something, gave a sign of life, or came.

use understory_model::Ws;
use understory_model::error::Result;
use understory_model::limits;

use crate::sql::{ReadTx, args};

pub fn was_seen(tx: &mut ReadTx<'_>, ws: Ws, agent: &str) -> Result<bool> {
    let row = tx.row(
        "SELECT 1 FROM soil_item WHERE ws = ?1 AND actor = ?2 LIMIT 1",
        args![ws, agent],
    )?;
    if row.is_some() {
        return Ok(true);
    }
    let row = tx.row(
        "SELECT 1 FROM live_session WHERE ws = ?1 AND agent = ?2 \
         UNION ALL SELECT 1 FROM live_name WHERE ws = ?1 AND agent = ?2 LIMIT 1",
        args![ws, agent],
    )?;
    Ok(row.is_some())
}

/// Everybody who was seen. Each name is one step through the index of actors, however long the log.
pub fn seen(tx: &mut ReadTx<'_>, ws: Ws) -> Result<Vec<String>> {
    let rows = tx.rows(
        "WITH RECURSIVE a (actor) AS (SELECT MIN(actor) FROM soil_item WHERE ws = ?1 \
         UNION ALL SELECT (SELECT MIN(i.actor) FROM soil_item i WHERE i.ws = ?1 \
         AND i.actor > a.actor) FROM a WHERE a.actor IS NOT NULL) \
         SELECT actor FROM a WHERE actor IS NOT NULL LIMIT ?2",
        args![ws, limits::AGENTS],
    )?;
    let mut names = Vec::new();
    for mut row in rows {
        names.push(row.text(0)?);
    }
    let rows = tx.rows(
        "SELECT agent FROM live_session WHERE ws = ?1 \
         UNION SELECT agent FROM live_name WHERE ws = ?1 LIMIT ?2",
        args![ws, limits::AGENTS],
    )?;
    for mut row in rows {
        names.push(row.text(0)?);
    }
    Ok(names)
}
