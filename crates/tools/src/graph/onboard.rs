//! `graph_onboard`: one call that orients somebody new.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use understory_engine::graph::onboard;
use understory_model::Fault;

use crate::answers::object;
use crate::args::{budget, decode, schema};
use crate::call::Call;
use crate::tool::{Access, Effect, Surface, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    project: Option<String>,
    max_chars: Option<i64>,
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
    output: object,
    takes: &[],
    example: "{}",
    run,
};

fn run(context: &Call<'_>, args: Value) -> Result<Value, Fault> {
    let input: Input = decode(args)?;
    let budget = budget(input.max_chars);
    context.engine.read(context.caller, |view| {
        onboard::onboard(view, context.caller, input.project.as_deref(), &budget)
    })
}
