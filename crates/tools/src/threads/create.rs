//! `create_thread`: a new thread between agents.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use understory_engine::threads::create::{self, NewThread};
use understory_model::thread::TYPES;
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
    title: String,
    /// default conversation
    #[serde(rename = "type")]
    #[schemars(extend("enum" = TYPES))]
    kind: Option<String>,
    /// agent ids; you take part anyway
    #[serde(default)]
    #[schemars(length(max = limits::PARTICIPANTS))]
    participants: Vec<String>,
    workspace_id: Option<String>,
    created_by: Option<String>,
    #[serde(rename = "idempotency_key")]
    _idempotency_key: Option<String>,
    #[serde(rename = "schema_version")]
    _schema_version: Option<SchemaVersion>,
}

pub const TOOL: Tool = Tool {
    name: "create_thread",
    title: "Create thread",
    effect: Effect::Adds,
    surface: Surface::Threads,
    about: "Open a thread with other agents about one thing.",
    access: Access::Write,
    essential: false,
    schema: schema::<Input>,
    output: object,
    takes: &[],
    example: r#"{"title": "Review of the token rotation", "type": "workflow", "participants": ["builder", "reviewer"]}"#,
    run,
};

fn run(context: &Call<'_>, args: Value) -> Result<Value, Fault> {
    let request = request(TOOL.name, &args);
    let input: Input = decode(args)?;
    claims::workspace(context, input.workspace_id.as_deref())?;
    claims::agent(context, "created_by", input.created_by.as_deref())?;
    let new = NewThread {
        title: input.title,
        kind: input.kind.unwrap_or_else(|| "conversation".into()),
        participants: input.participants,
    };
    create::check(&new)?;
    context
        .engine
        .write_json(context.caller, request, move |work| {
            create::create(work, &new)
        })
}
