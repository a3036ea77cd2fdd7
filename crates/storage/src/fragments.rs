//! Where the parts of messages are, by the short id that their text gives them.

use understory_model::error::Result;
use understory_model::{Seq, Ws};

use crate::sql::{Arg, Tx, args};

/// A part of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    pub seq: Seq,
    /// From 0, in the order of the message.
    pub position: i64,
}

pub fn add(tx: &mut Tx<'_>, ws: Ws, seq: Seq, ids: &[&str]) -> Result<()> {
    let mut rows = Vec::with_capacity(ids.len() * 4);
    for (position, id) in (0_i64..).zip(ids) {
        rows.extend([
            Arg::Int(ws),
            Arg::Text(id),
            Arg::Int(seq),
            Arg::Int(position),
        ]);
    }
    match rows.is_empty() {
        true => Ok(()),
        false => tx.insert(
            "INSERT INTO core_fragment (ws, fragment, seq, position)",
            4,
            &rows,
        ),
    }
}

pub fn remove(tx: &mut Tx<'_>, ws: Ws, seq: Seq) -> Result<()> {
    tx.run(
        "DELETE FROM core_fragment WHERE ws = ?1 AND seq = ?2",
        args![ws, seq],
    )?;
    Ok(())
}

/// Where an id stands, newest first.
pub fn places(tx: &mut Tx<'_>, ws: Ws, fragment: &str, most: i64) -> Result<Vec<Place>> {
    let rows = tx.rows(
        "SELECT seq, position FROM core_fragment WHERE ws = ?1 AND fragment = ?2 \
         ORDER BY seq DESC, position LIMIT ?3",
        args![ws, fragment, most],
    )?;
    let place = |row: &crate::sql::Row| {
        Ok(Place {
            seq: row.int(0)?,
            position: row.int(1)?,
        })
    };
    rows.iter().map(place).collect()
}
