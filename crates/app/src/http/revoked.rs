//! Whether a token was revoked, asked once for all who are answered at the same moment: one message
//! may end a thousand waits.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use understory_engine::kernel::revoked::{Issued, Revocations};
use understory_model::{Caller, Fault};

use super::state::AppState;

/// How long an answer of the store is used for others.
const MOMENT: Duration = Duration::from_millis(20);
/// Workspaces that are remembered; beyond that all are forgotten, which costs a read each.
const WORKSPACES: usize = 1_024;

/// What was revoked in each workspace, as of a moment ago.
#[derive(Default)]
pub struct Lately(Mutex<HashMap<String, Known>>);

#[derive(Clone)]
struct Known {
    at: Instant,
    /// `None` where there are too many to be remembered.
    all: Option<Arc<Revocations>>,
}

impl Lately {
    fn known(&self, workspace: &str) -> Option<Known> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = known.get(workspace);
        known.filter(|known| known.at.elapsed() < MOMENT).cloned()
    }

    fn note(&self, workspace: &str, known: Known) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= WORKSPACES {
            all.clear();
        }
        all.insert(workspace.to_owned(), known);
    }
}

/// Whether a token of the caller was revoked, up to a moment ago.
pub async fn is_revoked(app: &AppState, caller: &Caller, token: Issued<'_>) -> Result<bool, Fault> {
    let known = match app.lately.known(&caller.workspace) {
        Some(known) => known,
        None => {
            // As of before the read: what is revoked meanwhile may be missing in it.
            let at = Instant::now();
            let asked = caller.clone();
            let all = app.read(move |engine| engine.revocations(&asked)).await?;
            let all = all.map(Arc::new);
            let known = Known { at, all };
            app.lately.note(&caller.workspace, known.clone());
            known
        }
    };
    if let Some(all) = known.all {
        return Ok(all.has(token));
    }
    let (asked, jti) = (caller.clone(), token.jti.to_owned());
    let (session, at) = (token.session.to_owned(), token.at);
    let read = app.read(move |engine| {
        let issued = Issued {
            jti: &jti,
            session: &session,
            at,
        };
        engine.is_revoked(&asked, issued)
    });
    read.await
}
