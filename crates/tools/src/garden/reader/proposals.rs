//! `reader_proposals`: what waits for a decision.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use understory_engine::garden::reader::{Asked, Status, nothing, proposals};
use understory_model::page::limit;
use understory_model::{Fault, limits};

use crate::answers::object;
use crate::args::{budget, decode, schema};
use crate::call::Call;
use crate::garden::read;
use crate::tool::{Access, Effect, Surface, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    project: Option<String>,
    artifact: Option<String>,
    /// default open
    #[schemars(with = "Option<String>", extend("enum" = ["open", "accepted", "rejected", "any"]))]
    status: Option<Status>,
    cursor: Option<String>,
    limit: Option<i64>,
    max_chars: Option<i64>,
}

pub const TOOL: Tool = Tool {
    name: "reader_proposals",
    title: "List proposals",
    effect: Effect::Nothing,
    surface: Surface::Garden,
    about: "Proposals that wait for reader_decide, newest first.",
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
    let asked = Asked {
        project: input.project,
        artifact: input.artifact,
        status: input.status.unwrap_or_default(),
        cursor: input.cursor,
        limit: limit(input.limit, 50, limits::PAGE).max(1),
    };
    let budget = budget(input.max_chars);
    read(
        context,
        asked.project.as_deref(),
        || Ok(nothing()),
        |view| proposals(view, context.caller, &asked, &budget),
    )
}
