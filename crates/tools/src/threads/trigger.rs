//! `trigger_participant`: a job of waking somebody.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use understory_engine::threads::wake::{self, Wish};
use understory_model::Fault;

use crate::answers::object;
use crate::args::{decode, schema};
use crate::call::Call;
use crate::tool::{Access, Effect, Surface, Tool, request};

use super::SchemaVersion;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    thread_id: String,
    /// a participant
    target_agent_id: String,
    reason: Option<String>,
    /// what it is told
    trigger_prompt: Option<String>,
    #[serde(rename = "idempotency_key")]
    _idempotency_key: Option<String>,
    #[serde(rename = "schema_version")]
    _schema_version: Option<SchemaVersion>,
}

pub const TOOL: Tool = Tool {
    name: "trigger_participant",
    title: "Wake participant",
    effect: Effect::Adds,
    surface: Surface::Threads,
    about: "Have a participant woken who has not read a thread; says what is done and what is not.",
    access: Access::Write,
    essential: false,
    schema: schema::<Input>,
    output: object,
    takes: &[],
    example: r#"{"thread_id": "th_001", "target_agent_id": "reviewer", "reason": "new_unread_messages"}"#,
    run,
};

fn run(context: &Call<'_>, args: Value) -> Result<Value, Fault> {
    let request = request(TOOL.name, &args);
    let input: Input = decode(args)?;
    let wish = Wish {
        target: input.target_agent_id,
        reason: input.reason,
        prompt: input.trigger_prompt,
    };
    wake::check(&wish)?;
    let thread = input.thread_id;
    context
        .engine
        .write_json(context.caller, request, move |work| {
            wake::trigger(work, &thread, &wish)
        })
}
