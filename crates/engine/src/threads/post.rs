//! `post_message`: a chat or an event, in its place in the thread.

use serde_json::{Map, Value, json};
use understory_model::error::{Fault, Result};
use understory_model::fragment::Cut;
use understory_model::id::{message_name, parse_message};
use understory_model::thread::{ACTIVE, CLOSED, payload};
use understory_model::{limits, text};
use understory_storage::messages;

use super::{CHAT, EVENT, Found, MESSAGE, Said, find_to_change};
use crate::Work;
use crate::garden::refs;

/// The only version of a message's shape so far.
pub const SCHEMA_VERSION: i64 = 1;

/// A message to be posted.
#[derive(Debug, Clone)]
pub struct NewMessage {
    pub kind: String,
    pub body: String,
    pub metadata: Map<String, Value>,
    pub in_reply_to: Option<String>,
    pub schema_version: i64,
    pub key: Option<String>,
}

impl NewMessage {
    /// What makes a retry the same message.
    pub fn payload(&self) -> Value {
        let answered = self.in_reply_to.as_deref();
        let (body, metadata) = (&self.body, &self.metadata);
        payload(&self.kind, body, metadata, answered, self.schema_version)
    }
}

pub fn check(new: &NewMessage) -> Result<()> {
    if ![CHAT, EVENT].contains(&new.kind.as_str()) {
        let fault = Fault::invalid("kind", "is neither chat nor event");
        let fault = fault.details(json!({ "allowed": [CHAT, EVENT] }));
        return Err(match new.kind.as_str() {
            "system" => fault.hint("Messages of kind system are the server's own."),
            _ => fault,
        });
    }
    if new.schema_version != SCHEMA_VERSION {
        return Err(Fault::invalid("schema_version", "is not known here")
            .details(json!({ "allowed": [SCHEMA_VERSION] })));
    }
    if new.body.len() > limits::MESSAGE_BYTES {
        let (size, most) = (new.body.len(), limits::MESSAGE_BYTES);
        return Err(
            Fault::invalid("body", format!("has {size} bytes; at most {most} fit"))
                .hint("Keep the long part in a record or a file and name it here."),
        );
    }
    text::check_text("body", &new.body, limits::MESSAGE_BYTES, false)?;
    let size = serde_json::to_string(&new.metadata).map_or(usize::MAX, |text| text.len());
    if size > limits::METADATA_BYTES {
        let problem = format!("has {size} bytes; at most {} fit", limits::METADATA_BYTES);
        return Err(Fault::invalid("metadata", problem));
    }
    check_event(new)
}

fn check_event(new: &NewMessage) -> Result<()> {
    let named = new.metadata.get("event_type");
    match (new.kind.as_str(), named) {
        (EVENT, Some(Value::String(name))) => {
            text::check_text("metadata.event_type", name, limits::NAME_CHARS, false)?;
            match new.metadata.get("finding_id") {
                Some(Value::String(name)) => {
                    text::check_text("metadata.finding_id", name, limits::NAME_CHARS, true)
                }
                _ => Ok(()),
            }
        }
        (EVENT, _) => Err(
            Fault::invalid("metadata.event_type", "says what kind of event it is")
                .hint("Such as finding_reported, fix_pushed or finding_verified."),
        ),
        _ => Ok(()),
    }
}

pub fn post(work: &mut Work<'_, '_>, thread: &str, new: &NewMessage) -> Result<Value> {
    let found = find_to_change(work, thread)?;
    if found.row.status == CLOSED {
        return Err(closed(&found));
    }
    let in_reply_to = match &new.in_reply_to {
        Some(name) => Some(answered(work, &found, name)?),
        None => None,
    };
    if let Some(answered) = in_reply_to {
        work.default_cause(answered);
    }
    let scope = work.scope()?;
    let said = Said {
        thread: found.handle().to_string(),
        n: found.row.last + 1,
        kind: new.kind.clone(),
        body: new.body.clone(),
        metadata: new.metadata.clone(),
        in_reply_to,
        schema_version: new.schema_version,
        key: new.key.clone(),
        cut: Cut::Trimmed,
        mentions: refs::mentions(work.tx, scope, &new.body)?,
        cited: Vec::new(),
        undone: false,
    };
    let seq = work.note_about(MESSAGE, found.row.id, &said.content())?;
    Ok(json!({
        "message_id": message_name(seq),
        "seq": said.n,
        "thread_status": found.row.status,
        "created_at": work.now.to_string(),
    }))
}

fn closed(found: &Found) -> Fault {
    let who = "An operator or an orchestrator can make it active again";
    Fault::conflict(format!(
        "{} is closed and takes no messages",
        found.handle()
    ))
    .details(json!({ "status": CLOSED, "leads_to": [ACTIVE] }))
    .hint(format!("{who} with update_thread_status."))
}

/// The item that a message answers, which must be in the same thread.
fn answered(work: &mut Work<'_, '_>, found: &Found, name: &str) -> Result<i64> {
    let ws = work.ws();
    let message = match parse_message(name) {
        Some(seq) => messages::by_seq(work.tx, ws, seq)?,
        None => None,
    };
    match message.filter(|message| message.thread == found.row.id) {
        Some(message) => Ok(message.seq),
        None => {
            let shown: String = name.chars().take(80).collect();
            let problem = format!("no message {shown} in {}", found.handle());
            Err(Fault::not_found(problem).hint("read_messages names the messages of a thread."))
        }
    }
}
