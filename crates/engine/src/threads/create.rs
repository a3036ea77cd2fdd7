//! `create_thread`: a place where agents talk about one thing.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Map;
use understory_model::error::{Fault, Result};
use understory_model::id::HandleKind;
use understory_model::name::{self, is_name};
use understory_model::nearest::nearest;
use understory_model::text::check_text;
use understory_model::thread::{Purpose, Status};
use understory_model::{Time, limits};
use understory_storage::agents;

use crate::Work;
use crate::kernel::checked::{Check, Checked};
use crate::kernel::work::Create;
use crate::kinds::EntityKind;

/// Names that are offered for one that nobody has, and how many such ones an answer names.
const NEAREST: usize = 3;
const UNKNOWN: usize = 20;

/// A thread to be made.
#[derive(Debug, Clone)]
pub struct NewThread {
    pub title: String,
    pub purpose: Purpose,
    pub participants: Vec<String>,
}

impl Check for NewThread {
    fn check(&self) -> Result<()> {
        check_text("title", &self.title, limits::LINE_CHARS, false)?;
        check_names("participants", &self.participants)
    }
}

/// Refuses names that no agent can have, and too many.
pub(super) fn check_names(field: &str, names: &[String]) -> Result<()> {
    if names.len() > limits::PARTICIPANTS {
        return Err(too_many(field, names.len()));
    }
    for (at, agent) in names.iter().enumerate() {
        if !is_name(agent) {
            let problem = format!("is not the name of an agent: {}", name::rule());
            return Err(Fault::invalid(format!("{field}[{at}]"), problem));
        }
    }
    Ok(())
}

pub fn too_many(field: &str, count: usize) -> Fault {
    let most = limits::PARTICIPANTS;
    let problem = format!("makes {count} participants; a thread has at most {most}");
    Fault::invalid(field, problem)
}

/// The answer of `create_thread`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Created {
    pub thread_id: String,
    pub status: Status,
    pub created_at: Time,
    /// Participants that were never seen in this workspace.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unknown_participants: Vec<Unknown>,
}

/// A participant that was never seen: a name mistyped, or one that is yet to come.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Unknown {
    pub agent_id: String,
    /// Known names that are spelled like it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nearest: Vec<String>,
}

pub fn create(work: &mut Work<'_, '_>, new: &Checked<NewThread>) -> Result<Created> {
    Ok(Created {
        thread_id: make(work, new)?,
        status: Status::Active,
        created_at: work.now,
        unknown_participants: unknown(work, &new.participants)?,
    })
}

/// Makes a thread; its handle.
pub(super) fn make(work: &mut Work<'_, '_>, new: &NewThread) -> Result<String> {
    let number = work.next_number(HandleKind::Thread)?;
    let handle = HandleKind::Thread.handle(number);
    let mut participants: Vec<&str> = Vec::new();
    for agent in &new.participants {
        if !participants.contains(&agent.as_str()) {
            participants.push(agent);
        }
    }
    let mut data = Map::new();
    data.insert("title".into(), new.title.clone().into());
    data.insert("type".into(), new.purpose.as_str().into());
    data.insert("status".into(), Status::Active.as_str().into());
    data.insert("participants".into(), participants.into());
    work.create(Create {
        kind: EntityKind::Thread,
        handle: handle.clone(),
        data,
        ..Create::default()
    })?;
    Ok(handle)
}

/// Which of the named were never seen here, and whom that may have meant.
pub fn unknown(work: &mut Work<'_, '_>, names: &[String]) -> Result<Vec<Unknown>> {
    let ws = work.ws();
    let mut unknown: Vec<&str> = Vec::new();
    for agent in names {
        let known = *agent == work.caller.agent || unknown.contains(&agent.as_str());
        if !known && !agents::was_seen(work.read()?, ws, agent)? {
            unknown.push(agent);
        }
    }
    if unknown.is_empty() {
        return Ok(Vec::new());
    }
    unknown.truncate(UNKNOWN);
    let known = agents::seen(work.read()?, ws)?;
    let told = unknown.into_iter().map(|agent| Unknown {
        agent_id: agent.to_string(),
        nearest: nearest(agent, known.iter().map(String::as_str), NEAREST),
    });
    Ok(told.collect())
}
