//! Core as one number a table, to compare what was derived with what a replay derives.

use understory_model::canon::{hex, sha256};
use understory_model::error::Result;

use crate::schema::CORE_TABLES;
use crate::sql::{Cell, ReadTx, Row};

/// A table's rows counted and digested: the same rows in any order give the same number, on both
/// databases.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Digest {
    pub table: &'static str,
    pub rows: u64,
    pub sum: u128,
}

/// The digest of every core table.
pub fn core(tx: &mut ReadTx<'_>) -> Result<Vec<Digest>> {
    CORE_TABLES
        .iter()
        .map(|table| {
            let mut digest = Digest {
                table,
                rows: 0,
                sum: 0,
            };
            each_row(tx, table, |line| {
                let hash = sha256(line.as_bytes());
                let mut half = [0; 16];
                half.copy_from_slice(&hash[..16]);
                digest.rows += 1;
                digest.sum = digest.sum.wrapping_add(u128::from_be_bytes(half));
            })?;
            Ok(digest)
        })
        .collect()
}

/// Every row of a core table as text that does not depend on the database, in no order.
pub fn each_row(tx: &mut ReadTx<'_>, table: &str, mut line: impl FnMut(&str)) -> Result<()> {
    tx.each(&format!("SELECT * FROM {table}"), &[], |row| {
        line(&text(&row))
    })
}

fn text(row: &Row) -> String {
    let cells: Vec<String> = row.0.iter().map(cell).collect();
    cells.join("|")
}

fn cell(cell: &Cell) -> String {
    match cell {
        Cell::Null => "-".into(),
        Cell::Int(value) => value.to_string(),
        Cell::Real(value) => format!("{value:?}"),
        Cell::Text(value) => format!("{value:?}"),
        Cell::Bytes(value) => hex(value),
    }
}
