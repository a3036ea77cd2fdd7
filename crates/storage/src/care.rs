//! What `doctor` asks the database itself.

use understory_model::error::Result;

use crate::dialect::Dialect;
use crate::sql::Tx;

/// The engine's own name and version.
pub fn version(tx: &mut Tx<'_>) -> Result<String> {
    let sql = match tx.dialect() {
        Dialect::Sqlite => "SELECT 'SQLite ' || sqlite_version()",
        Dialect::Postgres => "SELECT 'PostgreSQL ' || current_setting('server_version')",
    };
    tx.row(sql, &[])?
        .map_or(Ok(String::new()), |mut row| row.text(0))
}

/// What the engine finds wrong with its own files; empty when nothing is.
pub fn faults(tx: &mut Tx<'_>) -> Result<Vec<String>> {
    if tx.dialect() == Dialect::Postgres {
        return Ok(Vec::new());
    }
    let rows = tx.rows("PRAGMA quick_check(20)", &[])?;
    let lines: Result<Vec<String>> = rows.into_iter().map(|mut row| row.text(0)).collect();
    Ok(lines?.into_iter().filter(|line| line != "ok").collect())
}

/// Bytes that the store takes.
pub fn size(tx: &mut Tx<'_>) -> Result<i64> {
    let sql = match tx.dialect() {
        Dialect::Sqlite => {
            "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()"
        }
        Dialect::Postgres => "SELECT pg_database_size(current_database())",
    };
    tx.row(sql, &[])?.map_or(Ok(0), |row| row.int(0))
}
