//! `branchmind_diff`: entries that one branch shows and another does not.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use understory_model::answer::{Fit, Shape};
use understory_model::branch::unseen;
use understory_model::budget::Drop;
use understory_model::error::Result;
use understory_model::{Seq, Ws};
use understory_storage::ReadTx;

use super::place::Place;
use super::shape::Asked;
use super::shape::{self, Pagination, seqs};
use super::{copies, lineage};

use super::notes::{Doc, Found};

/// The answer of `branchmind_diff`: a page of what one branch shows and another does not, read from
/// its end.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Diff {
    pub from: String,
    pub to: String,
    pub doc: String,
    /// The oldest first; the next page is what lies before them.
    pub entries: Vec<shape::Entry>,
    pub pagination: Pagination<Seq>,
    /// Where nothing differs: other documents that branch `to` has.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub documents: Vec<String>,
    pub truncated: bool,
}

impl Fit for Diff {
    const SHAPE: Shape = Shape::Around {
        list: "entries",
        drop: Drop::First,
    };

    fn around(&self, kept: usize) -> Option<Diff> {
        let newest_first = seqs(self.entries.iter().rev());
        Some(Diff {
            from: self.from.clone(),
            to: self.to.clone(),
            doc: self.doc.clone(),
            entries: Vec::new(),
            pagination: self.pagination.cut(&newest_first, kept),
            documents: self.documents.clone(),
            truncated: self.truncated,
        })
    }
}

/// `branchmind_diff`: entries that one branch shows and another does not.
pub fn diff(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    (from, to, doc): (&str, &str, &str),
    asked: Asked,
) -> Result<Diff> {
    let known = lineage::sources(tx, ws, from)?;
    let place = Place {
        branch: to.to_string(),
        doc: doc.to_string(),
    };
    let there = Doc::open(tx, ws, place)?;
    let new = unseen(&known, &there.sources);
    let mut before = asked.cursor.unwrap_or(Seq::MAX);
    let mut found = Vec::new();
    loop {
        let some = there.tail_of(tx, &new, before, asked.limit + 1)?;
        let last = some.last().map(|(entry, _)| entry.seq);
        // What a merge copied does not count as a difference.
        let copied = copies::known(tx, ws, doc, &known, &some)?;
        found.extend(
            some.into_iter()
                .filter(|(entry, _)| !copied.contains(&entry.seq)),
        );
        match last {
            Some(last) if found.len() as i64 <= asked.limit => before = last,
            _ => break,
        }
    }
    let found = Found::new(tx, &there, found, asked)?;
    Ok(Diff {
        from: from.to_string(),
        to: to.to_string(),
        doc: doc.to_string(),
        entries: found.entries,
        pagination: found.pagination,
        documents: found.others,
        truncated: false,
    })
}
