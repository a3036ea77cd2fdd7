//! `branchmind_graph_query`: a slice of a graph document, newest first.

use schemars::JsonSchema;
use serde::Deserialize;
use understory_engine::reasoning::graph_query::{self, Asked, Slice};
use understory_engine::reasoning::place::{self, Kind, Wanted};
use understory_model::answer::Answer;
use understory_model::{Fault, Seq, limits};

use crate::answers::output;
use crate::args::schema;
use crate::call::{Call, typed};
use crate::tool::{Access, Effect, Surface, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    workspace: String,
    target: Option<String>,
    branch: Option<String>,
    doc: Option<String>,
    #[schemars(length(max = limits::IDS))]
    ids: Option<Vec<String>>,
    #[serde(default)]
    types: Vec<String>,
    status: Option<String>,
    #[serde(default)]
    tags_any: Vec<String>,
    #[serde(default)]
    tags_all: Vec<String>,
    #[schemars(extend("x-nul" = true))]
    text: Option<String>,
    #[serde(default)]
    include_deleted: bool,
    /// default true
    include_edges: Option<bool>,
    /// default 200
    edges_limit: Option<i64>,
    cursor: Option<i64>,
    /// default 50
    limit: Option<i64>,
}

pub const TOOL: Tool = Tool {
    name: "branchmind_graph_query",
    title: "Query graph document",
    effect: Effect::Nothing,
    surface: Surface::Reasoning,
    about: "Nodes of a graph document, newest first, with the edges between them. Filters combine.",
    access: Access::Read,
    essential: false,
    schema: schema::<Input>,
    output: output::<Slice>,
    takes: super::BUDGET,
    example: r#"{"workspace": "garden-shed", "target": "TASK-001", "types": ["hypothesis"]}"#,
    run: |call, args| typed(call, args, run),
};

fn run(call: &Call<'_>, input: Input) -> Result<Answer<Slice>, Fault> {
    super::check_workspace(call, &input.workspace)?;
    let asked = Asked {
        ids: input.ids,
        types: input.types,
        status: input.status,
        tags_any: input.tags_any,
        tags_all: input.tags_all,
        text: input.text,
        include_deleted: input.include_deleted,
        include_edges: input.include_edges.unwrap_or(true),
        edges_limit: super::at_least_none(input.edges_limit, 200),
        cursor: input.cursor.map(Seq),
        limit: super::limit(input.limit, 50),
    };
    let wanted = Wanted {
        target: input.target,
        branch: input.branch,
        doc: input.doc,
    };
    call.read_fit(|view| {
        let place = place::find(view.tx, view.ws, &wanted, Kind::Graph, false)?;
        graph_query::query(view.tx, view.ws, place, &asked)
    })
}
