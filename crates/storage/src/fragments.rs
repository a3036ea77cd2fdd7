//! Where the parts of messages are, by the short id that their text gives them.

use understory_model::error::Result;
use understory_model::{Id, Seq, Ws};

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

/// Where an id stands in a project or in none, newest first, after a place of that order.
pub fn places(
    tx: &mut Tx<'_>,
    ws: Ws,
    project: Option<Id>,
    fragment: &str,
    (before, most): (Place, i64),
) -> Result<Vec<Place>> {
    let rows = tx.rows(
        "SELECT f.seq, f.position FROM core_fragment f \
         CROSS JOIN soil_item i WHERE f.ws = ?1 AND f.fragment = ?2 \
         AND i.ws = ?1 AND i.seq = f.seq AND (i.project IS NULL OR i.project = ?4) \
         AND f.seq <= ?5 AND (f.seq < ?5 OR f.position > ?6) \
         ORDER BY f.seq DESC, f.position LIMIT ?3",
        args![
            ws,
            fragment,
            most,
            project.unwrap_or(0),
            before.seq,
            before.position
        ],
    )?;
    let place = |row: &crate::sql::Row| {
        Ok(Place {
            seq: row.int(0)?,
            position: row.int(1)?,
        })
    };
    rows.iter().map(place).collect()
}
