//! `garden_collapse`: a conversation is over, and a summary stands for it.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use understory_engine::garden::collapse;
use understory_model::Fault;

use crate::answers::object;
use crate::args::{decode, schema};
use crate::call::Call;
use crate::tool::{Access, Effect, Surface, Tool, request};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    project: Option<String>,
    log: String,
    /// what was learned
    summary: String,
    #[serde(rename = "idempotency_key")]
    _idempotency_key: Option<String>,
}

pub const TOOL: Tool = Tool {
    name: "garden_collapse",
    title: "Collapse conversation",
    effect: Effect::Settles,
    surface: Surface::Garden,
    about: "End a conversation with a summary; its participants return to the parent.",
    access: Access::Write,
    essential: false,
    schema: schema::<Input>,
    output: object,
    takes: &[],
    example: r#"{"log": "uuid_0199d3a0-0000-7000-8000-000000000003", "summary": "SQLite holds up to a million items"}"#,
    run,
};

fn run(context: &Call<'_>, args: Value) -> Result<Value, Fault> {
    let request = request(TOOL.name, &args);
    let input: Input = decode(args)?;
    collapse::check(&input.summary)?;
    context
        .engine
        .write_json(context.caller, request, move |work| {
            collapse::collapse(work, input.project.as_deref(), &input.log, &input.summary)
        })
}
