//! `branchmind_show`: the end of a document, or what lies before a place in it.

use understory_model::error::Result;
use understory_model::{Seq, Ws};
use understory_storage::ReadTx;

use super::place::Place;
use super::shape;
use super::shape::Asked;

use super::notes::{Doc, Found, Page};

/// `branchmind_show`: the end of a document, or what lies before a place in it.
pub fn show(tx: &mut ReadTx<'_>, ws: Ws, place: Place, asked: Asked) -> Result<Page<shape::Entry>> {
    let doc = Doc::open(tx, ws, place)?;
    let found = doc.tail(tx, asked.cursor.unwrap_or(Seq::MAX), asked.limit + 1)?;
    let found = Found::new(tx, &doc, found, asked)?;
    Ok(Page {
        branch: doc.place.branch,
        doc: doc.place.doc,
        entries: found.entries,
        pagination: found.pagination,
        documents: found.others,
        truncated: false,
    })
}
