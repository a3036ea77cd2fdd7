//! `branchmind_checkout`: the branch that calls mean when they name none.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
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
    #[serde(rename = "ref")]
    branch: String,
    #[serde(rename = "idempotency_key")]
    _idempotency_key: Option<String>,
}

pub const TOOL: Tool = Tool {
    name: "branchmind_checkout",
    title: "Check out branch",
    effect: Effect::Settles,
    surface: Surface::Reasoning,
    about: "Set the branch that calls of all agents mean when they name none. Tasks are not affected.",
    access: Access::Write,
    essential: false,
    schema: schema::<Input>,
    output: object,
    takes: &[],
    example: r#"{"workspace": "garden-shed", "ref": "main"}"#,
    run,
};

fn run(context: &Call<'_>, args: Value) -> Result<Value, Fault> {
    let request = request(TOOL.name, &args);
    let input: Input = decode(args)?;
    super::check_workspace(context, &input.workspace)?;
    let name = input.branch;
    let mut answer = context
        .engine
        .write_json(context.caller, request, move |work| {
            branch::checkout(work, &name)
        })?;
    answer["workspace"] = input.workspace.into();
    Ok(answer)
}
