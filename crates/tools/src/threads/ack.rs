//! `ack_read`: says how far the caller has read.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use understory_engine::threads::ack;
use understory_model::Fault;

use crate::answers::object;
use crate::args::{decode, schema};
use crate::call::Call;
use crate::claims;
use crate::tool::{Access, Effect, Surface, Tool, request};

use super::SchemaVersion;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    thread_id: String,
    last_read_seq: i64,
    agent_id: Option<String>,
    #[serde(rename = "idempotency_key")]
    _idempotency_key: Option<String>,
    #[serde(rename = "schema_version")]
    _schema_version: Option<SchemaVersion>,
}

pub const TOOL: Tool = Tool {
    name: "ack_read",
    title: "Acknowledge messages",
    effect: Effect::Settles,
    surface: Surface::Threads,
    about: "Say up to which seq you have read a thread. It never goes back.",
    access: Access::Write,
    essential: false,
    schema: schema::<Input>,
    output: object,
    takes: &[],
    example: r#"{"thread_id": "th_001", "last_read_seq": 1}"#,
    run,
};

fn run(context: &Call<'_>, args: Value) -> Result<Value, Fault> {
    let request = request(TOOL.name, &args);
    let input: Input = decode(args)?;
    claims::agent(context, "agent_id", input.agent_id.as_deref())?;
    let (thread, read) = (input.thread_id, input.last_read_seq);
    context
        .engine
        .write_json(context.caller, request, move |work| {
            ack::ack(work, &thread, read)
        })
}
