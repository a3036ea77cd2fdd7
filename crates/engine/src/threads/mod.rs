//! The threads surface: messages between agents, in order, with who has read what.
//!
//! A message is an item of the log and never changes; a thread is an entity whose value holds its
//! title, type, status and participants. Who may do what is decided here, once.

pub mod ack;
pub mod create;
pub mod list;
pub mod post;
pub mod read;
pub mod session;
pub mod status;
pub mod summary;
pub mod wait;
pub mod wake;

use serde_json::{Map, Value, json};
use understory_model::budget::Budget;
use understory_model::error::{Code, Fault, Result};
use understory_model::fragment::Cut;
use understory_model::id::message_name;
use understory_model::item::Item;
use understory_model::{Caller, Role, Seq, limits};
use understory_storage::entities;
use understory_storage::threads::{self, Thread};

use crate::core::Thing;
use crate::garden::Mention;
use crate::garden::undo::cited;
use crate::projection::THREAD;
use crate::view::{missing, no_such};
use crate::{View, Work};

/// The item types of this surface.
pub const MESSAGE: &str = "Message";
pub const READ_ACK: &str = "ReadAck";

pub const CHAT: &str = "chat";
pub const EVENT: &str = "event";

/// A thread, and what is counted of it.
pub struct Found {
    pub thing: Thing,
    pub row: Thread,
}

impl Found {
    pub fn handle(&self) -> &str {
        &self.thing.entity.handle
    }

    pub fn participants(&self) -> Vec<&str> {
        let named = self.thing.data.get("participants");
        let named = named.and_then(Value::as_array).into_iter().flatten();
        named.filter_map(Value::as_str).collect()
    }

    /// Whether an agent takes part: it made the thread, or was named when it was made.
    pub fn has(&self, agent: &str) -> bool {
        self.thing.entity.created_by == agent || self.participants().contains(&agent)
    }
}

pub fn text<'d>(data: &'d Map<String, Value>, field: &str) -> &'d str {
    data.get(field).and_then(Value::as_str).unwrap_or_default()
}

/// A thread that the caller may read.
pub fn find(view: &mut View<'_, '_>, caller: &Caller, handle: &str) -> Result<Found> {
    let found = entities::by_handle(view.tx, view.ws, handle)?;
    let Some(entity) = found.filter(|entity| entity.kind == THREAD) else {
        return Err(unknown(no_such(view.tx, view.ws, THREAD, handle)?));
    };
    let row = threads::get(view.tx, view.ws, entity.id)?.ok_or_else(not_in_core)?;
    let found = Found {
        thing: Thing::open(entity)?,
        row,
    };
    if caller.role == Role::Worker && !found.has(&caller.agent) {
        return Err(no_part(handle));
    }
    Ok(found)
}

/// A thread that the caller may write to.
pub fn find_to_change(work: &mut Work<'_, '_>, handle: &str) -> Result<Found> {
    let ws = work.ws();
    let id = work.core.by_handle(work.tx, handle)?;
    let thing = match id {
        Some(id) => Some(work.thing(id)?.clone()),
        None => None,
    };
    let Some(thing) = thing.filter(|thing| thing.entity.kind == THREAD) else {
        return Err(unknown(no_such(work.tx, ws, THREAD, handle)?));
    };
    let row = threads::get(work.tx, ws, thing.entity.id)?.ok_or_else(not_in_core)?;
    let found = Found { thing, row };
    if !directs(work.caller.role) && !found.has(&work.caller.agent) {
        return Err(no_part(handle));
    }
    Ok(found)
}

/// Whether a role may override what others dispute, and write to any thread.
pub fn directs(role: Role) -> bool {
    matches!(role, Role::Operator | Role::Orchestrator)
}

/// The fault for a thread where nothing is yet.
pub fn nothing_yet(handle: &str) -> Fault {
    unknown(missing(THREAD, handle, []))
}

fn unknown(mut fault: Fault) -> Fault {
    if fault.details.is_none() {
        fault.hint = Some("Check the id; list_threads lists threads.".into());
    }
    fault
}

fn no_part(handle: &str) -> Fault {
    let shown: String = handle.chars().take(80).collect();
    Fault::new(Code::Forbidden, format!("you take no part in {shown}"))
        .hint("Its participants, an operator and an orchestrator read and post in it.")
}

fn not_in_core() -> Fault {
    Fault::new(Code::StoreCorrupt, "a thread is not in core").hint("Run `understory rebuild`.")
}

/// What a message says, as it stands in the log.
#[derive(Debug, Clone, PartialEq)]
pub struct Said {
    /// The handle of its thread.
    pub thread: String,
    pub n: i64,
    pub kind: String,
    pub body: String,
    pub metadata: Map<String, Value>,
    pub in_reply_to: Option<Seq>,
    pub schema_version: i64,
    pub key: Option<String>,
    /// How its body is cut into parts.
    pub cut: Cut,
    /// What its body refers to.
    pub mentions: Vec<Mention>,
    /// What it referred to before it was taken back.
    pub cited: Vec<Seq>,
    /// Whether its author took back what it said.
    pub undone: bool,
}

