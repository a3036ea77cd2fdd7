//! `update_thread_status`: where a thread stands.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use understory_engine::kernel::checked::Check;
use understory_engine::threads::status::{self, Change, Updated};
use understory_model::answer::Answer;
use understory_model::thread::Status;
use understory_model::{Fault, limits};

use crate::answers::output;
use crate::args::schema;
use crate::call::{Call, typed};
use crate::claims;
use crate::tool::{Access, Common, Effect, Surface, Tool};

use super::SchemaVersion;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    thread_id: String,
    status: Option<Status>,
    /// agent ids
    #[serde(default)]
    #[schemars(length(max = limits::PARTICIPANTS))]
    add_participants: Vec<String>,
    /// agent ids; yourself to leave
    #[serde(default)]
    remove_participants: Vec<String>,
    reason: Option<String>,
    metadata: Option<Map<String, Value>>,
    agent_id: Option<String>,
    #[serde(rename = "schema_version")]
    _schema_version: Option<SchemaVersion>,
}

pub const TOOL: Tool = Tool {
    name: "update_thread_status",
    title: "Change thread status",
    effect: Effect::Settles,
    surface: Surface::Threads,
    about: "Change a thread's status, with the reason, or add or remove participants. Open findings keep a worker from closing it.",
    access: Access::Write,
    essential: false,
    schema: schema::<Input>,
    output: output::<Updated>,
    takes: &[Common::Key],
    example: r#"{"thread_id": "th_001", "status": "resolved", "reason": "all findings verified"}"#,
    run: |call, args| typed(call, args, run),
};

fn run(call: &Call<'_>, input: Input) -> Result<Answer<Updated>, Fault> {
    claims::agent(call, "agent_id", input.agent_id.as_deref())?;
    let change = Change {
        status: input.status,
        add: input.add_participants,
        remove: input.remove_participants,
        reason: input.reason,
        metadata: input.metadata,
    }
    .checked()?;
    let thread = input.thread_id;
    call.write(move |work| status::update(work, &thread, &change))
}
