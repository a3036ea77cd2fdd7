//! `graph_next`: what to work on now.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use understory_engine::graph::next::{self, Next, Wanted};
use understory_model::Fault;
use understory_model::answer::Answer;
use understory_model::limits;
use understory_model::page::limit;

use crate::answers::output;
use crate::args::schema;
use crate::call::{Call, typed};
use crate::tool::{Access, Common, Effect, Surface, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    project: Option<String>,
    /// only this node
    node_id: Option<String>,
    /// only below this node
    scope: Option<String>,
    /// properties to match
    #[serde(default)]
    #[schemars(extend("maxProperties" = limits::FILTER_PROPERTIES))]
    filter: Map<String, Value>,
    /// default 1
    count: Option<i64>,
    /// mark as yours
    claim: Option<bool>,
}

pub const TOOL: Tool = Tool {
    name: "graph_next",
    title: "Next work",
    effect: Effect::Adds,
    surface: Surface::Graph,
    about: "The best node to work on now, with ancestors, links and what unblocked it; reason says \
            why there is none. claim: true makes it this session's alone; ask again to renew.",
    access: Access::ReadOrWrite,
    essential: true,
    schema: schema::<Input>,
    output: output::<Next>,
    takes: &[Common::Key, Common::MaxChars],
    example: r#"{"claim": true}"#,
    run: |call, args| typed(call, args, run),
};

fn run(call: &Call<'_>, input: Input) -> Result<Answer<Next>, Fault> {
    let narrowed = input.scope.is_some() || !input.filter.is_empty() || input.project.is_some();
    if input.node_id.is_some() && (narrowed || input.count.is_some()) {
        return Err(Fault::invalid(
            "node_id",
            "names one node: leave out project, scope, filter and count",
        ));
    }
    let wanted = Wanted {
        project: input.project,
        node: input.node_id,
        scope: input.scope,
        filter: input.filter,
        count: limit(input.count, 1, limits::PAGE),
        budget: call.budget,
    };
    if input.claim.unwrap_or(false) {
        Ok(call
            .write(move |work| next::claim(work, &wanted))?
            .flatten())
    } else {
        call.read(|view| next::look(view, &wanted))
    }
}
