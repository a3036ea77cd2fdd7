//! The engine: one write path, views over one log, and the rules of each surface.
//!
//! Tools call it; it calls storage. It never prints, never reads the environment, and knows
//! neither SQL nor a wire protocol.

pub mod garden;
pub mod graph;
pub mod kernel;
mod projection;
pub mod reasoning;
pub mod records;
pub mod system;
pub mod threads;

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use serde::Serialize;
use serde_json::Value;
use understory_model::answer::Answer;
use understory_model::canon::{python_json, sha256};
use understory_model::error::{Code, Fault, Result};
use understory_model::item::genesis;
use understory_model::secret::Policy;
use understory_model::{Caller, Seq, Time, Via, Ws, limits};
use understory_storage::{Options as StoreOptions, Probe, Store, Tx, answers, workspaces};

use crate::kernel::clock::{Clock, System};
use crate::kernel::core::Core;
use crate::kernel::meaning::{Embedder, Kept};
use crate::kernel::quota::Quotas;
use crate::kernel::work::Start;
use crate::kernel::{names, workspace};
use crate::system::{presence, rebuild};

pub use understory_model::kind as kinds;
pub use understory_storage::Patience;
pub use understory_storage::files;
pub use understory_storage::reach::Reach;
pub use understory_storage::seats::Seat;
pub use understory_storage::terminals::Terminal;

pub use crate::kernel::view::Sought;
pub use crate::kernel::view::View;
pub use crate::kernel::view::handles;
pub use crate::kernel::view::missing;
pub use crate::kernel::work::Work;
pub use crate::kernel::workspace::Clash;
pub use crate::kernel::workspace::Holder;
pub use crate::kernel::workspace::Resolved;

/// After this many writes, expired answers are deleted.
const FORGET_EVERY: u32 = 512;

/// How the engine behaves; the defaults are the product's.
#[derive(Clone)]
pub struct Options {
    /// How long a claim holds.
    pub claim_ttl: Duration,
    /// A session that missed more of its project's ticks than this is stale.
    pub stale_after: i64,
    /// Messages that one agent may post in a minute; unlimited if `None`.
    pub messages_per_minute: Option<i64>,
    /// How often one agent may be woken in an hour.
    pub wakes_per_hour: i64,
    /// When a wake that was put off is tried again.
    pub wake_recheck: Duration,
    /// How long a wake is put off because somebody types, before the next step is taken.
    pub wake_patience: Duration,
    /// Whether a worker here may begin sessions of agents.
    pub starts_agents: bool,
    /// How long after its last act a session that is not alive still counts as working on a record.
    pub conflict_window: Duration,
    /// How long the answer to an idempotency key is kept.
    pub keep_answers: Duration,
    /// What each workspace may have.
    pub quotas: Quotas,
    /// How long the store works on one call.
    pub patience: Patience,
    pub clock: Arc<dyn Clock>,
    /// What is done about credentials in the arguments of a call.
    pub secrets: Policy,
    /// The external embedding model, if one is configured.
    pub embedder: Option<Arc<dyn Embedder>>,
    /// Fails statements on purpose, for tests.
    pub probe: Option<Arc<Probe>>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            claim_ttl: Duration::from_secs(3_600),
            stale_after: STALE_AFTER,
            messages_per_minute: None,
            wakes_per_hour: WAKES_PER_HOUR,
            wake_recheck: Duration::from_secs(WAKE_RECHECK_SECONDS),
            wake_patience: Duration::from_secs(WAKE_PATIENCE_SECONDS),
            starts_agents: false,
            conflict_window: Duration::from_secs(CONFLICT_MINUTES * 60),
            keep_answers: Duration::from_secs(24 * 3_600),
            quotas: Quotas::default(),
            patience: Patience::default(),
            clock: Arc::new(System),
            secrets: Policy::default(),
            embedder: None,
            probe: None,
        }
    }
}

/// Wakes of one agent in an hour, unless the configuration says otherwise.
pub const WAKES_PER_HOUR: i64 = 60;

/// Seconds between two tries of a wake that was put off, unless the configuration says otherwise.
pub const WAKE_RECHECK_SECONDS: u64 = 5;

/// Seconds for which a wake is put off, unless the configuration says otherwise.
pub const WAKE_PATIENCE_SECONDS: u64 = 60;

/// Ticks that a session may miss before it is stale, unless the configuration says otherwise.
pub const STALE_AFTER: i64 = 20;

