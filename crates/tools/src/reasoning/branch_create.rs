//! `branchmind_branch_create`: a branch from what another shows now.

use schemars::JsonSchema;
use serde::Deserialize;
use understory_engine::reasoning::branch_create::{self, Created};
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
    name: String,
    /// default: the branch checked out
    from: Option<String>,
}

pub const TOOL: Tool = Tool {
    name: "branchmind_branch_create",
    title: "Create branch",
    effect: Effect::Settles,
    surface: Surface::Reasoning,
    about: "Make a branch from what another shows now; nothing is copied.",
    access: Access::Write,
    essential: false,
    schema: schema::<Input>,
    output: output::<Created>,
    takes: &[Common::Key],
    example: r#"{"workspace": "garden-shed", "name": "what-if"}"#,
    run: |call, args| typed(call, args, run),
};

fn run(call: &Call<'_>, input: Input) -> Result<Answer<Created>, Fault> {
    super::check_workspace(call, &input.workspace)?;
    call.write(move |work| {
        Ok(Created {
            branch: branch_create::create(work, &input.name, input.from.as_deref())?,
            workspace: input.workspace.clone(),
        })
    })
}
