//! `branchmind_export`: a plan or task with the end of its notes and trace.

use schemars::JsonSchema;
use serde::Deserialize;
use understory_engine::reasoning::export::{self, Export};
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
    target: String,
    notes_limit: Option<i64>,
    trace_limit: Option<i64>,
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
    output: output::<Export>,
    takes: super::BUDGET,
    example: r#"{"workspace": "garden-shed", "target": "TASK-001"}"#,
    run: |call, args| typed(call, args, run),
};

fn run(call: &Call<'_>, input: Input) -> Result<Answer<Export>, Fault> {
    super::check_workspace(call, &input.workspace)?;
    let limits = (
        super::limit(input.notes_limit, 20),
        super::limit(input.trace_limit, 20),
    );
    call.read_fit(|view| export::export(view, &input.target, limits))
}
