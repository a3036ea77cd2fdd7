//! One PostgreSQL connection: how it is opened, what its errors mean, how values cross over.

use std::collections::HashMap;
use std::error::Error as _;
use std::time::Duration;

use postgres::error::SqlState;
use postgres::fallible_iterator::FallibleIterator;
use postgres::types::{IsNull, ToSql, Type, to_sql_checked};
use postgres::{Client, NoTls, SimpleQueryMessage, Statement};
use understory_model::error::{Code, Fault};

use crate::deadline::{Patience, too_long};
use crate::dialect::Dialect;
use crate::sql::{Arg, Cell, Row, SqlError, Transient};
use crate::tls::Address;
use crate::workspaces::Workspace;

/// Prepared statements kept per connection; multi-row inserts come in many widths.
const STATEMENTS: usize = 256;

/// A server that does not answer is reported; one across the world answers in a second.
const CONNECT: Duration = Duration::from_secs(10);
/// A server that acknowledges nothing for this long is gone, whatever the kernel still hopes for.
const UNACKNOWLEDGED: Duration = Duration::from_secs(30);
/// How often a connection that is silent is tried: a firewall may have forgotten it.
const KEEPALIVE: Duration = Duration::from_secs(30);

/// What every connection begins with. That a server looks whether its client is still there, while a
/// statement runs, is known to version 14 and later.
fn settings(patience: Patience) -> String {
    format!(
        "SET client_min_messages = warning; SET synchronous_commit = on; \
         SET statement_timeout = {}; SET lock_timeout = {}; \
         SET idle_in_transaction_session_timeout = {}; \
         SELECT set_config(name, '5s', false) FROM pg_catalog.pg_settings \
         WHERE name = 'client_connection_check_interval'",
        patience.statement.as_millis(),
        patience.lock().as_millis(),
        patience.idle().as_millis(),
    )
}

pub struct PgConn {
    client: Client,
    statements: HashMap<String, Statement>,
    pub workspaces: HashMap<String, Workspace>,
}

impl PgConn {
    pub fn open(url: &str, patience: Patience) -> Result<PgConn, SqlError> {
        let address = Address::parse(url)?;
        let mut config = address.config.clone();
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT);
        }
        if config.get_tcp_user_timeout().is_none() {
            config.tcp_user_timeout(UNACKNOWLEDGED);
        }
        if config.get_keepalives_interval().is_none() {
            config.keepalives(true).keepalives_idle(KEEPALIVE);
            config.keepalives_interval(KEEPALIVE).keepalives_retries(3);
        }
        if config.get_application_name().is_none() {
            config.application_name("understory");
        }
        let mut client = match address.connector()? {
            Some(connector) => config.connect(connector).map_err(|e| address.explain(e))?,
            None => config.connect(NoTls).map_err(failed)?,
        };
        client.batch_execute(&settings(patience)).map_err(failed)?;
        Ok(PgConn {
            client,
            statements: HashMap::new(),
            workspaces: HashMap::new(),
        })
    }

    pub fn batch(&mut self, sql: &str) -> Result<(), SqlError> {
        self.client.batch_execute(sql).map_err(failed)
    }

    /// Starts a transaction and reads core's version, in one round trip.
    pub fn begin(&mut self, begin: &str) -> Result<Option<String>, SqlError> {
        let sql = format!("{begin}; {}", Dialect::Postgres.core_version());
        let answers = self.client.simple_query(&sql).map_err(failed)?;
        Ok(answers.iter().find_map(|answer| match answer {
            SimpleQueryMessage::Row(row) => row.get(0).map(str::to_string),
            _ => None,
        }))
    }

    fn statement(&mut self, sql: &str) -> Result<Statement, SqlError> {
        if let Some(statement) = self.statements.get(sql) {
            return Ok(statement.clone());
        }
        if self.statements.len() >= STATEMENTS {
            self.statements.clear();
        }
        let text = Dialect::Postgres.statement(sql);
        let statement = self.client.prepare(&text).map_err(failed)?;
        self.statements.insert(sql.to_string(), statement.clone());
        Ok(statement)
    }

    pub fn each(
        &mut self,
        sql: &str,
        args: &[Arg],
        mut visit: impl FnMut(Row),
    ) -> Result<(), SqlError> {
        let statement = self.statement(sql)?;
        let mut rows = self
            .client
            .query_raw(&statement, by_reference(args))
            .map_err(failed)?;
        while let Some(found) = rows.next().map_err(failed)? {
            visit(row(&found)?);
        }
        Ok(())
    }

    pub fn run(&mut self, sql: &str, args: &[Arg]) -> Result<u64, SqlError> {
        let statement = self.statement(sql)?;
        self.client
            .execute(&statement, &by_reference(args))
            .map_err(failed)
    }
}

