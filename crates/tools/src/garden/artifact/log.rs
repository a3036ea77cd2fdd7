//! `garden_artifact_log`: the commits of an artifact.

use schemars::JsonSchema;
use serde::Deserialize;
use understory_engine::garden::artifact::log::{self, Commits};
use understory_engine::kernel::artifact::named;
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
    artifact: String,
    cursor: Option<String>,
    limit: Option<i64>,
    project: Option<String>,
}

pub const TOOL: Tool = Tool {
    name: "garden_artifact_log",
    title: "Artifact commits",
    effect: Effect::Nothing,
    surface: Surface::Garden,
    about: "An artifact's commits, newest first, with their parents.",
    access: Access::Read,
    essential: false,
    schema: schema::<Input>,
    output: output::<Commits>,
    takes: &[Common::MaxChars],
    example: r#"{"artifact": "goals_doc"}"#,
    run: |call, args| typed(call, args, run),
};

fn run(call: &Call<'_>, input: Input) -> Result<Answer<Commits>, Fault> {
    let limit = limit(input.limit, 50, limits::PAGE).max(1);
    call.read_fit(|view| {
        let found = named(view, input.project.as_deref(), &input.artifact)?;
        log::log(view, &found, (input.cursor.as_deref(), limit))
    })
}
