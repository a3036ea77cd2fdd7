//! Entries of documents: which items stand in a document of a branch.

use understory_model::error::Result;
use understory_model::item::Item;
use understory_model::{Id, Seq, Ws};

use crate::items;
use crate::lists;
use crate::sql::{Arg, ReadTx, Row, Tx, args};
use crate::table::{self, Stored, table};

table! {
    /// An item as an entry of a document.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Entry in core_entry as e key (branch, doc, seq) {
        pub branch: String,
        pub doc: String,
        pub seq: Seq,
        pub kind: String,
        /// The entry that this is a copy of, through any number of merges; its own seq where it is
        /// none.
        pub origin: Seq,
        /// What it must not be written twice for: a merge, a card.
        pub source: Option<String>,
    }
}

pub fn add(tx: &mut Tx<'_>, ws: Ws, entry: &Entry) -> Result<()> {
    table::add(tx, ws, entry)
}

/// A stretch of one branch's own entries: after `after`, before `before`.
#[derive(Debug, Clone, Copy)]
pub struct Stretch<'a> {
    pub branch: &'a str,
    pub doc: &'a str,
    pub after: Seq,
    pub before: Seq,
}

fn told(rows: Vec<Row>) -> Result<Vec<(Entry, Item)>> {
    rows.into_iter()
        .map(|mut row| {
            let entry = Entry::read_at(&mut row, items::WIDTH)?;
            Ok((entry, items::item(row)?))
        })
        .collect()
}

/// Entries with their items, newest first (`newest`) or oldest first.
pub fn read(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    stretch: &Stretch<'_>,
    newest: bool,
    most: i64,
) -> Result<Vec<(Entry, Item)>> {
    let sql = format!(
        "SELECT {}, {} FROM core_entry e \
         JOIN soil_item i ON i.ws = e.ws AND i.seq = e.seq \
         WHERE e.ws = ?1 AND e.branch = ?2 AND e.doc = ?3 AND e.seq > ?4 AND e.seq < ?5 \
         ORDER BY e.seq {} LIMIT ?6",
        items::columns(),
        Entry::COLUMNS,
        if newest { "DESC" } else { "ASC" }
    );
    let Stretch {
        branch,
        doc,
        after,
        before,
    } = *stretch;
    told(tx.rows(&sql, args![ws, branch, doc, after, before, most])?)
}

/// An entity's own items as entries: the events of a node's trace.
pub fn events(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    entity: Id,
    stretch: &Stretch<'_>,
    newest: bool,
    most: i64,
) -> Result<Vec<(Entry, Item)>> {
    let sql = format!(
        "SELECT {} FROM soil_item i WHERE i.ws = ?1 AND i.entity = ?2 AND i.seq > ?3 \
         AND i.seq < ?4 ORDER BY i.seq {} LIMIT ?5",
        items::columns(),
        if newest { "DESC" } else { "ASC" }
    );
    let rows = tx.rows(&sql, args![ws, entity, stretch.after, stretch.before, most])?;
    rows.into_iter()
        .map(|row| {
            let item = items::item(row)?;
            let entry = Entry {
                branch: stretch.branch.to_string(),
                doc: stretch.doc.to_string(),
                seq: item.seq,
                kind: "event".into(),
                origin: item.seq,
                source: None,
            };
            Ok((entry, item))
        })
        .collect()
}

/// Where in documents of a name the entry stands that was written for a source, and its copies:
/// branch and place, oldest first.
pub fn of_source(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    doc: &str,
    source: &str,
) -> Result<Vec<(String, Seq)>> {
    let rows = tx.rows(
        "SELECT c.branch, c.seq FROM core_entry e CROSS JOIN core_entry c WHERE e.ws = ?1 \
         AND e.doc = ?2 AND e.source = ?3 AND c.ws = ?1 AND c.origin = e.origin AND c.doc = ?2 \
         ORDER BY c.seq",
        args![ws, doc, source],
    )?;
    rows.into_iter()
        .map(|mut row| Ok((row.text(0)?, row.int(1)?)))
        .collect()
}

/// As [`of_source`], for several: each with the source that it was found for.
pub fn of_sources(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    doc: &str,
    sources: &[&str],
) -> Result<Vec<(String, String, Seq)>> {
    let mut found = Vec::new();
    for some in sources.chunks(lists::AT_ONCE) {
        let mut args = vec![Arg::from(ws), Arg::Text(doc)];
        let sources = lists::texts(some, &mut args);
        let sql = format!(
            "SELECT e.source, c.branch, c.seq FROM core_entry e CROSS JOIN core_entry c \
             WHERE e.ws = ?1 AND e.doc = ?2 AND e.source IN ({sources}) AND c.ws = ?1 \
             AND c.origin = e.origin AND c.doc = ?2"
        );
        for mut row in tx.rows(&sql, &args)? {
            found.push((row.text(0)?, row.text(1)?, row.int(2)?));
        }
    }
    Ok(found)
}

/// Where in documents of a name some entries and their copies stand: what each is a copy of, its
/// branch and its place.
pub fn of_origins(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    doc: &str,
    origins: &[Seq],
) -> Result<Vec<(Seq, String, Seq)>> {
    let mut found = Vec::new();
    for some in origins.chunks(lists::AT_ONCE) {
        let mut args = vec![Arg::from(ws), Arg::Text(doc)];
        let origins = lists::numbers(some, &mut args);
        let sql = format!(
            "SELECT origin, branch, seq FROM core_entry WHERE ws = ?1 AND doc = ?2 \
             AND origin IN ({origins})"
        );
        for mut row in tx.rows(&sql, &args)? {
            found.push((row.int(0)?, row.text(1)?, row.int(2)?));
        }
    }
    Ok(found)
}
