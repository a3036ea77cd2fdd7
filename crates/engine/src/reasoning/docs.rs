//! Which documents a branch has, so that nothing is looked for, or written, under a wrong name.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use understory_model::error::Result;
use understory_model::nearest::nearest;
use understory_model::text::quoted;
use understory_model::{Seq, Ws};
use understory_storage::ReadTx;
use understory_storage::branches;

use super::lineage;
use super::place::{self, Kind, Place};

/// Ancestors whose documents are looked for; a longer line is not read by anybody as a list.
const ANCESTORS: usize = 64;

/// A document as a branch sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Document {
    pub doc: String,
    pub kind: Made,
    /// Notes and cards in it; the events of a task are not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entries: Option<i64>,
}

/// What a document is made of.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Made {
    Entries,
    Graph,
}

/// The documents that a branch shows something in, by name.
pub fn of_branch(tx: &mut ReadTx<'_>, ws: Ws, branch: &str) -> Result<Vec<Document>> {
    let mut found: BTreeMap<(String, Made), i64> = BTreeMap::new();
    for source in lineage::sources(tx, ws, branch)?.iter().take(ANCESTORS) {
        for one in branches::documents(tx, ws, &source.branch, source.cutoff)? {
            let made = if one.graph {
                Made::Graph
            } else {
                Made::Entries
            };
            *found.entry((one.doc, made)).or_default() += one.entries;
        }
    }
    if let Some(handle) = place::node_of_line(tx, ws, branch)? {
        // A task's trace and graph have the task itself in them from the start.
        let own = |kind| place::own_doc(&handle, kind);
        found.entry((own(Kind::Trace), Made::Entries)).or_default();
        found.entry((own(Kind::Graph), Made::Graph)).or_default();
    }
    let shown = found.into_iter().map(|((doc, kind), entries)| Document {
        doc,
        kind,
        entries: (kind == Made::Entries).then_some(entries),
    });
    Ok(shown.collect())
}

/// The documents of a branch other than the one that was looked at and found empty.
pub fn others(tx: &mut ReadTx<'_>, ws: Ws, place: &Place) -> Result<Vec<String>> {
    let mut names: Vec<String> = of_branch(tx, ws, &place.branch)?
        .into_iter()
        .map(|one| one.doc)
        .filter(|doc| *doc != place.doc)
        .collect();
    names.dedup();
    Ok(names)
}

/// The documents that were written on a branch itself, other than one.
pub fn written(tx: &mut ReadTx<'_>, ws: Ws, place: &Place) -> Result<Vec<String>> {
    let mut names: Vec<String> = branches::documents(tx, ws, &place.branch, Seq::MAX)?
        .into_iter()
        .map(|one| one.doc)
        .filter(|doc| *doc != place.doc)
        .collect();
    names.sort();
    names.dedup();
    Ok(names)
}

/// A document that would be new on its branch and has nearly the name of one that is there.
pub fn near_miss(tx: &mut ReadTx<'_>, ws: Ws, place: &Place) -> Result<Option<String>> {
    if branches::has(tx, ws, &place.branch, &place.doc)? {
        return Ok(None);
    }
    let mut names = Vec::new();
    for kind in [Kind::Notes, Kind::Trace, Kind::Graph] {
        names.push(place::default_doc(tx, ws, &place.branch, kind)?);
    }
    names.extend(
        of_branch(tx, ws, &place.branch)?
            .into_iter()
            .map(|one| one.doc),
    );
    if names.contains(&place.doc) {
        return Ok(None);
    }
    let near = nearest(&place.doc, names.iter().map(String::as_str), 1).pop();
    Ok(near.map(|near| {
        let Place { branch, doc } = place;
        let [doc, branch, near] = [doc, branch, &near].map(|name| quoted(name));
        format!("{doc} is a new document on {branch}; did you mean {near}?")
    }))
}

/// The state of one branch.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct BranchState {
    pub name: String,
    /// The document that a call about its notes means when it names none.
    pub notes_doc: String,
    pub trace_doc: String,
    pub graph_doc: String,
    /// The documents that it has something in.
    pub documents: Vec<Document>,
    /// The branch that it was made from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_branch: Option<String>,
    /// Up to which item it shows what its base had.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_seq: Option<Seq>,
}

pub fn shown(tx: &mut ReadTx<'_>, ws: Ws, branch: &str) -> Result<BranchState> {
    place::check_branch(tx, ws, branch)?;
    let made = branches::get(tx, ws, branch)?;
    Ok(BranchState {
        name: branch.to_string(),
        notes_doc: place::default_doc(tx, ws, branch, Kind::Notes)?,
        trace_doc: place::default_doc(tx, ws, branch, Kind::Trace)?,
        graph_doc: place::default_doc(tx, ws, branch, Kind::Graph)?,
        documents: of_branch(tx, ws, branch)?,
        base_seq: made.as_ref().map(|made| made.base_seq),
        base_branch: made.map(|made| made.base),
    })
}
