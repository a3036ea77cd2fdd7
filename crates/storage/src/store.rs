//! A store: where it is, its connections, and the two ways in — reading and writing.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use understory_model::error::{Code, Fault, Result};

use crate::batch;
use crate::deadline::Patience;
use crate::lane::{Job, Lane};
use crate::open::{self, is_there};
use crate::purge;
use crate::schema::{self, Found};
use crate::sql::{Conn, Transient, Tx};
use crate::turn::{Turn, identity};

/// Sees every statement before it runs; true makes it fail. Tests inject faults with it.
pub type Probe = dyn Fn(&str) -> bool + Send + Sync;

/// Idle readers that are kept open.
const IDLE_READERS: usize = 8;
/// Lanes, and so connections that write, where the database orders writers by workspace.
const POSTGRES_LANES: usize = 4;
/// A job that takes longer keeps the writers of other workspaces waiting. On a server a job is
/// mostly waiting for answers, and most workspaces have a lane of their own.
const HEAVY: Duration = Duration::from_millis(25);
const POSTGRES_HEAVY: Duration = Duration::from_millis(500);
/// How often a transaction is run again when the database asks for it.
pub(crate) const RETRIES: u32 = 12;

/// How to open a store.
#[derive(Clone, Default)]
pub struct Options {
    pub probe: Option<Arc<Probe>>,
    /// Derives core anew when it is of another version; without it such a store is refused.
    pub replay: Option<Replay>,
    pub patience: Patience,
    /// A scratch store: what is written to it need not survive the machine.
    pub scratch: bool,
}

