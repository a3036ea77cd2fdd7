//! `wait_for_messages` and `garden_changes` at the edge: thousands may wait, and none of them holds a thread.
//!
//! All who wait in one workspace share one follower of its messages. A wait ends with a message or a
//! change of a thread, with its time, when its caller gives it up or leaves, and politely when the
//! server stops. While it lasts it says every few seconds that it does.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use tokio::runtime::Handle;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use understory_engine::threads::wait::Waited;
use understory_engine::threads::wait::{self, Lease};
use understory_model::answer::Answer;
use understory_model::{Caller, Code, Fault, limits};
use understory_tools::garden::entity::changes::{self, Looked};
use understory_tools::threads::wait::{Waiting, waiting};
use understory_tools::{Context, registry};

use super::heads::over;
use super::{Asked, Call, Calls, given_up, guarded, run_blocking};
use crate::places::{Most, Place, Places};
use crate::store::Store;

impl Calls {
    /// Waits for messages without a thread.
    pub(super) async fn wait(&self, call: Call, cancel: CancellationToken) -> Result<Value, Fault> {
        let Asked::Tool(tool, arguments) = call.asked else {
            return Err(Fault::new(Code::Internal, "only a tool waits"));
        };
        let patience = call.patience;
        let waiting = Arc::new(guarded(tool.name, || {
            waiting(registry::checked(tool, arguments)?, patience)
        })?);
        let asked = Wait {
            waiting: Arc::clone(&waiting),
            caller: call.caller,
            request: call.request,
        };
        if waiting.acknowledges() {
            self.acknowledge(&asked).await?;
        }
        let until = Instant::now() + waiting.timeout;
        let mut mail = self.heads(&asked.caller).follow_mail();
        let (mut end, mut here) = (self.end.clone(), None);
        loop {
            mail.mark_unchanged();
            if let Some(answer) = self.look(&asked).await? {
                return answer.into_json();
            }
            if Instant::now() >= until {
                return waiting.nothing()?.into_json();
            }
            if here.is_none() {
                here = Some(self.begin(&asked).await?);
            }
            tokio::select! {
                _ = mail.changed() => {}
                () = tokio::time::sleep_until(until) => {}
                () = cancel.cancelled() => return Err(given_up()),
                () = over(&mut end) => return waiting.nothing()?.into_json(),
            }
        }
    }

    /// Waits for a change of an entity without a thread.
    pub(super) async fn wait_for_change(
        &self,
        call: Call,
        cancel: CancellationToken,
    ) -> Result<Value, Fault> {
        let Asked::Tool(tool, arguments) = call.asked else {
            return Err(Fault::new(Code::Internal, "only a tool waits"));
        };
        let (caller, patience) = (call.caller, call.patience);
        let mut waiting = guarded(tool.name, || {
            changes::waiting(registry::checked(tool, arguments)?, patience)
        })?;
        let until = Instant::now() + waiting.timeout;
        let mut head = self.heads(&caller).follow();
        let (mut end, mut place) = (self.end.clone(), None);
        loop {
            head.mark_unchanged();
            let asked_by = caller.clone();
            let store = Arc::clone(&self.store);
            let (looked, back) = run_blocking(move || {
                let engine = store.get()?;
                let looked = guarded(changes::TOOL.name, || waiting.look(&engine, &asked_by))?;
                Ok((looked, waiting))
            })
            .await?;
            waiting = back;
            let nothing = match looked {
                Looked::Changed(answer) => return answer.into_json(),
                Looked::More => continue,
                Looked::Nothing(answer) => answer,
            };
            if Instant::now() >= until {
                return nothing.into_json();
            }
            if place.is_none() {
                place = Some(self.waits.enter(&caller)?);
            }
            tokio::select! {
                _ = head.changed() => {}
                () = tokio::time::sleep_until(until) => {}
                () = cancel.cancelled() => return Err(given_up()),
                () = over(&mut end) => return nothing.into_json(),
            }
        }
    }

    /// A look at what has come: at once where the store is a file, in a thread where it is a server.
    async fn look(&self, asked: &Wait) -> Result<Option<Answer<Waited>>, Fault> {
        if let Some(engine) = self.store.ready().filter(|engine| engine.is_embedded()) {
            return asked.look(engine);
        }
        let (asked, store) = (asked.clone(), Arc::clone(&self.store));
        run_blocking(move || asked.look(&*store.get()?)).await
    }

    /// Notes what the caller has read, before it waits for more.
    async fn acknowledge(&self, asked: &Wait) -> Result<(), Fault> {
        let (asked, store) = (asked.clone(), Arc::clone(&self.store));
        run_blocking(move || {
            let engine = store.get()?;
            guarded("wait_for_messages", || {
                asked.waiting.acknowledge(&asked.context(&engine))
            })
        })
        .await
    }

