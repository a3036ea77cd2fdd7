//! `update_thread_status`: where a thread stands.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use understory_engine::threads::status::{self, Change};
use understory_model::thread::STATUSES;
use understory_model::{Fault, limits};

use crate::answers::object;
use crate::args::{decode, schema};
use crate::call::Call;
use crate::claims;
use crate::tool::{Access, Effect, Surface, Tool, request};

use super::SchemaVersion;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    thread_id: String,
    #[schemars(extend("enum" = STATUSES))]
    status: Option<String>,
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
    #[serde(rename = "idempotency_key")]
    _idempotency_key: Option<String>,
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
    output: object,
    takes: &[],
    example: r#"{"thread_id": "th_001", "status": "resolved", "reason": "all findings verified"}"#,
    run,
};

fn run(context: &Call<'_>, args: Value) -> Result<Value, Fault> {
    let request = request(TOOL.name, &args);
    let input: Input = decode(args)?;
    claims::agent(context, "agent_id", input.agent_id.as_deref())?;
    let change = Change {
        status: input.status,
        add: input.add_participants,
        remove: input.remove_participants,
        reason: input.reason,
        metadata: input.metadata,
    };
    status::check(&change)?;
    let thread = input.thread_id;
    context
        .engine
        .write_json(context.caller, request, move |work| {
            status::update(work, &thread, &change)
        })
}
