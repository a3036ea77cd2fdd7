//! Threads: what is counted of each, who takes part, how far each has read, and who is to be woken.

use understory_model::error::Result;
use understory_model::thread::{Status, WakeResult};
use understory_model::{Id, Seq, Time, Ws};

use crate::entities::Entity;
use crate::presence::Presence;
use crate::sql::{Arg, ReadTx, Row, Tx, args};
use crate::statement::Statement;
use crate::table::{self, Stored, table};

table! {
    /// What core keeps of a thread beside its value.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Thread in core_thread as t key (id) {
        pub id: Id,
        pub status: Status,
        /// The number of its last message; 0 before the first.
        pub last: i64,
        pub updated: Time,
        pub findings: i64,
        pub open_findings: i64,
        /// What was asked in it and is not answered.
        pub open_asks: i64,
        /// How often its status or its participants were changed.
        pub changes: i64,
    }
}

const COLUMNS: &str = Thread::COLUMNS;

pub fn get(tx: &mut ReadTx<'_>, ws: Ws, id: Id) -> Result<Option<Thread>> {
    table::get(tx, args![ws, id])
}

pub fn put(tx: &mut Tx<'_>, ws: Ws, thread: &Thread) -> Result<()> {
    table::put(tx, ws, thread)
}

/// Which threads are wanted.
pub struct Wanted<'a> {
    /// Only those that it takes part in.
    pub agent: Option<&'a str>,
    /// Whose reading is told.
    pub reader: &'a str,
    pub status: Option<Status>,
    pub unread_only: bool,
    /// Those changed before, and of one moment those made before.
    pub before: (Time, Id),
    pub most: i64,
}

/// A thread as a list shows it to somebody.
#[derive(Debug, Clone)]
pub struct Listed {
    pub thread: Thread,
    pub entity: Entity,
    /// Messages of others that the reader has not read; `None` where it takes no part.
    pub unread: Option<i64>,
}

/// Threads, the last changed first.
pub fn list(tx: &mut ReadTx<'_>, ws: Ws, wanted: &Wanted<'_>) -> Result<Vec<Listed>> {
    let (before, id) = wanted.before;
    let values = vec![
        Arg::from(ws),
        Arg::Text(wanted.reader),
        Arg::Int(before.0),
        Arg::from(id),
        Arg::Int(wanted.most),
    ];
    let mut query = Statement::new(
        "core_thread t JOIN core_entity e ON e.ws = t.ws AND e.id = t.id \
         LEFT JOIN core_participant p ON p.ws = t.ws AND p.agent = ?2 AND p.thread = t.id",
        "t.ws = ?1 AND (t.updated < ?3 OR (t.updated = ?3 AND t.id < ?4))",
        values,
    );
    if let Some(agent) = wanted.agent {
        query.and_arg(
            "EXISTS (SELECT 1 FROM core_participant m WHERE m.ws = t.ws AND m.agent = ? \
             AND m.thread = t.id AND m.member = 1)",
            agent,
        );
    }
    if let Some(status) = wanted.status {
        query.and_arg("t.status = ?", status.as_str());
    }
    if wanted.unread_only {
        query.and("p.member = 1 AND t.last - p.last_read - p.own > 0");
    }
    let selected = query.select(&format!(
        "{}, {COLUMNS}, CASE WHEN p.member = 1 THEN t.last - p.last_read - p.own END",
        Entity::COLUMNS
    ));
    let sql = format!("{selected} ORDER BY t.updated DESC, t.id DESC LIMIT ?5");
    listed(tx.rows(&sql, &query.args)?)
}

/// The active threads that two agents take part in and this many in total, the last changed first.
pub fn active_of(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    (one, other): (&str, &str),
    members: i64,
    most: i64,
) -> Result<Vec<Entity>> {
    let sql = format!(
        "SELECT {} FROM core_participant p CROSS JOIN core_thread t \
         JOIN core_participant o ON o.ws = p.ws AND o.agent = ?3 AND o.thread = p.thread \
         JOIN core_entity e ON e.ws = t.ws AND e.id = t.id \
         WHERE p.ws = ?1 AND p.agent = ?2 AND p.member = 1 AND o.member = 1 AND t.ws = ?1 \
         AND t.id = p.thread AND t.status = 'active' AND (SELECT COUNT(*) FROM core_participant m \
         WHERE m.ws = ?1 AND m.thread = t.id AND m.member = 1) = ?4 \
         ORDER BY t.updated DESC, t.id DESC LIMIT ?5",
        Entity::COLUMNS
    );
    table::all(tx, &sql, args![ws, one, other, members, most])
}

