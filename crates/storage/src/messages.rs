//! Messages of threads, and the findings that they report and settle.

use understory_model::error::Result;
use understory_model::item::Item;
use understory_model::thread::{Event, FindingState};
use understory_model::{Id, Seq, Time, Ws};

use crate::items;
use crate::sql::{ReadTx, Row, Tx, args};
use crate::table::{self, Stored, table};

table! {
    /// An item as a message of a thread.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Message in core_message as m key (thread, n) {
        pub thread: Id,
        /// Its number in the thread; the first is 1.
        pub n: i64,
        pub seq: Seq,
        pub sender: String,
        /// The message that reported the finding that this one is about.
        pub finding: Option<i64>,
        /// JSON: the commits that it names.
        pub commits: Option<String>,
        /// What kind of event it is, if one that the server acts on.
        pub event: Option<Event>,
    }
}

pub fn add(tx: &mut Tx<'_>, ws: Ws, message: &Message) -> Result<()> {
    table::add(tx, ws, message)
}

const COLUMNS: &str = Message::COLUMNS;

/// The message that an item is.
pub fn by_seq(tx: &mut ReadTx<'_>, ws: Ws, seq: Seq) -> Result<Option<Message>> {
    let sql = format!("SELECT {COLUMNS} FROM core_message m WHERE m.ws = ?1 AND m.seq = ?2");
    table::one(tx, &sql, args![ws, seq])
}

/// The item of a thread's message.
pub fn seq_of(tx: &mut ReadTx<'_>, ws: Ws, thread: Id, n: i64) -> Result<Option<Seq>> {
    let row = tx.row(
        "SELECT seq FROM core_message WHERE ws = ?1 AND thread = ?2 AND n = ?3",
        args![ws, thread, n],
    )?;
    row.map(|row| row.int(0)).transpose()
}

/// A thread's messages after a number, in order.
pub fn after(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    thread: Id,
    n: i64,
    most: i64,
) -> Result<Vec<(Message, Item)>> {
    let sql = format!(
        "SELECT {}, {COLUMNS} FROM core_message m JOIN soil_item i ON i.ws = m.ws AND i.seq = m.seq \
         WHERE m.ws = ?1 AND m.thread = ?2 AND m.n > ?3 ORDER BY m.n LIMIT ?4",
        items::columns()
    );
    told(tx.rows(&sql, args![ws, thread, n, most])?)
}

/// A thread's last messages, newest first.
pub fn last(tx: &mut ReadTx<'_>, ws: Ws, thread: Id, most: i64) -> Result<Vec<(Message, Item)>> {
    let sql = format!(
        "SELECT {}, {COLUMNS} FROM core_message m JOIN soil_item i ON i.ws = m.ws AND i.seq = m.seq \
         WHERE m.ws = ?1 AND m.thread = ?2 ORDER BY m.n DESC LIMIT ?3",
        items::columns()
    );
    told(tx.rows(&sql, args![ws, thread, most])?)
}

fn told(rows: Vec<Row>) -> Result<Vec<(Message, Item)>> {
    rows.into_iter()
        .map(|mut row| {
            let message = Message::read_at(&mut row, items::WIDTH)?;
            Ok((message, items::item(row)?))
        })
        .collect()
}

/// As [`after`], without those of one sender.
pub fn of_others(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    thread: Id,
    n: i64,
    sender: &str,
    most: i64,
) -> Result<Vec<(Message, Item)>> {
    let sql = format!(
        "SELECT {}, {COLUMNS} FROM core_message m JOIN soil_item i ON i.ws = m.ws AND i.seq = m.seq \
         WHERE m.ws = ?1 AND m.thread = ?2 AND m.n > ?3 AND m.sender <> ?4 ORDER BY m.n LIMIT ?5",
        items::columns()
    );
    told(tx.rows(&sql, args![ws, thread, n, sender, most])?)
}

