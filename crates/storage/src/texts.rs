//! The text indexes: words by relevance, and substrings by their trigrams.

use understory_model::error::Result;
use understory_model::{Id, Ws};

use crate::dialect::Dialect;
use crate::sql::{Arg, Tx};

/// SQLite's text index wants one number for workspace and id.
fn packed(ws: Ws, id: Id) -> i64 {
    (ws << 40) | id
}

/// A change of what one thing is found by.
#[derive(Debug, Clone)]
pub struct TextChange {
    pub ws: Ws,
    pub id: Id,
    /// Something stands in the index already and has to go.
    pub replaces: bool,
    /// Title, body and trigrams; none when the text is gone.
    pub text: Option<(String, String, Vec<i32>)>,
}

/// Makes the change in both indexes.
pub fn apply(tx: &mut Tx<'_>, change: &TextChange) -> Result<()> {
    let (ws, id) = (change.ws, change.id);
    if change.replaces {
        drop_words(tx, ws, id)?;
        drop_grams(tx, ws, id)?;
    }
    if let Some((title, body, grams)) = &change.text {
        put_words(tx, ws, id, title, body)?;
        put_grams(tx, ws, id, grams)?;
    }
    Ok(())
}

fn put_words(tx: &mut Tx<'_>, ws: Ws, id: Id, title: &str, body: &str) -> Result<()> {
    let sql = tx.dialect().words_put();
    let (title, body) = (clean(title), clean(body));
    tx.run(
        sql,
        &[
            Arg::Int(ws),
            Arg::Int(id),
            Arg::Int(packed(ws, id)),
            Arg::Text(&title),
            Arg::Text(&body),
        ],
    )?;
    Ok(())
}

/// PostgreSQL's text holds no NUL; for an index it is a space.
fn clean(text: &str) -> String {
    text.replace('\0', " ")
}

fn drop_words(tx: &mut Tx<'_>, ws: Ws, id: Id) -> Result<()> {
    let sql = tx.dialect().words_drop();
    tx.run(sql, &[Arg::Int(ws), Arg::Int(id), Arg::Int(packed(ws, id))])?;
    Ok(())
}

/// Entities that bear any of the words, best first, with a score that only orders them.
pub fn find_words(tx: &mut Tx<'_>, ws: Ws, words: &[String], most: i64) -> Result<Vec<(Id, f64)>> {
    let query = tx.dialect().words_query(words);
    if query.is_empty() {
        return Ok(Vec::new());
    }
    let sql = tx.dialect().words_find();
    let rows = tx.rows(sql, &[Arg::Int(ws), Arg::Text(&query), Arg::Int(most)])?;
    rows.iter()
        .map(|row| Ok((row.int(0)?, row.real(1)?)))
        .collect()
}

/// Trigram codes as the words of SQLite's index.
pub(crate) fn gram_words(grams: &[i32]) -> String {
    let mut text = String::with_capacity(grams.len() * 8);
    for gram in grams {
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(&format!("{gram:x}"));
    }
    text
}

fn put_grams(tx: &mut Tx<'_>, ws: Ws, id: Id, grams: &[i32]) -> Result<()> {
    if grams.is_empty() {
        return Ok(());
    }
    let sql = tx.dialect().grams_put();
    let words = gram_words(grams);
    let value = match tx.dialect() {
        Dialect::Sqlite => Arg::Text(&words),
        Dialect::Postgres => Arg::Ints(grams),
    };
    tx.run(
        sql,
        &[Arg::Int(ws), Arg::Int(id), Arg::Int(packed(ws, id)), value],
    )?;
    Ok(())
}

fn drop_grams(tx: &mut Tx<'_>, ws: Ws, id: Id) -> Result<()> {
    let sql = tx.dialect().grams_drop();
    tx.run(sql, &[Arg::Int(ws), Arg::Int(id), Arg::Int(packed(ws, id))])?;
    Ok(())
}
