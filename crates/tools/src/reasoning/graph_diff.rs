//! `branchmind_graph_diff`: how a graph document differs between two branches.

use understory_engine::reasoning::graph_diff::{self, GraphDiff};
use understory_engine::reasoning::place::Kind;
use understory_model::Fault;
use understory_model::answer::Answer;

use super::diff::{Input, compared};
use crate::answers::output;
use crate::args::schema;
use crate::call::{Call, typed};
use crate::tool::{Access, Effect, Surface, Tool};

pub const TOOL: Tool = Tool {
    name: "branchmind_graph_diff",
    title: "Compare graph documents",
    effect: Effect::Nothing,
    surface: Surface::Reasoning,
    about: "Nodes and edges of branch `to` that differ from `from`, deletions too.",
    access: Access::Read,
    essential: false,
    schema: schema::<Input>,
    output: output::<GraphDiff>,
    takes: super::BUDGET,
    example: r#"{"workspace": "garden-shed", "from": "main", "to": "main"}"#,
    run: |call, args| typed(call, args, run),
};

fn run(call: &Call<'_>, input: Input) -> Result<Answer<GraphDiff>, Fault> {
    compared(call, &input, Kind::Graph, |view, sides, asked| {
        graph_diff::diff(view.tx, view.ws, sides, asked)
    })
}
