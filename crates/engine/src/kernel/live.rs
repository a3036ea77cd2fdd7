//! What a rule writes beside the log: leases, positions and working texts, of which no item tells
//! and whose loss loses nothing of record. Each kind of it has a name here, and nothing else can
//! be written this way.

use understory_model::error::Result;
use understory_model::{Id, Time, Ws};
use understory_storage::scratch::{self, Scratch};
use understory_storage::told::{self, Told};
use understory_storage::wakes::{self, Lease, Woken};
use understory_storage::{Tx, presence, reader_positions};

/// The live tables of the workspace that a write is about.
pub struct Live<'l, 'c> {
    tx: &'l mut Tx<'c>,
    ws: Ws,
    /// Whether there is something to commit, though no item may tell of it.
    wrote: &'l mut bool,
}

impl<'l, 'c> Live<'l, 'c> {
    pub(crate) fn new(tx: &'l mut Tx<'c>, ws: Ws, wrote: &'l mut bool) -> Live<'l, 'c> {
        Live { tx, ws, wrote }
    }

    /// Says who works on a job of waking, and until when.
    pub fn put_lease(self, lease: &Lease) -> Result<()> {
        *self.wrote = true;
        wakes::put(self.tx, self.ws, lease)
    }

    /// Lets go of a job of waking.
    pub fn remove_lease(self, wake: Id) -> Result<()> {
        *self.wrote = true;
        wakes::remove(self.tx, self.ws, wake)
    }

    /// Notes that the process which was started for a job under a lease has ended.
    pub fn end_begun(self, agent: &str, job: Id, lease: &str) -> Result<()> {
        *self.wrote = true;
        wakes::ended(self.tx, self.ws, agent, job, lease)
    }

    /// Counts a step that was taken to wake somebody; steps before `since` are forgotten.
    pub fn count_wake(self, woken: &Woken, since: Time) -> Result<()> {
        *self.wrote = true;
        wakes::woke(self.tx, self.ws, woken, since)
    }

    /// Remembers what a session was told of a thread.
    pub fn put_told(self, told: &Told) -> Result<()> {
        *self.wrote = true;
        told::put(self.tx, self.ws, told)
    }

    /// Keeps the working text of a task or conversation.
    pub fn put_scratch(self, of: Id, scratch: &Scratch) -> Result<()> {
        *self.wrote = true;
        scratch::put(self.tx, self.ws, of, scratch)
    }

    /// Remembers which lines of an artifact an agent looked at last.
    pub fn put_reader_position(self, agent: &str, artifact: Id, lines: (i64, i64)) -> Result<()> {
        *self.wrote = true;
        reader_positions::put(self.tx, self.ws, agent, artifact, lines)
    }

    /// Takes a session whose process is gone out of those that are there; false where it was not
    /// among them.
    pub fn remove_presence(self, session: &str) -> Result<bool> {
        let gone = presence::gone(self.tx, self.ws, session)?;
        *self.wrote |= gone;
        Ok(gone)
    }

    /// Remembers that a session ended.
    pub fn end_presence(self, agent: &str, session: &str, at: Time) -> Result<()> {
        *self.wrote = true;
        presence::ended(self.tx, self.ws, agent, session, at)
    }
}
