//! Values, rows and the transaction that every query runs in, the same for both engines.

use std::any::Any;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use understory_model::error::{Code, Fault, Result};

use crate::deadline::Patience;
use crate::dialect::Dialect;
use crate::postgres::PgConn;
use crate::schema::CORE_VERSION;
use crate::seats::Seats;
use crate::sqlite::SqliteConn;
use crate::store::Probe;
use crate::texts::TextChange;
use crate::together::{Waiting, insert_text, together};
use crate::workspaces::Workspace;

/// An argument of a statement; text never becomes SQL.
#[derive(Debug, Clone, Copy)]
pub enum Arg<'a> {
    Null,
    Int(i64),
    Real(f64),
    Text(&'a str),
    Bytes(&'a [u8]),
    /// An array, for PostgreSQL's indexes only.
    Ints(&'a [i32]),
}

impl From<i64> for Arg<'_> {
    fn from(value: i64) -> Self {
        Arg::Int(value)
    }
}
impl From<bool> for Arg<'_> {
    fn from(value: bool) -> Self {
        Arg::Int(i64::from(value))
    }
}
impl From<f64> for Arg<'_> {
    fn from(value: f64) -> Self {
        Arg::Real(value)
    }
}
impl<'a> From<&'a str> for Arg<'a> {
    fn from(value: &'a str) -> Self {
        Arg::Text(value)
    }
}
impl<'a> From<&'a String> for Arg<'a> {
    fn from(value: &'a String) -> Self {
        Arg::Text(value)
    }
}
impl<'a> From<&'a [u8]> for Arg<'a> {
    fn from(value: &'a [u8]) -> Self {
        Arg::Bytes(value)
    }
}
impl<'a, T: Into<Arg<'a>>> From<Option<T>> for Arg<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Arg::Null, Into::into)
    }
}

impl<'a> From<&'a Cell> for Arg<'a> {
    fn from(value: &'a Cell) -> Self {
        match value {
            Cell::Null => Arg::Null,
            Cell::Int(value) => Arg::Int(*value),
            Cell::Real(value) => Arg::Real(*value),
            Cell::Text(value) => Arg::Text(value),
            Cell::Bytes(value) => Arg::Bytes(value),
        }
    }
}

/// Builds the argument list of a statement.
macro_rules! args {
    ($($value:expr),* $(,)?) => { &[$($crate::sql::Arg::from($value)),*] };
}
pub(crate) use args;

/// One value of a row.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    Null,
    Int(i64),
    Real(f64),
    Text(String),
    Bytes(Vec<u8>),
}

/// One row of an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Row(pub Vec<Cell>);

impl Row {
    fn wrong(&self, at: usize, wanted: &str) -> Fault {
        Fault::new(
            Code::StoreCorrupt,
            format!(
                "the store holds {:?} where {wanted} belongs",
                self.0.get(at)
            ),
        )
        .hint("Run `understory verify`; if soil is sound, `understory rebuild` mends core.")
    }

    pub fn int(&self, at: usize) -> Result<i64> {
        match self.0.get(at) {
            Some(Cell::Int(value)) => Ok(*value),
            _ => Err(self.wrong(at, "a number")),
        }
    }

    pub fn flag(&self, at: usize) -> Result<bool> {
        Ok(self.int(at)? != 0)
    }

    pub fn opt_int(&self, at: usize) -> Result<Option<i64>> {
        match self.0.get(at) {
            Some(Cell::Null) => Ok(None),
            _ => self.int(at).map(Some),
        }
    }

    pub fn real(&self, at: usize) -> Result<f64> {
        match self.0.get(at) {
            Some(Cell::Real(value)) => Ok(*value),
            Some(Cell::Int(value)) => Ok(*value as f64),
            _ => Err(self.wrong(at, "a number")),
        }
    }

    /// Moves the text out of the row.
    pub fn text(&mut self, at: usize) -> Result<String> {
        match self.0.get_mut(at) {
            Some(Cell::Text(value)) => Ok(std::mem::take(value)),
            _ => Err(self.wrong(at, "text")),
        }
    }

