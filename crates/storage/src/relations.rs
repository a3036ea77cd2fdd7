//! Relations between things, those that somebody made and those that texts say, and how much each
//! thing was cited lately.

use std::collections::HashMap;

use understory_model::error::Result;
use understory_model::{Id, Seq, Time, Ws};

use crate::lists;
use crate::sql::{Arg, ReadTx, Row, Tx, args};
use crate::table::{self, Codec, Stored, table};

/// How core came to a relation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Found {
    /// Its item says it.
    #[default]
    Kept,
    /// In a text, by a name that means one thing.
    Named,
    /// In a text, by the id of a part alone: it means the newest part before that has the id.
    Bare,
}

impl Found {
    fn number(self) -> i64 {
        match self {
            Found::Kept => 0,
            Found::Named => 1,
            Found::Bare => 2,
        }
    }

    fn of_number(number: i64) -> Found {
        match number {
            1 => Found::Named,
            2 => Found::Bare,
            _ => Found::Kept,
        }
    }
}

/// Where a text says something.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Place {
    pub field: String,
    /// In characters: the first, and one past the last.
    pub span: (i64, i64),
    /// Of an artifact, the line of the version that the commit made.
    pub line: Option<i64>,
}

table! {
    /// One relation.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Relation in core_relation key (made, n) fixed (kind, source, source_type, target, target_type, fragment, inferred, found, field, span_start, span_end, line, at) {
        /// Its own item; for what a text says, the item that says it.
        pub made: Seq,
        /// 0 for one that somebody made; else its number in the text.
        pub n: i64,
        pub kind: String,
        pub source: Id,
        pub source_type: String,
        pub target: Id,
        pub target_type: String,
        pub fragment: Option<String>,
        pub inferred: bool,
        pub found: Found as AsNumber,
        pub place: Option<Place> = "field, span_start, span_end, line" as InText,
        pub fossil: bool,
        pub at: Time,
    }
}

/// How core came to a relation, as its number.
struct AsNumber;

impl Codec<Found> for AsNumber {
    fn read(row: &mut Row, at: usize) -> Result<Found> {
        row.int(at).map(Found::of_number)
    }

    fn write<'a>(found: &'a Found, args: &mut Vec<Arg<'a>>) {
        args.push(Arg::Int(found.number()));
    }
}

/// A place in a text, in four columns that are empty without one.
struct InText;

impl Codec<Option<Place>> for InText {
    const COLUMNS: usize = 4;

    fn read(row: &mut Row, at: usize) -> Result<Option<Place>> {
        let place = match (
            row.opt_text(at)?,
            row.opt_int(at + 1)?,
            row.opt_int(at + 2)?,
        ) {
            (Some(field), Some(start), Some(end)) => Some(Place {
                field,
                span: (start, end),
                line: row.opt_int(at + 3)?,
            }),
            _ => None,
        };
        Ok(place)
    }

    fn write<'a>(place: &'a Option<Place>, args: &mut Vec<Arg<'a>>) {
        let place = place.as_ref();
        args.extend([
            Arg::from(place.map(|place| &place.field)),
            Arg::from(place.map(|place| place.span.0)),
            Arg::from(place.map(|place| place.span.1)),
            Arg::from(place.and_then(|place| place.line)),
        ]);
    }
}

const COLUMNS: &str = Relation::COLUMNS;

pub fn put(tx: &mut Tx<'_>, ws: Ws, one: &Relation) -> Result<()> {
    put_all(tx, ws, std::slice::from_ref(one))
}

/// Adds relations; of one that is there only whether it is a fossil changes.
pub fn put_all(tx: &mut Tx<'_>, ws: Ws, all: &[Relation]) -> Result<()> {
    if all.is_empty() {
        return Ok(());
    }
    let statements = Relation::statements();
    let (width, rows) = (statements.columns.len(), table::all_values(ws, all));
    tx.upsert(&statements.into, width, &rows, &statements.on_conflict)
}

