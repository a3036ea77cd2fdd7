//! `tasks_radar`: where a plan or task stands, and where its reasoning is.

use schemars::JsonSchema;
use serde::Deserialize;
use understory_engine::reasoning::radar::{self, Radar};
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
    task: String,
}

pub const TOOL: Tool = Tool {
    name: "tasks_radar",
    title: "Task status",
    effect: Effect::Nothing,
    surface: Surface::Reasoning,
    about: "Where a plan or task stands: state, blockers, next, open conflicts, its reasoning documents.",
    access: Access::Read,
    essential: false,
    schema: schema::<Input>,
    output: output::<Radar>,
    takes: super::BUDGET,
    example: r#"{"workspace": "garden-shed", "task": "TASK-001"}"#,
    run: |call, args| typed(call, args, run),
};

fn run(call: &Call<'_>, input: Input) -> Result<Answer<Radar>, Fault> {
    super::check_workspace(call, &input.workspace)?;
    call.read_fit(|view| radar::radar(view, &input.task))
}
