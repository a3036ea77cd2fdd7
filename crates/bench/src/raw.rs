//! The rows that Understory writes, without Understory: the same values into a copy of its store,
//! by prepared statements in one transaction.
//!
//! The copy was made right after a batch, which serves as the pattern: each further batch is that
//! one again, its numbers, names and times moved on as the next batch's would be.

use std::time::{Duration, Instant};

use rusqlite::Connection;
use rusqlite::types::ValueRef;
use serde_json::Value;
use understory_model::Id;
use understory_model::id::{path_ids, path_step};
use understory_model::text::{fold, grams};
use understory_storage::{Arg, Cell};

use crate::Outcome;

/// The tables of a batch, each with the column that says which rows are the batch's.
pub const TABLES: [(&str, &str); 5] = [
    ("soil_item", "seq"),
    ("core_entity", "id"),
    ("core_node", "id"),
    ("core_link", "source"),
    ("core_key", "id"),
];

/// The rows of one table.
pub struct Table {
    pub name: &'static str,
    pub columns: Vec<String>,
    pub rows: Vec<Vec<Cell>>,
}

/// What one node has in the text indexes.
pub struct Text {
    pub id: i64,
    pub title: String,
    pub grams: Vec<i32>,
}

/// One batch of nodes as rows.
pub struct Batch {
    pub tables: Vec<Table>,
    pub texts: Vec<Text>,
    /// The place of its first item.
    pub base: i64,
    pub count: i64,
}

impl Batch {
    pub fn new(tables: Vec<Table>, base: i64, count: i64) -> Outcome<Batch> {
        let mut batch = Batch {
            tables,
            texts: Vec::new(),
            base,
            count,
        };
        batch.texts = batch.texts_of()?;
        Ok(batch)
    }

    fn texts_of(&self) -> Outcome<Vec<Text>> {
        let entities = self.tables.iter().find(|table| table.name == "core_entity");
        let entities = entities.ok_or("no entities")?;
        let place = |name: &str| entities.columns.iter().position(|column| column == name);
        let (id, data) = (place("id").ok_or("no id")?, place("data").ok_or("no data")?);
        let text = |row: &Vec<Cell>| -> Outcome<Text> {
            let (Cell::Int(id), Cell::Text(data)) = (&row[id], &row[data]) else {
                return Err("an entity is not as expected".into());
            };
            let data: Value = serde_json::from_str(data)?;
            let title = data["summary"].as_str().unwrap_or_default().to_string();
            Ok(Text {
                id: *id,
                grams: grams(&fold(&title)),
                title,
            })
        };
        entities.rows.iter().map(text).collect()
    }

    /// The batch that comes so many batches later.
    pub fn later(&self, times: i64) -> Batch {
        let tables = self.tables.iter().map(|table| Table {
            name: table.name,
            columns: table.columns.clone(),
            rows: table
                .rows
                .iter()
                .map(|row| self.moved(&table.columns, row, times))
                .collect(),
        });
        let texts = self.texts.iter().map(|text| Text {
            id: self.number(text.id, times),
            title: text.title.clone(),
            grams: text.grams.clone(),
        });
        Batch {
            tables: tables.collect(),
            texts: texts.collect(),
            base: self.number(self.base, times),
            count: self.count,
        }
    }

    /// Numbers below the batch are of what was there before.
    fn number(&self, number: i64, times: i64) -> i64 {
        if number >= self.base {
            number + times * self.count
        } else {
            number
        }
    }