pub fn get(tx: &mut ReadTx<'_>, ws: Ws, made: Seq, n: i64) -> Result<Option<Relation>> {
    table::get(tx, args![ws, made, n])
}

pub fn remove(tx: &mut Tx<'_>, ws: Ws, made: Seq, n: i64) -> Result<()> {
    tx.run(
        "DELETE FROM core_relation WHERE ws = ?1 AND made = ?2 AND n = ?3",
        args![ws, made, n],
    )?;
    Ok(())
}

/// Takes away what an item's text said.
pub fn remove_said(tx: &mut Tx<'_>, ws: Ws, item: Seq) -> Result<()> {
    tx.run(
        "DELETE FROM core_relation WHERE ws = ?1 AND made = ?2 AND inferred = 1",
        args![ws, item],
    )?;
    Ok(())
}

/// Takes away what was found in the texts of a thing.
pub fn remove_found(tx: &mut Tx<'_>, ws: Ws, source: Id) -> Result<()> {
    tx.run(
        "DELETE FROM core_relation WHERE ws = ?1 AND source = ?2 AND kind = 'mentions' \
         AND found > 0",
        args![ws, source],
    )?;
    Ok(())
}

/// What texts were found to say about the parts of an item.
pub fn found_parts(tx: &mut ReadTx<'_>, ws: Ws, item: Seq) -> Result<Vec<Relation>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM core_relation WHERE ws = ?1 AND target = ?2 AND kind = 'mentions' \
         AND target_type = 'fragment' AND found > 0 ORDER BY made, n"
    );
    table::all(tx, &sql, args![ws, item])
}

/// Which end of a relation a thing is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    Source,
    Target,
}

impl End {
    fn column(self) -> &'static str {
        match self {
            End::Source => "source",
            End::Target => "target",
        }
    }
}

/// The arguments of a page of relations: ?1 to ?5, and ?6 where a kind is named.
fn page<'a>(ws: Ws, of: Id, after: (Seq, i64), most: i64, kind: Option<&'a str>) -> Vec<Arg<'a>> {
    let (made, n) = after;
    let mut args = vec![
        Arg::from(ws),
        Arg::from(of),
        Arg::from(made),
        Arg::Int(n),
        Arg::Int(most),
    ];
    args.extend(kind.map(Arg::Text));
    args
}

/// The relations of a thing in the order of their making, after one of them.
pub fn of(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    thing: Id,
    end: End,
    kind: Option<&str>,
    (after, most): ((Seq, i64), i64),
) -> Result<Vec<Relation>> {
    let column = end.column();
    let args = page(ws, thing, after, most, kind);
    let kind = kind.map_or("", |_| "AND kind = ?6");
    let sql = format!(
        "SELECT {COLUMNS} FROM core_relation WHERE ws = ?1 AND {column} = ?2 \
         AND (made > ?3 OR (made = ?3 AND n > ?4)) {kind} ORDER BY made, n LIMIT ?5"
    );
    table::all(tx, &sql, &args)
}

/// What texts were found to say of a thing, newest first.
pub fn mentions_of(tx: &mut ReadTx<'_>, ws: Ws, thing: Id, most: i64) -> Result<Vec<Relation>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM core_relation WHERE ws = ?1 AND target = ?2 AND kind = 'mentions' \
         ORDER BY made DESC, n DESC LIMIT ?3"
    );
    table::all(tx, &sql, args![ws, thing, most])
}

/// Which of some things a relation of a kind leads to.
pub fn reached(tx: &mut ReadTx<'_>, ws: Ws, things: &[Id], kind: &str) -> Result<Vec<Id>> {
    let mut found = Vec::new();
    for some in things.chunks(lists::AT_ONCE) {
        let mut args = vec![Arg::from(ws), Arg::Text(kind)];
        let places = lists::numbers(some, &mut args);
        let sql = format!(
            "SELECT DISTINCT target FROM core_relation WHERE ws = ?1 AND kind = ?2 \
             AND target IN ({places})"
        );
        for row in tx.rows(&sql, &args)? {
            found.push(row.int(0)?);
        }
    }
    Ok(found)
}

