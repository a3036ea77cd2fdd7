//! The log as a timeline: newest first, by type, by who did it, by conversation or by entity, along
//! either clock.

use understory_model::error::Result;
use understory_model::item::Item;
use understory_model::{Id, Seq, Time, Ws};

use crate::items::columns;
use crate::lists;
use crate::sql::{Arg, ReadTx, Row, args};
use crate::statement::Statement;
use crate::table;

/// The type that the index of types leaves out, because most items have it.
const COMMON: &str = "EntityDelta";

/// Which part of the log.
#[derive(Debug, Clone, Copy)]
pub struct Wanted<'w> {
    /// Of this type.
    pub kind: Option<&'w str>,
    pub actor: Option<&'w str>,
    pub log: Option<Id>,
    pub entity: Option<Id>,
    /// Of this project or of none.
    pub project: Option<Id>,
    /// From this place on.
    pub from: Seq,
    /// Before this place.
    pub before: Seq,
    pub most: i64,
}

/// What a query walks along: the log itself, or an index that says enough by itself, which then
/// leads to the items one by one. Given both at once SQLite would walk the log, whatever is rare.
const LOG: &str = "soil_item i";
const INDEX: &str = "soil_item p CROSS JOIN soil_item i";
const CONVERSATION: &str = "core_log_item p CROSS JOIN soil_item i";

/// Along whatever is rarest of what is wanted; where in the log a row of what leads stands.
fn led<'q>(ws: Ws, wanted: &Wanted<'q>) -> (Statement<'q>, &'static str) {
    let kind = wanted.kind.filter(|kind| *kind != COMMON);
    let (tables, lead) = match (wanted.log, wanted.entity, kind, wanted.actor) {
        (Some(log), ..) => (CONVERSATION, Some(("p.log = ?", Arg::from(log)))),
        (_, Some(entity), ..) => (INDEX, Some(("p.entity = ?", Arg::from(entity)))),
        (_, _, Some(kind), _) => {
            let condition = "p.type <> 'EntityDelta' AND p.type = ?";
            (INDEX, Some((condition, Arg::Text(kind))))
        }
        (.., Some(actor)) => (INDEX, Some(("p.actor = ?", Arg::Text(actor)))),
        _ => (LOG, None),
    };
    let mut query = Statement::new(tables, "i.ws = ?1", vec![Arg::from(ws)]);
    let place = match lead {
        Some((condition, value)) => {
            query.and("p.ws = ?1 AND i.seq = p.seq");
            query.and_arg(condition, value);
            "p.seq"
        }
        None => "i.seq",
    };
    filter(&mut query, wanted);
    (query, place)
}

fn filter<'q>(query: &mut Statement<'q>, wanted: &Wanted<'q>) {
    if let Some(kind) = wanted.kind {
        query.and_arg("i.type = ?", kind);
    }
    if let Some(actor) = wanted.actor {
        query.and_arg("i.actor = ?", actor);
    }
    if let Some(entity) = wanted.entity {
        query.and_arg("i.entity = ?", entity);
    }
    if let Some(project) = wanted.project {
        query.and_arg("(i.project IS NULL OR i.project = ?)", project);
    }
}

/// Within the places that are wanted, the newest first.
fn run_newest(
    tx: &mut ReadTx<'_>,
    (mut query, place): (Statement<'_>, &str),
    wanted: &Wanted<'_>,
) -> Result<Vec<Item>> {
    query.and_arg(&format!("{place} >= ?"), wanted.from);
    query.and_arg(&format!("{place} < ?"), wanted.before);
    run(tx, query, wanted, &format!("{place} DESC"))
}

fn run(
    tx: &mut ReadTx<'_>,
    mut query: Statement<'_>,
    wanted: &Wanted<'_>,
    order: &str,
) -> Result<Vec<Item>> {
    let most = query.arg(wanted.most);
    let selected = query.select(columns());
    let sql = format!("{selected} ORDER BY {order} LIMIT {most}");
    table::all(tx, &sql, &query.args)
}

/// Up to a moment of a clock, and at that moment before a place.
fn before<'q>(query: &mut Statement<'q>, clock: &str, (at, seq): (Time, Seq)) {
    let (at, seq) = (query.arg(at.0), query.arg(seq));
    query.and(&format!("{clock} <= {at}"));
    query.and(&format!("({clock} < {at} OR i.seq < {seq})"));
}

/// An item without what it says: as much as a mark on a timeline needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Brief {
    pub seq: Seq,
    pub kind: String,
    pub project: Option<Id>,
    pub entity: Option<Id>,
    /// The kind of that entity.
    pub entity_kind: Option<String>,
    pub realized_at: Time,
    pub canonical_at: Time,
    pub actor: String,
    pub cause: Option<Seq>,
}

const BRIEF: &str = "i.seq, i.type, i.project, i.entity, (SELECT e.kind FROM core_entity e WHERE e.ws = i.ws \
    AND e.id = i.entity), i.realized_at, i.canonical_at, i.actor, i.cause";

