//! `graph_next`: what to work on now.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use understory_engine::graph::next::{self, Wanted};
use understory_model::Fault;
use understory_model::limits;
use understory_model::page::limit;

use crate::answers::object;
use crate::args::{budget, decode, schema};
use crate::call::Call;
use crate::tool::{Access, Effect, Surface, Tool, request};

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
    max_chars: Option<i64>,
    #[serde(rename = "idempotency_key")]
    _idempotency_key: Option<String>,
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
    output: object,
    takes: &[],
    example: r#"{"claim": true}"#,
    run,
};

fn run(context: &Call<'_>, args: Value) -> Result<Value, Fault> {
    let request = request(TOOL.name, &args);
    let input: Input = decode(args)?;
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
        budget: budget(input.max_chars),
    };
    if input.claim.unwrap_or(false) {
        context
            .engine
            .write_json(context.caller, request, move |work| {
                next::claim(work, &wanted)
            })
    } else {
        context.engine.read(context.caller, |view| {
            next::look(view, context.caller, &wanted)
        })
    }
}
