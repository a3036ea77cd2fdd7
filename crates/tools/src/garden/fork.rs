//! `garden_fork`: a conversation of its own, beside the one it comes from.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use understory_engine::garden::fork::{self, Fork};
use understory_model::Fault;

use crate::answers::object;
use crate::args::{decode, schema};
use crate::call::Call;
use crate::tool::{Access, Effect, Surface, Tool, request};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    project: Option<String>,
    /// log; default: yours
    parent: Option<String>,
    /// whose frame moves; default: you
    participant: Option<String>,
    title: Option<String>,
    #[serde(rename = "idempotency_key")]
    _idempotency_key: Option<String>,
}

pub const TOOL: Tool = Tool {
    name: "garden_fork",
    title: "Fork conversation",
    effect: Effect::Adds,
    surface: Surface::Garden,
    about: "Branch off a conversation; your frame moves into the new log.",
    access: Access::Write,
    essential: false,
    schema: schema::<Input>,
    output: object,
    takes: &[],
    example: r#"{"title": "Which database?"}"#,
    run,
};

fn run(context: &Call<'_>, args: Value) -> Result<Value, Fault> {
    let request = request(TOOL.name, &args);
    let input: Input = decode(args)?;
    let wish = Fork {
        project: input.project,
        parent: input.parent,
        participant: input.participant,
        title: input.title,
    };
    fork::check(&wish)?;
    context
        .engine
        .write_json(context.caller, request, move |work| fork::fork(work, &wish))
}