/// Minutes for which a session that acted counts as working, unless the configuration says
/// otherwise.
pub const CONFLICT_MINUTES: u64 = 30;

/// What the options say to a rule.
#[derive(Debug, Clone, Copy)]
pub struct Rules {
    /// In microseconds.
    pub claim_ttl: i64,
    pub stale_after: i64,
    pub messages_per_minute: Option<i64>,
    pub wakes_per_hour: i64,
    /// In microseconds.
    pub wake_recheck: i64,
    /// In microseconds.
    pub wake_patience: i64,
    pub starts_agents: bool,
    /// In microseconds.
    pub conflict_window: i64,
    pub quotas: Quotas,
}

impl Options {
    fn rules(&self) -> Rules {
        Rules {
            claim_ttl: micros(self.claim_ttl),
            stale_after: self.stale_after,
            messages_per_minute: self.messages_per_minute.filter(|most| *most > 0),
            wakes_per_hour: self.wakes_per_hour,
            wake_recheck: micros(self.wake_recheck),
            wake_patience: micros(self.wake_patience),
            starts_agents: self.starts_agents,
            conflict_window: micros(self.conflict_window),
            quotas: self.quotas,
        }
    }
}

/// An open store and the rules over it; share it by `Arc`.
pub struct Engine {
    store: Store,
    options: Options,
    writes: AtomicU32,
    vectors: Kept,
}

/// What makes two calls the same call.
#[derive(Debug, Clone)]
pub struct Request {
    pub tool: &'static str,
    pub scope: String,
    pub key: Option<String>,
    /// The arguments, without the key.
    pub arguments: Value,
    /// The name of what led to the call.
    pub cause: Option<String>,
    /// The project that the call names, whose labels its names mean.
    pub project: Option<String>,
}

/// The number of a workspace that is not there: rows are counted from 1.
const NO_WORKSPACE: Ws = Ws(0);

fn micros(duration: Duration) -> i64 {
    i64::try_from(duration.as_micros()).unwrap_or(i64::MAX)
}

impl Engine {
    /// Opens a store by its path or `postgres://` address. Nothing is created before the first
    /// write; what is wrong with a store that exists is said now.
    pub fn open(store: &str, options: Options) -> Result<Engine> {
        let storage = StoreOptions {
            probe: options.probe.clone(),
            replay: Some(rebuild::REPLAY),
            patience: options.patience,
            scratch: false,
        };
        let engine = Engine {
            store: Store::new(store, storage),
            options,
            writes: AtomicU32::new(0),
            vectors: Kept::default(),
        };
        engine.store.check()?;
        Ok(engine)
    }

    /// Opens without looking, for commands that repair.
    pub fn open_unchecked(store: &str, options: Options) -> Engine {
        let storage = StoreOptions {
            probe: options.probe.clone(),
            replay: Some(rebuild::REPLAY),
            patience: options.patience,
            scratch: false,
        };
        Engine {
            store: Store::new(store, storage),
            options,
            writes: AtomicU32::new(0),
            vectors: Kept::default(),
        }
    }

    pub fn clock(&self) -> &dyn Clock {
        &*self.options.clock
    }

    /// What is done about credentials in the arguments of a call.
    pub fn secrets(&self) -> Policy {
        self.options.secrets
    }

    /// Whether the store is a file that this process reads itself, rather than a server it asks.
    pub fn is_embedded(&self) -> bool {
        self.store.path().is_some()
    }

    /// Where the store lies: a directory, or the server it is on, never a secret.
    pub fn storage_dir(&self) -> String {
        match self.store.path() {
            Some(path) => {
                let parent = path.parent().unwrap_or(Path::new("."));
                parent.display().to_string()
            }
            None => "postgres".into(),
        }
    }

    /// The version of what is stored.
    pub fn schema_version(&self) -> i64 {
        understory_storage::SOIL_VERSION
    }

    pub(crate) fn store(&self) -> &Store {
        &self.store
    }

    /// The folder that made the caller's workspace, if a folder did.
    pub fn folder_of(&self, caller: &Caller) -> Result<Option<String>> {
        Ok(match self.workspace(caller)? {
            Resolved::There(found) => workspace::folder(&found),
            Resolved::New(_) => None,
        })
    }

