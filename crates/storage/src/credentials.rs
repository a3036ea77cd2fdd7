//! Which items hold what looks like a credential.

use understory_model::error::Result;
use understory_model::item::Item;
use understory_model::secret::Kind;
use understory_model::{Seq, Ws};

use crate::items;
use crate::sql::{Arg, ReadTx, Tx, args};

pub fn add(tx: &mut Tx<'_>, ws: Ws, seq: Seq, kinds: &[Kind]) -> Result<()> {
    let mut values: Vec<Arg> = Vec::with_capacity(kinds.len() * 3);
    for kind in kinds {
        values.extend([Arg::from(ws), Arg::from(seq), Arg::Text(kind.as_str())]);
    }
    tx.insert("INSERT INTO core_credential (ws, seq, kind)", 3, &values)
}

/// Its content was taken back.
pub fn remove(tx: &mut Tx<'_>, ws: Ws, seq: Seq) -> Result<()> {
    let sql = "DELETE FROM core_credential WHERE ws = ?1 AND seq = ?2";
    tx.run(sql, args![ws, seq])?;
    Ok(())
}

/// The newest of them, each with a kind that it holds.
pub fn newest(tx: &mut ReadTx<'_>, ws: Ws, most: i64) -> Result<Vec<(Item, Kind)>> {
    let sql = format!(
        "SELECT {}, c.kind FROM core_credential c JOIN soil_item i \
         ON i.ws = c.ws AND i.seq = c.seq WHERE c.ws = ?1 ORDER BY c.seq DESC, c.kind LIMIT ?2",
        items::columns()
    );
    let mut found = Vec::new();
    for mut row in tx.rows(&sql, args![ws, most])? {
        let kind = row.text(items::WIDTH)?;
        found.extend(Kind::named(&kind).map(|kind| items::item(row).map(|item| (item, kind))));
    }
    found.into_iter().collect()
}

/// How many items.
pub fn count(tx: &mut ReadTx<'_>, ws: Ws) -> Result<i64> {
    let row = tx.row(
        "SELECT COUNT(DISTINCT seq) FROM core_credential WHERE ws = ?1",
        args![ws],
    )?;
    row.map_or(Ok(0), |row| row.int(0))
}
