//! The same as [`crate::raw`], on PostgreSQL: a copy of the database, and many rows a statement.

use std::time::{Duration, Instant};

use postgres::types::{ToSql, Type};
use postgres::{Client, NoTls, Statement};
use understory_storage::{Arg, Cell};

use crate::Outcome;
use crate::raw::{Batch, TABLES, Table, Text, arg};

/// Rows in one statement: a round trip each would measure the network.
const AT_ONCE: usize = 64;

/// A copy of a PostgreSQL store, right after a batch.
pub struct Raw {
    client: Client,
    statements: std::collections::HashMap<String, Statement>,
    batch: Batch,
    times: i64,
}

impl Raw {
    pub fn open(url: &str, count: i64) -> Outcome<Raw> {
        let mut client = Client::connect(url, NoTls)?;
        let head: i64 = client
            .query_one("SELECT seq FROM core_head WHERE ws = 1", &[])?
            .get(0);
        let base = head - count + 1;
        let mut tables = Vec::new();
        for (name, key) in TABLES {
            tables.push(load(&mut client, name, key, base)?);
        }
        let batch = Batch::new(tables, base, count)?;
        Ok(Raw {
            client,
            statements: Default::default(),
            batch,
            times: 0,
        })
    }

    /// Writes the next batch; how long the transaction took.
    pub fn write(&mut self) -> Outcome<Duration> {
        self.times += 1;
        let batch = self.batch.later(self.times);
        let begun = Instant::now();
        self.client.batch_execute("BEGIN")?;
        for table in &batch.tables {
            self.insert(table)?;
        }
        self.insert_texts(&batch.texts)?;
        self.totals(&batch)?;
        self.client.batch_execute("COMMIT")?;
        Ok(begun.elapsed())
    }

    fn run(&mut self, sql: &str, args: &[&(dyn ToSql + Sync)]) -> Outcome {
        if !self.statements.contains_key(sql) {
            let prepared = self.client.prepare(sql)?;
            self.statements.insert(sql.to_string(), prepared);
        }
        let statement = self.statements.get(sql).ok_or("not prepared")?;
        self.client.execute(statement, args)?;
        Ok(())
    }

    fn insert(&mut self, table: &Table) -> Outcome {
        for rows in table.rows.chunks(AT_ONCE) {
            let one = |at: usize| format!("${at}");
            let values = places(
                rows.len(),
                &vec![&one as &dyn Fn(usize) -> String; table.columns.len()],
            );
            let columns = table.columns.join(", ");
            let sql = format!("INSERT INTO {} ({columns}) VALUES {values}", table.name);
            let args: Vec<Arg<'_>> = rows.iter().flatten().map(arg).collect();
            let args: Vec<&(dyn ToSql + Sync)> = args.iter().map(|arg| arg as _).collect();
            self.run(&sql, &args)?;
        }
        Ok(())
    }

    fn insert_texts(&mut self, texts: &[Text]) -> Outcome {
        let plain = |at: usize| format!("${at}");
        let weighed = |at: usize| format!("setweight(to_tsvector('understory', ${at}::text), 'A')");
        for texts in texts.chunks(AT_ONCE) {
            let values = places(texts.len(), &[&plain, &weighed]);
            let sql = format!(
                "INSERT INTO core_words (ws, id, tsv) SELECT 1, v.* FROM (VALUES {values}) v (id, tsv)"
            );
            let sql = sql.replacen("($1,", "($1::bigint,", 1);
            let args = texts
                .iter()
                .flat_map(|text| [&text.id as &(dyn ToSql + Sync), &text.title]);
            self.run(&sql, &args.collect::<Vec<_>>())?;
            let values = places(texts.len(), &[&plain, &plain]);
            let sql = format!(
                "INSERT INTO core_grams (ws, id, grams) SELECT 1, v.* FROM (VALUES {values}) v (id, grams)"
            );
            let sql = sql.replacen("($1, $2)", "($1::bigint, $2::integer[])", 1);
            let args = texts
                .iter()
                .flat_map(|text| [&text.id as &(dyn ToSql + Sync), &text.grams]);
            self.run(&sql, &args.collect::<Vec<_>>())?;
        }
        Ok(())
    }

    fn totals(&mut self, batch: &Batch) -> Outcome {
        let (last, count) = (batch.base + batch.count - 1, batch.count);
        self.run(
            "UPDATE core_head SET seq = $1, at = at + 1 WHERE ws = 1",
            &[&last],
        )?;
        self.run(
            "UPDATE core_counter SET last = last + $1 WHERE name = 'TASK-'",
            &[&count],
        )?;
        self.run(
            "UPDATE core_project SET total = total + $1, updated = updated + 1",
            &[&count],
        )?;
        self.run(
            "UPDATE core_node SET open_children = open_children + $1 WHERE ws = 1 \
             AND id = (SELECT root FROM core_project WHERE ws = 1 LIMIT 1)",
            &[&count],
        )
    }
}

/// `($1, $2), ($3, $4)`: so many rows, each of values written in these ways.
fn places(rows: usize, row: &[&dyn Fn(usize) -> String]) -> String {
    let one = |number: usize| {
        let at = |(place, write): (usize, &&dyn Fn(usize) -> String)| {
            write(number * row.len() + place + 1)
        };
        format!(
            "({})",
            row.iter()
                .enumerate()
                .map(at)
                .collect::<Vec<_>>()
                .join(", ")
        )
    };
    (0..rows).map(one).collect::<Vec<_>>().join(", ")
}

fn load(client: &mut Client, name: &'static str, key: &str, base: i64) -> Outcome<Table> {
    let sql = format!("SELECT * FROM {name} WHERE {key} >= $1 ORDER BY {key}");
    let statement = client.prepare(&sql)?;
    let columns = statement
        .columns()
        .iter()
        .map(|column| column.name().to_string())
        .collect();
    let rows = client.query(&statement, &[&base])?;
    let rows = rows
        .iter()
        .map(|row| (0..row.len()).map(|at| cell(row, at)).collect());
    Ok(Table {
        name,
        columns,
        rows: rows.collect::<Outcome<_>>()?,
    })
}

fn cell(row: &postgres::Row, at: usize) -> Outcome<Cell> {
    Ok(match *row.columns()[at].type_() {
        Type::INT8 => row
            .try_get::<_, Option<i64>>(at)?
            .map_or(Cell::Null, Cell::Int),
        Type::FLOAT8 => row
            .try_get::<_, Option<f64>>(at)?
            .map_or(Cell::Null, Cell::Real),
        Type::BYTEA => row
            .try_get::<_, Option<Vec<u8>>>(at)?
            .map_or(Cell::Null, Cell::Bytes),
        _ => row
            .try_get::<_, Option<String>>(at)?
            .map_or(Cell::Null, Cell::Text),
    })
}
