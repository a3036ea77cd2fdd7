//! Which items hold what looks like a credential: derived from the log like the rest of core, so a
//! replay finds them again and a purge takes them away.
//!
//! It knows kinds and items, never a credential.

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::Value;
use understory_model::Caller;
use understory_model::error::Result;
use understory_model::id::item_name;
use understory_model::item::Item;
use understory_model::secret::{self, Kind};
use understory_storage::{Tx, credentials};

use crate::Engine;
use crate::core::Core;

/// An item that holds what looks like a credential.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Flagged {
    pub seq: i64,
    pub item: String,
    #[serde(serialize_with = "named")]
    pub kind: Kind,
    pub actor: String,
    pub at: String,
}

fn named<S: serde::Serializer>(kind: &Kind, to: S) -> std::result::Result<S::Ok, S::Error> {
    to.serialize_str(kind.as_str())
}

/// Keeps which kinds an item holds.
pub(crate) fn noticed(tx: &mut Tx<'_>, core: &Core, item: &Item) -> Result<()> {
    let content = item.content.as_deref().unwrap_or_default();
    let mut kinds: BTreeSet<Kind> = BTreeSet::new();
    if let Ok(content) = serde_json::from_str::<Value>(content) {
        secret::find_in(&content, |found, _| {
            kinds.insert(found.kind);
        });
    }
    if kinds.is_empty() {
        return Ok(());
    }
    let kinds: Vec<Kind> = kinds.into_iter().collect();
    credentials::add(tx, core.ws, item.seq, &kinds)
}

impl Engine {
    /// How many items of the caller's workspace hold what looks like a credential, and the newest.
    pub fn credentials(&self, caller: &Caller, most: i64) -> Result<(i64, Vec<Flagged>)> {
        self.read(caller, |view| {
            let Some(view) = view else {
                return Ok((0, Vec::new()));
            };
            let newest = credentials::newest(view.tx, view.ws, most)?;
            let newest = newest.into_iter().map(|(item, kind)| Flagged {
                seq: item.seq,
                item: item_name(&item.uuid),
                kind,
                actor: item.actor,
                at: item.realized_at.to_string(),
            });
            Ok((credentials::count(view.tx, view.ws)?, newest.collect()))
        })
    }
}