    /// Takes a place among those who wait, and says so where others can see it.
    async fn begin(&self, asked: &Wait) -> Result<Here, Fault> {
        let place = self.waits.enter(&asked.caller)?;
        let (asked, store) = (asked.clone(), Arc::clone(&self.store));
        let leases = Arc::clone(&self.leases);
        // Made in the thread that says it: if the caller leaves meanwhile, it is taken back there.
        run_blocking(move || {
            let engine = store.get()?;
            let lease = asked.waiting.begin(&asked.context(&engine));
            let keep = |lease: &Lease| leases.add(&asked.caller, lease, &store);
            Ok(Here {
                number: lease.as_ref().map(keep),
                lease,
                leases,
                caller: asked.caller,
                store,
                _place: place,
            })
        })
        .await
    }
}

/// A call that waits.
#[derive(Clone)]
struct Wait {
    waiting: Arc<Waiting>,
    caller: Caller,
    request: String,
}

impl Wait {
    fn context<'a>(&'a self, engine: &'a understory_engine::Engine) -> Context<'a> {
        Context {
            engine,
            caller: &self.caller,
            request_id: &self.request,
        }
    }

    fn look(&self, engine: &understory_engine::Engine) -> Result<Option<Answer<Waited>>, Fault> {
        guarded("wait_for_messages", || {
            self.waiting.look(&self.context(engine))
        })
    }
}

/// Says that somebody waits, for as long as it lives: also when the wait is simply dropped.
struct Here {
    lease: Option<Lease>,
    /// By what its lease is known among those that are renewed.
    number: Option<u64>,
    leases: Arc<Leases>,
    caller: Caller,
    store: Arc<Store>,
    _place: Place,
}

impl Drop for Here {
    fn drop(&mut self) {
        if let Some(number) = self.number {
            self.leases.remove(number);
        }
        let (Some(lease), Ok(runtime)) = (self.lease.take(), Handle::try_current()) else {
            return;
        };
        let (caller, store) = (self.caller.clone(), Arc::clone(&self.store));
        runtime.spawn_blocking(move || {
            if let Ok(engine) = store.get() {
                wait::end(&engine, &caller, &lease);
            }
        });
    }
}

/// Those who wait in this process. One task says for all of them, every few seconds, that they still
/// do: a thread for each would be what waiting is to spare.
#[derive(Default)]
pub struct Leases {
    all: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    leases: HashMap<u64, (Caller, Lease)>,
    last: u64,
    running: bool,
}

impl Leases {
    /// Keeps one more, renewed from now on; its number.
    fn add(self: &Arc<Leases>, caller: &Caller, lease: &Lease, store: &Arc<Store>) -> u64 {
        let mut kept = self.kept();
        kept.last += 1;
        let number = kept.last;
        kept.leases.insert(number, (caller.clone(), lease.clone()));
        if !kept.running
            && let Ok(runtime) = Handle::try_current()
        {
            kept.running = true;
            runtime.spawn(Arc::clone(self).run(Arc::clone(store)));
        }
        number
    }

    fn remove(&self, number: u64) {
        self.kept().leases.remove(&number);
    }

    async fn run(self: Arc<Leases>, store: Arc<Store>) {
        loop {
            tokio::time::sleep(wait::RENEW).await;
            let Some(workspaces) = self.by_workspace() else {
                return;
            };
            let store = Arc::clone(&store);
            let renewed = run_blocking(move || {
                let engine = store.get()?;
                for (caller, leases) in workspaces.into_values() {
                    wait::renew_all(&engine, &caller, leases)?;
                }
                Ok(())
            });
            // The waits do not depend on it.
            let _ = renewed.await;
        }
    }

    /// What is to be renewed, and as whom; `None` when nobody waits any more.
    fn by_workspace(&self) -> Option<HashMap<String, (Caller, Vec<Lease>)>> {
        let mut kept = self.kept();
        if kept.leases.is_empty() {
            kept.running = false;
            return None;
        }
        let mut all: HashMap<String, (Caller, Vec<Lease>)> = HashMap::new();
        for (caller, lease) in kept.leases.values() {
            let place = all.entry(caller.workspace.clone());
            let (_, leases) = place.or_insert_with(|| (caller.clone(), Vec::new()));
            leases.push(lease.clone());
        }
        Some(all)
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Places for those who wait.
pub fn places() -> Places {
    Places::new(
        "calls that wait",
        "One call can wait for all threads at once.",
        Most {
            caller: limits::WAITS_PER_CALLER,
            workspace: limits::WAITS_PER_WORKSPACE,
            all: limits::WAITS,
        },
    )
}
