//! `garden_stack`: every conversation of a project, and who stands where.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use understory_engine::garden::stack;
use understory_model::Fault;
use understory_model::page::limit;

use crate::answers::object;
use crate::args::{budget, decode, schema};
use crate::call::Call;
use crate::tool::{Access, Effect, Surface, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    project: Option<String>,
    cursor: Option<String>,
    limit: Option<i64>,
    max_chars: Option<i64>,
}

pub const TOOL: Tool = Tool {
    name: "garden_stack",
    title: "List conversations",
    effect: Effect::Nothing,
    surface: Surface::Garden,
    about: "All conversations, their tree, and everybody's frame.",
    access: Access::Read,
    essential: false,
    schema: schema::<Input>,
    output: object,
    takes: &[],
    example: "{}",
    run,
};

fn run(context: &Call<'_>, args: Value) -> Result<Value, Fault> {
    let input: Input = decode(args)?;
    let asked = stack::Asked {
        project: input.project,
        cursor: input.cursor,
        limit: limit(input.limit, 200, understory_model::limits::PAGE),
    };
    let budget = budget(input.max_chars);
    let (engine, caller) = (context.engine, context.caller);
    engine.read(caller, |view| match view {
        Some(view) => stack::stack(view, caller, &asked, &budget),
        None => stack::nothing_yet(caller, &asked),
    })
}