/// As [`of`], of all items that are about an entity.
pub fn of_items(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    entity: Id,
    end: End,
    kind: Option<&str>,
    (after, most): ((Seq, i64), i64),
) -> Result<Vec<Relation>> {
    let column = end.column();
    let args = page(ws, entity, after, most, kind);
    let kind = kind.map_or("", |_| "AND r.kind = ?6");
    let columns: Vec<String> = COLUMNS
        .split(", ")
        .map(|name| format!("r.{name}"))
        .collect();
    let columns = columns.join(", ");
    let sql = format!(
        "SELECT {columns} FROM soil_item i CROSS JOIN core_relation r \
         WHERE i.ws = ?1 AND i.entity = ?2 AND i.seq <> ?2 AND r.ws = ?1 AND r.{column} = i.seq \
         AND (r.made > ?3 OR (r.made = ?3 AND r.n > ?4)) {kind} ORDER BY r.made, r.n LIMIT ?5"
    );
    table::all(tx, &sql, &args)
}

/// The relation of a kind between two things.
pub fn between(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    kind: &str,
    source: Id,
    target: Id,
) -> Result<Option<Relation>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM core_relation WHERE ws = ?1 AND source = ?2 AND kind = ?3 \
         AND target = ?4 AND inferred = 0 ORDER BY made LIMIT 1"
    );
    table::one(tx, &sql, args![ws, source, kind, target])
}

/// What superseded some things, by what it superseded.
pub fn superseded(tx: &mut ReadTx<'_>, ws: Ws, things: &[Id]) -> Result<HashMap<Id, Id>> {
    let mut found = HashMap::new();
    for some in things.chunks(lists::AT_ONCE) {
        let mut args = vec![Arg::from(ws)];
        let list = lists::numbers(some, &mut args);
        let sql = format!(
            "SELECT target, source FROM core_relation \
             WHERE ws = ?1 AND target IN ({list}) AND kind = 'supercedes'"
        );
        for row in tx.rows(&sql, &args)? {
            found.insert(row.int(0)?, row.int(1)?);
        }
    }
    Ok(found)
}

/// Those that are fossils, or are not, oldest first, made before a moment and after one of them.
pub fn aged(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    fossil: bool,
    before: Time,
    (after, most): ((Time, Seq, i64), i64),
) -> Result<Vec<Relation>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM core_relation WHERE ws = ?1 AND fossil = ?2 AND at <= ?3 \
         AND (at > ?4 OR (at = ?4 AND (made > ?5 OR (made = ?5 AND n > ?6)))) \
         ORDER BY at, made, n LIMIT ?7"
    );
    let (at, made, n) = after;
    let args = args![ws, fossil, before.0, at.0, made, n, most];
    table::all(tx, &sql, args)
}

/// How much a thing was cited, in millionths, as of when.
pub fn touch(tx: &mut ReadTx<'_>, ws: Ws, thing: Id) -> Result<Option<(i64, Time)>> {
    let row = tx.row(
        "SELECT strength, at FROM core_touch WHERE ws = ?1 AND thing = ?2",
        args![ws, thing],
    )?;
    row.map(|row| Ok((row.int(0)?, Time(row.int(1)?))))
        .transpose()
}

pub fn put_touch(tx: &mut Tx<'_>, ws: Ws, thing: Id, strength: i64, at: Time) -> Result<()> {
    tx.run(
        "INSERT INTO core_touch (ws, thing, strength, at) VALUES (?1, ?2, ?3, ?4) \
         ON CONFLICT (ws, thing) DO UPDATE SET strength = excluded.strength, at = excluded.at",
        args![ws, thing, strength, at.0],
    )?;
    Ok(())
}
