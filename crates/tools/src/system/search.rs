//! `search`: whatever answers a question, on any surface.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use understory_engine::search::{Asked, SURFACES};
use understory_model::budget::{Drop, fit_list};
use understory_model::page::limit;
use understory_model::text::check_text;
use understory_model::{Fault, limits};

use crate::answers::object;
use crate::args::{budget, decode, schema};
use crate::call::Call;
use crate::tool::{Access, Effect, Surface, Tool};

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
    max_chars: Option<i64>,
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
    output: object,
    takes: &[],
    example: r#"{"query": "why did we drop the cache?", "limit": 5}"#,
    run,
};

fn run(context: &Call<'_>, args: Value) -> Result<Value, Fault> {
    let input: Input = decode(args)?;
    // No word holds a NUL, so it parts words as a space does.
    let query = input.query.replace('\0', " ");
    check_text("query", &query, limits::TEXT_CHARS, true)?;
    for kind in &input.types {
        check_text("types", kind, limits::NAME_CHARS, false)?;
    }
    let most = limit(input.limit, 20, limits::PAGE);
    let most = usize::try_from(most).unwrap_or(0);
    let asked = Asked {
        query,
        surfaces: input.surfaces,
        types: input.types,
        // One more tells whether there are more.
        limit: most + 1,
        ..Asked::default()
    };
    let budget = budget(input.max_chars);
    let found = context.engine.search(context.caller, asked)?;
    let mut hits = found.hits;
    let more = hits.len() > most;
    hits.truncate(most);
    let mut answer = json!({ "results": hits, "truncated": more });
    if let Some(note) = found.note {
        answer["note"] = note.into();
    }
    Ok(fit_list(answer, "results", &budget, Drop::Last))
}
