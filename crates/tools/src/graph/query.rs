//! `graph_query`: find nodes.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use understory_engine::graph::query::{self, Page, Sort, Wanted};
use understory_model::answer::Answer;
use understory_model::page::limit;
use understory_model::{Fault, limits};

use crate::answers::output;
use crate::args::{present, schema};
use crate::call::{Call, typed};
use crate::tool::{Access, Common, Effect, Surface, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    project: Option<String>,
    #[serde(default)]
    filter: Filter,
    sort: Option<Order>,
    /// default 20, max 100
    limit: Option<i64>,
    cursor: Option<String>,
}

#[derive(Deserialize, JsonSchema, Default)]
#[serde(deny_unknown_fields)]
struct Filter {
    resolved: Option<bool>,
    #[serde(default)]
    #[schemars(extend("maxProperties" = limits::FILTER_PROPERTIES))]
    properties: Map<String, Value>,
    /// substring of the summary
    #[schemars(extend("x-nul" = true))]
    text: Option<String>,
    ancestor: Option<String>,
    has_evidence_type: Option<String>,
    /// nothing open below
    is_leaf: Option<bool>,
    is_actionable: Option<bool>,
    is_blocked: Option<bool>,
    /// properties it lacks
    #[serde(default)]
    #[schemars(length(max = limits::FILTER_PROPERTIES))]
    without: Vec<String>,
    /// null: nobody
    #[serde(default, deserialize_with = "present")]
    #[schemars(extend("nullable" = true))]
    claimed_by: Option<Option<String>>,
}

#[derive(Deserialize, JsonSchema, Clone, Copy)]
#[serde(rename_all = "lowercase")]
enum Order {
    Readiness,
    Depth,
    Recent,
    Created,
}

pub const TOOL: Tool = Tool {
    name: "graph_query",
    title: "Find nodes",
    effect: Effect::Nothing,
    surface: Surface::Graph,
    about: "Find nodes by filters, a page at a time.",
    access: Access::Read,
    essential: false,
    schema: schema::<Input>,
    output: output::<Page>,
    takes: &[Common::MaxChars],
    example: r#"{"filter": {"text": "parser", "resolved": false}, "sort": "recent"}"#,
    run: |call, args| typed(call, args, run),
};

fn run(call: &Call<'_>, input: Input) -> Result<Answer<Page>, Fault> {
    let filter = input.filter;
    let wanted = Wanted {
        project: input.project,
        resolved: filter.resolved,
        properties: filter.properties,
        text: filter.text,
        ancestor: filter.ancestor,
        has_evidence_type: filter.has_evidence_type,
        is_leaf: filter.is_leaf,
        is_actionable: filter.is_actionable,
        is_blocked: filter.is_blocked,
        claimed_by: filter.claimed_by,
        without: filter.without,
        sort: input.sort.map(|order| match order {
            Order::Readiness => Sort::Readiness,
            Order::Depth => Sort::Depth,
            Order::Recent => Sort::Recent,
            Order::Created => Sort::Created,
        }),
        limit: limit(input.limit, 20, 100),
        cursor: input.cursor,
    };
    call.read_fit(|view| query::query(view, &wanted))
}
