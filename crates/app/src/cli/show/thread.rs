//! A thread and a message for a person: where a thread stands and what is open in it; a message
//! whole, with what it answers.

use serde_json::{Value, json};
use understory_engine::View;
use understory_engine::log;
use understory_engine::threads::read;
use understory_engine::threads::{MESSAGE, list, summary};
use understory_model::id::parse_message;
use understory_model::{Caller, Fault};

use super::{CHANGES, changes, show_change};
use crate::cli::next::each;
use crate::cli::talk::{about, body, header, plain, room, stretch};
use crate::cli::text::Text;
use crate::cli::when::Clock;
use crate::cli::{Desk, Here};

/// What the log calls a thread.
pub const KIND: &str = "thread";

/// A thread, its summary and its last changes, in one value.
pub fn thread(desk: &Desk, handle: &str) -> Result<Value, Fault> {
    let mut answer = desk.engine.read(&desk.caller, |view| match view {
        Some(view) => {
            let thread = list::get(view, &desk.caller, handle)?;
            let told = summary::summarize(view, &desk.caller, handle, None, &room())?;
            Ok(json!({ "thread": thread, "summary": told }))
        }
        None => Err(understory_engine::threads::nothing_yet(handle)),
    })?;
    answer["history"] = changes(desk, handle, CHANGES)?;
    Ok(answer)
}

pub fn print_thread(here: &Here, clock: &Clock, answer: &Value) {
    let out = &here.out;
    header(here, clock, &answer["thread"]);
    let summary = &answer["summary"];
    out.blank();
    out.line(summary["summary"].as_str().unwrap_or_default());
    if each(&summary["open_items"]).next().is_some() {
        out.blank();
        out.line(Text::new().bold("open"));
    }
    for item in each(&summary["open_items"]) {
        let text = |name: &str| item[name].as_str().unwrap_or_default();
        let mut line = Text::from("  ")
            .name(text("message_id"))
            .plain(match text("state") {
                "" => format!("  {}", text("item").replace('_', "-")),
                state => format!("  {state}"),
            });
        if !text("for").is_empty() {
            line = line.plain(format!("  for {}", text("for")));
        }
        // Its own fields are those that an event has as metadata.
        let mut metadata = json!({ "severity": item["severity"], "commits": item["commits"] });
        metadata["file"] = item["file"].clone();
        metadata["line"] = item["line"].clone();
        if let Some(fields) = metadata.as_object_mut() {
            fields.retain(|_, value| !value.is_null());
        }
        line = line.then(about(&json!({ "metadata": metadata })));
        out.cut(line.plain(format!("  {}", text("body"))));
    }
    out.blank();
    out.line(Text::new().bold("last changes"));
    each(&answer["history"]).for_each(|entry| show_change(here, clock, entry));
    let id = answer["thread"]["thread_id"].as_str().unwrap_or_default();
    out.hint(format!("Read it: understory thread {id}"));
}

/// A message by the place of its item, with its thread and what it answers; `None` if there is
/// none.
pub fn message(view: &mut View<'_, '_>, caller: &Caller, seq: i64) -> Result<Option<Value>, Fault> {
    let Some(message) = one(view, caller, seq)? else {
        return Ok(None);
    };
    let thread = message["thread_id"].as_str().unwrap_or_default();
    let thread = list::get(view, caller, thread)?;
    let answered = message["in_reply_to"].as_str().and_then(parse_message);
    let answered = match answered {
        Some(seq) => one(view, caller, seq)?,
        None => None,
    };
    Ok(Some(json!({
        "message": message,
        "answered": answered,
        "thread": { "thread_id": thread["thread_id"], "title": thread["title"], "status": thread["status"] },
    })))
}

fn one(view: &mut View<'_, '_>, caller: &Caller, seq: i64) -> Result<Option<Value>, Fault> {
    let item = log::raw_at(view, seq)?;
    let Some(item) = item.filter(|item| item["type"] == MESSAGE) else {
        return Ok(None);
    };
    let thread = item["content"]["thread"].as_str().unwrap_or_default();
    let number = item["content"]["n"].as_i64().unwrap_or(1);
    let only = stretch(number - 1, 1);
    let found = read::read(view, caller, thread, only, &room())?["messages"][0].take();
    Ok(Some(found).filter(|found| !found.is_null()))
}

pub fn print_message(here: &Here, clock: &Clock, answer: &Value) {
    let out = &here.out;
    let message = &answer["message"];
    let text = |name: &str| message[name].as_str().unwrap_or_default();
    let kind = match message["kind"] == "event" {
        true => plain(&message["metadata"]["event_type"]),
        false => text("kind").to_owned(),
    };
    out.line(
        Text::new()
            .name(text("message_id"))
            .plain("  ")
            .bold(text("sender_agent_id"))
            .plain(format!("  {kind}"))
            .dim(format!("  {}", clock.ago_text(text("created_at")))),
    );
    let mut fields = Vec::new();
    let mut field = |name: &str, value: Text| fields.push((name.to_owned(), value));
    let thread = &answer["thread"];
    let in_thread = |name: &str| thread[name].as_str().unwrap_or_default();
    field(
        "in",
        Text::new()
            .name(in_thread("thread_id"))
            .plain(format!(" {}", in_thread("title")))
            .dim(format!(
                "  message {}, {}",
                message["seq"],
                in_thread("status")
            )),
    );
    if answer["answered"].is_object() {
        let other = &answer["answered"];
        let text = |name: &str| other[name].as_str().unwrap_or_default();
        let first = text("body").lines().next().unwrap_or_default();
        field(
            "answers",
            Text::new()
                .name(text("message_id"))
                .plain(format!(" {}: {first}", text("sender_agent_id"))),
        );
    }
    for (name, value) in message["metadata"].as_object().into_iter().flatten() {
        if !(name == "event_type" && message["kind"] == "event") {
            field(name, Text::from(plain(value)));
        }
    }
    field("session", Text::from(text("sender_session_id")));
    out.fields(0, fields);
    out.blank();
    body(out, text("body"), 0);
    let since = message["seq"].as_i64().unwrap_or(1) - 1;
    let id = in_thread("thread_id");
    out.blank();
    out.hint(format!(
        "What follows: understory thread {id} --since {since}"
    ));
}
