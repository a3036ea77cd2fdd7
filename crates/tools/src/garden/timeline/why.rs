//! `why`: the causes of anything, back to what it began with.

use schemars::JsonSchema;
use serde::Deserialize;
use understory_engine::garden::timeline::why::{self, Why};
use understory_model::Fault;
use understory_model::answer::Answer;

use crate::answers::output;
use crate::args::schema;
use crate::call::{Call, typed};
use crate::garden::scope;
use crate::tool::{Access, Common, Effect, Surface, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// any handle, label:line or label:3-7
    id: String,
    project: Option<String>,
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
    output: output::<Why>,
    takes: &[Common::MaxChars],
    example: r#"{"id": "TASK-001"}"#,
    run: |call, args| typed(call, args, run),
};

fn run(call: &Call<'_>, input: Input) -> Result<Answer<Why>, Fault> {
    call.read_fit(|view| {
        let scope = scope(view, input.project.as_deref())?;
        why::why(view, scope, &input.id)
    })
}
