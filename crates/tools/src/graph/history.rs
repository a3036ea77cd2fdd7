//! `graph_history`: who changed a node, how and why.

use schemars::JsonSchema;
use serde::Deserialize;
use understory_engine::graph::history::{self, History};
use understory_model::answer::Answer;
use understory_model::page::limit;
use understory_model::{Fault, limits};

use crate::answers::output;
use crate::args::schema;
use crate::call::{Call, typed};
use crate::tool::{Access, Common, Effect, Surface, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    node_id: String,
    /// default 20
    limit: Option<i64>,
    cursor: Option<String>,
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
    output: output::<History>,
    takes: &[Common::MaxChars],
    example: r#"{"node_id": "TASK-001"}"#,
    run: |call, args| typed(call, args, run),
};

fn run(call: &Call<'_>, input: Input) -> Result<Answer<History>, Fault> {
    let most = limit(input.limit, 20, limits::PAGE);
    call.read_fit(|view| history::history(view, &input.node_id, most, input.cursor.as_deref()))
}
