//! Values that entities can be found by exactly: properties, types of evidence.

use understory_model::error::Result;
use understory_model::{Id, Ws};

use crate::sql::{Arg, Tx, args};

/// A name and a value that an entity bears.
pub type Pair = (String, String);

pub fn add(tx: &mut Tx<'_>, ws: Ws, pairs: &[(&Pair, Id)]) -> Result<()> {
    let mut values: Vec<Arg> = Vec::with_capacity(pairs.len() * 4);
    for ((name, value), id) in pairs {
        values.extend([
            Arg::Int(ws),
            Arg::Text(name),
            Arg::Text(value),
            Arg::Int(*id),
        ]);
    }
    tx.insert("INSERT INTO core_key (ws, name, value, id)", 4, &values)
}

pub fn remove(tx: &mut Tx<'_>, ws: Ws, pair: &Pair, id: Id) -> Result<()> {
    tx.run(
        "DELETE FROM core_key WHERE ws = ?1 AND name = ?2 AND value = ?3 AND id = ?4",
        args![ws, &pair.0, &pair.1, id],
    )?;
    Ok(())
}

/// How many entities bear the pair, counted no further than `most`.
pub fn count_up_to(tx: &mut Tx<'_>, ws: Ws, pair: &Pair, most: i64) -> Result<i64> {
    let row = tx.row(
        "SELECT COUNT(*) FROM (SELECT 1 FROM core_key WHERE ws = ?1 AND name = ?2 AND value = ?3 \
         LIMIT ?4) AS few",
        args![ws, &pair.0, &pair.1, most],
    )?;
    row.map_or(Ok(0), |row| row.int(0))
}
