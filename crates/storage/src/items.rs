//! The log: items appended, and read back by place, by name, by entity or newest first.

use std::collections::HashMap;
use std::sync::LazyLock;

use understory_model::error::Result;
use understory_model::item::{Hash, Item};
use understory_model::{Id, Seq, Time, Ws};
use uuid::Uuid;

use crate::lists;
use crate::sql::{Arg, ReadTx, Row, Tx, args};
use crate::table::{self, Stored, table};

table! {
    impl Item in soil_item as i key (seq) {
        seq: Seq,
        uuid: Uuid,
        kind: String = "type",
        project: Option<Id>,
        entity: Option<Id>,
        realized_at: Time,
        canonical_at: Time,
        actor: String,
        session: String,
        cause: Option<Seq>,
        digest: Hash,
        chain: Hash,
        content: Option<String>,
    }
}

/// As it stands, for a proof: without what remains of a content that was taken back.
const AS_WRITTEN: &str = Item::COLUMNS;

static COLUMNS: LazyLock<String> = LazyLock::new(|| {
    AS_WRITTEN.replace(
        "i.content",
        "COALESCE(i.content, (SELECT e.remains FROM soil_erased e \
         WHERE e.ws = i.ws AND e.seq = i.seq))",
    )
});

pub(crate) const WIDTH: usize = Item::WIDTH;

/// What to select of an item, for a statement that names its table `i`: of a content that was taken
/// back, what remains.
pub(crate) fn columns() -> &'static str {
    &COLUMNS
}

/// Reads an item from the first columns of a row.
pub(crate) fn item(row: Row) -> Result<Item> {
    Item::read(row)
}

pub fn append(tx: &mut Tx<'_>, ws: Ws, items: &[Item]) -> Result<()> {
    table::insert(tx, ws, items)
}

pub fn get(tx: &mut ReadTx<'_>, ws: Ws, seq: Seq) -> Result<Option<Item>> {
    let sql = format!(
        "SELECT {} FROM soil_item i WHERE ws = ?1 AND seq = ?2",
        columns()
    );
    tx.row(&sql, args![ws, seq])?.map(item).transpose()
}

/// Some of them, by their places; those that do not exist are left out.
pub fn some(tx: &mut ReadTx<'_>, ws: Ws, seqs: &[Seq]) -> Result<Vec<Item>> {
    let mut found = Vec::with_capacity(seqs.len());
    for some in seqs.chunks(lists::AT_ONCE) {
        let mut args = vec![Arg::from(ws)];
        let places = lists::numbers(some, &mut args);
        let sql = format!(
            "SELECT {} FROM soil_item i WHERE ws = ?1 AND seq IN ({places})",
            columns()
        );
        for row in tx.rows(&sql, &args)? {
            found.push(item(row)?);
        }
    }
    Ok(found)
}

pub fn by_uuid(tx: &mut ReadTx<'_>, ws: Ws, uuid: &Uuid) -> Result<Option<Item>> {
    let sql = format!(
        "SELECT {} FROM soil_item i WHERE ws = ?1 AND uuid = ?2",
        columns()
    );
    tx.row(&sql, args![ws, uuid.as_bytes().as_slice()])?
        .map(item)
        .transpose()
}

/// An entity's changes, newest first, before a place in the log.
pub fn of_entity(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    entity: Id,
    before: Seq,
    most: i64,
) -> Result<Vec<Item>> {
    let sql = format!(
        "SELECT {} FROM soil_item i WHERE ws = ?1 AND entity = ?2 AND seq < ?3 \
         ORDER BY seq DESC LIMIT ?4",
        columns()
    );
    table::all(tx, &sql, args![ws, entity, before, most])
}