    fn moved(&self, columns: &[String], row: &[Cell], times: i64) -> Vec<Cell> {
        let one = |(column, cell): (&String, &Cell)| match (column.as_str(), cell) {
            ("seq" | "id" | "entity" | "source" | "target" | "parent", Cell::Int(number)) => {
                Cell::Int(self.number(*number, times))
            }
            (
                "updated" | "created_at" | "updated_at" | "realized_at" | "canonical_at",
                Cell::Int(at),
            ) => Cell::Int(at + times * 1_000),
            ("uuid", Cell::Bytes(bytes)) => Cell::Bytes(later_uuid(bytes, times)),
            ("handle", Cell::Text(handle)) => Cell::Text(self.later_handle(handle, times)),
            ("path", Cell::Text(path)) => {
                let ids = path_ids(path).unwrap_or_default();
                Cell::Text(
                    ids.iter()
                        .map(|id| path_step(Id(self.number(id.0, times))))
                        .collect(),
                )
            }
            _ => cell.clone(),
        };
        columns.iter().zip(row).map(one).collect()
    }

    fn later_handle(&self, handle: &str, times: i64) -> String {
        let number = handle
            .strip_prefix("TASK-")
            .and_then(|number| number.parse::<i64>().ok());
        number.map_or(handle.to_string(), |number| {
            format!("TASK-{:03}", number + times * self.count)
        })
    }
}

/// Names sort by time: the first six bytes are milliseconds.
fn later_uuid(bytes: &[u8], times: i64) -> Vec<u8> {
    let millis = bytes[..6]
        .iter()
        .fold(0_i64, |sum, byte| (sum << 8) | i64::from(*byte))
        + times;
    let mut later = millis.to_be_bytes()[2..].to_vec();
    later.extend(&bytes[6..]);
    later
}

pub fn arg(cell: &Cell) -> Arg<'_> {
    match cell {
        Cell::Null => Arg::Null,
        Cell::Int(value) => Arg::Int(*value),
        Cell::Real(value) => Arg::Real(*value),
        Cell::Text(value) => Arg::Text(value),
        Cell::Bytes(value) => Arg::Bytes(value),
    }
}

/// A copy of a SQLite store, right after a batch.
pub struct Raw {
    conn: Connection,
    batch: Batch,
    texts: bool,
    times: i64,
    /// Texts that wait for their indexes, as Understory lets a few of them wait.
    waiting: Vec<Text>,
}

/// Batches this large bypass the buffer.
const BYPASS_AT: usize = 32;
/// Flush threshold: texts that are buffered before they go into the indexes.
const FLUSH_AT: usize = 128;

impl Raw {
    /// `count` is the number of nodes in the last write; `texts`: whether to fill the text indexes.
    pub fn open(path: &str, count: i64, texts: bool) -> Outcome<Raw> {
        let conn = Connection::open(path)?;
        conn.execute_batch(
            "PRAGMA temp_store = MEMORY; PRAGMA trusted_schema = OFF; \
             PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; \
             PRAGMA wal_autocheckpoint = 4000;",
        )?;
        conn.set_prepared_statement_cache_capacity(64);
        let head: i64 =
            conn.query_row("SELECT seq FROM core_head WHERE ws = 1", [], |r| r.get(0))?;
        let base = head - count + 1;
        let tables = TABLES
            .iter()
            .map(|(name, key)| load(&conn, name, key, base));
        let batch = Batch::new(tables.collect::<Outcome<_>>()?, base, count)?;
        Ok(Raw {
            conn,
            batch,
            texts,
            times: 0,
            waiting: Vec::new(),
        })
    }

    /// Writes the next batch; how long the transaction took.
    pub fn write(&mut self) -> Outcome<Duration> {
        self.times += 1;
        let batch = self.batch.later(self.times);
        let begun = Instant::now();
        self.conn.prepare_cached("BEGIN IMMEDIATE")?.raw_execute()?;
        for table in &batch.tables {
            insert(&self.conn, table)?;
        }
        totals(&self.conn, &batch)?;
        if self.texts && batch.texts.len() >= BYPASS_AT {
            insert_texts(&self.conn, &batch.texts)?;
        } else if self.texts {
            wait_with(&self.conn, &batch.texts)?;
            self.waiting.extend(batch.texts);
        }
        if self.waiting.len() > FLUSH_AT {
            insert_texts(&self.conn, &std::mem::take(&mut self.waiting))?;
            self.conn
                .prepare_cached("DELETE FROM core_fresh")?
                .execute([])?;
        }
        self.conn.prepare_cached("COMMIT")?.raw_execute()?;
        Ok(begun.elapsed())
    }
}

