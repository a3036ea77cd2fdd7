//! `get_record_ref`: one record as lists show it.

use schemars::JsonSchema;
use serde::Deserialize;
use understory_engine::records::reference;
use understory_engine::records::shape::Reference;
use understory_model::Fault;
use understory_model::answer::Answer;

use crate::answers::output;
use crate::args::schema;
use crate::call::{Call, typed};
use crate::tool::{Access, Common, Effect, Surface, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    id: String,
}

pub const TOOL: Tool = Tool {
    name: "get_record_ref",
    title: "Show record reference",
    effect: Effect::Nothing,
    surface: Surface::Records,
    about: "One record without its body, and how many children it has.",
    access: Access::Read,
    essential: false,
    schema: schema::<Input>,
    output: output::<Reference>,
    takes: &[Common::MaxChars],
    example: r#"{"id": "R001"}"#,
    run: |call, args| typed(call, args, run),
};

fn run(call: &Call<'_>, input: Input) -> Result<Answer<Reference>, Fault> {
    call.read_fit(|view| reference::reference(view, &input.id))
}