/// What an agent has not read, the last changed first.
pub fn unread(tx: &mut ReadTx<'_>, ws: Ws, agent: &str, most: i64) -> Result<Vec<Listed>> {
    let sql = format!(
        "SELECT {}, {COLUMNS}, t.last - p.last_read - p.own FROM core_participant p \
         CROSS JOIN core_thread t JOIN core_entity e ON e.ws = t.ws AND e.id = t.id \
         WHERE p.ws = ?1 AND p.agent = ?2 AND p.member = 1 AND t.ws = ?1 AND t.id = p.thread \
         AND t.last - p.last_read - p.own > 0 ORDER BY t.updated DESC, t.id DESC LIMIT ?3",
        Entity::COLUMNS
    );
    listed(tx.rows(&sql, args![ws, agent, most])?)
}

/// The threads of an agent in which something came that it was not told of: a message of another,
/// or a change.
pub fn with_news(tx: &mut ReadTx<'_>, ws: Ws, agent: &str, most: i64) -> Result<Vec<Listed>> {
    let sql = format!(
        "SELECT {}, {COLUMNS}, t.last - p.last_read - p.own FROM core_participant p \
         CROSS JOIN core_thread t JOIN core_entity e ON e.ws = t.ws AND e.id = t.id \
         WHERE p.ws = ?1 AND p.agent = ?2 AND p.member = 1 AND t.ws = ?1 AND t.id = p.thread \
         AND (t.last - p.last_read - p.own > 0 OR t.changes > p.seen) \
         ORDER BY t.updated DESC, t.id DESC LIMIT ?3",
        Entity::COLUMNS
    );
    listed(tx.rows(&sql, args![ws, agent, most])?)
}

fn listed(rows: Vec<Row>) -> Result<Vec<Listed>> {
    rows.into_iter()
        .map(|mut row| {
            Ok(Listed {
                entity: Entity::read_at(&mut row, 0)?,
                thread: Thread::read_at(&mut row, Entity::WIDTH)?,
                unread: row.opt_int(Entity::WIDTH + Thread::WIDTH)?,
            })
        })
        .collect()
}

/// How many threads hold something that an agent has not read, and how many messages that is.
pub fn count_unread(tx: &mut ReadTx<'_>, ws: Ws, agent: &str) -> Result<(i64, i64)> {
    let row = tx.row(
        "SELECT COUNT(*), CAST(COALESCE(SUM(t.last - p.last_read - p.own), 0) AS BIGINT) \
         FROM core_participant p CROSS JOIN core_thread t WHERE p.ws = ?1 AND p.agent = ?2 \
         AND p.member = 1 AND t.ws = ?1 AND t.id = p.thread AND t.last - p.last_read - p.own > 0",
        args![ws, agent],
    )?;
    row.map_or(Ok((0, 0)), |row| Ok((row.int(0)?, row.int(1)?)))
}

table! {
    /// How far somebody has read in a thread.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Participant in core_participant key (agent, thread) {
        pub agent: String,
        pub thread: Id,
        /// Whether it takes part, or only reads along.
        pub member: bool,
        pub read: i64 = "last_read",
        /// Its own messages after that.
        pub own: i64,
        /// Up to which change of the thread it was told of.
        pub seen: i64,
        pub updated: Time,
    }
}

pub fn participant(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    agent: &str,
    thread: Id,
) -> Result<Option<Participant>> {
    table::get(tx, args![ws, agent, thread])
}

pub fn put_participant(tx: &mut Tx<'_>, ws: Ws, one: &Participant) -> Result<()> {
    table::put(tx, ws, one)
}

/// Somebody in a thread: how far it has read, and its last sign of life.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reader {
    pub agent: String,
    pub read: i64,
    /// The item of the message up to which it has read.
    pub acked: Option<Seq>,
    pub updated: Time,
    pub alive: Option<Presence>,
}