    /// Reads rows of the caller's workspace; `None` before its first write. Rules read through
    /// [`Engine::view`]; this is for what is asked so often that an empty store must cost nothing.
    pub(crate) fn rows<T>(
        &self,
        caller: &Caller,
        mut work: impl FnMut(&mut Tx<'_>, Ws) -> Result<T>,
    ) -> Result<Option<T>> {
        let found = self
            .store
            .read(|tx| match workspace::resolve(tx, caller)? {
                Resolved::New(_) => Ok(None),
                Resolved::There(found) => work(tx, found.ws).map(Some),
            })?;
        Ok(found.flatten())
    }

    /// Reads from one snapshot. Before the workspace's first write, and without a store, it is one
    /// without rows.
    pub fn view<T>(
        &self,
        caller: &Caller,
        work: impl FnOnce(&mut View<'_, '_>) -> Result<T>,
    ) -> Result<T> {
        let now = self.options.clock.now();
        let rules = self.options.rules();
        self.store.read_or_empty(|tx| {
            let resolved = workspace::resolve(tx, caller)?;
            let ws = match &resolved {
                Resolved::New(_) => NO_WORKSPACE,
                Resolved::There(found) => found.ws,
            };
            work(&mut View {
                tx,
                ws,
                name: resolved.name(),
                caller,
                project: &caller.project,
                now,
                rules,
                vectors: &self.vectors,
            })
        })
    }

    /// Writes in one transaction and answers after its commit. The rule may run more than once.
    pub fn write<T, F>(&self, caller: &Caller, request: Request, rule: F) -> Result<Answer<T>>
    where
        T: Serialize + Send + 'static,
        F: Fn(&mut Work<'_, '_>) -> Result<T> + Send + 'static,
    {
        may_write(caller)?;
        let key = answer_key(caller, &request)?;
        let arriving = caller.via == Via::Arriving;
        let digest = key
            .as_ref()
            .map(|_| sha256(python_json(&request.arguments).as_bytes()));
        let forget = self.writes.fetch_add(1, Ordering::Relaxed) % FORGET_EVERY == FORGET_EVERY - 1;
        let (options, lane) = (self.options.clone(), caller.workspace.clone());
        let caller = caller.clone();
        let forgot = Arc::new(AtomicBool::new(false));
        let tell = Arc::clone(&forgot);
        let answer = self.store.write(&lane, move |tx| {
            let now = options.clock.now();
            let kept_since = now.minus(micros(options.keep_answers));
            let (ws, start) = enter(tx, &caller, options.clock.as_ref())?;
            let (mut caller, mut key) = (Cow::Borrowed(&caller), Cow::Borrowed(&key));
            if arriving {
                caller.to_mut().agent = presence::settle(tx, ws, &caller, true, now)?;
                if let Some(key) = key.to_mut() {
                    key.agent.clone_from(&caller.agent);
                }
            }
            if let Some(key) = key.as_ref()
                && let Some((first, answer)) = answers::find(tx, ws, key, kept_since)?
            {
                tx.discard();
                return repeated(Some(first) == digest, &answer).map(Answer::Json);
            }
            let clock = options.clock.as_ref();
            let mut work = Work::new(tx, start, &caller, clock, options.rules());
            work.project.clone_from(&request.project);
            if let Some(name) = &request.cause {
                let cause = names::cause(&mut work, name)?;
                work.caused_by(cause);
            }
            let answer = rule(&mut work)?;
            if !work.finish()? {
                tx.discard();
                return Ok(Answer::Whole(answer));
            }
            tell.store(work.forgot(), Ordering::Relaxed);
            let at = work.now;
            let next = work.next_start();
            if let (Some(key), Some(digest)) = (key.as_ref(), &digest) {
                answers::keep(tx, ws, key, digest, &kept(&answer)?, at)?;
            }
            if forget {
                answers::forget(tx, kept_since)?;
            }
            if let Some(next) = next {
                tx.hand_over(next);
            }
            Ok(Answer::Whole(answer))
        })?;
        if forgot.load(Ordering::Relaxed) {
            self.store.finish_forgetting(&lane);
        }
        Ok(answer)
    }

    /// Writes what is live: no item tells of it, and its loss loses nothing of record. The rule is
    /// told the workspace and the moment, and may run more than once.
    pub fn write_live<T, F>(&self, caller: &Caller, rule: F) -> Result<T>
    where
        T: Send + 'static,
        F: Fn(&mut Tx<'_>, Ws, Time) -> Result<T> + Send + 'static,
    {
        may_write(caller)?;
        let (clock, lane) = (Arc::clone(&self.options.clock), caller.workspace.clone());
        let caller = caller.clone();
        self.store.write(&lane, move |tx| {
            let ws = match workspace::resolve(tx, &caller)? {
                Resolved::There(found) => found.ws,
                Resolved::New(_) => enter(tx, &caller, clock.as_ref())?.0,
            };
            rule(tx, ws, clock.now())
        })
    }

    /// The place of the newest item; 0 before the first.
    pub fn head(&self, caller: &Caller) -> Result<Seq> {
        let head = self.rows(caller, |tx, ws| workspaces::head(tx, ws, false))?;
        Ok(head.flatten().map_or(Seq::ZERO, |head| head.seq))
    }

    /// The name that the caller's workspace really has, and whether it exists yet.
    pub fn workspace(&self, caller: &Caller) -> Result<Resolved> {
        let found = self.store.read(|tx| workspace::resolve(tx, caller))?;
        Ok(found.unwrap_or_else(|| Resolved::New(caller.workspace.clone())))
    }

    /// Why the caller's workspace does not have the name that it wanted.
    pub fn clash(&self, caller: &Caller) -> Result<Option<Clash>> {
        let found = self.store.read(|tx| workspace::clash(tx, caller))?;
        Ok(found.flatten())
    }

    /// Makes the caller's workspace if it is not there yet, so that its name belongs to the
    /// caller's place.
    pub fn settle(&self, caller: &Caller) -> Result<()> {
        self.write_live(caller, |_, _, _| Ok(()))
    }

    /// Copies a SQLite store into a new file; false when there is no store to copy.
    pub fn backup(&self, to: &Path, tell: impl FnMut(i64, i64)) -> Result<bool> {
        self.store.backup(to, tell)
    }

    /// Lets go of the store once the writes in progress are done.
    pub fn close(&self) {
        self.store.close();
    }
}

fn may_write(caller: &Caller) -> Result<()> {
    if caller.role.may_write() {
        return Ok(());
    }
    Err(
        Fault::new(Code::Forbidden, "an auditor reads and does not write")
            .hint("Call with the role worker, orchestrator or operator."),
    )
}

fn answer_key(caller: &Caller, request: &Request) -> Result<Option<answers::Key>> {
    let Some(key) = &request.key else {
        return Ok(None);
    };
    understory_model::text::check_text("idempotency_key", key, limits::KEY_CHARS, false)?;
    Ok(Some(answers::Key {
        agent: caller.agent.clone(),
        tool: request.tool.to_string(),
        scope: request.scope.clone(),
        key: key.clone(),
    }))
}

/// An answer as it is kept for a retry.
fn kept<T: Serialize>(answer: &T) -> Result<String> {
    serde_json::to_string(answer).map_err(|error| {
        let problem = format!("an answer could not be serialised: {error}");
        Fault::new(Code::Internal, problem)
    })
}

/// What a retry is answered.
fn repeated(same_arguments: bool, answer: &str) -> Result<Value> {
    if !same_arguments {
        return Err(Fault::new(
            Code::IdempotencyConflict,
            "this idempotency_key was used before with other arguments",
        )
        .hint("Use a new key for a new call; repeat a call with its arguments unchanged."));
    }
    serde_json::from_str(answer).map_err(|_| {
        Fault::new(
            Code::StoreCorrupt,
            "the answer kept for this key is damaged",
        )
    })
}

/// Finds or makes the caller's workspace, and takes its head, unless the write before handed it
/// over.
fn enter(tx: &mut Tx<'_>, caller: &Caller, clock: &dyn Clock) -> Result<(Ws, Start)> {
    let ws = match workspace::resolve(tx, caller)? {
        Resolved::There(found) => found.ws,
        Resolved::New(name) => {
            let at = clock.now();
            workspaces::create(tx, &name, caller.origin.as_deref(), &genesis(&name), at)?
        }
    };
    let handed_over = tx.take_handed_over::<Start>();
    if let Some(start) = handed_over.filter(|start| start.core.ws == ws) {
        return Ok((ws, start));
    }
    let head = workspaces::head(tx, ws, true)?.ok_or_else(|| {
        Fault::new(
            Code::StoreCorrupt,
            "the end of the workspace's log is not in core",
        )
        .hint("Run `understory rebuild`.")
    })?;
    let core = Core::new(ws);
    let apply = projection::apply;
    Ok((ws, Start { head, core, apply }))
}