fn brief(mut row: Row) -> Result<Brief> {
    Ok(Brief {
        seq: row.int(0)?,
        kind: row.text(1)?,
        project: row.opt_int(2)?,
        entity: row.opt_int(3)?,
        entity_kind: row.opt_text(4)?,
        realized_at: Time(row.int(5)?),
        canonical_at: Time(row.int(6)?),
        actor: row.text(7)?,
        cause: row.opt_int(8)?,
    })
}

/// As [`newest`], without what the items say.
pub fn briefs(tx: &mut ReadTx<'_>, ws: Ws, wanted: &Wanted<'_>) -> Result<Vec<Brief>> {
    let (mut query, place) = led(ws, wanted);
    query.and_arg(&format!("{place} >= ?"), wanted.from);
    query.and_arg(&format!("{place} < ?"), wanted.before);
    let most = query.arg(wanted.most);
    let sql = format!("{} ORDER BY {place} DESC LIMIT {most}", query.select(BRIEF));
    let rows = tx.rows(&sql, &query.args)?;
    rows.into_iter().map(brief).collect()
}

/// What happened between two moments and was written down at another time, without what it says.
pub fn briefs_displaced(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    wanted: &Wanted<'_>,
    (since, until): (Time, Time),
) -> Result<Vec<Brief>> {
    let other = "i.ws = ?1 AND i.canonical_at <> i.realized_at";
    let mut query = Statement::new(LOG, other, vec![Arg::from(ws)]);
    filter(&mut query, wanted);
    query.and_arg("i.canonical_at >= ?", since.0);
    query.and_arg("i.canonical_at < ?", until.0);
    let most = query.arg(wanted.most);
    let selected = query.select(BRIEF);
    let sql = format!("{selected} ORDER BY i.canonical_at DESC, i.seq DESC LIMIT {most}");
    let rows = tx.rows(&sql, &query.args)?;
    rows.into_iter().map(brief).collect()
}

/// Items by their places, without what they say.
pub fn briefs_at(tx: &mut ReadTx<'_>, ws: Ws, seqs: &[Seq]) -> Result<Vec<Brief>> {
    let mut found = Vec::with_capacity(seqs.len());
    for some in seqs.chunks(lists::AT_ONCE) {
        let mut args = vec![Arg::from(ws)];
        let places = lists::numbers(some, &mut args);
        let sql =
            format!("SELECT {BRIEF} FROM soil_item i WHERE i.ws = ?1 AND i.seq IN ({places})");
        for row in tx.rows(&sql, &args)? {
            found.push(brief(row)?);
        }
    }
    Ok(found)
}

/// In the order in which it was written down.
pub fn newest(tx: &mut ReadTx<'_>, ws: Ws, wanted: &Wanted<'_>) -> Result<Vec<Item>> {
    run_newest(tx, led(ws, wanted), wanted)
}

/// Of what happened just when it was written down: along the canonical clock, before a moment and a
/// place in it. `wanted` bounds the places.
pub fn plain(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    wanted: &Wanted<'_>,
    until: (Time, Seq),
) -> Result<Vec<Item>> {
    let (mut query, place) = led(ws, wanted);
    query.and("i.canonical_at = i.realized_at");
    before(&mut query, "i.realized_at", until);
    run_newest(tx, (query, place), wanted)
}

/// Of what happened at another time than it was written down: along the canonical clock, between two
/// moments, before a place.
pub fn displaced(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    wanted: &Wanted<'_>,
    since: Time,
    until: (Time, Seq),
) -> Result<Vec<Item>> {
    let tables = match wanted.log {
        Some(_) => "core_log_item p, soil_item i",
        None => LOG,
    };
    let other = "i.ws = ?1 AND i.canonical_at <> i.realized_at";
    let mut query = Statement::new(tables, other, vec![Arg::from(ws)]);
    if let Some(log) = wanted.log {
        query.and_arg("p.ws = i.ws AND p.seq = i.seq AND p.log = ?", log);
    }
    filter(&mut query, wanted);
    query.and_arg("i.canonical_at >= ?", since.0);
    before(&mut query, "i.canonical_at", until);
    run(tx, query, wanted, "i.canonical_at DESC, i.seq DESC")
}

/// What an item led to, in order, after a place.
pub fn effects(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    cause: Seq,
    after: Seq,
    most: i64,
) -> Result<Vec<Item>> {
    let sql = format!(
        "SELECT {} FROM soil_item i WHERE i.ws = ?1 AND i.cause = ?2 AND i.cause IS NOT NULL \
         AND i.seq > ?3 ORDER BY i.seq LIMIT ?4",
        columns()
    );
    table::all(tx, &sql, args![ws, cause, after, most])
}

/// When the last items of an actor were written, the newest first.
pub fn times_of(tx: &mut ReadTx<'_>, ws: Ws, actor: &str, most: i64) -> Result<Vec<Time>> {
    let sql =
        "SELECT realized_at FROM soil_item WHERE ws = ?1 AND actor = ?2 ORDER BY seq DESC LIMIT ?3";
    let rows = tx.rows(sql, args![ws, Arg::Text(actor), most])?;
    rows.iter().map(|row| Ok(Time(row.int(0)?))).collect()
}
