//! A session that calls a tool has read what it was woken with: notes that beside the calls, at most
//! once a second for each session.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use understory_engine::threads::wake;
use understory_model::Caller;

use crate::log;
use crate::process;
use crate::store::Store;

/// How often a session is looked at.
const EVERY: Duration = Duration::from_secs(1);
/// Sessions that are remembered; beyond that all are forgotten, which costs a look each.
const SESSIONS: usize = 4_096;

/// When each session was last looked at, or will be.
#[derive(Default)]
pub struct Receipts {
    seen: Mutex<HashMap<(String, String), Instant>>,
}

impl Receipts {
    /// Notes that a session called a tool.
    pub fn called(&self, store: &Arc<Store>, caller: &Caller) {
        if !caller.role.may_write() {
            return;
        }
        let Some(rest) = self.rest(caller) else {
            return;
        };
        let (store, caller) = (Arc::clone(store), caller.clone());
        tokio::spawn(async move {
            tokio::time::sleep(rest).await;
            let look = move || {
                let Some(engine) = store.ready() else {
                    return;
                };
                if let Err(fault) = wake::called(engine, &caller, process::local()) {
                    log::debug(format_args!("a wake could not be marked as read: {fault}"));
                }
            };
            let _ = tokio::task::spawn_blocking(look).await;
        });
    }

    /// How long to wait before a look; `None` if one is due anyway.
    fn rest(&self, caller: &Caller) -> Option<Duration> {
        let key = (caller.workspace.clone(), caller.session.clone());
        let now = Instant::now();
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.len() > SESSIONS {
            seen.clear();
        }
        let next = match seen.get(&key) {
            Some(last) if *last > now => return None,
            Some(last) => (*last + EVERY).max(now),
            None => now,
        };
        seen.insert(key, next);
        Some(next - now)
    }
}
