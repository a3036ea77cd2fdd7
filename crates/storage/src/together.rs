//! The texts of statements for many rows, and of several statements as one. Values are arguments
//! and never become part of a text.

use crate::sql::Cell;

/// A statement that waits for others, and its arguments.
pub struct Waiting {
    pub sql: String,
    pub args: Vec<Cell>,
}

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
            sql.push_str(&(row * width + column + 1).to_string());
        }
        sql.push(')');
    }
    sql
}

/// Several statements as one: all but the last become parts of it, and their arguments follow one
/// another.
pub fn together(statements: &[Waiting]) -> String {
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
        let one = |sql: &str, count: usize| Waiting {
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
    }
}
