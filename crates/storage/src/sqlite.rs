//! One SQLite connection: how it is opened, what its errors mean, how values cross over.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::types::{ToSqlOutput, Value, ValueRef};
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension, ToSql};
use understory_model::error::{Code, Fault};

use crate::deadline::{Alarm, too_long};
use crate::dialect::{Dialect, WORD_WEIGHTS};
use crate::files;
use crate::sql::{Arg, Cell, Row, SqlError};
use crate::workspaces::Workspace;

/// Marks a SQLite file as ours, so that a file of somebody else is never written to.
pub const APPLICATION_ID: i64 = 0x554e_4453;

/// How long a statement waits for a lock that another program holds; our own processes queue for
/// the lock file instead and never meet here.
const BUSY: Duration = Duration::from_secs(10);

/// This many steps of a statement are run between two looks at the time: about a millisecond.
const STEPS: i32 = 20_000;

pub struct SqliteConn {
    conn: Connection,
    /// When the statement that runs is ended.
    pub(crate) alarm: Alarm,
    pub workspaces: HashMap<String, Workspace>,
    /// Opened as a file that nobody can change; should somebody learn to, this would not notice.
    frozen: bool,
}

impl SqliteConn {
    /// Opens a file to write, which may also create it.
    pub fn open(path: &Path) -> Result<SqliteConn, SqlError> {
        // SQLite would make it by the umask, and at the end of any link. The files beside it get
        // the modes of this one.
        files::reserve(path).map_err(|error| not_made(&error))?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let conn = Connection::open_with_flags(path, flags);
        SqliteConn::set_up(conn.map_err(failed)?, false)
    }

    /// A database in memory that nobody else sees.
    pub fn open_in_memory() -> Result<SqliteConn, SqlError> {
        SqliteConn::set_up(Connection::open_in_memory().map_err(failed)?, false)
    }

