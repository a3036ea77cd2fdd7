//! `get_project`: one project and its tick.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use understory_engine::records::project;
use understory_model::Fault;

use crate::answers::object;
use crate::args::{budget, decode, schema};
use crate::call::Call;
use crate::tool::{Access, Effect, Surface, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// default: your project
    id: Option<String>,
    max_chars: Option<i64>,
}

pub const TOOL: Tool = Tool {
    name: "get_project",
    title: "Show project",
    effect: Effect::Nothing,
    surface: Surface::Records,
    about: "A project and its tick (the count of its writes).",
    access: Access::Read,
    essential: false,
    schema: schema::<Input>,
    output: object,
    takes: &[],
    example: r#"{}"#,
    run,
};

fn run(context: &Call<'_>, args: Value) -> Result<Value, Fault> {
    let input: Input = decode(args)?;
    super::check_project("id", input.id.as_deref())?;
    let (caller, now) = (context.caller, context.engine.clock().now());
    let found = context.engine.read(caller, |view| {
        project::get(view, caller, input.id.as_deref(), now)
    })?;
    Ok(understory_model::budget::fit_whole(
        found,
        &budget(input.max_chars),
    ))
}
