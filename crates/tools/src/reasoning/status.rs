//! `branchmind_status`: the state of the workspace in a glance.

use schemars::JsonSchema;
use serde::Deserialize;
use understory_engine::reasoning::status::{self, Status};
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
    /// lists its documents
    branch: Option<String>,
}

pub const TOOL: Tool = Tool {
    name: "branchmind_status",
    title: "Workspace status",
    effect: Effect::Nothing,
    surface: Surface::Reasoning,
    about: "The newest event of the workspace, the branch checked out and by whom, the documents of a branch.",
    access: Access::Read,
    essential: false,
    schema: schema::<Input>,
    output: output::<Status>,
    takes: super::BUDGET,
    example: r#"{"workspace": "garden-shed"}"#,
    run: |call, args| typed(call, args, run),
};

fn run(call: &Call<'_>, input: Input) -> Result<Answer<Status>, Fault> {
    super::check_workspace(call, &input.workspace)?;
    let store = (input.workspace.as_str(), call.engine.schema_version());
    call.read_fit(|view| status::status(view, store, input.branch.as_deref()))
}
