//! `graph_context`: a node and its neighbourhood.

use schemars::JsonSchema;
use serde::Deserialize;
use understory_engine::graph::context::{self, Context};
use understory_model::answer::Answer;
use understory_model::{Fault, limits};

use crate::answers::output;
use crate::args::schema;
use crate::call::{Call, typed};
use crate::tool::{Access, Common, Effect, Surface, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    node_id: String,
    /// levels of children, default 2
    depth: Option<i64>,
}

pub const TOOL: Tool = Tool {
    name: "graph_context",
    title: "Show node",
    effect: Effect::Nothing,
    surface: Surface::Graph,
    about: "A node whole, with ancestors, children, what it depends on, what depends on it, and its other edges.",
    access: Access::Read,
    essential: false,
    schema: schema::<Input>,
    output: output::<Context>,
    takes: &[Common::MaxChars],
    example: r#"{"node_id": "TASK-001"}"#,
    run: |call, args| typed(call, args, run),
};

fn run(call: &Call<'_>, input: Input) -> Result<Answer<Context>, Fault> {
    let depth = input.depth.unwrap_or(2).clamp(0, limits::CONTEXT_DEPTH);
    call.read(|view| context::context(view, &input.node_id, depth, &call.budget))
}
