//! `branchmind_think_card`: an explicit thought, kept in the trace and in the graph at once.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use understory_engine::reasoning::card;
use understory_engine::reasoning::place::{self, Kind, Wanted};
use understory_engine::reasoning::think_card::{self, Inserted};
use understory_model::answer::Answer;
use understory_model::{Fault, limits};

use crate::answers::output;
use crate::args::schema;
use crate::call::{Call, typed};
use crate::tool::{Access, Common, Effect, Surface, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    workspace: String,
    target: Option<String>,
    branch: Option<String>,
    trace_doc: Option<String>,
    graph_doc: Option<String>,
    /// object, JSON text, or lines of key: value; needs id, type and title or text. An update with a
    /// status gives it to the cards it supports
    #[schemars(extend("type" = ["object", "string"], "x-long" = true))]
    card: Value,
    /// ids of cards
    #[serde(default)]
    #[schemars(length(max = limits::BATCH))]
    supports: Vec<String>,
    #[serde(default)]
    #[schemars(length(max = limits::BATCH))]
    blocks: Vec<String>,
}

pub const TOOL: Tool = Tool {
    name: "branchmind_think_card",
    title: "Add card",
    effect: Effect::Settles,
    surface: Surface::Reasoning,
    about: "Keep a thought as a card, in trace and graph at once. The same card again changes nothing.",
    access: Access::Write,
    essential: false,
    schema: schema::<Input>,
    output: output::<Inserted>,
    takes: &[Common::Key],
    example: r#"{"workspace": "garden-shed", "target": "TASK-001", "card": {"id": "h2", "type": "hypothesis", "title": "The clock drifts"}, "supports": ["h1"]}"#,
    run: |call, args| typed(call, args, run),
};

fn run(call: &Call<'_>, input: Input) -> Result<Answer<Inserted>, Fault> {
    super::check_workspace(call, &input.workspace)?;
    let card = card::read(&input.card, input.supports, input.blocks)?;
    let (target, branch) = (input.target, input.branch);
    let docs = [
        ("trace_doc", &input.trace_doc),
        ("graph_doc", &input.graph_doc),
    ];
    if let Some((field, _)) = docs
        .iter()
        .find(|(_, doc)| doc.is_some() && target.is_some())
    {
        return Err(place::exclusive(field));
    }
    let named = |doc: Option<String>| Wanted {
        target: target.clone(),
        branch: branch.clone(),
        doc,
    };
    let (trace, graph) = (named(input.trace_doc), named(input.graph_doc));
    call.write(move |work| {
        let ws = work.ws();
        let trace = place::find(work.read()?, ws, &trace, Kind::Trace, true)?;
        let graph = place::find(work.read()?, ws, &graph, Kind::Graph, true)?;
        think_card::commit(work, &trace, &graph, &card)
    })
}
