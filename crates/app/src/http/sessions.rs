//! MCP sessions over HTTP, for clients of revisions before 2026-07-28, and whose each of them is.
//!
//! A session's name proves nothing: it works only with a token of the caller that began
//! it. To anybody else it does not exist.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rmcp::transport::streamable_http_server::session::SessionManager;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use serde_json::json;
use understory_model::{Caller, Code, Fault, limits};

/// How long a session may be silent. A chat waits for its person longer than for its server.
const SILENCE: Duration = Duration::from_secs(8 * 3_600);

/// The sessions and their owners.
pub struct Sessions {
    pub manager: Arc<LocalSessionManager>,
    owners: Mutex<HashMap<String, Owner>>,
}

struct Owner {
    caller: Caller,
    used: Instant,
}

impl Default for Sessions {
    fn default() -> Sessions {
        let mut manager = LocalSessionManager::default();
        manager.session_config.keep_alive = Some(SILENCE);
        Sessions {
            manager: Arc::new(manager),
            owners: Mutex::default(),
        }
    }
}

impl Sessions {
    /// Whether a session is this caller's; it then counts as used.
    pub fn is_of(&self, name: &str, caller: &Caller) -> bool {
        let mut owners = self.owners();
        match owners.get_mut(name) {
            Some(owner) if owner.caller == *caller => {
                owner.used = Instant::now();
                true
            }
            _ => false,
        }
    }

    /// Makes room for one more session of a caller: of too many of its own, the one that was used
    /// least lately ends.
    pub async fn make_room(&self, caller: &Caller) -> Result<(), Fault> {
        let there: HashSet<String> = {
            let sessions = self.manager.sessions.read().await;
            sessions.keys().map(|name| name.to_string()).collect()
        };
        let (oldest, same) = {
            let mut owners = self.owners();
            owners.retain(|name, _| there.contains(name));
            let same = owners
                .values()
                .filter(|owner| owner.caller.workspace == caller.workspace)
                .count();
            let own = owners.iter().filter(|(_, owner)| owner.caller == *caller);
            let many = own.clone().count() >= limits::MCP_SESSIONS_PER_CALLER;
            let oldest = own.min_by_key(|(_, owner)| owner.used);
            (oldest.filter(|_| many).map(|(name, _)| name.clone()), same)
        };
        if let Some(name) = oldest {
            self.owners().remove(&name);
            let _ = self.manager.close_session(&name.into()).await;
            return Ok(());
        }
        if there.len() < limits::MCP_SESSIONS && same < limits::MCP_SESSIONS_PER_WORKSPACE {
            return Ok(());
        }
        let problem = format!(
            "too many MCP sessions: at most {} of one workspace and {} in all",
            limits::MCP_SESSIONS_PER_WORKSPACE,
            limits::MCP_SESSIONS
        );
        Err(Fault::new(Code::RateLimited, problem).details(json!({ "retry_after_s": 30 })))
    }

    /// Says whose a new session is.
    pub fn begun(&self, name: &str, caller: &Caller) {
        let owner = Owner {
            caller: caller.clone(),
            used: Instant::now(),
        };
        self.owners().insert(name.to_owned(), owner);
    }

    pub fn count(&self) -> usize {
        self.owners().len()
    }

    fn owners(&self) -> std::sync::MutexGuard<'_, HashMap<String, Owner>> {
        self.owners.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
