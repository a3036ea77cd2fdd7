//! `search_records`: records by their words, best first.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use understory_engine::records::list::Filter;
use understory_engine::records::search::{self, Asked, Query, Results};
use understory_model::answer::Answer;
use understory_model::page::limit;
use understory_model::record::RecordState;
use understory_model::{Fault, limits};

use crate::answers::output;
use crate::args::schema;
use crate::call::{Call, typed};
use crate::tool::{Access, Common, Effect, Surface, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    #[schemars(extend("x-nul" = true))]
    query: String,
    #[serde(default)]
    types: Vec<String>,
    #[serde(default)]
    states: Vec<RecordState>,
    /// only below this record
    parent_id: Option<String>,
    /// default 20
    limit: Option<i64>,
    /// values that must be equal
    metadata: Option<Map<String, Value>>,
    project_id: Option<String>,
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
    output: output::<Results>,
    takes: &[Common::MaxChars],
    example: r#"{"query": "token rotation", "states": ["OPEN"]}"#,
    run: |call, args| typed(call, args, run),
};

fn run(call: &Call<'_>, input: Input) -> Result<Answer<Results>, Fault> {
    super::check_project("project_id", input.project_id.as_deref())?;
    let asked = Asked {
        query: Query::try_from(input.query.as_str())?,
        filter: Filter::new(input.states, input.types, input.metadata.as_ref())?,
        parent: input.parent_id,
        limit: limit(input.limit, 20, limits::PAGE),
    };
    let project = input.project_id.as_deref();
    call.read_fit(|view| search::search(view, project, &asked))
}
