//! `branchmind_export`: a plan or task with the end of its notes and trace.

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
    target: String,
    notes_limit: Option<i64>,
    trace_limit: Option<i64>,
    max_chars: Option<i64>,
    max_bytes: Option<i64>,
    max_lines: Option<i64>,
}

pub const TOOL: Tool = Tool {
    name: "branchmind_export",
    title: "Export target",
    effect: Effect::Nothing,
    surface: Surface::Reasoning,
    about: "A plan or task with the end of its notes and trace, to resume quickly.",
    access: Access::Read,
    essential: false,
    schema: schema::<Input>,
    output: object,
    takes: &[],
    example: r#"{"workspace": "garden-shed", "target": "TASK-001"}"#,
    run,
};

fn run(context: &Call<'_>, args: Value) -> Result<Value, Fault> {
    let input: Input = decode(args)?;
    super::check_workspace(context, &input.workspace)?;
    let budget = super::budget(input.max_chars, input.max_bytes, input.max_lines);
    let limits = (
        super::limit(input.notes_limit, 20),
        super::limit(input.trace_limit, 20),
    );
    context.engine.read(context.caller, |view| match view {
        Some(view) => export::export(view, &input.target, limits, &budget),
        None => Err(place::no_target(&input.target)),
    })
}