fn by_reference<'a>(args: &'a [Arg<'a>]) -> Vec<&'a (dyn ToSql + Sync)> {
    args.iter().map(|arg| arg as &(dyn ToSql + Sync)).collect()
}

impl ToSql for Arg<'_> {
    fn to_sql(
        &self,
        ty: &Type,
        out: &mut postgres::types::private::BytesMut,
    ) -> Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        match self {
            Arg::Null => Ok(IsNull::Yes),
            Arg::Int(value) if *ty == Type::INT4 => i32::try_from(*value)?.to_sql(ty, out),
            Arg::Int(value) if *ty == Type::FLOAT8 => (*value as f64).to_sql(ty, out),
            Arg::Int(value) => value.to_sql(ty, out),
            Arg::Real(value) => value.to_sql(ty, out),
            Arg::Text(value) => value.to_sql(ty, out),
            Arg::Bytes(value) => value.to_sql(ty, out),
            Arg::Ints(value) => value.to_sql(ty, out),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

fn row(row: &postgres::Row) -> Result<Row, SqlError> {
    let cells = row
        .columns()
        .iter()
        .enumerate()
        .map(|(at, column)| cell(row, at, column.type_()));
    Ok(Row(cells.collect::<Result<_, _>>()?))
}

fn cell(row: &postgres::Row, at: usize, ty: &Type) -> Result<Cell, SqlError> {
    fn or_null<T>(value: Option<T>, make: impl Fn(T) -> Cell) -> Cell {
        value.map_or(Cell::Null, make)
    }
    Ok(match *ty {
        Type::INT8 => or_null(
            row.try_get::<_, Option<i64>>(at).map_err(failed)?,
            Cell::Int,
        ),
        Type::INT4 => or_null(row.try_get::<_, Option<i32>>(at).map_err(failed)?, |v| {
            Cell::Int(i64::from(v))
        }),
        Type::BOOL => or_null(row.try_get::<_, Option<bool>>(at).map_err(failed)?, |v| {
            Cell::Int(i64::from(v))
        }),
        Type::FLOAT8 => or_null(
            row.try_get::<_, Option<f64>>(at).map_err(failed)?,
            Cell::Real,
        ),
        Type::BYTEA => or_null(
            row.try_get::<_, Option<Vec<u8>>>(at).map_err(failed)?,
            Cell::Bytes,
        ),
        _ => or_null(
            row.try_get::<_, Option<String>>(at).map_err(failed)?,
            Cell::Text,
        ),
    })
}

/// What an error of PostgreSQL means to the person who runs the store.
pub fn failed(error: postgres::Error) -> SqlError {
    let state = error.code().cloned();
    if state == Some(SqlState::QUERY_CANCELED) {
        return SqlError {
            fault: too_long(),
            transient: None,
        };
    }
    let lost = error.is_closed() || (state.is_none() && error.source().is_some());
    let retry = matches!(
        state,
        // A unique key is met twice only where two processes made the same workspace at once.
        Some(
            SqlState::T_R_SERIALIZATION_FAILURE
                | SqlState::T_R_DEADLOCK_DETECTED
                | SqlState::UNIQUE_VIOLATION
        )
    );
    let (code, message, hint) = match &state {
        Some(state)
            if *state == SqlState::INVALID_PASSWORD
                || *state == SqlState::INVALID_AUTHORIZATION_SPECIFICATION =>
        {
            (
                Code::StoreUnavailable,
                "the PostgreSQL server refuses this user or password".to_string(),
                "Check the store's address: postgres://user:password@host:5432/database.",
            )
        }
        Some(state) if *state == SqlState::INVALID_CATALOG_NAME => (
            Code::StoreUnavailable,
            "the PostgreSQL server has no such database".to_string(),
            "Create it first, for example with `createdb`.",
        ),
        Some(state) if *state == SqlState::DISK_FULL => (
            Code::StoreUnavailable,
            "the PostgreSQL server's disk is full: nothing was written".to_string(),
            "Free some space and call again.",
        ),
        Some(state)
            if *state == SqlState::READ_ONLY_SQL_TRANSACTION
                || *state == SqlState::INSUFFICIENT_PRIVILEGE =>
        {
            (
                Code::StoreUnavailable,
                "the PostgreSQL server does not let this user write: nothing was written"
                    .to_string(),
                "Check the rights of the user in the store's address.",
            )
        }
        _ if retry => (
            Code::StoreUnavailable,
            "the PostgreSQL server asked for the transaction to be run again".to_string(),
            "Call again.",
        ),
        Some(state) if *state == SqlState::LOCK_NOT_AVAILABLE => (
            Code::TimedOut,
            "another process holds what this call needs, and did not let go in time: nothing was \
             written"
                .to_string(),
            "Call again in a moment.",
        ),
        Some(state) if *state == SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT => (
            Code::TimedOut,
            "the transaction paused too long, so the PostgreSQL server ended it: nothing was written"
                .to_string(),
            "Call again; if it happens often, look at what keeps this machine busy.",
        ),
        Some(state) if state.code().starts_with("57P") || state.code().starts_with("53") => {
            (
                Code::StoreUnavailable,
                "the PostgreSQL server cannot serve this now".to_string(),
                "Check the server, then call again; what was acknowledged is kept.",
            )
        }
        Some(state) if state.code().starts_with("23") => (
            Code::StoreCorrupt,
            format!(
                "the store's contents do not fit together: {}",
                error.as_db_error().map_or("", |e| e.message())
            ),
            "Run `understory verify`, then `understory rebuild` or restore a backup; if verify \
             finds nothing wrong, please report this.",
        ),
        Some(state) => (
            Code::Internal,
            format!(
                "the store refused a statement ({}): {}",
                state.code(),
                error.as_db_error().map_or("", |e| e.message())
            ),
            "This is an internal error: please report it.",
        ),
        None => (
            Code::StoreUnavailable,
            "the PostgreSQL server does not answer".to_string(),
            "Check that it runs and that the store's address is right, then call again.",
        ),
    };
    let ended = |s: &SqlState| {
        s.code().starts_with("57P") || *s == SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT
    };
    let lost = lost || state.as_ref().is_some_and(ended);
    let transient = if retry {
        Some(Transient::Retryable)
    } else if lost {
        Some(Transient::ConnectionLost)
    } else {
        None
    };
    SqlError {
        fault: Fault::new(code, message).hint(hint),
        transient,
    }
}
