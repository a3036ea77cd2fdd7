//! `activate`: a record with all that is needed to reason on, held by a session.

use serde_json::{Value, json};
use understory_model::budget::{Budget, fit_lists};
use understory_model::error::Result;
use understory_model::limits;
use understory_model::{Id, Seq};
use understory_storage::sessions::{self, Session};
use understory_storage::{entities, records};

use super::diff::{between, without_body};
use super::others::{self, Case, Moment, Other, contested};
use super::{event, fields, find_to_change, session, shape};
use crate::Work;
use crate::core::Thing;
use crate::versions::{self, Version};
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
    let (lease, known) = match session::current(work, home)? {
        Some(session) => {
            let lease = sessions::lease(work.tx, ws, session.id, id)?;
            (lease, lease.map(|lease| lease.seen.max(session.synced)))
        }
        None => (None, None),
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
        own: lease,
        continued: [parent, session.parent.as_deref()],
    };
    let others = others::contenders(&all, &case);
    let changed = match known {
        Some(seen) => change_since(work, &thing, seen)?,
        None => None,
    };
    let mut context = context(work, &thing, budget)?;
    let told: &[Other] = match wanted.override_conflict {
        true => &[],
        false => &others,
    };
    let warnings = warnings(work, &session, told, &context)?;
    if !warnings.is_empty() {
        context["warnings"] = warnings.into();
    }
    hold(work, &session, id, &others, wanted.override_conflict)?;
    let mut answer = json!({
        "session_id": session.name,
        "already_loaded": known.is_some(),
    });
    // Moved: `json!` would copy all of it.
    answer["context"] = context;
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
    Ok(fitted(answer, budget))
}

/// Writes down that the session works on the record, and that others do.
fn hold(
    work: &mut Work<'_, '_>,
    session: &Session,
    id: Id,
    others: &[Other],
    over: bool,
) -> Result<()> {
    let about = work.named(id)?;
    let action = event::ACTIVATED;
    let edit = Edit {
        action,
        about: Some(about.clone()),
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

/// How a record differs from what the session last saw of it.
fn change_since(work: &mut Work<'_, '_>, now: &Thing, seen: i64) -> Result<Option<Value>> {
    let ws = work.ws();
    let newer = work
        .core
        .record(work.tx, now.entity.id)?
        .is_some_and(|row| row.changed > seen);
    if !newer {
        return Ok(None);
    }
    let Some(old) = versions::at(work.tx, ws, now, seen)? else {
        return Ok(None);
    };
    let new = Version {
        number: now.entity.version,
        seq: Seq::MAX,
        data: now.data.clone(),
        at: now.entity.updated_at,
    };
    Ok(Some(json!({
        "from_version": old.number,
        "to_version": new.number,
        "diff": between(&old, &new, &now.entity.handle),
    })))
}

/// The record, what is above it and what is below it, by the rules of loading.
fn context(work: &mut Work<'_, '_>, target: &Thing, budget: &Budget) -> Result<Value> {
    let ws = work.ws();
    work.flush()?;
    let tx = &mut *work.tx;
    let (id, handle) = (target.entity.id, target.entity.handle.as_str());
    let parent = match target.entity.parent {
        Some(parent) => entities::get(tx, ws, parent)?
            .map(Thing::open)
            .transpose()?,
        None => None,
    };
    let parent = match &parent {
        Some(parent) => Some((parent.entity.handle.clone(), shape::whole(tx, ws, parent)?)),
        None => None,
    };
    // Nothing shown takes less than a hundred characters, so no more than these can fit.
    let most = i64::try_from(budget.chars / 100).unwrap_or(i64::MAX).max(1);
    let mut open = Vec::new();
    for entity in records::children_in(tx, ws, id, fields::OPEN, most.min(limits::PAGE))? {
        open.push(shape::record(&Thing::open(entity)?, Some(handle)));
    }
    let children = records::children(tx, ws, id, most)?;
    let other: Vec<_> = children
        .iter()
        .filter(|row| row.state != fields::OPEN)
        .map(shape::reference)
        .collect();
    let below = records::grandchildren(tx, ws, id, most)?;
    let all: i64 = records::get(tx, ws, id)?.map_or(0, |row| row.children);
    let expected: i64 = children.iter().map(|row| row.children).sum();
    let shown = open.len() + other.len();
    let mut context = json!({ "children": {} });
    context["target"] = shape::record(target, parent.as_ref().map(|(handle, _)| handle.as_str()));
    context["parent"] = parent.map_or(Value::Null, |(_, record)| record);
    context["children"]["open"] = open.into();
    context["children"]["other"] = other.into();
    context["grandchildren"] = shape::references(&below).into();
    if (shown as i64) < all || (below.len() as i64) < expected {
        context["truncated"] = true.into();
    }
    Ok(context)
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

/// Drops what is farthest from the record first: grandchildren, children, the parent's body, its
/// own body.
fn fitted(mut answer: Value, budget: &Budget) -> Value {
    if answer["context"]["truncated"] == true {
        answer["truncated"] = true.into();
        if let Some(context) = answer["context"].as_object_mut() {
            context.remove("truncated");
        }
    }
    for list in [
        "/context/grandchildren",
        "/context/children/other",
        "/context/children/open",
    ] {
        if fit_lists(&mut answer, &[list], budget) {
            return answer;
        }
    }
    for record in ["parent", "target"] {
        if let Some(diff) = answer.pointer_mut("/changed/diff") {
            without_body(diff);
        }
        without_body(&mut answer["context"][record]);
        if budget.holds(&answer) {
            return answer;
        }
    }
    let least = json!({
        "session_id": answer["session_id"],
        "already_loaded": answer["already_loaded"],
        "truncated": true,
    });
    if budget.holds(&least) {
        least
    } else {
        json!({ "truncated": true })
    }
}
