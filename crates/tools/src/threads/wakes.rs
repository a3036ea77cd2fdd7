//! `list_wakes`: what became of waking somebody.

use schemars::JsonSchema;
use serde::Deserialize;
use understory_engine::threads::wakes::{self, Asked, Wakes};
use understory_model::answer::Answer;
use understory_model::page::limit;
use understory_model::{Fault, limits};

use crate::answers::output;
use crate::args::schema;
use crate::call::{Call, typed};
use crate::tool::{Access, Common, Effect, Surface, Tool};

use super::SchemaVersion;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    thread_id: Option<String>,
    /// of waking this agent
    target_agent_id: Option<String>,
    /// only those still open
    #[serde(default)]
    open: bool,
    limit: Option<i64>,
    cursor: Option<String>,
    #[serde(rename = "schema_version")]
    _schema_version: Option<SchemaVersion>,
}

pub const TOOL: Tool = Tool {
    name: "list_wakes",
    title: "List wakes",
    effect: Effect::Nothing,
    surface: Surface::Threads,
    about: "Who was to be woken, by whom, by which step, and what came of it, newest first.",
    access: Access::Read,
    essential: false,
    schema: schema::<Input>,
    output: output::<Wakes>,
    takes: &[Common::MaxChars],
    example: r#"{"open": true}"#,
    run: |call, args| typed(call, args, run),
};

fn run(call: &Call<'_>, input: Input) -> Result<Answer<Wakes>, Fault> {
    let asked = Asked {
        thread: input.thread_id,
        target: input.target_agent_id,
        open: input.open,
        cursor: input.cursor,
        limit: limit(input.limit, 20, limits::PAGE).max(1),
    };
    call.read_fit(|view| wakes::wakes(view, &asked))
}
