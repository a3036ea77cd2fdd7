//! `ack_read`: says how far the caller has read.

use schemars::JsonSchema;
use serde::Deserialize;
use understory_engine::threads::ack::{self, Acked};
use understory_model::Fault;
use understory_model::answer::Answer;

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
    last_read_seq: i64,
    agent_id: Option<String>,
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
    output: output::<Acked>,
    takes: &[Common::Key],
    example: r#"{"thread_id": "th_001", "last_read_seq": 1}"#,
    run: |call, args| typed(call, args, run),
};

fn run(call: &Call<'_>, input: Input) -> Result<Answer<Acked>, Fault> {
    claims::agent(call, "agent_id", input.agent_id.as_deref())?;
    let (thread, read) = (input.thread_id, input.last_read_seq);
    call.write(move |work| ack::ack(work, &thread, read))
}
