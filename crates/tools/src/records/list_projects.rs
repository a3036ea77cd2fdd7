//! `list_projects`: every project, with what is open in it.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use understory_engine::records::project;
use understory_model::Fault;
use understory_model::budget::{Drop, fit_list};

use crate::answers::object;
use crate::args::{budget, decode, schema};
use crate::call::Call;
use crate::tool::{Access, Effect, Surface, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    max_chars: Option<i64>,
}

pub const TOOL: Tool = Tool {
    name: "list_projects",
    title: "List projects",
    effect: Effect::Nothing,
    surface: Surface::Records,
    about: "All projects with their tick, open sessions and open records.",
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
    let all = context.engine.read(context.caller, project::list)?;
    Ok(fit_list(
        all,
        "projects",
        &budget(input.max_chars),
        Drop::Last,
    ))
}
