//! Causes: what an item says it was caused by, followed as far as it goes.

use understory_model::error::Result;
use understory_model::item::Item;
use understory_model::{Id, Seq, Ws};

use crate::items::{WIDTH, columns, item};
use crate::lists;
use crate::sql::{Arg, ReadTx, args};

/// An item, its cause, the cause of that, and so on, at most `most`.
pub fn chain(tx: &mut ReadTx<'_>, ws: Ws, from: Seq, most: i64) -> Result<Vec<Item>> {
    let sql = format!(
        "WITH RECURSIVE chain (seq, cause, depth) AS (\
         SELECT seq, cause, CAST(1 AS BIGINT) FROM soil_item WHERE ws = ?1 AND seq = ?2 \
         UNION ALL SELECT n.seq, n.cause, c.depth + 1 FROM chain c CROSS JOIN soil_item n \
         WHERE n.ws = ?1 AND n.seq = c.cause AND c.depth < ?3) \
         SELECT {} FROM chain c CROSS JOIN soil_item i WHERE i.ws = ?1 AND i.seq = c.seq \
         ORDER BY c.depth",
        columns()
    );
    let rows = tx.rows(&sql, args![ws, from, most])?;
    rows.into_iter().map(item).collect()
}

/// What some items led to, each with the one that led to it.
pub fn effects(tx: &mut ReadTx<'_>, ws: Ws, causes: &[Seq]) -> Result<Vec<(Seq, Item)>> {
    let mut found = Vec::new();
    for some in causes.chunks(lists::AT_ONCE) {
        let mut args = vec![Arg::from(ws)];
        let list = lists::numbers(some, &mut args);
        let sql = format!(
            "SELECT {}, i.cause FROM soil_item i WHERE i.ws = ?1 AND i.cause IN ({list}) \
             AND i.cause IS NOT NULL ORDER BY i.seq",
            columns()
        );
        for row in tx.rows(&sql, &args)? {
            found.push((row.int(WIDTH)?, item(row)?));
        }
    }
    Ok(found)
}

/// The items about an entity that have a cause, in order, after a place.
pub fn caused(tx: &mut ReadTx<'_>, ws: Ws, entity: Id, after: Seq, most: i64) -> Result<Vec<Item>> {
    let sql = format!(
        "SELECT {} FROM soil_item i WHERE i.ws = ?1 AND i.entity = ?2 AND i.seq > ?3 \
         AND i.cause IS NOT NULL ORDER BY i.seq LIMIT ?4",
        columns()
    );
    let rows = tx.rows(&sql, args![ws, entity, after, most])?;
    rows.into_iter().map(item).collect()
}

/// What the items about an entity led to, in order, after a place.
pub fn led_to(tx: &mut ReadTx<'_>, ws: Ws, entity: Id, after: Seq, most: i64) -> Result<Vec<Item>> {
    let sql = format!(
        "SELECT {} FROM soil_item p CROSS JOIN soil_item i WHERE p.ws = ?1 AND p.entity = ?2 \
         AND i.ws = ?1 AND i.cause = p.seq AND i.cause IS NOT NULL AND i.seq > ?3 \
         ORDER BY i.seq LIMIT ?4",
        columns()
    );
    let rows = tx.rows(&sql, args![ws, entity, after, most])?;
    rows.into_iter().map(item).collect()
}

/// What somebody said some items led to: source and target.
pub fn said(tx: &mut ReadTx<'_>, ws: Ws, sources: &[Seq]) -> Result<Vec<(Seq, Seq)>> {
    let mut found = Vec::new();
    for some in sources.chunks(lists::AT_ONCE) {
        let mut args = vec![Arg::from(ws)];
        let list = lists::numbers(some, &mut args);
        let sql = format!(
            "SELECT source, target FROM core_relation WHERE ws = ?1 AND source IN ({list}) \
             AND kind = 'triggers' ORDER BY made"
        );
        for row in tx.rows(&sql, &args)? {
            found.push((row.int(0)?, row.int(1)?));
        }
    }
    Ok(found)
}
