//! `garden_trace`: what led to an item, or what it led to.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use understory_engine::garden::trace::{self, DEPTH, direction};
use understory_model::Fault;

use super::{nothing_yet, read};
use crate::answers::object;
use crate::args::{budget, decode, schema};
use crate::call::Call;
use crate::tool::{Access, Effect, Surface, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    item: String,
    /// default causes
    #[schemars(extend("enum" = ["effects", "causes", "root"]))]
    direction: Option<String>,
    max_depth: Option<i64>,
    project: Option<String>,
    max_chars: Option<i64>,
}

pub const TOOL: Tool = Tool {
    name: "garden_trace",
    title: "Trace causes",
    effect: Effect::Nothing,
    surface: Surface::Garden,
    about: "What led to an item, what it led to, or how it began, step by step.",
    access: Access::Read,
    essential: false,
    schema: schema::<Input>,
    output: object,
    takes: &[],
    example: r#"{"item": "R001", "direction": "effects"}"#,
    run,
};

fn run(context: &Call<'_>, args: Value) -> Result<Value, Fault> {
    let input: Input = decode(args)?;
    let direction = direction(input.direction.as_deref())?;
    let depth = input.max_depth.unwrap_or(DEPTH).min(DEPTH);
    if depth < 0 {
        return Err(Fault::invalid("max_depth", "must be 0 or more")
            .hint("0 is the item alone, 1 also what is next to it."));
    }
    let budget = budget(input.max_chars);
    read(
        context,
        input.project.as_deref(),
        || Err(nothing_yet("item", &input.item)),
        |view| {
            let scope = view.scope(input.project.as_deref())?;
            let named = (scope, input.item.as_str());
            trace::trace(view, context.caller, named, direction, depth, &budget)
        },
    )
}
