//! Artifacts: what each is called, its commits, and whole versions kept here and there so that any
//! other is few steps away.

use std::collections::HashMap;

use understory_model::error::Result;
use understory_model::item::Hash;
use understory_model::{Id, Seq, Time, Ws};

use crate::lists;
use crate::sql::{Arg, ReadTx, Tx, args};
use crate::table::{self, Stored, table};

table! {
    /// What core keeps of an artifact beside its value.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Artifact in core_artifact as a key (id) fixed (project) {
        pub id: Id,
        pub project: Id,
        pub label: String,
        /// The commit that it stands at; 0 before the first.
        pub head: Seq,
        pub commits: i64,
        pub lines: i64,
        pub updated: Time,
    }
}

const COLUMNS: &str = Artifact::COLUMNS;

pub fn get(tx: &mut ReadTx<'_>, ws: Ws, id: Id) -> Result<Option<Artifact>> {
    table::get(tx, args![ws, id])
}

/// What those of some things that are artifacts are called.
pub fn labels(tx: &mut ReadTx<'_>, ws: Ws, ids: &[Id]) -> Result<HashMap<Id, String>> {
    let mut found = HashMap::new();
    for some in ids.chunks(lists::AT_ONCE) {
        let mut args = vec![Arg::from(ws)];
        let places = lists::numbers(some, &mut args);
        let sql = format!("SELECT id, label FROM core_artifact WHERE ws = ?1 AND id IN ({places})");
        for mut row in tx.rows(&sql, &args)? {
            found.insert(row.int(0)?, row.text(1)?);
        }
    }
    Ok(found)
}

pub fn put(tx: &mut Tx<'_>, ws: Ws, one: &Artifact) -> Result<()> {
    table::put(tx, ws, one)
}

/// The artifacts of a project after a label, by label, each with the hash of its head.
pub fn list(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    project: Id,
    after: &str,
    most: i64,
) -> Result<Vec<(Artifact, Option<String>)>> {
    let sql = format!(
        "SELECT {COLUMNS}, c.hash FROM core_artifact a LEFT JOIN core_commit c \
         ON c.ws = a.ws AND c.artifact = a.id AND c.seq = a.head \
         WHERE a.ws = ?1 AND a.project = ?2 AND a.label > ?3 ORDER BY a.label LIMIT ?4"
    );
    let rows = tx.rows(&sql, args![ws, project, after, most])?;
    rows.into_iter()
        .map(|mut row| {
            let hash = row.opt_text(Artifact::WIDTH)?;
            Ok((Artifact::read(row)?, hash))
        })
        .collect()
}

/// Who has a label now or had it last, and whether it is in use now.
pub fn by_label(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    project: Id,
    label: &str,
) -> Result<Option<(Id, bool)>> {
    let row = tx.row(
        "SELECT artifact, current FROM core_label WHERE ws = ?1 AND label = ?3 AND project = ?2",
        args![ws, project, label],
    )?;
    row.map(|row| Ok((row.int(0)?, row.flag(1)?))).transpose()
}

/// The artifacts that have or had some labels in a project.
pub fn by_labels(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    project: Id,
    labels: &[&str],
) -> Result<HashMap<String, Id>> {
    let mut found = HashMap::new();
    for some in labels.chunks(lists::AT_ONCE) {
        let mut args = vec![Arg::from(ws), Arg::from(project)];
        let places = lists::texts(some, &mut args);
        let sql = format!(
            "SELECT label, artifact FROM core_label \
             WHERE ws = ?1 AND project = ?2 AND label IN ({places})"
        );
        for mut row in tx.rows(&sql, &args)? {
            found.insert(row.text(0)?, row.int(1)?);
        }
    }
    Ok(found)
}

/// The projects in which an artifact has a label or had it, some of them.
pub fn projects_with(tx: &mut ReadTx<'_>, ws: Ws, label: &str) -> Result<Vec<Id>> {
    let rows = tx.rows(
        "SELECT project FROM core_label WHERE ws = ?1 AND label = ?2 \
         ORDER BY current DESC, project LIMIT 20",
        args![ws, label],
    )?;
    rows.into_iter().map(|row| row.int(0)).collect()
}

pub fn put_label(
    tx: &mut Tx<'_>,
    ws: Ws,
    project: Id,
    label: &str,
    (artifact, current): (Id, bool),
) -> Result<()> {
    tx.run(
        "INSERT INTO core_label (ws, project, label, artifact, current) \
         VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (ws, label, project) DO UPDATE SET \
         artifact = excluded.artifact, current = excluded.current",
        args![ws, project, label, artifact, current],
    )?;
    Ok(())
}

/// Some labels of a project, for somebody who asked for an unknown one.
pub fn some_labels(tx: &mut ReadTx<'_>, ws: Ws, project: Id, most: i64) -> Result<Vec<String>> {
    let rows = tx.rows(
        "SELECT label FROM core_artifact WHERE ws = ?1 AND project = ?2 ORDER BY label LIMIT ?3",
        args![ws, project, most],
    )?;
    rows.into_iter().map(|mut row| row.text(0)).collect()
}

