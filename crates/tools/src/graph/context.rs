//! `graph_context`: a node and its neighbourhood.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use understory_model::{Fault, limits};

use crate::answers::object;
use crate::args::{budget, decode, schema};
use crate::call::Call;
use crate::tool::{Access, Effect, Surface, Tool};
use understory_engine::graph::context::context as read_context;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    node_id: String,
    /// levels of children, default 2
    depth: Option<i64>,
    max_chars: Option<i64>,
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
    output: object,
    takes: &[],
    example: r#"{"node_id": "TASK-001"}"#,
    run,
};

fn run(context: &Call<'_>, args: Value) -> Result<Value, Fault> {
    let input: Input = decode(args)?;
    let depth = input.depth.unwrap_or(2).clamp(0, limits::CONTEXT_DEPTH);
    let budget = budget(input.max_chars);
    context.engine.read(context.caller, |view| match view {
        Some(view) => read_context(view, &input.node_id, depth, &budget),
        None => Err(super::nothing_yet(&input.node_id)),
    })
}
