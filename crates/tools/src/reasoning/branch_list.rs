//! `branchmind_branch_list`: the branches that there are.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use understory_engine::reasoning::branch::{self, Asked};
use understory_model::Fault;

use crate::answers::object;
use crate::args::{decode, schema};
use crate::call::Call;
use crate::tool::{Access, Effect, Surface, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    workspace: String,
    cursor: Option<String>,
    /// default 50
    limit: Option<i64>,
    max_chars: Option<i64>,
    max_bytes: Option<i64>,
    max_lines: Option<i64>,
}

pub const TOOL: Tool = Tool {
    name: "branchmind_branch_list",
    title: "List branches",
    effect: Effect::Nothing,
    surface: Surface::Reasoning,
    about: "Branches: main, those made, and those of plans and tasks.",
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
    let budget = super::budget(input.max_chars, input.max_bytes, input.max_lines);
    let asked = Asked {
        cursor: input.cursor,
        limit: super::limit(input.limit, 50),
    };
    context.engine.read(context.caller, |view| {
        branch::list(view, &input.workspace, &asked, &budget)
    })
}
