//! Opening a store: a connection to either database, what it finds there, and what is made or
//! replayed before the first write.

use std::path::Path;
use std::time::Duration;

use understory_model::error::{Code, Fault, Result};

use crate::batch;
use crate::postgres::PgConn;
use crate::schema::{self, Found};
use crate::sql::{Conn, Tx};
use crate::sqlite::{APPLICATION_ID, SqliteConn};
use crate::store::{Backend, RETRIES, Store};

/// A database that ends with its connection, to read a store from that was never written.
pub fn in_memory() -> Result<Conn> {
    let conn = SqliteConn::open_in_memory().map_err(|e| e.fault)?;
    Ok(Conn::Sqlite(conn))
}

impl Store {
    pub(crate) fn open_reader(&self) -> Result<Option<(Conn, Found)>> {
        let mut conn = match &self.backend {
            Backend::Sqlite(path) => {
                if !is_there(path)? {
                    return Ok(None);
                }
                Conn::Sqlite(SqliteConn::open_to_read(path).map_err(|e| self.named(e.fault))?)
            }
            Backend::Postgres(url) => Conn::Postgres(Box::new(
                PgConn::open(url, self.options.patience).map_err(|e| e.fault)?,
            )),
        };
        let found = self.inspect(&mut conn)?;
        Ok(Some((conn, found)))
    }

    fn inspect(&self, conn: &mut Conn) -> Result<Found> {
        let foreign = match conn {
            Conn::Sqlite(sqlite) => {
                sqlite.application_id().map_err(|e| self.named(e.fault))? != APPLICATION_ID
            }
            Conn::Postgres(_) => false,
        };
        let mut tx = Tx::new(conn, None);
        let found = schema::inspect(&mut tx).map_err(|f| self.named(f))?;
        if foreign && found == Found::Empty && tx.row("SELECT 1 FROM sqlite_master", &[])?.is_some()
        {
            return Err(self.named(
                Fault::new(
                    Code::StoreUnavailable,
                    "the file is a database of another program, not an Understory store",
                )
                .hint("Name another file with --store or UNDERSTORY_STORE; this one is untouched."),
            ));
        }
        Ok(found)
    }

    /// Says which file a fault is about; a PostgreSQL address may hold a password and is not shown.
    pub(crate) fn named(&self, mut fault: Fault) -> Fault {
        if let Some(path) = self.path() {
            fault.message = format!("{}: {}", path.display(), fault.message);
        }
        fault
    }

    pub(crate) fn open_writer(&self) -> Result<Conn> {
        let (mut conn, found) = self.open_to_write()?;
        match found {
            Found::Ready => {}
            Found::Empty => self.create(&mut conn)?,
            Found::StaleCore => self.replay(&mut conn)?,
        }
        Ok(conn)
    }

    /// A connection that can write, and what it found; nothing is made or replayed.
    pub(crate) fn open_to_write(&self) -> Result<(Conn, Found)> {
        let mut conn = match &self.backend {
            Backend::Sqlite(path) => {
                let conn = SqliteConn::open(path).map_err(|e| self.named(e.fault))?;
                Conn::Sqlite(conn)
            }
            Backend::Postgres(url) => Conn::Postgres(Box::new(
                PgConn::open(url, self.options.patience).map_err(|e| e.fault)?,
            )),
        };
        let found = self.inspect(&mut conn)?;
        if let Conn::Sqlite(sqlite) = &mut conn {
            let made = if self.options.scratch {
                sqlite.make_fleeting()
            } else {
                sqlite.make_durable()
            };
            made.map_err(|e| self.named(e.fault))?;
        }
        Ok((conn, found))
    }

    fn create(&self, conn: &mut Conn) -> Result<()> {
        if let Conn::Sqlite(sqlite) = conn {
            let mark = format!("PRAGMA application_id = {APPLICATION_ID}");
            sqlite.batch(&mark).map_err(|e| self.named(e.fault))?;
        }
        // Several processes may meet an empty PostgreSQL database: one makes the tables, the
        // others fail and find them made.
        let mut last = Ok(());
        for _ in 0..RETRIES {
            last = batch::in_transaction(conn, self.options.probe.clone(), schema::create);
            if last.is_ok() || self.inspect(conn)? == Found::Ready {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        last
    }

    fn replay(&self, conn: &mut Conn) -> Result<()> {
        let Some(replay) = self.options.replay else {
            return Err(
                Fault::new(Code::StoreUnavailable, "core is of another version")
                    .hint("Run `understory rebuild`."),
            );
        };
        batch::in_transaction(conn, self.options.probe.clone(), |tx| {
            tx.without_limits()?;
            schema::migrate(tx)?;
            (replay.check)(tx)?;
            schema::reset_core(tx)?;
            (replay.fill)(tx)
        })
    }

    /// Copies a SQLite store, as of one moment, into a new file.
    pub fn backup(&self, to: &Path, tell: impl FnMut(i64, i64)) -> Result<bool> {
        match self.reader()?.map(|(idle, _)| idle.conn) {
            None => Ok(false),
            Some(Conn::Sqlite(conn)) => {
                conn.copy_to(to, tell).map_err(|e| e.fault)?;
                Ok(true)
            }
            Some(Conn::Postgres(_)) => Err(Fault::new(
                Code::Validation,
                "a PostgreSQL store is backed up by PostgreSQL's own tools",
            )
            .hint("Use `pg_dump --format=custom`; a dump taken at any moment is consistent.")),
        }
    }
}

/// Whether there is a store in the file.
pub fn is_there(path: &Path) -> Result<bool> {
    match std::fs::metadata(path) {
        Ok(found) if found.is_dir() => Err(Fault::new(
            Code::StoreUnavailable,
            format!("{}: is a folder, not a store", path.display()),
        )
        .hint("Name a file in it, for example understory.db.")),
        // An empty file is what an interrupted creation leaves, and no read fills it.
        Ok(found) => Ok(found.len() > 0),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(Fault::new(
            Code::StoreUnavailable,
            format!("{}: cannot be read ({})", path.display(), error.kind()),
        )
        .hint("Check the permissions of the file and its folder.")),
    }
}
