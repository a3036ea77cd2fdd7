//! `branchmind_graph_merge`: what a branch changed goes back into the one it came from.

use serde_json::Value;
use understory_engine::View;
use understory_engine::reasoning::graph_merge::{self, Asked};
use understory_engine::reasoning::place::Kind;
use understory_model::Fault;

use super::merge::{Input, merged};
use crate::answers::object;
use crate::args::schema;
use crate::call::Call;
use crate::tool::{Access, Effect, Surface, Tool};

pub const TOOL: Tool = Tool {
    name: "branchmind_graph_merge",
    title: "Merge graph documents",
    effect: Effect::Settles,
    surface: Surface::Reasoning,
    about: "Merge the graph changes of a branch back into its base; what both changed becomes a conflict. dry_run only looks.",
    access: Access::ReadOrWrite,
    essential: false,
    schema: schema::<Input>,
    output: object,
    takes: &[],
    example: r#"{"workspace": "garden-shed", "from": "what-if", "into": "main"}"#,
    run,
};

fn run(context: &Call<'_>, args: Value) -> Result<Value, Fault> {
    let look = |view: &mut View<'_, '_>, asked: &Asked| graph_merge::look(view.tx, view.ws, asked);
    merged(
        context,
        TOOL.name,
        args,
        Kind::Graph,
        look,
        graph_merge::merge,
    )
}
