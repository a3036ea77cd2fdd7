//! Contents that an operator erased: what remains of items, and what is live beside them.
//!
//! Nothing here decides what is erased. Core is dropped and replayed in the same transaction, so
//! no derived table can be forgotten.

use understory_model::error::Result;
use understory_model::{Id, Seq, Time, Ws};

use crate::answers::Key;
use crate::scratch::Scratch;
use crate::sql::{ReadTx, Tx, args};
use crate::store::Store;
use crate::{erased, schema};

/// Makes all others wait until this transaction is over.
pub fn lock_core(tx: &mut Tx<'_>) -> Result<()> {
    let lock = tx.dialect().lock_core();
    if lock.is_empty() {
        Ok(())
    } else {
        tx.batch(lock)
    }
}

/// Replaces the content of an item by what remains of it; `by` is the item that says so, already in
/// the log. An item whose content was erased before loses more of it.
pub fn erase(tx: &mut Tx<'_>, ws: Ws, seq: Seq, by: Seq, remains: &str) -> Result<()> {
    if erased::find(tx, ws, seq)?.is_none() {
        return erased::erase(tx, ws, seq, by, remains);
    }
    tx.run(
        "UPDATE soil_erased SET by_seq = ?3, remains = ?4 WHERE ws = ?1 AND seq = ?2",
        args![ws, seq, by, remains],
    )?;
    Ok(())
}

/// Drops core and derives it anew, within a transaction of others' jobs: texts that those deferred
/// are derived too, and are theirs again should this fail.
pub fn redo_core(tx: &mut Tx<'_>, replay: impl FnOnce(&mut Tx<'_>) -> Result<()>) -> Result<()> {
    let held = std::mem::take(tx.deferred());
    let done = schema::reset_core(tx).and_then(|()| replay(tx));
    if done.is_err() {
        *tx.deferred() = held;
    }
    done
}

/// The last purge of a workspace; 0 before the first. A cache of what was read is dropped when
/// this changes.
pub fn last(tx: &mut ReadTx<'_>, ws: Ws) -> Result<Seq> {
    let row = tx.row(
        "SELECT seq FROM soil_item WHERE ws = ?1 AND type = 'Purged' AND type <> 'EntityDelta' \
         ORDER BY seq DESC LIMIT 1",
        args![ws],
    )?;
    row.map_or(Ok(Seq::ZERO), |row| row.int(0))
}

/// Every answer that is kept for a retry.
pub fn answers(tx: &mut ReadTx<'_>, ws: Ws) -> Result<Vec<(Key, String, Time)>> {
    let rows = tx.rows(
        "SELECT agent, tool, scope, key, answer, at FROM live_answer WHERE ws = ?1",
        args![ws],
    )?;
    rows.into_iter()
        .map(|mut row| {
            let key = Key {
                agent: row.text(0)?,
                tool: row.text(1)?,
                scope: row.text(2)?,
                key: row.text(3)?,
            };
            Ok((key, row.text(4)?, Time(row.int(5)?)))
        })
        .collect()
}

/// Another answer for a retry, or none: then the call runs again.
pub fn put_answer(tx: &mut Tx<'_>, ws: Ws, key: &Key, answer: Option<&str>) -> Result<()> {
    let Key {
        agent,
        tool,
        scope,
        key,
    } = key;
    match answer {
        Some(answer) => tx.run(
            "UPDATE live_answer SET answer = ?6 WHERE ws = ?1 AND agent = ?2 AND tool = ?3 \
             AND scope = ?4 AND key = ?5",
            args![ws, agent, tool, scope, key, answer],
        )?,
        None => tx.run(
            "DELETE FROM live_answer WHERE ws = ?1 AND agent = ?2 AND tool = ?3 \
             AND scope = ?4 AND key = ?5",
            args![ws, agent, tool, scope, key],
        )?,
    };
    Ok(())
}

/// Every working text.
pub fn scratches(tx: &mut ReadTx<'_>, ws: Ws) -> Result<Vec<(Id, Scratch)>> {
    let rows = tx.rows(
        "SELECT thing, content, rev, author, at FROM live_scratch \
         WHERE ws = ?1 AND content <> ''",
        args![ws],
    )?;
    rows.into_iter()
        .map(|mut row| {
            let scratch = Scratch {
                text: row.text(1)?,
                rev: row.int(2)?,
                by: row.text(3)?,
                at: Time(row.int(4)?),
            };
            Ok((row.int(0)?, scratch))
        })
        .collect()
}

impl Store {
    /// After a purge was committed: lets nothing of it remain beside the tables.
    pub fn finish_purging(&self, workspace: &str) {
        self.settle(workspace, crate::dialect::Dialect::finish_purging);
    }
}
