//! `read_messages`: what a thread says, in order.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use understory_engine::threads::nothing_yet;
use understory_engine::threads::read::{self, Stretch};
use understory_model::page::limit;
use understory_model::{Fault, limits};

use crate::answers::object;
use crate::args::{budget, decode, schema};
use crate::call::Call;
use crate::claims;
use crate::tool::{Access, Effect, Surface, Tool};

use super::SchemaVersion;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    thread_id: String,
    /// only what came after it; default 0
    since_seq: Option<i64>,
    limit: Option<i64>,
    /// every field of each message
    #[serde(default)]
    full: bool,
    agent_id: Option<String>,
    max_chars: Option<i64>,
    #[serde(rename = "schema_version")]
    _schema_version: Option<SchemaVersion>,
}

pub const TOOL: Tool = Tool {
    name: "read_messages",
    title: "Read messages",
    effect: Effect::Nothing,
    surface: Surface::Threads,
    about: "Messages of a thread after a seq, in order, and what changed between. Go on from next_seq; ack_read what you read.",
    access: Access::Read,
    essential: false,
    schema: schema::<Input>,
    output: object,
    takes: &[],
    example: r#"{"thread_id": "th_001", "since_seq": 0}"#,
    run,
};

fn run(context: &Call<'_>, args: Value) -> Result<Value, Fault> {
    let input: Input = decode(args)?;
    claims::agent(context, "agent_id", input.agent_id.as_deref())?;
    let since = input.since_seq.unwrap_or(0);
    if since < 0 {
        return Err(Fault::invalid("since_seq", "must not be below 0"));
    }
    let limit = limit(input.limit, 50, limits::PAGE).max(1);
    let full = input.full;
    let stretch = Stretch { since, limit, full };
    let (caller, thread, budget) = (context.caller, input.thread_id, budget(input.max_chars));
    context.engine.read(caller, |view| match view {
        Some(view) => read::read(view, caller, &thread, stretch, &budget),
        None => Err(nothing_yet(&thread)),
    })
}
