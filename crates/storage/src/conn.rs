//! A connection to either database, and how a statement on it fails.

use std::collections::HashMap;
use std::time::Instant;

use understory_model::error::Fault;

use crate::dialect::Dialect;
use crate::postgres::PgConn;
use crate::seats::Seats;
use crate::sqlite::SqliteConn;
use crate::value::{Arg, Row};
use crate::workspaces::Workspace;

/// The class of an error that a new attempt may cure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transient {
    /// The database asks for the transaction to be retried.
    Retryable,
    /// The connection is gone or unusable.
    ConnectionLost,
}

/// A failed statement.
pub struct SqlError {
    pub fault: Fault,
    pub transient: Option<Transient>,
}

/// A connection to one of the two databases. Only this file, the connections themselves and
/// `open.rs` tell them apart.
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
    pub fn workspaces(&mut self) -> &mut HashMap<String, Workspace> {
        match self {
            Conn::Sqlite(conn) => &mut conn.workspaces,
            Conn::Postgres(conn) => &mut conn.workspaces,
        }
    }

    /// Starts a transaction; the version of core in it.
    pub fn begin(&mut self, begin: &str) -> std::result::Result<Option<String>, SqlError> {
        match self {
            Conn::Sqlite(conn) => conn.begin(begin),
            Conn::Postgres(conn) => conn.begin(begin),
        }
    }

    pub fn run(&mut self, sql: &str, args: &[Arg]) -> std::result::Result<u64, SqlError> {
        match self {
            Conn::Sqlite(conn) => conn.run(sql, args),
            Conn::Postgres(conn) => conn.run(sql, args),
        }
    }

    pub fn each(
        &mut self,
        sql: &str,
        args: &[Arg],
        visit: impl FnMut(Row),
    ) -> std::result::Result<(), SqlError> {
        match self {
            Conn::Sqlite(conn) => conn.each(sql, args, visit),
            Conn::Postgres(conn) => conn.each(sql, args, visit),
        }
    }

    /// Sets when the next statement must have ended, for a database inside this process: a server
    /// keeps its own time.
    pub fn end_statement_at(&mut self, at: Option<Instant>) {
        match self {
            Conn::Sqlite(conn) => conn.alarm.set(at),
            Conn::Postgres(_) => {}
        }
    }

    /// Runs a statement outside of a transaction; false when others kept it from doing all of it.
    pub fn run_maintenance(&mut self, sql: &str) -> std::result::Result<bool, SqlError> {
        match self {
            Conn::Sqlite(conn) => conn.settled(sql),
            Conn::Postgres(conn) => conn.batch(sql).map(|()| true),
        }
    }

    /// Whether it may serve later reads too.
    pub fn is_reusable(&self) -> bool {
        match self {
            Conn::Sqlite(conn) => conn.lasts(),
            Conn::Postgres(_) => true,
        }
    }

    /// The sessions that have a process on this machine; `None` where the store is a server, which
    /// machines share.
    pub fn seats(&self) -> Option<Seats> {
        match self {
            Conn::Sqlite(conn) => conn.path().map(Seats::beside),
            Conn::Postgres(_) => None,
        }
    }
}