    /// Opens a file that exists, to read.
    pub fn open_to_read(path: &Path) -> Result<SqliteConn, SqlError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let conn = Connection::open_with_flags(path, flags).map_err(failed)?;
        let looked = conn.query_row("PRAGMA schema_version", [], |_| Ok(()));
        let closed = |e: rusqlite::Error| e.sqlite_error_code() == Some(ErrorCode::CannotOpen);
        let frozen = looked.is_err_and(closed) && !has_log(path);
        let conn = if frozen {
            // Where the folder cannot be written there is no place for the shared index of a
            // write-ahead log. Without a log, nobody is writing.
            Connection::open_with_flags(frozen_uri(path), flags | OpenFlags::SQLITE_OPEN_URI)
                .map_err(failed)?
        } else {
            conn
        };
        conn.execute_batch("PRAGMA query_only = ON;")
            .map_err(failed)?;
        SqliteConn::set_up(conn, frozen)
    }

    fn set_up(mut conn: Connection, frozen: bool) -> Result<SqliteConn, SqlError> {
        let alarm = Alarm::default();
        let looked_at = alarm.clone();
        conn.progress_handler(STEPS, Some(move || looked_at.rings()))
            .map_err(failed)?;
        conn.busy_timeout(BUSY).map_err(failed)?;
        conn.set_prepared_statement_cache_capacity(128);
        // The planner would look at bound values to see whether a partial index fits, and prepare
        // a statement again whenever they change: half the time of a read. Ours say in their text
        // what the index wants.
        conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)
            .map_err(failed)?;
        conn.execute_batch("PRAGMA temp_store = MEMORY; PRAGMA trusted_schema = OFF;")
            .map_err(failed)?;
        Ok(SqliteConn {
            conn,
            alarm,
            workspaces: HashMap::new(),
            frozen,
        })
    }

    /// The file, by its full name.
    pub fn path(&self) -> Option<&Path> {
        self.conn.path().map(Path::new)
    }

    /// Whether this may be used for another read.
    pub fn lasts(&self) -> bool {
        !self.frozen
    }

    /// Write-ahead log and a flush at every commit: an acknowledged write survives a power cut.
    ///
    /// What is deleted or moved is overwritten, always: a text that waited for an index, or shared
    /// a page with others, may be taken back later, and then no page may still hold it.
    ///
    /// The log is folded into the file when it holds 4,000 pages, or 16 MB: once in some 160 small
    /// writes. Most of them change the same pages, which then reach the file once for all.
    pub fn make_durable(&self) -> Result<(), SqlError> {
        self.conn
            .execute_batch(
                "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; \
                 PRAGMA wal_autocheckpoint = 4000; \
                 PRAGMA secure_delete = ON;",
            )
            .map_err(failed)
    }

    /// The opposite, for a file that is deleted after use.
    pub fn make_fleeting(&self) -> Result<(), SqlError> {
        self.conn
            .execute_batch("PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF;")
            .map_err(failed)
    }

    pub fn application_id(&self) -> Result<i64, SqlError> {
        self.conn
            .query_row("PRAGMA application_id", [], |row| row.get(0))
            .map_err(failed)
    }

    pub fn batch(&mut self, sql: &str) -> Result<(), SqlError> {
        // A commit or rollback is never cut short.
        self.alarm.set(None);
        // Most batches are one word (BEGIN, COMMIT): keep them prepared.
        if sql.len() < 40 && !sql.contains(';') {
            let mut statement = self.conn.prepare_cached(sql).map_err(failed)?;
            return statement.raw_execute().map(drop).map_err(failed);
        }
        self.conn.execute_batch(sql).map_err(failed)
    }

    /// Runs a statement that may tell, in its first row, that others kept it from doing all.
    pub fn settled(&mut self, sql: &str) -> Result<bool, SqlError> {
        let mut statement = self.conn.prepare(sql).map_err(failed)?;
        let mut rows = statement.query([]).map_err(failed)?;
        match rows.next().map_err(failed)? {
            Some(row) => Ok(row.get::<_, i64>(0).unwrap_or(0) == 0),
            None => Ok(true),
        }
    }

    /// Starts a transaction and reads core's version.
    pub fn begin(&mut self, begin: &str) -> Result<Option<String>, SqlError> {
        self.batch(begin)?;
        let sql = Dialect::Sqlite.core_version();
        let mut statement = self.conn.prepare_cached(sql).map_err(failed)?;
        statement
            .query_row([], |row| row.get(0))
            .optional()
            .map_err(failed)
    }

    pub fn each(
        &mut self,
        sql: &str,
        args: &[Arg],
        mut visit: impl FnMut(Row),
    ) -> Result<(), SqlError> {
        let mut statement = self.conn.prepare_cached(sql).map_err(failed)?;
        let width = statement.column_count();
        let mut rows = statement
            .query(rusqlite::params_from_iter(args))
            .map_err(failed)?;
        while let Some(row) = rows.next().map_err(failed)? {
            let mut cells = Vec::with_capacity(width);
            for at in 0..width {
                cells.push(cell(row.get_ref(at).map_err(failed)?));
            }
            visit(Row(cells));
        }
        Ok(())
    }

    pub fn run(&mut self, sql: &str, args: &[Arg]) -> Result<u64, SqlError> {
        let mut statement = self.conn.prepare_cached(sql).map_err(failed)?;
        statement
            .execute(rusqlite::params_from_iter(args))
            .map(|n| n as u64)
            .map_err(failed)
    }

    /// Copies the whole database, as of one moment, into a new file.
    pub fn copy_to(&self, path: &Path, mut tell: impl FnMut(i64, i64)) -> Result<(), SqlError> {
        files::reserve(path).map_err(|error| not_made(&error))?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut target = Connection::open_with_flags(path, flags).map_err(failed)?;
        let backup = rusqlite::backup::Backup::new(&self.conn, &mut target).map_err(failed)?;
        loop {
            let step = backup.step(1000).map_err(failed)?;
            let progress = backup.progress();
            tell(
                i64::from(progress.pagecount - progress.remaining),
                i64::from(progress.pagecount),
            );
            match step {
                rusqlite::backup::StepResult::Done => return Ok(()),
                rusqlite::backup::StepResult::More => {}
                _ => std::thread::sleep(Duration::from_millis(20)),
            }
        }
    }
}

/// For each of the queries the texts that have it, by their keys, and how much it weighs there.
///
/// An index of their own in memory answers, made as the store's is: it alone cuts and stems words
/// in exactly the same way.
pub fn bearing(
    texts: &[(i64, [String; 3])],
    queries: &[String],
) -> Result<Vec<BTreeMap<i64, f64>>, SqlError> {
    let mut borne = vec![BTreeMap::new(); queries.len()];
    if texts.is_empty() {
        return Ok(borne);
    }
    let conn = Connection::open_in_memory().map_err(failed)?;
    let begin = format!("{} BEGIN;", Dialect::Sqlite.text_schema());
    conn.execute_batch(&begin).map_err(failed)?;
    for (key, [title, summary, body]) in texts {
        let mut put = conn.prepare_cached(Dialect::WORDS_PUT).map_err(failed)?;
        put.execute((key, title, summary, body)).map_err(failed)?;
    }
    let mut find = conn
        .prepare("SELECT rowid FROM core_words WHERE core_words MATCH ?1")
        .map_err(failed)?;
    for (query, borne) in queries.iter().zip(&mut borne) {
        for (column, weight) in WORD_WEIGHTS {
            let mut keys = find
                .query([format!("{column} : {query}")])
                .map_err(failed)?;
            while let Some(row) = keys.next().map_err(failed)? {
                *borne.entry(row.get(0).map_err(failed)?).or_insert(0.0) += weight;
            }
        }
    }
    Ok(borne)
}

fn has_log(path: &Path) -> bool {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    std::fs::metadata(log).is_ok_and(|found| found.len() > 0)
}

