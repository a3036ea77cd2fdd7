//! Workspaces, the end of each log, and the counters behind short handles.

use understory_model::error::Result;
use understory_model::item::Hash;
use understory_model::{Seq, Time, Ws};

use crate::schema;
use crate::sql::{ReadTx, Row, Tx, args};
use crate::table::{self, Stored, table};

/// A workspace as the store knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workspace {
    pub ws: Ws,
    pub name: String,
    pub origin: Option<String>,
    pub created_at: Time,
}

table! {
    /// The end of a log.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Head in core_head key () {
        pub seq: Seq,
        pub chain: Hash,
        pub at: Time,
    }
}

fn workspace(mut row: Row) -> Result<Workspace> {
    Ok(Workspace {
        ws: row.int(0)?,
        name: row.text(1)?,
        origin: row.opt_text(2)?,
        created_at: Time(row.int(3)?),
    })
}

pub fn find(tx: &mut ReadTx<'_>, name: &str) -> Result<Option<Workspace>> {
    if let Some(known) = tx.cached_workspace(name) {
        return Ok(Some(known));
    }
    let found = tx
        .row(
            "SELECT ws, name, origin, created_at FROM soil_workspace WHERE name = ?1",
            args![name],
        )?
        .map(workspace)
        .transpose()?;
    if let Some(found) = &found {
        tx.cache_workspace(found);
    }
    Ok(found)
}

pub fn list(tx: &mut ReadTx<'_>) -> Result<Vec<Workspace>> {
    let rows = tx.rows(
        "SELECT ws, name, origin, created_at FROM soil_workspace ORDER BY ws",
        &[],
    )?;
    rows.into_iter().map(workspace).collect()
}

/// A workspace's name by its number.
pub fn name(tx: &mut ReadTx<'_>, ws: Ws) -> Result<String> {
    let row = tx.row("SELECT name FROM soil_workspace WHERE ws = ?1", args![ws])?;
    row.map_or(Ok(String::new()), |mut row| row.text(0))
}

/// Makes a workspace with an empty log that starts from `genesis`.
pub fn create(
    tx: &mut Tx<'_>,
    name: &str,
    origin: Option<&str>,
    genesis: &Hash,
    at: Time,
) -> Result<Ws> {
    let last = tx.row("SELECT COALESCE(MAX(ws), 0) FROM soil_workspace", &[])?;
    let Ws(last) = last.map_or(Ok(Ws(0)), |row| row.int(0))?;
    let ws = Ws(last + 1);
    tx.run(
        "INSERT INTO soil_workspace (ws, name, origin, created_at) VALUES (?1, ?2, ?3, ?4)",
        args![ws, name, origin, at.0],
    )?;
    put_head(
        tx,
        ws,
        &Head {
            seq: Seq::ZERO,
            chain: *genesis,
            at,
        },
    )?;
    Ok(ws)
}

/// The end of the log; a writer holds it until its transaction ends.
pub fn head(tx: &mut ReadTx<'_>, ws: Ws, for_update: bool) -> Result<Option<Head>> {
    match (for_update, tx.dialect().for_update()) {
        (false, _) | (true, "") => table::get(tx, args![ws]),
        (true, lock) => {
            let sql = format!("{}{lock}", Head::statements().get);
            table::one(tx, &sql, args![ws])
        }
    }
}

/// The end of the log as core of any version knew it; `None` when core does not say, or not in a way
/// that can be read.
pub fn known_head(tx: &mut ReadTx<'_>, ws: Ws) -> Result<Option<Head>> {
    if !schema::exists(tx, "core_head")? {
        return Ok(None);
    }
    let row = tx.row(&Head::statements().get, args![ws])?;
    Ok(row.and_then(|row| Head::read(row).ok()))
}

pub fn put_head(tx: &mut Tx<'_>, ws: Ws, head: &Head) -> Result<()> {
    table::put_together(tx, ws, head)
}

/// The last number given out for a kind of handle.
pub fn counter(tx: &mut ReadTx<'_>, ws: Ws, name: &str) -> Result<i64> {
    let row = tx.row(
        "SELECT last FROM core_counter WHERE ws = ?1 AND name = ?2",
        args![ws, name],
    )?;
    row.map_or(Ok(0), |row| row.int(0))
}

pub fn put_counter(tx: &mut Tx<'_>, ws: Ws, name: &str, last: i64) -> Result<()> {
    tx.run_together(
        "INSERT INTO core_counter (ws, name, last) VALUES (?1, ?2, ?3) \
         ON CONFLICT (ws, name) DO UPDATE SET last = excluded.last",
        args![ws, name, last],
    )
}
