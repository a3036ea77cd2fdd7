//! What a store says of itself beside its version: the id by which checkpoints name it.

use understory_model::error::Result;

use crate::sql::{ReadTx, Tx, args};

/// The store's id, once it has one.
pub fn store_id(tx: &mut ReadTx<'_>) -> Result<Option<String>> {
    let row = tx.row("SELECT value FROM soil_meta WHERE key = 'store_id'", &[])?;
    row.map(|mut row| row.text(0)).transpose()
}

/// Gives the store an id, unless it has one.
pub fn put_store_id(tx: &mut Tx<'_>, id: &str) -> Result<()> {
    tx.run(
        "INSERT INTO soil_meta (key, value) VALUES ('store_id', ?1) ON CONFLICT (key) DO NOTHING",
        args![id],
    )?;
    Ok(())
}
