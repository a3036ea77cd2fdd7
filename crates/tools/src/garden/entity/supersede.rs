//! `garden_entity_supersede`: another entity takes an entity's place.

use schemars::JsonSchema;
use serde::Deserialize;
use understory_engine::garden::entity::{Changed, supersede};
use understory_engine::kernel::project;
use understory_model::Fault;
use understory_model::answer::Answer;

use crate::answers::output;
use crate::args::schema;
use crate::call::{Call, typed};
use crate::tool::{Access, Common, Effect, Surface, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    uuid: String,
    by: String,
    project: Option<String>,
}

pub const TOOL: Tool = Tool {
    name: "garden_entity_supersede",
    title: "Supersede entity",
    effect: Effect::Settles,
    surface: Surface::Garden,
    about: "Say that another entity took an entity's place.",
    access: Access::Write,
    essential: false,
    schema: schema::<Input>,
    output: output::<Changed>,
    takes: &[Common::Key],
    example: r#"{"uuid": "entity_0199d3a0-0000-7000-8000-000000000000", "by": "entity_0199d3a0-0000-7000-8000-000000000001"}"#,
    run: |call, args| typed(call, args, run),
};

fn run(call: &Call<'_>, input: Input) -> Result<Answer<Changed>, Fault> {
    call.write(move |work| {
        project::check_known(work, input.project.as_deref())?;
        supersede::supersede(work, &input.uuid, &input.by)
    })
}
