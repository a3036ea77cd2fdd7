//! `branchmind_init`: makes sure that the workspace is there.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use understory_engine::reasoning::branch;
use understory_model::Fault;

use crate::answers::object;
use crate::args::{decode, schema};
use crate::call::Call;
use crate::tool::{Access, Effect, Surface, Tool, request};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    workspace: String,
    #[serde(rename = "idempotency_key")]
    _idempotency_key: Option<String>,
}

pub const TOOL: Tool = Tool {
    name: "branchmind_init",
    title: "Prepare workspace",
    effect: Effect::Settles,
    surface: Surface::Reasoning,
    about: "Make sure the workspace is there.",
    access: Access::Write,
    essential: false,
    schema: schema::<Input>,
    output: object,
    takes: &[],
    example: r#"{"workspace": "garden-shed"}"#,
    run,
};

fn run(context: &Call<'_>, args: Value) -> Result<Value, Fault> {
    let request = request(TOOL.name, &args);
    let input: Input = decode(args)?;
    super::check_workspace(context, &input.workspace)?;
    context.engine.write_json(context.caller, request, |work| {
        branch::init(work)?;
        Ok(Value::Null)
    })?;
    Ok(json!({
        "workspace": input.workspace,
        "storage_dir": context.engine.storage_dir(),
        "schema_version": context.engine.schema_version(),
    }))
}
