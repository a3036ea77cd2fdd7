//! A thread and a message for a person: where a thread stands and what is open in it; a message
//! whole, with what it answers.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use understory_engine::View;
use understory_engine::kernel::log::{self, Entry};
use understory_engine::kinds::MESSAGE;
use understory_engine::threads::get::{self, Thread};
use understory_engine::threads::read;
use understory_engine::threads::shape::Message;
use understory_engine::threads::summarize::{self, Open, OpenItem, Summary};
use understory_model::id::parse_message;
use understory_model::thread::{MessageKind, Status};
use understory_model::{Fault, Seq};

use super::{CHANGES, Page, changes, show_changes};
use crate::cli::render::message::{about, body, header, room, stretch};
use crate::cli::render::words::plain;
use crate::cli::text::Text;
use crate::cli::when::Clock;
use crate::cli::{CommandContext, Here};

/// What the log calls a thread.
pub const KIND: &str = "thread";

/// A thread, its summary and its last changes.
#[derive(Serialize)]
pub struct Whole {
    thread: Thread,
    summary: Summary,
    history: Vec<Entry>,
}

pub fn thread(context: &CommandContext, handle: &str) -> Result<Whole, Fault> {
    let (thread, summary) = context.engine.view(&context.caller, |view| {
        let thread = get::get(view, handle)?;
        Ok((thread, summarize::summarize(view, handle, None, &room())?))
    })?;
    Ok(Whole {
        thread,
        summary: summary.typed()?,
        history: changes(context, handle, CHANGES)?,
    })
}

impl Page for Whole {
    fn print(&self, here: &Here, clock: &Clock) {
        let out = &here.out;
        header(here, clock, &self.thread);
        out.blank();
        out.line(self.summary.summary.as_str());
        if !self.summary.open_items.is_empty() {
            out.blank();
            out.line(Text::new().bold("open"));
        }
        for item in &self.summary.open_items {
            out.cut(open(item));
        }
        out.blank();
        show_changes(here, clock, &self.history);
        let id = &self.thread.thread_id;
        out.hint(format!("Read it: understory thread {id}"));
    }
}

/// `msg_12  reported  high  src/token.rs:42  The fallback is lost`
fn open(item: &OpenItem) -> Text {
    let standing = match (item.state, item.item) {
        (Some(state), _) => state.as_str(),
        (None, Open::Finding) => "finding",
        (None, Open::Escalation) => "escalation",
        (None, Open::ReReview) => "re-review",
    };
    let mut line = Text::from("  ")
        .name(&item.line.message_id)
        .plain(format!("  {standing}"));
    if let Some(awaits) = &item.awaits {
        line = line.plain(format!("  for {awaits}"));
    }
    // What an event has as metadata.
    let place = item.place.clone();
    let fields = [
        ("severity", place.severity),
        ("file", place.file),
        ("line", place.line),
        (
            "commits",
            (!item.commits.is_empty()).then(|| json!(item.commits)),
        ),
    ];
    let fields = fields.into_iter();
    let fields = fields.filter_map(|(name, value)| Some((name.to_owned(), value?)));
    let fields: Map<String, Value> = fields.collect();
    let said = item.line.body.as_deref().unwrap_or_default();
    line.then(about(None, &fields)).plain(format!("  {said}"))
}

/// A message with its thread and what it answers.
#[derive(Serialize)]
pub struct Told {
    message: Message,
    answered: Option<Message>,
    thread: InThread,
}

/// The thread that a message stands in.
#[derive(Serialize)]
struct InThread {
    thread_id: String,
    title: String,
    status: Status,
}

/// A message by the place of its item; `None` if there is none.
pub fn message(view: &mut View<'_, '_>, seq: Seq) -> Result<Option<Told>, Fault> {
    let Some(message) = one(view, seq)? else {
        return Ok(None);
    };
    let thread = get::get(view, message.thread_id.as_deref().unwrap_or_default())?;
    let answered = message.in_reply_to.as_deref().and_then(parse_message);
    let answered = match answered {
        Some(seq) => one(view, seq)?,
        None => None,
    };
    Ok(Some(Told {
        message,
        answered,
        thread: InThread {
            thread_id: thread.thread_id,
            title: thread.title,
            status: thread.status,
        },
    }))
}

/// Where a message stands, as its item says it.
#[derive(Deserialize)]
struct Place {
    thread: String,
    n: i64,
}

fn one(view: &mut View<'_, '_>, seq: Seq) -> Result<Option<Message>, Fault> {
    let item = log::raw_at(view, seq)?.filter(|item| item.kind == MESSAGE);
    let content = item.and_then(|item| item.content).unwrap_or_default();
    // An item of another surface has this kind too, and stands in no thread.
    let Ok(place) = Place::deserialize(&content) else {
        return Ok(None);
    };
    let page = read::read(view, &place.thread, stretch(place.n - 1, 1))?;
    Ok(page.messages.into_iter().next())
}

impl Page for Told {
    fn print(&self, here: &Here, clock: &Clock) {
        let Told {
            message,
            answered,
            thread,
        } = self;
        let out = &here.out;
        let is_event = message.kind == Some(MessageKind::Event);
        let event = message.metadata.get("event_type").filter(|_| is_event);
        let kind = match (event, message.kind) {
            (Some(event), _) => plain(event),
            (None, Some(kind)) => kind.to_string(),
            (None, None) => String::new(),
        };
        let sender = |message: &Message| message.sender_agent_id.clone().unwrap_or_default();
        let at = message.created_at.map(|at| clock.ago(at));
        out.line(
            Text::new()
                .name(&message.message_id)
                .plain("  ")
                .bold(sender(message))
                .plain(format!("  {kind}"))
                .dim(format!("  {}", at.unwrap_or_default())),
        );
        let number = message.seq.unwrap_or(1);
        let mut fields = Vec::new();
        let mut field = |name: &str, value: Text| fields.push((name.to_owned(), value));
        field(
            "in",
            Text::new()
                .name(&thread.thread_id)
                .plain(format!(" {}", thread.title))
                .dim(format!("  message {number}, {}", thread.status)),
        );
        if let Some(other) = answered {
            let first = other.body.as_deref().and_then(|body| body.lines().next());
            let first = first.unwrap_or_default();
            field(
                "answers",
                Text::new()
                    .name(&other.message_id)
                    .plain(format!(" {}: {first}", sender(other))),
            );
        }
        for (name, value) in &message.metadata {
            if !(name == "event_type" && is_event) {
                field(name, Text::from(plain(value)));
            }
        }
        let session = message.sender_session_id.clone().unwrap_or_default();
        field("session", Text::from(session));
        out.fields(0, fields);
        out.blank();
        body(out, message.body.as_deref().unwrap_or_default(), 0);
        let id = &thread.thread_id;
        let since = number - 1;
        out.blank();
        out.hint(format!(
            "What follows: understory thread {id} --since {since}"
        ));
    }
}
