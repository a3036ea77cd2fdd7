//! Texts that wait for SQLite's text indexes.
//!
//! FTS5 writes a segment for every transaction that puts a text into it, and merges segments ever
//! after: a third of the work of a write, for one text as for a hundred. So a few texts are kept
//! in a plain table, where searches look too, and many go to the indexes at once. What waits here
//! stands for what the indexes still say of the same thing.

use std::collections::BTreeMap;

use understory_model::error::Result;
use understory_model::{Id, Seq, Ws};

use crate::sql::{Arg, Cell, ReadTx, Tx, args};
use crate::sqlite;
use crate::texts::{self, Text, TextChange, packed};

/// Flush threshold: texts that are buffered before they go into the indexes.
const FLUSH_AT: i64 = 128;
/// Batches this large bypass the buffer.
const BYPASS_AT: usize = 32;
/// A longer text goes into the indexes at once: buffered, it would slow every search down by more
/// than it costs that one write.
const LONG: usize = 4_096;

/// Makes the changes, here or in the indexes.
pub fn apply(tx: &mut Tx<'_>, changes: &[TextChange]) -> Result<()> {
    if changes.len() >= BYPASS_AT {
        return texts::index(tx, changes);
    }
    for change in changes {
        if change.text.as_ref().is_some_and(|text| text.len() > LONG) {
            texts::index(tx, std::slice::from_ref(change))?
        } else {
            keep(tx, change)?
        }
    }
    if changes.is_empty() || count(tx, "SELECT COUNT(*) FROM core_fresh", &[])? <= FLUSH_AT {
        Ok(())
    } else {
        fold(tx)
    }
}

fn count(tx: &mut ReadTx<'_>, sql: &str, args: &[Arg]) -> Result<i64> {
    tx.row(sql, args)?.map_or(Ok(0), |row| row.int(0))
}

fn keep(tx: &mut Tx<'_>, change: &TextChange) -> Result<()> {
    let text = change.text.as_ref();
    let [title, summary, body] = text.map(Text::clean).unwrap_or_default();
    let grams = text.map_or(&[][..], |text| &text.grams);
    let mut bytes: Vec<u8> = Vec::with_capacity(4 * grams.len());
    for gram in grams {
        bytes.extend_from_slice(&gram.to_le_bytes());
    }
    tx.run(
        "INSERT INTO core_fresh (key, indexed, gone, title, summary, body, grams) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT (key) DO UPDATE SET \
         gone = excluded.gone, title = excluded.title, summary = excluded.summary, \
         body = excluded.body, grams = excluded.grams",
        args![
            packed(change.ws, change.id),
            change.replaces,
            text.is_none(),
            &title,
            &summary,
            &body,
            bytes.as_slice()
        ],
    )?;
    Ok(())
}

/// Whether all that is kept of one thing waits here.
pub fn holds(tx: &mut ReadTx<'_>, ws: Ws, id: Id) -> Result<bool> {
    let row = tx.row(
        "SELECT 1 FROM core_fresh WHERE key = ?1 AND indexed = 0",
        args![packed(ws, id)],
    )?;
    Ok(row.is_some())
}

/// Forgets what waits of one thing.
pub fn drop(tx: &mut Tx<'_>, ws: Ws, id: Id) -> Result<()> {
    let key = packed(ws, id);
    tx.run("DELETE FROM core_fresh WHERE key = ?1", args![key])?;
    Ok(())
}

/// Puts everything that waits into the indexes.
fn fold(tx: &mut Tx<'_>) -> Result<()> {
    let rows = tx.rows(
        "SELECT key, indexed, gone, title, summary, body, grams FROM core_fresh ORDER BY key",
        &[],
    )?;
    let mut changes = Vec::with_capacity(rows.len());
    for mut row in rows {
        let (ws, id) = texts::unpacked(row.int(0)?);
        let grams = match row.0.get(6) {
            Some(Cell::Bytes(bytes)) => bytes.as_chunks().0,
            _ => &[],
        };
        let grams = grams.iter().map(|gram| i32::from_le_bytes(*gram)).collect();
        let text = Text {
            title: row.text(3)?,
            summary: row.text(4)?,
            body: row.text(5)?,
            extra: String::new(),
            grams,
        };
        changes.push(TextChange {
            ws,
            id,
            replaces: row.flag(1)?,
            text: Some(text).filter(|_| row.0.get(2) == Some(&Cell::Int(0))),
            // Only words wait; vectors were written at once.
            seq: Seq::ZERO,
            kind: "",
            vectors: Vec::new(),
        });
    }
    tx.run("DELETE FROM core_fresh", &[])?;
    texts::index(tx, &changes)
}

/// What waits and has any of the words, with a score as the index would give it.
pub fn find_words(tx: &mut ReadTx<'_>, ws: Ws, words: &[String]) -> Result<Vec<(Id, f64)>> {
    let rows = tx.rows(
        "SELECT key, title, summary, body FROM core_fresh \
         WHERE key >= ?1 << 40 AND key < (?1 + 1) << 40 AND gone = 0 ORDER BY key",
        args![ws],
    )?;
    let mut waiting = Vec::with_capacity(rows.len());
    for mut row in rows {
        let text = [row.text(1)?, row.text(2)?, row.text(3)?];
        waiting.push((row.int(0)?, text));
    }
    let dialect = tx.dialect();
    let queries: Vec<String> = words
        .iter()
        .map(|word| dialect.words_query(std::slice::from_ref(word)))
        .filter(|query| !query.is_empty())
        .collect();
    let borne = sqlite::bearing(&waiting, &queries).map_err(|error| error.fault)?;
    let mut scores = BTreeMap::new();
    for (query, bearers) in queries.iter().zip(borne).filter(|(_, b)| !b.is_empty()) {
        let rarity = rarity(tx, query, bearers.len() as i64, waiting.len() as i64)?;
        for (key, weight) in bearers {
            *scores.entry(key).or_insert(0.0) += rarity * saturated(weight);
        }
    }
    let unpack = |(key, score)| (texts::unpacked(key).1, score);
    Ok(scores.into_iter().map(unpack).collect())
}

/// How much a rare word tells: as FTS5's bm25 has it, which does not count what waits.
fn rarity(tx: &mut ReadTx<'_>, query: &str, bearers: i64, waiting: i64) -> Result<f64> {
    let all = waiting + count(tx, "SELECT COUNT(*) FROM core_words_docsize", &[])?;
    let there = count(
        tx,
        "SELECT COUNT(*) FROM core_words WHERE core_words MATCH ?1 \
         AND rowid NOT IN (SELECT key FROM core_fresh)",
        args![query],
    )?;
    let (all, bearers) = (all as f64, (there + bearers) as f64);
    Ok(((all - bearers + 0.5) / (bearers + 0.5)).ln().max(1e-6))
}

/// How much a word tells that stands where it weighs this much; bm25 for a text of middle length.
fn saturated(weight: f64) -> f64 {
    weight * 2.2 / (weight + 1.2)
}
