//! Core compared with a replay of the log into a scratch store.

use understory_model::Seq;
use understory_model::error::{Code, Fault, Result};
use understory_storage::dump::{self, Digest};
use understory_storage::workspaces::{self, Head, Workspace};
use understory_storage::{ReadTx, items};

use super::rebuild;
use crate::kernel::clock::{Clock, System};
use crate::kernel::core::Core;
use crate::{Engine, projection};

/// Items replayed in one transaction.
const CHUNK: i64 = 1_000;

impl Engine {
    /// Replays the log into a scratch store and names the core tables that differ.
    pub(super) fn compare_core(&self, tell: &mut impl FnMut(&str, Seq)) -> Result<Vec<String>> {
        let name = format!("understory-{}", System.uuid(System.now()));
        let folder = std::env::temp_dir().join(name);
        understory_storage::files::new_private_folder(&folder).map_err(|error| {
            Fault::new(
                Code::StoreUnavailable,
                format!("no room for a scratch store: {error}"),
            )
        })?;
        let result = self.compare_core_in(&folder, tell);
        let _ = std::fs::remove_dir_all(&folder);
        result
    }

    fn compare_core_in(
        &self,
        folder: &std::path::Path,
        tell: &mut impl FnMut(&str, Seq),
    ) -> Result<Vec<String>> {
        let scratch = understory_storage::Store::new(
            &folder.join("scratch.db").to_string_lossy(),
            understory_storage::Options {
                scratch: true,
                ..understory_storage::Options::default()
            },
        );
        let found = self.store().read(|tx| {
            tx.without_limits()?;
            let workspaces = workspaces::list(tx)?;
            for workspace in &workspaces {
                let start = rebuild::start(workspace);
                let made = workspace.clone();
                scratch.write("", move |to| workspaces::put_head(to, made.ws, &start))?;
                copy_core(tx, &scratch, workspace, tell)?;
            }
            dump::core(tx)
        })?;
        let Some(found) = found else {
            return Ok(Vec::new());
        };
        let replayed = scratch
            .read(|tx| {
                tx.without_limits()?;
                dump::core(tx)
            })?
            .unwrap_or_default();
        scratch.close();
        Ok(differences(&found, &replayed))
    }
}

fn copy_core(
    tx: &mut ReadTx<'_>,
    scratch: &understory_storage::Store,
    workspace: &Workspace,
    tell: &mut impl FnMut(&str, Seq),
) -> Result<()> {
    let (ws, mut after) = (workspace.ws, Seq::ZERO);
    loop {
        let batch = items::after(tx, ws, after, CHUNK)?;
        let Some(last) = batch.last() else {
            return Ok(());
        };
        after = last.seq;
        scratch.write("", move |to| {
            // What a text mentions by its id is looked up in the log.
            items::append(to, ws, &batch)?;
            let mut core = Core::new(ws);
            let mut head = None;
            for item in &batch {
                projection::replay(to, &mut core, item)?;
                head = Some(Head {
                    seq: item.seq,
                    chain: item.chain,
                    at: item.realized_at,
                });
            }
            core.finish(to)?;
            head.map_or(Ok(()), |head| workspaces::put_head(to, ws, &head))
        })?;
        tell(&workspace.name, after);
    }
}

fn differences(found: &[Digest], replayed: &[Digest]) -> Vec<String> {
    let of = |digests: &[Digest], table: &str| {
        digests
            .iter()
            .find(|d| d.table == table)
            .map_or((0, 0), |d| (d.rows, d.sum))
    };
    found
        .iter()
        .filter(|digest| (digest.rows, digest.sum) != of(replayed, digest.table))
        .map(|digest| digest.table.to_string())
        .collect()
}