/// The log newest first, before a place in it, of one project where given.
pub fn newest(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    project: Option<Id>,
    before: Seq,
    most: i64,
) -> Result<Vec<Item>> {
    let sql = format!(
        "SELECT {} FROM soil_item i WHERE ws = ?1 AND seq < ?2 \
         AND (CAST(?3 AS BIGINT) IS NULL OR project = ?3) ORDER BY seq DESC LIMIT ?4",
        columns()
    );
    table::all(tx, &sql, args![ws, before, project, most])
}

/// The log in order, after a place in it, each item with its place: one that cannot be read must
/// not hide the others from a proof.
pub fn scan(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    after: Seq,
    most: i64,
) -> Result<Vec<(Seq, Result<Item>)>> {
    let sql = format!(
        "SELECT {AS_WRITTEN} FROM soil_item i WHERE ws = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3"
    );
    let rows = tx.rows(&sql, args![ws, after, most])?;
    rows.into_iter()
        .map(|row| Ok((row.int(0)?, item(row))))
        .collect()
}

/// Numbers of workspaces that have items and no name.
pub fn strays(tx: &mut ReadTx<'_>) -> Result<Vec<Ws>> {
    let rows = tx.rows(
        "SELECT DISTINCT ws FROM soil_item i WHERE NOT EXISTS \
         (SELECT 1 FROM soil_workspace w WHERE w.ws = i.ws) ORDER BY ws",
        &[],
    )?;
    rows.iter().map(|row| row.int(0)).collect()
}

/// The log in order, after a place in it.
pub fn after(tx: &mut ReadTx<'_>, ws: Ws, after: Seq, most: i64) -> Result<Vec<Item>> {
    let sql = format!(
        "SELECT {} FROM soil_item i WHERE ws = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3",
        columns()
    );
    table::all(tx, &sql, args![ws, after, most])
}

/// The place of the first item at or after a moment; one past the end when all are earlier. Times
/// never run backwards along the log, so it is found by halving.
pub fn first_at(tx: &mut ReadTx<'_>, ws: Ws, at: Time, end: Seq) -> Result<Seq> {
    let (mut low, mut high) = (Seq::FIRST, end.next());
    while low < high {
        let middle = low + (high - low) / 2;
        let row = tx.row(
            "SELECT realized_at FROM soil_item WHERE ws = ?1 AND seq = ?2",
            args![ws, middle],
        )?;
        match row {
            Some(row) if Time(row.int(0)?) < at => low = middle.next(),
            _ => high = middle,
        }
    }
    Ok(low)
}

/// As [`first_at`] for many moments in ascending order, halving for all of them at once, so that it
/// takes as many questions as one.
pub fn first_at_each(tx: &mut ReadTx<'_>, ws: Ws, moments: &[Time], end: Seq) -> Result<Vec<Seq>> {
    let mut bounds = vec![(Seq::FIRST, end.next()); moments.len()];
    loop {
        let middle = |(low, high): &(Seq, Seq)| *low + (*high - *low) / 2;
        let mut open: Vec<Seq> = bounds
            .iter()
            .filter(|(low, high)| low < high)
            .map(middle)
            .collect();
        if open.is_empty() {
            return Ok(bounds.into_iter().map(|(low, _)| low).collect());
        }
        open.dedup();
        let known = times(tx, ws, &open)?;
        for (bound, moment) in bounds.iter_mut().zip(moments) {
            if bound.0 >= bound.1 {
                continue;
            }
            let at = middle(bound);
            match known.get(&at) {
                Some(time) if time < moment => bound.0 = at.next(),
                _ => bound.1 = at,
            }
        }
    }
}

/// An entity's changes in order, after a place in the log.
pub fn of_entity_after(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    entity: Id,
    after: Seq,
    most: i64,
) -> Result<Vec<Item>> {
    let sql = format!(
        "SELECT {} FROM soil_item i WHERE ws = ?1 AND entity = ?2 AND seq > ?3 \
         ORDER BY seq LIMIT ?4",
        columns()
    );
    table::all(tx, &sql, args![ws, entity, after, most])
}

