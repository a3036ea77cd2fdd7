//! `branchmind_log`: a document, one line an entry.

use serde_json::Value;
use understory_engine::reasoning::notes;
use understory_model::Fault;

use super::show::{Input, read};
use crate::answers::object;
use crate::args::schema;
use crate::call::Call;
use crate::tool::{Access, Effect, Surface, Tool};

pub const TOOL: Tool = Tool {
    name: "branchmind_log",
    title: "Document log",
    effect: Effect::Nothing,
    surface: Surface::Reasoning,
    about: "A document from its end, one line an entry.",
    access: Access::Read,
    essential: false,
    schema: schema::<Input>,
    output: object,
    takes: &[],
    example: r#"{"workspace": "garden-shed", "target": "TASK-001", "doc_kind": "trace"}"#,
    run,
};

fn run(context: &Call<'_>, args: Value) -> Result<Value, Fault> {
    read(context, args, |view, place, page, budget| {
        notes::lines(view.tx, view.ws, place, page, budget)
    })
}
