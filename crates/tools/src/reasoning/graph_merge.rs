//! `branchmind_graph_merge`: what a branch changed goes back into the one it came from.

use understory_engine::View;
use understory_engine::reasoning::graph_merge::{self, Asked, GraphMerged};
use understory_engine::reasoning::place::Kind;
use understory_model::Fault;
use understory_model::answer::Answer;

use super::merge::{Input, merged};
use crate::answers::output;
use crate::args::schema;
use crate::call::{Call, typed};
use crate::tool::{Access, Common, Effect, Surface, Tool};

pub const TOOL: Tool = Tool {
    name: "branchmind_graph_merge",
    title: "Merge graph documents",
    effect: Effect::Settles,
    surface: Surface::Reasoning,
    about: "Merge the graph changes of a branch back into its base; what both changed becomes a conflict. dry_run only looks.",
    access: Access::ReadOrWrite,
    essential: false,
    schema: schema::<Input>,
    output: output::<GraphMerged>,
    takes: &[Common::Key],
    example: r#"{"workspace": "garden-shed", "from": "what-if", "into": "main"}"#,
    run: |call, args| typed(call, args, run),
};

fn run(call: &Call<'_>, input: Input) -> Result<Answer<GraphMerged>, Fault> {
    let look = |view: &mut View<'_, '_>, asked: &Asked| graph_merge::look(view.tx, view.ws, asked);
    merged(call, input, Kind::Graph, look, graph_merge::merge)
}
