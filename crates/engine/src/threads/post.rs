//! `post_message`: a chat or an event, in its place in the thread.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use understory_model::error::{Code, Fault, Result};
use understory_model::fact::Fact;
use understory_model::fragment::Cut;
use understory_model::id::{message_name, parse_message};
use understory_model::thread::{
    Event, FindingState, MessageKind, Payload, Purpose, Status, payload,
};
use understory_model::{Seq, Time, limits, text};
use understory_storage::messages;

use super::create::{self, NewThread, Unknown};
use super::{Found, SCHEMA_VERSION, address, find_to_change};
use crate::Work;
use crate::kernel::checked::{Check, Checked};
use crate::kernel::content::message::Said;
use crate::kernel::references;

/// The time that a quota of messages counts for, in microseconds.
const MINUTE: i64 = 60 * 1_000_000;
/// Of a message that begins a thread, what becomes its title.
const TITLE: usize = 80;

/// A message to be posted.
#[derive(Debug, Clone)]
pub struct NewMessage {
    pub kind: MessageKind,
    pub body: String,
    pub metadata: Map<String, Value>,
    pub in_reply_to: Option<String>,
    pub schema_version: i64,
    pub key: Option<String>,
}

impl NewMessage {
    /// What makes a retry the same message.
    pub fn payload(&self) -> Payload<'_> {
        let answered = self.in_reply_to.as_deref();
        let (body, metadata) = (&self.body, &self.metadata);
        payload(self.kind, body, metadata, answered, self.schema_version)
    }
}

impl Check for NewMessage {
    fn check(&self) -> Result<()> {
        if self.schema_version != SCHEMA_VERSION {
            return Err(
                Fault::invalid("schema_version", "must be 1").detail("allowed", [SCHEMA_VERSION])
            );
        }
        if self.body.len() > limits::MESSAGE_BYTES {
            let (size, most) = (self.body.len(), limits::MESSAGE_BYTES);
            return Err(Fault::invalid(
                "body",
                format!("has {size} bytes; at most {most} are allowed"),
            )
            .hint("Keep the long part in a record or a file and name it here."));
        }
        text::check_text("body", &self.body, limits::MESSAGE_BYTES, false)?;
        let size = serde_json::to_string(&self.metadata).map_or(usize::MAX, |text| text.len());
        if size > limits::METADATA_BYTES {
            let problem = format!("has {size} bytes; at most {} fit", limits::METADATA_BYTES);
            return Err(Fault::invalid("metadata", problem));
        }
        check_event(self)
    }
}

fn check_event(new: &NewMessage) -> Result<()> {
    let named = new.metadata.get("event_type");
    match (new.kind, named) {
        (MessageKind::Event, Some(Value::String(name))) => {
            text::check_text("metadata.event_type", name, limits::NAME_CHARS, false)?;
            match new.metadata.get("finding_id") {
                Some(Value::String(name)) => {
                    text::check_text("metadata.finding_id", name, limits::NAME_CHARS, true)
                }
                _ => Ok(()),
            }
        }
        (MessageKind::Event, _) => Err(Fault::invalid(
            "metadata.event_type",
            "says what kind of event it is",
        )
        .hint("Such as finding_reported, fix_pushed or finding_verified.")),
        (MessageKind::Chat, _) => Ok(()),
    }
}

/// The thread that a message begins: its first line is the title, unless it has one.
pub fn beginning(
    title: Option<String>,
    to: Vec<String>,
    new: &Checked<NewMessage>,
) -> Result<Checked<NewThread>> {
    create::check_names("to", &to)?;
    let first = || {
        let line = new.body.lines().find(|line| !line.trim().is_empty());
        text::cut(line.unwrap_or_default(), TITLE)
    };
    let thread = NewThread {
        title: title.unwrap_or_else(first),
        purpose: Purpose::Conversation,
        participants: to,
    };
    thread.checked()
}

/// The answer of `post_message`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Posted {
    pub message_id: String,
    /// The thread of a message `to` agents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<String>,
    /// The thread was there already.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub found: bool,
    /// Its number in the thread.
    pub seq: i64,
    pub thread_status: Status,
    pub created_at: Time,
    /// The finding that this event is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finding: Option<About>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Agents of the new thread that were never seen in this workspace.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unknown_participants: Vec<Unknown>,
}

/// A finding, and what has become of it.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct About {
    /// The message that reported it.
    pub message_id: Option<String>,
    pub reported_by: Option<String>,
    pub state: FindingState,
    pub open: bool,
}

