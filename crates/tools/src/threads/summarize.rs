//! `summarize_thread`: a thread in short.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use understory_engine::threads::{nothing_yet, summary};
use understory_model::Fault;

use crate::answers::object;
use crate::args::{budget, decode, schema};
use crate::call::Call;
use crate::tool::{Access, Effect, Surface, Tool};

use super::SchemaVersion;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    thread_id: String,
    /// of the last messages; default 10, at most 200
    max_messages: Option<i64>,
    max_chars: Option<i64>,
    #[serde(rename = "schema_version")]
    _schema_version: Option<SchemaVersion>,
}

pub const TOOL: Tool = Tool {
    name: "summarize_thread",
    title: "Summarize thread",
    effect: Effect::Nothing,
    surface: Surface::Threads,
    about: "A thread in short: who and what about; what was found, fixed, verified; what is open; what was said last.",
    access: Access::Read,
    essential: false,
    schema: schema::<Input>,
    output: object,
    takes: &[],
    example: r#"{"thread_id": "th_001"}"#,
    run,
};

fn run(context: &Call<'_>, args: Value) -> Result<Value, Fault> {
    let input: Input = decode(args)?;
    let (caller, thread, budget) = (context.caller, input.thread_id, budget(input.max_chars));
    let most = input.max_messages;
    context.engine.read(caller, |view| match view {
        Some(view) => summary::summarize(view, caller, &thread, most, &budget),
        None => Err(nothing_yet(&thread)),
    })
}
