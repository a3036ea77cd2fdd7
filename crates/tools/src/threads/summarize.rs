//! `summarize_thread`: a thread in short.

use schemars::JsonSchema;
use serde::Deserialize;
use understory_engine::threads::summarize::{self, Summary};
use understory_model::Fault;
use understory_model::answer::Answer;

use crate::answers::output;
use crate::args::schema;
use crate::call::{Call, typed};
use crate::tool::{Access, Common, Effect, Surface, Tool};

use super::SchemaVersion;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    thread_id: String,
    /// of the last messages; default 10, at most 200
    max_messages: Option<i64>,
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
    output: output::<Summary>,
    takes: &[Common::MaxChars],
    example: r#"{"thread_id": "th_001"}"#,
    run: |call, args| typed(call, args, run),
};

fn run(call: &Call<'_>, input: Input) -> Result<Answer<Summary>, Fault> {
    let (thread, most) = (input.thread_id, input.max_messages);
    call.read(|view| summarize::summarize(view, &thread, most, &call.budget))
}
