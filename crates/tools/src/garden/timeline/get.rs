//! `garden_get`: one thing, by any of its names.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use understory_engine::garden::timeline::get;
use understory_model::Fault;

use crate::answers::object;
use crate::args::{budget, decode, schema};
use crate::call::Call;
use crate::garden::{nothing_yet, read};
use crate::tool::{Access, Effect, Surface, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// item, entity, log, relation, handle or part
    id: String,
    /// resolve references
    render: Option<bool>,
    project: Option<String>,
    max_chars: Option<i64>,
}

pub const TOOL: Tool = Tool {
    name: "garden_get",
    title: "Show anything",
    effect: Effect::Nothing,
    surface: Surface::Garden,
    about: "One thing by any of its names.",
    access: Access::Read,
    essential: false,
    schema: schema::<Input>,
    output: object,
    takes: &[],
    example: r#"{"id": "R001", "render": true}"#,
    run,
};

fn run(context: &Call<'_>, args: Value) -> Result<Value, Fault> {
    let input: Input = decode(args)?;
    let render = input.render.unwrap_or(false);
    let budget = budget(input.max_chars);
    read(
        context,
        input.project.as_deref(),
        || Err(nothing_yet("id", &input.id)),
        |view| {
            let scope = view.scope(input.project.as_deref())?;
            get::get(view, context.caller, (scope, &input.id), render, &budget)
        },
    )
}
