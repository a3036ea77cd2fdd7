//! The engine, opened when it is first needed or a little before.
//!
//! A client is answered at once, so the store is opened beside the first messages. A store that
//! cannot be opened is an answer to each call, not the end of the process, and each later call
//! tries again.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use understory_engine::kernel::meaning::Embedder;
use understory_engine::kernel::quota::Quotas;
use understory_engine::{Engine, Options, Patience};
use understory_model::{Code, Fault};

use crate::config::{Setting, Settings};
use crate::embedding::Endpoint;
use crate::log;
use crate::wake::runtimes::Runtimes;

/// Enough for any call, little for a process that often has nothing to do.
pub const STACK_BYTES: usize = 1 << 20;

type Open = dyn Fn() -> Result<Engine, Fault> + Send + Sync;

/// An engine that may not be open yet.
pub struct Store {
    open: Box<Open>,
    embeds: bool,
    engine: OnceLock<Arc<Engine>>,
    tries: AtomicU64,
    /// Held while somebody opens; the last failure.
    failed: Mutex<Option<Fault>>,
}

impl Store {
    pub fn new(settings: &Settings) -> Arc<Store> {
        Store::patient(settings, Patience::default())
    }

    /// A store for callers of tools, who may ask for sessions to be begun if a program is listed
    /// that does.
    pub fn for_tools(settings: &Settings, runtimes: &Runtimes) -> Arc<Store> {
        let starts_agents = !runtimes.with(|one| one.start.is_some()).is_empty();
        Store::opening(settings, Patience::default(), starts_agents)
    }

    /// A store whose calls take no longer than this.
    pub fn patient(settings: &Settings, patience: Patience) -> Arc<Store> {
        Store::opening(settings, patience, false)
    }

    fn opening(settings: &Settings, patience: Patience, starts_agents: bool) -> Arc<Store> {
        let address = settings.store.value.clone();
        let minutes = settings.claim_ttl_minutes.value.unsigned_abs();
        let hours = settings.idempotency_hours.value.unsigned_abs();
        let stale_after = settings.stale_after_ticks.value;
        let wakes_per_hour = settings.wakes_per_hour.value;
        let seconds = |setting: &Setting<i64>| Duration::from_secs(setting.value.unsigned_abs());
        let wake_recheck = seconds(&settings.wake_recheck_seconds);
        let wake_patience = seconds(&settings.wake_patience_seconds);
        let messages_per_minute = Some(settings.messages_per_minute.value);
        let window = settings.conflict_window_minutes.value.unsigned_abs();
        let secrets = settings.secrets.value;
        let quota = |setting: &Setting<i64>| Some(setting.value).filter(|most| *most > 0);
        let quotas = Quotas {
            items: quota(&settings.quota_items),
            bytes: quota(&settings.quota_bytes),
            threads: quota(&settings.quota_threads),
        };
        let embedding = settings.embedding();
        let embeds = embedding.is_some();
        let open = move || {
            let embedder = embedding.clone().map(Endpoint::new);
            let options = Options {
                stale_after,
                messages_per_minute,
                wakes_per_hour,
                starts_agents,
                wake_recheck,
                wake_patience,
                quotas,
                embedder: embedder.map(|endpoint| Arc::new(endpoint) as Arc<dyn Embedder>),
                conflict_window: Duration::from_secs(window * 60),
                claim_ttl: Duration::from_secs(minutes * 60),
                keep_answers: Duration::from_secs(hours * 3_600),
                secrets,
                patience,
                ..Options::default()
            };
            Engine::open(address.reveal(), options)
        };
        Store::made(open, embeds)
    }

    /// A store that is opened in a way of its own.
    pub fn with(open: impl Fn() -> Result<Engine, Fault> + Send + Sync + 'static) -> Arc<Store> {
        Store::made(open, false)
    }

