//! `garden_artifact_relabel`: another label for an artifact.

use schemars::JsonSchema;
use serde::Deserialize;
use understory_engine::garden::artifact::Made;
use understory_engine::garden::artifact::relabel::{self, New};
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
    artifact: String,
    /// letters, digits and _
    label: String,
    project: Option<String>,
}

pub const TOOL: Tool = Tool {
    name: "garden_artifact_relabel",
    title: "Relabel artifact",
    effect: Effect::Settles,
    surface: Surface::Garden,
    about: "Give an artifact another label; the old one still finds it.",
    access: Access::Write,
    essential: false,
    schema: schema::<Input>,
    output: output::<Made>,
    takes: &[Common::Key],
    example: r#"{"artifact": "goals_doc", "label": "aims"}"#,
    run: |call, args| typed(call, args, run),
};

fn run(call: &Call<'_>, input: Input) -> Result<Answer<Made>, Fault> {
    let new = New {
        artifact: input.artifact,
        label: input.label,
        project: input.project,
    }
    .checked()?;
    call.write(move |work| relabel::relabel(work, &new))
}
