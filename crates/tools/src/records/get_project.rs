//! `get_project`: one project and its tick.

use schemars::JsonSchema;
use serde::Deserialize;
use understory_engine::records::get_project;
use understory_engine::records::project::Project;
use understory_model::Fault;
use understory_model::answer::Answer;

use crate::answers::output;
use crate::args::schema;
use crate::call::{Call, typed};
use crate::tool::{Access, Common, Effect, Surface, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// default: your project
    id: Option<String>,
}

pub const TOOL: Tool = Tool {
    name: "get_project",
    title: "Show project",
    effect: Effect::Nothing,
    surface: Surface::Records,
    about: "A project and its tick (the count of its writes).",
    access: Access::Read,
    essential: false,
    schema: schema::<Input>,
    output: output::<Project>,
    takes: &[Common::MaxChars],
    example: r#"{}"#,
    run: |call, args| typed(call, args, run),
};

fn run(call: &Call<'_>, input: Input) -> Result<Answer<Project>, Fault> {
    super::check_project("id", input.id.as_deref())?;
    call.read_fit(|view| get_project::get(view, input.id.as_deref()))
}
