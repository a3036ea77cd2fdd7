//! `garden_stack`: every conversation of a project, and who stands where.

use schemars::JsonSchema;
use serde::Deserialize;
use understory_engine::garden::conversation::stack::{self, Stack};
use understory_model::Fault;
use understory_model::answer::Answer;
use understory_model::page::limit;

use crate::answers::output;
use crate::args::schema;
use crate::call::{Call, typed};
use crate::tool::{Access, Common, Effect, Surface, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    project: Option<String>,
    cursor: Option<String>,
    limit: Option<i64>,
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
    output: output::<Stack>,
    takes: &[Common::MaxChars],
    example: "{}",
    run: |call, args| typed(call, args, run),
};

fn run(call: &Call<'_>, input: Input) -> Result<Answer<Stack>, Fault> {
    let asked = stack::Asked {
        project: input.project,
        cursor: input.cursor,
        limit: limit(input.limit, 200, understory_model::limits::PAGE),
    };
    call.read_fit(|view| stack::stack(view, &asked))
}
