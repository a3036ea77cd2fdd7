//! Conversations: which came from which, which items stand in which, and where each participant is.

use understory_model::error::Result;
use understory_model::item::Item;
use understory_model::{Id, Seq, Ws};

use crate::entities::{self, Entity};
use crate::items::{columns, item};
use crate::sql::{Row, Tx, args};

/// Where a participant stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    pub project: Id,
    pub participant: String,
    pub log: Id,
    pub head: Option<Seq>,
}

fn frame(mut row: Row) -> Result<Frame> {
    Ok(Frame {
        project: row.int(0)?,
        participant: row.text(1)?,
        log: row.int(2)?,
        head: row.opt_int(3)?,
    })
}

pub fn add_item(tx: &mut Tx<'_>, ws: Ws, log: Id, seq: Seq) -> Result<()> {
    tx.run(
        "INSERT INTO core_log_item (ws, log, seq) VALUES (?1, ?2, ?3)",
        args![ws, log, seq],
    )?;
    Ok(())
}

/// A conversation's items in order, after a place and up to another.
pub fn items(
    tx: &mut Tx<'_>,
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
    let rows = tx.rows(&sql, args![ws, log, after, upto, most])?;
    rows.into_iter().map(item).collect()
}

/// Whether an item stands in a conversation.
pub fn has(tx: &mut Tx<'_>, ws: Ws, log: Id, seq: Seq) -> Result<bool> {
    let row = tx.row(
        "SELECT 1 FROM core_log_item WHERE ws = ?1 AND log = ?2 AND seq = ?3",
        args![ws, log, seq],
    )?;
    Ok(row.is_some())
}

/// The last item of a conversation.
pub fn last(tx: &mut Tx<'_>, ws: Ws, log: Id) -> Result<Option<Seq>> {
    let row = tx.row(
        "SELECT seq FROM core_log_item WHERE ws = ?1 AND log = ?2 ORDER BY seq DESC LIMIT 1",
        args![ws, log],
    )?;
    row.map(|row| row.int(0)).transpose()
}

pub fn get_frame(tx: &mut Tx<'_>, ws: Ws, project: Id, who: &str) -> Result<Option<Frame>> {
    let row = tx.row(
        "SELECT project, participant, log, head FROM core_frame \
         WHERE ws = ?1 AND project = ?2 AND participant = ?3",
        args![ws, project, who],
    )?;
    row.map(frame).transpose()
}

pub fn put_frame(tx: &mut Tx<'_>, ws: Ws, frame: &Frame) -> Result<()> {
    tx.run(
        "INSERT INTO core_frame (ws, project, participant, log, head) \
         VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (ws, project, participant) \
         DO UPDATE SET log = excluded.log, head = excluded.head",
        args![ws, frame.project, &frame.participant, frame.log, frame.head],
    )?;
    Ok(())
}

/// The participants of a project, by name.
pub fn frames(tx: &mut Tx<'_>, ws: Ws, project: Id, most: i64) -> Result<Vec<Frame>> {
    let rows = tx.rows(
        "SELECT project, participant, log, head FROM core_frame \
         WHERE ws = ?1 AND project = ?2 ORDER BY participant LIMIT ?3",
        args![ws, project, most],
    )?;
    rows.into_iter().map(frame).collect()
}

/// What core keeps of a conversation beside its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Log {
    pub id: Id,
    pub project: Id,
    /// The one that it was forked from.
    pub parent: Option<Id>,
    pub open: bool,
}

pub fn get(tx: &mut Tx<'_>, ws: Ws, id: Id) -> Result<Option<Log>> {
    let row = tx.row(
        "SELECT id, project, parent, open FROM core_log WHERE ws = ?1 AND id = ?2",
        args![ws, id],
    )?;
    row.map(|row| {
        Ok(Log {
            id: row.int(0)?,
            project: row.int(1)?,
            parent: row.opt_int(2)?,
            open: row.flag(3)?,
        })
    })
    .transpose()
}

pub fn put(tx: &mut Tx<'_>, ws: Ws, log: &Log) -> Result<()> {
    tx.run(
        "INSERT INTO core_log (ws, id, project, parent, open) VALUES (?1, ?2, ?3, ?4, ?5) \
         ON CONFLICT (ws, id) DO UPDATE SET open = excluded.open",
        args![ws, log.id, log.project, log.parent, log.open],
    )?;
    Ok(())
}

/// The first open one that was forked from a conversation.
pub fn open_child(tx: &mut Tx<'_>, ws: Ws, log: Id) -> Result<Option<Id>> {
    let row = tx.row(
        "SELECT id FROM core_log WHERE ws = ?1 AND parent = ?2 AND open = 1 ORDER BY id LIMIT 1",
        args![ws, log],
    )?;
    row.map(|row| row.int(0)).transpose()
}

/// A project's conversations in the order of their making, after one of them.
pub fn of_project(
    tx: &mut Tx<'_>,
    ws: Ws,
    project: Id,
    after: Id,
    most: i64,
) -> Result<Vec<Entity>> {
    let sql = format!(
        "SELECT {} FROM core_log l CROSS JOIN core_entity e WHERE l.ws = ?1 AND l.project = ?2 \
         AND l.id > ?3 AND e.ws = ?1 AND e.id = l.id ORDER BY l.id LIMIT ?4",
        entities::columns()
    );
    let rows = tx.rows(&sql, args![ws, project, after, most])?;
    rows.into_iter()
        .map(|mut row| entities::entity(&mut row))
        .collect()
}

/// The last item of a conversation before a place.
pub fn last_before(tx: &mut Tx<'_>, ws: Ws, log: Id, before: Seq) -> Result<Option<Seq>> {
    let row = tx.row(
        "SELECT seq FROM core_log_item WHERE ws = ?1 AND log = ?2 AND seq < ?3 \
         ORDER BY seq DESC LIMIT 1",
        args![ws, log, before],
    )?;
    row.map(|row| row.int(0)).transpose()
}

/// Who stands in a conversation.
pub fn frames_in(tx: &mut Tx<'_>, ws: Ws, log: Id) -> Result<Vec<Frame>> {
    let rows = tx.rows(
        "SELECT project, participant, log, head FROM core_frame WHERE ws = ?1 AND log = ?2 \
         ORDER BY project, participant",
        args![ws, log],
    )?;
    rows.into_iter().map(frame).collect()
}
