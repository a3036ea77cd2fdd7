//! Where texts point by an external model, and whose turn it is to ask it.
//!
//! Live data: it can be asked for again. A row stands for one text, which it names by the item that
//! wrote it, so a vector of an older text is never taken for one of a newer.

use understory_model::error::Result;
use understory_model::{Id, Seq, Time, Ws};

use crate::lists;
use crate::sql::{Arg, Cell, ReadTx, Row, Tx, args};
use crate::vectors::{self, Vectors};
use crate::workspaces;

/// What is known of a model in a workspace.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Progress {
    /// Counts what was put, so that a copy knows what it lacks.
    pub filled: i64,
    /// Numbers of a vector; 0 before the first.
    pub dims: i64,
}

/// A text that has no vector yet, by its thing and by the item that wrote it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Missing {
    pub id: Id,
    pub seq: Seq,
}

pub fn progress(tx: &mut ReadTx<'_>, ws: Ws, model: &str) -> Result<Progress> {
    let row = tx.row(
        "SELECT filled, dims FROM live_embedder WHERE ws = ?1 AND model = ?2",
        args![ws, model],
    )?;
    match row {
        None => Ok(Progress::default()),
        Some(row) => Ok(Progress {
            filled: row.int(0)?,
            dims: row.int(1)?,
        }),
    }
}

/// The baseline: vectors of unrelated texts, which tell what closeness is usual.
pub fn baseline(tx: &mut ReadTx<'_>, ws: Ws, model: &str) -> Result<Vec<u8>> {
    let row = tx.row(
        "SELECT strangers FROM live_embedder WHERE ws = ?1 AND model = ?2",
        args![ws, model],
    )?;
    match row.and_then(|mut row| row.0.pop()) {
        Some(Cell::Bytes(bytes)) => Ok(bytes),
        _ => Ok(Vec::new()),
    }
}

/// Begins with a model: how long its vectors are, and those of the baseline.
pub fn begin(tx: &mut Tx<'_>, ws: Ws, model: &str, dims: i64, baseline: &[u8]) -> Result<()> {
    tx.run(
        "UPDATE live_embedder SET dims = ?3, strangers = ?4 \
         WHERE ws = ?1 AND model = ?2 AND dims = 0",
        args![ws, model, dims, baseline],
    )?;
    Ok(())
}

/// Takes the turn until a moment, unless another holds it: so several processes do not send the
/// same texts.
pub fn take_turn(
    tx: &mut Tx<'_>,
    ws: Ws,
    model: &str,
    holder: &str,
    (now, until): (Time, Time),
) -> Result<bool> {
    let taken = tx.run(
        "INSERT INTO live_embedder (ws, model, filled, dims, strangers, holder, until) \
         VALUES (?1, ?2, 0, 0, ?6, ?3, ?4) ON CONFLICT (ws, model) DO UPDATE SET \
         holder = excluded.holder, until = excluded.until \
         WHERE live_embedder.holder = excluded.holder OR live_embedder.until <= ?5",
        args![ws, model, holder, until.0, now.0, &[0_u8; 0][..]],
    )?;
    Ok(taken > 0)
}

/// Lets others have the turn.
pub fn end_turn(tx: &mut Tx<'_>, ws: Ws, model: &str, holder: &str) -> Result<()> {
    tx.run(
        "UPDATE live_embedder SET until = 0 WHERE ws = ?1 AND model = ?2 AND holder = ?3",
        args![ws, model, holder],
    )?;
    Ok(())
}

/// Texts written after a place in the log that the model has not seen, the oldest first.
pub fn missing(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    model: &str,
    after: Seq,
    most: i64,
) -> Result<Vec<Missing>> {
    let rows = tx.rows(
        "SELECT v.id, v.seq FROM core_vector v WHERE v.ws = ?1 AND v.seq > ?2 \
         AND LENGTH(v.vectors) > 0 AND NOT EXISTS (SELECT 1 FROM live_embedding e \
         WHERE e.ws = v.ws AND e.id = v.id AND e.model = ?3 AND e.seq = v.seq) \
         ORDER BY v.seq, v.id LIMIT ?4",
        args![ws, after, model, most],
    )?;
    rows.iter().map(text_of).collect()
}

fn text_of(row: &Row) -> Result<Missing> {
    Ok(Missing {
        id: row.int(0)?,
        seq: row.int(1)?,
    })
}