impl Said {
    pub fn event_type(&self) -> Option<&str> {
        let named = self.metadata.get("event_type").and_then(Value::as_str);
        named.filter(|_| self.kind == EVENT)
    }

    pub fn content(&self) -> Value {
        let mut content = json!({
            "thread": self.thread,
            "n": self.n,
            "schema_version": self.schema_version,
            "kind": self.kind,
            "body": self.body,
        });
        if !self.metadata.is_empty() {
            content["metadata"] = self.metadata.clone().into();
        }
        if let Some(answered) = self.in_reply_to {
            content["in_reply_to"] = answered.into();
        }
        if let Some(key) = &self.key {
            content["idempotency_key"] = key.clone().into();
        }
        if self.cut != Cut::Joined {
            content["cut"] = self.cut.number().into();
        }
        if !self.mentions.is_empty() {
            content["mentions"] = json!(self.mentions);
        }
        if !self.cited.is_empty() {
            content["cited"] = json!(self.cited);
        }
        if self.undone {
            content["undone"] = true.into();
        }
        content
    }

    /// What is left when it is taken back: its place, and nothing of what it said.
    pub fn remains(&self) -> Said {
        Said {
            body: String::new(),
            metadata: Map::new(),
            key: None,
            mentions: Vec::new(),
            cited: cited(&self.mentions),
            undone: true,
            ..self.clone()
        }
    }
}

/// What a message's item says; `None` if it cannot be read.
pub fn said(item: &Item) -> Option<Said> {
    let mut content: Map<String, Value> = serde_json::from_str(item.content.as_deref()?).ok()?;
    let metadata = match content.remove("metadata") {
        Some(Value::Object(metadata)) => metadata,
        _ => Map::new(),
    };
    Some(Said {
        thread: text(&content, "thread").to_string(),
        n: content.get("n")?.as_i64()?,
        kind: text(&content, "kind").to_string(),
        body: text(&content, "body").to_string(),
        metadata,
        in_reply_to: content.get("in_reply_to").and_then(Value::as_i64),
        schema_version: content.get("schema_version").and_then(Value::as_i64)?,
        key: content
            .get("idempotency_key")
            .and_then(Value::as_str)
            .map(str::to_string),
        cut: Cut::of_number(content.get("cut").and_then(Value::as_i64).unwrap_or(0)),
        mentions: content
            .remove("mentions")
            .and_then(|mentions| serde_json::from_value(mentions).ok())
            .unwrap_or_default(),
        cited: content
            .remove("cited")
            .and_then(|cited| serde_json::from_value(cited).ok())
            .unwrap_or_default(),
        undone: content.get("undone") == Some(&Value::Bool(true)),
    })
}

/// A message as it is read.
pub fn shown(item: &Item) -> Value {
    let Some(said) = said(item) else {
        return json!({ "message_id": message_name(item.seq) });
    };
    let mut shown = json!({
        "message_id": message_name(item.seq),
        "thread_id": said.thread,
        "seq": said.n,
        "schema_version": said.schema_version,
        "kind": said.kind,
        "body": said.body,
        "sender_agent_id": item.actor,
        "sender_session_id": item.session,
        "created_at": item.realized_at.to_string(),
    });
    if !said.metadata.is_empty() {
        shown["metadata"] = said.metadata.into();
    }
    if let Some(answered) = said.in_reply_to {
        shown["in_reply_to"] = message_name(answered).into();
    }
    if said.undone {
        shown["undone"] = true.into();
    }
    shown
}

/// A message without what may be long, and how long that is: left out, it would hide all after it.
pub fn lean(message: &Value) -> Value {
    let mut lean = message.clone();
    if let Some(fields) = lean.as_object_mut() {
        fields.remove("metadata");
        if let Some(Value::String(body)) = fields.remove("body") {
            fields.insert("body_chars".into(), body.chars().count().into());
        }
    }
    lean
}

/// The answer with as many rows of its list as fit, the first ones; `build` makes it of so many.
pub fn fitted(list: &str, count: usize, budget: &Budget, build: impl Fn(usize) -> Value) -> Value {
    let whole = build(count);
    if budget.holds(&whole) {
        return whole;
    }
    let cut = |kept: usize| {
        let mut answer = build(kept);
        answer["truncated"] = true.into();
        answer
    };
    let (mut low, mut high) = (0, count.saturating_sub(1));
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        match budget.holds(&cut(middle)) {
            true => low = middle,
            false => high = middle - 1,
        }
    }
    let answer = cut(low);
    match budget.holds(&answer) {
        true => answer,
        false => json!({ list: [], "truncated": true }),
    }
}

/// The name of an agent, as a payload gives it.
pub fn check_agent(field: &str, name: &str) -> Result<()> {
    understory_model::text::check_text(field, name, limits::NAME_CHARS, false)?;
    if name.trim() != name || name.chars().any(char::is_control) {
        let problem = "has spaces at an end or control characters";
        return Err(Fault::invalid(field, problem));
    }
    Ok(())
}

/// Whether nothing more becomes of a job of waking.
pub fn ended(result: &str) -> bool {
    matches!(result, "read" | "failed")
}
