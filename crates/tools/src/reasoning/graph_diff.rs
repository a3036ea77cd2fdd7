//! `branchmind_graph_diff`: how a graph document differs between two branches.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use understory_engine::reasoning::graph_diff;
use understory_model::Fault;

use crate::args::{decode, schema};
use crate::tool::{Access, Context, Surface, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    workspace: String,
    from: String,
    to: String,
    doc: Option<String>,
    cursor: Option<i64>,
    /// default 20
    limit: Option<i64>,
    max_chars: Option<i64>,
    max_bytes: Option<i64>,
    max_lines: Option<i64>,
}

pub const TOOL: Tool = Tool {
    name: "branchmind_graph_diff",
    surface: Surface::Reasoning,
    about: "Nodes and edges of branch `to` that differ from `from`, deletions too.",
    access: Access::Read,
    essential: false,
    schema: schema::<Input>,
    example: r#"{"workspace": "garden-shed", "from": "main", "to": "main"}"#,
    run,
};

fn run(context: &Context<'_>, args: Value) -> Result<Value, Fault> {
    let input: Input = decode(args)?;
    super::check_workspace(context, &input.workspace)?;
    let budget = super::budget(input.max_chars, input.max_bytes, input.max_lines);
    let limit = super::limit(input.limit, 20);
    let doc = input
        .doc
        .unwrap_or_else(|| super::graph_doc(&input.from, &input.to));
    let (from, to) = (input.from.as_str(), input.to.as_str());
    context.engine.read(context.caller, |view| {
        match super::two_branches(view, (from, to), &doc)? {
            Some(view) => {
                let sides = (from, to, doc.as_str());
                graph_diff::diff(view.tx, view.ws, sides, input.cursor, limit, &budget)
            }
            None => {
                let nothing = json!({
                    "from": from,
                    "to": to,
                    "doc": doc,
                    "changes": [],
                    "pagination": super::no_page(input.cursor, limit),
                });
                Ok(super::nothing_yet(nothing, &budget))
            }
        }
    })
}
