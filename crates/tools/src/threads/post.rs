//! `post_message`: a chat or an event in a thread.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use understory_engine::Request;
use understory_engine::threads::nothing_yet;
use understory_engine::threads::post::{self, NewMessage, SCHEMA_VERSION};
use understory_model::Fault;

use crate::args::{decode, schema};
use crate::claims;
use crate::tool::{Access, Context, Surface, Tool, cause};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    thread_id: String,
    body: String,
    /// chat (default) or event
    kind: Option<String>,
    /// of an event: event_type, such as finding_reported, fix_pushed {commit}, finding_verified, and what belongs to it
    metadata: Option<Map<String, Value>>,
    /// message id; an event settles the finding that it answers
    in_reply_to: Option<String>,
    schema_version: Option<i64>,
    sender_agent_id: Option<String>,
    sender_session_id: Option<String>,
    /// makes a retry safe
    idempotency_key: Option<String>,
}

pub const TOOL: Tool = Tool {
    name: "post_message",
    surface: Surface::Threads,
    about: "Post to a thread: words, or a typed event of a review.",
    access: Access::Write,
    essential: true,
    schema: schema::<Input>,
    example: r#"{"thread_id": "th_001", "body": "The fallback of null is lost", "kind": "event", "metadata": {"event_type": "finding_reported", "severity": "high"}, "idempotency_key": "find-1"}"#,
    run,
};

fn run(context: &Context<'_>, args: Value) -> Result<Value, Fault> {
    let cause = cause(&args);
    let input: Input = decode(args)?;
    claims::agent(context, "sender_agent_id", input.sender_agent_id.as_deref())?;
    let session = input.sender_session_id.as_deref();
    claims::session(context, "sender_session_id", session)?;
    let new = NewMessage {
        kind: input.kind.unwrap_or_else(|| "chat".into()),
        body: input.body,
        metadata: input.metadata.unwrap_or_default(),
        in_reply_to: input.in_reply_to,
        schema_version: input.schema_version.unwrap_or(SCHEMA_VERSION),
        key: input.idempotency_key,
    };
    post::check(&new)?;
    let thread = input.thread_id;
    // No thread is called so, and no database takes it as the scope of a key.
    if thread.contains('\0') {
        return Err(nothing_yet(&thread));
    }
    // A key counts within its thread, and what it stands for is the message as a value.
    let request = Request {
        tool: TOOL.name,
        scope: thread.clone(),
        key: new.key.clone(),
        arguments: new.payload(),
        cause,
        project: None,
    };
    context.engine.write(context.caller, request, move |work| {
        post::post(work, &thread, &new)
    })
}
