//! `get_record_ref`: one record as lists show it.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use understory_engine::records::{list, nothing_yet};
use understory_model::Fault;

use crate::answers::object;
use crate::args::{budget, decode, schema};
use crate::call::Call;
use crate::tool::{Access, Effect, Surface, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    id: String,
    max_chars: Option<i64>,
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
    output: object,
    takes: &[],
    example: r#"{"id": "R001"}"#,
    run,
};

fn run(context: &Call<'_>, args: Value) -> Result<Value, Fault> {
    let input: Input = decode(args)?;
    let found = context.engine.read(context.caller, |view| match view {
        Some(view) => list::reference(view, &input.id),
        None => Err(nothing_yet(&input.id)),
    })?;
    Ok(understory_model::budget::fit_whole(
        found,
        &budget(input.max_chars),
    ))
}
