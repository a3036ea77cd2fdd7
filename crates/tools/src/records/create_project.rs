//! `create_project`: a new project, by an id or a name.

use schemars::JsonSchema;
use serde::Deserialize;
use understory_engine::records::create_project::{self, NewProject};
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
    /// must be new
    id: Option<String>,
    name: String,
    description: Option<String>,
}

pub const TOOL: Tool = Tool {
    name: "create_project",
    title: "Create project",
    effect: Effect::Settles,
    surface: Surface::Records,
    about: "Create a project. Without id one is made from the name.",
    access: Access::Write,
    essential: false,
    schema: schema::<Input>,
    output: output::<Project>,
    takes: &[Common::Key],
    example: r#"{"id": "shop", "name": "Web shop", "description": "Sell tea online"}"#,
    run: |call, args| typed(call, args, run),
};

fn run(call: &Call<'_>, input: Input) -> Result<Answer<Project>, Fault> {
    let new = NewProject::new(input.name, input.id, input.description)?;
    call.write(move |work| create_project::create(work, &new))
}
