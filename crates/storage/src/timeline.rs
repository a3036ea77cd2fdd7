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
    tables: &'static str,
    conditions: String,
    args: Vec<Arg<'q>>,
}

/// What a query walks along: the log itself, or an index that says enough by itself, which then
/// leads to the items one by one. Given both at once SQLite would walk the log, whatever is rare.
const LOG: &str = "soil_item i";
const INDEX: &str = "soil_item p CROSS JOIN soil_item i";
const CONVERSATION: &str = "core_log_item p CROSS JOIN soil_item i";

impl<'q> Query<'q> {
    /// Adds a condition; `?` in it stands for the value.
    fn and(&mut self, condition: &str, value: Arg<'q>) {
        self.args.push(value);
        let place = format!("?{}", self.args.len());
        self.conditions.push_str(" AND ");
        self.conditions.push_str(&condition.replace('?', &place));
    }

    /// Along whatever is rarest of what is wanted.
    fn led(ws: Ws, wanted: &Wanted<'q>) -> Query<'q> {
        let kind = wanted.kind.filter(|kind| *kind != COMMON);
        let (tables, lead) = match (wanted.log, wanted.entity, kind, wanted.actor) {
            (Some(log), ..) => (CONVERSATION, Some(("p.log = ?", Arg::Int(log)))),
            (_, Some(entity), ..) => (INDEX, Some(("p.entity = ?", Arg::Int(entity)))),
            (_, _, Some(kind), _) => {
                let condition = "p.type <> 'EntityDelta' AND p.type = ?";
                (INDEX, Some((condition, Arg::Text(kind))))
            }
            (.., Some(actor)) => (INDEX, Some(("p.actor = ?", Arg::Text(actor)))),
            _ => (LOG, None),
        };
        let mut query = Query {
            tables,
            conditions: String::from("i.ws = ?1"),
            args: vec![Arg::Int(ws)],
        };
        if let Some((condition, value)) = lead {
            let same = " AND p.ws = ?1 AND i.seq = p.seq";
            query.conditions.push_str(same);
            query.and(condition, value);
        }
        query.filter(wanted);
        query
    }

    fn filter(&mut self, wanted: &Wanted<'q>) {
        if let Some(kind) = wanted.kind {
            self.and("i.type = ?", Arg::Text(kind));
        }
        if let Some(actor) = wanted.actor {
            self.and("i.actor = ?", Arg::Text(actor));
        }
        if let Some(entity) = wanted.entity {
            self.and("i.entity = ?", Arg::Int(entity));
        }
        if let Some(project) = wanted.project {
            self.and("(i.project IS NULL OR i.project = ?)", Arg::Int(project));
        }
    }

    /// Where in the log a row of what leads stands.
    fn place(&self) -> &'static str {
        if self.tables == LOG { "i.seq" } else { "p.seq" }
    }

    /// Within the places that are wanted, the newest first.
    fn newest(mut self, tx: &mut Tx<'_>, wanted: &Wanted<'q>) -> Result<Vec<Item>> {
        let place = self.place();
        self.and(&format!("{place} >= ?"), Arg::Int(wanted.from));
        self.and(&format!("{place} < ?"), Arg::Int(wanted.before));
        self.run(tx, wanted, &format!("{place} DESC"))
    }

    fn run(mut self, tx: &mut Tx<'_>, wanted: &Wanted<'q>, order: &str) -> Result<Vec<Item>> {
        self.args.push(Arg::Int(wanted.most));
        let sql = format!(
            "SELECT {} FROM {} WHERE {} ORDER BY {order} LIMIT ?{}",
            columns(),
            self.tables,
            self.conditions,
            self.args.len()
        );
        tx.rows(&sql, &self.args)?.into_iter().map(item).collect()
    }
}

/// In the order in which it was written down.
pub fn newest(tx: &mut Tx<'_>, ws: Ws, wanted: &Wanted<'_>) -> Result<Vec<Item>> {
    Query::led(ws, wanted).newest(tx, wanted)
}

/// Of what happened just when it was written down: along the canonical clock, before a moment and a
/// place in it. `wanted` bounds the places.
pub fn plain(
    tx: &mut Tx<'_>,
    ws: Ws,
    wanted: &Wanted<'_>,
    (at, seq): (Time, Seq),
) -> Result<Vec<Item>> {
    let mut query = Query::led(ws, wanted);
    let conditions = " AND i.canonical_at = i.realized_at";
    query.conditions.push_str(conditions);
    query.and("i.realized_at <= ?", Arg::Int(at.0));
    query.args.push(Arg::Int(seq));
    let (moment, place) = (query.args.len() - 1, query.args.len());
    let earlier = format!(" AND (i.realized_at < ?{moment} OR i.seq < ?{place})");
    query.conditions.push_str(&earlier);
    query.newest(tx, wanted)
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
    let mut query = Query {
        tables: match wanted.log {
            Some(_) => "core_log_item p, soil_item i",
            None => LOG,
        },
        conditions: String::from("i.ws = ?1 AND i.canonical_at <> i.realized_at"),
        args: vec![Arg::Int(ws)],
    };
    if let Some(log) = wanted.log {
        query.and("p.ws = i.ws AND p.seq = i.seq AND p.log = ?", Arg::Int(log));
    }
    query.filter(wanted);
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
