//! `garden_artifact_diff`: what lies between two versions.

use schemars::JsonSchema;
use serde::Deserialize;
use understory_engine::garden::artifact::diff::{self, Diff};
use understory_engine::kernel::artifact::named;
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
    from: String,
    /// default: the head
    to: Option<String>,
    project: Option<String>,
}

pub const TOOL: Tool = Tool {
    name: "garden_artifact_diff",
    title: "Compare commits",
    effect: Effect::Nothing,
    surface: Surface::Garden,
    about: "A unified diff between two commits of an artifact.",
    access: Access::Read,
    essential: false,
    schema: schema::<Input>,
    output: output::<Diff>,
    takes: &[Common::MaxChars],
    example: r#"{"artifact": "goals_doc", "from": "0199d3a0"}"#,
    run: |call, args| typed(call, args, run),
};

fn run(call: &Call<'_>, input: Input) -> Result<Answer<Diff>, Fault> {
    call.read_fit(|view| {
        let found = named(view, input.project.as_deref(), &input.artifact)?;
        diff::diff(view, &found, (&input.from, input.to.as_deref()))
    })
}
