//! `branchmind_think_next`: the one best next step, and why.

use schemars::JsonSchema;
use serde::Deserialize;
use understory_engine::reasoning::place::{self, Kind, Wanted};
use understory_engine::reasoning::think_next::{self, Next};
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
    target: Option<String>,
    branch: Option<String>,
    graph_doc: Option<String>,
}

pub const TOOL: Tool = Tool {
    name: "branchmind_think_next",
    title: "Next thinking step",
    effect: Effect::Nothing,
    surface: Surface::Reasoning,
    about: "The one best next step in the thinking, and why: from the graph alone.",
    access: Access::Read,
    essential: false,
    schema: schema::<Input>,
    output: output::<Next>,
    takes: super::BUDGET,
    example: r#"{"workspace": "garden-shed", "target": "TASK-001"}"#,
    run: |call, args| typed(call, args, run),
};

fn run(call: &Call<'_>, input: Input) -> Result<Answer<Next>, Fault> {
    super::check_workspace(call, &input.workspace)?;
    let wanted = Wanted {
        target: input.target,
        branch: input.branch,
        doc: input.graph_doc,
    };
    call.read_fit(|view| {
        let place = place::find(view.tx, view.ws, &wanted, Kind::Graph, true)?;
        think_next::next(view.tx, view.ws, place)
    })
}
