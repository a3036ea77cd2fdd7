//! `garden_entity_history`: every change of an entity, and what it was.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use understory_engine::garden::history::{self, Asked};
use understory_model::page::limit;
use understory_model::{Fault, limits};

use super::{nothing_yet, read};
use crate::answers::object;
use crate::args::{budget, decode, schema};
use crate::call::Call;
use crate::tool::{Access, Effect, Surface, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// or a handle
    uuid: String,
    /// version, hash or time: also what it was then
    #[schemars(extend("type" = ["integer", "string"]))]
    at: Option<Value>,
    project: Option<String>,
    cursor: Option<String>,
    limit: Option<i64>,
    max_chars: Option<i64>,
}

pub const TOOL: Tool = Tool {
    name: "garden_entity_history",
    title: "Entity history",
    effect: Effect::Nothing,
    surface: Surface::Garden,
    about: "An entity's changes on any surface, newest first.",
    access: Access::Read,
    essential: false,
    schema: schema::<Input>,
    output: object,
    takes: &[],
    example: r#"{"uuid": "R001", "at": 1}"#,
    run,
};

fn run(context: &Call<'_>, args: Value) -> Result<Value, Fault> {
    let input: Input = decode(args)?;
    let asked = Asked {
        uuid: input.uuid,
        at: input.at,
        cursor: input.cursor,
        limit: limit(input.limit, 50, limits::PAGE),
    };
    let budget = budget(input.max_chars);
    read(
        context,
        input.project.as_deref(),
        || Err(nothing_yet("uuid", &asked.uuid)),
        |view| {
            let scope = view.scope(input.project.as_deref())?;
            history::history(view, context.caller, scope, &asked, &budget)
        },
    )
}
