//! `heartbeat_session`: a sign of life.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use understory_engine::threads::session::{self, Beat};
use understory_model::Fault;

use crate::answers::object;
use crate::args::{decode, schema};
use crate::call::Call;
use crate::claims;
use crate::tool::{Access, Effect, Surface, Tool};

use super::SchemaVersion;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// such as codex_cli or claude_code
    runtime: Option<String>,
    /// whether this session can be resumed later
    #[serde(default)]
    resumable: bool,
    /// default active
    #[schemars(extend("enum" = session::STATUSES))]
    status: Option<String>,
    /// default unmanaged
    #[schemars(extend("enum" = session::MODES))]
    management_mode: Option<String>,
    session_id: Option<String>,
    agent_id: Option<String>,
    workspace_id: Option<String>,
    /// Two signs of life are as good as one.
    #[serde(rename = "idempotency_key")]
    _idempotency_key: Option<String>,
    #[serde(rename = "schema_version")]
    _schema_version: Option<SchemaVersion>,
}

pub const TOOL: Tool = Tool {
    name: "heartbeat_session",
    title: "Report session alive",
    effect: Effect::Settles,
    surface: Surface::Threads,
    about: "Say that your session is alive, and how it can be woken.",
    access: Access::Write,
    essential: false,
    schema: schema::<Input>,
    output: object,
    takes: &[],
    example: r#"{"runtime": "codex_cli", "resumable": true, "status": "idle"}"#,
    run,
};

fn run(context: &Call<'_>, args: Value) -> Result<Value, Fault> {
    let input: Input = decode(args)?;
    claims::workspace(context, input.workspace_id.as_deref())?;
    claims::agent(context, "agent_id", input.agent_id.as_deref())?;
    claims::session(context, "session_id", input.session_id.as_deref())?;
    let beat = Beat {
        runtime: input.runtime.unwrap_or_else(|| "unknown".into()),
        mode: input.management_mode.unwrap_or_else(|| "unmanaged".into()),
        resumable: input.resumable,
        status: input.status.unwrap_or_else(|| "active".into()),
    };
    session::check(&beat)?;
    session::beat(context.engine, context.caller, &beat)
}
