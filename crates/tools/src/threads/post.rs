//! `post_message`: a chat or an event in a thread.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use understory_engine::Request;
use understory_engine::kernel::checked::{Check, Checked};
use understory_engine::threads::post::{self, NewMessage, Posted};
use understory_engine::threads::{SCHEMA_VERSION, nothing_yet};
use understory_model::answer::{Answer, json_of};
use understory_model::thread::{MessageKind, Payload};
use understory_model::{Fault, limits};

use crate::answers::output;
use crate::args::schema;
use crate::call::{Call, typed};
use crate::claims;
use crate::tool::{Access, Common, Effect, Surface, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    thread_id: Option<String>,
    /// agent ids: in your conversation with them, or a new one
    #[serde(default)]
    #[schemars(length(max = limits::PARTICIPANTS))]
    to: Vec<String>,
    /// of a new conversation; default: the first line
    title: Option<String>,
    #[schemars(extend("x-long" = true))]
    body: String,
    /// default chat
    kind: Option<MessageKind>,
    /// of an event: event_type, such as finding_reported, fix_pushed {commit}, finding_verified, and what belongs to it
    metadata: Option<Map<String, Value>>,
    /// message id; an event is about the finding that it answers
    in_reply_to: Option<String>,
    schema_version: Option<i64>,
    sender_agent_id: Option<String>,
    sender_session_id: Option<String>,
}

pub const TOOL: Tool = Tool {
    name: "post_message",
    title: "Post message",
    effect: Effect::Adds,
    surface: Surface::Threads,
    about: "Post to a thread, or `to` agents: words, or a typed event of a review.",
    access: Access::Write,
    essential: true,
    schema: schema::<Input>,
    output: output::<Posted>,
    takes: &[Common::Key],
    example: r#"{"thread_id": "th_001", "body": "The fallback of null is lost", "kind": "event", "metadata": {"event_type": "finding_reported", "severity": "high"}, "idempotency_key": "find-1"}"#,
    run: |call, args| typed(call, args, run),
};

fn run(call: &Call<'_>, input: Input) -> Result<Answer<Posted>, Fault> {
    claims::agent(call, "sender_agent_id", input.sender_agent_id.as_deref())?;
    let session = input.sender_session_id.as_deref();
    claims::session(call, "sender_session_id", session)?;
    let request = call.request();
    let new = NewMessage {
        kind: input.kind.unwrap_or(MessageKind::Chat),
        body: input.body,
        metadata: input.metadata.unwrap_or_default(),
        in_reply_to: input.in_reply_to,
        schema_version: input.schema_version.unwrap_or(SCHEMA_VERSION),
        key: request.key.clone(),
    }
    .checked()?;
    let thread = match (input.thread_id, input.to.is_empty()) {
        (Some(thread), true) if input.title.is_none() => thread,
        (None, false) => return send(call, input.title, input.to, new),
        (None, true) => {
            return Err(Fault::invalid("thread_id", "is required")
                .hint("Or name agents in `to`: that finds or begins a thread with them."));
        }
        (Some(_), empty) => {
            let field = if empty { "title" } else { "to" };
            return Err(Fault::invalid(field, "is only for a new thread").hint(
                "Leave out thread_id to begin one; update_thread_status adds participants.",
            ));
        }
    };
    // No thread is called so, and no database takes it as the scope of a key.
    if thread.contains('\0') {
        return Err(nothing_yet(&thread));
    }
    // A key counts within its thread, and what it stands for is the message as a value.
    let request = Request {
        scope: thread.clone(),
        arguments: json_of(&new.payload())?,
        ..request
    };
    call.engine.write(call.caller, request, move |work| {
        post::post(work, &thread, &new)
    })
}

/// What makes a retry the same new thread.
#[derive(Serialize)]
struct Beginning<'b> {
    #[serde(flatten)]
    message: Payload<'b>,
    to: &'b [String],
    title: Option<&'b str>,
}

/// Posts to agents. Idempotency keys have a scope of their own here, and the key also covers the
/// recipients.
fn send(
    call: &Call<'_>,
    title: Option<String>,
    to: Vec<String>,
    new: Checked<NewMessage>,
) -> Result<Answer<Posted>, Fault> {
    let arguments = json_of(&Beginning {
        message: new.payload(),
        to: &to,
        title: title.as_deref(),
    })?;
    let thread = post::beginning(title.clone(), to, &new)?;
    let request = Request {
        scope: "to".into(),
        arguments,
        ..call.request()
    };
    call.engine.write(call.caller, request, move |work| {
        post::send(work, title.as_deref(), &thread, &new)
    })
}
