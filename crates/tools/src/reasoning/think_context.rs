//! `branchmind_think_context`: the cards of a graph document, newest first.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use understory_engine::reasoning::place::{Kind, Wanted};
use understory_engine::reasoning::think;
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
    graph_doc: Option<String>,
    /// default 30
    limit_cards: Option<i64>,
    max_chars: Option<i64>,
    max_bytes: Option<i64>,
    max_lines: Option<i64>,
}

pub const TOOL: Tool = Tool {
    name: "branchmind_think_context",
    title: "List cards",
    effect: Effect::Nothing,
    surface: Surface::Reasoning,
    about: "The cards of a plan, task or graph document, newest first, to resume thinking.",
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
    let wanted = Wanted {
        target: input.target,
        branch: input.branch,
        doc: input.graph_doc,
    };
    context.engine.read(context.caller, |view| {
        super::on_branch(view, &wanted, Kind::Graph, |found| match found {
            Ok((view, place)) => think::context(
                view.tx,
                view.ws,
                place,
                super::limit(input.limit_cards, 30),
                &budget,
            ),
            Err(place) => {
                let nothing = json!({
                    "branch": place.branch,
                    "graph_doc": place.doc,
                    "stats": { "cards": 0, "by_type": {} },
                    "cards": [],
                });
                Ok(super::nothing_yet(nothing, &budget))
            }
        })
    })
}
