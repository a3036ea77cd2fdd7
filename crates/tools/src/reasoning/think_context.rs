//! `branchmind_think_context`: the cards of a graph document, newest first.

use schemars::JsonSchema;
use serde::Deserialize;
use understory_engine::reasoning::place::{self, Kind, Wanted};
use understory_engine::reasoning::think_context::{self, Context};
use understory_model::Fault;
use understory_model::answer::Answer;

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
    graph_doc: Option<String>,
    /// default 30
    limit_cards: Option<i64>,
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
    output: output::<Context>,
    takes: super::BUDGET,
    example: r#"{"workspace": "garden-shed", "target": "TASK-001"}"#,
    run: |call, args| typed(call, args, run),
};

fn run(call: &Call<'_>, input: Input) -> Result<Answer<Context>, Fault> {
    super::check_workspace(call, &input.workspace)?;
    let limit = super::limit(input.limit_cards, 30);
    let wanted = Wanted {
        target: input.target,
        branch: input.branch,
        doc: input.graph_doc,
    };
    call.read_fit(|view| {
        let place = place::find(view.tx, view.ws, &wanted, Kind::Graph, true)?;
        think_context::context(view.tx, view.ws, place, limit)
    })
}