    pub fn opt_text(&mut self, at: usize) -> Result<Option<String>> {
        match self.0.get(at) {
            Some(Cell::Null) => Ok(None),
            _ => self.text(at).map(Some),
        }
    }

    /// A text that is one of a closed set of words.
    pub fn word<W>(&self, at: usize, parse: fn(&str) -> Option<W>) -> Result<W> {
        let read = match self.0.get(at) {
            Some(Cell::Text(word)) => parse(word),
            _ => None,
        };
        read.ok_or_else(|| self.wrong(at, "another word"))
    }

    pub fn opt_word<W>(&self, at: usize, parse: fn(&str) -> Option<W>) -> Result<Option<W>> {
        match self.0.get(at) {
            Some(Cell::Null) => Ok(None),
            _ => self.word(at, parse).map(Some),
        }
    }

    pub fn bytes<const N: usize>(&self, at: usize) -> Result<[u8; N]> {
        match self.0.get(at) {
            Some(Cell::Bytes(value)) => value
                .as_slice()
                .try_into()
                .map_err(|_| self.wrong(at, "bytes of that length")),
            _ => Err(self.wrong(at, "bytes")),
        }
    }
}

/// What went wrong beneath a statement, beyond the fault that the caller sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    /// The engine asks for the transaction to be run again.
    Retry,
    /// The connection is gone or unusable.
    Lost,
}

/// A failed statement.
pub struct SqlError {
    pub fault: Fault,
    pub trouble: Option<Trouble>,
}

/// Workspaces remembered at a time.
const KNOWN: usize = 256;

pub enum Conn {
    Sqlite(SqliteConn),
    Postgres(Box<PgConn>),
}

impl Conn {
    pub fn dialect(&self) -> Dialect {
        match self {
            Conn::Sqlite(_) => Dialect::Sqlite,
            Conn::Postgres(_) => Dialect::Postgres,
        }
    }

    pub fn batch(&mut self, sql: &str) -> std::result::Result<(), SqlError> {
        match self {
            Conn::Sqlite(conn) => conn.batch(sql),
            Conn::Postgres(conn) => conn.batch(sql),
        }
    }

    /// Workspaces that this connection has seen: what soil holds of one never changes.
    fn workspaces(&mut self) -> &mut HashMap<String, Workspace> {
        match self {
            Conn::Sqlite(conn) => &mut conn.workspaces,
            Conn::Postgres(conn) => &mut conn.workspaces,
        }
    }

    /// Starts a transaction; the version of core in it.
    fn begin(&mut self, begin: &str) -> std::result::Result<Option<String>, SqlError> {
        match self {
            Conn::Sqlite(conn) => conn.begin(begin),
            Conn::Postgres(conn) => conn.begin(begin),
        }
    }
}

/// A transaction under way. All statements of the product pass through it.
pub struct Tx<'c> {
    pub(crate) conn: &'c mut Conn,
    /// How long a statement may take, and when the last one must end; see `deadline.rs`.
    pub(crate) patience: Option<Patience>,
    pub(crate) ends: Option<Instant>,
    probe: Option<Arc<Probe>>,
    trouble: Option<Trouble>,
    failed: Option<Fault>,
    discarded: bool,
    /// Statements so far that may have changed something.
    changes: u64,
    /// Text to be indexed when every job of the transaction has run.
    deferred: Vec<TextChange>,
    /// Statements to be sent together, where each alone would be a round trip.
    waiting: Vec<Waiting>,
    /// What a job left to the next one.
    left: Option<Box<dyn Any>>,
}

/// So many statements are sent together at the most, each with so few arguments: a text that is
/// long or hardly ever the same again costs more to prepare than a round trip.
const TOGETHER: usize = 16;
const FEW_ARGS: usize = 64;

