//! Which items hold what looks like a credential: derived from the log like the rest of core, so a
//! replay finds them again and a purge takes them away.
//!
//! It knows kinds and items, never a credential.

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::Value;
use understory_model::error::Result;
use understory_model::id::item_name;
use understory_model::item::Item;
use understory_model::secret::{self, Kind};
use understory_model::{Caller, Seq, Time};
use understory_storage::workspaces::{self, Workspace};
use understory_storage::{Tx, credentials, items};

use crate::Engine;
use crate::kernel::access::{Reader, reads_all};
use crate::kernel::core::Core;

/// An item that holds what looks like a credential.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Flagged {
    pub seq: Seq,
    pub item: String,
    #[serde(serialize_with = "named")]
    pub kind: Kind,
    pub actor: String,
    pub at: Time,
}

fn named<S: serde::Serializer>(kind: &Kind, to: S) -> std::result::Result<S::Ok, S::Error> {
    to.serialize_str(kind.as_str())
}

/// Keeps which kinds an item holds.
pub(crate) fn noticed(tx: &mut Tx<'_>, core: &Core, item: &Item) -> Result<()> {
    let kinds: Vec<Kind> = kinds(item).into_iter().collect();
    if kinds.is_empty() {
        return Ok(());
    }
    credentials::add(tx, core.ws, item.seq, &kinds)
}

/// Items that are looked through in one read, so that no read holds a snapshot for long.
const STEP: i64 = 500;

/// An item of some workspace that holds what looks like a credential.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Stored {
    pub workspace: String,
    #[serde(flatten)]
    pub item: Flagged,
}

/// The kinds of credentials that an item's content holds.
fn kinds(item: &Item) -> BTreeSet<Kind> {
    let mut kinds: BTreeSet<Kind> = BTreeSet::new();
    let content = item.content.as_deref().unwrap_or_default();
    if !secret::may_be_in(content) {
        return kinds;
    }
    if let Ok(content) = serde_json::from_str::<Value>(content) {
        secret::find_in(&content, |found, _| {
            kinds.insert(found.kind);
        });
    }
    kinds
}

fn flagged(item: &Item, kind: Kind) -> Flagged {
    Flagged {
        seq: item.seq,
        item: item_name(&item.uuid),
        kind,
        actor: item.actor.clone(),
        at: item.realized_at,
    }
}

impl Engine {
    /// Looks through the whole log for credentials, whatever was flagged when it was written. A
    /// caller who reads everything is told of every workspace, others of what they may read in
    /// their own. `tell` hears of every step; `most` bounds what is listed, not what is counted.
    pub fn stored_credentials(
        &self,
        caller: &Caller,
        most: usize,
        mut tell: impl FnMut(&str, Seq),
    ) -> Result<(usize, Vec<Stored>)> {
        let (mut count, mut listed) = (0, Vec::new());
        for workspace in self.readable_workspaces(caller)? {
            let mut after = Seq::ZERO;
            loop {
                let step = self.store().read(|tx| {
                    let mut reader = Reader::new(caller);
                    let items = items::after(tx, workspace.ws, after, STEP)?;
                    let last = items.last().map(|item| item.seq);
                    let mut found = Vec::new();
                    for item in items {
                        let kinds = kinds(&item);
                        if !kinds.is_empty() && reader.item(tx, workspace.ws, &item)? {
                            found.push((item, kinds));
                        }
                    }
                    Ok((last, found))
                })?;
                let Some((Some(last), found)) = step else {
                    break;
                };
                after = last;
                count += found.len();
                for (item, kinds) in found {
                    let room = most.saturating_sub(listed.len());
                    listed.extend(kinds.into_iter().take(room).map(|kind| Stored {
                        workspace: workspace.name.clone(),
                        item: flagged(&item, kind),
                    }));
                }
                tell(&workspace.name, after);
            }
        }
        Ok((count, listed))
    }

    /// The workspaces that a caller may look into.
    fn readable_workspaces(&self, caller: &Caller) -> Result<Vec<Workspace>> {
        let all = self
            .store()
            .read(|tx| workspaces::list(tx))?
            .unwrap_or_default();
        if reads_all(caller.role) {
            return Ok(all);
        }
        let own = self.workspace(caller)?;
        let own = own.name();
        Ok(all.into_iter().filter(|one| one.name == own).collect())
    }

    /// How many items of the caller's workspace hold what looks like a credential, and the newest.
    pub fn credentials(&self, caller: &Caller, most: i64) -> Result<(i64, Vec<Flagged>)> {
        self.view(caller, |view| {
            let newest = credentials::newest(view.tx, view.ws, most)?;
            let newest = newest.into_iter().map(|(item, kind)| flagged(&item, kind));
            Ok((credentials::count(view.tx, view.ws)?, newest.collect()))
        })
    }
}
