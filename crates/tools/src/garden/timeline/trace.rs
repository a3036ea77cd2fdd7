//! `garden_trace`: what led to an item, or what it led to.

use schemars::JsonSchema;
use serde::Deserialize;
use understory_engine::garden::timeline::trace::{self, Traced, direction};
use understory_model::Fault;
use understory_model::answer::Answer;
use understory_model::limits;

use crate::answers::output;
use crate::args::schema;
use crate::call::{Call, typed};
use crate::garden::scope;
use crate::tool::{Access, Common, Effect, Surface, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    item: String,
    /// default causes
    #[schemars(extend("enum" = ["effects", "causes", "root"]))]
    direction: Option<String>,
    max_depth: Option<i64>,
    project: Option<String>,
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
    output: output::<Traced>,
    takes: &[Common::MaxChars],
    example: r#"{"item": "R001", "direction": "effects"}"#,
    run: |call, args| typed(call, args, run),
};

fn run(call: &Call<'_>, input: Input) -> Result<Answer<Traced>, Fault> {
    let direction = direction(input.direction.as_deref())?;
    let depth = input
        .max_depth
        .unwrap_or(limits::TRACE_DEPTH)
        .min(limits::TRACE_DEPTH);
    if depth < 0 {
        return Err(Fault::invalid("max_depth", "must be 0 or more")
            .hint("0 is the item alone, 1 also what is next to it."));
    }
    call.read_fit(|view| {
        let scope = scope(view, input.project.as_deref())?;
        trace::trace(view, scope, &input.item, direction, depth)
    })
}
