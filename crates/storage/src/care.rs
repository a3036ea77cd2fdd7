//! What `doctor` asks the database itself.

use understory_model::error::Result;

use crate::sql::ReadTx;

/// The database's own name and version.
pub fn version(tx: &mut ReadTx<'_>) -> Result<String> {
    let row = tx.row(tx.dialect().version(), &[])?;
    row.map_or(Ok(String::new()), |mut row| row.text(0))
}

/// What the database finds wrong with its own files; empty when nothing is.
pub fn faults(tx: &mut ReadTx<'_>) -> Result<Vec<String>> {
    let Some(check) = tx.dialect().check_files() else {
        return Ok(Vec::new());
    };
    let rows = tx.rows(check, &[])?;
    let lines: Result<Vec<String>> = rows.into_iter().map(|mut row| row.text(0)).collect();
    Ok(lines?.into_iter().filter(|line| line != "ok").collect())
}

/// Bytes that the store takes.
pub fn size(tx: &mut ReadTx<'_>) -> Result<i64> {
    let row = tx.row(tx.dialect().size(), &[])?;
    row.map_or(Ok(0), |row| row.int(0))
}
