//! `garden_artifact_diff`: what lies between two versions.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use understory_engine::garden::artifact::{nothing_yet, read};
use understory_model::Fault;

use crate::answers::object;
use crate::args::{budget, decode, schema};
use crate::call::Call;
use crate::tool::{Access, Effect, Surface, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    artifact: String,
    /// commit
    from: String,
    /// default: the head
    to: Option<String>,
    max_chars: Option<i64>,
    project: Option<String>,
}

pub const TOOL: Tool = Tool {
    name: "garden_artifact_diff",
    title: "Compare commits",
    effect: Effect::Nothing,
    surface: Surface::Garden,
    about: "A unified diff between two commits of an artifact.",
    access: Access::Read,
    essential: false,
    schema: schema::<Input>,
    output: object,
    takes: &[],
    example: r#"{"artifact": "goals_doc", "from": "0199d3a0"}"#,
    run,
};

fn run(context: &Call<'_>, args: Value) -> Result<Value, Fault> {
    let input: Input = decode(args)?;
    let (caller, budget) = (context.caller, budget(input.max_chars));
    context.engine.read(caller, |view| {
        let Some(view) = view else {
            return Err(nothing_yet(&input.artifact));
        };
        let found = read::named(view, caller, input.project.as_deref(), &input.artifact)?;
        read::diff(view, &found, (&input.from, input.to.as_deref()), &budget)
    })
}
