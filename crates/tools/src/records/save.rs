//! `save_session`: a mark that the work got this far.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use understory_engine::records::session;
use understory_model::Fault;

use crate::args::{decode, schema};
use crate::tool::{Access, Context, Surface, Tool, request};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    summary: Option<String>,
    /// default: your own
    session_id: Option<String>,
    project_id: Option<String>,
    #[serde(rename = "idempotency_key")]
    _idempotency_key: Option<String>,
}

pub const TOOL: Tool = Tool {
    name: "save_session",
    surface: Surface::Records,
    about: "Mark that your work got this far, with a summary for the activity log.",
    access: Access::Write,
    essential: false,
    schema: schema::<Input>,
    example: r#"{"summary": "Settled how tokens rotate"}"#,
    run,
};

fn run(context: &Context<'_>, args: Value) -> Result<Value, Fault> {
    let request = request(TOOL.name, &args);
    let input: Input = decode(args)?;
    super::check_project("project_id", input.project_id.as_deref())?;
    let (named, project, summary) = (input.session_id, input.project_id, input.summary);
    context.engine.write(context.caller, request, move |work| {
        session::save(
            work,
            named.as_deref(),
            project.as_deref(),
            summary.as_deref(),
        )
    })
}
