//! The log as a timeline: newest first, by type, by who did it, by conversation or by entity, along
//! either clock.

use understory_model::error::Result;
use understory_model::item::Item;
use understory_model::{Id, Seq, Time, Ws};

use crate::items::{columns, item};
use crate::sql::{Arg, Tx};

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

struct Query<'q> {
    conditions: String,
    args: Vec<Arg<'q>>,
}

impl<'q> Query<'q> {
    /// Adds a condition; `?` in it stands for the value.
    fn and(&mut self, condition: &str, value: Arg<'q>) {
        self.args.push(value);
        let place = format!("?{}", self.args.len());
        self.conditions.push_str(" AND ");
        self.conditions.push_str(&condition.replace('?', &place));
    }

    fn of(ws: Ws, wanted: &Wanted<'q>) -> Query<'q> {
        let mut query = Query {
            conditions: String::from("i.ws = ?1"),
            args: vec![Arg::Int(ws)],
        };
        match wanted.kind {
            None => {}
            Some(COMMON) => query.conditions.push_str(" AND i.type = 'EntityDelta'"),
            Some(kind) => query.and("i.type <> 'EntityDelta' AND i.type = ?", Arg::Text(kind)),
        }
        if let Some(actor) = wanted.actor {
            query.and("i.actor = ?", Arg::Text(actor));
        }
        if let Some(log) = wanted.log {
            query.and("l.ws = i.ws AND l.seq = i.seq AND l.log = ?", Arg::Int(log));
        }
        if let Some(entity) = wanted.entity {
            query.and("i.entity = ?", Arg::Int(entity));
        }
        if let Some(project) = wanted.project {
            query.and("(i.project IS NULL OR i.project = ?)", Arg::Int(project));
        }
        query
    }

    fn run(self, tx: &mut Tx<'_>, wanted: &Wanted<'q>, order: &str) -> Result<Vec<Item>> {
        let Query {
            conditions,
            mut args,
        } = self;
        args.push(Arg::Int(wanted.most));
        let tables = match wanted.log {
            Some(_) => "core_log_item l, soil_item i",
            None => "soil_item i",
        };
        let sql = format!(
            "SELECT {} FROM {tables} WHERE {conditions} ORDER BY {order} LIMIT ?{}",
            columns(),
            args.len()
        );
        tx.rows(&sql, &args)?.into_iter().map(item).collect()
    }

    /// As `run`, down to where the wanted part begins. Where an index leads, that is no condition of
    /// the query: with one at both ends SQLite would walk the log between them instead.
    fn newest(mut self, tx: &mut Tx<'_>, wanted: &Wanted<'q>, place: &str) -> Result<Vec<Item>> {
        let led = wanted.log.or(wanted.entity).is_some() || wanted.actor.is_some();
        if !led && wanted.kind.is_none_or(|kind| kind == COMMON) {
            self.and("i.seq >= ?", Arg::Int(wanted.from));
        }
        let mut found = self.run(tx, wanted, &format!("{place} DESC"))?;
        found.retain(|item| item.seq >= wanted.from);
        Ok(found)
    }
}

/// In the order in which it was written down.
pub fn newest(tx: &mut Tx<'_>, ws: Ws, wanted: &Wanted<'_>) -> Result<Vec<Item>> {
    let mut query = Query::of(ws, wanted);
    let place = if wanted.log.is_some() {
        "l.seq"
    } else {
        "i.seq"
    };
    query.and(&format!("{place} < ?"), Arg::Int(wanted.before));
    query.newest(tx, wanted, place)
}

/// Of what happened just when it was written down: along the canonical clock, before a moment and a
/// place in it. `wanted` bounds the places.
pub fn plain(
    tx: &mut Tx<'_>,
    ws: Ws,
    wanted: &Wanted<'_>,
    (at, seq): (Time, Seq),
) -> Result<Vec<Item>> {
    let mut query = Query::of(ws, wanted);
    let conditions = " AND i.canonical_at = i.realized_at";
    query.conditions.push_str(conditions);
    query.and("i.seq < ?", Arg::Int(wanted.before));
    query.and("i.realized_at <= ?", Arg::Int(at.0));
    query.args.push(Arg::Int(seq));
    let (moment, place) = (query.args.len() - 1, query.args.len());
    let earlier = format!(" AND (i.realized_at < ?{moment} OR i.seq < ?{place})");
    query.conditions.push_str(&earlier);
    query.newest(tx, wanted, "i.seq")
}

/// Of what happened at another time than it was written down: along the canonical clock, between two
/// moments, before a place.
pub fn displaced(
    tx: &mut Tx<'_>,
    ws: Ws,
    wanted: &Wanted<'_>,
    since: Time,
    (at, seq): (Time, Seq),
) -> Result<Vec<Item>> {
    let mut query = Query::of(ws, wanted);
    query
        .conditions
        .push_str(" AND i.canonical_at <> i.realized_at");
    query.and("i.canonical_at >= ?", Arg::Int(since.0));
    query.and("i.canonical_at <= ?", Arg::Int(at.0));
    query.args.push(Arg::Int(seq));
    let (moment, place) = (query.args.len() - 1, query.args.len());
    let earlier = format!(" AND (i.canonical_at < ?{moment} OR i.seq < ?{place})");
    query.conditions.push_str(&earlier);
    query.run(tx, wanted, "i.canonical_at DESC, i.seq DESC")
}

/// What an item led to, in order, after a place.
pub fn effects(tx: &mut Tx<'_>, ws: Ws, cause: Seq, after: Seq, most: i64) -> Result<Vec<Item>> {
    let sql = format!(
        "SELECT {} FROM soil_item i WHERE i.ws = ?1 AND i.cause = ?2 AND i.cause IS NOT NULL \
         AND i.seq > ?3 ORDER BY i.seq LIMIT ?4",
        columns()
    );
    let args = [ws, cause, after, most].map(Arg::Int);
    tx.rows(&sql, &args)?.into_iter().map(item).collect()
}
