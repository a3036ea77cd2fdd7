//! `update_thread_status`: where a thread stands and who takes part, and who may say so.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use understory_model::error::{Code, Fault, Result};
use understory_model::text::{check_text, quoted};
use understory_model::thread::Status;
use understory_model::{Caller, Time, limits};

use super::create::{Unknown, check_names, too_many, unknown};
use super::turn::{PARTICIPANTS_ADDED, PARTICIPANTS_REMOVED, STATUS_CHANGED};
use super::{Found, directs, find_to_change, wake};
use crate::Work;
use crate::kernel::checked::{Check, Checked};
use crate::kernel::content::message::participants;
use crate::kernel::work::Edit;

/// A change to be made.
#[derive(Debug, Clone)]
pub struct Change {
    pub status: Option<Status>,
    /// Who takes part from now on.
    pub add: Vec<String>,
    /// Who takes part no more, and reads nothing of it from now on.
    pub remove: Vec<String>,
    pub reason: Option<String>,
    pub metadata: Option<Map<String, Value>>,
}

/// The answer of `update_thread_status`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Updated {
    pub thread_id: String,
    pub status: Status,
    pub updated_at: Time,
    /// Who takes part now, where the call was to change that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub participants: Option<Vec<String>>,
    /// Added participants that were never seen in this workspace.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unknown_participants: Vec<Unknown>,
}

impl Check for Change {
    fn check(&self) -> Result<()> {
        if self.status.is_none() && self.add.is_empty() && self.remove.is_empty() {
            return Err(Fault::invalid("status", "is required")
                .hint("Give a status, add_participants or remove_participants."));
        }
        check_names("add_participants", &self.add)?;
        if let Some(both) = self.remove.iter().find(|name| self.add.contains(name)) {
            let problem = format!("names {}, who is to be added too", quoted(both));
            return Err(Fault::invalid("remove_participants", problem));
        }
        if let Some(reason) = &self.reason {
            check_text("reason", reason, limits::LINE_CHARS, true)?;
        }
        let metadata = self.metadata.as_ref();
        let size = metadata.and_then(|metadata| serde_json::to_string(metadata).ok());
        let size = size.map_or(0, |text| text.len());
        if size > limits::METADATA_BYTES {
            let problem = format!("has {size} bytes; at most {} fit", limits::METADATA_BYTES);
            return Err(Fault::invalid("metadata", problem));
        }
        Ok(())
    }
}

pub fn update(work: &mut Work<'_, '_>, handle: &str, change: &Checked<Change>) -> Result<Updated> {
    let found = find_to_change(work, handle)?;
    let from = found.row.status;
    let to = change.status.filter(|to| *to != from);
    if let Some(to) = to {
        check_way(work, &found, to)?;
    }
    let mut data = found.thing.data.clone();
    let added = added(&found, &change.add);
    let removed = removed(work.caller, &found, &change.remove)?;
    if found.participants().len() + added.len() > limits::PARTICIPANTS {
        let count = found.participants().len() + added.len();
        return Err(too_many("add_participants", count));
    }
    if to.is_none() && added.is_empty() && removed.is_empty() {
        return answer(work, &found, change, from, found.row.updated);
    }
    let only_removed = added.is_empty();
    for name in &removed {
        wake::left(work, found.row.id, name)?;
    }
    if let Some(Value::Array(participants)) = data.get_mut("participants") {
        participants.retain(|name| !removed.iter().any(|gone| name == gone));
        participants.extend(added.into_iter().map(Value::from));
    }
    data.insert("status".into(), to.unwrap_or(from).as_str().into());
    let action = match to {
        Some(_) => STATUS_CHANGED,
        None if only_removed => PARTICIPANTS_REMOVED,
        None => PARTICIPANTS_ADDED,
    };
    work.change(
        found.row.id,
        Edit {
            action,
            data: Some(data),
            reason: change.reason.clone(),
            details: change.metadata.clone().map(Value::Object),
            ..Edit::default()
        },
    )?;
    if to == Some(Status::Closed) {
        wake::not_needed(work, found.row.id)?;
    }
    let now = work.now;
    answer(work, &found, change, to.unwrap_or(from), now)
}

