//! The transaction that every query runs in, the same for both databases.

use std::any::Any;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::time::Instant;

use understory_model::error::{Code, Fault, Result};

use crate::conn::{Conn, SqlError, Transient};
use crate::deadline::Patience;
use crate::dialect::Dialect;
use crate::schema::CORE_VERSION;
use crate::seats::Seats;
use crate::store::Probe;
use crate::texts::TextChange;
use crate::together::Queued;
use crate::value::{Arg, Row};
use crate::workspaces::Workspace;

/// Workspaces that a connection caches at most.
const CACHED_WORKSPACES: usize = 256;

/// The half of a transaction that reads. Queries take it, so that what may only read cannot write.
pub struct ReadTx<'c> {
    pub(crate) conn: &'c mut Conn,
    /// How long a statement may take, and when the last one must end; see `deadline.rs`.
    pub(crate) patience: Option<Patience>,
    pub(crate) ends: Option<Instant>,
    probe: Option<Arc<Probe>>,
    transient: Option<Transient>,
    failed: Option<Fault>,
    /// Statements so far that may have changed something.
    pub(crate) changes: u64,
    /// Statements to be sent together, where each alone would be a round trip; see `together.rs`.
    pub(crate) queued: Vec<Queued>,
}

/// An open transaction, which may write. All statements of the product pass through it.
pub struct Tx<'c> {
    read: ReadTx<'c>,
    discarded: bool,
    /// Text to be indexed when every job of the transaction has run.
    deferred: Vec<TextChange>,
    /// State that a job hands over to the next one of this transaction.
    handed_over: Option<Box<dyn Any>>,
}

impl<'c> Deref for Tx<'c> {
    type Target = ReadTx<'c>;

    fn deref(&self) -> &ReadTx<'c> {
        &self.read
    }
}

impl<'c> DerefMut for Tx<'c> {
    fn deref_mut(&mut self) -> &mut ReadTx<'c> {
        &mut self.read
    }
}

