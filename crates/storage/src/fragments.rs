//! Where the parts of messages are, by the short id that their text gives them.

use std::collections::HashMap;

use understory_model::error::Result;
use understory_model::{Id, Seq, Ws};

use crate::lists;
use crate::sql::{Arg, ReadTx, Tx, args};

/// A part of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    pub seq: Seq,
    /// From 0, in the order of the message.
    pub position: i64,
}

/// Adds the parts of an item, which is in a project or in none.
pub fn add(tx: &mut Tx<'_>, ws: Ws, (seq, project): (Seq, Option<Id>), ids: &[&str]) -> Result<()> {
    let mut rows = Vec::with_capacity(ids.len() * 5);
    for (position, id) in (0_i64..).zip(ids) {
        rows.extend([
            Arg::from(ws),
            Arg::Text(id),
            Arg::from(seq),
            Arg::Int(position),
            Arg::from(project.unwrap_or_default()),
        ]);
    }
    if rows.is_empty() {
        Ok(())
    } else {
        tx.insert(
            "INSERT INTO core_fragment (ws, fragment, seq, position, project)",
            5,
            &rows,
        )
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
    tx: &mut ReadTx<'_>,
    ws: Ws,
    project: Option<Id>,
    fragment: &str,
    (before, most): (Place, i64),
) -> Result<Vec<Place>> {
    let rows = tx.rows(
        "SELECT seq, position FROM core_fragment WHERE ws = ?1 AND fragment = ?2 \
         AND (project = 0 OR project = ?4) AND seq <= ?5 AND (seq < ?5 OR position > ?6) \
         ORDER BY seq DESC, position LIMIT ?3",
        args![
            ws,
            fragment,
            most,
            project.unwrap_or(Id::ZERO),
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

/// Parts whose id begins so, in a project or in none, by their ids; of any id, the newest.
pub fn beginning(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    project: Option<Id>,
    prefix: &str,
    most: i64,
) -> Result<Vec<(String, Place)>> {
    let (range, order) = match prefix {
        "^" | "" => ("", "seq DESC, position"),
        _ => ("AND fragment >= ?4 AND fragment < ?5", "fragment, seq DESC"),
    };
    let sql = format!(
        "SELECT fragment, seq, position FROM core_fragment WHERE ws = ?1 \
         AND (project = 0 OR project = ?2) {range} ORDER BY {order} LIMIT ?3"
    );
    // Ids are made of small letters and digits, which all come before this sign.
    let (prefix, end) = (prefix.replace('\0', ""), format!("{prefix}~"));
    let project = project.unwrap_or(Id::ZERO);
    let rows = match range {
        "" => tx.rows(&sql, args![ws, project, most])?,
        _ => tx.rows(&sql, args![ws, project, most, &prefix, &end])?,
    };
    let part = |mut row: crate::sql::Row| {
        let place = Place {
            seq: row.int(1)?,
            position: row.int(2)?,
        };
        Ok((row.text(0)?, place))
    };
    rows.into_iter().map(part).collect()
}

/// The newest item before a place that has each of some ids, in a project or in none.
pub fn newest_before(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    project: Option<Id>,
    before: Seq,
    ids: &[&str],
) -> Result<HashMap<String, Seq>> {
    let mut found = HashMap::new();
    for some in ids.chunks(lists::AT_ONCE) {
        let mut args = vec![
            Arg::from(ws),
            Arg::from(before),
            Arg::from(project.unwrap_or_default()),
        ];
        let places = lists::texts(some, &mut args);
        let sql = format!(
            "SELECT fragment, MAX(seq) FROM core_fragment WHERE ws = ?1 AND seq < ?2 \
             AND (project = 0 OR project = ?3) AND fragment IN ({places}) GROUP BY fragment"
        );
        for mut row in tx.rows(&sql, &args)? {
            found.insert(row.text(0)?, row.int(1)?);
        }
    }
    Ok(found)
}

/// How many parts of an item have this id.
pub fn count(tx: &mut ReadTx<'_>, ws: Ws, seq: Seq, fragment: &str) -> Result<usize> {
    let row = tx.row(
        "SELECT COUNT(*) FROM core_fragment WHERE ws = ?1 AND fragment = ?2 AND seq = ?3",
        args![ws, fragment, seq],
    )?;
    let count = row.map_or(Ok(0), |row| row.int(0))?;
    Ok(usize::try_from(count).unwrap_or(0))
}
