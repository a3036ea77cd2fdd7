//! `transition`: a record's next state.

use serde_json::{Value, json};
use understory_model::error::{Code, Fault, Result};
use understory_model::item::LinkChange;
use understory_model::link::RESOLVED_BY;
use understory_model::text::{check_text, plural};
use understory_model::{Id, limits};
use understory_storage::records;

use super::update::{activated, changed_by, whole};
use super::{event, fields, find_to_change, session, shape};
use crate::Work;
use crate::work::Edit;

/// Open children that a warning names.
const MOST: i64 = 100;

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
        check_text("reason", reason, limits::TEXT_CHARS, true)?;
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
        fields::RESOLVED => Ok(()),
        _ if wanted.resolved_by.is_some() => Err(Fault::invalid(
            "resolved_by",
            format!("is only for RESOLVED, not for {}", wanted.to),
        )),
        _ => Ok(()),
    }
}

pub fn transition(
    work: &mut Work<'_, '_>,
    handle: &str,
    wanted: &Wanted,
    named: Option<&str>,
) -> Result<Value> {
    session::speak(work, named)?;
    let id = find_to_change(work, handle)?;
    let (session, seen) = activated(work, id, handle)?;
    check_unchanged(work, id, handle, seen)?;
    let mut data = work.thing(id)?.data.clone();
    let from = fields::state(&data).to_string();
    check_allowed(handle, &from, &wanted.to)?;
    let links = resolver(work, id, wanted.resolved_by.as_deref())?;
    data.insert("state".into(), wanted.to.clone().into());
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

/// Refuses when another session changed the state since this one last saw it.
fn check_unchanged(work: &mut Work<'_, '_>, id: Id, handle: &str, seen: i64) -> Result<()> {
    // A session has seen what it wrote itself.
    let contested = work
        .core
        .record(work.tx, id)?
        .is_some_and(|row| row.state_changed > seen);
    if !contested {
        return Ok(());
    }
    let own = work.session.clone();
    let message = changed_by(work, id, handle, &own)?;
    let current = whole(work, id)?;
    Err(Fault::new(Code::Conflict, message)
        .details(json!({ "current": current }))
        .hint("Sync and resolve: sync_session, or activate it again, then decide anew."))
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
    let relation = || RESOLVED_BY.to_string();
    for old in work.core.targets(work.tx, id, RESOLVED_BY)? {
        links.push(LinkChange {
            relation: relation(),
            to: work.named(old)?,
            remove: true,
        });
    }
    if let Some(by) = by {
        let to = find_to_change(work, by)?;
        links.push(LinkChange {
            relation: relation(),
            to: work.named(to)?,
            remove: false,
        });
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
        .take(MOST as usize)
        .collect();
    answer["cascade_warning"] = json!({
        "open_children": shape::references(&open),
        "message": format!(
            "{handle} has {} that stay open: look at each.",
            plural(count, "open child record")
        ),
    });
    Ok(())
}
