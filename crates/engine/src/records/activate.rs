//! `activate`: a record with all that is needed to reason on, held by a session.

use serde_json::{Value, json};
use understory_model::budget::Budget;
use understory_model::error::Result;
use understory_model::item::Shown;
use understory_model::{Id, limits};
use understory_storage::sessions::{self, Session};

use super::context::{Context, change_since};
use super::others::{self, Case, Moment, Other, contested};
use super::{event, fields, find_to_change, session};
use crate::Work;
use crate::work::Edit;

/// Sessions that left a record active, of which an answer tells.
const LEFT: usize = 3;

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
    let moment = Moment {
        now: work.now,
        window: work.rules.conflict_window,
    };
    let mut all = others::holders(work.tx, ws, id, moment, limits::PAGE)?;
    all.retain(|other| other.session.name != work.session);
    let known = match session::current(work, home)? {
        Some(session) => sessions::lease(work.tx, ws, session.id, id)?,
        None => None,
    };
    let parent = wanted.parent_session.as_deref();
    let session = session::enter(work, home, parent)?;
    let childless = work
        .core
        .record(work.tx, id)?
        .is_some_and(|row| row.children == 0);
    let case = Case {
        record: id,
        handed_on: childless && thing.entity.parent.is_some(),
        own: known,
        continued: [parent, session.parent.as_deref()],
    };
    let others = others::contenders(&all, &case);
    let changed = match known {
        Some(known) => change_since(work, &thing, known.seen)?,
        None => None,
    };
    let mut context = Context::load(work, &thing, &session, budget)?;
    let told: &[Other] = match wanted.override_conflict {
        true => &[],
        false => &others,
    };
    let warnings = warnings(work, &session, told, &context.shown)?;
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
    if let Some(other) = told.first() {
        answer["conflict"] = json!(other.shown());
        answer["conflict"]["message"] = contested(handle, told, work.now).into();
    }
    let left = all.iter().filter(|other| !other.current).take(LEFT);
    let left: Vec<_> = left.map(Other::shown).collect();
    if !left.is_empty() {
        answer["left_active_by"] = json!(left);
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
    others: &[Other],
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
        .map(|other| other.session.name.as_str())
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

fn warnings(
    work: &mut Work<'_, '_>,
    session: &Session,
    others: &[Other],
    context: &Value,
) -> Result<Vec<Value>> {
    let mut warnings = Vec::new();
    let handle = context["target"]["id"].as_str().unwrap_or_default();
    if !others.is_empty() {
        let sessions: Vec<_> = others.iter().take(10).map(Other::shown).collect();
        warnings.push(json!({
            "type": "conflict",
            "message": contested(handle, others, work.now),
            "details": { "sessions": sessions },
        }));
    }
    let home = work
        .core
        .project(work.tx, session.project)?
        .cloned()
        .unwrap_or_default();
    if session::is_stale(session, &home, work.rules.stale_after) {
        let gap = session.gap(home.tick);
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
