//! `create_record`: a new record under an active one, or on its own.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use understory_engine::records::create::{self, NewRecord};
use understory_engine::records::fields::STATES;
use understory_model::{Fault, limits};

use crate::answers::object;
use crate::args::{decode, schema};
use crate::call::Call;
use crate::tool::{Access, Effect, Surface, Tool, request};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// null or absent: a root
    #[schemars(extend("nullable" = true, "type" = ["string", "null"]))]
    parent_id: Option<String>,
    /// question, conclusion, note, or your own word
    #[serde(rename = "type")]
    kind: String,
    title: String,
    /// one or two sentences
    summary: String,
    #[schemars(extend("x-long" = true, "x-nul" = true))]
    body: String,
    /// default OPEN
    #[schemars(extend("enum" = STATES))]
    state: Option<String>,
    /// for the state
    reason: Option<String>,
    /// what settled it, if RESOLVED
    resolved_by: Option<String>,
    /// ids of other records
    #[schemars(length(max = limits::LIST_LEN))]
    related: Option<Vec<String>>,
    metadata: Option<Map<String, Value>>,
    /// default: your own
    session_id: Option<String>,
    project_id: Option<String>,
    /// false: only its head comes back
    echo: Option<bool>,
    #[serde(rename = "idempotency_key")]
    _idempotency_key: Option<String>,
}

pub const TOOL: Tool = Tool {
    name: "create_record",
    title: "Create record",
    effect: Effect::Adds,
    surface: Surface::Records,
    about: "Create a record under an active one, or a root. It is active at once. The body must explain itself. Several: create_records.",
    access: Access::Write,
    essential: true,
    schema: schema::<Input>,
    output: object,
    takes: &[],
    example: r#"{"parent_id": null, "type": "question", "title": "How do we rotate tokens?", "summary": "Keys must change without logging people out.", "body": "Tokens live an hour. Rotation must not end a session."}"#,
    run,
};

fn run(context: &Call<'_>, args: Value) -> Result<Value, Fault> {
    let request = request(TOOL.name, &args);
    let input: Input = decode(args)?;
    super::check_project("project_id", input.project_id.as_deref())?;
    let new = NewRecord {
        parent: input.parent_id,
        kind: input.kind,
        title: input.title,
        summary: input.summary,
        body: input.body,
        state: input.state.unwrap_or_else(|| "OPEN".into()),
        reason: input.reason,
        resolved_by: input.resolved_by,
        related: input.related.unwrap_or_default(),
        metadata: input.metadata,
    };
    create::check(&new)?;
    let (session, project) = (input.session_id, input.project_id);
    let answer = context
        .engine
        .write_json(context.caller, request, move |work| {
            create::create(work, &new, session.as_deref(), project.as_deref())
        })?;
    Ok(super::echoed(answer, input.echo))
}
