//! `garden_artifact_merge`: two lines of versions become one again.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use understory_engine::garden::artifact::commit::Given;
use understory_engine::garden::artifact::merge::{self, Merge, New};
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
    /// commit
    ours: String,
    theirs: String,
    /// by index: ours, theirs, base or {content}
    #[schemars(extend("type" = ["object", "array"], "items" = {"type": ["string", "object", "null"]}))]
    resolutions: Option<Value>,
    reasoning: Option<String>,
    project: Option<String>,
}

pub const TOOL: Tool = Tool {
    name: "garden_artifact_merge",
    title: "Merge commits",
    effect: Effect::Adds,
    surface: Surface::Garden,
    about: "Merge two commits by lines; conflicts are answered, nothing written.",
    access: Access::Write,
    essential: false,
    schema: schema::<Input>,
    output: output::<Merge>,
    takes: &[Common::Key],
    example: r#"{"artifact": "goals_doc", "ours": "0199d3a0", "theirs": "0199d3a1", "resolutions": {"0": "theirs"}}"#,
    run: |call, args| typed(call, args, run),
};

fn run(call: &Call<'_>, input: Input) -> Result<Answer<Merge>, Fault> {
    let new = New {
        artifact: input.artifact,
        ours: input.ours,
        theirs: input.theirs,
        choices: merge::choices(input.resolutions.as_ref())?,
        given: Given {
            reasoning: input.reasoning,
            ..Given::default()
        },
        project: input.project,
    }
    .checked()?;
    call.write(move |work| merge::merge(work, &new))
}
