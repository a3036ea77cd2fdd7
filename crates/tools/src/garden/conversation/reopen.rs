//! `garden_reopen`: going on from a conversation that was over.

use schemars::JsonSchema;
use serde::Deserialize;
use understory_engine::garden::conversation::fork::Begun;
use understory_engine::garden::conversation::reopen;
use understory_model::Fault;
use understory_model::answer::Answer;

use crate::answers::output;
use crate::args::schema;
use crate::call::{Call, typed};
use crate::tool::{Access, Common, Effect, Surface, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    project: Option<String>,
    log: String,
}

pub const TOOL: Tool = Tool {
    name: "garden_reopen",
    title: "Reopen conversation",
    effect: Effect::Adds,
    surface: Surface::Garden,
    about: "Go on from a collapsed conversation in a new log.",
    access: Access::Write,
    essential: false,
    schema: schema::<Input>,
    output: output::<Begun>,
    takes: &[Common::Key],
    example: r#"{"log": "uuid_0199d3a0-0000-7000-8000-000000000003"}"#,
    run: |call, args| typed(call, args, run),
};

fn run(call: &Call<'_>, input: Input) -> Result<Answer<Begun>, Fault> {
    call.write(move |work| reopen::reopen(work, input.project.as_deref(), &input.log))
}
