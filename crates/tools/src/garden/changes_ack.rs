//! `garden_changes_ack`: say that you have dealt with changes.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use understory_engine::garden::changes;
use understory_engine::project;
use understory_model::Fault;

use crate::answers::object;
use crate::args::{decode, schema};
use crate::call::Call;
use crate::tool::{Access, Effect, Surface, Tool, request};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    cursor: String,
    project: Option<String>,
    #[serde(rename = "idempotency_key")]
    _idempotency_key: Option<String>,
}

pub const TOOL: Tool = Tool {
    name: "garden_changes_ack",
    title: "Acknowledge changes",
    effect: Effect::Settles,
    surface: Surface::Garden,
    about: "Acknowledge changes up to a cursor of garden_changes.",
    access: Access::Write,
    essential: false,
    schema: schema::<Input>,
    output: object,
    takes: &[],
    example: r#"{"cursor": "…"}"#,
    run,
};

fn run(context: &Call<'_>, args: Value) -> Result<Value, Fault> {
    let request = request(TOOL.name, &args);
    let input: Input = decode(args)?;
    context
        .engine
        .write_json(context.caller, request, move |work| {
            project::check_known(work, input.project.as_deref())?;
            changes::ack(work, &input.cursor)
        })
}