/// Labels of a project that begin so.
pub fn labels_beginning(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    project: Id,
    prefix: &str,
    most: i64,
) -> Result<Vec<String>> {
    let prefix = prefix.replace('\0', "");
    let rows = tx.rows(
        "SELECT label FROM core_artifact WHERE ws = ?1 AND project = ?2 AND label >= ?3 \
         ORDER BY label LIMIT ?4",
        args![ws, project, &prefix, most],
    )?;
    let labels: Vec<String> = rows
        .into_iter()
        .map(|mut row| row.text(0))
        .collect::<Result<_>>()?;
    Ok(labels
        .into_iter()
        .filter(|label| label.starts_with(&prefix))
        .collect())
}

table! {
    /// A commit, by its item.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Commit in core_commit as c key (artifact, seq) {
        pub artifact: Id,
        pub seq: Seq,
        pub hash: String,
        pub parent: Option<Seq>,
        /// The other side of a merge.
        pub other: Option<Seq>,
        /// Changes to be made, along the first parents, from the last version kept whole; 0 when
        /// this one is kept.
        pub steps: i64,
        /// Bytes of those changes.
        pub cost: i64,
        pub lines: i64,
        /// The proof of its item.
        pub chain: Hash,
    }
}

const COMMIT: &str = Commit::COLUMNS;

pub fn add_commit(tx: &mut Tx<'_>, ws: Ws, one: &Commit) -> Result<()> {
    table::add(tx, ws, one)
}

pub fn get_commit(tx: &mut ReadTx<'_>, ws: Ws, artifact: Id, seq: Seq) -> Result<Option<Commit>> {
    table::get(tx, args![ws, artifact, seq])
}

/// The commits whose hash begins so, by hash. The prefix is of lower-case hexadecimal digits.
pub fn by_hash(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    artifact: Id,
    prefix: &str,
    most: i64,
) -> Result<Vec<Commit>> {
    // No digit comes after `f`, so all that begin with the prefix lie before it and a `g`.
    let end = format!("{prefix}g");
    let sql = format!(
        "SELECT {COMMIT} FROM core_commit c WHERE c.ws = ?1 AND c.artifact = ?2 \
         AND c.hash >= ?3 AND c.hash < ?4 ORDER BY c.hash LIMIT ?5"
    );
    table::all(tx, &sql, args![ws, artifact, prefix, &end, most])
}

/// An artifact's commits before a place in the log, newest first.
pub fn commits(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    artifact: Id,
    before: Seq,
    most: i64,
) -> Result<Vec<Commit>> {
    let sql = format!(
        "SELECT {COMMIT} FROM core_commit c WHERE c.ws = ?1 AND c.artifact = ?2 AND c.seq < ?3 \
         ORDER BY c.seq DESC LIMIT ?4"
    );
    table::all(tx, &sql, args![ws, artifact, before, most])
}

/// Who wrote the newest version of some artifacts of a project, by label.
pub fn last_authors(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    project: Id,
    labels: &[&str],
) -> Result<HashMap<String, String>> {
    let mut found = HashMap::new();
    for some in labels.chunks(lists::AT_ONCE) {
        let mut args = vec![Arg::from(ws), Arg::from(project)];
        let places = lists::texts(some, &mut args);
        let sql = format!(
            "SELECT a.label, i.actor FROM core_artifact a CROSS JOIN soil_item i \
             WHERE a.ws = ?1 AND a.project = ?2 AND a.label IN ({places}) \
             AND i.ws = a.ws AND i.seq = a.head"
        );
        for mut row in tx.rows(&sql, &args)? {
            found.insert(row.text(0)?, row.text(1)?);
        }
    }
    Ok(found)
}

/// A commit as a history needs it: who made it, and when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Past {
    pub seq: Seq,
    pub parent: Option<Seq>,
    pub hash: String,
    pub at: Time,
    pub actor: String,
}

/// All commits of an artifact, oldest first, those beside the head too.
pub fn history(tx: &mut ReadTx<'_>, ws: Ws, artifact: Id) -> Result<Vec<Past>> {
    let rows = tx.rows(
        "SELECT c.seq, c.parent, c.hash, i.realized_at, i.actor FROM core_commit c \
         CROSS JOIN soil_item i WHERE c.ws = ?1 AND c.artifact = ?2 AND i.ws = c.ws \
         AND i.seq = c.seq ORDER BY c.seq",
        args![ws, artifact],
    )?;
    rows.into_iter()
        .map(|mut row| {
            Ok(Past {
                seq: row.int(0)?,
                parent: row.opt_int(1)?,
                hash: row.text(2)?,
                at: Time(row.int(3)?),
                actor: row.text(4)?,
            })
        })
        .collect()
}

/// The hashes of some commits of an artifact, by their places.
pub fn hashes(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    artifact: Id,
    seqs: &[Seq],
) -> Result<HashMap<Seq, String>> {
    let mut found = HashMap::new();
    for some in seqs.chunks(lists::AT_ONCE) {
        let mut args = vec![Arg::from(ws), Arg::from(artifact)];
        let seqs = lists::numbers(some, &mut args);
        let sql = format!(
            "SELECT seq, hash FROM core_commit WHERE ws = ?1 AND artifact = ?2 AND seq IN ({seqs})"
        );
        for mut row in tx.rows(&sql, &args)? {
            found.insert(row.int(0)?, row.text(1)?);
        }
    }
    Ok(found)
}

