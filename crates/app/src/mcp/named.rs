//! Which workspace a client is in, by its real name: another repository may have had the wanted name
//! first.
//!
//! It never holds up the messages: while the store cannot say, the wanted name stands.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use understory_engine::{Clash, Resolved};
use understory_model::{Caller, Fault};

use crate::store::Store;

/// What the store said.
#[derive(Debug, Clone)]
struct Said {
    name: String,
    /// Whether the workspace is there, so that the name cannot change any more.
    settled: bool,
    clash: Option<Clash>,
}

/// The workspace's name when it was last asked for.
#[derive(Debug, Default)]
pub struct Named(Mutex<Option<Said>>);

impl Named {
    /// The name as far as it is known without asking.
    pub fn now(&self) -> Option<String> {
        self.said().map(|said| said.name)
    }

    /// Why it is not the wanted one, if it is not.
    pub fn clash(&self) -> Option<Clash> {
        self.said()?.clash
    }

    /// Asks the store, unless the name is settled or was given on purpose.
    pub async fn ask(&self, store: &Arc<Store>, caller: Caller, patience: Duration) {
        let settled = self.said().is_some_and(|said| said.settled);
        if caller.origin.is_none() || settled {
            return;
        }
        // A server must not be asked by the thread that reads the messages.
        let store = Arc::clone(store);
        let asked = tokio::task::spawn_blocking(move || look(&store, &caller));
        if let Ok(Ok(Ok(said))) = tokio::time::timeout(patience, asked).await {
            *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(said);
        }
    }

    fn said(&self) -> Option<Said> {
        let said = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        said.clone()
    }
}

fn look(store: &Store, caller: &Caller) -> Result<Said, Fault> {
    let engine = store.get()?;
    let found = engine.workspace(caller)?;
    Ok(Said {
        name: found.name().to_owned(),
        settled: matches!(found, Resolved::There(_)),
        clash: engine.clash(caller)?,
    })
}
