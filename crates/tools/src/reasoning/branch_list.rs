//! `branchmind_branch_list`: the branches that there are.

use schemars::JsonSchema;
use serde::Deserialize;
use understory_engine::reasoning::branch_list::{self, Asked, Branches};
use understory_model::Fault;
use understory_model::answer::Answer;

use crate::answers::output;
use crate::args::schema;
use crate::call::{Call, typed};
use crate::tool::{Access, Effect, Surface, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    workspace: String,
    cursor: Option<String>,
    /// default 50
    limit: Option<i64>,
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
    output: output::<Branches>,
    takes: super::BUDGET,
    example: r#"{"workspace": "garden-shed"}"#,
    run: |call, args| typed(call, args, run),
};

fn run(call: &Call<'_>, input: Input) -> Result<Answer<Branches>, Fault> {
    super::check_workspace(call, &input.workspace)?;
    let asked = Asked {
        cursor: input.cursor,
        limit: super::limit(input.limit, 50),
    };
    call.read_fit(|view| branch_list::list(view, &input.workspace, &asked))
}
