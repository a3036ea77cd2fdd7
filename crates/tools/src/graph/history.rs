//! `graph_history`: who changed a node, how and why.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use understory_engine::graph::history;
use understory_model::page::limit;
use understory_model::{Fault, limits};

use crate::answers::object;
use crate::args::{budget, decode, schema};
use crate::call::Call;
use crate::tool::{Access, Effect, Surface, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    node_id: String,
    /// default 20
    limit: Option<i64>,
    cursor: Option<String>,
    max_chars: Option<i64>,
}

pub const TOOL: Tool = Tool {
    name: "graph_history",
    title: "Node history",
    effect: Effect::Nothing,
    surface: Surface::Graph,
    about: "A node's changes, newest first: who, what from what to what, and why.",
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
    let most = limit(input.limit, 20, limits::PAGE);
    let budget = budget(input.max_chars);
    context.engine.read(context.caller, |view| match view {
        Some(view) => {
            history::history(view, &input.node_id, most, input.cursor.as_deref(), &budget)
        }
        None => Err(super::nothing_yet(&input.node_id)),
    })
}
