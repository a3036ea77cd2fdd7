//! `heartbeat_session`: a sign of life.

use schemars::JsonSchema;
use serde::Deserialize;
use understory_engine::kernel::checked::Check;
use understory_engine::threads::heartbeat::{self, Beat, Recorded};
use understory_model::Fault;
use understory_model::answer::Answer;
use understory_model::thread::{Mode, SessionStatus};

use crate::answers::output;
use crate::args::schema;
use crate::call::{Call, typed};
use crate::claims;
use crate::tool::{Access, Common, Effect, Surface, Tool};

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
    status: Option<SessionStatus>,
    /// default unmanaged
    management_mode: Option<Mode>,
    session_id: Option<String>,
    agent_id: Option<String>,
    workspace_id: Option<String>,
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
    output: output::<Recorded>,
    takes: &[Common::Key],
    example: r#"{"runtime": "codex_cli", "resumable": true, "status": "idle"}"#,
    run: |call, args| typed(call, args, run),
};

fn run(call: &Call<'_>, input: Input) -> Result<Answer<Recorded>, Fault> {
    claims::workspace(call, input.workspace_id.as_deref())?;
    claims::agent(call, "agent_id", input.agent_id.as_deref())?;
    claims::session(call, "session_id", input.session_id.as_deref())?;
    let beat = Beat {
        runtime: input.runtime.unwrap_or_else(|| "unknown".into()),
        mode: input.management_mode.unwrap_or(Mode::Unmanaged),
        resumable: input.resumable,
        status: input.status.unwrap_or(SessionStatus::Active),
    }
    .checked()?;
    // The key needs no stored answer: a second heartbeat does no harm.
    heartbeat::beat(call.engine, call.caller, &beat).map(Answer::from)
}
