//! `wait_for_messages` at the edge: thousands may wait, and none of them holds a thread.
//!
//! All who wait in one workspace share one follower of its messages. A wait ends with a message,
//! with its time, when its caller gives it up or leaves, and politely when the server stops.

use std::sync::Arc;

use serde_json::Value;
use tokio::runtime::Handle;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use understory_engine::threads::wait::{self, Token};
use understory_model::{Caller, Code, Fault, limits};
use understory_tools::threads::wait::{Waiting, waiting};
use understory_tools::{Context, registry};

use super::call::{Asked, Call, Calls, aside, given_up, guarded};
use super::notices;
use crate::places::{Place, Places};
use crate::store::Store;

impl Calls {
    /// Waits for messages without a thread.
    pub(super) async fn wait(&self, call: Call, cancel: CancellationToken) -> Result<Value, Fault> {
        let Asked::Tool(tool, arguments) = call.asked else {
            return Err(Fault::new(Code::Internal, "only a tool waits"));
        };
        let waiting = Arc::new(guarded(tool.name, || {
            waiting(registry::checked(tool, arguments)?)
        })?);
        let asked = Wait {
            waiting: Arc::clone(&waiting),
            caller: call.caller,
            request: call.request,
        };
        let until = Instant::now() + waiting.timeout;
        let mut mail = self.heads(&asked.caller).follow_mail();
        let (mut end, mut here) = (self.end.clone(), None);
        loop {
            mail.mark_unchanged();
            if let Some(answer) = self.look(&asked).await? {
                return Ok(answer);
            }
            if Instant::now() >= until {
                return Ok(waiting.nothing());
            }
            if here.is_none() {
                here = Some(self.begin(&asked).await?);
            }
            tokio::select! {
                _ = mail.changed() => {}
                () = tokio::time::sleep_until(until) => {}
                () = cancel.cancelled() => return Err(given_up()),
                () = notices::over(&mut end) => return Ok(waiting.nothing()),
            }
        }
    }

    /// A look at what has come: at once where the store is a file, in a thread where it is a server.
    async fn look(&self, asked: &Wait) -> Result<Option<Value>, Fault> {
        if let Some(engine) = self.store.ready().filter(|engine| engine.is_embedded()) {
            return asked.look(engine);
        }
        let (asked, store) = (asked.clone(), Arc::clone(&self.store));
        aside(move || asked.look(&*store.get()?)).await
    }

    /// Takes a place among those who wait, and says so where others can see it.
    async fn begin(&self, asked: &Wait) -> Result<Here, Fault> {
        let place = self.waits.enter(&asked.caller)?;
        let (asked, store) = (asked.clone(), Arc::clone(&self.store));
        // Made in the thread that says it: if the caller leaves meanwhile, it is taken back there.
        aside(move || {
            let engine = store.get()?;
            Ok(Here {
                token: asked.waiting.begin(&asked.context(&engine)),
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

    fn look(&self, engine: &understory_engine::Engine) -> Result<Option<Value>, Fault> {
        guarded("wait_for_messages", || {
            self.waiting.look(&self.context(engine))
        })
    }
}

/// Says that somebody waits, for as long as it lives: also when the wait is simply dropped.
struct Here {
    token: Option<Token>,
    caller: Caller,
    store: Arc<Store>,
    _place: Place,
}

impl Drop for Here {
    fn drop(&mut self) {
        let (Some(token), Ok(runtime)) = (self.token, Handle::try_current()) else {
            return;
        };
        let (caller, store) = (self.caller.clone(), Arc::clone(&self.store));
        runtime.spawn_blocking(move || {
            if let Ok(engine) = store.get() {
                wait::end(&engine, &caller, token);
            }
        });
    }
}

/// Places for those who wait.
pub fn places() -> Places {
    Places::new(
        "calls that wait",
        "One call can wait for all threads at once.",
        limits::WAITS_PER_CALLER,
        limits::WAITS,
    )
}