/// How many texts there are, and how many of them the model has seen.
pub fn count(tx: &mut ReadTx<'_>, ws: Ws, model: &str) -> Result<(i64, i64)> {
    let row = tx.row(
        "SELECT COUNT(*), COUNT(e.id) FROM core_vector v LEFT JOIN live_embedding e \
         ON e.ws = v.ws AND e.id = v.id AND e.model = ?2 AND e.seq = v.seq \
         WHERE v.ws = ?1 AND LENGTH(v.vectors) > 0",
        args![ws, model],
    )?;
    match row {
        None => Ok((0, 0)),
        Some(row) => Ok((row.int(0)?, row.int(1)?)),
    }
}

/// Keeps vectors of texts, where these are still what the things say.
pub fn put(tx: &mut Tx<'_>, ws: Ws, model: &str, found: &[(Missing, Vec<u8>)]) -> Result<()> {
    // Writers of the workspace wait: what is undone now must not be kept after it.
    workspaces::head(tx, ws, true)?;
    tx.run(
        "UPDATE live_embedder SET filled = filled + 1 WHERE ws = ?1 AND model = ?2",
        args![ws, model],
    )?;
    let filled = progress(tx, ws, model)?.filled;
    for some in found.chunks(lists::AT_ONCE) {
        let said = said(tx, ws, some)?;
        let mut values: Vec<Arg> = Vec::with_capacity(some.len() * 6);
        for (text, vectors) in some.iter().filter(|(text, _)| said.contains(text)) {
            values.extend(args![ws, text.id, model, text.seq, filled, &vectors[..]].iter());
        }
        tx.upsert(
            "INSERT INTO live_embedding (ws, id, model, seq, filled, vectors)",
            6,
            &values,
            " ON CONFLICT (ws, id, model) DO UPDATE SET seq = excluded.seq, \
             filled = excluded.filled, vectors = excluded.vectors",
        )?;
    }
    Ok(())
}

/// Those of some things' texts that they still say.
fn said(tx: &mut ReadTx<'_>, ws: Ws, found: &[(Missing, Vec<u8>)]) -> Result<Vec<Missing>> {
    let ids: Vec<Id> = found.iter().map(|(text, _)| text.id).collect();
    let mut args = vec![Arg::from(ws)];
    let ids = lists::numbers(&ids, &mut args);
    let sql = format!(
        "SELECT id, seq FROM core_vector WHERE ws = ?1 AND LENGTH(vectors) > 0 AND id IN ({ids})"
    );
    let rows = tx.rows(&sql, &args)?;
    rows.iter().map(text_of).collect()
}

/// What was put after a number, as far as it is of the texts as they are.
pub fn since(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    model: &str,
    filled: i64,
    visit: impl FnMut(Vectors),
) -> Result<()> {
    let sql = "SELECT e.id, v.kind, e.vectors FROM live_embedding e JOIN core_vector v \
               ON v.ws = e.ws AND v.id = e.id AND v.seq = e.seq \
               WHERE e.ws = ?1 AND e.model = ?2 AND e.filled > ?3 ORDER BY e.filled, e.id";
    vectors::visited(tx, sql, args![ws, model, filled], visit)
}

/// Forgets what was kept of things whose texts are gone, by every model: a vector tells of its
/// text.
pub fn forget(tx: &mut Tx<'_>, ws: Ws, ids: &[Id]) -> Result<()> {
    for some in ids.chunks(lists::AT_ONCE) {
        let mut args = vec![Arg::from(ws)];
        let ids = lists::numbers(some, &mut args);
        let sql = format!("DELETE FROM live_embedding WHERE ws = ?1 AND id IN ({ids})");
        tx.run(&sql, &args)?;
    }
    Ok(())
}

/// Deletes the vectors of external models in a workspace. Returns how many rows these were.
pub fn forget_all(tx: &mut Tx<'_>, ws: Ws) -> Result<u64> {
    // The count goes on, so that a copy cannot mistake new vectors for those it has.
    tx.run(
        "UPDATE live_embedder SET filled = filled + 1, dims = 0, strangers = ?2, until = 0 \
         WHERE ws = ?1",
        args![ws, &[0_u8; 0][..]],
    )?;
    tx.run("DELETE FROM live_embedding WHERE ws = ?1", args![ws])
}
