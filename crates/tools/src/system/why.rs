//! `why`: the causes of anything, back to what it began with.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use understory_engine::garden::why;
use understory_model::Fault;

use crate::answers::object;
use crate::args::{budget, decode, schema};
use crate::call::Call;
use crate::garden::{nothing_yet, read};
use crate::tool::{Access, Effect, Surface, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// any handle, label:line or label:3-7
    id: String,
    project: Option<String>,
    max_chars: Option<i64>,
}

pub const TOOL: Tool = Tool {
    name: "why",
    title: "Explain why",
    effect: Effect::Nothing,
    surface: Surface::System,
    about: "Why something is as it is: its causes back to the first, newest first.",
    access: Access::Read,
    essential: false,
    schema: schema::<Input>,
    output: object,
    takes: &[],
    example: r#"{"id": "TASK-001"}"#,
    run,
};

fn run(context: &Call<'_>, args: Value) -> Result<Value, Fault> {
    let input: Input = decode(args)?;
    let budget = budget(input.max_chars);
    read(
        context,
        input.project.as_deref(),
        || Err(nothing_yet("id", &input.id)),
        |view| {
            let scope = view.scope(input.project.as_deref())?;
            why::why(view, context.caller, (scope, &input.id), &budget)
        },
    )
}