impl<'c> Tx<'c> {
    pub(crate) fn new(conn: &'c mut Conn, probe: Option<Arc<Probe>>) -> Tx<'c> {
        Tx {
            conn,
            patience: None,
            ends: None,
            probe,
            trouble: None,
            failed: None,
            discarded: false,
            changes: 0,
            deferred: Vec::new(),
            waiting: Vec::new(),
            left: None,
        }
    }

    /// Leaves something that was read or written to the next job of this transaction, which need
    /// not read it again. What a job left is taken once, and never by one after a job that failed.
    pub fn leave(&mut self, what: impl Any) {
        self.left = Some(Box::new(what));
    }

    pub fn take_left<T: Any>(&mut self) -> Option<T> {
        let left = self.left.take()?.downcast().ok()?;
        Some(*left)
    }

    /// What was left is of another core.
    pub(crate) fn forget_left(&mut self) {
        self.left = None;
    }

    /// Forgets what a job that is not kept began and left, but for the texts of those before it.
    pub(crate) fn forget(&mut self, texts: usize) {
        self.deferred.truncate(texts);
        self.waiting.clear();
        self.left = None;
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

    /// How many statements so far may have changed something.
    pub(crate) fn changes(&self) -> u64 {
        self.changes
    }

    /// A workspace that was there in an earlier transaction.
    pub(crate) fn known(&mut self, name: &str) -> Option<Workspace> {
        self.conn.workspaces().get(name).cloned()
    }

    /// Remembers a workspace, unless this transaction may have made it and be rolled back.
    pub(crate) fn remember(&mut self, workspace: &Workspace) {
        if self.changes > 0 {
            return;
        }
        let known = self.conn.workspaces();
        if known.len() >= KNOWN {
            known.clear();
        }
        known.insert(workspace.name.clone(), workspace.clone());
    }

    pub(crate) fn take_discarded(&mut self) -> bool {
        std::mem::take(&mut self.discarded)
    }

    /// Gives the connection up: whoever needs one opens and inspects it anew.
    pub(crate) fn lose(&mut self) {
        self.trouble = Some(Trouble::Lost);
    }

    /// Rolls back what could not be committed.
    pub(crate) fn abandon(&mut self) {
        let _ = self.conn.batch("ROLLBACK");
    }

    /// The first statement that failed since this was asked last. Whoever swallowed the fault must
    /// not be committed: PostgreSQL would roll back and call it a commit.
    pub(crate) fn take_failed(&mut self) -> Option<Fault> {
        self.failed.take()
    }

    pub(crate) fn dialect(&self) -> Dialect {
        self.conn.dialect()
    }

    /// The sessions that have a process on this machine; `None` where the store is a server, which
    /// machines share.
    pub fn seats(&self) -> Option<Seats> {
        match &*self.conn {
            Conn::Sqlite(conn) => conn.path().map(Seats::beside),
            Conn::Postgres(_) => None,
        }
    }

    pub(crate) fn trouble(&self) -> Option<Trouble> {
        self.trouble
    }

    fn passed<T>(&mut self, result: std::result::Result<T, SqlError>) -> Result<T> {
        result.map_err(|error| {
            self.trouble = self.trouble.or(error.trouble);
            self.failed.get_or_insert_with(|| error.fault.clone());
            error.fault
        })
    }

    /// Tests make any statement fail here, to prove that nothing is left half done.
    fn probed(&mut self, sql: &str) -> Result<()> {
        self.start_statement()?;
        match &self.probe {
            Some(probe) if probe(sql) => self.passed(Err(SqlError {
                fault: Fault::new(
                    Code::StoreUnavailable,
                    "the store failed, as the test asked",
                ),
                trouble: None,
            })),
            _ => Ok(()),
        }
    }

    /// Starts the transaction; false when core is of another version than this process's.
    pub(crate) fn begin(&mut self, begin: &str) -> Result<bool> {
        self.probed(begin)?;
        let result = self.conn.begin(begin);
        let version = self.passed(result)?;
        Ok(version.is_some_and(|version| version == CORE_VERSION.to_string()))
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
        let result = match self.conn {
            Conn::Sqlite(conn) => conn.each(sql, args, visit),
            Conn::Postgres(conn) => conn.each(sql, args, visit),
        };
        self.passed(result)
    }

    /// The first row of a query.
    pub fn row(&mut self, sql: &str, args: &[Arg]) -> Result<Option<Row>> {
        Ok(self.rows(sql, args)?.into_iter().next())
    }

    /// Runs a statement; the number of rows it touched.
    pub fn run(&mut self, sql: &str, args: &[Arg]) -> Result<u64> {
        self.send()?;
        self.changes += 1;
        self.probed(sql)?;
        let result = match self.conn {
            Conn::Sqlite(conn) => conn.run(sql, args),
            Conn::Postgres(conn) => conn.run(sql, args),
        };
        self.passed(result)
    }

    /// Runs a statement before the next one that is not of this kind, or when [`Tx::send`] says so:
    /// where it would be a round trip, together with others. They are run as one, in no order, so
    /// no two of them may be about the same row.
    pub(crate) fn run_together(&mut self, sql: &str, args: &[Arg]) -> Result<()> {
        if !self.dialect().is_remote() || args.len() > FEW_ARGS {
            return self.run(sql, args).map(drop);
        }
        self.changes += 1;
        self.probed(sql)?;
        let args = args.iter().map(|arg| match *arg {
            Arg::Null => Ok(Cell::Null),
            Arg::Int(value) => Ok(Cell::Int(value)),
            Arg::Real(value) => Ok(Cell::Real(value)),
            Arg::Text(value) => Ok(Cell::Text(value.into())),
            Arg::Bytes(value) => Ok(Cell::Bytes(value.into())),
            Arg::Ints(_) => Err(Fault::new(
                Code::Internal,
                "array arguments cannot be batched",
            )),
        });
        self.waiting.push(Waiting {
            sql: sql.to_string(),
            args: args.collect::<Result<_>>()?,
        });
        match self.waiting.len() < TOGETHER {
            true => Ok(()),
            false => self.send(),
        }
    }

    /// Sends the statements that wait.
    pub fn send(&mut self) -> Result<()> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        let waiting = std::mem::take(&mut self.waiting);
        let sql = together(&waiting);
        let args: Vec<Arg> = waiting
            .iter()
            .flat_map(|one| &one.args)
            .map(Arg::from)
            .collect();
        let result = match self.conn {
            Conn::Sqlite(conn) => conn.run(&sql, &args),
            Conn::Postgres(conn) => conn.run(&sql, &args),
        };
        self.passed(result).map(drop)
    }

    /// Inserts many rows: `into` is `INSERT INTO t (a, b)`, `rows` the values, row after row.
    ///
    /// One statement a row is best for SQLite, one round trip for many rows for PostgreSQL.
    pub fn insert(&mut self, into: &str, width: usize, rows: &[Arg]) -> Result<()> {
        self.put(into, width, rows, "")
    }

    /// As [`Tx::insert`], with what happens to rows that are there: ` ON CONFLICT …`.
    pub fn put(&mut self, into: &str, width: usize, rows: &[Arg], there: &str) -> Result<()> {
        let most = match self.dialect() {
            Dialect::Sqlite => 1,
            Dialect::Postgres => 64,
        };
        let mut sql = String::new();
        for chunk in rows.chunks(width * most) {
            if sql.is_empty() || chunk.len() < width * most {
                sql = insert_text(into, width, chunk.len() / width);
                sql.push_str(there);
            }
            self.run_together(&sql, chunk)?;
        }
        Ok(())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_cell_is_damage_not_a_panic() {
        let mut row = Row(vec![Cell::Null, Cell::Text("x".into())]);
        assert_eq!(row.int(0).unwrap_err().code, Code::StoreCorrupt);
        assert_eq!(row.int(9).unwrap_err().code, Code::StoreCorrupt);
        assert_eq!(row.opt_int(0), Ok(None));
        assert_eq!(row.text(1), Ok("x".into()));
        assert!(row.bytes::<16>(1).is_err());
    }
}
