//! `garden_artifact_list`: the artifacts of a project.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use understory_engine::garden::artifact::list::{self, Asked};
use understory_engine::project::nothing_yet;
use understory_model::page::limit;
use understory_model::text::check_text;
use understory_model::{Fault, limits};

use crate::answers::object;
use crate::args::{budget, decode, schema};
use crate::call::Call;
use crate::tool::{Access, Effect, Surface, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// part of the label
    text: Option<String>,
    cursor: Option<String>,
    limit: Option<i64>,
    max_chars: Option<i64>,
    project: Option<String>,
}

pub const TOOL: Tool = Tool {
    name: "garden_artifact_list",
    title: "List artifacts",
    effect: Effect::Nothing,
    surface: Surface::Garden,
    about: "The artifacts of a project: label, head commit, lines.",
    access: Access::Read,
    essential: false,
    schema: schema::<Input>,
    output: object,
    takes: &[],
    example: r#"{"text": "goals"}"#,
    run,
};

fn run(context: &Call<'_>, args: Value) -> Result<Value, Fault> {
    let input: Input = decode(args)?;
    if let Some(text) = &input.text {
        check_text("text", text, limits::LINE_CHARS, true)?;
    }
    let asked = Asked {
        project: input.project,
        text: input.text,
        cursor: input.cursor,
        limit: limit(input.limit, 50, limits::PAGE).max(1),
    };
    let (caller, budget) = (context.caller, budget(input.max_chars));
    context.engine.read(caller, |view| match view {
        Some(view) => list::list(view, caller, &asked, &budget),
        None => {
            nothing_yet(caller, asked.project.as_deref())?;
            Ok(json!({ "artifacts": [] }))
        }
    })
}
