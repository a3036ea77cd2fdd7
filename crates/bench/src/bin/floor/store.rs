//! One table, one row at a time, as durable as Understory's.

use std::fs::{File, OpenOptions};
use std::time::Duration;

use postgres::{Client, NoTls, Statement};
use rusqlite::{Connection, OpenFlags};

pub type Outcome<T = ()> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

pub struct Store {
    engine: Engine,
    row_bytes: usize,
}

enum Engine {
    Sqlite(Box<Sqlite>),
    Postgres(Box<Postgres>),
}

struct Sqlite {
    writer: Connection,
    reader: Connection,
    /// Where processes wait for their turn to write.
    queue: File,
}

struct Postgres {
    client: Client,
    insert: Statement,
    read: Statement,
}

const TABLE: &str =
    "CREATE TABLE IF NOT EXISTS floor (id INTEGER PRIMARY KEY, content TEXT NOT NULL)";
const PG_TABLE: &str = "SET synchronous_commit = on; CREATE TABLE IF NOT EXISTS floor \
                        (id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, content TEXT NOT NULL)";

impl Store {
    pub fn open(address: &str, row_bytes: usize) -> Outcome<Store> {
        let engine = if address.starts_with("postgres") {
            postgres(address)?
        } else {
            sqlite(address)?
        };
        Ok(Store { engine, row_bytes })
    }

    /// Keeps one row and tells its id, after the commit.
    pub fn insert(&mut self, text: &str) -> Outcome<i64> {
        // Padded to the size of the row that Understory keeps of the same call.
        let content = format!("{text:<width$}", width = self.row_bytes);
        match &mut self.engine {
            Engine::Sqlite(sqlite) => {
                sqlite.queue.lock()?;
                let inserted = insert(&sqlite.writer, &content);
                sqlite.queue.unlock()?;
                inserted
            }
            Engine::Postgres(server) => {
                let mut tx = server.client.transaction()?;
                let row = tx.query_one(&server.insert, &[&content])?;
                tx.commit()?;
                Ok(row.get(0))
            }
        }
    }

    pub fn read(&mut self, id: i64) -> Outcome<String> {
        const SQL: &str = "SELECT content FROM floor WHERE id = ?1";
        match &mut self.engine {
            Engine::Sqlite(sqlite) => {
                let mut statement = sqlite.reader.prepare_cached(SQL)?;
                Ok(statement.query_row([id], |row| row.get(0))?)
            }
            Engine::Postgres(server) => Ok(server.client.query_one(&server.read, &[&id])?.get(0)),
        }
    }
}

fn postgres(address: &str) -> Outcome<Engine> {
    let mut client = Client::connect(address, NoTls)?;
    client.batch_execute(PG_TABLE)?;
    let insert = client.prepare("INSERT INTO floor (content) VALUES ($1) RETURNING id")?;
    let read = client.prepare("SELECT content FROM floor WHERE id = $1")?;
    Ok(Engine::Postgres(Box::new(Postgres {
        client,
        insert,
        read,
    })))
}

fn sqlite(path: &str) -> Outcome<Engine> {
    let queue = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .open(format!("{path}-queue"))?;
    // Several processes may meet an empty file.
    queue.lock()?;
    let writer = Connection::open(path)?;
    writer.busy_timeout(Duration::from_secs(10))?;
    writer.execute_batch(
        "PRAGMA temp_store = MEMORY; PRAGMA trusted_schema = OFF; \
         PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;",
    )?;
    writer.execute_batch(TABLE)?;
    queue.unlock()?;
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let reader = Connection::open_with_flags(path, flags)?;
    reader.busy_timeout(Duration::from_secs(10))?;
    reader.execute_batch("PRAGMA query_only = ON")?;
    Ok(Engine::Sqlite(Box::new(Sqlite {
        writer,
        reader,
        queue,
    })))
}

fn insert(writer: &Connection, content: &str) -> Outcome<i64> {
    writer.prepare_cached("BEGIN IMMEDIATE")?.raw_execute()?;
    writer
        .prepare_cached("INSERT INTO floor (content) VALUES (?1)")?
        .execute([content])?;
    let id = writer.last_insert_rowid();
    writer.prepare_cached("COMMIT")?.raw_execute()?;
    Ok(id)
}
