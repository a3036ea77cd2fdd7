//! What is said of those who wait in this process: that they do, that they no longer do, and what they
//! were told. For all of them together: a thread or a write for each would be what waiting is to spare.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::runtime::Handle;
use tokio::sync::oneshot;
use understory_engine::threads::wait::{self, Lease, Telling};
use understory_model::{Caller, Fault};

use super::batches::Batches;
use super::run_blocking;
use crate::limiter::Place;
use crate::log;
use crate::store::Store;

/// Those who wait in this process.
pub struct Leases {
    store: Arc<Store>,
    all: Mutex<Kept>,
    ended: Arc<Batches<(Caller, Lease)>>,
    told: Arc<Batches<Told>>,
}

#[derive(Default)]
struct Kept {
    leases: HashMap<u64, (Caller, Lease)>,
    last: u64,
    running: bool,
}

/// What sessions were told.
enum Told {
    /// One was told this.
    Telling(Caller, Telling),
    /// Somebody waits until all that was told before is remembered.
    Asked(oneshot::Sender<()>),
}

impl Leases {
    pub fn new(store: &Arc<Store>) -> Arc<Leases> {
        let (ending, telling) = (Arc::clone(store), Arc::clone(store));
        Arc::new(Leases {
            store: Arc::clone(store),
            all: Mutex::default(),
            ended: Batches::new(move |ended| quietly(end(&ending, ended))),
            told: Batches::new(move |told| quietly(remember(&telling, told))),
        })
    }

    /// Says of a call that it waits, from now on and for as long as the answer lives.
    pub fn begin(self: &Arc<Leases>, caller: Caller, lease: Option<Lease>, place: Place) -> Here {
        Here {
            number: lease.map(|lease| self.add(caller, lease)),
            leases: Arc::clone(self),
            _place: place,
        }
    }

    /// Remembers what a session was told, beside the answer: should that fail it is told again.
    pub fn remember(&self, caller: &Caller, telling: Telling) {
        self.told.add(Told::Telling(caller.clone(), telling));
    }

    /// Waits until everything is remembered that sessions were told so far.
    pub async fn all_remembered(&self) {
        if self.told.is_idle() {
            return;
        }
        let (done, all_done) = oneshot::channel();
        self.told.add(Told::Asked(done));
        // Where it fails, what was told is told again.
        let _ = all_done.await;
    }

    /// Keeps one more, renewed from now on; its number.
    fn add(self: &Arc<Leases>, caller: Caller, lease: Lease) -> u64 {
        let mut kept = self.kept();
        kept.last += 1;
        let number = kept.last;
        kept.leases.insert(number, (caller, lease));
        if !kept.running
            && let Ok(runtime) = Handle::try_current()
        {
            kept.running = true;
            runtime.spawn(Arc::clone(self).run());
        }
        number
    }

    fn remove(&self, number: u64) {
        let removed = self.kept().leases.remove(&number);
        if let Some(ended) = removed {
            self.ended.add(ended);
        }
    }

    async fn run(self: Arc<Leases>) {
        loop {
            tokio::time::sleep(wait::RENEW).await;
            let Some(all) = self.all() else {
                return;
            };
            let store = Arc::clone(&self.store);
            let renewed = run_blocking(move || {
                let engine = store.get()?;
                for (caller, leases) in by_workspace(all) {
                    wait::renew_all(&engine, &caller, leases)?;
                }
                Ok(())
            });
            // The waits do not depend on it.
            let _ = renewed.await;
        }
    }

    /// What is to be renewed, and as whom; `None` when nobody waits any more.
    fn all(&self) -> Option<Vec<(Caller, Lease)>> {
        let mut kept = self.kept();
        if kept.leases.is_empty() {
            kept.running = false;
            return None;
        }
        Some(kept.leases.values().cloned().collect())
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Says that somebody waits, for as long as it lives: also when the wait is simply dropped.
pub struct Here {
    /// By what its lease is known among those that are renewed.
    number: Option<u64>,
    leases: Arc<Leases>,
    _place: Place,
}

impl Drop for Here {
    fn drop(&mut self) {
        if let Some(number) = self.number {
            self.leases.remove(number);
        }
    }
}

/// What belongs to each workspace, and somebody of it.
fn by_workspace<T>(all: impl IntoIterator<Item = (Caller, T)>) -> Vec<(Caller, Vec<T>)> {
    let mut workspaces: HashMap<(String, Option<String>), (Caller, Vec<T>)> = HashMap::new();
    for (caller, one) in all {
        let place = workspaces.entry((caller.workspace.clone(), caller.origin.clone()));
        let (_, own) = place.or_insert_with(|| (caller, Vec::new()));
        own.push(one);
    }
    workspaces.into_values().collect()
}

fn end(store: &Store, ended: Vec<(Caller, Lease)>) -> Result<(), Fault> {
    let engine = store.get()?;
    let mut result = Ok(());
    for (caller, leases) in by_workspace(ended) {
        // One workspace that cannot be written does not keep the others from it.
        result = result.and(wait::end_all(&engine, &caller, leases));
    }
    result
}

fn remember(store: &Store, told: Vec<Told>) -> Result<(), Fault> {
    let (mut tellings, mut asked) = (Vec::new(), Vec::new());
    for one in told {
        match one {
            Told::Telling(caller, telling) => tellings.push((caller, telling)),
            Told::Asked(done) => asked.push(done),
        }
    }
    let mut result = Ok(());
    if !tellings.is_empty() {
        let engine = store.get()?;
        for (caller, tellings) in by_workspace(tellings) {
            result = result.and(wait::remember(&engine, &caller, tellings));
        }
    }
    for done in asked {
        let _ = done.send(());
    }
    result
}

/// The calls of others do not depend on it.
fn quietly(done: Result<(), Fault>) {
    if let Err(fault) = done {
        log::debug(format_args!("what is said of waiting calls: {fault}"));
    }
}
