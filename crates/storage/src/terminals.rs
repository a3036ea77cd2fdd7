//! Which sessions run in a managed terminal, and what is seen in it. Live data: without it nothing is
//! typed into a terminal.

use understory_model::error::Result;
use understory_model::thread::Activity;
use understory_model::{Time, Ws};

use crate::sql::{ReadTx, Tx, args};
use crate::table::{self, Stored, table};

table! {
    /// The terminal of a session.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Terminal in live_terminal key (session) {
        pub session: String,
        pub agent: String,
        /// The client that runs in it, or the name of another program.
        pub program: String,
        /// The machine that it is on.
        pub machine: String,
        /// The folder that the program was started in.
        pub folder: String,
        pub activity: Activity,
        /// When it was last reported.
        pub at: Time,
    }
}

const TERMINAL: &str = Terminal::COLUMNS;

/// The terminal of a session.
pub fn of(tx: &mut ReadTx<'_>, ws: Ws, session: &str) -> Result<Option<Terminal>> {
    table::get(tx, args![ws, session])
}

/// The terminals of an agent, the last reported first.
pub fn of_agent(tx: &mut ReadTx<'_>, ws: Ws, agent: &str, most: i64) -> Result<Vec<Terminal>> {
    let sql = format!(
        "SELECT {TERMINAL} FROM live_terminal WHERE ws = ?1 AND agent = ?2 \
         ORDER BY at DESC, session DESC LIMIT ?3"
    );
    table::all(tx, &sql, args![ws, agent, most])
}

/// Notes a terminal, and forgets those that were last reported before a moment.
pub fn put(tx: &mut Tx<'_>, ws: Ws, one: &Terminal, before: Time) -> Result<()> {
    table::put(tx, ws, one)?;
    tx.run(
        "DELETE FROM live_terminal WHERE ws = ?1 AND at < ?2",
        args![ws, before.0],
    )?;
    Ok(())
}

/// Forgets the terminal of a session.
pub fn remove(tx: &mut Tx<'_>, ws: Ws, session: &str) -> Result<()> {
    tx.run(
        "DELETE FROM live_terminal WHERE ws = ?1 AND session = ?2",
        args![ws, session],
    )?;
    Ok(())
}
