//! `update_thread_status`: where a thread stands, and who may say so.

use serde_json::{Map, Value, json};
use understory_model::error::{Code, Fault, Result};
use understory_model::text::check_text;
use understory_model::{limits, thread};

use super::{Found, directs, find_to_change, text};
use crate::Work;
use crate::work::Edit;

/// A change of status to be made.
#[derive(Debug, Clone)]
pub struct Change {
    pub status: String,
    pub reason: Option<String>,
    pub metadata: Option<Map<String, Value>>,
}

/// Refuses a status that there is not.
pub fn check_name(status: &str) -> Result<()> {
    if thread::STATUSES.contains(&status) {
        return Ok(());
    }
    let problem = format!("must be one of {}", thread::STATUSES.join(", "));
    Err(Fault::invalid("status", problem).details(json!({ "allowed": thread::STATUSES })))
}

pub fn check(change: &Change) -> Result<()> {
    check_name(&change.status)?;
    if let Some(reason) = &change.reason {
        check_text("reason", reason, limits::LINE_CHARS, true)?;
    }
    let metadata = change.metadata.as_ref();
    let size = metadata.and_then(|metadata| serde_json::to_string(metadata).ok());
    let size = size.map_or(0, |text| text.len());
    if size > limits::METADATA_BYTES {
        let problem = format!("has {size} bytes; at most {} fit", limits::METADATA_BYTES);
        return Err(Fault::invalid("metadata", problem));
    }
    Ok(())
}

pub fn update(work: &mut Work<'_, '_>, handle: &str, change: &Change) -> Result<Value> {
    let found = find_to_change(work, handle)?;
    let (from, to) = (found.row.status.as_str(), change.status.as_str());
    if from == to {
        return Ok(answer(&found, to, &found.row.updated.to_string()));
    }
    if !thread::leads_to(from).contains(&to) {
        let problem = format!("{} is {from}, which does not lead to {to}", found.handle());
        let ways = json!({ "status": from, "leads_to": thread::leads_to(from) });
        return Err(Fault::conflict(problem).details(ways));
    }
    let disputed = found.row.open_findings > 0;
    if thread::overrides(from, to, disputed) && !directs(work.caller.role) {
        return Err(no_authority(&found, to, disputed));
    }
    let mut data = found.thing.data.clone();
    data.insert("status".into(), to.into());
    work.change(
        found.row.id,
        Edit {
            action: "status_changed",
            data: Some(data),
            reason: change.reason.clone(),
            details: change.metadata.clone().map(Value::Object),
            ..Edit::default()
        },
    )?;
    Ok(answer(&found, to, &work.now.to_string()))
}

fn answer(found: &Found, status: &str, updated: &str) -> Value {
    json!({ "thread_id": found.handle(), "status": status, "updated_at": updated })
}

fn no_authority(found: &Found, to: &str, disputed: bool) -> Fault {
    let (handle, from) = (found.handle(), text(&found.thing.data, "status"));
    let (problem, hint) = match (to, disputed) {
        (thread::CLOSED, true) => (
            format!(
                "{handle} is disputed (findings still open: {})",
                found.row.open_findings
            ),
            "Answer each with an event finding_verified or finding_withdrawn (in_reply_to its \
             message); summarize_thread lists them.",
        ),
        (thread::CLOSED, false) => (
            format!("{handle} is {from}"),
            "Make it active first, or ask an operator or an orchestrator.",
        ),
        _ => (
            format!("{handle} is closed"),
            "Ask an operator or an orchestrator to reopen it.",
        ),
    };
    Fault::new(
        Code::InsufficientAuthority,
        format!("{problem}: only an operator or an orchestrator may make it {to}"),
    )
    .details(json!({ "status": from, "open_findings": found.row.open_findings }))
    .hint(hint)
}