/// The names of some items.
pub fn uuids(tx: &mut ReadTx<'_>, ws: Ws, seqs: &[Seq]) -> Result<HashMap<Seq, Uuid>> {
    let mut names = HashMap::new();
    for some in seqs.chunks(lists::AT_ONCE) {
        let mut args = vec![Arg::from(ws)];
        let seqs = lists::numbers(some, &mut args);
        let sql = format!("SELECT seq, uuid FROM soil_item WHERE ws = ?1 AND seq IN ({seqs})");
        for row in tx.rows(&sql, &args)? {
            names.insert(row.int(0)?, Uuid::from_bytes(row.bytes(1)?));
        }
    }
    Ok(names)
}

/// The uuids of some entities or items by their ids: an entity has that of the item that made it.
pub fn uuids_of(tx: &mut ReadTx<'_>, ws: Ws, ids: &[Id]) -> Result<HashMap<Id, Uuid>> {
    let seqs: Vec<Seq> = ids.iter().map(|id| id.seq()).collect();
    let found = uuids(tx, ws, &seqs)?.into_iter();
    Ok(found.map(|(seq, uuid)| (Id::of(seq), uuid)).collect())
}

/// When some items were written.
pub fn times(tx: &mut ReadTx<'_>, ws: Ws, seqs: &[Seq]) -> Result<HashMap<Seq, Time>> {
    let mut times = HashMap::new();
    for some in seqs.chunks(lists::AT_ONCE) {
        let mut args = vec![Arg::from(ws)];
        let seqs = lists::numbers(some, &mut args);
        let sql =
            format!("SELECT seq, realized_at FROM soil_item WHERE ws = ?1 AND seq IN ({seqs})");
        for row in tx.rows(&sql, &args)? {
            times.insert(row.int(0)?, Time(row.int(1)?));
        }
    }
    Ok(times)
}

/// Changes of entities of a kind in order, after a place in the log.
pub fn of_kind_after(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    kind: &str,
    after: Seq,
    most: i64,
) -> Result<Vec<Item>> {
    let sql = format!(
        "SELECT {} FROM soil_item i JOIN core_entity e ON e.ws = i.ws AND e.id = i.entity \
         WHERE i.ws = ?1 AND i.seq > ?2 AND e.kind = ?3 ORDER BY i.seq LIMIT ?4",
        columns()
    );
    table::all(tx, &sql, args![ws, after, kind, most])
}

/// Who wrote, in which session, and when last: of the newest items, those since a moment. What the
/// server notes for an audit does not count as anybody's work.
pub fn writers(tx: &mut ReadTx<'_>, ws: Ws, since: Time, most: i64) -> Result<Vec<Writer>> {
    let rows = tx.rows(
        "SELECT n.actor, n.session, MAX(n.realized_at) FROM (SELECT actor, session, realized_at \
         FROM soil_item WHERE ws = ?1 AND type <> 'AuditEvent' ORDER BY seq DESC LIMIT ?3) n \
         WHERE n.realized_at >= ?2 GROUP BY n.actor, n.session",
        args![ws, since.0, most],
    )?;
    rows.into_iter().map(writer).collect()
}

/// The last that an agent wrote.
pub fn last_of(tx: &mut ReadTx<'_>, ws: Ws, agent: &str) -> Result<Option<Writer>> {
    if agent.contains('\0') {
        return Ok(None);
    }
    let row = tx.row(
        "SELECT actor, session, realized_at FROM soil_item WHERE ws = ?1 AND actor = ?2 \
         ORDER BY seq DESC LIMIT 1",
        args![ws, agent],
    )?;
    row.map(writer).transpose()
}

/// Somebody who wrote something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Writer {
    pub agent: String,
    pub session: String,
    pub at: Time,
}

fn writer(mut row: Row) -> Result<Writer> {
    Ok(Writer {
        agent: row.text(0)?,
        session: row.text(1)?,
        at: Time(row.int(2)?),
    })
}
