//! `update_record`: the next version of an active record.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use understory_engine::records::update::{self, Wanted};
use understory_model::{Fault, limits};

use crate::answers::object;
use crate::args::{decode, present, schema};
use crate::call::Call;
use crate::tool::{Access, Effect, Surface, Tool, request};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    id: String,
    /// moves it; null: to the top
    #[serde(default, deserialize_with = "present")]
    #[schemars(extend("nullable" = true, "type" = ["string", "null"]))]
    parent_id: Option<Option<String>>,
    #[serde(rename = "type")]
    kind: Option<String>,
    title: Option<String>,
    summary: Option<String>,
    #[schemars(extend("x-long" = true, "x-nul" = true))]
    body: Option<String>,
    /// replaces the list
    #[schemars(length(max = limits::LIST_LEN))]
    related: Option<Vec<String>>,
    metadata: Option<Map<String, Value>>,
    /// write over a newer version
    force: Option<bool>,
    /// default: your own
    session_id: Option<String>,
    /// false: only its head comes back
    echo: Option<bool>,
    #[serde(rename = "idempotency_key")]
    _idempotency_key: Option<String>,
}

pub const TOOL: Tool = Tool {
    name: "update_record",
    title: "Update record",
    effect: Effect::Adds,
    surface: Surface::Records,
    about: "Change an active record. If another session changed it since you saw it, nothing is written and `conflict` shows its version.",
    access: Access::Write,
    essential: true,
    schema: schema::<Input>,
    output: object,
    takes: &[],
    example: r#"{"id": "R001", "body": "Rotate every hour; accept the last key for five minutes more."}"#,
    run,
};

fn run(context: &Call<'_>, args: Value) -> Result<Value, Fault> {
    let request = request(TOOL.name, &args);
    let input: Input = decode(args)?;
    let wanted = Wanted {
        parent: input.parent_id,
        kind: input.kind,
        title: input.title,
        summary: input.summary,
        body: input.body,
        related: input.related,
        metadata: input.metadata,
        force: input.force.unwrap_or(false),
    };
    update::check(&wanted)?;
    let (id, session) = (input.id, input.session_id);
    let answer = context
        .engine
        .write_json(context.caller, request, move |work| {
            update::update(work, &id, &wanted, session.as_deref())
        })?;
    Ok(super::echoed(answer, input.echo))
}
