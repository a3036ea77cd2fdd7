//! How long the store works on one call before it is ended, so that no call can stop the store for
//! everybody. Work that must see all of the log (verify, rebuild, a migration) lifts the limits.
//!
//! The limits end a call with an error and leave no trace; they never decide what an answer holds.

use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use understory_model::error::{Code, Fault, Result};

use crate::tx::ReadTx;

/// How long one statement, one read of many statements, and waiting for other processes may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// The slowest statement of a large store takes about a second; one that takes this long would
    /// hardly ever end by itself.
    pub statement: Duration,
    /// A read is a few statements on one snapshot, which keeps old versions of rows alive meanwhile.
    pub read: Duration,
    /// How long a writer waits for another process to finish writing to a SQLite file: longer than
    /// any write, shorter than a client waits.
    pub turn: Duration,
}

impl Default for Patience {
    fn default() -> Patience {
        Patience {
            statement: Duration::from_secs(30),
            read: Duration::from_secs(60),
            turn: Duration::from_secs(30),
        }
    }
}

impl Patience {
    /// How long to wait for a lock that another process holds on a server: less than for the whole
    /// statement, so that the error says which of the two it was.
    pub(crate) fn lock(self) -> Duration {
        self.statement * 2 / 3
    }

    /// How long a transaction on a server may wait for its next statement: a process that hangs in
    /// between must not hold its locks for ever.
    pub(crate) fn idle(self) -> Duration {
        self.statement * 2
    }
}

/// The fault of a call that took too long.
pub(crate) fn too_long() -> Fault {
    Fault::new(
        Code::TimedOut,
        "the call exceeded the store's time limit; nothing was written",
    )
    .hint("Ask for less at once: a smaller page, fewer filters, a smaller batch.")
}

/// A moment that SQLite's progress handler looks at while a statement runs.
#[derive(Clone, Default)]
pub(crate) struct Alarm(Arc<AtomicU64>);

impl Alarm {
    /// `None` lets statements run as long as they take.
    pub fn set(&self, at: Option<Instant>) {
        let micros = at.map_or(0, |at| at.saturating_duration_since(start()).as_micros());
        let micros = u64::try_from(micros).unwrap_or(u64::MAX);
        self.0.store(micros, Ordering::Relaxed);
    }

    pub fn rings(&self) -> bool {
        match self.0.load(Ordering::Relaxed) {
            0 => false,
            at => start().elapsed().as_micros() >= u128::from(at),
        }
    }
}

/// What moments are counted from: an atomic number can hold a duration, not an instant.
fn start() -> Instant {
    static START: OnceLock<Instant> = OnceLock::new();
    *START.get_or_init(Instant::now)
}

impl ReadTx<'_> {
    /// Lets this transaction's statements take as long as they need: it must see or make all of it.
    pub fn without_limits(&mut self) -> Result<()> {
        self.patience = None;
        self.ends = None;
        match self.dialect().lift_limits() {
            None => Ok(()),
            Some(sql) => {
                self.send()?;
                self.probed(sql)?;
                let result = self.conn.batch(sql);
                self.passed(result)
            }
        }
    }

    /// Ends the transaction's statements after the patience for a whole read.
    pub(crate) fn end_after(&mut self, patience: Patience) {
        self.ends = Some(Instant::now() + patience.read);
        self.patience = Some(patience);
    }

    /// Refuses a statement that comes too late, and sets the time for one that SQLite runs: a server
    /// keeps its own.
    pub(crate) fn start_statement(&mut self) -> Result<()> {
        let Some(patience) = self.patience else {
            self.conn.end_statement_at(None);
            return Ok(());
        };
        let now = Instant::now();
        if self.ends.is_some_and(|ends| now >= ends) {
            return Err(too_long());
        }
        let statement = now + patience.statement;
        let end = self.ends.map_or(statement, |ends| ends.min(statement));
        self.conn.end_statement_at(Some(end));
        Ok(())
    }
}
