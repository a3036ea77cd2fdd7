//! Sending several statements in one round trip. Values are arguments and never become part of a
//! statement's text.

use understory_model::error::{Code, Fault, Result};

use crate::tx::{ReadTx, Tx};
use crate::value::{Arg, Cell};

/// A statement that is queued for the next round trip, and its arguments.
pub struct Queued {
    pub sql: String,
    pub args: Vec<Cell>,
}

/// Statements in one round trip at most, and arguments of each: a text that is long or hardly ever
/// the same again costs more to prepare than a round trip.
const STATEMENTS: usize = 16;
const ARGUMENTS: usize = 64;

impl Tx<'_> {
    /// Queues a statement, where it would be a round trip, to be sent together with others: before
    /// the next statement of another kind, or by [`ReadTx::send`]. Elsewhere it runs at once.
    ///
    /// Queued statements run as one, in no order, so no two of them may concern the same row.
    pub(crate) fn run_together(&mut self, sql: &str, args: &[Arg]) -> Result<()> {
        if !self.dialect().is_remote() || args.len() > ARGUMENTS {
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
        self.queued.push(Queued {
            sql: sql.to_string(),
            args: args.collect::<Result<_>>()?,
        });
        if self.queued.len() < STATEMENTS {
            Ok(())
        } else {
            self.send()
        }
    }

    /// Inserts many rows: `into` is `INSERT INTO t (a, b)`, `rows` the values, row after row.
    pub fn insert(&mut self, into: &str, width: usize, rows: &[Arg]) -> Result<()> {
        self.upsert(into, width, rows, "")
    }

    /// As [`Tx::insert`], with what to do with rows that exist: ` ON CONFLICT …`.
    pub fn upsert(
        &mut self,
        into: &str,
        width: usize,
        rows: &[Arg],
        on_conflict: &str,
    ) -> Result<()> {
        let most = self.dialect().rows_per_insert();
        let mut sql = String::new();
        for chunk in rows.chunks(width * most) {
            if sql.is_empty() || chunk.len() < width * most {
                sql = insert_text(into, width, chunk.len() / width);
                sql.push_str(on_conflict);
            }
            self.run_together(&sql, chunk)?;
        }
        Ok(())
    }
}

impl ReadTx<'_> {
    /// Sends the queued statements.
    pub fn send(&mut self) -> Result<()> {
        if self.queued.is_empty() {
            return Ok(());
        }
        let queued = std::mem::take(&mut self.queued);
        let sql = together(&queued);
        let args: Vec<Arg> = queued
            .iter()
            .flat_map(|one| &one.args)
            .map(Arg::from)
            .collect();
        let result = self.conn.run(&sql, &args);
        self.passed(result).map(drop)
    }
}

/// The text that inserts `count` rows of `width` values.
pub fn insert_text(into: &str, width: usize, count: usize) -> String {
    let mut sql = String::with_capacity(into.len() + 10 + count * width * 5);
    sql.push_str(into);
    sql.push_str(" VALUES ");
    for row in 0..count {
        sql.push_str(if row == 0 { "(" } else { ", (" });
        for column in 0..width {
            if column > 0 {
                sql.push_str(", ");
            }
            sql.push('?');
            push_number(&mut sql, row * width + column + 1);
        }
        sql.push(')');
    }
    sql
}

/// Written by hand, because an insert has a number for each of its values and formatting costs ten times
/// as much.
fn push_number(sql: &mut String, number: usize) {
    if number >= 10 {
        push_number(sql, number / 10);
    }
    sql.push(char::from(b'0' + (number % 10) as u8));
}

/// Several statements as one: all but the last become parts of it, and their arguments follow one
/// another.
pub fn together(statements: &[Queued]) -> String {
    let (mut text, mut before) = (String::new(), 0);
    for (at, one) in statements.iter().enumerate() {
        let last = at + 1 == statements.len();
        if !last {
            text.push_str(if at == 0 { "WITH " } else { ", " });
            text.push_str(&format!("part{at} AS ("));
        }
        let mut pieces = one.sql.split('?');
        text.push_str(pieces.next().unwrap_or_default());
        for piece in pieces {
            let end = piece.find(|c: char| !c.is_ascii_digit());
            let (number, rest) = piece.split_at(end.unwrap_or(piece.len()));
            let number = number.parse::<usize>().unwrap_or_default() + before;
            text.push_str(&format!("?{number}{rest}"));
        }
        before += one.args.len();
        text.push_str(if last { "" } else { ")" });
        text.push_str(if at + 2 == statements.len() { " " } else { "" });
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_together_number_their_arguments_on() {
        let one = |sql: &str, count: usize| Queued {
            sql: sql.into(),
            args: vec![Cell::Null; count],
        };
        let insert = one("INSERT INTO t (a, b) VALUES (?1, ?2)", 2);
        let update = one("UPDATE u SET a = ?2 WHERE b = ?1", 2);
        let delete = one("DELETE FROM v WHERE a = ?1", 1);
        assert_eq!(
            together(&[insert, update, delete]),
            "WITH part0 AS (INSERT INTO t (a, b) VALUES (?1, ?2)), \
             part1 AS (UPDATE u SET a = ?4 WHERE b = ?3) DELETE FROM v WHERE a = ?5"
        );
        assert_eq!(
            together(&[one("DELETE FROM v WHERE a = ?1", 1)]),
            "DELETE FROM v WHERE a = ?1"
        );
    }

    #[test]
    fn inserts_number_their_arguments() {
        assert_eq!(
            insert_text("INSERT INTO t (a, b)", 2, 1),
            "INSERT INTO t (a, b) VALUES (?1, ?2)"
        );
        assert_eq!(
            insert_text("INSERT INTO t (a, b)", 2, 2),
            "INSERT INTO t (a, b) VALUES (?1, ?2), (?3, ?4)"
        );
        let many = insert_text("INSERT INTO t (a)", 1, 1_020);
        assert!(many.contains("(?9), (?10), (?11)"));
        assert!(many.ends_with("(?1018), (?1019), (?1020)"));
    }
}
