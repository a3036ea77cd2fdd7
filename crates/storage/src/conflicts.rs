//! Conflicts of merges, by where they are merged into.

use std::collections::HashMap;

use understory_model::error::Result;
use understory_model::{Id, Seq, Ws};

use crate::entities::Entity;
use crate::lists;
use crate::sql::{Arg, ReadTx, Tx, args};
use crate::table::{self, Stored, table};

table! {
    /// What core keeps of a conflict beside its value.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Conflict in core_conflict key (id) fixed (from_branch, into_branch, doc, key, theirs) {
        pub id: Id,
        pub origin: String = "from_branch",
        pub into: String = "into_branch",
        pub doc: String,
        pub key: String,
        /// The version that wants to go there.
        pub theirs: Seq,
        pub open: bool,
    }
}

pub fn put(tx: &mut Tx<'_>, ws: Ws, conflict: &Conflict) -> Result<()> {
    table::put(tx, ws, conflict)
}

/// A conflict about a key: its id, the version it was about, and whether it is open.
pub type About = (Id, Seq, bool);

/// The conflicts about some keys between two branches, of each oldest first.
pub fn about(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    (from, into): (&str, &str),
    doc: &str,
    keys: &[&str],
) -> Result<HashMap<String, Vec<About>>> {
    let mut found: HashMap<String, Vec<About>> = HashMap::new();
    for some in keys.chunks(lists::AT_ONCE) {
        let mut args = vec![
            Arg::from(ws),
            Arg::Text(from),
            Arg::Text(into),
            Arg::Text(doc),
        ];
        let keys = lists::texts(some, &mut args);
        // Ids by the index alone: else SQLite walks all conflicts of the workspace instead.
        let sql = format!(
            "SELECT c.key, c.id, c.theirs, c.open FROM core_conflict f CROSS JOIN core_conflict c \
             WHERE f.ws = ?1 AND f.from_branch = ?2 AND f.key IN ({keys}) AND c.ws = ?1 \
             AND c.id = f.id AND c.into_branch = ?3 AND c.doc = ?4"
        );
        for mut row in tx.rows(&sql, &args)? {
            let about = (row.int(1)?, row.int(2)?, row.flag(3)?);
            found.entry(row.text(0)?).or_default().push(about);
        }
    }
    found.values_mut().for_each(|about| about.sort());
    Ok(found)
}

/// The conflicts of a destination, newest first, before an id.
pub fn list(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    (into, doc): (&str, &str),
    open: Option<bool>,
    before: Id,
    most: i64,
) -> Result<Vec<Entity>> {
    let of = |open: i64| {
        format!(
            "SELECT id FROM (SELECT c.id FROM core_conflict c WHERE c.ws = ?1 \
             AND c.into_branch = ?2 AND c.open = {open} AND c.doc = ?3 AND c.id < ?4 \
             ORDER BY c.id DESC LIMIT ?5) AS c{open}"
        )
    };
    // Those that are not asked for are not stepped over.
    let ids = match open {
        Some(open) => of(i64::from(open)),
        None => format!("{} UNION ALL {}", of(0), of(1)),
    };
    let sql = format!(
        "SELECT {} FROM (SELECT id FROM ({ids}) AS f ORDER BY id DESC LIMIT ?5) AS c \
         CROSS JOIN core_entity e WHERE e.ws = ?1 AND e.id = c.id ORDER BY c.id DESC",
        Entity::COLUMNS
    );
    table::all(tx, &sql, args![ws, into, doc, before, most])
}

/// The branches that anything was ever merged into with a conflict, by name.
pub fn destinations(tx: &mut ReadTx<'_>, ws: Ws, most: usize) -> Result<Vec<String>> {
    let mut found: Vec<String> = Vec::new();
    // Each is one step in the index, however many conflicts it has.
    while found.len() < most {
        let last = found.last().map_or("", String::as_str);
        let row = tx.row(
            "SELECT into_branch FROM core_conflict WHERE ws = ?1 AND into_branch > ?2 \
             ORDER BY into_branch LIMIT 1",
            args![ws, last],
        )?;
        match row {
            Some(mut row) => found.push(row.text(0)?),
            None => break,
        }
    }
    Ok(found)
}

/// Ids of open conflicts of a destination, in whatever document.
pub fn open_into(tx: &mut ReadTx<'_>, ws: Ws, into: &str, most: i64) -> Result<Vec<Id>> {
    let rows = tx.rows(
        "SELECT id FROM core_conflict WHERE ws = ?1 AND into_branch = ?2 AND open = 1 \
         ORDER BY doc, id LIMIT ?3",
        args![ws, into, most],
    )?;
    rows.iter().map(|row| row.int(0)).collect()
}

/// The open conflicts of a destination that have waited longest.
pub fn oldest_open(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    (into, doc): (&str, &str),
    most: i64,
) -> Result<Vec<Entity>> {
    let sql = format!(
        "SELECT {} FROM core_conflict c JOIN core_entity e ON e.ws = c.ws AND e.id = c.id \
         WHERE c.ws = ?1 AND c.into_branch = ?2 AND c.doc = ?3 AND c.open = 1 \
         ORDER BY c.id LIMIT ?4",
        Entity::COLUMNS
    );
    table::all(tx, &sql, args![ws, into, doc, most])
}

/// How many conflicts between two branches are open in a document, counted no further than `most`.
pub fn open_between(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    (from, into): (&str, &str),
    doc: &str,
    most: i64,
) -> Result<i64> {
    let row = tx.row(
        "SELECT COUNT(*) FROM (SELECT 1 FROM core_conflict WHERE ws = ?1 AND into_branch = ?2 \
         AND open = 1 AND doc = ?3 AND from_branch = ?4 LIMIT ?5) AS few",
        args![ws, into, doc, from, most],
    )?;
    row.map_or(Ok(0), |row| row.int(0))
}

/// How many conflicts of a destination's documents are open, counted no further than `most`.
pub fn open_count(tx: &mut ReadTx<'_>, ws: Ws, into: &str, most: i64) -> Result<i64> {
    let row = tx.row(
        "SELECT COUNT(*) FROM (SELECT 1 FROM core_conflict WHERE ws = ?1 AND into_branch = ?2 \
         AND open = 1 LIMIT ?3) AS few",
        args![ws, into, most],
    )?;
    row.map_or(Ok(0), |row| row.int(0))
}
