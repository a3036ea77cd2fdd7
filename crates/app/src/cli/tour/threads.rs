//! The fourth act: a review, from the finding to the word that it is settled.

use std::time::Duration;

use serde_json::{Value, json};
use understory_engine::threads::create::Created;
use understory_engine::threads::post::Posted;
use understory_engine::threads::shape::Message;
use understory_engine::threads::status::Updated;
use understory_engine::threads::summarize::Summary;
use understory_engine::threads::wait::Waited;
use understory_model::thread::Status;
use understory_model::{Caller, Fault};
use understory_tools::{Context, registry};

use super::{Play, read};
use crate::cli::text::{Style, Text};
use crate::object::with;

pub fn act(play: &Play<'_>) -> Result<(), Fault> {
    play.say("Bob waits for a word. Ada asks him for a review, and he is awake at once.");
    let new = json!({ "title": "Review of key rotation", "type": "workflow", "participants": ["ada", "bob"] });
    let made: Created = play.answer("ada", "create_thread", new)?;
    let thread = made.thread_id;
    woken(play, &thread)?;

    play.say(
        "What he finds is an event with a place in the code. Ada is told, and cannot close it.",
    );
    let place = json!({
        "event_type": "finding_reported", "severity": "high", "file": "src/keys.rs", "line": 42,
    });
    let found = json!({
        "thread_id": thread, "kind": "event", "body": "An old key is still taken after two hours.",
        "metadata": place,
    });
    let posted: Posted = play.answer("bob", "post_message", found)?;
    let finding = posted.message_id;
    // She goes on after her own message, of which she needs no word.
    let since = Value::from_iter([(thread.as_str(), 1)]);
    let next = json!({ "since": since, "timeout_s": 30 });
    play.call("ada", "wait_for_messages", next)?;
    let close = json!({ "thread_id": thread, "status": "closed" });
    play.refused("ada", "update_thread_status", close)?;

    play.say("She pushes a fix and names the commit. Bob verifies it, and it is resolved.");
    let event = |agent: &str, kind: &str, words: &str, more: Value| {
        let metadata = with(more, [("event_type", kind.into())]);
        let args = json!({
            "thread_id": thread, "kind": "event", "body": words, "in_reply_to": finding,
            "metadata": metadata,
        });
        play.call(agent, "post_message", args)
    };
    let fix = json!({ "commit": "b7d0c55" });
    event("ada", "fix_pushed", "Now 65 minutes, with a test.", fix)?;
    let checked = "Holds at 64 and at 66 minutes.";
    event("bob", "finding_verified", checked, json!({}))?;
    let done = json!({ "thread_id": thread, "status": "resolved", "reason": "all is verified" });
    play.call("bob", "update_thread_status", done)?;

    play.say("A newcomer reads all of it in one call.");
    let short = json!({ "thread_id": thread, "max_messages": 2 });
    play.call("ada", "summarize_thread", short)?;
    Ok(())
}

/// Bob waits in a thread of his own, as a process of his own would, while Ada posts.
fn woken(play: &Play<'_>, thread: &str) -> Result<(), Fault> {
    /// Long enough for Bob to have begun to wait; if he has not, he finds what is there.
    const HEAD_START: Duration = Duration::from_millis(30);
    let wait = json!({ "timeout_s": 30 });
    let (engine, caller) = (play.engine, play.caller("bob"));
    let ask = || waits(engine, &caller, wait.clone());
    let post = json!({ "thread_id": thread, "body": "4f2a91c rotates the keys. Please look." });
    let (posted, heard) = std::thread::scope(|scope| {
        let bob = scope.spawn(ask);
        std::thread::sleep(HEAD_START);
        let posted = play.call("ada", "post_message", post);
        (posted, bob.join())
    });
    posted?;
    let lost = |_| Fault::new(understory_model::Code::Internal, "bob fell asleep");
    let heard = heard.map_err(lost)??;
    play.show("bob", "wait_for_messages", &wait, &heard);
    Ok(())
}

fn waits(engine: &understory_engine::Engine, caller: &Caller, args: Value) -> Result<Value, Fault> {
    let context = Context {
        engine,
        caller,
        request_id: "req_tour",
    };
    registry::call_named(&context, "wait_for_messages", args)
}

/// An answer in a few lines; `None` for tools of another act.
pub fn told(tool: &str, answer: &Value) -> Option<Vec<Text>> {
    match tool {
        "create_thread" => read(answer, |made: Created| {
            vec![standing(&made.thread_id, made.status)]
        }),
        "update_thread_status" => read(answer, |now: Updated| {
            vec![standing(&now.thread_id, now.status)]
        }),
        "post_message" => read(answer, |one: Posted| vec![posted(&one)]),
        "wait_for_messages" => read(answer, |came: Waited| {
            came.messages.iter().map(heard).collect()
        }),
        "summarize_thread" => read(answer, |told: Summary| summary(&told)),
        _ => None,
    }
}

fn standing(thread: &str, status: Status) -> Text {
    Text::new().name(thread).dim(format!(" {status}"))
}

fn posted(one: &Posted) -> Text {
    let place = format!(" message {}", one.seq);
    Text::new().name(&one.message_id).dim(place)
}

/// `bob finding_reported: An old key is still taken`
fn heard(message: &Message) -> Text {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let line = Text::new().name(text(&message.thread_id));
    let line = line.plain(format!(" {}", text(&message.sender_agent_id)));
    let event = message.metadata.get("event_type").and_then(Value::as_str);
    let line = match event {
        Some(event) => line.add(Style::Warn, format!(" {event}")),
        None => line,
    };
    line.plain(format!(": {}", text(&message.body)))
}

fn summary(told: &Summary) -> Vec<Text> {
    let mut lines = vec![Text::from(told.summary.as_str())];
    for said in &told.last_messages {
        let event = said.event_type.as_deref().unwrap_or_default();
        let line = Text::from(said.sender_agent_id.as_str());
        let line = line.add(Style::Good, format!(" {event}"));
        let body = said.body.as_deref().unwrap_or_default();
        lines.push(line.plain(format!(": {body}")));
    }
    lines
}
