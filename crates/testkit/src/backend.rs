//! A fresh store on either engine, gone when the test is over.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use postgres::{Client, NoTls};

/// Where a test's store is.
pub enum Backend {
    Sqlite { folder: tempfile::TempDir },
    Postgres { url: String, schema: String },
}

/// A connection past the product, for tests that tamper.
pub enum Raw {
    Sqlite(rusqlite::Connection),
    Postgres(Box<Client>),
}

static COUNT: AtomicU32 = AtomicU32::new(0);

fn server() -> String {
    std::env::var("UNDERSTORY_TEST_POSTGRES").unwrap_or_else(|_| {
        panic!("no PostgreSQL for this test: run `cargo xtask test`, which starts one")
    })
}

impl Backend {
    pub fn sqlite() -> Backend {
        Backend::Sqlite {
            folder: tempfile::tempdir().expect("a temporary folder"),
        }
    }

    /// A schema of its own on the server that `cargo xtask test` started.
    pub fn postgres() -> Backend {
        let server = server();
        let number = COUNT.fetch_add(1, Ordering::SeqCst);
        let schema = format!("t{}_{number}", std::process::id());
        let mut client = Client::connect(&server, NoTls).expect("the test server answers");
        client
            .batch_execute(&format!(
                "DROP SCHEMA IF EXISTS {schema} CASCADE; CREATE SCHEMA {schema}"
            ))
            .expect("a schema can be made");
        let join = if server.contains('?') { '&' } else { '?' };
        let url = format!("{server}{join}options=-csearch_path%3D{schema}");
        Backend::Postgres { url, schema }
    }

    /// Another fresh store on the same engine.
    pub fn another(&self) -> Backend {
        match self {
            Backend::Sqlite { .. } => Backend::sqlite(),
            Backend::Postgres { .. } => Backend::postgres(),
        }
    }

    /// The address of the store, as the product takes it.
    pub fn store(&self) -> String {
        match self {
            Backend::Sqlite { .. } => self.file().to_string_lossy().into_owned(),
            Backend::Postgres { url, .. } => url.clone(),
        }
    }

    /// The address of the store without any network: PostgreSQL by its socket in the file system. None
    /// where the server is on another machine.
    pub fn local_store(&self) -> Option<String> {
        let Backend::Postgres { url, .. } = self else {
            return Some(self.store());
        };
        let mut client = Client::connect(url, NoTls).expect("the server answers");
        let mut setting = |name: &str| -> String {
            let row = client.query_one(&format!("SHOW {name}"), &[]);
            row.expect("a setting").get(0)
        };
        let (folder, port) = (setting("unix_socket_directories"), setting("port"));
        let socket = format!("{folder}/.s.PGSQL.{port}");
        let (user, rest) = url.split_once('@')?;
        let (_, database) = rest.split_once('/')?;
        let host = folder.replace('/', "%2F");
        let there = std::fs::exists(socket).unwrap_or_default();
        there.then(|| format!("{user}@{host}:{port}/{database}"))
    }

    /// The SQLite file.
    pub fn file(&self) -> PathBuf {
        match self {
            Backend::Sqlite { folder } => folder.path().join("understory.db"),
            Backend::Postgres { .. } => panic!("a PostgreSQL store has no file"),
        }
    }

    pub fn is_sqlite(&self) -> bool {
        matches!(self, Backend::Sqlite { .. })
    }

    /// A connection past the product.
    pub fn raw(&self) -> Raw {
        match self {
            Backend::Sqlite { .. } => {
                Raw::Sqlite(rusqlite::Connection::open(self.file()).expect("the file opens"))
            }
            Backend::Postgres { url, .. } => Raw::Postgres(Box::new(
                Client::connect(url, NoTls).expect("the server answers"),
            )),
        }
    }
}

impl Raw {
    /// Runs a statement; the error's text when it is refused.
    pub fn run(&mut self, sql: &str) -> Result<(), String> {
        match self {
            Raw::Sqlite(conn) => conn.execute_batch(sql).map_err(|e| e.to_string()),
            Raw::Postgres(client) => client.batch_execute(sql).map_err(|e| {
                e.as_db_error()
                    .map_or(e.to_string(), |e| e.message().to_string())
            }),
        }
    }

    /// How SQLite would go about a statement, step by step.
    pub fn plan(&mut self, sql: &str) -> Vec<String> {
        let Raw::Sqlite(conn) = self else {
            panic!("only SQLite is asked for its plans");
        };
        let sql = format!("EXPLAIN QUERY PLAN {sql}");
        let mut explained = conn.prepare(&sql).expect("a statement");
        let mut rows = explained.raw_query();
        let mut plan = Vec::new();
        while let Some(row) = rows.next().expect("a step") {
            plan.push(row.get(3).expect("its text"));
        }
        plan
    }

    /// Lets statements change soil, as somebody with the file in hands could.
    pub fn disarm(&mut self) {
        match self {
            Raw::Sqlite(_) => {
                for name in ["no_update", "no_delete", "no_replace"] {
                    self.run(&format!("DROP TRIGGER soil_item_{name}"))
                        .expect("a trigger goes");
                }
            }
            Raw::Postgres(_) => {
                self.run("ALTER TABLE soil_item DISABLE TRIGGER ALL")
                    .expect("triggers go");
            }
        }
    }

    /// A single number.
    pub fn number(&mut self, sql: &str) -> i64 {
        match self {
            Raw::Sqlite(conn) => conn.query_row(sql, [], |row| row.get(0)).expect("a number"),
            Raw::Postgres(client) => client.query_one(sql, &[]).expect("a number").get(0),
        }
    }
}

impl Drop for Backend {
    fn drop(&mut self) {
        if let Backend::Postgres { schema, .. } = self
            && let Ok(mut client) = Client::connect(&server(), NoTls)
        {
            let _ = client.batch_execute(&format!("DROP SCHEMA IF EXISTS {schema} CASCADE"));
        }
    }
}
