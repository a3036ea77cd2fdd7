//! `branchmind_status`: the state of the workspace in a glance.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use understory_engine::reasoning::branch;
use understory_model::Fault;

use crate::answers::object;
use crate::args::{decode, schema};
use crate::call::Call;
use crate::tool::{Access, Effect, Surface, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    workspace: String,
    /// lists its documents
    branch: Option<String>,
    max_chars: Option<i64>,
    max_bytes: Option<i64>,
    max_lines: Option<i64>,
}

pub const TOOL: Tool = Tool {
    name: "branchmind_status",
    title: "Workspace status",
    effect: Effect::Nothing,
    surface: Surface::Reasoning,
    about: "The newest event of the workspace, the branch checked out and by whom, the documents of a branch.",
    access: Access::Read,
    essential: false,
    schema: schema::<Input>,
    output: object,
    takes: &[],
    example: r#"{"workspace": "garden-shed"}"#,
    run,
};

fn run(context: &Call<'_>, args: Value) -> Result<Value, Fault> {
    let input: Input = decode(args)?;
    super::check_workspace(context, &input.workspace)?;
    let named = input.branch.as_deref();
    let mut status = context
        .engine
        .read(context.caller, |view| branch::status(view, named))?;
    status["workspace"] = input.workspace.into();
    status["schema_version"] = context.engine.schema_version().into();
    let budget = super::budget(input.max_chars, input.max_bytes, input.max_lines);
    Ok(understory_model::budget::fit_whole(status, &budget))
}
