//! `branchmind_log`: a document, one line an entry.

use understory_engine::reasoning::log::{self, Line};
use understory_engine::reasoning::notes::Page;
use understory_model::Fault;
use understory_model::answer::Answer;

use super::show::{Input, read};
use crate::answers::output;
use crate::args::schema;
use crate::call::{Call, typed};
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
    output: output::<Page<Line>>,
    takes: super::BUDGET,
    example: r#"{"workspace": "garden-shed", "target": "TASK-001", "doc_kind": "trace"}"#,
    run: |call, args| typed(call, args, run),
};

fn run(call: &Call<'_>, input: Input) -> Result<Answer<Page<Line>>, Fault> {
    read(call, input, |view, place, asked| {
        log::lines(view.tx, view.ws, place, asked)
    })
}
