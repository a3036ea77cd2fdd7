//! `garden_artifact_log`: the commits of an artifact.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use understory_engine::garden::artifact::{nothing_yet, read};
use understory_model::page::limit;
use understory_model::{Fault, limits};

use crate::answers::object;
use crate::args::{budget, decode, schema};
use crate::call::Call;
use crate::tool::{Access, Effect, Surface, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    artifact: String,
    cursor: Option<String>,
    limit: Option<i64>,
    max_chars: Option<i64>,
    project: Option<String>,
}

pub const TOOL: Tool = Tool {
    name: "garden_artifact_log",
    title: "Artifact commits",
    effect: Effect::Nothing,
    surface: Surface::Garden,
    about: "An artifact's commits, newest first, with their parents.",
    access: Access::Read,
    essential: false,
    schema: schema::<Input>,
    output: object,
    takes: &[],
    example: r#"{"artifact": "goals_doc"}"#,
    run,
};

fn run(context: &Call<'_>, args: Value) -> Result<Value, Fault> {
    let input: Input = decode(args)?;
    let limit = limit(input.limit, 50, limits::PAGE).max(1);
    let (caller, budget) = (context.caller, budget(input.max_chars));
    context.engine.read(caller, |view| {
        let Some(view) = view else {
            return Err(nothing_yet(&input.artifact));
        };
        let found = read::named(view, caller, input.project.as_deref(), &input.artifact)?;
        read::log(view, &found, (input.cursor.as_deref(), limit), &budget)
    })
}