fn load(conn: &Connection, name: &'static str, key: &str, base: i64) -> Outcome<Table> {
    let mut statement = conn.prepare(&format!(
        "SELECT * FROM {name} WHERE {key} >= ?1 ORDER BY {key}"
    ))?;
    let columns: Vec<String> = statement.column_names().map(str::to_string).collect();
    let width = columns.len();
    let rows = statement
        .query_map([base], |row| {
            (0..width).map(|at| Ok(cell(row.get_ref(at)?))).collect()
        })?
        .collect::<Result<_, _>>()?;
    Ok(Table {
        name,
        columns,
        rows,
    })
}

fn cell(value: ValueRef<'_>) -> Cell {
    match value {
        ValueRef::Null => Cell::Null,
        ValueRef::Integer(value) => Cell::Int(value),
        ValueRef::Real(value) => Cell::Real(value),
        ValueRef::Text(value) => Cell::Text(String::from_utf8_lossy(value).into_owned()),
        ValueRef::Blob(value) => Cell::Bytes(value.to_vec()),
    }
}

fn insert(conn: &Connection, table: &Table) -> Outcome {
    let places: Vec<String> = (1..=table.columns.len())
        .map(|at| format!("?{at}"))
        .collect();
    let sql = format!(
        "INSERT INTO {} ({}) VALUES ({})",
        table.name,
        table.columns.join(", "),
        places.join(", ")
    );
    let mut statement = conn.prepare_cached(&sql)?;
    for row in &table.rows {
        statement.execute(rusqlite::params_from_iter(row.iter().map(arg)))?;
    }
    Ok(())
}

fn wait_with(conn: &Connection, texts: &[Text]) -> Outcome {
    let mut wait = conn.prepare_cached(
        "INSERT INTO core_fresh (key, indexed, gone, title, summary, body, grams) \
         VALUES (?1, 0, 0, ?2, '', '', ?3)",
    )?;
    for text in texts {
        let codes: Vec<u8> = text.grams.iter().flat_map(|g| g.to_le_bytes()).collect();
        wait.execute(((1_i64 << 40) | text.id, &text.title, codes))?;
    }
    Ok(())
}

fn insert_texts(conn: &Connection, texts: &[Text]) -> Outcome {
    let mut words = conn.prepare_cached(
        "INSERT INTO core_words (rowid, title, summary, body) VALUES (?1, ?2, '', '')",
    )?;
    let mut places =
        conn.prepare_cached("INSERT INTO core_grams (rowid, grams) VALUES (?1, ?2)")?;
    for text in texts {
        let key = (1_i64 << 40) | text.id;
        let codes: Vec<String> = text.grams.iter().map(|gram| format!("{gram:x}")).collect();
        words.execute((key, &text.title))?;
        places.execute((key, codes.join(" ")))?;
    }
    Ok(())
}

/// The few rows that a batch changes: the end of the log, the counter, the counts.
fn totals(conn: &Connection, batch: &Batch) -> Outcome {
    let (last, count) = (batch.base + batch.count - 1, batch.count);
    conn.prepare_cached("UPDATE core_head SET seq = ?1, at = at + 1 WHERE ws = 1")?
        .execute([last])?;
    conn.prepare_cached("UPDATE core_counter SET last = last + ?1 WHERE name = 'TASK-'")?
        .execute([count])?;
    conn.prepare_cached(
        "UPDATE core_project SET total = total + ?1, actionable = actionable + ?1, \
         updated = updated + 1 WHERE ws = 1",
    )?
    .execute([count])?;
    conn.prepare_cached(
        "UPDATE core_node SET open_children = open_children + ?1 \
         WHERE ws = 1 AND id = (SELECT root FROM core_project WHERE ws = 1 LIMIT 1)",
    )?
    .execute([count])?;
    Ok(())
}
