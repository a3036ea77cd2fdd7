//! `branchmind_checkout`: the branch that calls mean when they name none.

use schemars::JsonSchema;
use serde::Deserialize;
use understory_engine::reasoning::checkout::{self, CheckedOut};
use understory_model::Fault;
use understory_model::answer::Answer;

use crate::answers::output;
use crate::args::schema;
use crate::call::{Call, typed};
use crate::tool::{Access, Common, Effect, Surface, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    workspace: String,
    #[serde(rename = "ref")]
    branch: String,
}

pub const TOOL: Tool = Tool {
    name: "branchmind_checkout",
    title: "Check out branch",
    effect: Effect::Settles,
    surface: Surface::Reasoning,
    about: "Set the branch that calls of all agents mean when they name none. Tasks are not affected.",
    access: Access::Write,
    essential: false,
    schema: schema::<Input>,
    output: output::<CheckedOut>,
    takes: &[Common::Key],
    example: r#"{"workspace": "garden-shed", "ref": "main"}"#,
    run: |call, args| typed(call, args, run),
};

fn run(call: &Call<'_>, input: Input) -> Result<Answer<CheckedOut>, Fault> {
    super::check_workspace(call, &input.workspace)?;
    call.write(move |work| checkout::checkout(work, &input.workspace, &input.branch))
}
