//! Answers kept for retries: the key and what was answered commit together with the write.

use understory_model::error::Result;
use understory_model::item::Hash;
use understory_model::{Time, Ws};

use crate::sql::{ReadTx, Tx, args};

/// Which call an answer belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    pub agent: String,
    pub tool: String,
    /// What else must agree for a key to be the same: a thread, for messages.
    pub scope: String,
    pub key: String,
}

/// The digest of the first call's arguments, and its answer.
pub fn find(tx: &mut ReadTx<'_>, ws: Ws, key: &Key, since: Time) -> Result<Option<(Hash, String)>> {
    let row = tx.row(
        "SELECT digest, answer FROM live_answer WHERE ws = ?1 AND agent = ?2 AND tool = ?3 \
         AND scope = ?4 AND key = ?5 AND at >= ?6",
        args![ws, &key.agent, &key.tool, &key.scope, &key.key, since.0],
    )?;
    row.map(|mut row| Ok((row.bytes(0)?, row.text(1)?)))
        .transpose()
}

pub fn keep(
    tx: &mut Tx<'_>,
    ws: Ws,
    key: &Key,
    digest: &Hash,
    answer: &str,
    at: Time,
) -> Result<()> {
    tx.run(
        "INSERT INTO live_answer (ws, agent, tool, scope, key, digest, answer, at) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT (ws, agent, tool, scope, key) \
         DO UPDATE SET digest = excluded.digest, answer = excluded.answer, at = excluded.at",
        args![
            ws,
            &key.agent,
            &key.tool,
            &key.scope,
            &key.key,
            digest.as_slice(),
            answer,
            at.0
        ],
    )?;
    Ok(())
}

/// Forgets answers that are older than the window.
pub fn forget(tx: &mut Tx<'_>, before: Time) -> Result<()> {
    tx.run("DELETE FROM live_answer WHERE at < ?1", args![before.0])?;
    Ok(())
}
