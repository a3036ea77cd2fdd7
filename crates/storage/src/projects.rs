//! Projects: what is counted in each, kept as it changes.

use understory_model::error::Result;
use understory_model::{Id, Time, Ws};

use crate::sql::{ReadTx, Tx, args};
use crate::table::{self, Stored, table};

table! {
    /// A project's counts, its root node and the clock of its records.
    #[derive(Debug, Clone, PartialEq, Eq, Default)]
    pub struct Project in core_project key (id) {
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
}

pub fn get(tx: &mut ReadTx<'_>, ws: Ws, id: Id) -> Result<Option<Project>> {
    table::get(tx, args![ws, id])
}

/// All of a workspace, oldest first.
pub fn all(tx: &mut ReadTx<'_>, ws: Ws) -> Result<Vec<Project>> {
    let columns = Project::COLUMNS;
    let sql = format!("SELECT {columns} FROM core_project WHERE ws = ?1 ORDER BY id");
    table::all(tx, &sql, args![ws])
}

pub fn put(tx: &mut Tx<'_>, ws: Ws, project: &Project) -> Result<()> {
    table::put_together(tx, ws, project)
}
