//! `garden_undo`: take back what you have just said.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use understory_model::Fault;

use crate::answers::object;
use crate::args::{decode, schema};
use crate::call::Call;
use crate::tool::{Access, Effect, Surface, Tool, request};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    item: String,
    #[serde(rename = "idempotency_key")]
    _idempotency_key: Option<String>,
}

pub const TOOL: Tool = Tool {
    name: "garden_undo",
    title: "Undo item",
    effect: Effect::Erases,
    surface: Surface::Garden,
    about: "Take back an item of your own within five minutes: its content is erased.",
    access: Access::Write,
    essential: false,
    schema: schema::<Input>,
    output: object,
    takes: &[],
    example: r#"{"item": "item_0199d3a0-0000-7000-8000-000000000000"}"#,
    run,
};

fn run(context: &Call<'_>, args: Value) -> Result<Value, Fault> {
    let request = request(TOOL.name, &args);
    let input: Input = decode(args)?;
    context.engine.undo(context.caller, request, input.item)
}
