//! Texts to be indexed, held until the end of a write: by their words, and by what they mean.

use std::collections::BTreeMap;

use understory_model::{Id, Seq, Ws};
use understory_storage::texts::{Text, TextChange};

use crate::kernel::meaning;

/// What a write puts into the text indexes and takes out of them.
#[derive(Default)]
pub struct Texts {
    /// The item that is being applied; what it changes has its place.
    pub at: Seq,
    pending: BTreeMap<Id, TextChange>,
}

impl Texts {
    fn change(&mut self, ws: Ws, id: Id, replaces: bool) -> &mut TextChange {
        // What this write itself put there has not reached the index yet.
        let change = self.pending.entry(id).or_insert(TextChange {
            ws,
            id,
            replaces,
            text: None,
            seq: Seq::ZERO,
            kind: "",
            vectors: Vec::new(),
        });
        change.seq = self.at;
        change
    }

    /// Indexes a text of a sort of thing; `again` when one of this thing is there already.
    pub fn put(&mut self, ws: Ws, id: Id, kind: &'static str, text: Text, again: bool) {
        let change = self.change(ws, id, again);
        change.kind = kind;
        change.text = Some(text);
        change.vectors.clear();
    }

    /// As [`Texts::put`], for a commit: its lines are found one by one and never change, and so is
    /// why they were written.
    pub fn put_commit(&mut self, ws: Ws, id: Id, kind: &'static str, lines: &[&str], why: &str) {
        if lines.iter().all(|line| line.trim().is_empty()) && why.trim().is_empty() {
            return;
        }
        let text = Text {
            summary: why.to_string(),
            body: lines.join("\n"),
            ..Text::default()
        };
        self.put(ws, id, kind, text, false);
        let parts = meaning::of_commit(lines, why);
        self.change(ws, id, false).vectors = meaning::of_passages(&parts);
    }

    pub fn remove(&mut self, ws: Ws, id: Id) {
        let change = self.change(ws, id, true);
        change.kind = "";
        change.text = None;
        change.vectors.clear();
    }

    /// What is to be done, in the order of ids.
    pub fn take(&mut self) -> impl Iterator<Item = TextChange> {
        let pending = std::mem::take(&mut self.pending);
        pending.into_values().map(|mut change| {
            if let (Some(text), true) = (&change.text, change.vectors.is_empty()) {
                change.vectors = meaning::of_text(text);
            }
            change
        })
    }
}
