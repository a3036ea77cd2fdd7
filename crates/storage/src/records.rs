//! Records as lists show them, and the ways to list and find them.

use understory_model::error::Result;
use understory_model::record::RecordState;
use understory_model::{Id, Seq, Ws};

use crate::entities::Entity;
use crate::keys::{self, Pair};
use crate::nodes::below;
use crate::sql::{Arg, ReadTx, Tx, args};
use crate::statement::Statement;
use crate::table::{self, Stored, table};
use crate::texts;

table! {
    /// What core keeps of a record beside its value.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Record in core_record as r key (id) fixed (project, handle) {
        pub id: Id,
        pub project: Id,
        pub handle: String,
        /// The parent's handle.
        pub parent: Option<String>,
        pub path: String,
        pub depth: i64,
        pub kind: String = "type",
        pub state: RecordState,
        /// JSON: title and summary.
        pub brief: String,
        pub children: i64,
        pub open_children: i64,
        /// The item of its last change.
        pub changed: Seq,
        /// The version in which its state last changed.
        pub state_changed: i64,
    }
}

const COLUMNS: &str = Record::COLUMNS;

pub fn get(tx: &mut ReadTx<'_>, ws: Ws, id: Id) -> Result<Option<Record>> {
    table::get(tx, args![ws, id])
}

pub fn insert(tx: &mut Tx<'_>, ws: Ws, records: &[&Record]) -> Result<()> {
    table::insert(tx, ws, records.iter().copied())
}

pub fn update(tx: &mut Tx<'_>, ws: Ws, record: &Record) -> Result<()> {
    table::update(tx, ws, record)
}

/// Gives everything below a record its new place.
pub fn move_below(
    tx: &mut Tx<'_>,
    ws: Ws,
    project: Id,
    (from, to): (&str, &str),
    deeper: i64,
) -> Result<()> {
    let (start, end) = (from.len() as i64 + 1, below(from));
    tx.run(
        "UPDATE core_record SET path = ?4 || substr(path, CAST(?5 AS INTEGER)), \
         depth = depth + ?6 WHERE ws = ?1 AND project = ?7 AND path > ?2 AND path < ?3",
        args![ws, from, &end, to, start, deeper, project],
    )?;
    Ok(())
}

/// The deepest level below a path.
pub fn deepest(tx: &mut ReadTx<'_>, ws: Ws, project: Id, path: &str) -> Result<Option<i64>> {
    let row = tx.row(
        "SELECT MAX(depth) FROM core_record \
         WHERE ws = ?1 AND project = ?2 AND path > ?3 AND path < ?4",
        args![ws, project, path, &below(path)],
    )?;
    row.map_or(Ok(None), |row| row.opt_int(0))
}

// Of a table that it has no statistics of, SQLite takes a workspace for ten rows and would rather
// walk all of it than step from an index to the table. So indexes that say enough are asked by
// themselves, and `CROSS JOIN` keeps its order.

/// The records directly below one, in the order in which they were made.
pub fn children(tx: &mut ReadTx<'_>, ws: Ws, parent: Id, most: i64) -> Result<Vec<Record>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM core_entity e CROSS JOIN core_record r \
         WHERE e.ws = ?1 AND e.parent = ?2 AND r.ws = ?1 AND r.id = e.id ORDER BY e.id LIMIT ?3"
    );
    table::all(tx, &sql, args![ws, parent, most])
}

/// The records below those directly below one.
pub fn grandchildren(tx: &mut ReadTx<'_>, ws: Ws, id: Id, most: i64) -> Result<Vec<Record>> {
    let sql = format!(
        "WITH c AS MATERIALIZED (SELECT id FROM core_entity WHERE ws = ?1 AND parent = ?2) \
         SELECT {COLUMNS} FROM c CROSS JOIN core_entity e CROSS JOIN core_record r \
         WHERE e.ws = ?1 AND e.parent = c.id AND r.ws = ?1 AND r.id = e.id \
         ORDER BY c.id, e.id LIMIT ?3"
    );
    table::all(tx, &sql, args![ws, id, most])
}

/// How many records are below those directly below one.
pub fn count_grandchildren(tx: &mut ReadTx<'_>, ws: Ws, id: Id) -> Result<i64> {
    let row = tx.row(
        "WITH c AS MATERIALIZED (SELECT id FROM core_entity WHERE ws = ?1 AND parent = ?2) \
         SELECT COUNT(*) FROM c CROSS JOIN core_entity e WHERE e.ws = ?1 AND e.parent = c.id",
        args![ws, id],
    )?;
    row.map_or(Ok(0), |row| row.int(0))
}

