//! `read_messages`: what a thread says, in order.

use schemars::JsonSchema;
use serde::Deserialize;
use understory_engine::threads::read::{self, Messages, Stretch};
use understory_model::answer::Answer;
use understory_model::page::limit;
use understory_model::{Fault, limits};

use crate::answers::output;
use crate::args::schema;
use crate::call::{Call, typed};
use crate::claims;
use crate::tool::{Access, Common, Effect, Surface, Tool};

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
    output: output::<Messages>,
    takes: &[Common::MaxChars],
    example: r#"{"thread_id": "th_001", "since_seq": 0}"#,
    run: |call, args| typed(call, args, run),
};

fn run(call: &Call<'_>, input: Input) -> Result<Answer<Messages>, Fault> {
    claims::agent(call, "agent_id", input.agent_id.as_deref())?;
    let since = input.since_seq.unwrap_or(0);
    if since < 0 {
        return Err(Fault::invalid("since_seq", "must not be below 0"));
    }
    let stretch = Stretch {
        since,
        limit: limit(input.limit, 50, limits::PAGE).max(1),
        full: input.full,
    };
    call.read_fit(|view| read::read(view, &input.thread_id, stretch))
}
