//! `wait_for_messages` and `garden_changes` at the edge: thousands may wait, and none of them holds
//! a thread.
//!
//! All who wait in one workspace share one follower of its messages. A wait ends with a message or
//! a change of a thread, with its time, when its caller gives it up or leaves, and politely when
//! the server stops. While it lasts it says every few seconds that it does.

use std::collections::HashMap;
use std::sync::Arc;

use tokio::sync::oneshot;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use understory_engine::Engine;
use understory_engine::threads::wait::{self, Came, Looked, Telling};
use understory_model::answer::Written;
use understory_model::{Caller, Code, Fault, limits};
use understory_tools::garden::entity::changes;
use understory_tools::threads::wait::{TOOL, Waiting, waiting};
use understory_tools::{Context, registry};

use super::batches::Batches;
use super::heads::over;
use super::leases::Here;
use super::{Asked, Call, Calls, given_up, guarded, run_blocking};
use crate::limiter::{Limiter, Most};
use crate::store::Store;

const NAME: &str = TOOL.name;

impl Calls {
    /// Waits for messages without a thread.
    pub(super) async fn wait(
        &self,
        call: Call,
        cancel: CancellationToken,
    ) -> Result<Written, Fault> {
        let Asked::Tool(tool, arguments) = call.asked else {
            return Err(Fault::new(Code::Internal, "only a tool waits"));
        };
        let patience = call.patience;
        let waiting = guarded(tool.name, || {
            waiting(registry::checked(tool, arguments)?, patience)
        })?;
        let until = Instant::now() + waiting.timeout;
        // Followed before the first look: what comes after it is not missed.
        let mut mail = self.heads(&call.caller).follow_mail();
        mail.mark_unchanged();
        self.leases.all_remembered().await;
        let (asked, mut looked) = self.first_look(call.caller, call.request, waiting).await?;
        let (mut end, mut here) = (self.end.clone(), None);
        loop {
            let before = match looked {
                Looked::Came(came) => return self.tell(&asked, &came),
                Looked::Nothing(before) => before,
            };
            let nothing = || asked.waiting.nothing(&before)?.written();
            if Instant::now() >= until {
                return nothing();
            }
            if here.is_none() {
                here = Some(self.begin(&asked).await?);
            }
            tokio::select! {
                _ = mail.changed() => {}
                () = tokio::time::sleep_until(until) => {}
                () = cancel.cancelled() => return Err(given_up()),
                () = over(&mut end) => return nothing(),
            }
            mail.mark_unchanged();
            looked = self.looking.look(&asked).await?;
        }
    }

    /// The answer, and that its session was told.
    fn tell(&self, asked: &Wait, came: &Came) -> Result<Written, Fault> {
        let answer = came.written()?;
        if let Some(telling) = Telling::of(&asked.caller, &came.told) {
            self.leases.remember(&asked.caller, telling);
        }
        Ok(answer)
    }

    /// Waits for a change of an entity without a thread.
    pub(super) async fn wait_for_change(
        &self,
        call: Call,
        cancel: CancellationToken,
    ) -> Result<Written, Fault> {
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
                changes::Looked::Changed(answer) => return answer.written(),
                changes::Looked::More => continue,
                changes::Looked::Nothing(answer) => answer,
            };
            if Instant::now() >= until {
                return nothing.written();
            }
            if place.is_none() {
                place = Some(self.waits.enter(&caller)?);
            }
            tokio::select! {
                _ = head.changed() => {}
                () = tokio::time::sleep_until(until) => {}
                () = cancel.cancelled() => return Err(given_up()),
                () = over(&mut end) => return nothing.written(),
            }
        }
    }

    /// Notes what the caller has read, and looks at what has come since its session was last told:
    /// at once where the store is a file, in a thread where it is a server or something is to be
    /// written.
    async fn first_look(
        &self,
        caller: Caller,
        request: String,
        mut waiting: Waiting,
    ) -> Result<(Wait, Looked), Fault> {
        let quick = !waiting.acknowledges();
        let look = move |engine: &Engine| {
            let context = Context {
                engine,
                caller: &caller,
                request_id: &request,
            };
            let looked = guarded(NAME, || {
                if waiting.acknowledges() {
                    waiting.acknowledge(&context)?;
                }
                waiting.hear(&context)?;
                waiting.look(&context)
            })?;
            let waiting = Arc::new(waiting);
            let asked = Wait {
                waiting,
                caller,
                request,
            };
            Ok((asked, looked))
        };
        let at_hand = self.store.ready().filter(|engine| engine.is_embedded());
        if let Some(engine) = at_hand.filter(|_| quick) {
            return look(engine);
        }
        let store = Arc::clone(&self.store);
        run_blocking(move || look(&*store.get()?)).await
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
            Ok(leases.begin(asked.caller, lease, place))
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
    fn context<'a>(&'a self, engine: &'a Engine) -> Context<'a> {
        Context {
            engine,
            caller: &self.caller,
            request_id: &self.request,
        }
    }
}

/// What has come, looked at for many who wait at once. A message wakes all of them.
pub struct Looking {
    looks: Arc<Batches<Look>>,
}

/// Somebody who wants to know what has come.
struct Look {
    asked: Wait,
    found: oneshot::Sender<Result<Looked, Fault>>,
}

impl Looking {
    pub fn new(store: &Arc<Store>) -> Looking {
        let store = Arc::clone(store);
        Looking {
            looks: Batches::new(move |looks| look_all(&store, looks)),
        }
    }

    async fn look(&self, asked: &Wait) -> Result<Looked, Fault> {
        let (found, finds) = oneshot::channel();
        let asked = asked.clone();
        self.looks.add(Look { asked, found });
        finds.await.unwrap_or_else(|_| {
            let problem = "internal error in wait_for_messages";
            Err(Fault::new(Code::Internal, problem))
        })
    }
}

/// One snapshot for all of a workspace.
fn look_all(store: &Store, looks: Vec<Look>) {
    let mut workspaces: HashMap<(String, Option<String>), Vec<Look>> = HashMap::new();
    for look in looks {
        let caller = &look.asked.caller;
        let place = (caller.workspace.clone(), caller.origin.clone());
        workspaces.entry(place).or_default().push(look);
    }
    for looks in workspaces.into_values() {
        let Some(caller) = looks.first().map(|look| look.asked.caller.clone()) else {
            continue;
        };
        let mut left = looks.into_iter();
        let done = store.get().and_then(|engine| {
            wait::together(&engine, &caller, |all| {
                for Look { asked, found } in left.by_ref() {
                    let looked = guarded(NAME, || asked.waiting.look_at(all, &asked.caller));
                    // A caller that has left needs no answer.
                    let _ = found.send(looked);
                }
                Ok(())
            })
        });
        if let Err(fault) = done {
            for look in left {
                let _ = look.found.send(Err(fault.clone()));
            }
        }
    }
}

/// The limiter of waiting calls.
pub fn limiter() -> Limiter {
    Limiter::new(
        "calls that wait",
        "One call can wait for all threads at once.",
        Most {
            caller: limits::WAITS_PER_CALLER,
            workspace: limits::WAITS_PER_WORKSPACE,
            all: limits::WAITS,
        },
    )
}
