//! Conversations: which came from which, which items stand in which, and where each participant is.

use std::collections::HashMap;

use understory_model::error::Result;
use understory_model::item::Item;
use understory_model::{Id, Seq, Ws};

use crate::entities::Entity;
use crate::items::columns;
use crate::sql::{ReadTx, Tx, args};
use crate::table::{self, Stored, table};

table! {
    /// Where a participant stands.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Frame in core_frame key (project, participant) {
        pub project: Id,
        pub participant: String,
        pub log: Id,
        pub head: Option<Seq>,
    }
}

const FRAME: &str = Frame::COLUMNS;

pub fn add_item(tx: &mut Tx<'_>, ws: Ws, log: Id, seq: Seq) -> Result<()> {
    tx.run(
        "INSERT INTO core_log_item (ws, log, seq) VALUES (?1, ?2, ?3)",
        args![ws, log, seq],
    )?;
    Ok(())
}

/// A conversation's items in order, after a place and up to another.
pub fn items(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    log: Id,
    (after, upto): (Seq, Seq),
    most: i64,
) -> Result<Vec<Item>> {
    let sql = format!(
        "SELECT {} FROM core_log_item l, soil_item i WHERE l.ws = ?1 AND l.log = ?2 \
         AND l.seq > ?3 AND l.seq <= ?4 AND i.ws = l.ws AND i.seq = l.seq \
         ORDER BY l.seq LIMIT ?5",
        columns()
    );
    table::all(tx, &sql, args![ws, log, after, upto, most])
}

/// A conversation's items before a place, newest first.
pub fn newest(tx: &mut ReadTx<'_>, ws: Ws, log: Id, before: Seq, most: i64) -> Result<Vec<Item>> {
    let sql = format!(
        "SELECT {} FROM core_log_item l, soil_item i WHERE l.ws = ?1 AND l.log = ?2 \
         AND l.seq < ?3 AND i.ws = l.ws AND i.seq = l.seq ORDER BY l.seq DESC LIMIT ?4",
        columns()
    );
    table::all(tx, &sql, args![ws, log, before, most])
}

/// How many items some conversations have, each counted up to a number.
pub fn counts(tx: &mut ReadTx<'_>, ws: Ws, logs: &[Id], most: i64) -> Result<HashMap<Id, i64>> {
    let mut found = HashMap::new();
    for log in logs {
        let row = tx.row(
            "SELECT COUNT(*) FROM (SELECT 1 FROM core_log_item WHERE ws = ?1 AND log = ?2 \
             LIMIT ?3) AS counted",
            args![ws, *log, most],
        )?;
        if let Some(row) = row {
            found.insert(*log, row.int(0)?);
        }
    }
    Ok(found)
}

/// Whether an item stands in a conversation.
pub fn has(tx: &mut ReadTx<'_>, ws: Ws, log: Id, seq: Seq) -> Result<bool> {
    let row = tx.row(
        "SELECT 1 FROM core_log_item WHERE ws = ?1 AND log = ?2 AND seq = ?3",
        args![ws, log, seq],
    )?;
    Ok(row.is_some())
}

/// The last item of a conversation.
pub fn last(tx: &mut ReadTx<'_>, ws: Ws, log: Id) -> Result<Option<Seq>> {
    let row = tx.row(
        "SELECT seq FROM core_log_item WHERE ws = ?1 AND log = ?2 ORDER BY seq DESC LIMIT 1",
        args![ws, log],
    )?;
    row.map(|row| row.int(0)).transpose()
}

pub fn get_frame(tx: &mut ReadTx<'_>, ws: Ws, project: Id, who: &str) -> Result<Option<Frame>> {
    table::get(tx, args![ws, project, who])
}

pub fn put_frame(tx: &mut Tx<'_>, ws: Ws, frame: &Frame) -> Result<()> {
    table::put(tx, ws, frame)
}

/// The participants of a project, by name.
pub fn frames(tx: &mut ReadTx<'_>, ws: Ws, project: Id, most: i64) -> Result<Vec<Frame>> {
    let sql = format!(
        "SELECT {FRAME} FROM core_frame WHERE ws = ?1 AND project = ?2 ORDER BY participant LIMIT ?3"
    );
    table::all(tx, &sql, args![ws, project, most])
}

table! {
    /// What core keeps of a conversation beside its value.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Log in core_log key (id) fixed (project, parent) {
        pub id: Id,
        pub project: Id,
        /// The one that it was forked from.
        pub parent: Option<Id>,
        pub open: bool,
    }
}

pub fn get(tx: &mut ReadTx<'_>, ws: Ws, id: Id) -> Result<Option<Log>> {
    table::get(tx, args![ws, id])
}

pub fn put(tx: &mut Tx<'_>, ws: Ws, log: &Log) -> Result<()> {
    table::put(tx, ws, log)
}

/// The first open one that was forked from a conversation.
pub fn open_child(tx: &mut ReadTx<'_>, ws: Ws, log: Id) -> Result<Option<Id>> {
    let row = tx.row(
        "SELECT id FROM core_log WHERE ws = ?1 AND parent = ?2 AND open = 1 ORDER BY id LIMIT 1",
        args![ws, log],
    )?;
    row.map(|row| row.int(0)).transpose()
}

/// A project's conversations in the order of their making, after one of them.
pub fn of_project(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    project: Id,
    after: Id,
    most: i64,
) -> Result<Vec<Entity>> {
    let sql = format!(
        "SELECT {} FROM core_log l CROSS JOIN core_entity e WHERE l.ws = ?1 AND l.project = ?2 \
         AND l.id > ?3 AND e.ws = ?1 AND e.id = l.id ORDER BY l.id LIMIT ?4",
        Entity::COLUMNS
    );
    table::all(tx, &sql, args![ws, project, after, most])
}

/// The last item of a conversation before a place.
pub fn last_before(tx: &mut ReadTx<'_>, ws: Ws, log: Id, before: Seq) -> Result<Option<Seq>> {
    let row = tx.row(
        "SELECT seq FROM core_log_item WHERE ws = ?1 AND log = ?2 AND seq < ?3 \
         ORDER BY seq DESC LIMIT 1",
        args![ws, log, before],
    )?;
    row.map(|row| row.int(0)).transpose()
}

/// Who stands in a conversation.
pub fn frames_in(tx: &mut ReadTx<'_>, ws: Ws, log: Id) -> Result<Vec<Frame>> {
    let sql = format!(
        "SELECT {FRAME} FROM core_frame WHERE ws = ?1 AND log = ?2 ORDER BY project, participant"
    );
    table::all(tx, &sql, args![ws, log])
}