impl<'c> Tx<'c> {
    pub(crate) fn new(conn: &'c mut Conn, probe: Option<Arc<Probe>>) -> Tx<'c> {
        Tx {
            read: ReadTx::new(conn, probe),
            discarded: false,
            deferred: Vec::new(),
            handed_over: None,
        }
    }

    /// Hands state that was read or written over to the next job of this transaction, which need
    /// not read it again. It is taken once, and never by a job that follows a failed one.
    pub fn hand_over(&mut self, state: impl Any) {
        self.handed_over = Some(Box::new(state));
    }

    /// Takes what the job before handed over, if it is of this type.
    pub fn take_handed_over<T: Any>(&mut self) -> Option<T> {
        let state = self.handed_over.take()?.downcast().ok()?;
        Some(*state)
    }

    /// Drops the handed over state: core was rebuilt.
    pub(crate) fn drop_handed_over(&mut self) {
        self.handed_over = None;
    }

    /// Drops what a job that is rolled back queued and handed over; of the deferred texts the first
    /// `texts` are of jobs before it and stay.
    pub(crate) fn roll_back_job(&mut self, texts: usize) {
        self.deferred.truncate(texts);
        self.queued.clear();
        self.handed_over = None;
    }

    /// Rolls this write back although it succeeds: it turned out that there is nothing to keep.
    pub fn discard(&mut self) {
        self.discarded = true;
    }

    /// Indexes a text at the end of the transaction, together with those of the jobs that share it.
    ///
    /// SQLite's text index writes out what it gathered at every savepoint; gathered over all jobs,
    /// it is written out once.
    pub fn defer(&mut self, change: TextChange) {
        self.deferred.push(change);
    }

    pub(crate) fn deferred(&mut self) -> &mut Vec<TextChange> {
        &mut self.deferred
    }

    pub(crate) fn take_discarded(&mut self) -> bool {
        std::mem::take(&mut self.discarded)
    }

    /// Gives the connection up: the next user opens and inspects a new one.
    pub(crate) fn lose(&mut self) {
        self.transient = Some(Transient::ConnectionLost);
    }

    /// Rolls back what could not be committed.
    pub(crate) fn abandon(&mut self) {
        let _ = self.conn.batch("ROLLBACK");
    }

    /// Runs a statement; the number of rows it touched.
    pub fn run(&mut self, sql: &str, args: &[Arg]) -> Result<u64> {
        self.send()?;
        self.changes += 1;
        self.probed(sql)?;
        let result = self.conn.run(sql, args);
        self.passed(result)
    }

    /// Statements without arguments or answer.
    pub fn batch(&mut self, sql: &str) -> Result<()> {
        self.send()?;
        self.changes += 1;
        self.probed(sql)?;
        let result = self.conn.batch(sql);
        self.passed(result)
    }
}

impl<'c> ReadTx<'c> {
    pub(crate) fn new(conn: &'c mut Conn, probe: Option<Arc<Probe>>) -> ReadTx<'c> {
        ReadTx {
            conn,
            patience: None,
            ends: None,
            probe,
            transient: None,
            failed: None,
            changes: 0,
            queued: Vec::new(),
        }
    }

    /// How many statements so far may have changed something.
    pub(crate) fn changes(&self) -> u64 {
        self.changes
    }

    /// A workspace that an earlier transaction found.
    pub(crate) fn cached_workspace(&mut self, name: &str) -> Option<Workspace> {
        self.conn.workspaces().get(name).cloned()
    }

    /// Caches a workspace, unless this transaction may have made it and be rolled back.
    pub(crate) fn cache_workspace(&mut self, workspace: &Workspace) {
        if self.changes > 0 {
            return;
        }
        let cached = self.conn.workspaces();
        if cached.len() >= CACHED_WORKSPACES {
            cached.clear();
        }
        cached.insert(workspace.name.clone(), workspace.clone());
    }

    pub(crate) fn dialect(&self) -> Dialect {
        self.conn.dialect()
    }

    /// The sessions that have a process on this machine; `None` where the store is a server, which
    /// machines share.
    pub fn seats(&self) -> Option<Seats> {
        self.conn.seats()
    }

    pub(crate) fn transient(&self) -> Option<Transient> {
        self.transient
    }

    pub(crate) fn passed<T>(&mut self, result: std::result::Result<T, SqlError>) -> Result<T> {
        result.map_err(|error| {
            self.transient = self.transient.or(error.transient);
            self.failed.get_or_insert_with(|| error.fault.clone());
            error.fault
        })
    }

    /// Tests make any statement fail here, to prove that nothing is left half done.
    pub(crate) fn probed(&mut self, sql: &str) -> Result<()> {
        self.start_statement()?;
        match &self.probe {
            Some(probe) if probe(sql) => self.passed(Err(SqlError {
                fault: Fault::new(
                    Code::StoreUnavailable,
                    "the store failed, as the test asked",
                ),
                transient: None,
            })),
            _ => Ok(()),
        }
    }

    /// All rows of a query.
    pub fn rows(&mut self, sql: &str, args: &[Arg]) -> Result<Vec<Row>> {
        let mut rows = Vec::new();
        self.each(sql, args, |row| rows.push(row))?;
        Ok(rows)
    }

    /// Visits the rows of a query one by one, for answers that do not fit into memory.
    pub fn each(&mut self, sql: &str, args: &[Arg], visit: impl FnMut(Row)) -> Result<()> {
        self.send()?;
        self.probed(sql)?;
        let result = self.conn.each(sql, args, visit);
        self.passed(result)
    }

    /// The first row of a query.
    pub fn row(&mut self, sql: &str, args: &[Arg]) -> Result<Option<Row>> {
        Ok(self.rows(sql, args)?.into_iter().next())
    }

    /// The first statement that failed since this was asked last. Code that swallowed the fault
    /// must not be committed: PostgreSQL would roll back and call it a commit.
    pub(crate) fn take_failed(&mut self) -> Option<Fault> {
        self.failed.take()
    }

    /// Starts the transaction; false when core is of another version than this process's.
    pub(crate) fn begin(&mut self, begin: &str) -> Result<bool> {
        self.probed(begin)?;
        let result = self.conn.begin(begin);
        let version = self.passed(result)?;
        Ok(version.is_some_and(|version| version == CORE_VERSION.to_string()))
    }
}
