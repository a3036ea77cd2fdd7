//! `branchmind_merge`: notes of one branch copied into another, each once.

use std::collections::HashSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use understory_model::branch::{Source, unseen};
use understory_model::error::{Fault, Result};
use understory_model::item::Item;
use understory_model::{Seq, Ws};
use understory_storage::ReadTx;
use understory_storage::entries::{Entry, Stretch};

use super::notes::{Doc, Note, append, stored};
use super::place::Place;
use super::shape::{self, Pagination};
use super::{copies, docs, lineage};
use crate::Work;

/// What a caller asks for.
#[derive(Debug, Clone)]
pub struct Asked {
    pub from: String,
    pub into: String,
    pub doc: String,
    /// Only entries after this one: where the page before ended.
    pub cursor: Option<Seq>,
    pub limit: i64,
}

impl Asked {
    /// Where a page is whose rows have these places in the log.
    pub fn page(&self, seqs: &[Seq], more: bool) -> Pagination<Seq> {
        let asked = shape::Asked {
            cursor: self.cursor,
            limit: self.limit,
        };
        Pagination::new(asked, seqs, more)
    }
}

/// The answer of `branchmind_merge`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Merged {
    pub from: String,
    pub into: String,
    pub doc: String,
    /// How many entries were copied.
    pub merged: usize,
    /// How many were not: those that are there already, and events.
    pub skipped: usize,
    pub pagination: Pagination<Seq>,
    /// Where there was nothing to merge: other documents that were written on the merged branch.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub documents: Vec<String>,
}

struct Page {
    /// Each with whether it is a note that `into` does not show yet, itself or as a copy.
    found: Vec<(Entry, Item, bool)>,
    more: bool,
}

/// A page of what `from` shows and `into` does not, oldest first, so that copies keep their order.
fn page(tx: &mut ReadTx<'_>, ws: Ws, asked: &Asked) -> Result<Page> {
    if asked.from == asked.into {
        return Err(Fault::invalid(
            "into",
            "is the branch that is merged itself",
        ));
    }
    let known = lineage::sources(tx, ws, &asked.into)?;
    let place = Place {
        branch: asked.from.clone(),
        doc: asked.doc.clone(),
    };
    let there = Doc::open(tx, ws, place)?;
    let mut found = Vec::new();
    // Oldest first is farthest first.
    for part in unseen(&known, &there.sources).into_iter().rev() {
        let left = asked.limit + 1 - found.len() as i64;
        if left <= 0 {
            break;
        }
        let stretch = Stretch {
            branch: &part.branch,
            doc: &asked.doc,
            after: part.after.max(asked.cursor.unwrap_or(Seq::ZERO)),
            before: part.upto.next(),
        };
        let entries = there.stretch(tx, &stretch, false, left)?;
        found.extend(entries);
    }
    let more = found.len() as i64 > asked.limit;
    found.truncate(usize::try_from(asked.limit).unwrap_or(usize::MAX));
    let found = sorted_out(tx, ws, asked, &known, found)?;
    Ok(Page { found, more })
}

/// Tells apart what comes over from what does not.
fn sorted_out(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    asked: &Asked,
    known: &[Source],
    found: Vec<(Entry, Item)>,
) -> Result<Vec<(Entry, Item, bool)>> {
    let known = copies::known(tx, ws, &asked.doc, known, &found)?;
    let mut taken: HashSet<Seq> = HashSet::new();
    let comes = found.into_iter().map(|(entry, item)| {
        let there = known.contains(&entry.seq);
        let comes = entry.kind == "note" && !there && taken.insert(entry.origin);
        (entry, item, comes)
    });
    Ok(comes.collect())
}

/// Merges a page.
pub fn merge(work: &mut Work<'_, '_>, asked: &Asked) -> Result<Merged> {
    let ws = work.ws();
    let page = page(work.read()?, ws, asked)?;
    let place = Place {
        branch: asked.into.clone(),
        doc: asked.doc.clone(),
    };
    for (entry, item, _) in page.found.iter().filter(|(_, _, comes)| *comes) {
        append(work, &place, &copy(asked, entry, item))?;
    }
    shown(work.read()?, ws, asked, &page)
}

/// What a merge would do.
pub fn look(tx: &mut ReadTx<'_>, ws: Ws, asked: &Asked) -> Result<Merged> {
    let page = page(tx, ws, asked)?;
    shown(tx, ws, asked, &page)
}

/// Where a merge looked at nothing: the documents that were written on the merged branch.
pub fn others(tx: &mut ReadTx<'_>, ws: Ws, asked: &Asked, count: usize) -> Result<Vec<String>> {
    if count > 0 || asked.cursor.is_some() {
        return Ok(Vec::new());
    }
    let place = Place {
        branch: asked.from.clone(),
        doc: asked.doc.clone(),
    };
    docs::written(tx, ws, &place)
}

fn copy(asked: &Asked, entry: &Entry, item: &Item) -> Note {
    let stored = stored(item);
    let copy = Note {
        source: Some(format!("merge:{}:{}", asked.from, entry.seq)),
        origin: Some(entry.origin),
        ..Note::default()
    };
    match stored {
        Some(stored) => Note {
            title: stored.title,
            format: stored.format,
            meta: stored.meta,
            content: stored.content,
            ..copy
        },
        None => copy,
    }
}

fn shown(tx: &mut ReadTx<'_>, ws: Ws, asked: &Asked, page: &Page) -> Result<Merged> {
    let merged = page.found.iter().filter(|(_, _, comes)| *comes).count();
    let seqs: Vec<Seq> = page.found.iter().map(|(entry, _, _)| entry.seq).collect();
    Ok(Merged {
        from: asked.from.clone(),
        into: asked.into.clone(),
        doc: asked.doc.clone(),
        merged,
        skipped: seqs.len() - merged,
        pagination: asked.page(&seqs, page.more),
        documents: others(tx, ws, asked, seqs.len())?,
    })
}