/// An agent's own messages in a thread after a number, counted.
pub fn own_after(tx: &mut ReadTx<'_>, ws: Ws, thread: Id, agent: &str, n: i64) -> Result<i64> {
    let row = tx.row(
        "SELECT COUNT(*) FROM core_message WHERE ws = ?1 AND thread = ?2 AND sender = ?3 AND n > ?4",
        args![ws, thread, agent, n],
    )?;
    row.map_or(Ok(0), |row| row.int(0))
}

/// The number of a thread's last message that is not an agent's own; 0 if there is none.
pub fn last_of_others(tx: &mut ReadTx<'_>, ws: Ws, thread: Id, agent: &str) -> Result<i64> {
    let row = tx.row(
        "SELECT n FROM core_message WHERE ws = ?1 AND thread = ?2 AND sender <> ?3 \
         ORDER BY n DESC LIMIT 1",
        args![ws, thread, agent],
    )?;
    row.map_or(Ok(0), |row| row.int(0))
}

/// Who wrote a thread's message.
pub fn sender_of(tx: &mut ReadTx<'_>, ws: Ws, thread: Id, n: i64) -> Result<Option<String>> {
    let row = tx.row(
        "SELECT sender FROM core_message WHERE ws = ?1 AND thread = ?2 AND n = ?3",
        args![ws, thread, n],
    )?;
    row.map(|mut row| row.text(0)).transpose()
}

/// When an agent posted the message before its last this many, in any thread.
pub fn posted_at(tx: &mut ReadTx<'_>, ws: Ws, agent: &str, back: i64) -> Result<Option<Time>> {
    let row = tx.row(
        "SELECT i.realized_at FROM (SELECT ws, seq FROM core_message WHERE ws = ?1 \
         AND sender = ?2 ORDER BY seq DESC LIMIT 1 OFFSET ?3) m \
         JOIN soil_item i ON i.ws = m.ws AND i.seq = m.seq",
        args![ws, agent, back],
    )?;
    row.map(|row| Ok(Time(row.int(0)?))).transpose()
}

/// Who wrote how many of a thread's messages, the most first.
pub fn senders(tx: &mut ReadTx<'_>, ws: Ws, thread: Id) -> Result<Vec<(String, i64, i64)>> {
    let rows = tx.rows(
        "SELECT sender, COUNT(*) AS said, MAX(n) FROM core_message WHERE ws = ?1 AND thread = ?2 \
         GROUP BY sender ORDER BY said DESC, sender",
        args![ws, thread],
    )?;
    rows.into_iter()
        .map(|mut row| Ok((row.text(0)?, row.int(1)?, row.int(2)?)))
        .collect()
}

/// Who posted events of a kind in a thread, and how many.
pub fn events(tx: &mut ReadTx<'_>, ws: Ws, thread: Id) -> Result<Vec<(Event, String, i64)>> {
    let rows = tx.rows(
        "SELECT event, sender, COUNT(*) FROM core_message WHERE ws = ?1 AND thread = ?2 \
         AND event IS NOT NULL GROUP BY event, sender ORDER BY event, sender",
        args![ws, thread],
    )?;
    rows.into_iter()
        .map(|mut row| Ok((row.word(0, Event::parse)?, row.text(1)?, row.int(2)?)))
        .collect()
}

/// Commits that a thread's messages name, newest first, each list with the finding it is about.
pub fn commits(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    thread: Id,
    most: i64,
) -> Result<Vec<(Option<i64>, String)>> {
    let rows = tx.rows(
        "SELECT finding, commits FROM core_message WHERE ws = ?1 AND thread = ?2 \
         AND commits IS NOT NULL ORDER BY n DESC LIMIT ?3",
        args![ws, thread, most],
    )?;
    rows.into_iter()
        .map(|mut row| Ok((row.opt_int(0)?, row.text(1)?)))
        .collect()
}

table! {
    /// Something that was found to be wrong, and what became of it.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Finding in core_finding as f key (thread, n) fixed (name) {
        pub thread: Id,
        /// The message that reported it.
        pub n: i64,
        /// What its reporter calls it.
        pub name: Option<String>,
        pub state: FindingState,
        pub open: bool,
        pub changed: Seq,
    }
}

