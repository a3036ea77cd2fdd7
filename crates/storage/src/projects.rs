//! Projects: what is counted in each, kept as it changes.

use understory_model::error::Result;
use understory_model::{Id, Time, Ws};

use crate::sql::{Row, Tx, args};

/// A project's counts, its root node and the clock of its records.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Project {
    pub id: Id,
    pub root: Option<Id>,
    pub total: i64,
    pub resolved: i64,
    pub blocked: i64,
    pub actionable: i64,
    pub updated: Time,
    /// Counts the writes that the records' contract names.
    pub tick: i64,
    /// Counts the changes of records.
    pub changes: i64,
    pub records: i64,
    pub open_records: i64,
    pub later_records: i64,
    pub root_records: i64,
    pub open_sessions: i64,
}

pub fn get(tx: &mut Tx<'_>, ws: Ws, id: Id) -> Result<Option<Project>> {
    let row = tx.row(
        "SELECT id, root, total, resolved, blocked, actionable, updated, tick, changes, records, \
         open_records, later_records, root_records, open_sessions FROM core_project \
         WHERE ws = ?1 AND id = ?2",
        args![ws, id],
    )?;
    row.map(|row| project(&row)).transpose()
}

/// All of a workspace, oldest first.
pub fn all(tx: &mut Tx<'_>, ws: Ws) -> Result<Vec<Project>> {
    let rows = tx.rows(
        "SELECT id, root, total, resolved, blocked, actionable, updated, tick, changes, records, \
         open_records, later_records, root_records, open_sessions FROM core_project \
         WHERE ws = ?1 ORDER BY id",
        args![ws],
    )?;
    rows.iter().map(project).collect()
}

fn project(row: &Row) -> Result<Project> {
    Ok(Project {
        id: row.int(0)?,
        root: row.opt_int(1)?,
        total: row.int(2)?,
        resolved: row.int(3)?,
        blocked: row.int(4)?,
        actionable: row.int(5)?,
        updated: Time(row.int(6)?),
        tick: row.int(7)?,
        changes: row.int(8)?,
        records: row.int(9)?,
        open_records: row.int(10)?,
        later_records: row.int(11)?,
        root_records: row.int(12)?,
        open_sessions: row.int(13)?,
    })
}

pub fn put(tx: &mut Tx<'_>, ws: Ws, project: &Project) -> Result<()> {
    tx.run_together(
        "INSERT INTO core_project (ws, id, root, total, resolved, blocked, actionable, updated, \
         tick, changes, records, open_records, later_records, root_records, open_sessions) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15) \
         ON CONFLICT (ws, id) DO UPDATE SET \
         root = excluded.root, total = excluded.total, resolved = excluded.resolved, \
         blocked = excluded.blocked, actionable = excluded.actionable, \
         updated = excluded.updated, tick = excluded.tick, changes = excluded.changes, \
         records = excluded.records, open_records = excluded.open_records, \
         later_records = excluded.later_records, root_records = excluded.root_records, \
         open_sessions = excluded.open_sessions",
        args![
            ws,
            project.id,
            project.root,
            project.total,
            project.resolved,
            project.blocked,
            project.actionable,
            project.updated.0,
            project.tick,
            project.changes,
            project.records,
            project.open_records,
            project.later_records,
            project.root_records,
            project.open_sessions
        ],
    )
}
