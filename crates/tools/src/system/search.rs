//! `search`: whatever answers a question, on any surface.

use schemars::JsonSchema;
use serde::Deserialize;
use understory_engine::kernel::checked::Check;
use understory_engine::kernel::search::{self, Asked, SURFACES};
use understory_model::answer::{self, Answer};
use understory_model::page::limit;
use understory_model::{Fault, limits};

use crate::answers::output;
use crate::args::schema;
use crate::call::{Call, typed};
use crate::tool::{Access, Common, Effect, Surface, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// a question, words or a handle
    #[schemars(extend("x-nul" = true))]
    query: String,
    #[serde(default)]
    #[schemars(extend("items" = {"type": "string", "enum": SURFACES}))]
    surfaces: Vec<String>,
    /// as results name them: task, message, note
    #[serde(default)]
    types: Vec<String>,
    /// default 20
    limit: Option<i64>,
}

pub const TOOL: Tool = Tool {
    name: "search",
    title: "Search everything",
    effect: Effect::Nothing,
    surface: Surface::System,
    about: "Find records, tasks, notes, messages and lines by words and meaning, best first.",
    access: Access::Read,
    essential: true,
    schema: schema::<Input>,
    output: output::<search::Answer>,
    takes: &[Common::MaxChars],
    example: r#"{"query": "why did we drop the cache?", "limit": 5}"#,
    run: |call, args| typed(call, args, run),
};

fn run(call: &Call<'_>, input: Input) -> Result<Answer<search::Answer>, Fault> {
    // No word holds a NUL, so it parts words as a space does.
    let query = input.query.replace('\0', " ");
    let most = limit(input.limit, 20, limits::PAGE);
    let asked = Asked {
        query,
        surfaces: input.surfaces,
        types: input.types,
        limit: usize::try_from(most).unwrap_or(0),
        ..Asked::default()
    }
    .checked()?;
    answer::fit(call.engine.search(call.caller, asked)?, &call.budget)
}
