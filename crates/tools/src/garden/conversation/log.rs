//! `garden_log`: what was said in a conversation, and what it inherits.

use schemars::JsonSchema;
use serde::Deserialize;
use understory_engine::garden::conversation::log::{self, Asked, Page};
use understory_model::Fault;
use understory_model::answer::Answer;
use understory_model::page::limit;

use crate::answers::output;
use crate::args::schema;
use crate::call::{Call, typed};
use crate::tool::{Access, Common, Effect, Surface, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    project: Option<String>,
    /// default: yours
    log: Option<String>,
    /// with the parents' items
    #[serde(default)]
    inherited: bool,
    cursor: Option<String>,
    limit: Option<i64>,
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
    output: output::<Page>,
    takes: &[Common::MaxChars],
    example: r#"{"inherited": true}"#,
    run: |call, args| typed(call, args, run),
};

fn run(call: &Call<'_>, input: Input) -> Result<Answer<Page>, Fault> {
    let asked = Asked {
        project: input.project,
        log: input.log,
        inherited: input.inherited,
        cursor: input.cursor,
        limit: limit(input.limit, 50, understory_model::limits::PAGE),
    };
    call.read_fit(|view| log::show(view, &asked))
}
