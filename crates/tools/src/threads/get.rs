//! `get_thread`: a thread and who takes part in it.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use understory_engine::threads::{list, nothing_yet};
use understory_model::Fault;
use understory_model::budget::fit_lists;

use crate::answers::object;
use crate::args::{budget, decode, schema};
use crate::call::Call;
use crate::tool::{Access, Effect, Surface, Tool};

use super::SchemaVersion;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    thread_id: String,
    max_chars: Option<i64>,
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
    output: object,
    takes: &[],
    example: r#"{"thread_id": "th_001"}"#,
    run,
};

fn run(context: &Call<'_>, args: Value) -> Result<Value, Fault> {
    let input: Input = decode(args)?;
    let (thread_id, caller) = (input.thread_id, context.caller);
    let budget = budget(input.max_chars);
    let mut shown = context.engine.read(caller, |view| match view {
        Some(view) => list::get(view, caller, &thread_id),
        None => Err(nothing_yet(&thread_id)),
    })?;
    Ok(
        match fit_lists(
            &mut shown,
            &["/readers", "/participants", "/changes"],
            &budget,
        ) {
            true => shown,
            false => json!({ "truncated": true }),
        },
    )
}
