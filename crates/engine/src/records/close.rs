//! `close_session`: ends a session and releases what it held.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use understory_model::error::Result;
use understory_model::limits;
use understory_model::text::plural;
use understory_storage::sessions;

use super::session::{Mark, change, few, find_directed, on_behalf};
use crate::Work;
use crate::kernel::content::session_event as event;
use crate::kernel::work::Edit;

/// The answer of `close_session`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Closed {
    pub success: bool,
    pub deactivated_records: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unsaved_warning: Option<String>,
}

/// `close_session`: ends the session; closing one that is closed changes nothing.
pub fn close(work: &mut Work<'_, '_>, mark: &Mark) -> Result<Closed> {
    let session = find_directed(work, mark.session.as_deref(), mark.project.as_deref())?;
    let mut answer = Closed {
        success: true,
        deactivated_records: Vec::new(),
        unsaved_warning: None,
    };
    if !session.open {
        return Ok(answer);
    }
    let ws = work.ws();
    answer.deactivated_records =
        sessions::held(work.read()?, ws, session.id, None, limits::SESSION_RECORDS)?;
    let unsaved = sessions::held(
        work.read()?,
        ws,
        session.id,
        Some(session.saved),
        limits::SESSION_RECORDS,
    )?;
    let (action, reason) = (event::CLOSED, mark.summary.clone());
    let by = on_behalf(work);
    let details = by.map(|by| by.value()).transpose()?;
    change(
        work,
        session.id,
        Edit {
            action,
            reason,
            details,
            ..Edit::default()
        },
    )?;
    if !unsaved.is_empty() {
        let (count, some) = (unsaved.len() as i64, few(&unsaved));
        answer.unsaved_warning = Some(format!(
            "{} changed since the last save_session: {some}. Every change is kept; \
             only the note of a save is missing.",
            plural(count, "record")
        ));
    }
    Ok(answer)
}
