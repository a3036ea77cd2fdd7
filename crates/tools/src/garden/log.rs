//! `garden_log`: what was said in a conversation, and what it inherits.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use understory_engine::garden::conversation::{self, Asked};
use understory_model::Fault;
use understory_model::page::limit;

use crate::answers::object;
use crate::args::{budget, decode, schema};
use crate::call::Call;
use crate::tool::{Access, Effect, Surface, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    project: Option<String>,
    /// default: yours
    log: Option<String>,
    /// also the parents' items up to each fork
    #[serde(default)]
    inherited: bool,
    cursor: Option<String>,
    limit: Option<i64>,
    max_chars: Option<i64>,
}

pub const TOOL: Tool = Tool {
    name: "garden_log",
    title: "Show conversation",
    effect: Effect::Nothing,
    surface: Surface::Garden,
    about: "A conversation and its items, oldest first.",
    access: Access::Read,
    essential: false,
    schema: schema::<Input>,
    output: object,
    takes: &[],
    example: r#"{"inherited": true}"#,
    run,
};

fn run(context: &Call<'_>, args: Value) -> Result<Value, Fault> {
    let input: Input = decode(args)?;
    let asked = Asked {
        project: input.project,
        log: input.log,
        inherited: input.inherited,
        cursor: input.cursor,
        limit: limit(input.limit, 50, understory_model::limits::PAGE),
    };
    let budget = budget(input.max_chars);
    let (engine, caller) = (context.engine, context.caller);
    engine.read(caller, |view| match view {
        Some(view) => conversation::show(view, caller, &asked, &budget),
        None => conversation::nothing_yet(caller, &asked),
    })
}
