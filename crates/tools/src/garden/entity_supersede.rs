//! `garden_entity_supersede`: another entity takes an entity's place.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use understory_engine::garden::entity;
use understory_engine::project;
use understory_model::Fault;

use crate::answers::object;
use crate::args::{decode, schema};
use crate::call::Call;
use crate::tool::{Access, Effect, Surface, Tool, request};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    uuid: String,
    by: String,
    project: Option<String>,
    #[serde(rename = "idempotency_key")]
    _idempotency_key: Option<String>,
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
    output: object,
    takes: &[],
    example: r#"{"uuid": "entity_0199d3a0-0000-7000-8000-000000000000", "by": "entity_0199d3a0-0000-7000-8000-000000000001"}"#,
    run,
};

fn run(context: &Call<'_>, args: Value) -> Result<Value, Fault> {
    let request = request(TOOL.name, &args);
    let input: Input = decode(args)?;
    context
        .engine
        .write_json(context.caller, request, move |work| {
            project::check_known(work, input.project.as_deref())?;
            entity::supersede(work, &input.uuid, &input.by)
        })
}