/// A step on the way from a version kept whole to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    pub seq: Seq,
    /// Whether this version is kept whole.
    pub kept: bool,
    pub chain: Hash,
}

/// The steps that lead to a commit, the last one first, back to the version kept whole or to the
/// first commit.
pub fn steps(tx: &mut ReadTx<'_>, ws: Ws, artifact: Id, seq: Seq) -> Result<Vec<Step>> {
    let rows = tx.rows(
        "WITH RECURSIVE way (seq, parent, steps, chain) AS (\
         SELECT seq, parent, steps, chain FROM core_commit \
         WHERE ws = ?1 AND artifact = ?2 AND seq = ?3 \
         UNION ALL SELECT c.seq, c.parent, c.steps, c.chain FROM way w \
         JOIN core_commit c ON c.ws = ?1 AND c.artifact = ?2 AND c.seq = w.parent \
         WHERE w.steps > 0) SELECT seq, steps, chain FROM way ORDER BY seq DESC",
        args![ws, artifact, seq],
    )?;
    rows.into_iter()
        .map(|row| {
            Ok(Step {
                seq: row.int(0)?,
                kept: row.int::<i64>(1)? == 0,
                chain: row.bytes(2)?,
            })
        })
        .collect()
}

/// Lines that a commit made of parts of messages, each with the name of its part.
pub fn add_sources(
    tx: &mut Tx<'_>,
    ws: Ws,
    (artifact, commit): (Id, Seq),
    sources: &[(i64, &str)],
) -> Result<()> {
    let mut rows = Vec::with_capacity(sources.len() * 5);
    for (line, part) in sources {
        rows.extend([
            Arg::from(ws),
            Arg::from(artifact),
            Arg::from(commit),
            Arg::Int(*line),
            Arg::Text(part),
        ]);
    }
    if rows.is_empty() {
        Ok(())
    } else {
        tx.insert(
            "INSERT INTO core_source (ws, artifact, seq, line, part)",
            5,
            &rows,
        )
    }
}

/// The parts of messages that lines of some commits were made of, by commit and line.
pub fn sources(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    artifact: Id,
    commits: &[Seq],
) -> Result<HashMap<(Seq, i64), String>> {
    let mut commits = commits.to_vec();
    commits.sort_unstable();
    commits.dedup();
    let mut found = HashMap::new();
    for some in commits.chunks(lists::AT_ONCE) {
        let mut args = vec![Arg::from(ws), Arg::from(artifact)];
        let seqs = lists::numbers(some, &mut args);
        let sql = format!(
            "SELECT seq, line, part FROM core_source \
             WHERE ws = ?1 AND artifact = ?2 AND seq IN ({seqs})"
        );
        for mut row in tx.rows(&sql, &args)? {
            found.insert((row.int(0)?, row.int(1)?), row.text(2)?);
        }
    }
    Ok(found)
}

pub fn put_change(tx: &mut Tx<'_>, ws: Ws, artifact: Id, seq: Seq, data: &str) -> Result<()> {
    tx.run(
        "INSERT INTO core_change (ws, artifact, seq, data) VALUES (?1, ?2, ?3, ?4)",
        args![ws, artifact, seq, data],
    )?;
    Ok(())
}

/// What some commits did, in order.
pub fn changes(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    artifact: Id,
    seqs: &[Seq],
) -> Result<Vec<(Seq, String)>> {
    let mut found = Vec::with_capacity(seqs.len());
    for some in seqs.chunks(lists::AT_ONCE) {
        let mut args = vec![Arg::from(ws), Arg::from(artifact)];
        let seqs = lists::numbers(some, &mut args);
        let sql = format!(
            "SELECT seq, data FROM core_change WHERE ws = ?1 AND artifact = ?2 AND seq IN ({seqs})"
        );
        for mut row in tx.rows(&sql, &args)? {
            found.push((row.int(0)?, row.text(1)?));
        }
    }
    found.sort_unstable_by_key(|(seq, _)| *seq);
    Ok(found)
}

pub fn put_snapshot(tx: &mut Tx<'_>, ws: Ws, artifact: Id, seq: Seq, data: &str) -> Result<()> {
    tx.run(
        "INSERT INTO core_snapshot (ws, artifact, seq, data) VALUES (?1, ?2, ?3, ?4)",
        args![ws, artifact, seq, data],
    )?;
    Ok(())
}

/// A version that is kept whole.
pub fn snapshot(tx: &mut ReadTx<'_>, ws: Ws, artifact: Id, seq: Seq) -> Result<Option<String>> {
    let row = tx.row(
        "SELECT data FROM core_snapshot WHERE ws = ?1 AND artifact = ?2 AND seq = ?3",
        args![ws, artifact, seq],
    )?;
    row.map(|mut row| row.text(0)).transpose()
}