/// Everybody who takes part in a thread or reads along, by name.
pub fn readers(tx: &mut ReadTx<'_>, ws: Ws, thread: Id) -> Result<Vec<Reader>> {
    let sql = format!(
        "SELECT {}, p.agent, p.last_read, p.updated, m.seq \
         FROM core_participant p LEFT JOIN core_message m ON m.ws = p.ws \
         AND m.thread = p.thread AND m.n = p.last_read LEFT JOIN live_session s ON s.ws = p.ws \
         AND s.agent = p.agent AND s.session = (SELECT l.session FROM live_session l \
         WHERE l.ws = p.ws AND l.agent = p.agent ORDER BY l.at DESC, l.session DESC LIMIT 1) \
         WHERE p.ws = ?1 AND p.thread = ?2 ORDER BY p.agent",
        Presence::COLUMNS
    );
    let rows = tx.rows(&sql, args![ws, thread])?;
    rows.into_iter()
        .map(|mut row| {
            let at = Presence::WIDTH;
            let (agent, read) = (row.text(at)?, row.int(at + 1)?);
            let (updated, acked) = (Time(row.int(at + 2)?), row.opt_int(at + 3)?);
            // Its last column is never empty in a row that there is.
            let alive = match row.opt_int::<i64>(at - 1)? {
                Some(_) => Some(Presence::read(row)?),
                None => None,
            };
            Ok(Reader {
                agent,
                read,
                acked,
                updated,
                alive,
            })
        })
        .collect()
}

/// One more message of its own for somebody who takes part.
pub fn said(tx: &mut Tx<'_>, ws: Ws, agent: &str, thread: Id) -> Result<()> {
    tx.run(
        "UPDATE core_participant SET own = own + 1 WHERE ws = ?1 AND agent = ?2 AND thread = ?3",
        args![ws, agent, thread],
    )?;
    Ok(())
}

table! {
    /// A job of waking somebody for a thread.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Wake in core_wake key (id) fixed (thread, target) {
        pub id: Id,
        pub thread: Id,
        pub target: String,
        pub result: WakeResult,
        pub open: bool,
    }
}

pub fn put_wake(tx: &mut Tx<'_>, ws: Ws, wake: &Wake) -> Result<()> {
    table::put(tx, ws, wake)
}

/// The thread that somebody is to be woken for.
pub fn woken_for(tx: &mut ReadTx<'_>, ws: Ws, wake: Id) -> Result<Option<Id>> {
    let row = tx.row(
        "SELECT thread FROM core_wake WHERE ws = ?1 AND id = ?2",
        args![ws, wake],
    )?;
    row.map(|row| row.int(0)).transpose()
}

/// The jobs of waking somebody for a thread that something may still become of.
pub fn open_wakes(tx: &mut ReadTx<'_>, ws: Ws, thread: Id, target: &str) -> Result<Vec<Id>> {
    let rows = tx.rows(
        "SELECT id FROM core_wake WHERE ws = ?1 AND thread = ?2 AND target = ?3 AND open = 1 \
         ORDER BY id",
        args![ws, thread, target],
    )?;
    rows.iter().map(|row| row.int(0)).collect()
}

/// As [`open_wakes`], of whomever.
pub fn all_open_wakes(tx: &mut ReadTx<'_>, ws: Ws, thread: Id) -> Result<Vec<Id>> {
    let rows = tx.rows(
        "SELECT id FROM core_wake WHERE ws = ?1 AND thread = ?2 AND open = 1 ORDER BY id",
        args![ws, thread],
    )?;
    rows.iter().map(|row| row.int(0)).collect()
}

/// The last jobs of waking somebody for a thread, newest first.
pub fn wakes(tx: &mut ReadTx<'_>, ws: Ws, thread: Id, most: i64) -> Result<Vec<Entity>> {
    let sql = format!(
        "SELECT {} FROM core_wake w CROSS JOIN core_entity e WHERE w.ws = ?1 AND w.thread = ?2 \
         AND e.ws = ?1 AND e.id = w.id ORDER BY w.id DESC LIMIT ?3",
        Entity::COLUMNS
    );
    table::all(tx, &sql, args![ws, thread, most])
}