    fn made(
        open: impl Fn() -> Result<Engine, Fault> + Send + Sync + 'static,
        embeds: bool,
    ) -> Arc<Store> {
        Arc::new(Store {
            open: Box::new(open),
            embeds,
            engine: OnceLock::new(),
            tries: AtomicU64::new(0),
            failed: Mutex::new(None),
        })
    }

    /// Begins to open it, in a thread of its own.
    pub fn begin(self: &Arc<Store>) {
        let store = Arc::clone(self);
        let begun = std::thread::Builder::new()
            .name("store".to_owned())
            .stack_size(STACK_BYTES)
            .spawn(move || match store.get() {
                Ok(_) => log::debug(format_args!("the store is open")),
                Err(fault) => log::warn(format_args!("the store cannot be opened: {fault}")),
            });
        if let Err(error) = begun {
            log::debug(format_args!("no thread to open the store: {error}"));
        }
    }

    /// Whether an external model says what texts mean.
    pub fn embeds(&self) -> bool {
        self.embeds
    }

    /// The engine if it is open already.
    pub fn ready(&self) -> Option<&Arc<Engine>> {
        self.engine.get()
    }

    /// The engine; waits until it is open, and opens it if nobody does.
    pub fn get(&self) -> Result<Arc<Engine>, Fault> {
        if let Some(engine) = self.engine.get() {
            return Ok(Arc::clone(engine));
        }
        let tries = self.tries.load(Ordering::Acquire);
        let mut failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(engine) = self.engine.get() {
            return Ok(Arc::clone(engine));
        }
        // Another call that opened it meanwhile has failed for both.
        if let (Some(fault), true) = (&*failed, self.tries.load(Ordering::Acquire) != tries) {
            return Err(fault.clone());
        }
        let opened = catch_unwind(AssertUnwindSafe(&self.open)).unwrap_or_else(|_| {
            Err(Fault::new(
                Code::Internal,
                "internal error: the store could not be opened",
            ))
        });
        self.tries.fetch_add(1, Ordering::AcqRel);
        match opened {
            Ok(engine) => Ok(Arc::clone(self.engine.get_or_init(|| Arc::new(engine)))),
            Err(fault) => {
                *failed = Some(fault.clone());
                Err(fault)
            }
        }
    }

    /// Closes what is open, in order; what is not open stays so.
    pub fn close(&self) {
        if let Some(engine) = self.engine.get() {
            engine.close();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::*;

    /// A store that fails `times` times, slowly, and how often it was tried.
    fn failing(times: usize) -> (Arc<Store>, Arc<AtomicUsize>) {
        let count = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&count);
        let dir = tempfile::tempdir().unwrap().keep();
        let store = Store::with(move || {
            std::thread::sleep(Duration::from_millis(50));
            if counted.fetch_add(1, Ordering::SeqCst) < times {
                return Err(Fault::new(Code::StoreUnavailable, "not now"));
            }
            let path = dir.join("x.db");
            Engine::open(path.to_str().unwrap_or_default(), Options::default())
        });
        (store, count)
    }

    #[test]
    fn a_failure_is_an_answer_and_the_next_call_tries_again() {
        let (store, count) = failing(2);
        assert_eq!(
            store.get().err().map(|fault| fault.code),
            Some(Code::StoreUnavailable)
        );
        assert!(store.get().is_err());
        assert!(store.get().is_ok());
        assert!(store.get().is_ok());
        assert_eq!(count.load(Ordering::SeqCst), 3);
        store.close();
    }

    #[test]
    fn those_who_wait_share_one_try() {
        let (store, count) = failing(1);
        store.begin();
        std::thread::sleep(Duration::from_millis(10));
        let waiting: Vec<_> = (0..4)
            .map(|_| {
                let store = Arc::clone(&store);
                std::thread::spawn(move || store.get().is_err())
            })
            .collect();
        assert!(waiting.into_iter().all(|thread| thread.join().unwrap()));
        assert_eq!(count.load(Ordering::SeqCst), 1);
        assert!(store.get().is_ok());
    }
}
