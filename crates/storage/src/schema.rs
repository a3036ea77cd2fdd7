//! The tables, their versions, and what opening a store checks before anything else.
//!
//! Soil has a version that migrations raise. Core has a version that is never migrated: another
//! one means that core is replayed. Opening to read never writes.

use understory_model::error::{Code, Fault, Result};

use crate::sql::{ReadTx, Tx, args};

/// The shape of what happened.
pub const SOIL_VERSION: i64 = 3;
/// The shape of what is derived from it, and of the rules that derive it.
pub const CORE_VERSION: i64 = 17;

const SOIL: &str = include_str!("sql/soil.sql");
/// What version 2 has beyond version 1.
const SOIL_2: &str = include_str!("sql/soil.2.sql");
const CORE: &str = include_str!("sql/core.sql");
const LIVE: &str = include_str!("sql/live.sql");

/// The core tables that hold rows of their own, in the order in which they are compared.
pub const CORE_TABLES: [&str; 43] = [
    "core_head",
    "core_counter",
    "core_entity",
    "core_link",
    "core_node",
    "core_project",
    "core_key",
    "core_record",
    "core_session",
    "core_lease",
    "core_activity",
    "core_branch",
    "core_entry",
    "core_vertex",
    "core_tip",
    "core_kept",
    "core_conflict",
    "core_thread",
    "core_message",
    "core_finding",
    "core_participant",
    "core_ask",
    "core_thread_change",
    "core_wake",
    "core_revoked",
    "core_log",
    "core_log_item",
    "core_frame",
    "core_fragment",
    "core_relation",
    "core_touch",
    "core_cursor",
    "core_artifact",
    "core_label",
    "core_commit",
    "core_source",
    "core_change",
    "core_snapshot",
    "core_vector",
    "core_credential",
    "core_tally",
    "core_signal",
    "core_span",
];

/// What a store turned out to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// Nothing is there yet.
    Empty,
    /// Ours, and of this version.
    Ready,
    /// Ours, but soil is of an earlier version, or core was derived by another one.
    StaleCore,
}

fn version(tx: &mut ReadTx<'_>, table: &str, key: &str) -> Result<Option<i64>> {
    let sql = match table {
        "soil_meta" => "SELECT value FROM soil_meta WHERE key = ?1",
        _ => "SELECT value FROM core_meta WHERE key = ?1",
    };
    match tx.row(sql, args![key])? {
        Some(mut row) => Ok(row.text(0)?.parse().ok()),
        None => Ok(None),
    }
}

pub(crate) fn exists(tx: &mut ReadTx<'_>, table: &str) -> Result<bool> {
    let sql = tx.dialect().table_exists();
    Ok(tx.row(sql, args![table])?.is_some())
}

/// Looks at a store without changing it.
pub fn inspect(tx: &mut ReadTx<'_>) -> Result<Found> {
    if !exists(tx, "soil_meta")? {
        return Ok(Found::Empty);
    }
    match version(tx, "soil_meta", "version")? {
        Some(SOIL_VERSION) => {}
        Some(1 | 2) => return Ok(Found::StaleCore),
        Some(newer) if newer > SOIL_VERSION => {
            return Err(Fault::new(
                Code::StoreUnavailable,
                format!(
                    "the store was written by a newer Understory (soil version {newer}; \
                     this one knows {SOIL_VERSION})"
                ),
            )
            .hint("Update Understory; the store is left as it is."));
        }
        _ => {
            return Err(
                Fault::new(Code::StoreCorrupt, "the store does not say its version")
                    .hint("Restore a backup; the store is left as it is."),
            );
        }
    }
    if exists(tx, "core_meta")? && version(tx, "core_meta", "version")? == Some(CORE_VERSION) {
        Ok(Found::Ready)
    } else {
        Ok(Found::StaleCore)
    }
}

/// Makes every table of a new store.
pub fn create(tx: &mut Tx<'_>) -> Result<()> {
    let dialect = tx.dialect();
    tx.batch(&dialect.schema(SOIL))?;
    tx.batch(dialect.soil_guards())?;
    second(tx)?;
    third(tx)?;
    create_core(tx)?;
    let version = SOIL_VERSION.to_string();
    tx.run(
        "INSERT INTO soil_meta (key, value) VALUES ('version', ?1)",
        args![&version],
    )?;
    Ok(())
}

/// Brings soil to this version; what happened stays as it is.
pub fn migrate(tx: &mut Tx<'_>) -> Result<()> {
    match version(tx, "soil_meta", "version")? {
        Some(1) => {
            second(tx)?;
            third(tx)?;
        }
        Some(2) => third(tx)?,
        _ => return Ok(()),
    }
    let version = SOIL_VERSION.to_string();
    tx.run(
        "UPDATE soil_meta SET value = ?1 WHERE key = 'version'",
        args![&version],
    )?;
    Ok(())
}

/// What version 2 adds, to a new store as to one of version 1.
fn second(tx: &mut Tx<'_>) -> Result<()> {
    let dialect = tx.dialect();
    tx.batch(&dialect.schema(SOIL_2))?;
    tx.batch(dialect.soil_guards_2())
}

/// What version 3 adds to version 2.
fn third(tx: &mut Tx<'_>) -> Result<()> {
    let guards = tx.dialect().soil_guards_3();
    tx.batch(guards)
}

/// What is live is made with core, where it is not there yet: a store of an earlier version gets
/// what it lacks when its core is replayed.
fn create_core(tx: &mut Tx<'_>) -> Result<()> {
    let dialect = tx.dialect();
    tx.batch(&dialect.schema(LIVE))?;
    tx.batch(&dialect.schema(CORE))?;
    tx.batch(dialect.text_schema())?;
    tx.batch(dialect.statistics())?;
    let version = CORE_VERSION.to_string();
    tx.run(
        "INSERT INTO core_meta (key, value) VALUES ('version', ?1)",
        args![&version],
    )?;
    Ok(())
}

/// Drops core and makes it anew, empty, for a replay to fill.
pub fn reset_core(tx: &mut Tx<'_>) -> Result<()> {
    let dialect = tx.dialect();
    tx.drop_handed_over();
    // Every transaction holds core_meta first, so waiting for it is waiting for all of them.
    for table in ["core_meta"]
        .iter()
        .chain(dialect.text_tables())
        .chain(&CORE_TABLES)
    {
        tx.batch(&dialect.clear(table))?;
    }
    create_core(tx)
}
