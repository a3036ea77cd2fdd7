//! `branchmind_graph_conflict_resolve`: one side is chosen.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use understory_engine::reasoning::conflict;
use understory_model::Fault;

use crate::answers::object;
use crate::args::{decode, schema};
use crate::call::Call;
use crate::tool::{Access, Effect, Surface, Tool, request};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    workspace: String,
    conflict_id: String,
    #[schemars(extend("enum" = ["use_from", "use_into"]))]
    resolution: String,
    #[serde(rename = "idempotency_key")]
    _idempotency_key: Option<String>,
}

pub const TOOL: Tool = Tool {
    name: "branchmind_graph_conflict_resolve",
    title: "Resolve merge conflict",
    effect: Effect::Settles,
    surface: Surface::Reasoning,
    about: "Settle a conflict: use_from writes the branch's version, use_into keeps what is there.",
    access: Access::Write,
    essential: false,
    schema: schema::<Input>,
    output: object,
    takes: &[],
    example: r#"{"workspace": "garden-shed", "conflict_id": "conflict-0000000000000000", "resolution": "use_from"}"#,
    run,
};

fn run(context: &Call<'_>, args: Value) -> Result<Value, Fault> {
    let request = request(TOOL.name, &args);
    let input: Input = decode(args)?;
    super::check_workspace(context, &input.workspace)?;
    let (id, resolution) = (input.conflict_id, input.resolution);
    if !["use_from", "use_into"].contains(&resolution.as_str()) {
        return Err(Fault::one_of("resolution", &["use_from", "use_into"]));
    }
    context
        .engine
        .write_json(context.caller, request, move |work| {
            conflict::resolve(work, &id, &resolution)
        })
}
