//! `search_records`: records by their words, best first.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use understory_engine::records::fields::STATES;
use understory_engine::records::search::{self, Asked};
use understory_engine::records::{list, nothing_yet};
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
    #[schemars(extend("x-nul" = true))]
    query: String,
    #[serde(default)]
    types: Vec<String>,
    #[serde(default)]
    #[schemars(extend("items" = {"type": "string", "enum": STATES}))]
    states: Vec<String>,
    /// only below this record
    parent_id: Option<String>,
    /// default 20
    limit: Option<i64>,
    /// values that must be equal
    metadata: Option<Map<String, Value>>,
    project_id: Option<String>,
    max_chars: Option<i64>,
}

pub const TOOL: Tool = Tool {
    name: "search_records",
    title: "Search records",
    effect: Effect::Nothing,
    surface: Surface::Records,
    about: "Find records by words in title, summary, body, type or metadata, best first, with snippets. relevance: the share of the words found, 1 if all are in the title.",
    access: Access::Read,
    essential: false,
    schema: schema::<Input>,
    output: object,
    takes: &[],
    example: r#"{"query": "token rotation", "states": ["OPEN"]}"#,
    run,
};

fn run(context: &Call<'_>, args: Value) -> Result<Value, Fault> {
    let input: Input = decode(args)?;
    super::check_project("project_id", input.project_id.as_deref())?;
    // No word holds a NUL, so it parts words as a space does.
    let query = input.query.replace('\0', " ");
    check_text("query", &query, limits::LINE_CHARS, true)?;
    list::check_filters(&input.states, &input.types)?;
    let asked = Asked {
        query,
        types: input.types,
        metadata: list::metadata(input.metadata.as_ref())?,
        states: input.states,
        parent: input.parent_id,
        limit: limit(input.limit, 20, limits::PAGE),
    };
    let (caller, project) = (context.caller, input.project_id);
    let budget = budget(input.max_chars);
    context
        .engine
        .read(caller, |view| match (view, &asked.parent) {
            (Some(view), _) => search::search(view, caller, project.as_deref(), &asked, &budget),
            (None, Some(parent)) => Err(nothing_yet(parent)),
            (None, None) => {
                super::no_project_yet(caller, project.as_deref())?;
                Ok(json!({ "results": [], "total": 0 }))
            }
        })
}
