//! `graph_onboard`: one call that orients somebody new.

use schemars::JsonSchema;
use serde::Deserialize;
use understory_engine::graph::onboard::{self, Onboard};
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
}

pub const TOOL: Tool = Tool {
    name: "graph_onboard",
    title: "Onboard",
    effect: Effect::Nothing,
    surface: Surface::Graph,
    about: "Start here: goal, counts, what was done last and by whom, who holds what, what is next.",
    access: Access::Read,
    essential: true,
    schema: schema::<Input>,
    output: output::<Onboard>,
    takes: &[Common::MaxChars],
    example: "{}",
    run: |call, args| typed(call, args, run),
};

fn run(call: &Call<'_>, input: Input) -> Result<Answer<Onboard>, Fault> {
    call.read(|view| onboard::onboard(view, input.project.as_deref(), &call.budget))
}
