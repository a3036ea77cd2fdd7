//! `branchmind_graph_diff`: how a graph document differs between two branches.

use serde_json::Value;
use understory_engine::reasoning::graph_diff;
use understory_engine::reasoning::place::Kind;
use understory_model::Fault;

use super::diff::{Input, compared};
use crate::answers::object;
use crate::args::schema;
use crate::call::Call;
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
    output: object,
    takes: &[],
    example: r#"{"workspace": "garden-shed", "from": "main", "to": "main"}"#,
    run,
};

fn run(context: &Call<'_>, args: Value) -> Result<Value, Fault> {
    compared(
        context,
        args,
        "changes",
        Kind::Graph,
        |view, sides, page, budget| graph_diff::diff(view.tx, view.ws, sides, page, budget),
    )
}
