//! `garden_artifact_show`: a version, each line with where it came from.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use understory_engine::garden::artifact::nothing_yet;
use understory_engine::garden::artifact::read::{self, Asked};
use understory_model::Fault;

use crate::answers::object;
use crate::args::{budget, decode, schema};
use crate::call::Call;
use crate::tool::{Access, Effect, Surface, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    artifact: String,
    /// default: the head
    commit: Option<String>,
    /// first line, from 1
    start: Option<i64>,
    end: Option<i64>,
    max_chars: Option<i64>,
    project: Option<String>,
}

pub const TOOL: Tool = Tool {
    name: "garden_artifact_show",
    title: "Show artifact",
    effect: Effect::Nothing,
    surface: Surface::Garden,
    about: "An artifact's lines at a commit, each with its fragment, commit and source.",
    access: Access::Read,
    essential: false,
    schema: schema::<Input>,
    output: object,
    takes: &[],
    example: r#"{"artifact": "goals_doc", "start": 1, "end": 40}"#,
    run,
};

fn run(context: &Call<'_>, args: Value) -> Result<Value, Fault> {
    let input: Input = decode(args)?;
    let asked = Asked {
        commit: input.commit,
        start: input.start,
        end: input.end,
    };
    let (caller, budget) = (context.caller, budget(input.max_chars));
    context.engine.read(caller, |view| {
        let Some(view) = view else {
            return Err(nothing_yet(&input.artifact));
        };
        let found = read::named(view, caller, input.project.as_deref(), &input.artifact)?;
        read::show(view, &found, &asked, &budget)
    })
}
