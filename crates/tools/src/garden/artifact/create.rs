//! `garden_artifact_create`: a document that changes by lines.

use schemars::JsonSchema;
use serde::Deserialize;
use understory_engine::garden::artifact::Made;
use understory_engine::garden::artifact::create::{self, New};
use understory_engine::kernel::checked::Check;
use understory_model::Fault;
use understory_model::answer::Answer;

use crate::answers::output;
use crate::args::schema;
use crate::call::{Call, typed};
use crate::tool::{Access, Common, Effect, Surface, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// letters, digits and _
    label: String,
    /// its first text
    #[schemars(extend("x-long" = true))]
    content: Option<String>,
    project: Option<String>,
}

pub const TOOL: Tool = Tool {
    name: "garden_artifact_create",
    title: "Create artifact",
    effect: Effect::Settles,
    surface: Surface::Garden,
    about: "Make a document whose every line can be traced.",
    access: Access::Write,
    essential: false,
    schema: schema::<Input>,
    output: output::<Made>,
    takes: &[Common::Key],
    example: r##"{"label": "goals_doc", "content": "# Goals\n1. Fast\n"}"##,
    run: |call, args| typed(call, args, run),
};

fn run(call: &Call<'_>, input: Input) -> Result<Answer<Made>, Fault> {
    let new = New {
        label: input.label,
        content: input.content,
        project: input.project,
    }
    .checked()?;
    call.write(move |work| create::create(work, &new))
}
