//! `branchmind_graph_validate`: edges that lead nowhere.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use understory_engine::reasoning::graph_query;
use understory_engine::reasoning::place::{Kind, Wanted};
use understory_model::Fault;

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
    /// default 50
    max_errors: Option<i64>,
    max_chars: Option<i64>,
    max_bytes: Option<i64>,
    max_lines: Option<i64>,
}

pub const TOOL: Tool = Tool {
    name: "branchmind_graph_validate",
    title: "Check graph document",
    effect: Effect::Nothing,
    surface: Surface::Reasoning,
    about: "Check that every edge of a graph document has both its nodes.",
    access: Access::Read,
    essential: false,
    schema: schema::<Input>,
    output: object,
    takes: &[],
    example: r#"{"workspace": "garden-shed", "target": "TASK-001"}"#,
    run,
};

fn run(context: &Call<'_>, args: Value) -> Result<Value, Fault> {
    let input: Input = decode(args)?;
    super::check_workspace(context, &input.workspace)?;
    let budget = super::budget(input.max_chars, input.max_bytes, input.max_lines);
    let most = usize::try_from(super::at_least_none(input.max_errors, 50)).unwrap_or(0);
    let wanted = Wanted {
        target: input.target,
        branch: input.branch,
        doc: input.doc,
    };
    context.engine.read(context.caller, |view| {
        super::in_document(view, &wanted, Kind::Graph, |found| match found {
            Ok((view, place)) => graph_query::validate(view.tx, view.ws, place, most, &budget),
            Err(place) => {
                let nothing = json!({
                    "branch": place.branch,
                    "doc": place.doc,
                    "ok": true,
                    "stats": { "nodes": 0, "edges": 0 },
                    "errors": [],
                });
                Ok(super::nothing_yet(nothing, &budget))
            }
        })
    })
}
