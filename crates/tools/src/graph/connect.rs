//! `graph_connect`: edges between nodes.

use schemars::JsonSchema;
use serde::Deserialize;
use understory_engine::graph::connect::{self, Connected, Edge};
use understory_model::answer::Answer;
use understory_model::{Fault, limits};

use crate::answers::output;
use crate::args::schema;
use crate::call::{Call, typed};
use crate::tool::{Access, Common, Effect, Surface, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    #[schemars(length(max = limits::BATCH))]
    edges: Vec<One>,
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
    output: output::<Connected>,
    takes: &[Common::Key],
    example: r#"{"edges": [{"from": "TASK-002", "to": "TASK-001", "type": "depends_on"}]}"#,
    run: |call, args| typed(call, args, run),
};

fn run(call: &Call<'_>, input: Input) -> Result<Answer<Connected>, Fault> {
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
    call.write(move |work| connect::connect(work, &edges))
}
