//! `garden_entity_create`: something to believe in, version by version.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use understory_engine::garden::entity::{self, New};
use understory_model::Fault;

use crate::answers::object;
use crate::args::{decode, schema};
use crate::call::Call;
use crate::tool::{Access, Effect, Surface, Tool, request};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    r#type: String,
    data: Map<String, Value>,
    group_id: Option<String>,
    derived_from: Option<String>,
    project: Option<String>,
    #[serde(rename = "idempotency_key")]
    _idempotency_key: Option<String>,
}

pub const TOOL: Tool = Tool {
    name: "garden_entity_create",
    title: "Create entity",
    effect: Effect::Adds,
    surface: Surface::Garden,
    about: "Make an entity of any type; its changes are kept and chained by hash.",
    access: Access::Write,
    essential: false,
    schema: schema::<Input>,
    output: object,
    takes: &[],
    example: r#"{"type": "service", "data": {"name": "billing", "port": 8080}}"#,
    run,
};

fn run(context: &Call<'_>, args: Value) -> Result<Value, Fault> {
    let request = request(TOOL.name, &args);
    let input: Input = decode(args)?;
    let new = New {
        kind: input.r#type,
        data: input.data,
        group_id: input.group_id,
        derived_from: input.derived_from,
        project: input.project,
    };
    entity::check(&new)?;
    context
        .engine
        .write_json(context.caller, request, move |work| {
            entity::create(work, &new)
        })
}