/// Posts a message to agents: in the conversation that they have already, unless it has another
/// title, or else in a new thread.
pub fn send(
    work: &mut Work<'_, '_>,
    title: Option<&str>,
    thread: &Checked<NewThread>,
    new: &Checked<NewMessage>,
) -> Result<Posted> {
    let mut thread = NewThread::clone(thread);
    let mut notes = address::correct(work, &mut thread.participants)?;
    let there = address::conversation(work, &thread, title)?;
    let (found, handle) = match there {
        Some(handle) => (true, handle),
        None => (false, create::make(work, &thread)?),
    };
    let posted = post(work, &handle, new)?;
    if found {
        notes.push(format!(
            "Posted in {handle}, your conversation with them; another title begins a new one."
        ));
    }
    notes.extend(posted.note);
    Ok(Posted {
        thread_id: Some(handle),
        found,
        note: (!notes.is_empty()).then(|| notes.join(" ")),
        unknown_participants: create::unknown(work, &thread.participants)?,
        ..posted
    })
}

pub fn post(work: &mut Work<'_, '_>, thread: &str, new: &Checked<NewMessage>) -> Result<Posted> {
    let found = find_to_change(work, thread)?;
    check_quota(work)?;
    if found.row.status == Status::Closed {
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
        kind: new.kind,
        body: new.body.clone(),
        metadata: new.metadata.clone(),
        in_reply_to,
        schema_version: new.schema_version,
        key: new.key.clone(),
        role: Some(work.caller.role),
        cut: Cut::Trimmed,
        mentions: references::mentions(work.read()?, scope, &new.body)?,
        cited: Vec::new(),
        undone: false,
    };
    let seq = work.note_about(found.row.id, Fact::Message(Box::new(said.clone())))?;
    let (finding, note) = match said.kind {
        MessageKind::Event => about(work, seq, said.event())?,
        MessageKind::Chat => (None, None),
    };
    Ok(Posted {
        message_id: message_name(seq),
        thread_id: None,
        found: false,
        seq: said.n,
        thread_status: found.row.status,
        created_at: work.now,
        finding,
        note: note.map(str::to_string),
        unknown_participants: Vec::new(),
    })
}

/// What has become of the finding that an event is about, and what its sender has to know of that.
fn about(
    work: &mut Work<'_, '_>,
    seq: Seq,
    event: Option<Event>,
) -> Result<(Option<About>, Option<&'static str>)> {
    const NO_FINDING: &str =
        "This is about no finding: name one by in_reply_to or by metadata.finding_id.";
    const STAYS_OPEN: &str = "Recorded as your view; the finding stays open. Only the agent that \
        reported it, an operator or an orchestrator settles it.";
    let ws = work.ws();
    let Some(message) = messages::by_seq(work.read()?, ws, seq)? else {
        return Ok((None, None));
    };
    let claims = event.is_some_and(Event::claims_settled);
    let finding = match message.finding {
        Some(n) => messages::get_finding(work.read()?, ws, message.thread, n)?,
        None => None,
    };
    let Some(finding) = finding else {
        return Ok((None, claims.then_some(NO_FINDING)));
    };
    let reported = messages::seq_of(work.read()?, ws, message.thread, finding.n)?;
    let about = About {
        message_id: reported.map(message_name),
        reported_by: messages::sender_of(work.read()?, ws, message.thread, finding.n)?,
        state: finding.state,
        open: finding.open,
    };
    let note = (claims && finding.open).then_some(STAYS_OPEN);
    Ok((Some(about), note))
}

/// Refuses a message beyond the quota of its sender. It is counted in the log, so it holds however
/// many processes an agent has and however they are reached.
fn check_quota(work: &mut Work<'_, '_>) -> Result<()> {
    let Some(quota) = work.rules.messages_per_minute else {
        return Ok(());
    };
    let ws = work.ws();
    let caller = work.caller;
    let oldest = messages::posted_at(work.read()?, ws, &caller.agent, quota - 1)?;
    let Some(again) = oldest.map(|oldest| oldest.0.saturating_add(MINUTE)) else {
        return Ok(());
    };
    if again <= work.now.0 {
        return Ok(());
    }
    let wait = (again - work.now.0 + 999_999) / 1_000_000;
    Err(Fault::new(
        Code::RateLimited,
        format!("more than {quota} messages in a minute"),
    )
    .hint(format!(
        "Post again in {wait} s; the setting `messages_per_minute` allows more."
    ))
    .detail("retry_after_s", wait))
}

fn closed(found: &Found) -> Fault {
    let who = "An operator or an orchestrator can make it active again";
    Fault::conflict(format!(
        "{} is closed and takes no messages",
        found.handle()
    ))
    .detail("status", Status::Closed)
    .detail("leads_to", Status::Closed.leads_to())
    .hint(format!("{who} with update_thread_status."))
}

/// The item that a message answers, which must be in the same thread.
fn answered(work: &mut Work<'_, '_>, found: &Found, name: &str) -> Result<Seq> {
    let ws = work.ws();
    let message = match parse_message(name) {
        Some(seq) => messages::by_seq(work.read()?, ws, seq)?,
        None => None,
    };
    match message.filter(|message| message.thread == found.row.id) {
        Some(message) => Ok(message.seq),
        None => {
            let problem = format!("no message {} in {}", text::quoted(name), found.handle());
            Err(Fault::not_found(problem).hint("read_messages names the messages of a thread."))
        }
    }
}
