//! `garden_undo`: take back what you have just said.

use schemars::JsonSchema;
use serde::Deserialize;
use understory_engine::garden::timeline::undo::Undo;
use understory_model::Fault;
use understory_model::answer::Answer;

use crate::answers::output;
use crate::args::schema;
use crate::call::{Call, typed};
use crate::tool::{Access, Common, Effect, Surface, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    item: String,
}

pub const TOOL: Tool = Tool {
    name: "garden_undo",
    title: "Undo item",
    effect: Effect::Erases,
    surface: Surface::Garden,
    about: "Take back an item of your own within five minutes: its content is erased.",
    access: Access::Write,
    essential: false,
    schema: schema::<Input>,
    output: output::<Undo>,
    takes: &[Common::Key],
    example: r#"{"item": "item_0199d3a0-0000-7000-8000-000000000000"}"#,
    run: |call, args| typed(call, args, run),
};

fn run(call: &Call<'_>, input: Input) -> Result<Answer<Undo>, Fault> {
    call.engine.undo(call.caller, call.request(), input.item)
}
