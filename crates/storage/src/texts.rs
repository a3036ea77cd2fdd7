//! The text indexes: words by relevance, and substrings by their trigrams.

use understory_model::error::Result;
use understory_model::id::MAX_SEQ;
use understory_model::text::searchable;
use understory_model::{Id, Seq, Ws};

use crate::dialect::Dialect;
use crate::fresh;
use crate::sql::{Arg, ReadTx, Tx, args};
use crate::vectors;

/// SQLite's text index wants one number for workspace and id.
pub(crate) fn packed(ws: Ws, id: Id) -> i64 {
    (ws.0 << 40) | id.0
}

pub(crate) fn unpacked(key: i64) -> (Ws, Id) {
    (Ws(key >> 40), Id(key & MAX_SEQ.0))
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
    /// The item that changed it.
    pub seq: Seq,
    /// What sort of thing has it, as searches tell them apart.
    pub kind: &'static str,
    /// Where its passages point, one after the other.
    pub vectors: Vec<u8>,
}

/// What one thing is found by: a hit in its title counts more than one in its summary, and that
/// more than one in its body.
#[derive(Debug, Clone, Default)]
pub struct Text {
    pub title: String,
    pub summary: String,
    pub body: String,
    /// Found by its words as the body is, but no part of what the text means.
    pub extra: String,
    /// For substrings; empty where those are not asked for.
    pub grams: Vec<i32>,
}

impl Text {
    /// Its words, as the indexes take them.
    pub(crate) fn clean(&self) -> [String; 3] {
        let mut words = [&self.title, &self.summary, &self.body].map(|text| searchable(text));
        if !self.extra.is_empty() {
            words[2].push(' ');
            words[2].push_str(&searchable(&self.extra));
        }
        words
    }

    pub(crate) fn len(&self) -> usize {
        self.title.len() + self.summary.len() + self.body.len() + self.extra.len()
    }
}

/// Makes the changes, in their order; searches find them from now on.
pub fn apply(tx: &mut Tx<'_>, changes: &[TextChange]) -> Result<()> {
    if tx.dialect().texts_wait() {
        fresh::apply(tx, changes)?;
    } else {
        index(tx, changes)?;
    }
    vectors::put(tx, changes)
}

/// Makes the changes in both indexes.
pub(crate) fn index(tx: &mut Tx<'_>, changes: &[TextChange]) -> Result<()> {
    let mut puts: Vec<&TextChange> = Vec::new();
    for change in changes {
        if change.replaces {
            // What is replaced may be among those that are only being put.
            put(tx, &std::mem::take(&mut puts))?;
            forget(tx, change.ws, change.id)?;
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
    if tx.dialect().is_remote() {
        changes
            .chunks(AT_ONCE)
            .try_for_each(|some| put_some(tx, some))
    } else {
        changes.iter().try_for_each(|change| put_one(tx, change))
    }
}

fn put_one(tx: &mut Tx<'_>, change: &TextChange) -> Result<()> {
    let Some(text) = &change.text else {
        return Ok(());
    };
    let key = packed(change.ws, change.id);
    let [title, summary, body] = text.clean();
    tx.run(Dialect::WORDS_PUT, args![key, &title, &summary, &body])?;
    if !text.grams.is_empty() {
        tx.run(Dialect::GRAMS_PUT, args![key, &gram_words(&text.grams)])?;
    }
    Ok(())
}

/// Things that one statement puts, where a statement is a round trip.
const AT_ONCE: usize = 64;

fn put_some(tx: &mut Tx<'_>, changes: &[&TextChange]) -> Result<()> {
    let texts: Vec<(&TextChange, &Text, [String; 3])> = changes
        .iter()
        .filter_map(|change| {
            let text = change.text.as_ref()?;
            Some((*change, text, text.clean()))
        })
        .collect();
    if texts.is_empty() {
        return Ok(());
    }
    let mut args: Vec<Arg> = Vec::with_capacity(texts.len() * 6);
    for (change, text, words) in &texts {
        args.extend([Arg::from(change.ws), Arg::from(change.id)]);
        args.extend(words.iter().map(|words| Arg::Text(words)));
        args.push(Arg::Ints(&text.grams));
    }
    tx.run(&Dialect::texts_put(texts.len()), &args)?;
    Ok(())
}

/// Entities that have any of the words, best first, with a score that only orders them.
pub fn find_words(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    words: &[String],
    most: i64,
) -> Result<Vec<(Id, f64)>> {
    let query = tx.dialect().words_query(words);
    if query.is_empty() {
        return Ok(Vec::new());
    }
    let sql = format!(
        "{} ORDER BY score DESC, id LIMIT ?3",
        tx.dialect().words_match()
    );
    let rows = tx.rows(&sql, &[Arg::from(ws), Arg::Text(&query), Arg::Int(most)])?;
    let mut found: Vec<(Id, f64)> = rows
        .iter()
        .map(|row| Ok((row.int(0)?, row.real(1)?)))
        .collect::<Result<_>>()?;
    let waiting = waiting(tx, ws, words)?;
    if !waiting.is_empty() {
        found.extend(waiting);
        found.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        found.truncate(usize::try_from(most).unwrap_or(0));
    }
    Ok(found)
}

/// Whether the text of one thing has not reached the indexes yet.
pub fn waits(tx: &mut ReadTx<'_>, ws: Ws, id: Id) -> Result<bool> {
    if tx.dialect().texts_wait() {
        fresh::holds(tx, ws, id)
    } else {
        Ok(false)
    }
}

/// Takes one thing out of the indexes at once, without waiting for others to go with it.
pub fn forget(tx: &mut Tx<'_>, ws: Ws, id: Id) -> Result<()> {
    for sql in tx.dialect().texts_drop() {
        tx.run(sql, args![ws, id, packed(ws, id)])?;
    }
    Ok(())
}

/// What has any of the words and is not in the index yet.
pub(crate) fn waiting(tx: &mut ReadTx<'_>, ws: Ws, words: &[String]) -> Result<Vec<(Id, f64)>> {
    if tx.dialect().texts_wait() {
        fresh::find_words(tx, ws, words)
    } else {
        Ok(Vec::new())
    }
}

/// Trigram codes as the words of SQLite's index.
pub(crate) fn gram_words(grams: &[i32]) -> String {
    let mut text = String::with_capacity(grams.len() * 8);
    for gram in grams {
        if !text.is_empty() {
            text.push(' ');
        }
        // Written by hand: as formatted text it is 5% of a write's instructions.
        let digits = (8 - gram.leading_zeros() as usize / 4).max(1);
        for at in (0..digits).rev() {
            let digit = (gram >> (4 * at)) & 15;
            text.push(char::from_digit(digit.cast_unsigned(), 16).unwrap_or('0'));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::gram_words;

    #[test]
    fn codes_are_written_in_hexadecimal() {
        let codes = [0, 9, 0x10, 0xabcdef, i32::MAX];
        assert_eq!(gram_words(&codes), "0 9 10 abcdef 7fffffff");
    }
}
