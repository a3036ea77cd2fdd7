//! `create_thread`: a place where agents talk about one thing.

use serde_json::{Map, Value, json};
use understory_model::error::{Fault, Result};
use understory_model::id::HandleKind;
use understory_model::text::check_text;
use understory_model::{limits, thread};

use super::check_agent;
use crate::Work;
use crate::projection::THREAD;
use crate::work::Create;

/// A thread to be made.
#[derive(Debug, Clone)]
pub struct NewThread {
    pub title: String,
    pub kind: String,
    pub participants: Vec<String>,
}

pub fn check(new: &NewThread) -> Result<()> {
    check_text("title", &new.title, limits::LINE_CHARS, false)?;
    if !thread::TYPES.contains(&new.kind.as_str()) {
        let problem = format!("must be one of {}", thread::TYPES.join(", "));
        return Err(Fault::invalid("type", problem).details(json!({ "allowed": thread::TYPES })));
    }
    if new.participants.len() > limits::PARTICIPANTS {
        let (count, most) = (new.participants.len(), limits::PARTICIPANTS);
        let problem = format!("names {count} agents; at most {most} take part");
        return Err(Fault::invalid("participants", problem));
    }
    for (at, agent) in new.participants.iter().enumerate() {
        check_agent(&format!("participants[{at}]"), agent)?;
    }
    Ok(())
}

pub fn create(work: &mut Work<'_, '_>, new: &NewThread) -> Result<Value> {
    let number = work.core.next_number(work.tx, HandleKind::Thread)?;
    let handle = HandleKind::Thread.handle(number);
    let mut participants: Vec<&str> = Vec::new();
    for agent in &new.participants {
        if !participants.contains(&agent.as_str()) {
            participants.push(agent);
        }
    }
    let mut data = Map::new();
    data.insert("title".into(), new.title.clone().into());
    data.insert("type".into(), new.kind.clone().into());
    data.insert("status".into(), thread::ACTIVE.into());
    data.insert("participants".into(), participants.into());
    work.create(Create {
        kind: THREAD,
        handle: handle.clone(),
        data,
        ..Create::default()
    })?;
    Ok(json!({
        "thread_id": handle,
        "status": thread::ACTIVE,
        "created_at": work.now.to_string(),
    }))
}
