//! `garden_artifact_list`: the artifacts of a project.

use schemars::JsonSchema;
use serde::Deserialize;
use understory_engine::garden::artifact::list::{self, Artifacts, Asked};
use understory_engine::kernel::checked::Check;
use understory_model::answer::Answer;
use understory_model::page::limit;
use understory_model::{Fault, limits};

use crate::answers::output;
use crate::args::schema;
use crate::call::{Call, typed};
use crate::tool::{Access, Common, Effect, Surface, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// part of the label
    text: Option<String>,
    cursor: Option<String>,
    limit: Option<i64>,
    project: Option<String>,
}

pub const TOOL: Tool = Tool {
    name: "garden_artifact_list",
    title: "List artifacts",
    effect: Effect::Nothing,
    surface: Surface::Garden,
    about: "The artifacts of a project: label, head commit, lines.",
    access: Access::Read,
    essential: false,
    schema: schema::<Input>,
    output: output::<Artifacts>,
    takes: &[Common::MaxChars],
    example: r#"{"text": "goals"}"#,
    run: |call, args| typed(call, args, run),
};

fn run(call: &Call<'_>, input: Input) -> Result<Answer<Artifacts>, Fault> {
    let asked = Asked {
        project: input.project,
        text: input.text,
        cursor: input.cursor,
        limit: limit(input.limit, 50, limits::PAGE).max(1),
    }
    .checked()?;
    call.read_fit(|view| list::list(view, &asked))
}
