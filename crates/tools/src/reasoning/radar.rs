//! `tasks_radar`: where a plan or task stands, and where its reasoning is.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use understory_engine::reasoning::{export, place};
use understory_model::Fault;

use crate::answers::object;
use crate::args::{decode, schema};
use crate::call::Call;
use crate::tool::{Access, Effect, Surface, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    workspace: String,
    task: String,
    max_chars: Option<i64>,
    max_bytes: Option<i64>,
    max_lines: Option<i64>,
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
    output: object,
    takes: &[],
    example: r#"{"workspace": "garden-shed", "task": "TASK-001"}"#,
    run,
};

fn run(context: &Call<'_>, args: Value) -> Result<Value, Fault> {
    let input: Input = decode(args)?;
    super::check_workspace(context, &input.workspace)?;
    let budget = super::budget(input.max_chars, input.max_bytes, input.max_lines);
    let caller = context.caller;
    context.engine.read(caller, |view| match view {
        Some(view) => export::radar(view, caller, &input.task, &budget),
        None => Err(place::no_target(&input.task)),
    })
}
