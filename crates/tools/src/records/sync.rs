//! `sync_session`: what others changed since this session last looked.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use understory_engine::records::sync::{self, Asked};
use understory_model::page::limit;
use understory_model::{Fault, limits};

use crate::answers::object;
use crate::args::{budget, decode, schema};
use crate::call::Call;
use crate::tool::{Access, Effect, Surface, Tool, request};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// default: your own
    session_id: Option<String>,
    project_id: Option<String>,
    /// default and most: 200
    limit: Option<i64>,
    /// next_cursor of the last answer
    cursor: Option<String>,
    max_chars: Option<i64>,
    #[serde(rename = "idempotency_key")]
    _idempotency_key: Option<String>,
}

pub const TOOL: Tool = Tool {
    name: "sync_session",
    title: "Sync session",
    effect: Effect::Adds,
    surface: Surface::Records,
    about: "What others changed since you last synced, each change told once: your active records first, long texts as diffs. Go on while there is next_cursor. A change marked shortened was not seen: activate its record.",
    access: Access::Write,
    essential: false,
    schema: schema::<Input>,
    output: object,
    takes: &[],
    example: r#"{}"#,
    run,
};

fn run(context: &Call<'_>, args: Value) -> Result<Value, Fault> {
    let request = request(TOOL.name, &args);
    let input: Input = decode(args)?;
    super::check_project("project_id", input.project_id.as_deref())?;
    let asked = Asked {
        session: input.session_id,
        project: input.project_id,
        limit: limit(input.limit, limits::PAGE, limits::PAGE),
        cursor: input.cursor,
    };
    let budget = budget(input.max_chars);
    context
        .engine
        .write_json(context.caller, request, move |work| {
            sync::sync(work, &asked, &budget)
        })
}