/// Refuses an unknown transition, or one that the caller may not make.
fn check_way(work: &Work<'_, '_>, found: &Found, to: Status) -> Result<()> {
    let from = found.row.status;
    if !from.leads_to().contains(&to) {
        let problem = format!("{} is {from}, which does not lead to {to}", found.handle());
        return Err(Fault::conflict(problem)
            .detail("status", from)
            .detail("leads_to", from.leads_to()));
    }
    let disputed = found.row.open_findings > 0;
    if from.overrides(to, disputed) && !directs(work.caller.role) {
        Err(no_authority(found, to, disputed))
    } else {
        Ok(())
    }
}

/// Those of the named who take no part yet, each once.
fn added<'c>(found: &Found, names: &'c [String]) -> Vec<&'c str> {
    let there = found.participants();
    let mut new: Vec<&str> = Vec::new();
    for name in names {
        if !there.contains(&name.as_str()) && !new.contains(&name.as_str()) {
            new.push(name);
        }
    }
    new
}

/// Those of the named who take part. One may leave a thread oneself; its creator, and those who
/// direct, may remove others. The creator stays.
fn removed<'c>(caller: &Caller, found: &Found, names: &'c [String]) -> Result<Vec<&'c str>> {
    let maker = found.thing.entity.created_by.as_str();
    if names.iter().any(|name| name == maker) {
        let problem = format!("names {}, who made the thread", quoted(maker));
        return Err(Fault::invalid("remove_participants", problem)
            .hint("The creator of a thread always takes part in it."));
    }
    let others = names.iter().any(|name| *name != caller.agent);
    if others && caller.agent != maker && !directs(caller.role) {
        let message =
            "only the creator of the thread, an operator or an orchestrator can remove others";
        return Err(Fault::new(Code::InsufficientAuthority, message)
            .detail("field", "remove_participants")
            .hint("Name yourself alone to leave the thread."));
    }
    let there = found.participants();
    let mut gone: Vec<&str> = names.iter().map(String::as_str).collect();
    gone.retain(|name| there.contains(name));
    gone.dedup();
    Ok(gone)
}

fn answer(
    work: &mut Work<'_, '_>,
    found: &Found,
    change: &Change,
    status: Status,
    updated_at: Time,
) -> Result<Updated> {
    let mut answer = Updated {
        thread_id: found.handle().to_string(),
        status,
        updated_at,
        participants: None,
        unknown_participants: Vec::new(),
    };
    if !change.add.is_empty() || !change.remove.is_empty() {
        let now = participants(&work.thing(found.row.id)?.data);
        answer.participants = Some(now.map(str::to_string).collect());
        answer.unknown_participants = unknown(work, &change.add)?;
    }
    Ok(answer)
}

fn no_authority(found: &Found, to: Status, disputed: bool) -> Fault {
    let (handle, from) = (found.handle(), found.row.status);
    let (problem, hint) = match (to, disputed) {
        (Status::Closed, true) => (
            format!(
                "{handle} is disputed (findings still open: {})",
                found.row.open_findings
            ),
            "Who reported a finding settles it; summarize_thread lists what is open and by whom. \
             Or ask an operator or an orchestrator.",
        ),
        (Status::Closed, false) => (
            format!("{handle} is {from}"),
            "Make it active first, or ask an operator or an orchestrator.",
        ),
        (Status::Active | Status::Blocked | Status::Resolved, _) => (
            format!("{handle} is closed"),
            "Ask an operator or an orchestrator to reopen it.",
        ),
    };
    Fault::new(
        Code::InsufficientAuthority,
        format!("{problem}: only an operator or an orchestrator may make it {to}"),
    )
    .detail("status", from)
    .detail("open_findings", found.row.open_findings)
    .hint(hint)
}