fn frozen_uri(path: &Path) -> String {
    let mut uri = String::from("file:");
    for c in path.to_string_lossy().chars() {
        match c {
            '%' | '?' | '#' => uri.push_str(&format!("%{:02X}", u32::from(c))),
            '\\' if cfg!(windows) => uri.push('/'),
            _ => uri.push(c),
        }
    }
    uri + "?immutable=1"
}

impl ToSql for Arg<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self {
            Arg::Null => ToSqlOutput::Owned(Value::Null),
            Arg::Int(value) => ToSqlOutput::Owned(Value::Integer(*value)),
            Arg::Real(value) => ToSqlOutput::Owned(Value::Real(*value)),
            Arg::Text(value) => ToSqlOutput::Borrowed(ValueRef::Text(value.as_bytes())),
            Arg::Bytes(value) => ToSqlOutput::Borrowed(ValueRef::Blob(value)),
            Arg::Ints(_) => {
                return Err(rusqlite::Error::InvalidParameterName(
                    "arrays are PostgreSQL's alone".into(),
                ));
            }
        })
    }
}

fn cell(value: ValueRef<'_>) -> Cell {
    match value {
        ValueRef::Null => Cell::Null,
        ValueRef::Integer(value) => Cell::Int(value),
        ValueRef::Real(value) => Cell::Real(value),
        ValueRef::Text(value) => Cell::Text(match std::str::from_utf8(value) {
            Ok(text) => text.to_string(),
            Err(_) => String::from_utf8_lossy(value).into_owned(),
        }),
        ValueRef::Blob(value) => Cell::Bytes(value.to_vec()),
    }
}

/// Why a file could not be made.
fn not_made(error: &std::io::Error) -> SqlError {
    SqlError {
        fault: Fault::new(
            Code::StoreUnavailable,
            format!("the store's file cannot be made: {error}"),
        )
        .hint("Check the folder's permissions and space, or name another store."),
        transient: None,
    }
}

/// Whether an error says that the file holds what no store of ours holds: rows that exclude each
/// other, tables that are not there, a format of its own.
fn is_contradiction(error: &rusqlite::Error) -> bool {
    let rusqlite::Error::SqliteFailure(failure, message) = error else {
        return false;
    };
    let said = message.as_deref().unwrap_or_default();
    let schema = [
        "unsupported file format",
        "invalid fts5 file format",
        "error in tokenizer constructor",
        "no such tokenizer",
        "vtable constructor failed",
        "no such table",
        "no such column",
        "no such index",
    ];
    failure.code == ErrorCode::ConstraintViolation
        || schema.iter().any(|text| said.starts_with(text))
}

/// What an error of SQLite means to the person who runs the store.
pub fn failed(error: rusqlite::Error) -> SqlError {
    let code = error.sqlite_error_code();
    if code == Some(ErrorCode::OperationInterrupted) {
        return SqlError {
            fault: too_long(),
            transient: None,
        };
    }
    let (code, message, hint) = match code {
        Some(ErrorCode::NotADatabase) => (
            Code::StoreUnavailable,
            "the file is not an Understory store".to_string(),
            "Name another file with --store or UNDERSTORY_STORE; this one is left as it is.",
        ),
        Some(ErrorCode::DatabaseCorrupt) => (
            Code::StoreCorrupt,
            "the store's file is damaged".to_string(),
            "Run `understory verify` to see how far the log is sound, and restore a backup.",
        ),
        Some(ErrorCode::DiskFull) => (
            Code::StoreUnavailable,
            "the disk is full: nothing was written".to_string(),
            "Free some space and call again.",
        ),
        Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => (
            Code::StoreUnavailable,
            "the store is read-only: nothing was written".to_string(),
            "Check the permissions of the store's file and folder.",
        ),
        Some(ErrorCode::CannotOpen) => (
            Code::StoreUnavailable,
            "the store's file cannot be opened".to_string(),
            "Check that the folder exists and may be read. A store that was not closed (it has a file \
             ending in -wal) opens only where its folder can be written: copy both files to one.",
        ),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => (
            Code::StoreUnavailable,
            "another program holds the store's file locked".to_string(),
            "Close that program, or call again.",
        ),
        Some(ErrorCode::SystemIoFailure) => (
            Code::StoreUnavailable,
            "the disk failed to read or write".to_string(),
            "Check the disk, then call again; what was acknowledged is kept.",
        ),
        // A damaged file is not always called one: its schema or its rows may say something else.
        _ if is_contradiction(&error) => (
            Code::StoreCorrupt,
            format!("the store's contents do not fit together: {error}"),
            "Run `understory verify`, then `understory rebuild` or restore a backup; if verify \
             finds nothing wrong, please report this.",
        ),
        _ => (
            Code::Internal,
            format!("the store refused a statement: {error}"),
            "This is an internal error: please report it.",
        ),
    };
    SqlError {
        fault: Fault::new(code, message).hint(hint),
        transient: None,
    }
}
