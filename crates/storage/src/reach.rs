//! How each session can be reached: what the hooks of its client, or its supervisor, reported. Live
//! data: without it a session is told of messages when it asks.

use understory_model::error::Result;
use understory_model::thread::{Activity, Channel};
use understory_model::{Time, Ws};

use crate::sql::{ReadTx, Tx, args};
use crate::table::{self, Stored, table};

table! {
    /// How a session can be reached.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Reach in live_reach key (session) {
        pub session: String,
        pub agent: String,
        /// The client, as it names itself over MCP.
        pub client: String,
        /// What the client calls the chat now, which is what resumes it.
        pub client_session: String,
        pub channel: Channel,
        /// Where the channel is, such as the address of a server; empty where the chat says it all.
        pub address: String,
        /// The machine that the client runs on.
        pub machine: String,
        /// The client's process there, and when it began: process numbers are used again.
        pub process: i64,
        pub started: i64,
        /// The folder that the client works in.
        pub folder: String,
        pub activity: Activity,
        /// When it was last reported.
        pub at: Time,
    }
}

const REACH: &str = Reach::COLUMNS;

/// In place of the process of a session that has ended.
const ENDED: i64 = -1;

impl Reach {
    /// Whether the session has ended. Its chat is still known, because its client can go on with it.
    pub fn has_ended(&self) -> bool {
        self.process == ENDED
    }
}

/// How a session can be reached.
pub fn of(tx: &mut ReadTx<'_>, ws: Ws, session: &str) -> Result<Option<Reach>> {
    table::get(tx, args![ws, session])
}

/// The sessions of an agent, the last reported first.
pub fn of_agent(tx: &mut ReadTx<'_>, ws: Ws, agent: &str, most: i64) -> Result<Vec<Reach>> {
    let sql = format!(
        "SELECT {REACH} FROM live_reach WHERE ws = ?1 AND agent = ?2 \
         ORDER BY at DESC, session DESC LIMIT ?3"
    );
    table::all(tx, &sql, args![ws, agent, most])
}

/// Every session that was reported since a moment, the last first.
pub fn since(tx: &mut ReadTx<'_>, ws: Ws, since: Time, most: i64) -> Result<Vec<Reach>> {
    let sql = format!(
        "SELECT {REACH} FROM live_reach WHERE ws = ?1 AND at >= ?2 \
         ORDER BY at DESC, session DESC LIMIT ?3"
    );
    table::all(tx, &sql, args![ws, since.0, most])
}

/// The sessions of a client's process, the last reported first.
pub fn of_process(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    machine: &str,
    (process, started): (i64, i64),
    most: i64,
) -> Result<Vec<Reach>> {
    let sql = format!(
        "SELECT {REACH} FROM live_reach WHERE ws = ?1 AND machine = ?2 AND process = ?3 \
         AND started = ?4 ORDER BY at DESC, session DESC LIMIT ?5"
    );
    table::all(tx, &sql, args![ws, machine, process, started, most])
}

pub fn put(tx: &mut Tx<'_>, ws: Ws, one: &Reach) -> Result<()> {
    table::put(tx, ws, one)
}

/// Notes what a client does; whether anything is known of its session.
pub fn active(tx: &mut Tx<'_>, ws: Ws, session: &str, now: Activity, at: Time) -> Result<bool> {
    let rows = tx.run(
        "UPDATE live_reach SET activity = ?3, at = ?4 WHERE ws = ?1 AND session = ?2",
        args![ws, session, now.as_str(), at.0],
    )?;
    Ok(rows > 0)
}

/// A session has ended: only which chat it was is kept.
pub fn end(tx: &mut Tx<'_>, ws: Ws, session: &str) -> Result<()> {
    let (channel, idle) = (Channel::Hooks.as_str(), Activity::Idle.as_str());
    tx.run(
        "UPDATE live_reach SET process = ?3, started = 0, address = '', channel = ?4, \
         activity = ?5 WHERE ws = ?1 AND session = ?2",
        args![ws, session, ENDED, channel, idle],
    )?;
    Ok(())
}

/// A chat goes on as this session: as any other it must not be resumed.
pub fn take_over(tx: &mut Tx<'_>, ws: Ws, one: &Reach) -> Result<()> {
    tx.run(
        "DELETE FROM live_reach WHERE ws = ?1 AND client = ?2 AND client_session = ?3 \
         AND session <> ?4",
        args![ws, &one.client, &one.client_session, &one.session],
    )?;
    Ok(())
}

/// Forgets those that were last reported before a moment.
pub fn forget(tx: &mut Tx<'_>, ws: Ws, before: Time) -> Result<()> {
    tx.run(
        "DELETE FROM live_reach WHERE ws = ?1 AND at < ?2",
        args![ws, before.0],
    )?;
    Ok(())
}
