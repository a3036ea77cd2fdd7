//! `branchmind_branch_create`: a branch from what another shows now.

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
    name: String,
    /// default: the branch checked out
    from: Option<String>,
    #[serde(rename = "idempotency_key")]
    _idempotency_key: Option<String>,
}

pub const TOOL: Tool = Tool {
    name: "branchmind_branch_create",
    title: "Create branch",
    effect: Effect::Settles,
    surface: Surface::Reasoning,
    about: "Make a branch from what another shows now; nothing is copied.",
    access: Access::Write,
    essential: false,
    schema: schema::<Input>,
    output: object,
    takes: &[],
    example: r#"{"workspace": "garden-shed", "name": "what-if"}"#,
    run,
};

fn run(context: &Call<'_>, args: Value) -> Result<Value, Fault> {
    let request = request(TOOL.name, &args);
    let input: Input = decode(args)?;
    super::check_workspace(context, &input.workspace)?;
    let (name, from) = (input.name, input.from);
    let mut answer = context
        .engine
        .write_json(context.caller, request, move |work| {
            branch::create(work, &name, from.as_deref())
        })?;
    answer["workspace"] = input.workspace.into();
    Ok(answer)
}
