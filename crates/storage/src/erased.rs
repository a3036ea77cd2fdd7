//! Contents that their authors took back.
//!
//! The database allows this one change of an item, and only after the log says it. What is left of
//! the content on the pages of the file, and in the log of pages, goes with it.

use std::time::Duration;

use understory_model::error::Result;
use understory_model::{Seq, Time, Ws};

use crate::dialect::Dialect;
use crate::sql::{Conn, ReadTx, Tx, args};
use crate::store::Store;

/// How often the file is asked to let go of old pages while others read them.
const TRIES: u32 = 20;

/// Takes the content of an item back; `by` is the item that says so, already in the log.
pub fn erase(tx: &mut Tx<'_>, ws: Ws, seq: Seq, by: Seq, remains: &str) -> Result<()> {
    tx.run(
        "INSERT INTO soil_erased (ws, seq, by_seq, remains) VALUES (?1, ?2, ?3, ?4)",
        args![ws, seq, by, remains],
    )?;
    tx.run(
        "UPDATE soil_item SET content = NULL WHERE ws = ?1 AND seq = ?2",
        args![ws, seq],
    )?;
    Ok(())
}

/// Answers that an agent was given at a moment repeat what it wrote; a retry is now told this.
pub fn blank_answers(tx: &mut Tx<'_>, ws: Ws, agent: &str, at: Time, instead: &str) -> Result<()> {
    tx.run(
        "UPDATE live_answer SET answer = ?4 WHERE ws = ?1 AND agent = ?2 AND at = ?3",
        args![ws, agent, at.0, instead],
    )?;
    Ok(())
}

/// The item that took a content back, and what it left.
pub fn find(tx: &mut ReadTx<'_>, ws: Ws, seq: Seq) -> Result<Option<(Seq, String)>> {
    let row = tx.row(
        "SELECT by_seq, remains FROM soil_erased WHERE ws = ?1 AND seq = ?2",
        args![ws, seq],
    )?;
    row.map(|mut row| Ok((row.int(0)?, row.text(1)?)))
        .transpose()
}

impl Store {
    /// After a content was erased and committed: lets nothing of it remain beside the tables. The
    /// erasure itself stands whatever becomes of this; a reader of an older state keeps its
    /// pages alive, and the next checkpoint then takes them.
    pub fn finish_erasing(&self, workspace: &str, indexed: bool) {
        self.settle(workspace, |dialect| dialect.finish_erasing(indexed));
    }

    /// The same after working texts were forgotten.
    pub fn finish_forgetting(&self, workspace: &str) {
        self.settle(workspace, Dialect::finish_forgetting);
    }

    pub(crate) fn settle(
        &self,
        workspace: &str,
        statements: impl Fn(Dialect) -> &'static [&'static str],
    ) {
        let run = |conn: &mut Conn| {
            for statement in statements(conn.dialect()) {
                for _ in 0..TRIES {
                    if conn.run_maintenance(statement).unwrap_or(false) {
                        break;
                    }
                    std::thread::sleep(Duration::from_millis(50));
                }
            }
        };
        self.with_writer(workspace, run);
    }
}
