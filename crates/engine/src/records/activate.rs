//! `activate`: a record with all that is needed to reason on, held by a session.

use serde_json::{Value, json};
use understory_model::budget::Budget;
use understory_model::error::Result;
use understory_model::item::Shown;
use understory_model::{Id, limits};
use understory_storage::sessions::{self, Session};

use super::context::{Context, change_since};
use super::{event, fields, find_to_change, session};
use crate::Work;
use crate::work::Edit;

/// What a caller wants.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    pub override_conflict: bool,
    pub session: Option<String>,
    pub parent_session: Option<String>,
}

pub fn activate(
    work: &mut Work<'_, '_>,
    handle: &str,
    wanted: &Wanted,
    budget: &Budget,
) -> Result<Value> {
    session::speak(work, wanted.session.as_deref())?;
    let id = find_to_change(work, handle)?;
    let thing = work.thing(id)?.clone();
    let (ws, home) = (work.ws(), thing.entity.project.unwrap_or_default());
    let others: Vec<Session> = sessions::holders(work.tx, ws, id, limits::PAGE)?
        .into_iter()
        .filter(|other| other.name != work.session)
        .collect();
    let known = match session::current(work, home)? {
        Some(session) => sessions::lease(work.tx, ws, session.id, id)?,
        None => None,
    };
    let session = session::enter(work, home, wanted.parent_session.as_deref())?;
    let changed = match known {
        Some(known) => change_since(work, &thing, known.seen)?,
        None => None,
    };
    let mut context = Context::load(work, &thing, &session, budget)?;
    let warnings = warnings(work, &session, &others, &context.shown)?;
    if !warnings.is_empty() {
        context.shown["warnings"] = warnings.into();
    }
    let mut answer = json!({
        "session_id": session.name,
        "already_loaded": known.is_some(),
    });
    if let Some(changed) = changed {
        answer["changed"] = changed;
    }
    if let Some(other) = others.first().filter(|_| !wanted.override_conflict) {
        answer["conflict"] = json!({
            "session_id": other.name,
            "last_activity": other.last_activity.to_string(),
            "message": contested(handle, &others),
        });
    }
    let (answer, shown) = context.fit(answer, budget);
    hold(work, &session, id, &others, wanted.override_conflict, shown)?;
    Ok(answer)
}

/// Writes down that the session works on the record, and that others do.
fn hold(
    work: &mut Work<'_, '_>,
    session: &Session,
    id: Id,
    others: &[Session],
    over: bool,
    shown: Shown,
) -> Result<()> {
    let about = work.named(id)?;
    let action = event::ACTIVATED;
    let edit = Edit {
        action,
        about: Some(about.clone()),
        shown: Some(shown),
        ..Edit::default()
    };
    session::change(work, session.id, edit)?;
    if others.is_empty() {
        return Ok(());
    }
    let names: Vec<&str> = others
        .iter()
        .map(|other| other.name.as_str())
        .take(10)
        .collect();
    let details = json!({ "sessions": names });
    let note = session::note_conflict;
    note(
        work,
        session.id,
        event::CONFLICT_DETECTED,
        about.clone(),
        details.clone(),
    )?;
    if over {
        note(work, session.id, event::CONFLICT_RESOLVED, about, details)?;
    }
    Ok(())
}

fn contested(handle: &str, others: &[Session]) -> String {
    let more = match others.len() {
        0 | 1 => String::new(),
        some => format!(" and {} more", some - 1),
    };
    let first = others.first().map_or("", |other| other.name.as_str());
    format!(
        "{handle} is active in session {first}{more}: ask the user before changing it, or activate \
         with override: true."
    )
}

fn warnings(
    work: &mut Work<'_, '_>,
    session: &Session,
    others: &[Session],
    context: &Value,
) -> Result<Vec<Value>> {
    let mut warnings = Vec::new();
    let handle = context["target"]["id"].as_str().unwrap_or_default();
    if !others.is_empty() {
        let sessions: Vec<Value> = others
            .iter()
            .take(10)
            .map(|other| {
                json!({ "session_id": other.name, "last_activity": other.last_activity.to_string() })
            })
            .collect();
        warnings.push(json!({
            "type": "conflict",
            "message": contested(handle, others),
            "details": { "sessions": sessions },
        }));
    }
    let home = work
        .core
        .project(work.tx, session.project)?
        .cloned()
        .unwrap_or_default();
    if session::is_stale(session, &home, work.rules.stale_after) {
        let gap = home.tick - session.sync_tick;
        warnings.push(json!({
            "type": "stale",
            "message": format!("{gap} writes occurred since this session's last sync: call sync_session."),
            "details": { "tick_gap": gap },
        }));
    }
    if context["parent"]["state"] == fields::DISCARDED {
        warnings.push(json!({
            "type": "orphan",
            "message": format!("{}, its parent, was discarded.", context["parent"]["id"].as_str().unwrap_or_default()),
            "details": { "parent_id": context["parent"]["id"] },
        }));
    }
    Ok(warnings)
}
