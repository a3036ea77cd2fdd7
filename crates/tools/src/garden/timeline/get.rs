//! `garden_get`: one thing, by any of its names.

use schemars::JsonSchema;
use serde::Deserialize;
use understory_engine::garden::timeline::get::{self, Got};
use understory_model::Fault;
use understory_model::answer::Answer;

use crate::answers::output;
use crate::args::schema;
use crate::call::{Call, typed};
use crate::garden::scope;
use crate::tool::{Access, Common, Effect, Surface, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// item, entity, log, relation, handle or part
    id: String,
    /// resolve references
    render: Option<bool>,
    project: Option<String>,
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
    output: output::<Got>,
    takes: &[Common::MaxChars],
    example: r#"{"id": "R001", "render": true}"#,
    run: |call, args| typed(call, args, run),
};

fn run(call: &Call<'_>, input: Input) -> Result<Answer<Got>, Fault> {
    let render = input.render.unwrap_or(false);
    call.read_fit(|view| {
        let scope = scope(view, input.project.as_deref())?;
        get::get(view, scope, &input.id, render)
    })
}
