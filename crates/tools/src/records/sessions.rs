//! `get_active_sessions`: who is working on a record.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use understory_engine::records::{nothing_yet, session};
use understory_model::Fault;
use understory_model::budget::{Drop, fit_list};

use crate::args::{budget, decode, schema};
use crate::tool::{Access, Context, Effect, Surface, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    record_id: String,
    /// default: your own
    session_id: Option<String>,
    max_chars: Option<i64>,
}

pub const TOOL: Tool = Tool {
    name: "get_active_sessions",
    title: "Sessions on a record",
    effect: Effect::Nothing,
    surface: Surface::Records,
    about: "Which sessions have a record active.",
    access: Access::Read,
    essential: false,
    schema: schema::<Input>,
    example: r#"{"record_id": "R001"}"#,
    run,
};

fn run(context: &Context<'_>, args: Value) -> Result<Value, Fault> {
    let input: Input = decode(args)?;
    let (caller, own) = (context.caller, input.session_id.as_deref());
    let found = context.engine.read(caller, |view| match view {
        Some(view) => session::working_on(view, caller, own, &input.record_id),
        None => Err(nothing_yet(&input.record_id)),
    })?;
    Ok(fit_list(
        found,
        "sessions",
        &budget(input.max_chars),
        Drop::Last,
    ))
}
