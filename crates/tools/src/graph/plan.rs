//! `graph_plan`: break work down, many nodes at once.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use understory_engine::graph::plan::{self, NewNode, Planned};
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
    nodes: Vec<Node>,
    /// home of nodes without parent_ref
    project: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Node {
    /// temporary name within this call
    #[serde(rename = "ref")]
    reference: String,
    /// a ref of this call or a node id; else the project's root
    parent_ref: Option<String>,
    summary: String,
    #[serde(default)]
    #[schemars(length(max = limits::LIST_LEN))]
    context_links: Vec<String>,
    /// refs of this call or node ids
    #[serde(default)]
    #[schemars(length(max = limits::DEPENDENCIES))]
    depends_on: Vec<String>,
    /// free; `priority` (number, higher first) ranks
    #[serde(default)]
    properties: Map<String, Value>,
}

pub const TOOL: Tool = Tool {
    name: "graph_plan",
    title: "Plan work",
    effect: Effect::Adds,
    surface: Surface::Graph,
    about: "Create nodes with parents and dependencies, all or none. Returns the id of each ref.",
    access: Access::Write,
    essential: true,
    schema: schema::<Input>,
    output: output::<Planned>,
    takes: &[Common::Key],
    example: r#"{"nodes": [{"ref": "api", "summary": "Write the API"}, {"ref": "ui", "summary": "Write the UI", "depends_on": ["api"]}]}"#,
    run: |call, args| typed(call, args, run),
};

fn run(call: &Call<'_>, input: Input) -> Result<Answer<Planned>, Fault> {
    let nodes: Vec<NewNode> = input
        .nodes
        .into_iter()
        .map(|node| NewNode {
            reference: node.reference,
            parent: node.parent_ref,
            summary: node.summary,
            context_links: node.context_links,
            depends_on: node.depends_on,
            properties: node.properties,
        })
        .collect();
    let project = input.project;
    call.write(move |work| plan::plan(work, project.as_deref(), &nodes))
}