/// The records of one state directly below one, whole.
pub fn children_in(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    parent: Id,
    state: RecordState,
    most: i64,
) -> Result<Vec<Entity>> {
    let sql = format!(
        "SELECT {} FROM (SELECT id FROM core_entity WHERE ws = ?1 AND parent = ?2) c \
         CROSS JOIN core_record r CROSS JOIN core_entity e \
         WHERE r.ws = ?1 AND r.id = c.id AND r.state = ?3 AND e.ws = ?1 AND e.id = c.id \
         ORDER BY c.id LIMIT ?4",
        Entity::COLUMNS
    );
    table::all(tx, &sql, args![ws, parent, state.as_str(), most])
}

/// The records that the links of one relation lead to (`outgoing`) or come from, in the order of
/// their making.
pub fn linked(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    id: Id,
    relation: &str,
    outgoing: bool,
    most: i64,
) -> Result<Vec<Record>> {
    let (here, there) = if outgoing {
        ("source", "target")
    } else {
        ("target", "source")
    };
    let sql = format!(
        "SELECT {COLUMNS} FROM core_link l JOIN core_record r ON r.ws = l.ws AND r.id = l.{there} \
         WHERE l.ws = ?1 AND l.{here} = ?2 AND l.relation = ?3 ORDER BY l.{there} LIMIT ?4"
    );
    table::all(tx, &sql, args![ws, id, relation, most])
}

/// A project's topmost records, oldest first.
pub fn roots(tx: &mut ReadTx<'_>, ws: Ws, project: Id, most: i64) -> Result<Vec<Record>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM (SELECT id FROM core_record WHERE ws = ?1 AND project = ?2 \
         AND depth = 0 ORDER BY id LIMIT ?3) c CROSS JOIN core_record r \
         WHERE r.ws = ?1 AND r.id = c.id ORDER BY c.id"
    );
    table::all(tx, &sql, args![ws, project, most])
}

/// A project's records of one state, the last changed first.
pub fn in_state(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    project: Id,
    state: RecordState,
    most: i64,
) -> Result<Vec<Record>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM core_record r WHERE r.ws = ?1 AND r.project = ?2 AND r.state = ?3 \
         ORDER BY r.changed DESC LIMIT ?4"
    );
    table::all(tx, &sql, args![ws, project, state.as_str(), most])
}

/// Where a list begins.
#[derive(Debug, Clone, Copy)]
pub enum From<'a> {
    /// With a project's topmost records.
    Roots,
    /// Below the record of this id and path.
    Below(Id, &'a str),
}

/// Which records are wanted.
pub struct Wanted<'a> {
    pub project: Id,
    pub from: From<'a>,
    /// This many levels, or all.
    pub levels: Option<i64>,
    pub states: &'a [RecordState],
    pub types: &'a [String],
    /// Only those that have all of these.
    pub keys: &'a [Pair],
    /// Those after this path in the order of the tree.
    pub after: &'a str,
    pub most: i64,
}

/// Records in the order of the tree: each before those below it.
pub fn list(tx: &mut ReadTx<'_>, ws: Ws, wanted: &Wanted<'_>) -> Result<Vec<Record>> {
    let end = wanted.end();
    let mut query = wanted.query(ws, &end);
    let most = query.arg(wanted.most);
    let sql = format!("{} ORDER BY r.path LIMIT {most}", query.select(COLUMNS));
    table::all(tx, &sql, &query.args)
}

/// How many there are after the place that is wanted.
pub fn count(tx: &mut ReadTx<'_>, ws: Ws, wanted: &Wanted<'_>) -> Result<i64> {
    let end = wanted.end();
    let query = wanted.query(ws, &end);
    let row = tx.row(&query.select("COUNT(*)"), &query.args)?;
    row.map_or(Ok(0), |row| row.int(0))
}

impl<'a> Wanted<'a> {
    /// Where the paths below the wanted record end.
    fn end(&self) -> String {
        match self.from {
            From::Below(_, path) => below(path),
            From::Roots => String::new(),
        }
    }