/// How core is derived anew.
#[derive(Clone, Copy)]
pub struct Replay {
    /// Refuses a log that is not what core knew of it, while that can still be told.
    pub check: fn(&mut Tx<'_>) -> Result<()>,
    /// Fills an empty core.
    pub fill: fn(&mut Tx<'_>) -> Result<()>,
}

/// Where the data is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Backend {
    Sqlite(PathBuf),
    Postgres(String),
}

/// An open store, shared by every thread of the process.
pub struct Store {
    pub(crate) backend: Backend,
    pub(crate) options: Options,
    /// Before the writers, so that these are dropped last: SQLite's last connection puts what waits
    /// beside the file into it, which one that only reads cannot.
    readers: Mutex<Vec<Idle>>,
    lanes: Vec<WriteLane>,
    commits: Mutex<u64>,
    committed: Condvar,
    closed: AtomicBool,
}

struct WriteLane {
    lane: Lane,
    state: Mutex<WriteState>,
}

#[derive(Default)]
struct WriteState {
    conn: Option<Conn>,
    /// Which file the connection has open, where it is one.
    file: Option<(u64, u64)>,
    /// Taken while a transaction of this process writes to a SQLite file.
    turn: Option<Turn>,
}

/// A reader that waits for its next read, and which file it has open.
pub(crate) struct Idle {
    pub(crate) conn: Conn,
    file: Option<(u64, u64)>,
}

fn ran_twice() -> Fault {
    Fault::new(Code::Internal, "a read was run twice")
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Backend {
    /// A `postgres://` address or the path of a SQLite file.
    pub fn parse(store: &str) -> Backend {
        if store.starts_with("postgres://") || store.starts_with("postgresql://") {
            Backend::Postgres(store.to_string())
        } else {
            Backend::Sqlite(PathBuf::from(store))
        }
    }
}

impl Store {
    /// Nothing is opened, created or checked until the first read or write.
    pub fn new(store: &str, options: Options) -> Store {
        let backend = Backend::parse(store);
        let (lanes, heavy) = match backend {
            Backend::Sqlite(_) => (1, HEAVY),
            Backend::Postgres(_) => (POSTGRES_LANES, POSTGRES_HEAVY),
        };
        let lane = || WriteLane {
            lane: Lane::new(heavy),
            state: Mutex::default(),
        };
        Store {
            backend,
            options,
            lanes: (0..lanes).map(|_| lane()).collect(),
            readers: Mutex::default(),
            commits: Mutex::new(0),
            committed: Condvar::new(),
            closed: AtomicBool::new(false),
        }
    }

    /// The store's file; `None` where it is on a server.
    pub fn path(&self) -> Option<&Path> {
        match &self.backend {
            Backend::Sqlite(path) => Some(path),
            Backend::Postgres(_) => None,
        }
    }

    /// Runs a read on one snapshot; `None` when there is no store yet, for no read makes one.
    pub fn read<T>(&self, work: impl FnOnce(&mut Tx<'_>) -> Result<T>) -> Result<Option<T>> {
        loop {
            let Some((mut idle, fresh)) = self.reader()? else {
                return Ok(None);
            };
            let mut tx = Tx::new(&mut idle.conn, self.options.probe.clone());
            let begin = tx.dialect().begin_read();
            match tx.begin(begin) {
                Ok(true) => {}
                Ok(false) if fresh => return Err(batch::stale()),
                Err(fault) if fresh || tx.transient() != Some(Transient::ConnectionLost) => {
                    return Err(fault);
                }
                // The connection died or core was replayed while it was idle: all idle
                // connections are equally stale.
                _ => {
                    locked(&self.readers).clear();
                    continue;
                }
            }
            tx.end_after(self.options.patience);
            let result = work(&mut tx);
            let transient = tx.transient();
            if idle.conn.batch("COMMIT").is_ok() && transient.is_none() {
                self.keep(idle);
            }
            return result.map(Some);
        }
    }

    /// As [`Store::read`]; without a store, the read sees one in which nothing was ever written.
    pub fn read_or_empty<T>(&self, work: impl FnOnce(&mut Tx<'_>) -> Result<T>) -> Result<T> {
        let mut work = Some(work);
        let found = self.read(|tx| match work.take() {
            Some(work) => work(tx),
            None => Err(ran_twice()),
        })?;
        match (found, work) {
            (Some(answer), _) => Ok(answer),
            (None, Some(work)) => {
                let mut conn = open::in_memory()?;
                let mut tx = Tx::new(&mut conn, None);
                schema::create(&mut tx)?;
                work(&mut tx)
            }
            (None, None) => Err(ran_twice()),
        }
    }

    fn keep(&self, idle: Idle) {
        let mut readers = locked(&self.readers);
        if !idle.conn.is_reusable() {
            return;
        }
        if readers.len() < IDLE_READERS && !self.closed.load(Ordering::Relaxed) {
            readers.push(idle);
        }
    }

    /// Says what is wrong with the store. Core of another version is not an error: any write
    /// replays it. The connection is kept for the first read.
    pub fn check(&self) -> Result<()> {
        if let Some((conn, Found::Ready)) = self.open_reader()? {
            let file = self.file();
            self.keep(Idle { conn, file });
        }
        Ok(())
    }

    /// A connection to read with, and whether it was opened just now; `None` without a store.
    pub(crate) fn reader(&self) -> Result<Option<(Idle, bool)>> {
        let file = self.file();
        loop {
            match locked(&self.readers).pop() {
                Some(idle) if idle.file != file => {}
                Some(idle) => return Ok(Some((idle, false))),
                None => break,
            }
        }
        let Some((conn, found)) = self.open_reader()? else {
            return Ok(None);
        };
        let file = self.file();
        match found {
            Found::Ready => Ok(Some((Idle { conn, file }, true))),
            Found::Empty => Ok(None),
            Found::StaleCore => Err(batch::stale()),
        }
    }

    fn file(&self) -> Option<(u64, u64)> {
        self.path().and_then(identity)
    }

    /// Runs a write in a transaction of its own or one shared with other writers, and answers
    /// after the commit. It may be run more than once; only the last run counts.
    pub fn write<T, F>(&self, workspace: &str, work: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnMut(&mut Tx<'_>) -> Result<T> + Send + 'static,
    {
        let lane = self.lane(workspace);
        lane.lane
            .submit(workspace, work, |batch| self.transact(lane, batch))
    }

    fn transact(&self, lane: &WriteLane, batch: &mut Vec<Box<dyn Job>>) {
        let mut state = locked(&lane.state);
        let mut result = Ok(());
        for attempt in 0..RETRIES {
            let (outcome, transient) = self.attempt(&mut state, batch);
            result = outcome;
            // What took too long once would hold up the lane as long each time.
            let ended = matches!(&result, Err(fault) if fault.code == Code::TimedOut);
            match transient {
                None => break,
                Some(Transient::ConnectionLost) if ended => break,
                Some(Transient::ConnectionLost) => state.conn = None,
                Some(Transient::Retryable) => {}
            }
            std::thread::sleep(Duration::from_millis(1 << attempt.min(7)));
        }
        match result {
            Ok(()) => {
                *locked(&self.commits) += 1;
                self.committed.notify_all();
            }
            Err(fault) => batch.iter_mut().for_each(|job| job.fail(fault.clone())),
        }
    }

    /// One attempt, and whether it is safe and worthwhile to try again.
    fn attempt(
        &self,
        state: &mut WriteState,
        batch: &mut [Box<dyn Job>],
    ) -> (Result<()>, Option<Transient>) {
        if self.closed.load(Ordering::Relaxed) {
            let closed = Fault::new(Code::StoreUnavailable, "the store is being closed");
            return (Err(closed), None);
        }
        if let Err(fault) = self.take_turn(state) {
            return (Err(fault), None);
        }
        let (outcome, transient) = match self.writer(state) {
            Ok(conn) => batch::run(conn, self.options.probe.clone(), batch),
            Err(fault) => (Err(fault), None),
        };
        if outcome.is_err() && transient != Some(Transient::Retryable) {
            // A transaction that could not even be rolled back ends with its connection.
            state.conn = None;
        }
        if let Some(turn) = &state.turn {
            turn.give_back();
        }
        (outcome, transient)
    }

    /// Processes that share a file write one at a time, in the order in which they came; SQLite
    /// never sees two of our writers at once.
    fn take_turn(&self, state: &mut WriteState) -> Result<()> {
        let Some(path) = self.path() else {
            return Ok(());
        };
        let turn = match state.turn.take() {
            Some(turn) => turn,
            None => {
                is_there(path)?;
                Turn::open(path).map_err(|e| self.cannot_write(&e))?
            }
        };
        let turn = state.turn.insert(turn);
        turn.take(self.options.patience.turn)
            .map_err(|e| self.cannot_write(&e))
    }

    /// Lends out the connection that writes to a workspace, outside of any transaction. Nothing is
    /// run when it cannot be had.
    pub(crate) fn with_writer(&self, workspace: &str, work: impl FnOnce(&mut Conn)) {
        let mut state = locked(&self.lane(workspace).state);
        if self.closed.load(Ordering::Relaxed) || self.take_turn(&mut state).is_err() {
            return;
        }
        if let Ok(conn) = self.writer(&mut state) {
            work(conn);
        }
        if let Some(turn) = &state.turn {
            turn.give_back();
        }
    }

    fn lane(&self, workspace: &str) -> &WriteLane {
        let at = workspace
            .bytes()
            .fold(7usize, |h, b| h.wrapping_mul(31).wrapping_add(b.into()));
        &self.lanes[at % self.lanes.len()]
    }

    fn cannot_write(&self, error: &std::io::Error) -> Fault {
        use std::io::ErrorKind as Kind;
        const FOLDER: &str = "Check the folder's permissions and space, or name another store.";
        let (why, hint) = match error.kind() {
            Kind::PermissionDenied | Kind::ReadOnlyFilesystem => {
                ("the store's folder cannot be written".to_owned(), FOLDER)
            }
            Kind::StorageFull => ("the disk is full".to_owned(), FOLDER),
            Kind::TimedOut => (
                format!("the store is locked: {error}"),
                "Call again when that process has finished, or end it if it hangs.",
            ),
            Kind::InvalidInput => (
                error.to_string(),
                "Remove the link: it may lead outside of the store's folder.",
            ),
            _ => ("the store's folder cannot be used".to_owned(), FOLDER),
        };
        let why = format!("{why}; nothing was written");
        self.named(Fault::new(Code::StoreUnavailable, why).hint(hint))
    }

    fn writer<'s>(&self, state: &'s mut WriteState) -> Result<&'s mut Conn> {
        let conn = match state.conn.take() {
            Some(conn) if state.file == self.file() => conn,
            _ => self.open_writer()?,
        };
        state.file = self.file();
        Ok(state.conn.insert(conn))
    }

    /// Replays core in one transaction, whatever its version: `check` sees core as it was, `fill`
    /// an empty one. Both may be run more than once; only the last run counts.
    pub fn rebuild(
        &self,
        mut check: impl FnMut(&mut Tx<'_>) -> Result<()> + Send + 'static,
        mut fill: impl FnMut(&mut Tx<'_>) -> Result<()> + Send + 'static,
    ) -> Result<()> {
        let work = move |tx: &mut Tx<'_>| {
            tx.without_limits()?;
            check(tx)?;
            purge::redo_core(tx, &mut fill)
        };
        match self.open_reader()? {
            Some((_, Found::StaleCore)) => self.rebuild_stale(work),
            _ => self.write("", work),
        }
    }

    /// Core of another version is not replayed on the way: that would overwrite what it knew.
    fn rebuild_stale(&self, work: impl FnOnce(&mut Tx<'_>) -> Result<()>) -> Result<()> {
        let mut state = locked(&self.lane("").state);
        self.take_turn(&mut state)?;
        let done = self.open_to_write().and_then(|(mut conn, _)| {
            batch::in_transaction(&mut conn, self.options.probe.clone(), |tx| {
                schema::migrate(tx)?;
                work(tx)
            })
        });
        if let Some(turn) = &state.turn {
            turn.give_back();
        }
        done
    }

    /// How often this process committed something.
    pub fn commits(&self) -> u64 {
        *locked(&self.commits)
    }

    /// Waits until this process has committed more often than `known` or the time is over; whether
    /// it has.
    pub fn wait_for_commit(&self, known: u64, timeout: Duration) -> bool {
        let deadline = Instant::now() + timeout;
        let mut commits = locked(&self.commits);
        while *commits == known {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            commits = self
                .committed
                .wait_timeout(commits, left)
                .map_or_else(|e| e.into_inner().0, |(guard, _)| guard);
        }
        true
    }

    /// Lets go of every connection once the writes in progress are done.
    pub fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
        // Readers first; see the field.
        locked(&self.readers).clear();
        for lane in &self.lanes {
            *locked(&lane.state) = WriteState::default();
        }
        self.committed.notify_all();
    }
}
