//! What a log is at a moment, for a checkpoint that is kept elsewhere.
//!
//! It knows no key: who signs it and how is the edge's matter.

use understory_model::error::{Code, Fault, Result};
use understory_model::{Seq, Time};
use understory_storage::meta;

use crate::Engine;
use crate::system::verify::Proof;

/// The end of a log that was proved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Point {
    pub store: String,
    pub workspace: String,
    pub seq: Seq,
    /// The last link of the chain, in hexadecimal digits.
    pub head: String,
    pub at: Time,
}

impl Engine {
    /// The ends of all logs, or of the one named. Each is proved first: a checkpoint must not vouch for
    /// a log that was changed before it.
    pub fn checkpoints(
        &self,
        only: Option<&str>,
        tell: impl FnMut(&str, Seq),
    ) -> Result<Vec<Point>> {
        let report = self.verify(only, false, tell)?;
        if let Some(proof) = report.workspaces.iter().find(|proof| !proof.ok) {
            return Err(damaged(proof));
        }
        let store = self.store_id()?;
        let at = self.clock().now();
        let points = report.workspaces.into_iter().map(|proof| Point {
            store: store.clone(),
            workspace: proof.workspace,
            seq: Seq(proof.items),
            head: proof.head,
            at,
        });
        Ok(points.collect())
    }

    /// The store's id; the first checkpoint makes it.
    fn store_id(&self) -> Result<String> {
        if let Some(Some(id)) = self.store().read(|tx| meta::store_id(tx))? {
            return Ok(id);
        }
        let id = self.clock().uuid(self.clock().now()).to_string();
        self.store()
            .write("", move |tx| {
                meta::put_store_id(tx, &id)?;
                meta::store_id(tx)
            })?
            .ok_or_else(|| Fault::new(Code::Internal, "the store's id was not kept"))
    }
}

fn damaged(proof: &Proof) -> Fault {
    let first = proof.breaks.first();
    let first = first.map_or_else(String::new, |first| {
        format!("#{}: {}", first.seq, first.what)
    });
    let problem = format!("the log of {} does not prove: {first}", proof.workspace);
    Fault::new(Code::StoreCorrupt, problem).hint("`understory verify` lists every break.")
}
