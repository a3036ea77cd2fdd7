//! `graph_connect`: edges between nodes.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use understory_engine::graph::connect::{self, Edge};
use understory_model::{Fault, limits};

use crate::answers::object;
use crate::args::{decode, schema};
use crate::call::Call;
use crate::tool::{Access, Effect, Surface, Tool, request};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    #[schemars(length(max = limits::BATCH))]
    edges: Vec<One>,
    #[serde(rename = "idempotency_key")]
    _idempotency_key: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct One {
    from: String,
    to: String,
    /// depends_on, relates_to or your own
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    remove: bool,
}

pub const TOOL: Tool = Tool {
    name: "graph_connect",
    title: "Connect nodes",
    effect: Effect::Settles,
    surface: Surface::Graph,
    about: "Add or remove edges. Applies what it can; the rest comes back under rejected.",
    access: Access::Write,
    essential: false,
    schema: schema::<Input>,
    output: object,
    takes: &[],
    example: r#"{"edges": [{"from": "TASK-002", "to": "TASK-001", "type": "depends_on"}]}"#,
    run,
};

fn run(context: &Call<'_>, args: Value) -> Result<Value, Fault> {
    let request = request(TOOL.name, &args);
    let input: Input = decode(args)?;
    let edges: Vec<Edge> = input
        .edges
        .into_iter()
        .map(|one| Edge {
            from: one.from,
            to: one.to,
            kind: one.kind,
            remove: one.remove,
        })
        .collect();
    context
        .engine
        .write_json(context.caller, request, move |work| {
            connect::connect(work, &edges)
        })
}
