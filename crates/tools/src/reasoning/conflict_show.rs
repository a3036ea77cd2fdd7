//! `branchmind_graph_conflict_show`: one conflict, with all its sides.

use schemars::JsonSchema;
use serde::Deserialize;
use understory_engine::reasoning::conflict_show::{self, Shown};
use understory_model::Fault;
use understory_model::answer::Answer;

use crate::answers::output;
use crate::args::schema;
use crate::call::{Call, typed};
use crate::tool::{Access, Effect, Surface, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    workspace: String,
    conflict_id: String,
}

pub const TOOL: Tool = Tool {
    name: "branchmind_graph_conflict_show",
    title: "Show merge conflict",
    effect: Effect::Nothing,
    surface: Surface::Reasoning,
    about: "A conflict with base, ours (into) and theirs (from).",
    access: Access::Read,
    essential: false,
    schema: schema::<Input>,
    output: output::<Shown>,
    takes: super::BUDGET,
    example: r#"{"workspace": "garden-shed", "conflict_id": "conflict-0000000000000000"}"#,
    run: |call, args| typed(call, args, run),
};

fn run(call: &Call<'_>, input: Input) -> Result<Answer<Shown>, Fault> {
    super::check_workspace(call, &input.workspace)?;
    call.read_fit(|view| conflict_show::show(view, &input.conflict_id))
}
