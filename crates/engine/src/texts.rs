//! Texts to be indexed, held until the end of a write.

use std::collections::BTreeMap;

use understory_model::{Id, Ws};
use understory_storage::texts::{Text, TextChange};

/// What a write puts into the text index and takes out of it.
#[derive(Default)]
pub struct Texts {
    pending: BTreeMap<Id, TextChange>,
}

impl Texts {
    fn change(&mut self, ws: Ws, id: Id, replaces: bool) -> &mut TextChange {
        // What this write itself put there has not reached the index yet.
        self.pending.entry(id).or_insert(TextChange {
            ws,
            id,
            replaces,
            text: None,
        })
    }

    /// Indexes a text; `again` when one of this thing is there already.
    pub fn put(&mut self, ws: Ws, id: Id, text: Text, again: bool) {
        self.change(ws, id, again).text = Some(text);
    }

    pub fn remove(&mut self, ws: Ws, id: Id) {
        self.change(ws, id, true).text = None;
    }

    /// What is to be done, in the order of ids.
    pub fn take(&mut self) -> impl Iterator<Item = TextChange> {
        std::mem::take(&mut self.pending).into_values()
    }
}
