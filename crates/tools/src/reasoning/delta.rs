//! `tasks_delta`: changes of plans and tasks, in order.

use schemars::JsonSchema;
use serde::Deserialize;
use understory_engine::reasoning::delta::{self, Delta};
use understory_model::answer::Answer;
use understory_model::{Fault, Seq};

use crate::answers::output;
use crate::args::schema;
use crate::call::{Call, typed};
use crate::tool::{Access, Effect, Surface, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    workspace: String,
    since: Option<i64>,
    /// default 50
    limit: Option<i64>,
}

pub const TOOL: Tool = Tool {
    name: "tasks_delta",
    title: "Task changes",
    effect: Effect::Nothing,
    surface: Surface::Reasoning,
    about: "Changes of plans and tasks after a seq, in order. 0 is the beginning.",
    access: Access::Read,
    essential: false,
    schema: schema::<Input>,
    output: output::<Delta>,
    takes: super::BUDGET,
    example: r#"{"workspace": "garden-shed", "since": 0}"#,
    run: |call, args| typed(call, args, run),
};

fn run(call: &Call<'_>, input: Input) -> Result<Answer<Delta>, Fault> {
    super::check_workspace(call, &input.workspace)?;
    let since = input.since.unwrap_or(0).max(0);
    let limit = super::limit(input.limit, 50);
    call.read_fit(|view| delta::delta(view, Seq(since), limit))
}
