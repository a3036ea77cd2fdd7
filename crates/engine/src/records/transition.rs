//! `transition`: a record's next state.

use serde_json::{Value, json};
use understory_model::Id;
use understory_model::error::{Code, Fault, Result};
use understory_model::item::LinkChange;
use understory_model::link::RESOLVED_BY;
use understory_model::text::plural;
use understory_storage::records;

use super::create::settled_by;
use super::seen::{Known, activated};
use super::update::{changed_by, whole};
use super::{event, fields, find_to_change, session, shape};
use crate::Work;
use crate::work::Edit;

/// Open children that a warning names.
const NAMED: i64 = 100;

/// What a caller wants.
#[derive(Debug, Clone)]
pub struct Wanted {
    pub to: String,
    pub reason: Option<String>,
    pub resolved_by: Option<String>,
}

pub fn check(wanted: &Wanted) -> Result<()> {
    fields::check_state("to_state", &wanted.to)?;
    if let Some(reason) = &wanted.reason {
        fields::check_reason(reason)?;
    }
    let missing = |text: &Option<String>| text.as_deref().unwrap_or_default().trim().is_empty();
    match wanted.to.as_str() {
        fields::LATER | fields::DISCARDED if missing(&wanted.reason) => Err(Fault::invalid(
            "reason",
            format!("is required for {}", wanted.to),
        )
        .hint("Say why, for whoever reads it later.")),
        fields::RESOLVED if missing(&wanted.resolved_by) => {
            Err(Fault::invalid("resolved_by", "is required for RESOLVED")
                .hint("Name the record that holds the answer; create it if there is none."))
        }
        _ => fields::check_resolved_by(&wanted.to, wanted.resolved_by.as_deref()),
    }
}

/// The answer; where another session changed the state, `conflict`, which [`refusal`] turns into the
/// error. That is not an error here, because then the log could not keep that it happened.
pub fn transition(
    work: &mut Work<'_, '_>,
    handle: &str,
    wanted: &Wanted,
    named: Option<&str>,
) -> Result<Value> {
    session::speak(work, named)?;
    let id = find_to_change(work, handle)?;
    let known = activated(work, id, handle)?;
    let session = &known.session;
    let contested = work
        .core
        .record(work.tx, id)?
        .is_some_and(|row| known.is_behind(row.state_changed));
    if contested {
        return refused(work, id, &known, wanted);
    }
    let mut data = work.thing(id)?.data.clone();
    let from = fields::state(&data).to_string();
    check_allowed(handle, &from, &wanted.to)?;
    let links = resolver(work, id, wanted.resolved_by.as_deref())?;
    data.insert("state".into(), wanted.to.clone().into());
    match wanted
        .reason
        .as_ref()
        .filter(|text| !text.trim().is_empty())
    {
        Some(reason) => data.insert("reason".into(), reason.clone().into()),
        None => data.remove("reason"),
    };
    match &wanted.resolved_by {
        Some(by) => data.insert("resolved_by".into(), by.clone().into()),
        None => data.remove("resolved_by"),
    };
    let tick = Some(session::next_tick(work, session.project)?);
    let (action, data, reason) = (event::TRANSITIONED, Some(data), wanted.reason.clone());
    work.change(
        id,
        Edit {
            action,
            data,
            links,
            reason,
            tick,
            ..Edit::default()
        },
    )?;
    let mut answer = json!({ "record": whole(work, id)? });
    if wanted.to != fields::OPEN {
        warn(work, id, handle, &mut answer)?;
    }
    Ok(answer)
}

/// Notes the conflict, and tells it.
fn refused(work: &mut Work<'_, '_>, id: Id, known: &Known, wanted: &Wanted) -> Result<Value> {
    let (about, current) = (work.named(id)?, whole(work, id)?);
    let message = changed_by(work, id, &about.handle, known)?;
    let details = json!({ "to_state": wanted.to });
    let session = known.session.id;
    session::note_conflict(work, session, event::CONFLICT_DETECTED, about, details)?;
    Ok(json!({ "conflict": { "message": message, "current": current } }))
}

/// The error that an answer with a conflict stands for.
pub fn refusal(answer: &Value) -> Option<Fault> {
    let conflict = answer.get("conflict")?;
    let message = conflict["message"].as_str().unwrap_or_default();
    let fault = Fault::new(Code::Conflict, message)
        .details(json!({ "current": conflict["current"] }))
        .hint("Sync and resolve: sync_session, or activate it again, then decide anew.");
    Some(fault)
}

fn check_allowed(handle: &str, from: &str, to: &str) -> Result<()> {
    let allowed = fields::next_states(from);
    if allowed.contains(&to) {
        return Ok(());
    }
    Err(Fault::new(
        Code::InvalidTransition,
        format!("{handle} is {from}, which does not lead to {to}"),
    )
    .details(json!({ "from": from, "to": to, "allowed": allowed }))
    .hint(format!(
        "From {from} it can become {}.",
        allowed.join(" or ")
    )))
}

/// What of the link to the record that settled this one changes.
fn resolver(work: &mut Work<'_, '_>, id: Id, by: Option<&str>) -> Result<Vec<LinkChange>> {
    let mut links = Vec::new();
    for old in work.core.targets(work.tx, id, RESOLVED_BY)? {
        links.push(LinkChange {
            relation: RESOLVED_BY.to_string(),
            to: work.named(old)?,
            remove: true,
        });
    }
    if let Some(by) = by {
        let home = work.thing(id)?.entity.project.unwrap_or_default();
        links.push(settled_by(work, Some(id), home, by)?);
    }
    Ok(links)
}

/// Tells of children that stay open: nothing cascades by itself.
fn warn(work: &mut Work<'_, '_>, id: Id, handle: &str, answer: &mut Value) -> Result<()> {
    let count = work
        .core
        .record(work.tx, id)?
        .map_or(0, |row| row.open_children);
    if count == 0 {
        return Ok(());
    }
    work.flush()?;
    let ws = work.ws();
    let open: Vec<_> = records::children(work.tx, ws, id, i64::MAX)?
        .into_iter()
        .filter(|row| row.state == fields::OPEN)
        .take(NAMED as usize)
        .collect();
    answer["cascade_warning"] = json!({
        "open_children": shape::references(&open),
        "message": format!(
            "{handle} has {}; a change of its state changes none of them: look at each.",
            plural(count, "open child record")
        ),
    });
    Ok(())
}
