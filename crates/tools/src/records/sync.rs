//! `sync_session`: what others changed since this session last looked.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use understory_engine::records::sync;
use understory_model::Fault;

use crate::args::{budget, decode, schema};
use crate::tool::{Access, Context, Effect, Surface, Tool, request};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// default: your own
    session_id: Option<String>,
    project_id: Option<String>,
    max_chars: Option<i64>,
    #[serde(rename = "idempotency_key")]
    _idempotency_key: Option<String>,
}

pub const TOOL: Tool = Tool {
    name: "sync_session",
    title: "Sync session",
    effect: Effect::Adds,
    surface: Surface::Records,
    about: "What other sessions changed since you last synced: your records first, then newest first.",
    access: Access::Write,
    essential: false,
    schema: schema::<Input>,
    example: r#"{}"#,
    run,
};

fn run(context: &Context<'_>, args: Value) -> Result<Value, Fault> {
    let request = request(TOOL.name, &args);
    let input: Input = decode(args)?;
    super::check_project("project_id", input.project_id.as_deref())?;
    let (session, project) = (input.session_id, input.project_id);
    let budget = budget(input.max_chars);
    context.engine.write(context.caller, request, move |work| {
        sync::sync(work, session.as_deref(), project.as_deref(), &budget)
    })
}
