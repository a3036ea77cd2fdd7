//! `garden_artifact_merge`: two lines of versions become one again.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use understory_engine::garden::artifact::commit::Given;
use understory_engine::garden::artifact::merge::{self, New};
use understory_model::Fault;

use crate::answers::object;
use crate::args::{decode, schema};
use crate::call::Call;
use crate::tool::{Access, Effect, Surface, Tool, request};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    artifact: String,
    /// commit
    ours: String,
    theirs: String,
    /// by a conflict's index: ours, theirs, base or {content}
    #[schemars(extend("type" = ["object", "array"], "items" = {"type": ["string", "object", "null"]}))]
    resolutions: Option<Value>,
    reasoning: Option<String>,
    project: Option<String>,
    #[serde(rename = "idempotency_key")]
    _key: Option<String>,
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
    output: object,
    takes: &[],
    example: r#"{"artifact": "goals_doc", "ours": "0199d3a0", "theirs": "0199d3a1", "resolutions": {"0": "theirs"}}"#,
    run,
};

fn run(context: &Call<'_>, args: Value) -> Result<Value, Fault> {
    let request = request(TOOL.name, &args);
    let input: Input = decode(args)?;
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
    };
    merge::check(&new)?;
    context
        .engine
        .write_json(context.caller, request, move |work| {
            merge::merge(work, &new)
        })
}
