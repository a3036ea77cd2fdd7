//! `get_thread`: a thread and who takes part in it.

use schemars::JsonSchema;
use serde::Deserialize;
use understory_engine::threads::get::{self, Thread};
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
    #[serde(rename = "schema_version")]
    _schema_version: Option<SchemaVersion>,
}

pub const TOOL: Tool = Tool {
    name: "get_thread",
    title: "Show thread",
    effect: Effect::Nothing,
    surface: Surface::Threads,
    about: "A thread: title, status and why, participants, who has read how much.",
    access: Access::Read,
    essential: false,
    schema: schema::<Input>,
    output: output::<Thread>,
    takes: &[Common::MaxChars],
    example: r#"{"thread_id": "th_001"}"#,
    run: |call, args| typed(call, args, run),
};

fn run(call: &Call<'_>, input: Input) -> Result<Answer<Thread>, Fault> {
    call.read_fit(|view| get::get(view, &input.thread_id))
}