    fn query(&self, ws: Ws, end: &'a str) -> Statement<'a> {
        let args = vec![
            Arg::from(ws),
            Arg::from(self.project),
            Arg::Text(self.after),
        ];
        let project = "r.ws = ?1 AND r.project = ?2 AND r.path > ?3";
        let mut query = Statement::new("core_record r", project, args);
        match (self.levels, self.from) {
            // Few levels of a large tree are walked, so that what lies deeper costs nothing.
            (Some(levels), from) => {
                let levels = query.arg(levels);
                let start = match from {
                    From::Roots => {
                        "core_record WHERE ws = ?1 AND project = ?2 AND depth = 0".into()
                    }
                    From::Below(id, _) => {
                        let parent = query.arg(id);
                        format!("core_entity WHERE ws = ?1 AND parent = {parent}")
                    }
                };
                query.with = format!(
                    "WITH RECURSIVE level (id, depth) AS (SELECT id, 1 FROM {start} UNION ALL \
                     SELECT e.id, level.depth + 1 FROM level CROSS JOIN core_entity e \
                     WHERE e.ws = ?1 AND e.parent = level.id AND level.depth < {levels}) "
                );
                query.from = "level CROSS JOIN core_record r".into();
                query.and("r.id = level.id");
            }
            (None, From::Roots) => {}
            (None, From::Below(_, path)) => query.and_below("r.path", path, end),
        }
        query.and_in("r.state", self.states.iter().map(|state| state.as_str()));
        query.and_in("r.type", self.types.iter().map(String::as_str));
        bear(&mut query, self.keys);
        query
    }
}

/// Only records that have all of the pairs.
fn bear<'a>(query: &mut Statement<'a>, pairs: &'a [Pair]) {
    if !pairs.is_empty() {
        let bearing = keys::bearing(pairs, &mut query.args);
        query.and(&format!("r.id IN ({bearing})"));
    }
}

/// What a search looks for, and where.
pub struct Sought<'a> {
    pub project: Id,
    pub words: &'a [String],
    /// Only below this path.
    pub scope: Option<&'a str>,
    pub states: &'a [RecordState],
    pub types: &'a [String],
    /// Only those that have all of these.
    pub keys: &'a [Pair],
    pub most: i64,
}

/// Records that have any of the words, best first, with a score that only orders them; and how
/// many there are in all.
pub fn search(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    sought: &Sought<'_>,
) -> Result<(Vec<(Record, f64)>, i64)> {
    let dialect = tx.dialect();
    let query = dialect.words_query(sought.words);
    if query.is_empty() {
        return Ok((Vec::new(), 0));
    }
    let args = vec![
        Arg::from(ws),
        Arg::Text(&query),
        Arg::Int(sought.most),
        Arg::from(sought.project),
    ];
    let hits = "hit JOIN core_record r ON r.ws = ?1 AND r.id = hit.id";
    let mut fit = Statement::new(hits, "r.project = ?4", args);
    let mut matched = dialect.words_match().to_string();
    for (id, score) in texts::waiting(tx, ws, sought.words)? {
        let (id, score) = (fit.arg(id), fit.arg(score));
        matched.push_str(&format!(" UNION ALL SELECT {id}, {score}"));
    }
    let end = sought.scope.map(below).unwrap_or_default();
    if let Some(scope) = sought.scope {
        fit.and_below("r.path", scope, &end);
    }
    fit.and_in("r.state", sought.states.iter().map(|state| state.as_str()));
    fit.and_in("r.type", sought.types.iter().map(String::as_str));
    bear(&mut fit, sought.keys);
    // Only the best are read whole: what is sorted and counted is narrow.
    let sql = format!(
        "WITH hit AS MATERIALIZED ({matched}), fit AS MATERIALIZED ({}) \
         SELECT {COLUMNS}, top.score, (SELECT COUNT(*) FROM fit) \
         FROM (SELECT id, score FROM fit ORDER BY score DESC, id LIMIT ?3) top \
         JOIN core_record r ON r.ws = ?1 AND r.id = top.id ORDER BY top.score DESC, r.id",
        fit.select("hit.id, hit.score")
    );
    let mut total = 0;
    let mut found = Vec::new();
    for row in tx.rows(&sql, &fit.args)? {
        total = row.int(Record::WIDTH + 1)?;
        let score = row.real(Record::WIDTH)?;
        found.push((Record::read(row)?, score));
    }
    Ok((found, total))
}

/// Whether a record has any of the words.
pub fn bears(tx: &mut ReadTx<'_>, ws: Ws, id: Id, words: &[String]) -> Result<bool> {
    let dialect = tx.dialect();
    let query = dialect.words_query(words);
    if query.is_empty() {
        return Ok(false);
    }
    let sql = format!(
        "SELECT hit.id FROM ({}) hit WHERE hit.id = ?3",
        dialect.words_match()
    );
    if tx.row(&sql, args![ws, &query, id])?.is_some() {
        return Ok(true);
    }
    let waiting = texts::waiting(tx, ws, words)?;
    Ok(waiting.iter().any(|(other, _)| *other == id))
}
