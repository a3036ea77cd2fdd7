//! Logins, and tokens that were refused, as audit events in the log of their workspace.
//!
//! Callers who prove nothing write nothing: only a token with a valid signature leaves an item,
//! in a workspace that is there and that its signer may name. Refusals for one reason in one
//! workspace are one item at once and then one every `WINDOW`, with their number.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use understory_engine::system::audit::{Event, Reason, SERVER, Token};
use understory_model::{Caller, Fault, Role, Via};

use super::state::AppState;
use crate::log;

/// How long refusals are gathered.
const WINDOW: Duration = Duration::from_secs(600);

/// Refusals that are gathered now.
#[derive(Default)]
pub struct Refusals {
    open: Mutex<HashMap<Key, Gathered>>,
}

type Key = (String, Reason);

#[derive(Debug, Default, PartialEq, Eq)]
struct Gathered {
    count: u64,
    last: Token,
}

impl Refusals {
    /// Counts one more; whether it is the first, which is to be told at once.
    fn add(&self, key: &Key, token: &Token) -> bool {
        let mut open = self.locked();
        match open.get_mut(key) {
            Some(gathered) => {
                gathered.count += 1;
                gathered.last.clone_from(token);
                false
            }
            None => {
                open.insert(key.clone(), Gathered::default());
                true
            }
        }
    }

    /// What was gathered since the last time; with none, the next one is a first one again.
    fn take(&self, key: &Key) -> Option<Gathered> {
        let mut open = self.locked();
        let gathered = open.get_mut(key).map(std::mem::take);
        let gathered = gathered.filter(|gathered| gathered.count > 0);
        if gathered.is_none() {
            open.remove(key);
        }
        gathered
    }

    fn locked(&self) -> MutexGuard<'_, HashMap<Key, Gathered>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Notes that a token with a valid signature was refused.
pub fn refused(app: &Arc<AppState>, reason: Reason, workspace: Option<String>, token: Token) {
    let Some(workspace) = workspace else {
        return;
    };
    let key = (workspace, reason);
    if app.refusals.add(&key, &token) {
        tokio::spawn(follow(Arc::clone(app), key, token));
    }
}

/// Tells the first refusal, and then how many followed, until none do.
async fn follow(app: Arc<AppState>, key: Key, first: Token) {
    let mut next = Gathered {
        count: 1,
        last: first,
    };
    loop {
        let caller = server(&key.0);
        let event = Event::TokenRefused {
            reason: key.1,
            count: next.count,
            token: next.last,
        };
        let write = move |engine: &understory_engine::Engine| engine.audit_if_there(&caller, event);
        match run_blocking(&app, write).await {
            Ok(Some(_)) => {}
            Ok(None) => {
                app.refusals.locked().remove(&key);
                return;
            }
            Err(fault) => log::warn(format_args!("a refused token was not noted: {fault}")),
        }
        tokio::time::sleep(WINDOW).await;
        match app.refusals.take(&key) {
            Some(gathered) => next = gathered,
            None => return,
        }
    }
}

/// Notes what a person did with a login. A store that does not take it does not keep the person
/// out: they may be there to mend it.
pub async fn person(app: &Arc<AppState>, person: &Caller, event: Event) {
    let caller = Caller {
        // Whatever the role, it is the server that writes.
        role: Role::Operator,
        ..person.clone()
    };
    let write = move |engine: &understory_engine::Engine| engine.audit(&caller, event);
    if let Err(fault) = run_blocking(app, write).await {
        log::warn(format_args!("a login was not noted: {fault}"));
    }
}

/// The server itself, in a workspace.
fn server(workspace: &str) -> Caller {
    Caller {
        workspace: workspace.to_owned(),
        origin: None,
        agent: SERVER.to_owned(),
        session: SERVER.to_owned(),
        role: Role::Operator,
        project: "default".to_owned(),
        via: Via::Token,
    }
}

/// Writes in a thread that may wait.
async fn run_blocking<T: Send + 'static>(
    app: &Arc<AppState>,
    work: impl FnOnce(&understory_engine::Engine) -> Result<T, Fault> + Send + 'static,
) -> Result<T, Fault> {
    let store = Arc::clone(&app.store);
    let done = tokio::task::spawn_blocking(move || work(&*store.get()?)).await;
    done.unwrap_or_else(|_| {
        Err(Fault::new(
            understory_model::Code::Internal,
            "internal error: an audit event was not written",
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_refusals_are_one_and_then_a_number() {
        let refusals = Refusals::default();
        let key = ("garden".to_owned(), Reason::Expired);
        let token = |jti: &str| Token {
            jti: jti.into(),
            ..Token::default()
        };
        assert!(refusals.add(&key, &token("a")));
        for _ in 0..1_000 {
            assert!(!refusals.add(&key, &token("b")));
        }
        let other = ("garden".to_owned(), Reason::Revoked);
        assert!(
            refusals.add(&other, &token("c")),
            "another reason is another item"
        );
        let gathered = refusals.take(&key).unwrap();
        assert_eq!((gathered.count, gathered.last.jti.as_str()), (1_000, "b"));
        assert!(!refusals.add(&key, &token("d")), "they go on");
        assert_eq!(refusals.take(&key).unwrap().count, 1);
        assert!(refusals.take(&key).is_none());
        assert!(refusals.add(&key, &token("e")), "a first one again");
    }
}
