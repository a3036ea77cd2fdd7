//! Values that entities can be found by exactly: properties, types of evidence.

use understory_model::error::Result;
use understory_model::{Id, Ws};

use crate::sql::{Arg, ReadTx, Tx, args};

/// A name and a value that an entity has.
pub type Pair = (String, String);

pub fn add(tx: &mut Tx<'_>, ws: Ws, pairs: &[(&Pair, Id)]) -> Result<()> {
    let mut values: Vec<Arg> = Vec::with_capacity(pairs.len() * 4);
    for ((name, value), id) in pairs {
        values.extend([
            Arg::from(ws),
            Arg::Text(name),
            Arg::Text(value),
            Arg::from(*id),
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

/// How many entities have the pair, counted no further than `most`.
pub fn count_up_to(tx: &mut ReadTx<'_>, ws: Ws, pair: &Pair, most: i64) -> Result<i64> {
    let row = tx.row(
        "SELECT COUNT(*) FROM (SELECT 1 FROM core_key WHERE ws = ?1 AND name = ?2 AND value = ?3 \
         LIMIT ?4) AS few",
        args![ws, &pair.0, &pair.1, most],
    )?;
    row.map_or(Ok(0), |row| row.int(0))
}

/// What an entity must have beyond one pair that a query starts from: a condition on the alias `n`,
/// with its arguments added to those of the statement, whose first is the workspace.
///
/// One subquery whatever their number. PostgreSQL's planner turns each `EXISTS` into a join, and
/// its work grows far faster than their number.
pub(crate) fn bears_all<'a>(
    pairs: impl Iterator<Item = &'a Pair>,
    args: &mut Vec<Arg<'a>>,
) -> Option<String> {
    let mut pairs: Vec<&Pair> = pairs.collect();
    // Counted, a pair that is asked for twice would never be in use twice.
    pairs.sort_unstable();
    pairs.dedup();
    let places: Vec<String> = pairs
        .iter()
        .map(|(name, value)| {
            args.extend([Arg::Text(name), Arg::Text(value)]);
            format!("(?{}, ?{})", args.len() - 1, args.len())
        })
        .collect();
    match places.as_slice() {
        [] => None,
        [pair] => Some(format!(
            "EXISTS (SELECT 1 FROM core_key k WHERE k.ws = ?1 AND k.id = n.id \
             AND (k.name, k.value) = {pair})"
        )),
        _ => Some(format!(
            "(SELECT COUNT(*) FROM core_key k WHERE k.ws = ?1 AND k.id = n.id \
             AND (k.name, k.value) IN (VALUES {})) = {}",
            places.join(", "),
            places.len()
        )),
    }
}

/// The entities that have all of some pairs, as what stands after `IN`. Names must differ. One look
/// at the index for each pair, however many there are.
pub fn bearing<'a>(pairs: &'a [Pair], args: &mut Vec<Arg<'a>>) -> String {
    let mut rows = Vec::with_capacity(pairs.len());
    for (name, value) in pairs {
        args.extend([Arg::Text(name), Arg::Text(value)]);
        let at = args.len();
        rows.push(format!("(CAST(?{} AS TEXT), CAST(?{at} AS TEXT))", at - 1));
    }
    format!(
        "SELECT k.id FROM (VALUES {}) w CROSS JOIN core_key k \
         WHERE k.ws = ?1 AND k.name = w.column1 AND k.value = w.column2 \
         GROUP BY k.id HAVING COUNT(*) = {}",
        rows.join(", "),
        pairs.len()
    )
}
