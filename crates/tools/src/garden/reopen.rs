//! `garden_reopen`: going on from a conversation that was over.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use understory_engine::garden::reopen;
use understory_model::Fault;

use crate::answers::object;
use crate::args::{decode, schema};
use crate::call::Call;
use crate::tool::{Access, Effect, Surface, Tool, request};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    project: Option<String>,
    log: String,
    #[serde(rename = "idempotency_key")]
    _idempotency_key: Option<String>,
}

pub const TOOL: Tool = Tool {
    name: "garden_reopen",
    title: "Reopen conversation",
    effect: Effect::Adds,
    surface: Surface::Garden,
    about: "Go on from a collapsed conversation in a new log.",
    access: Access::Write,
    essential: false,
    schema: schema::<Input>,
    output: object,
    takes: &[],
    example: r#"{"log": "uuid_0199d3a0-0000-7000-8000-000000000003"}"#,
    run,
};

fn run(context: &Call<'_>, args: Value) -> Result<Value, Fault> {
    let request = request(TOOL.name, &args);
    let input: Input = decode(args)?;
    context
        .engine
        .write_json(context.caller, request, move |work| {
            reopen::reopen(work, input.project.as_deref(), &input.log)
        })
}
