//! `save_session`: marks how far a session got.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use understory_model::error::Result;
use understory_model::{Time, limits};
use understory_storage::sessions;

use super::session::{Mark, change, enter, find_to_change, next_tick};
use crate::Work;
use crate::kernel::content::session_event as event;
use crate::kernel::work::Edit;

/// The answer of `save_session`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Saved {
    pub success: bool,
    /// The active records that changed since the last save.
    pub saved_records: Vec<String>,
    pub last_save: Time,
}

/// `save_session`: keeps that the session got this far.
pub fn save(work: &mut Work<'_, '_>, mark: &Mark) -> Result<Saved> {
    let found = find_to_change(work, mark.session.as_deref(), mark.project.as_deref())?;
    let session = enter(work, found.project, None)?;
    let ws = work.ws();
    let saved = sessions::held(
        work.read()?,
        ws,
        session.id,
        Some(session.saved),
        limits::SESSION_RECORDS,
    )?;
    let tick = Some(next_tick(work, session.project)?);
    let (action, reason) = (event::SAVED, mark.summary.clone());
    change(
        work,
        session.id,
        Edit {
            action,
            reason,
            tick,
            ..Edit::default()
        },
    )?;
    Ok(Saved {
        success: true,
        saved_records: saved,
        last_save: work.now,
    })
}
