//! `garden_artifact_show`: a version, each line with where it came from.

use schemars::JsonSchema;
use serde::Deserialize;
use understory_engine::garden::artifact::show::{self, Asked, Lines};
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
    /// default: the head
    commit: Option<String>,
    /// first line, from 1
    start: Option<i64>,
    end: Option<i64>,
    project: Option<String>,
}

pub const TOOL: Tool = Tool {
    name: "garden_artifact_show",
    title: "Show artifact",
    effect: Effect::Nothing,
    surface: Surface::Garden,
    about: "An artifact's lines at a commit, each with its fragment, commit and source.",
    access: Access::Read,
    essential: false,
    schema: schema::<Input>,
    output: output::<Lines>,
    takes: &[Common::MaxChars],
    example: r#"{"artifact": "goals_doc", "start": 1, "end": 40}"#,
    run: |call, args| typed(call, args, run),
};

fn run(call: &Call<'_>, input: Input) -> Result<Answer<Lines>, Fault> {
    let asked = Asked {
        commit: input.commit,
        start: input.start,
        end: input.end,
    };
    call.read_fit(|view| {
        let found = named(view, input.project.as_deref(), &input.artifact)?;
        show::show(view, &found, &asked, call.budget.chars)
    })
}
