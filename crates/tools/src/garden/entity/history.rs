//! `garden_entity_history`: every change of an entity, and what it was.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use understory_engine::garden::entity::history::{self, Asked, History};
use understory_model::answer::Answer;
use understory_model::page::limit;
use understory_model::{Fault, limits};

use crate::answers::output;
use crate::args::schema;
use crate::call::{Call, typed};
use crate::garden::scope;
use crate::tool::{Access, Common, Effect, Surface, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// or a handle
    uuid: String,
    /// version, hash or time
    #[schemars(extend("type" = ["integer", "string"]))]
    at: Option<Value>,
    project: Option<String>,
    cursor: Option<String>,
    limit: Option<i64>,
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
    output: output::<History>,
    takes: &[Common::MaxChars],
    example: r#"{"uuid": "R001", "at": 1}"#,
    run: |call, args| typed(call, args, run),
};

fn run(call: &Call<'_>, input: Input) -> Result<Answer<History>, Fault> {
    let asked = Asked {
        uuid: input.uuid,
        at: input.at,
        cursor: input.cursor,
        limit: limit(input.limit, 50, limits::PAGE),
    };
    call.read_fit(|view| {
        let scope = scope(view, input.project.as_deref())?;
        history::history(view, scope, &asked)
    })
}
