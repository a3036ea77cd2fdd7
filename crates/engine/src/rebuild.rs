//! Deriving core again from the log.

use understory_model::error::Result;
use understory_model::item::genesis;
use understory_storage::workspaces::{self, Head, Workspace};
use understory_storage::{Tx, items};

use crate::Engine;
use crate::core::Core;
use crate::projection;

/// Items replayed before what they changed is written: bounds memory.
const CHUNK: i64 = 1_000;

/// Replays every workspace of a store into an empty core.
pub fn replay_all(tx: &mut Tx<'_>) -> Result<()> {
    replay_telling(tx, &mut |_, _| {})
}

pub(crate) fn replay_telling(tx: &mut Tx<'_>, tell: &mut dyn FnMut(&str, i64)) -> Result<()> {
    for workspace in workspaces::list(tx)? {
        let mut head = start(&workspace);
        loop {
            let batch = items::after(tx, workspace.ws, head.seq, CHUNK)?;
            if batch.is_empty() {
                break;
            }
            let mut core = Core::new(workspace.ws);
            for item in &batch {
                projection::replay(tx, &mut core, item)?;
                head = Head {
                    seq: item.seq,
                    chain: item.chain,
                    at: item.realized_at,
                };
            }
            core.finish(tx)?;
            tell(&workspace.name, head.seq);
        }
        workspaces::put_head(tx, workspace.ws, &head)?;
    }
    Ok(())
}

/// The end of an empty log.
pub(crate) fn start(workspace: &Workspace) -> Head {
    Head {
        seq: 0,
        chain: genesis(&workspace.name),
        at: workspace.created_at,
    }
}

impl Engine {
    /// Drops core and derives it anew, in one transaction; `tell` hears how far it got.
    pub fn rebuild(&self, tell: impl FnMut(&str, i64) + Send + 'static) -> Result<()> {
        let mut tell = tell;
        self.store()
            .rebuild(move |tx| replay_telling(tx, &mut tell))
    }
}
