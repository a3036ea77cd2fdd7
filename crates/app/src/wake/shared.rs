//! What the threads of a worker share: whether it is over, and what they are doing.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long those at work have to leave.
const LEAVE: Duration = Duration::from_secs(2);

#[derive(Default)]
pub struct Shared {
    over: AtomicBool,
    /// Threads at work.
    steps: AtomicUsize,
    /// Who is being started, by workspace and agent.
    started: Mutex<BTreeSet<(String, String)>>,
}

impl Shared {
    pub fn is_over(&self) -> bool {
        self.over.load(Ordering::Acquire)
    }

    pub fn steps(&self) -> usize {
        self.steps.load(Ordering::Acquire)
    }

    /// How many agents are being started, or work.
    pub fn agents(&self) -> usize {
        self.started().len()
    }

    pub fn at_work(self: &Arc<Shared>) -> AtWork {
        self.steps.fetch_add(1, Ordering::AcqRel);
        AtWork(Arc::clone(self))
    }

    /// `None` if a process of the agent that this worker started is at work.
    pub fn starts(self: &Arc<Shared>, workspace: &str, agent: &str) -> Option<Started> {
        let who = (workspace.to_owned(), agent.to_owned());
        let first = self.started().insert(who.clone());
        first.then(|| Started {
            shared: Arc::clone(self),
            who,
        })
    }

    fn started(&self) -> MutexGuard<'_, BTreeSet<(String, String)>> {
        let started = self.started.lock();
        started.unwrap_or_else(PoisonError::into_inner)
    }
}

/// A thread at work, until it is dropped.
pub struct AtWork(Arc<Shared>);

impl Drop for AtWork {
    fn drop(&mut self) {
        self.0.steps.fetch_sub(1, Ordering::AcqRel);
    }
}

/// An agent that is being started, until it is dropped.
pub struct Started {
    shared: Arc<Shared>,
    who: (String, String),
}

impl Drop for Started {
    fn drop(&mut self) {
        self.shared.started().remove(&self.who);
    }
}

/// A worker works until this is dropped.
pub struct Working(Arc<Shared>);

impl Working {
    pub fn of(shared: &Arc<Shared>) -> Working {
        Working(Arc::clone(shared))
    }
}

impl Drop for Working {
    fn drop(&mut self) {
        self.0.over.store(true, Ordering::Release);
        // Whoever is at work ends what it started, and says so in the store.
        let end = Instant::now() + LEAVE;
        while self.0.steps() > 0 && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}
