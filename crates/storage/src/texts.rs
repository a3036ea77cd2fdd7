//! The text indexes: words by relevance, and substrings by their trigrams.

use understory_model::error::Result;
use understory_model::{Id, Ws};

use crate::dialect::Dialect;
use crate::fresh;
use crate::sql::{Arg, Tx};

/// SQLite's text index wants one number for workspace and id.
pub(crate) fn packed(ws: Ws, id: Id) -> i64 {
    (ws << 40) | id
}

pub(crate) fn unpacked(key: i64) -> (Ws, Id) {
    (key >> 40, key & ((1 << 40) - 1))
}

/// A change of what one thing is found by.
#[derive(Debug, Clone)]
pub struct TextChange {
    pub ws: Ws,
    pub id: Id,
    /// Something stands in the index already and has to go.
    pub replaces: bool,
    /// None when the text is gone.
    pub text: Option<Text>,
}

/// What one thing is found by: a hit in its title counts more than one in its summary, and that
/// more than one in its body.
#[derive(Debug, Clone, Default)]
pub struct Text {
    pub title: String,
    pub summary: String,
    pub body: String,
    /// For substrings; empty where those are not asked for.
    pub grams: Vec<i32>,
}

impl Text {
    /// PostgreSQL's text holds no NUL; for an index it is a space.
    pub(crate) fn clean(&self) -> [String; 3] {
        [&self.title, &self.summary, &self.body].map(|text| text.replace('\0', " "))
    }
}

/// Makes the changes, in their order; whoever searches finds them from now on.
pub fn apply(tx: &mut Tx<'_>, changes: &[TextChange]) -> Result<()> {
    if tx.dialect().texts_wait() {
        fresh::apply(tx, changes)
    } else {
        index(tx, changes)
    }
}

/// Makes the changes in both indexes.
pub(crate) fn index(tx: &mut Tx<'_>, changes: &[TextChange]) -> Result<()> {
    let mut puts: Vec<&TextChange> = Vec::new();
    for change in changes {
        if change.replaces {
            // What is replaced may be among those that are only being put.
            put(tx, &std::mem::take(&mut puts))?;
            drop_words(tx, change.ws, change.id)?;
            drop_grams(tx, change.ws, change.id)?;
            if tx.dialect().texts_wait() {
                fresh::drop(tx, change.ws, change.id)?;
            }
        }
        if change.text.is_some() {
            puts.push(change);
        }
    }
    put(tx, &puts)
}

fn put(tx: &mut Tx<'_>, changes: &[&TextChange]) -> Result<()> {
    for some in changes.chunks(tx.dialect().texts_at_once()) {
        put_words(tx, some)?;
        put_grams(tx, some)?;
    }
    Ok(())
}

fn put_words(tx: &mut Tx<'_>, changes: &[&TextChange]) -> Result<()> {
    let texts: Vec<(Ws, Id, [String; 3])> = changes
        .iter()
        .filter_map(|change| {
            let text = change.text.as_ref()?;
            Some((change.ws, change.id, text.clean()))
        })
        .collect();
    let dialect = tx.dialect();
    let args: Vec<Arg> = texts
        .iter()
        .flat_map(|(ws, id, words)| {
            let key = match dialect {
                Dialect::Sqlite => vec![Arg::Int(packed(*ws, *id))],
                Dialect::Postgres => vec![Arg::Int(*ws), Arg::Int(*id)],
            };
            key.into_iter()
                .chain(words.iter().map(|text| Arg::Text(text)))
        })
        .collect();
    tx.run(&dialect.words_put(texts.len()), &args)?;
    Ok(())
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
    let mut found: Vec<(Id, f64)> = rows
        .iter()
        .map(|row| Ok((row.int(0)?, row.real(1)?)))
        .collect::<Result<_>>()?;
    if tx.dialect().texts_wait() {
        found.extend(fresh::find_words(tx, ws, words)?);
        found.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        found.truncate(usize::try_from(most).unwrap_or(0));
    }
    Ok(found)
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

fn put_grams(tx: &mut Tx<'_>, changes: &[&TextChange]) -> Result<()> {
    let grams = changes.iter().filter_map(|change| {
        let grams = &change.text.as_ref()?.grams;
        Some((change.ws, change.id, grams)).filter(|_| !grams.is_empty())
    });
    let into = tx.dialect().grams_into();
    match tx.dialect() {
        Dialect::Sqlite => {
            for (ws, id, grams) in grams {
                let words = gram_words(grams);
                tx.insert(into, 2, &[Arg::Int(packed(ws, id)), Arg::Text(&words)])?;
            }
            Ok(())
        }
        Dialect::Postgres => {
            let rows: Vec<Arg> = grams
                .flat_map(|(ws, id, grams)| [Arg::Int(ws), Arg::Int(id), Arg::Ints(grams)])
                .collect();
            tx.insert(into, 3, &rows)
        }
    }
}

fn drop_grams(tx: &mut Tx<'_>, ws: Ws, id: Id) -> Result<()> {
    let sql = tx.dialect().grams_drop();
    tx.run(sql, &[Arg::Int(ws), Arg::Int(id), Arg::Int(packed(ws, id))])?;
    Ok(())
}
