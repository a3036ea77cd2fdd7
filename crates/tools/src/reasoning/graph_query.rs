//! `branchmind_graph_query`: a slice of a graph document, newest first.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use understory_engine::reasoning::graph_query::{self, Asked};
use understory_engine::reasoning::place::{Kind, Wanted};
use understory_model::{Fault, limits};

use crate::answers::object;
use crate::args::{decode, schema};
use crate::call::Call;
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
    max_chars: Option<i64>,
    max_bytes: Option<i64>,
    max_lines: Option<i64>,
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
    output: object,
    takes: &[],
    example: r#"{"workspace": "garden-shed", "target": "TASK-001", "types": ["hypothesis"]}"#,
    run,
};

fn run(context: &Call<'_>, args: Value) -> Result<Value, Fault> {
    let input: Input = decode(args)?;
    super::check_workspace(context, &input.workspace)?;
    let budget = super::budget(input.max_chars, input.max_bytes, input.max_lines);
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
        cursor: input.cursor,
        limit: super::limit(input.limit, 50),
    };
    let wanted = Wanted {
        target: input.target,
        branch: input.branch,
        doc: input.doc,
    };
    context.engine.read(context.caller, |view| {
        super::in_document(view, &wanted, Kind::Graph, |found| match found {
            Ok((view, place)) => graph_query::query(view.tx, view.ws, place, &asked, &budget),
            Err(place) => {
                let nothing = json!({
                    "branch": place.branch,
                    "doc": place.doc,
                    "nodes": [],
                    "edges": [],
                    "pagination": super::no_page(asked.cursor, asked.limit),
                });
                Ok(super::nothing_yet(nothing, &budget))
            }
        })
    })
}
