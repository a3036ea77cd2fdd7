//! `branchmind_graph_validate`: edges that lead nowhere.

use schemars::JsonSchema;
use serde::Deserialize;
use understory_engine::reasoning::graph_validate::{self, Validation};
use understory_engine::reasoning::place::{self, Kind, Wanted};
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
    doc: Option<String>,
    /// default 50
    max_errors: Option<i64>,
}

pub const TOOL: Tool = Tool {
    name: "branchmind_graph_validate",
    title: "Check graph document",
    effect: Effect::Nothing,
    surface: Surface::Reasoning,
    about: "Check that every edge of a graph document has both its nodes.",
    access: Access::Read,
    essential: false,
    schema: schema::<Input>,
    output: output::<Validation>,
    takes: super::BUDGET,
    example: r#"{"workspace": "garden-shed", "target": "TASK-001"}"#,
    run: |call, args| typed(call, args, run),
};

fn run(call: &Call<'_>, input: Input) -> Result<Answer<Validation>, Fault> {
    super::check_workspace(call, &input.workspace)?;
    let most = usize::try_from(super::at_least_none(input.max_errors, 50)).unwrap_or(0);
    let wanted = Wanted {
        target: input.target,
        branch: input.branch,
        doc: input.doc,
    };
    call.read_fit(|view| {
        let place = place::find(view.tx, view.ws, &wanted, Kind::Graph, false)?;
        graph_validate::validate(view.tx, view.ws, place, most)
    })
}
