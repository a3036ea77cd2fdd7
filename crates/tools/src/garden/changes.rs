//! `garden_changes`: what changed since you last looked.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use understory_engine::garden::changes::{self, Asked};
use understory_model::page::limit;
use understory_model::{Fault, limits};

use super::read;
use crate::args::{budget, decode, schema};
use crate::tool::{Access, Context, Effect, Surface, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// cursor; default: what you acknowledged
    since: Option<String>,
    entity_types: Option<Vec<String>>,
    /// default: all
    project: Option<String>,
    limit: Option<i64>,
    max_chars: Option<i64>,
}

pub const TOOL: Tool = Tool {
    name: "garden_changes",
    title: "List changes",
    effect: Effect::Nothing,
    surface: Surface::Garden,
    about: "Entities that changed since you last acknowledged, by you too.",
    access: Access::Read,
    essential: false,
    schema: schema::<Input>,
    example: r#"{"entity_types": ["record", "node"]}"#,
    run,
};

fn run(context: &Context<'_>, args: Value) -> Result<Value, Fault> {
    let input: Input = decode(args)?;
    let asked = Asked {
        since: input.since,
        entity_types: input.entity_types.unwrap_or_default(),
        project: input.project,
        limit: limit(input.limit, 50, limits::PAGE),
    };
    let budget = budget(input.max_chars);
    read(
        context,
        asked.project.as_deref(),
        || Ok(changes::nothing(&asked)),
        |view| changes::changes(view, context.caller, &asked, &budget),
    )
}
