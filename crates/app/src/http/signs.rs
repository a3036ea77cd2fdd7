//! Signs of life of those who call over HTTP: they have no process here that could be seen, so each
//! call is one, and a call or a stream that goes on is one for as long as it does.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::watch;
use understory_engine::system::presence::BEAT_SECONDS;
use understory_model::Caller;

use crate::call::heads::over;
use crate::log;
use crate::store::Store;

/// Who calls, or called since it was last said that it is there.
pub struct Signs {
    store: Arc<Store>,
    acting: Mutex<HashMap<Caller, Acting>>,
}

#[derive(Default)]
struct Acting {
    /// Calls and streams in progress.
    open: usize,
    /// Whether it did something since the last sign.
    acted: bool,
    /// Whether the store knows of it: not before the first write of its workspace.
    told: bool,
}

/// A call or a stream in progress.
pub struct Sign {
    caller: Caller,
    signs: Arc<Signs>,
}

impl Signs {
    pub fn new(store: Arc<Store>) -> Arc<Signs> {
        Arc::new(Signs {
            store,
            acting: Mutex::default(),
        })
    }

    /// Notes that a caller does something. The first of it in a while is told at once.
    pub fn enter(self: &Arc<Signs>, caller: &Caller) -> Sign {
        let told = {
            let mut acting = self.acting();
            let one = acting.entry(caller.clone()).or_default();
            one.open += 1;
            one.told
        };
        if !told {
            self.tell(vec![caller.clone()]);
        }
        Sign {
            caller: caller.clone(),
            signs: Arc::clone(self),
        }
    }

    /// Tells every so often who is there, until the server stops.
    pub async fn run(self: Arc<Signs>, mut end: watch::Receiver<bool>) {
        loop {
            tokio::select! {
                () = tokio::time::sleep(Duration::from_secs(BEAT_SECONDS)) => {}
                () = over(&mut end) => return,
            }
            let due = self.due();
            if !due.is_empty() {
                self.tell(due);
            }
        }
    }

    fn due(&self) -> Vec<Caller> {
        let mut acting = self.acting();
        let mut due = Vec::new();
        acting.retain(|caller, one| {
            let there = one.open > 0 || std::mem::take(&mut one.acted);
            if there {
                due.push(caller.clone());
            }
            there
        });
        due
    }

    fn tell(self: &Arc<Signs>, mut callers: Vec<Caller>) {
        callers.retain(|caller| caller.role.may_write());
        if callers.is_empty() {
            return;
        }
        let Ok(runtime) = Handle::try_current() else {
            return;
        };
        let signs = Arc::clone(self);
        // Beside the calls: nobody waits for it.
        runtime.spawn_blocking(move || {
            let Ok(engine) = signs.store.get() else {
                return;
            };
            for caller in &callers {
                match engine.touch(caller) {
                    Ok(told) => {
                        if let Some(one) = signs.acting().get_mut(caller) {
                            one.told = told;
                        }
                    }
                    Err(fault) => {
                        log::debug(format_args!("no sign of life could be given: {fault}"));
                    }
                }
            }
        });
    }

    fn acting(&self) -> std::sync::MutexGuard<'_, HashMap<Caller, Acting>> {
        self.acting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Sign {
    fn drop(&mut self) {
        let told = match self.signs.acting().get_mut(&self.caller) {
            Some(one) => {
                one.open -= 1;
                one.acted = true;
                one.told
            }
            None => true,
        };
        // It may have been the call that made the workspace.
        if !told {
            self.signs.tell(vec![self.caller.clone()]);
        }
    }
}