const FINDING: &str = Finding::COLUMNS;

pub fn get_finding(tx: &mut ReadTx<'_>, ws: Ws, thread: Id, n: i64) -> Result<Option<Finding>> {
    table::get(tx, args![ws, thread, n])
}

/// The finding of a name, the last one reported.
pub fn named(tx: &mut ReadTx<'_>, ws: Ws, thread: Id, name: &str) -> Result<Option<i64>> {
    let row = tx.row(
        "SELECT n FROM core_finding WHERE ws = ?1 AND thread = ?2 AND name = ?3 \
         ORDER BY n DESC LIMIT 1",
        args![ws, thread, name],
    )?;
    row.map(|row| row.int(0)).transpose()
}

pub fn put_finding(tx: &mut Tx<'_>, ws: Ws, one: &Finding) -> Result<()> {
    table::put(tx, ws, one)
}

/// How many of a thread's findings are in each state.
pub fn states(tx: &mut ReadTx<'_>, ws: Ws, thread: Id) -> Result<Vec<(FindingState, i64)>> {
    let rows = tx.rows(
        "SELECT state, COUNT(*) FROM core_finding WHERE ws = ?1 AND thread = ?2 GROUP BY state",
        args![ws, thread],
    )?;
    rows.into_iter()
        .map(|row| Ok((row.word(0, FindingState::parse)?, row.int(1)?)))
        .collect()
}

/// The findings that are still open, oldest first, each with the item that reported it.
pub fn open_findings(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    thread: Id,
    most: i64,
) -> Result<Vec<(Finding, Item)>> {
    let sql = findings("f.open = 1 ORDER BY f.n LIMIT ?3");
    reported(tx.rows(&sql, args![ws, thread, most])?)
}

/// The findings that were reported last, in any state, newest first.
pub fn last_findings(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    thread: Id,
    most: i64,
) -> Result<Vec<(Finding, Item)>> {
    let sql = findings("f.n > 0 ORDER BY f.n DESC LIMIT ?3");
    reported(tx.rows(&sql, args![ws, thread, most])?)
}

/// The findings that the messages of a stretch report: those after the first number, up to the other.
pub fn findings_between(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    thread: Id,
    (after, upto): (i64, i64),
    most: i64,
) -> Result<Vec<(Finding, Item)>> {
    let sql = findings("f.n > ?4 AND f.n <= ?5 ORDER BY f.n LIMIT ?3");
    reported(tx.rows(&sql, args![ws, thread, most, after, upto])?)
}

/// The messages of a stretch that are about a finding, in order.
pub fn about_findings(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    thread: Id,
    (after, upto): (i64, i64),
    most: i64,
) -> Result<Vec<(Message, Item)>> {
    let sql = format!(
        "SELECT {}, {COLUMNS} FROM core_message m JOIN soil_item i ON i.ws = m.ws AND i.seq = m.seq \
         WHERE m.ws = ?1 AND m.thread = ?2 AND m.n > ?3 AND m.n <= ?4 AND m.finding IS NOT NULL \
         ORDER BY m.n LIMIT ?5",
        items::columns()
    );
    told(tx.rows(&sql, args![ws, thread, after, upto, most])?)
}

/// Findings of a thread, each with the item that reported it.
fn findings(condition: &str) -> String {
    format!(
        "SELECT {}, {FINDING} FROM core_finding f \
         CROSS JOIN core_message m JOIN soil_item i ON i.ws = m.ws AND i.seq = m.seq \
         WHERE f.ws = ?1 AND f.thread = ?2 AND m.ws = ?1 AND m.thread = f.thread \
         AND m.n = f.n AND {condition}",
        items::columns()
    )
}

fn reported(rows: Vec<Row>) -> Result<Vec<(Finding, Item)>> {
    rows.into_iter()
        .map(|mut row| {
            let finding = Finding::read_at(&mut row, items::WIDTH)?;
            Ok((finding, items::item(row)?))
        })
        .collect()
}
