//! `save_session`: a mark that the work got this far.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use understory_engine::Work;
use understory_engine::records::session;
use understory_model::Fault;

use crate::answers::object;
use crate::args::{decode, schema};
use crate::call::Call;
use crate::tool::{Access, Effect, Surface, Tool, request};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    summary: Option<String>,
    /// default: your own
    session_id: Option<String>,
    project_id: Option<String>,
    #[serde(rename = "idempotency_key")]
    _idempotency_key: Option<String>,
}

pub const TOOL: Tool = Tool {
    name: "save_session",
    title: "Save session",
    effect: Effect::Adds,
    surface: Surface::Records,
    about: "Mark that your work got this far, with a summary for the activity log.",
    access: Access::Write,
    essential: false,
    schema: schema::<Input>,
    output: object,
    takes: &[],
    example: r#"{"summary": "Settled how tokens rotate"}"#,
    run,
};

fn run(context: &Call<'_>, args: Value) -> Result<Value, Fault> {
    marked(context, TOOL.name, args, session::save)
}

type Mark = fn(&mut Work<'_, '_>, Option<&str>, Option<&str>, Option<&str>) -> Result<Value, Fault>;

/// Marks a place in a session: how far it got, or that it ended.
pub(super) fn marked(
    context: &Call<'_>,
    tool: &'static str,
    args: Value,
    mark: Mark,
) -> Result<Value, Fault> {
    let request = request(tool, &args);
    let input: Input = decode(args)?;
    super::check_project("project_id", input.project_id.as_deref())?;
    let (named, project, summary) = (input.session_id, input.project_id, input.summary);
    context
        .engine
        .write_json(context.caller, request, move |work| {
            mark(
                work,
                named.as_deref(),
                project.as_deref(),
                summary.as_deref(),
            )
        })
}
